/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the RDMA Writes that write pieces of memory into the segments of a chunk: transfer.h. */
#include "carrier/rdma/core/transfer.h"

#include "base/checked.h"

struct rr_transfer
rr_transfer(const struct rr_piece *pieces, uint32_t count, struct rr_chunk *chunk)
{
	return (struct rr_transfer){ .pieces = pieces, .piece_count = count, .chunk = chunk };
}

/* Sets the lengths of the chunk's segments as the reply reports them: for the current segment, how many
 * octets were written to it; for the segments behind it, 0. */
static void
transfer_shorten(struct rr_transfer *transfer)
{
	struct rr_chunk *chunk = transfer->chunk;

	for (uint32_t i = transfer->segment; i < chunk->count; i++) {
		chunk->segments[i].length = transfer->segment_at;
		transfer->segment_at = 0;
	}
	transfer->segment = chunk->count;
}

bool
rr_transfer_next(struct rr_transfer *transfer, struct rr_work *work, struct rr_sge *sges, uint32_t sge_max)
{
	const struct rr_chunk *chunk = transfer->chunk;
	const struct rr_segment *segment;

	while (transfer->segment < chunk->count &&
		transfer->segment_at == chunk->segments[transfer->segment].length) {
		transfer->segment++;
		transfer->segment_at = 0;
	}
	if (transfer->piece == transfer->piece_count || transfer->segment == chunk->count) {
		transfer_shorten(transfer);
		return false;
	}
	segment = &chunk->segments[transfer->segment];
	work->kind = RR_WORK_WRITE;
	work->remote_handle = segment->handle;
	work->remote_offset = segment->offset + transfer->segment_at;
	for (work->sge_count = 0; work->sge_count < sge_max && transfer->piece < transfer->piece_count;) {
		const struct rr_piece *piece = &transfer->pieces[transfer->piece];
		uint32_t length = (uint32_t)rr_min(
			piece->length - transfer->piece_at, segment->length - transfer->segment_at);

		/* The segment is full: the next RDMA Write goes on in the next segment. */
		if (length == 0)
			break;
		sges[work->sge_count++] =
			(struct rr_sge){ (const uint8_t *)piece->data + transfer->piece_at, length };
		transfer->segment_at += length;
		transfer->piece_at += length;
		if (transfer->piece_at == piece->length) {
			transfer->piece++;
			transfer->piece_at = 0;
		}
	}
	return true;
}

void
rr_transfer_nothing(struct rr_chunk *chunk)
{
	for (uint32_t i = 0; i < chunk->count; i++)
		chunk->segments[i].length = 0;
}
