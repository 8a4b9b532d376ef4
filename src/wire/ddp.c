/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the headers of DDP and RDMAP: ddp.h. */
#include "wire/ddp.h"

#include "base/endian.h"

/* The other bits of the two control octets at the front of each header. */
enum {
	LAST = 0x40,
	DDP_VERSION_MASK = 0x03,
	DDP_VERSION = 0x01,
	RDMAP_VERSION_MASK = 0xc0,
	RDMAP_VERSION = 0x40,
};

/* The flag and version that an opcode demands in the first control octet, and its queue if it is untagged:
 * RFC 5040, figure 4. An opcode that RDMAP does not have demands 0, which has no version. */
static const struct {
	uint8_t control, queue;
} messages[RR_RDMAP_OPCODE_MASK + 1] = {
	[RR_RDMAP_WRITE] = { .control = RR_DDP_TAGGED | DDP_VERSION },
	[RR_RDMAP_READ_REQUEST] = { .control = DDP_VERSION, .queue = RR_DDP_QUEUE_READ_REQUEST },
	[RR_RDMAP_READ_RESPONSE] = { .control = RR_DDP_TAGGED | DDP_VERSION },
	[RR_RDMAP_SEND] = { .control = DDP_VERSION, .queue = RR_DDP_QUEUE_SEND },
	[RR_RDMAP_SEND_INVALIDATE] = { .control = DDP_VERSION, .queue = RR_DDP_QUEUE_SEND },
	[RR_RDMAP_SEND_SE] = { .control = DDP_VERSION, .queue = RR_DDP_QUEUE_SEND },
	[RR_RDMAP_SEND_SE_INVALIDATE] = { .control = DDP_VERSION, .queue = RR_DDP_QUEUE_SEND },
	[RR_RDMAP_TERMINATE] = { .control = DDP_VERSION, .queue = RR_DDP_QUEUE_TERMINATE },
};

size_t
rr_ddp_put(uint8_t out[RR_DDP_HEADER_MAX], const struct rr_ddp_header *header)
{
	out[0] = DDP_VERSION | (header->tagged ? RR_DDP_TAGGED : 0) | (header->last ? LAST : 0);
	out[1] = RDMAP_VERSION | (header->opcode & RR_RDMAP_OPCODE_MASK);
	if (header->tagged) {
		rr_put_be32(out + 2, header->stag);
		rr_put_be64(out + 6, header->to);
		return RR_DDP_TAGGED_SIZE;
	}
	/* RFC 5040, 4.1: "the Invalidate STag field MUST be set to zero on transmit and ignored by the
	 * receiver." */
	rr_put_be32(out + 2, rr_rdmap_invalidates(header->opcode) ? header->invalidate_stag : 0);
	rr_put_be32(out + 6, header->queue);
	rr_put_be32(out + 10, header->msn);
	rr_put_be32(out + 14, header->mo);
	return RR_DDP_UNTAGGED_SIZE;
}

void
rr_ddp_put_send(uint8_t out[RR_DDP_UNTAGGED_SIZE], bool invalidates, uint32_t handle, uint32_t msn)
{
	out[0] = DDP_VERSION | LAST;
	out[1] = RDMAP_VERSION | (invalidates ? RR_RDMAP_SEND_INVALIDATE : RR_RDMAP_SEND);
	rr_put_be32(out + 2, invalidates ? handle : 0);
	rr_put_be32(out + 6, RR_DDP_QUEUE_SEND);
	rr_put_be32(out + 10, msn);
	rr_put_be32(out + 14, 0);
}

void
rr_ddp_put_write(uint8_t out[RR_DDP_TAGGED_SIZE], uint32_t stag, uint64_t to)
{
	out[0] = DDP_VERSION | RR_DDP_TAGGED | LAST;
	out[1] = RDMAP_VERSION | RR_RDMAP_WRITE;
	rr_put_be32(out + 2, stag);
	rr_put_be64(out + 6, to);
}

bool
rr_ddp_is_last_of_send(const uint8_t control[RR_DDP_CONTROL_SIZE])
{
	uint8_t kind = control[1] & (RDMAP_VERSION_MASK | RR_RDMAP_OPCODE_MASK);

	return (control[0] & (RR_DDP_TAGGED | LAST | DDP_VERSION_MASK)) == (LAST | DDP_VERSION) &&
	       (kind == (RDMAP_VERSION | RR_RDMAP_SEND) ||
		       kind == (RDMAP_VERSION | RR_RDMAP_SEND_INVALIDATE));
}

/* Reads from `in` the fields of a tagged DDP header that follow its two control octets. */
static void
ddp_get_tagged(const uint8_t *in, struct rr_ddp_header *header)
{
	header->stag = rr_get_be32(in + 2);
	header->to = rr_get_be64(in + 6);
}

/* Reads from `in` the fields of an untagged DDP header that follow its two control octets. The STag to be
 * invalidated is 0 unless the opcode is one of a Send with Invalidate. */
static void
ddp_get_untagged(const uint8_t *in, struct rr_ddp_header *header)
{
	header->invalidate_stag = rr_rdmap_invalidates(header->opcode) ? rr_get_be32(in + 2) : 0;
	header->queue = rr_get_be32(in + 6);
	header->msn = rr_get_be32(in + 10);
	header->mo = rr_get_be32(in + 14);
}

/* Returns the first fault of a header that has one and was read as far as its octets go; DDP's own fields are
 * checked before those of RDMAP. An RDMAP version (RV) of 0, which the RDMA Consortium's specification has,
 * is refused: peers that send it speak revision 0 of MPA, and were refused when they connected. The last
 * fault is one of the opcode: RFC 5040, 4.1: "Figure 4 ... MUST be used to define the value of the Tagged
 * flag"; the figure gives the queue, too. */
static enum rr_ddp_result
ddp_fault_of(const uint8_t *in, size_t size, const struct rr_ddp_header *header)
{
	if ((in[0] & DDP_VERSION_MASK) != DDP_VERSION)
		return RR_DDP_BAD_VERSION;
	if (size < rr_ddp_header_size(header->tagged))
		return RR_DDP_SHORT;
	if (!header->tagged && header->queue >= RR_DDP_QUEUES)
		return RR_DDP_BAD_QUEUE;
	return (in[1] & RDMAP_VERSION_MASK) != RDMAP_VERSION ? RR_DDP_BAD_RDMAP_VERSION : RR_DDP_BAD_OPCODE;
}

/* Reads the header at the front of a DDP segment into *header, and returns whether the header is valid or
 * which fault it has. The reserved bits are "not checked on receive" (RFC 5041, 4.1). */
enum rr_ddp_result
rr_ddp_get(const void *data, size_t size, struct rr_ddp_header *header)
{
	const uint8_t *in = data;

	*header = (struct rr_ddp_header){ 0 };
	if (size < RR_DDP_CONTROL_SIZE)
		return RR_DDP_SHORT;
	header->tagged = in[0] & RR_DDP_TAGGED;
	header->last = in[0] & LAST;
	header->opcode = in[1] & RR_RDMAP_OPCODE_MASK;
	if ((in[0] & DDP_VERSION_MASK) != DDP_VERSION || size < rr_ddp_header_size(header->tagged))
		return ddp_fault_of(in, size, header);
	if (header->tagged)
		ddp_get_tagged(in, header);
	else
		ddp_get_untagged(in, header);
	/* A tagged header has queue 0 here, as its opcodes have in the table. */
	if ((in[0] & (RR_DDP_TAGGED | DDP_VERSION_MASK)) != messages[header->opcode].control ||
		header->queue != messages[header->opcode].queue ||
		(in[1] & RDMAP_VERSION_MASK) != RDMAP_VERSION)
		return ddp_fault_of(in, size, header);
	return RR_DDP_OK;
}

uint16_t
rr_ddp_cause(enum rr_ddp_result result, const struct rr_ddp_header *header)
{
	switch (result) {
	case RR_DDP_SHORT: return RR_CAUSE_MPA_FRAMING;
	case RR_DDP_BAD_VERSION:
		return header->tagged ? RR_CAUSE_DDP_TAGGED_VERSION : RR_CAUSE_DDP_UNTAGGED_VERSION;
	case RR_DDP_BAD_QUEUE: return RR_CAUSE_DDP_QUEUE;
	case RR_DDP_BAD_RDMAP_VERSION: return RR_CAUSE_RDMAP_VERSION;
	case RR_DDP_BAD_OPCODE: return RR_CAUSE_RDMAP_OPCODE;
	case RR_DDP_OK: break;
	}
	return RR_CAUSE_RDMAP_OPERATION;
}

void
rr_read_request_put(uint8_t out[RR_READ_REQUEST_SIZE], const struct rr_read_request *request)
{
	rr_put_be32(out, request->sink_stag);
	rr_put_be64(out + 4, request->sink_to);
	rr_put_be32(out + 12, request->size);
	rr_put_be32(out + 16, request->source_stag);
	rr_put_be64(out + 20, request->source_to);
}

void
rr_read_request_get(const uint8_t in[RR_READ_REQUEST_SIZE], struct rr_read_request *request)
{
	request->sink_stag = rr_get_be32(in);
	request->sink_to = rr_get_be64(in + 4);
	request->size = rr_get_be32(in + 12);
	request->source_stag = rr_get_be32(in + 16);
	request->source_to = rr_get_be64(in + 20);
}
