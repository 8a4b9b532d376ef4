/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_ROOM_H
#define RR_WIRE_ROOM_H

#include <rpcrdma/xdr.h>

/*
 * Access to several octets of a stream at once, with one check of the bounds for all of them: codecs use it
 * for the fixed words of headers. As with the functions of <rpcrdma/xdr.h>, a failure is for good. Sizes have
 * 64 bits on every machine: a length that a peer names, with its padding, may pass the largest size_t of a
 * machine of 32 bits.
 */

/* Returns the next size octets of the stream and moves the reader behind them. Returns NULL, and the reader
 * fails, if the stream has fewer octets. */
static inline const uint8_t *
rr_xdr_octets(struct rpcrdma_xdr_reader *reader, uint64_t size)
{
	const uint8_t *octets = reader->next;

	if (reader->failed || (size_t)(reader->end - octets) < size) {
		rpcrdma_xdr_fail(reader);
		return NULL;
	}
	reader->next += size;
	return octets;
}

/* Returns a pointer to the next size octets of the writer's buffer, for the caller to fill in, and moves the
 * writer behind them. Returns NULL, and the writer fails, if the buffer has less room. */
static inline uint8_t *
rr_xdr_room(struct rpcrdma_xdr_writer *writer, uint64_t size)
{
	uint8_t *octets = writer->next;

	if (writer->failed || (size_t)(writer->end - octets) < size) {
		rpcrdma_xdr_writer_fail(writer);
		return NULL;
	}
	writer->next += size;
	return octets;
}

#endif
