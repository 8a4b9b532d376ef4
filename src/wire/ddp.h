/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_DDP_H
#define RR_WIRE_DDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/endian.h"

/*
 * The headers of DDP (RFC 5041, section 4) and of RDMAP (RFC 5040, section 4), which are encoded together:
 * each ULPDU of MPA is a DDP segment, and begins with the fields of struct rr_ddp_header, without the length
 * word of MPA.
 *
 * A segment is tagged or untagged. A tagged one names the receiver's memory: by a steering tag (STag, which
 * is a handle) and a tagged offset (TO) in the memory of that tag. An untagged one belongs to a message for a
 * queue of the receiver: it has the queue number (QN), the message sequence number (MSN) in that queue, and
 * the message offset (MO), which is its place in the message. DV and RV are the versions of DDP and RDMAP, T
 * and L the flags for a tagged segment and for the last segment of a message.
 */

/* The opcodes of RDMAP: RFC 5040, figure 4. */
enum rr_rdmap_opcode {
	RR_RDMAP_WRITE = 0,
	RR_RDMAP_READ_REQUEST = 1,
	RR_RDMAP_READ_RESPONSE = 2,
	RR_RDMAP_SEND = 3,
	RR_RDMAP_SEND_INVALIDATE = 4,
	RR_RDMAP_SEND_SE = 5,
	RR_RDMAP_SEND_SE_INVALIDATE = 6,
	RR_RDMAP_TERMINATE = 7,
};

/* Bits of the two control octets: |T|L| Rsvd |DV| |RV|Rsv|Opcode|. */
enum { RR_DDP_TAGGED = 0x80, RR_RDMAP_OPCODE_MASK = 0x0f };

/* The queue numbers of untagged messages, RFC 5040, figure 4. */
enum { RR_DDP_QUEUE_SEND = 0, RR_DDP_QUEUE_READ_REQUEST = 1, RR_DDP_QUEUE_TERMINATE = 2, RR_DDP_QUEUES = 3 };

/* Sizes in octets. */
enum {
	RR_DDP_CONTROL_SIZE = 2,
	RR_DDP_TAGGED_SIZE = 14,   /* control, STag, TO */
	RR_DDP_UNTAGGED_SIZE = 18, /* control, Invalidate STag, QN, MSN, MO */
	RR_DDP_HEADER_MAX = RR_DDP_UNTAGGED_SIZE,
	RR_READ_REQUEST_SIZE = 28, /* the octets behind the untagged header of a Read Request */
	RR_TERMINATE_CONTROL_SIZE = 4,
	RR_TERMINATE_MAX = RR_TERMINATE_CONTROL_SIZE + 2 + RR_DDP_UNTAGGED_SIZE + RR_READ_REQUEST_SIZE,
};

/* A header of DDP and RDMAP, decoded. */
struct rr_ddp_header {
	bool tagged, last;
	uint8_t opcode;
	/* Untagged. */
	uint32_t invalidate_stag; /* only of the two opcodes that invalidate; else 0 */
	uint32_t queue, msn, mo;
	/* Tagged. */
	uint32_t stag;
	uint64_t to;
};

/* The result of reading a header. */
enum rr_ddp_result {
	RR_DDP_OK,
	RR_DDP_SHORT,             /* fewer octets than the header takes */
	RR_DDP_BAD_VERSION,       /* DV is not 1 */
	RR_DDP_BAD_QUEUE,         /* a queue above 2 */
	RR_DDP_BAD_RDMAP_VERSION, /* RV is not 1 */
	RR_DDP_BAD_OPCODE         /* unknown, or with a wrong T flag or queue */
};

static inline size_t
rr_ddp_header_size(bool tagged)
{
	return tagged ? RR_DDP_TAGGED_SIZE : RR_DDP_UNTAGGED_SIZE;
}

/* Returns how many octets at the front of a DDP segment are no payload; control are the first two octets of
 * the segment. The result is the size of the header. For a Read Request or a Terminate, which have no
 * payload, it includes the most octets that can follow the header. */
static inline size_t
rr_ddp_head_size(const uint8_t control[RR_DDP_CONTROL_SIZE])
{
	bool tagged = control[0] & RR_DDP_TAGGED;
	size_t size = rr_ddp_header_size(tagged);

	if (tagged)
		return size;
	switch (control[1] & RR_RDMAP_OPCODE_MASK) {
	case RR_RDMAP_READ_REQUEST: return size + RR_READ_REQUEST_SIZE;
	case RR_RDMAP_TERMINATE: return size + RR_TERMINATE_MAX;
	default: return size;
	}
}

static inline bool
rr_rdmap_invalidates(uint8_t opcode)
{
	return opcode == RR_RDMAP_SEND_INVALIDATE || opcode == RR_RDMAP_SEND_SE_INVALIDATE;
}

/* Whether the untagged DDP header is that of the first segment of message number msn of the queue: it has
 * this queue and message number, and the offset 0 within the message. */
static inline bool
rr_ddp_is_first_of(const uint8_t header[RR_DDP_UNTAGGED_SIZE], uint32_t queue, uint32_t msn)
{
	return rr_get_be32(header + 6) == queue && rr_get_be32(header + 10) == msn &&
	       rr_get_be32(header + 14) == 0;
}

/* Writes the header and returns its size in octets, 14 or 18. */
size_t rr_ddp_put(uint8_t out[RR_DDP_HEADER_MAX], const struct rr_ddp_header *header);

/* Writes the header of a Send that fits into one segment. If invalidates is true, the Send also invalidates
 * the peer's memory that has this handle (STag). */
void rr_ddp_put_send(uint8_t out[RR_DDP_UNTAGGED_SIZE], bool invalidates, uint32_t handle, uint32_t msn);

/* Writes the header of an RDMA Write that fits into one segment: its octets go to the offset `to` of the
 * peer's memory that has this handle (STag). */
void rr_ddp_put_write(uint8_t out[RR_DDP_TAGGED_SIZE], uint32_t stag, uint64_t to);

/* Whether the control octets are those of the last segment of a Send or of a Send With Invalidate, also by
 * their version numbers. */
bool rr_ddp_is_last_of_send(const uint8_t control[RR_DDP_CONTROL_SIZE]);

/* Reads the header at the front of a segment. Fields that are not read, as the header is too short or has a
 * fault, are 0. If the result is not RR_DDP_OK, the segment must be refused by a Terminate with the cause
 * that rr_ddp_cause() returns. */
enum rr_ddp_result rr_ddp_get(const void *data, size_t size, struct rr_ddp_header *header);

/* ---- The RDMA Read Request Header (RFC 5040, section 4.4) ---- */

/* A Read Request, decoded: its sink is the memory that the data goes to, its source the memory to be read. */
struct rr_read_request {
	uint32_t sink_stag;
	uint64_t sink_to;
	uint32_t size;
	uint32_t source_stag;
	uint64_t source_to;
};

void rr_read_request_put(uint8_t out[RR_READ_REQUEST_SIZE], const struct rr_read_request *request);
void rr_read_request_get(const uint8_t in[RR_READ_REQUEST_SIZE], struct rr_read_request *request);

/* ---- The Terminate Header (RFC 5040, section 4.8) ---- */

/* The causes of a Terminate: layer (4 bits), error type (4 bits) and error code (8 bits), as the front of the
 * Terminate Control field has them. */
enum rr_cause {
	/* RFC 5040, figure 9. */
	RR_CAUSE_RDMAP_CATASTROPHIC = 0x0000,
	RR_CAUSE_RDMAP_INVALID_STAG = 0x0100,
	RR_CAUSE_RDMAP_BOUNDS = 0x0101,
	RR_CAUSE_RDMAP_ACCESS = 0x0102,
	RR_CAUSE_RDMAP_STREAM = 0x0103,
	RR_CAUSE_RDMAP_TO_WRAP = 0x0104,
	RR_CAUSE_RDMAP_PROTECTION_INVALIDATE = 0x0109,
	RR_CAUSE_RDMAP_PROTECTION = 0x01ff,
	RR_CAUSE_RDMAP_VERSION = 0x0205,
	RR_CAUSE_RDMAP_OPCODE = 0x0206,
	RR_CAUSE_RDMAP_STREAM_CATASTROPHIC = 0x0207,
	RR_CAUSE_RDMAP_GLOBAL_CATASTROPHIC = 0x0208,
	RR_CAUSE_RDMAP_INVALIDATE = 0x0209,
	RR_CAUSE_RDMAP_OPERATION = 0x02ff,
	/* RFC 5041, section 7.2. */
	RR_CAUSE_DDP_CATASTROPHIC = 0x1000,
	RR_CAUSE_DDP_INVALID_STAG = 0x1100,
	RR_CAUSE_DDP_BOUNDS = 0x1101,
	RR_CAUSE_DDP_STREAM = 0x1102,
	RR_CAUSE_DDP_TO_WRAP = 0x1103,
	RR_CAUSE_DDP_TAGGED_VERSION = 0x1104,
	RR_CAUSE_DDP_QUEUE = 0x1201,
	RR_CAUSE_DDP_NO_BUFFER = 0x1202,
	RR_CAUSE_DDP_MSN = 0x1203,
	RR_CAUSE_DDP_MO = 0x1204,
	RR_CAUSE_DDP_TOO_LONG = 0x1205,
	RR_CAUSE_DDP_UNTAGGED_VERSION = 0x1206,
	/* RFC 5044, section 8, and RFC 6581, section 8. */
	RR_CAUSE_MPA_CLOSED = 0x2001,
	RR_CAUSE_MPA_CRC = 0x2002,
	RR_CAUSE_MPA_FRAMING = 0x2003,
	RR_CAUSE_MPA_FRAME = 0x2004,
	RR_CAUSE_MPA_CATASTROPHIC = 0x2005,
	RR_CAUSE_MPA_IRD = 0x2006,
	RR_CAUSE_MPA_RTR = 0x2007,
};

enum rr_cause_layer { RR_LAYER_RDMAP = 0, RR_LAYER_DDP = 1, RR_LAYER_LLP = 2 };

static inline enum rr_cause_layer
rr_cause_layer(uint16_t cause)
{
	return (enum rr_cause_layer)(cause >> 12);
}

/* Returns the cause for the Terminate that answers a segment for which rr_ddp_get() returned result, which is
 * not RR_DDP_OK. */
uint16_t rr_ddp_cause(enum rr_ddp_result result, const struct rr_ddp_header *header);

/* Returns the name of a cause, or NULL if the specifications do not have the cause. */
const char *rr_cause_name(uint16_t cause);

/* A Terminate Header, decoded. */
struct rr_terminate {
	uint16_t cause;          /* an enum rr_cause, or a number that the specifications do not have */
	bool has_length;         /* M */
	uint16_t segment_length; /* "The length handed up by the DDP layer when the error was detected." */
	/* D: the terminated header, 14 or 18 octets as its T flag says; else NULL */
	const uint8_t *ddp_header;
	const uint8_t *read_request; /* R: the terminated Read Request Header, 28 octets; else NULL */
	/* Set by rr_terminate_get(): the bits for M, D and R are zero and the opposite end of their octet is
	 * not, which is how the siw driver of little-endian Linux lays them out; it swaps layer and error
	 * type, too. */
	bool swapped;
};

/* Writes the Terminate Header, which follows the untagged header, and returns its size in octets. */
size_t rr_terminate_put(uint8_t out[RR_TERMINATE_MAX], const struct rr_terminate *terminate);

/* Decodes a Terminate Header in the layout of the specification, and sets terminate->swapped if the sender
 * seems to use the layout of siw. The headers in *terminate point into the memory at `data`, which must stay
 * as long as they are used. Returns false if there are fewer than four octets. A part that is announced but
 * not complete counts as absent. */
bool rr_terminate_get(const void *data, size_t size, struct rr_terminate *terminate);

/* Returns the cause that the sender meant. If terminate->swapped is set, the sender (the siw driver of Linux)
 * exchanged layer and error type, and the function puts these into the specification's order. */
uint16_t rr_terminate_meaning(const struct rr_terminate *terminate);

/* Writes a description of the Terminate for people to text, of size octets, and returns text, which always
 * ends in a zero octet. If the sender may have meant the layout of the siw driver of Linux, the description
 * also has the cause in that layout. */
const char *rr_terminate_text(char *text, size_t size, const struct rr_terminate *terminate);

#endif
