/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/rdmap.h"

#include <string.h>

/* ---- Sends ---- */

/* Makes sure that the buffer for the Send under way has room for size octets. Returns false if there is no
 * memory. */
static bool
rdmap_reserve(struct rr_rdmap *side, struct rr_decode_memory *memory, uint32_t size)
{
	uint32_t capacity = side->capacity ? side->capacity : 4096;
	uint8_t *send;

	if (size <= side->capacity)
		return true;
	while (capacity < size)
		capacity *= 2;
	send = rr_decode_resize(memory, side->send, side->capacity, capacity);
	if (!send)
		return false;
	side->send = send;
	side->capacity = capacity;
	return true;
}

/* Appends a segment to the Send under way. Returns false if octets before the segment are
 * missing, if the Send is too long, or if there is no memory. */
static bool
rdmap_append(struct rr_rdmap *side, struct rr_decode_memory *memory, const struct rr_rdmap_segment *segment)
{
	struct rpcrdma_bytes payload = segment->payload;

	if (side->skipping || segment->header->mo != side->length ||
		payload.length > RR_RDMAP_SEND_MAX - side->length)
		return false;
	if (!rdmap_reserve(side, memory, side->length + payload.length))
		return false;
	if (payload.length > 0)
		memcpy(side->send + side->length, payload.data, payload.length);
	side->known += side->known == side->length ? segment->known : 0;
	side->length += payload.length;
	return true;
}

/* Adds a segment to the Send under way. If the segment completes the Send, describes the Send in *op. A Send
 * that is incomplete or too long is skipped and counted. */
static void
rdmap_send(struct rr_rdmap *side, struct rr_decode_memory *memory, const struct rr_rdmap_segment *segment,
	struct rr_op *op)
{
	const struct rr_ddp_header *header = segment->header;

	/* RFC 5041, 5.1: the first segment of a message has offset 0. A Send that was under way is
	 * incomplete. */
	if (header->mo == 0) {
		side->skipped += side->skipping || side->length > 0;
		side->length = side->known = 0;
		side->skipping = false;
	}
	side->skipping = !rdmap_append(side, memory, segment);
	if (!header->last)
		return;
	if (!side->skipping) {
		op->kind = RR_OP_SEND;
		op->data = side->send;
		op->length = side->length;
		op->known = side->known;
		op->msn = header->msn;
		op->invalidates = rr_rdmap_invalidates(header->opcode);
		op->invalidated = header->invalidate_stag;
	}
	side->skipped += side->skipping;
	side->skipping = false;
	side->length = side->known = 0;
}

void
rr_rdmap_lose(struct rr_rdmap *side)
{
	side->skipping = side->skipping || side->length > 0;
}

/* ---- RDMA Reads ---- */

/* Returns the place of a Read Request in the ring side->reads; index 0 is the oldest Request. */
static struct rr_read_request *
rdmap_read(const struct rr_rdmap *side, uint32_t index)
{
	return &side->reads[(side->read_first + index) % RR_RDMAP_READS];
}

/* Describes a Read Request in *op, and remembers the Request until its Response comes. A Request that was not
 * captured whole is ignored. If too many are
 * remembered, forgets the oldest. If there is no memory, the Request is not remembered, so its Response will
 * not be known. */
static void
rdmap_request(struct rr_rdmap *side, struct rr_decode_memory *memory, const struct rr_rdmap_segment *segment,
	struct rr_op *op)
{
	if (segment->known < RR_READ_REQUEST_SIZE)
		return;
	rr_read_request_get(segment->payload.data, &op->request);
	op->kind = RR_OP_READ_REQUEST;
	op->handle = op->request.source_stag;
	op->offset = op->request.source_to;
	op->length = op->known = op->request.size;
	if (!side->reads)
		side->reads = rr_decode_alloc(memory, RR_RDMAP_READS * sizeof(*side->reads));
	if (!side->reads)
		return;
	if (side->read_count == RR_RDMAP_READS) {
		side->read_first++;
		side->read_count--;
	}
	*rdmap_read(side, side->read_count++) = op->request;
}

/* Describes a segment of a Read Response in *op, with the memory that its Read Request reads from. RFC 5040,
 * 5.2.1: Read Responses come in the order of their Requests. Requests before the fitting one are forgotten,
 * because their Responses were not captured. */
static void
rdmap_response(struct rr_rdmap *reader, const struct rr_rdmap_segment *segment, struct rr_op *op)
{
	const struct rr_ddp_header *header = segment->header;
	struct rpcrdma_bytes payload = segment->payload;

	for (uint32_t i = 0; i < reader->read_count; i++) {
		const struct rr_read_request *request = rdmap_read(reader, i);
		uint64_t at = header->to - request->sink_to;

		if (request->sink_stag != header->stag || at > request->size ||
			payload.length > request->size - at)
			continue;
		op->kind = RR_OP_READ_RESPONSE;
		op->data = payload.data;
		op->length = payload.length;
		op->known = segment->known;
		op->last = header->last;
		op->handle = request->source_stag;
		op->offset = request->source_to + at;
		reader->read_first = (reader->read_first + i + header->last) % RR_RDMAP_READS;
		reader->read_count -= i + header->last;
		return;
	}
}

void
rr_rdmap_take(struct rr_rdmap *side, struct rr_rdmap *peer, struct rr_decode_memory *memory,
	const struct rr_rdmap_segment *segment, struct rr_op *op)
{
	const struct rr_ddp_header *header = segment->header;

	*op = (struct rr_op){ .kind = RR_OP_PART };
	switch (header->opcode) {
	case RR_RDMAP_WRITE:
		op->kind = RR_OP_WRITE;
		op->data = segment->payload.data;
		op->length = segment->payload.length;
		op->known = segment->known;
		op->last = header->last;
		op->handle = header->stag;
		op->offset = header->to;
		return;
	case RR_RDMAP_READ_REQUEST: rdmap_request(side, memory, segment, op); return;
	case RR_RDMAP_READ_RESPONSE: rdmap_response(peer, segment, op); return;
	case RR_RDMAP_TERMINATE:
		op->kind = RR_OP_TERMINATE;
		op->data = segment->payload.data;
		op->length = segment->payload.length;
		op->known = segment->known;
		return;
	default: rdmap_send(side, memory, segment, op);
	}
}

void
rr_rdmap_free(struct rr_rdmap *side, struct rr_decode_memory *memory)
{
	rr_decode_free(memory, side->send, side->capacity);
	if (side->reads)
		rr_decode_free(memory, side->reads, RR_RDMAP_READS * sizeof(*side->reads));
	*side = (struct rr_rdmap){ 0 };
}
