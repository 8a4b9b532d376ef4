/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/mpa.h"

#include "base/checked.h"

#include <string.h>

/*
 * The frame, by the offsets of its rows:
 *
 *  0 |            Key (16 octets)            |
 * 16 |M|C|R|S| Res |   Rev    |  PD_Length   |
 * 20 |A|B|    IRD             |C|D|   ORD    |   only with S, in the Private Data
 */
enum {
	FLAGS_OFFSET = 16,
	REVISION_OFFSET = 17,
	LENGTH_OFFSET = 18,

	MARKERS = 0x80,
	CRC = 0x40,
	REJECT = 0x20,
	ENHANCED = 0x10,

	IRD_PEER_TO_PEER = 0x8000,
	IRD_RTR_SEND = 0x4000,
	ORD_RTR_WRITE = 0x8000,
	ORD_RTR_READ = 0x4000,
};

static const char request_key[] = "MPA ID Req Frame";
static const char reply_key[] = "MPA ID Rep Frame";

/* Returns the key, a fixed text, with which an MPA frame begins: a reply frame if reply is true, else a
 * request frame. */
static const char *
mpa_key_of(bool reply)
{
	return reply ? reply_key : request_key;
}

/* Returns the octet of flags for an MPA request or reply frame. */
static uint8_t
mpa_flags_of(const struct rr_mpa_frame *frame)
{
	uint8_t flags = 0;

	if (frame->markers)
		flags |= MARKERS;
	if (frame->crc)
		flags |= CRC;
	/* RFC 5044, 7.1.1: "This bit is set to zero, and not checked on reception in the MPA Request Frame."
	 */
	if (frame->reject && frame->reply)
		flags |= REJECT;
	if (frame->enhanced)
		flags |= ENHANCED;
	return flags;
}

/* Writes IRD and ORD, the numbers of RDMA Reads in both directions, with their control flags: the first four
 * octets of an enhanced frame's Private Data field. */
static void
mpa_put_depths(uint8_t *out, const struct rr_mpa_frame *frame)
{
	uint16_t ird = frame->ird, ord = frame->ord;

	/* RFC 6581, 9.2: "If Control Flag A is set to 0, then Control Flags B, C, and D MUST also be set to
	 * 0." */
	if (frame->peer_to_peer) {
		ird |= IRD_PEER_TO_PEER | (frame->rtr_send ? IRD_RTR_SEND : 0);
		ord |= (frame->rtr_write ? ORD_RTR_WRITE : 0) | (frame->rtr_read ? ORD_RTR_READ : 0);
	}
	rr_put_be16(out, ird);
	rr_put_be16(out + 2, ord);
}

/* Whether the frame can be written: its revision is 2, or 1 if the frame is not an enhanced one, and IRD, ORD
 * and the private data are within the limits of MPA. */
static bool
mpa_expressible(const struct rr_mpa_frame *frame)
{
	size_t depths = frame->enhanced ? RR_MPA_DEPTHS_SIZE : 0;

	/* RFC 6581, 6: "To use any enhanced connection establishment feature, this MUST be set to two or
	 * higher." */
	if (frame->revision != 2 && (frame->revision != 1 || frame->enhanced))
		return false;
	if (frame->enhanced && (frame->ird > RR_MPA_DEPTH_MAX || frame->ord > RR_MPA_DEPTH_MAX))
		return false;
	return depths + frame->private_data_length <= RR_MPA_PRIVATE_MAX;
}

size_t
rr_mpa_put(uint8_t *out, size_t size, const struct rr_mpa_frame *frame)
{
	size_t depths = frame->enhanced ? RR_MPA_DEPTHS_SIZE : 0;
	size_t length = depths + frame->private_data_length;

	if (!mpa_expressible(frame) || size < RR_MPA_HEADER_SIZE + length)
		return 0;
	memcpy(out, mpa_key_of(frame->reply), RR_MPA_KEY_SIZE);
	out[FLAGS_OFFSET] = mpa_flags_of(frame);
	out[REVISION_OFFSET] = frame->revision;
	rr_put_be16(out + LENGTH_OFFSET, (uint16_t)length);
	if (frame->enhanced)
		mpa_put_depths(out + RR_MPA_HEADER_SIZE, frame);
	if (frame->private_data_length > 0)
		memcpy(out + RR_MPA_HEADER_SIZE + depths, frame->private_data, frame->private_data_length);
	return RR_MPA_HEADER_SIZE + length;
}

/* Reads IRD and ORD, the numbers of RDMA Reads in both directions, with their control flags, from the front
 * of an enhanced frame's Private Data field. */
static void
mpa_get_depths(const uint8_t *in, struct rr_mpa_frame *frame)
{
	uint16_t ird = rr_get_be16(in), ord = rr_get_be16(in + 2);

	frame->ird = ird & RR_MPA_DEPTH_MAX;
	frame->ord = ord & RR_MPA_DEPTH_MAX;
	frame->peer_to_peer = ird & IRD_PEER_TO_PEER;
	/* RFC 6581, 9.2: "if Control Flag A is set to 0, then Control Flags B, C, and D MUST be ignored." */
	frame->rtr_send = frame->peer_to_peer && (ird & IRD_RTR_SEND);
	frame->rtr_write = frame->peer_to_peer && (ord & ORD_RTR_WRITE);
	frame->rtr_read = frame->peer_to_peer && (ord & ORD_RTR_READ);
}

/* Sets *frame to the flags and the revision that the header of an MPA frame has. The reject flag counts only
 * in a reply, the flag S (enhanced) only from revision 2 on: in revision 1 it is one of the reserved bits
 * (Res), which are "not checked on reception" (RFC 5044, 7.1.1). */
static void
mpa_get_header(const uint8_t *in, bool reply, struct rr_mpa_frame *frame)
{
	*frame = (struct rr_mpa_frame){
		.reply = reply,
		.markers = in[FLAGS_OFFSET] & MARKERS,
		.crc = in[FLAGS_OFFSET] & CRC,
		.reject = reply && (in[FLAGS_OFFSET] & REJECT),
		.revision = in[REVISION_OFFSET],
		.enhanced = in[REVISION_OFFSET] >= 2 && (in[FLAGS_OFFSET] & ENHANCED),
	};
}

enum rr_mpa_result
rr_mpa_get(const void *data, size_t size, bool reply, struct rr_mpa_frame *frame, size_t *used)
{
	const uint8_t *in = data;
	size_t length, depths;

	*used = RR_MPA_HEADER_SIZE;
	/* RFC 5044, 7.1.2: "If a received "Key" does not match the expected value ... connection MUST be
	 * closed". */
	if (size > 0 && memcmp(in, mpa_key_of(reply), rr_min(size, RR_MPA_KEY_SIZE)) != 0)
		return RR_MPA_BAD_KEY;
	if (size < RR_MPA_HEADER_SIZE)
		return RR_MPA_MORE;
	mpa_get_header(in, reply, frame);
	if (frame->revision != 1 && frame->revision != 2)
		return RR_MPA_BAD_REVISION;
	/* RFC 5044, 7.1.1: "if the length of the Private Data field exceeds 512 octets, the receiver MUST
	 * close". */
	length = rr_get_be16(in + LENGTH_OFFSET);
	depths = frame->enhanced ? RR_MPA_DEPTHS_SIZE : 0;
	if (length > RR_MPA_PRIVATE_MAX || length < depths)
		return RR_MPA_BAD_LENGTH;
	*used = RR_MPA_HEADER_SIZE + length;
	if (size < *used)
		return RR_MPA_MORE;
	if (frame->enhanced)
		mpa_get_depths(in + RR_MPA_HEADER_SIZE, frame);
	frame->private_data = in + RR_MPA_HEADER_SIZE + depths;
	frame->private_data_length = (uint16_t)(length - depths);
	return RR_MPA_OK;
}
