/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/endian.h"
#include "wire/ddp.h"

#include <stdio.h>
#include <string.h>

/*
 * The Terminate Header:
 *
 * | Layer | EType |   Error Code  |M|D|R|  Reserved  |
 * | DDP Segment Length, if M or D |
 * | Terminated DDP Header, if D   |
 * | Terminated RDMA Header, if R  |
 */
enum {
	HAS_LENGTH = 0x80,
	HAS_DDP = 0x40,
	HAS_READ_REQUEST = 0x20,
	SWAPPED_BITS = 0x07, /* where M, D and R are if the octet's bits are written in the opposite order */

	DDP_TAGGED = 0x80, /* the T flag of the terminated header */
};

/* Returns the size of the DDP header that a Terminate contains: the header's first octet says whether it is a
 * tagged or an untagged one. */
static size_t
terminate_terminated_size(const uint8_t *ddp_header)
{
	return rr_ddp_header_size(ddp_header[0] & DDP_TAGGED);
}

size_t
rr_terminate_put(uint8_t out[RR_TERMINATE_MAX], const struct rr_terminate *terminate)
{
	uint8_t *next = out + RR_TERMINATE_CONTROL_SIZE;

	rr_put_be16(out, terminate->cause);
	out[2] = (terminate->has_length ? HAS_LENGTH : 0) | (terminate->ddp_header ? HAS_DDP : 0) |
		 (terminate->read_request ? HAS_READ_REQUEST : 0);
	out[3] = 0;
	/* RFC 5040, 4.8: "It MUST be valid if the M bit is set. It MUST be present when the D bit is set." */
	if (terminate->has_length || terminate->ddp_header) {
		rr_put_be16(next, terminate->has_length ? terminate->segment_length : 0);
		next += 2;
	}
	if (terminate->ddp_header) {
		memcpy(next, terminate->ddp_header, terminate_terminated_size(terminate->ddp_header));
		next += terminate_terminated_size(terminate->ddp_header);
	}
	if (terminate->read_request) {
		memcpy(next, terminate->read_request, RR_READ_REQUEST_SIZE);
		next += RR_READ_REQUEST_SIZE;
	}
	return (size_t)(next - out);
}

/* Reads the optional parts of a Terminate that `bits` announces: the segment length, the DDP header and the
 * Read Request header. If the Terminate ends within a part, this part and the parts behind it count as
 * absent. */
static void
terminate_get_parts(const uint8_t *next, const uint8_t *end, uint8_t bits, struct rr_terminate *terminate)
{
	/* A terminated DDP header always has the two octets of the length in front of it. */
	if (bits & (HAS_LENGTH | HAS_DDP)) {
		if (end - next < 2)
			return;
		terminate->has_length = bits & HAS_LENGTH;
		terminate->segment_length = terminate->has_length ? rr_get_be16(next) : 0;
		next += 2;
	}
	if (bits & HAS_DDP) {
		if (next == end || (size_t)(end - next) < terminate_terminated_size(next))
			return;
		terminate->ddp_header = next;
		next += terminate_terminated_size(next);
	}
	if (bits & HAS_READ_REQUEST && end - next >= RR_READ_REQUEST_SIZE)
		terminate->read_request = next;
}

bool
rr_terminate_get(const void *data, size_t size, struct rr_terminate *terminate)
{
	const uint8_t *in = data;

	*terminate = (struct rr_terminate){ 0 };
	if (size < RR_TERMINATE_CONTROL_SIZE)
		return false;
	terminate->cause = rr_get_be16(in);
	/* The siw driver of Linux writes these bits in the opposite order: see struct rr_terminate. */
	terminate->swapped = !(in[2] & (HAS_LENGTH | HAS_DDP | HAS_READ_REQUEST)) && (in[2] & SWAPPED_BITS);
	terminate_get_parts(in + RR_TERMINATE_CONTROL_SIZE, in + size, in[2], terminate);
	return true;
}

/* The names of the causes. */
static const struct {
	uint16_t cause;
	const char *name;
} names[] = {
	{ RR_CAUSE_RDMAP_INVALID_STAG, "RDMAP: invalid STag" },
	{ RR_CAUSE_RDMAP_BOUNDS, "RDMAP: base or bounds violation" },
	{ RR_CAUSE_RDMAP_ACCESS, "RDMAP: access rights violation" },
	{ RR_CAUSE_RDMAP_STREAM, "RDMAP: STag not associated with the stream" },
	{ RR_CAUSE_RDMAP_TO_WRAP, "RDMAP: tagged offset wraps" },
	{ RR_CAUSE_RDMAP_PROTECTION_INVALIDATE, "RDMAP: STag cannot be invalidated" },
	{ RR_CAUSE_RDMAP_PROTECTION, "RDMAP: unspecified protection error" },
	{ RR_CAUSE_RDMAP_VERSION, "RDMAP: invalid version" },
	{ RR_CAUSE_RDMAP_OPCODE, "RDMAP: unexpected opcode" },
	{ RR_CAUSE_RDMAP_STREAM_CATASTROPHIC, "RDMAP: catastrophic error of the stream" },
	{ RR_CAUSE_RDMAP_GLOBAL_CATASTROPHIC, "RDMAP: global catastrophic error" },
	{ RR_CAUSE_RDMAP_INVALIDATE, "RDMAP: STag cannot be invalidated" },
	{ RR_CAUSE_RDMAP_OPERATION, "RDMAP: unspecified operation error" },
	{ RR_CAUSE_DDP_CATASTROPHIC, "DDP: local catastrophic error" },
	{ RR_CAUSE_DDP_INVALID_STAG, "DDP: invalid STag" },
	{ RR_CAUSE_DDP_BOUNDS, "DDP: base or bounds violation" },
	{ RR_CAUSE_DDP_STREAM, "DDP: STag not associated with the stream" },
	{ RR_CAUSE_DDP_TO_WRAP, "DDP: tagged offset wraps" },
	{ RR_CAUSE_DDP_TAGGED_VERSION, "DDP: invalid version of a tagged segment" },
	{ RR_CAUSE_DDP_QUEUE, "DDP: invalid queue number" },
	{ RR_CAUSE_DDP_NO_BUFFER, "DDP: no buffer available (more messages than posted Receives)" },
	{ RR_CAUSE_DDP_MSN, "DDP: message sequence number out of range" },
	{ RR_CAUSE_DDP_MO, "DDP: invalid message offset" },
	{ RR_CAUSE_DDP_TOO_LONG, "DDP: message too long for its buffer" },
	{ RR_CAUSE_DDP_UNTAGGED_VERSION, "DDP: invalid version of an untagged segment" },
	{ RR_CAUSE_MPA_CLOSED, "MPA: TCP connection lost" },
	{ RR_CAUSE_MPA_CRC, "MPA: CRC error" },
	{ RR_CAUSE_MPA_FRAMING, "MPA: marker and length disagree on the start of an FPDU" },
	{ RR_CAUSE_MPA_FRAME, "MPA: invalid request or reply frame" },
	{ RR_CAUSE_MPA_CATASTROPHIC, "MPA: local catastrophic error" },
	{ RR_CAUSE_MPA_IRD, "MPA: insufficient IRD resources" },
	{ RR_CAUSE_MPA_RTR, "MPA: no matching RTR option" },
};

const char *
rr_cause_name(uint16_t cause)
{
	/* RFC 5040, figure 9: "this error type does not have an error code. Any value in this field is
	 * acceptable." */
	if (cause >> 8 == RR_CAUSE_RDMAP_CATASTROPHIC >> 8)
		return "RDMAP: local catastrophic error";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].cause == cause)
			return names[i].name;
	return NULL;
}

/* Returns the cause with its two upper fields, layer and error type, exchanged: some senders write them in
 * the wrong order. */
static uint16_t
terminate_exchanged(uint16_t cause)
{
	return (uint16_t)((cause & 0x0f00) << 4 | (cause & 0xf000) >> 4 | (cause & 0x00ff));
}

uint16_t
rr_terminate_meaning(const struct rr_terminate *terminate)
{
	return terminate->swapped ? terminate_exchanged(terminate->cause) : terminate->cause;
}

/* Whether it is certain that the sender wrote the cause in the order of the specification. It is if the
 * sender announced an optional part of the Terminate with bits in that order, and the part could be read. */
static bool
terminate_certain(const struct rr_terminate *terminate)
{
	return terminate->has_length || terminate->ddp_header || terminate->read_request;
}

/* Writes the cause as the specification orders it. If the cause in swapped order has another name and may be
 * meant, writes that name, too; or in its place, if the bits show the swapped order or the cause itself has
 * no name. */
const char *
rr_terminate_text(char *text, size_t size, const struct rr_terminate *terminate)
{
	const char *name = rr_cause_name(terminate->cause);
	const char *other = rr_cause_name(terminate_exchanged(terminate->cause));
	unsigned int layer = terminate->cause >> 12, type = terminate->cause >> 8 & 15,
		     code = terminate->cause & 255;

	if (!name)
		name = "unknown error";
	if (!other || other == name || terminate_certain(terminate))
		snprintf(text, size, "%s (%u/%u/%u)", name, layer, type, code);
	else if (terminate->swapped || !rr_cause_name(terminate->cause))
		snprintf(text, size, "%s (%u/%u/%u, written in swapped order)", other, type, layer, code);
	else
		snprintf(text, size, "%s (%u/%u/%u; or, in swapped order, %s)", name, layer, type, code,
			other);
	return text;
}
