/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_MPA_H
#define RR_WIRE_MPA_H

#include "base/endian.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * MPA, the framing of DDP over TCP: the request and reply frames of revision 1
 * (RFC 5044, section 7.1.1) and revision 2 (RFC 6581, section 6), and the
 * arithmetic of FPDUs (RFC 5044, section 4.1).
 *
 * An FPDU is the frame in which MPA sends one DDP segment, its ULPDU. IRD and ORD are how many RDMA Reads at
 * a time a side answers, and how many it sends. An RTR indication is a first, empty operation of the side
 * that opened the connection: it says that this side is ready to receive.
 */

/* Sizes in octets, and the largest IRD and ORD. */
enum {
	RR_MPA_KEY_SIZE = 16,
	RR_MPA_HEADER_SIZE = 20,  /* the frame without its Private Data field */
	RR_MPA_PRIVATE_MAX = 512, /* "The Private Data field MUST be between 0 and 512 octets in length." */
	RR_MPA_DEPTHS_SIZE = 4,   /* IRD and ORD, at the front of an enhanced frame's Private Data field */
	RR_MPA_FRAME_MAX = RR_MPA_HEADER_SIZE + RR_MPA_PRIVATE_MAX,
	RR_MPA_DEPTH_MAX =
		0x3fff, /* RFC 6581, 9.1: "automatic negotiation of the IRD or ORD is not desired" */
};

/* A request or reply frame, decoded. */
struct rr_mpa_frame {
	bool reply;                  /* an MPA Reply Frame; else an MPA Request Frame */
	bool markers;                /* M: the sender requires markers in what it receives */
	bool crc;                    /* C: the sender wants CRCs, both ways */
	bool reject;                 /* R: only in a reply */
	bool enhanced;               /* S: ird and ord are there; only with revision 2 */
	uint8_t revision;            /* 1 or 2 */
	uint16_t ird, ord;           /* 0 to RR_MPA_DEPTH_MAX */
	bool peer_to_peer;           /* A; without it the next three are false */
	bool rtr_send;               /* B: a zero-length Send as RTR indication */
	bool rtr_write;              /* C: a zero-length RDMA Write */
	bool rtr_read;               /* D: a zero-length RDMA Read */
	const uint8_t *private_data; /* of the upper layer: it follows IRD and ORD. It refers to the octets
					that were read */
	uint16_t private_data_length;
};

/* The result of reading a frame. */
enum rr_mpa_result {
	RR_MPA_OK,
	RR_MPA_MORE,         /* more octets are needed; those that came are right */
	RR_MPA_BAD_KEY,      /* another key than expected, found as soon as an octet differs */
	RR_MPA_BAD_REVISION, /* neither 1 nor 2; frame->revision has it */
	RR_MPA_BAD_LENGTH    /* more than 512 octets of Private Data, or enhanced and less than 4 */
};

/* Writes frame to out, which has room for size octets. Returns the size of the frame, or 0 if it does not fit
 * or exceeds a limit of MPA. Flags that such a frame cannot have (R in a request; the RTR bits without A) are
 * not written. */
size_t rr_mpa_put(uint8_t *out, size_t size, const struct rr_mpa_frame *frame);

/* Reads the frame at the front of the size octets that have come so far: a reply frame if reply is true, else
 * a request frame. If the result is RR_MPA_OK, sets *used to the size of the frame; if it is RR_MPA_MORE, to
 * the number of octets that must have come before the next attempt. */
enum rr_mpa_result rr_mpa_get(
	const void *data, size_t size, bool reply, struct rr_mpa_frame *frame, size_t *used);

/*
 * ---- Markers (RFC 5044, 4.3) ----
 *
 * Where markers are in use, a marker precedes the first FPDU, and from there on each 512th octet of the
 * stream begins a marker: two octets of 0, then the distance, in octets, from the marker back to the
 * beginning of its FPDU, or 0 if the marker lies between two FPDUs.
 */
enum { RR_MPA_MARKER_SIZE = 4, RR_MPA_MARKER_INTERVAL = 512 };

/* Writes an MPA marker. back is the number of octets from the marker back to the beginning of the FPDU (the
 * frame of MPA) that it lies in. */
static inline void
rr_mpa_put_marker(uint8_t out[RR_MPA_MARKER_SIZE], uint64_t back)
{
	rr_put_be16(out, 0);
	rr_put_be16(out + 2, (uint16_t)back);
}

/* Whether the marker says that its FPDU (the frame of MPA) began `back` octets before the marker. The two
 * lowest bits are ignored, RFC 5044, 4.3: "MPA reserves these bits so they MUST be treated as zero for
 * computation at the receiver." */
static inline bool
rr_mpa_marker_is(const uint8_t in[RR_MPA_MARKER_SIZE], uint64_t back)
{
	return (rr_get_be16(in + 2) & ~3u) == (uint16_t)back;
}

/* ---- FPDUs without markers: ULPDU_Length, ULPDU, PAD, CRC ---- */

/* Sizes in octets. */
enum { RR_FPDU_LENGTH_SIZE = 2, RR_FPDU_CRC_SIZE = 4, RR_FPDU_ULPDU_MAX = 0xffff };

/* Returns how many octets of padding follow a ULPDU (payload of an MPA frame) of length ulpdu. RFC 5044, 4.1:
 * "The length of the pad is set so as to make the size of the FPDU an integral multiple of four." */
static inline size_t
rr_fpdu_pad(size_t ulpdu)
{
	return -(RR_FPDU_LENGTH_SIZE + ulpdu) & 3;
}

/* Returns the size of the FPDU (the frame of MPA, with length, padding and CRC) around a ULPDU, its payload,
 * of length ulpdu. */
static inline size_t
rr_fpdu_size(size_t ulpdu)
{
	return RR_FPDU_LENGTH_SIZE + ulpdu + rr_fpdu_pad(ulpdu) + RR_FPDU_CRC_SIZE;
}

/*
 * rr_fpdu_put_crc() writes the CRC field of an FPDU (the frame of MPA), rr_fpdu_get_crc() reads it: CRC32c
 * from the length to the padding, "in the manner described in the iSCSI Protocol" (RFC 5044, section 4.4),
 * whose digests have their least significant octet first (RFC 3720, B.4). Without CRCs, the field exists,
 * too: the sender writes 0, and the receiver ignores it.
 */
static inline void
rr_fpdu_put_crc(uint8_t out[RR_FPDU_CRC_SIZE], uint32_t crc)
{
	rr_put_le32(out, crc);
}

static inline uint32_t
rr_fpdu_get_crc(const uint8_t in[RR_FPDU_CRC_SIZE])
{
	return rr_get_le32(in);
}

#endif
