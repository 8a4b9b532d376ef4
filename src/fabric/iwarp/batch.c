/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/checked.h"
#include "base/crc32c.h"
#include "fabric/iwarp/protocol_private.h"

/*
 * A batch is a list of vectors, the octets that leave next. Payload stays where it is, and the vectors refer
 * to it; headers, trailers and small payloads are copied to metas, one behind the other, so that the trailer
 * of an FPDU and the header of the next one are one vector. An iWARP connection has a batch while TCP has not
 * taken all of its octets; other batches lie on the fabric's free list.
 */

/* The further vectors of a payload with an octet that a test damages: the octet is copied, and parts the
 * payload. */
enum { SPOILT_VECTORS = 2 };

/* The most batches that are kept for reuse. An endpoint gives its batch back before the next endpoint sends,
 * unless TCP takes no more octets. */
enum { KEPT_MAX = 64 };

/* The most markers in an FPDU. */
enum { MARKERS_MAX = RR_IWARP_MARKED_MAX / (RR_MPA_MARKER_INTERVAL - RR_MPA_MARKER_SIZE) + 2 };

/* Sets the limits of the batch, which has the octets that TCP is to take next: limits for its vectors, its
 * header octets and all its octets. As long as the batch is within these limits, it has room for one more
 * FPDU of the largest size. */
static void
batch_set_bounds(const struct rr_iwarp *iwarp, struct rr_iwarp_batch *batch)
{
	uint32_t markers = iwarp->tx.markers ? MARKERS_MAX : 0;

	/* An FPDU takes at most a vector for each sge, one for its header and one for its trailer. A marker
	 * parts a vector in two. */
	batch->count_most = RR_IWARP_BATCH_VECTORS - (RR_MAX_SGE + 2 + SPOILT_VECTORS + 2 * markers);
	batch->meta_most = batch->meta_size - (RR_IWARP_FPDU_MAX + 1 + RR_MPA_MARKER_SIZE * markers);
	batch->octets_most = (iwarp->crc ? RR_IWARP_BATCH_CRC : RR_IWARP_BATCH_MAX) - 1;
}

/* Takes a batch that was kept, or makes a new one. While more than KEPT_MAX batches are in use, their peers
 * do not read, and new batches have less room for copies, so that such peers cost less memory. Returns NULL
 * if there is no memory. */
static struct rr_iwarp_batch *
batch_take(struct rr_iwarp_shared *shared)
{
	uint32_t meta = shared->batches_used < KEPT_MAX ? RR_IWARP_BATCH_META : RR_IWARP_BATCH_META_LEAST;
	struct rr_list *link = rr_list_pop(&shared->batches);
	struct rr_iwarp_batch *batch;

	if (link) {
		shared->batches_kept--;
		return rr_container(link, struct rr_iwarp_batch, link);
	}
	batch = shared->env->realloc(shared->env->ctx, NULL, sizeof(*batch) + meta);
	if (batch)
		batch->meta_size = meta;
	return batch;
}

bool
rr_iwarp_batch_open(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_batch *batch;

	if (iwarp->tx.batch)
		return true;
	batch = batch_take(iwarp->shared);
	if (!batch)
		return false;
	iwarp->shared->batches_used++;
	iwarp->tx.batch = batch;
	rr_list_init(&batch->link);
	batch->first = batch->count = batch->meta = 0;
	batch->octets = 0;
	batch->open = true;
	batch_set_bounds(iwarp, batch);
	return true;
}

void
rr_iwarp_batch_close(struct rr_iwarp *iwarp)
{
	struct rr_iwarp_shared *shared = iwarp->shared;
	struct rr_iwarp_batch *batch = iwarp->tx.batch;

	if (!batch)
		return;
	iwarp->tx.batch = NULL;
	shared->batches_used--;
	if (shared->batches_kept == KEPT_MAX || batch->meta_size < RR_IWARP_BATCH_META) {
		rr_free(shared->env, batch);
		return;
	}
	rr_list_append(&shared->batches, &batch->link);
	shared->batches_kept++;
}

/* Appends octets as rr_iwarp_batch_append() does, but inverts one bit of the octet at fpdu->spoil, which must
 * be one of these octets, in a copy of that octet. This damages the FPDU for a test. */
static void
batch_append_spoilt(struct rr_iwarp_fpdu *fpdu, const uint8_t *data, size_t size)
{
	struct rr_iwarp_batch *batch = fpdu->batch;
	uint8_t *octet = batch->metas + batch->meta++;
	size_t before = fpdu->spoil;

	*octet = data[before] ^ (uint8_t)(1 << data[before] % 8);
	if (before)
		rr_iwarp_batch_append(batch, data, before);
	rr_iwarp_batch_append(batch, octet, 1);
	if (before + 1 < size)
		rr_iwarp_batch_append(batch, data + before + 1, size - before - 1);
	fpdu->spoil = SIZE_MAX;
}

/* Appends octets of an FPDU, or a marker in it, to the batch by reference, and continues the FPDU's CRC over
 * them. If a test asked to damage one of these octets (fpdu->spoil), that octet is damaged. */
static void
batch_put(struct rr_iwarp_fpdu *fpdu, const void *data, size_t size)
{
	if (fpdu->iwarp->crc)
		fpdu->crc = rr_crc32c(fpdu->crc, data, size);
	fpdu->iwarp->tx.gathered += size;
	if (fpdu->spoil < size) {
		batch_append_spoilt(fpdu, data, size);
		return;
	}
	if (fpdu->spoil != SIZE_MAX)
		fpdu->spoil -= size;
	rr_iwarp_batch_append(fpdu->batch, data, size);
}

/* Whether the next octets of the stream must be an MPA marker. RFC 5044, 4.3: markers are used where the
 * peer asks for them, at every 512th octet of the stream. */
static bool
batch_marker_is_due(const struct rr_iwarp_tx *tx)
{
	return tx->markers && tx->gathered % RR_MPA_MARKER_INTERVAL == 0;
}

/* Appends an MPA marker, which says that the FPDU began `back` octets before the marker; the CRC goes over
 * the marker, too. RFC 5044, 4.3: "All MPA Markers are included in the containing FPDU CRC calculation". */
static void
batch_put_marker(struct rr_iwarp_fpdu *fpdu, uint64_t back)
{
	uint8_t *marker = fpdu->batch->metas + fpdu->batch->meta;

	rr_mpa_put_marker(marker, back);
	fpdu->batch->meta += RR_MPA_MARKER_SIZE;
	batch_put(fpdu, marker, RR_MPA_MARKER_SIZE);
}

void
rr_iwarp_fpdu_refer_marked(struct rr_iwarp_fpdu *fpdu, const uint8_t *data, uint32_t size)
{
	const struct rr_iwarp_tx *tx = &fpdu->iwarp->tx;

	if (!tx->markers) {
		if (size)
			batch_put(fpdu, data, size);
		return;
	}
	while (size) {
		uint32_t part;

		if (batch_marker_is_due(tx))
			batch_put_marker(fpdu, tx->gathered - fpdu->start);
		part = (uint32_t)rr_min(size, RR_MPA_MARKER_INTERVAL - tx->gathered % RR_MPA_MARKER_INTERVAL);
		batch_put(fpdu, data, part);
		data += part;
		size -= part;
	}
}

/* Returns the place at which the caller is to write the next octets of a header or trailer; batch_put_meta()
 * then appends these octets to the FPDU. */
static uint8_t *
batch_meta(const struct rr_iwarp_fpdu *fpdu)
{
	return fpdu->batch->metas + fpdu->batch->meta;
}

/* Appends to the FPDU the size octets that the caller has written at batch_meta(). */
static inline void
batch_put_meta(struct rr_iwarp_fpdu *fpdu, size_t size)
{
	const uint8_t *meta = batch_meta(fpdu);

	fpdu->batch->meta += (uint32_t)size;
	rr_iwarp_fpdu_refer(fpdu, meta, (uint32_t)size);
}

void
rr_iwarp_fpdu_copy(struct rr_iwarp_fpdu *fpdu, const void *data, uint32_t size)
{
	memcpy(batch_meta(fpdu), data, size);
	batch_put_meta(fpdu, size);
}

/* Prepares an FPDU that is not plain. */
static void
batch_begin_checked(struct rr_iwarp_fpdu *fpdu)
{
	struct rr_iwarp *iwarp = fpdu->iwarp;

	fpdu->crc = 0;
	fpdu->spoil = SIZE_MAX;
	/* A test has asked for a damaged FPDU: one octet of it is chosen at random. */
	if (iwarp->tx.corrupt && iwarp->crc)
		fpdu->spoil = rr_random_u32(iwarp->shared->env) % rr_fpdu_size(fpdu->ulpdu);
	iwarp->tx.corrupt = false;
	/* "FPDUPTR value of 0x0000 means that immediately following the Marker is an FPDU header" */
	if (batch_marker_is_due(&iwarp->tx))
		batch_put_marker(fpdu, 0);
	fpdu->start = iwarp->tx.gathered;
}

void
rr_iwarp_fpdu_begin(struct rr_iwarp_fpdu *fpdu, struct rr_iwarp *iwarp, const struct rr_ddp_header *header,
	uint32_t payload)
{
	size_t size = rr_ddp_header_size(header->tagged);
	uint8_t *head;

	fpdu->iwarp = iwarp;
	fpdu->batch = iwarp->tx.batch;
	fpdu->ulpdu = size + payload;
	fpdu->plain = !iwarp->crc && !iwarp->tx.markers;
	if (!fpdu->plain)
		batch_begin_checked(fpdu);
	head = batch_meta(fpdu);
	rr_put_be16(head, (uint16_t)fpdu->ulpdu);
	rr_ddp_put(head + RR_FPDU_LENGTH_SIZE, header);
	batch_put_meta(fpdu, RR_FPDU_LENGTH_SIZE + size);
}

/* Appends the end of an FPDU that is not plain. */
static void
batch_end_checked(struct rr_iwarp_fpdu *fpdu)
{
	batch_put_meta(fpdu, rr_fpdu_pad(fpdu->ulpdu));
	/* RFC 5044, 4.4: "If there is a Marker immediately following the PAD, the Marker is included". */
	if (batch_marker_is_due(&fpdu->iwarp->tx))
		batch_put_marker(fpdu, fpdu->iwarp->tx.gathered - fpdu->start);
	rr_fpdu_put_crc(batch_meta(fpdu), fpdu->crc);
	batch_put_meta(fpdu, RR_FPDU_CRC_SIZE);
}

void
rr_iwarp_fpdu_end(struct rr_iwarp_fpdu *fpdu)
{
	memset(batch_meta(fpdu), 0, RR_IWARP_TAIL_MAX);
	if (!fpdu->plain) {
		batch_end_checked(fpdu);
		return;
	}
	/* Without a CRC, the CRC field is 0, as the pad is: both are appended at once. The octets of such an
	 * FPDU are counted all together. */
	batch_put_meta(fpdu, rr_fpdu_pad(fpdu->ulpdu) + RR_FPDU_CRC_SIZE);
	fpdu->iwarp->tx.gathered += rr_fpdu_size(fpdu->ulpdu);
}

bool
rr_iwarp_batch_copy(struct rr_iwarp *iwarp, const struct rr_work *work, uint32_t length)
{
	bool write = work->kind == RR_WORK_WRITE;
	size_t head = rr_ddp_header_size(write);
	uint8_t *to = rr_iwarp_batch_claim(iwarp, head + length);

	if (!to)
		return false;
	if (write)
		rr_ddp_put_write(to, work->remote_handle, work->remote_offset);
	else
		rr_ddp_put_send(
			to, work->kind == RR_WORK_SEND_INVALIDATE, work->remote_handle, ++iwarp->tx.send_msn);
	rr_iwarp_copy_sges(to + head, work->sges, work->sge_count);
	return true;
}

void
rr_iwarp_batch_advance(struct rr_iwarp *iwarp, size_t octets)
{
	struct rr_iwarp_batch *batch = iwarp->tx.batch;

	batch->octets -= octets;
	while (octets) {
		struct iovec *first = &batch->vectors[batch->first];
		size_t part = octets < first->iov_len ? octets : first->iov_len;

		first->iov_base = (uint8_t *)first->iov_base + part;
		first->iov_len -= part;
		octets -= part;
		if (!first->iov_len)
			batch->first++;
	}
	if (batch->first == batch->count)
		rr_iwarp_batch_close(iwarp);
}
