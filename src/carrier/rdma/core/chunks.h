/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_CHUNKS_H
#define RR_CARRIER_RDMA_CORE_CHUNKS_H

#include "carrier/rdma/core/pieces.h"
#include "wire/rpcrdma1.h"

/* A Read chunk of a call. The Read list is checked before memory is taken for the sizes that a peer claims.
 * RFC 8166, section 4.3.1: a list of read segments "that are grouped by their Position fields into Read
 * chunks". */
struct rr_read_chunk {
	uint32_t position;
	uint32_t length; /* octets of all its segments; above 0 */
	uint32_t offset; /* octets of the reduced stream in front of the chunk */
	uint32_t at;     /* its place in the memory that all chunks of the call share */
	uint32_t filled; /* octets of the segments that rr_read_chunks_next() has placed */
};

/* The Read chunks of a call. */
struct rr_read_chunks {
	struct rr_read_chunk chunks[RR_MESSAGE_ITEMS + 1]; /* by position */
	uint32_t count;
	uint32_t memory; /* octets of memory that all chunks take together */
};

/* Groups and checks the Read list of a call: of an RDMA_MSG with `body` octets of stream behind its header,
 * or of an RDMA_NOMSG (long_call is true), whose first chunk must be the stream. Returns false if the call
 * must be answered by ERR_CHUNK: chunks overlap or lie past the body, there are too many chunks, an RDMA_MSG
 * has a position-zero chunk or an RDMA_NOMSG has none, or the message has more than max octets. Chunks of no
 * octets are left out. */
bool rr_read_chunks(const struct rr_chunk_lists *lists, bool long_call, uint32_t body, uint32_t max,
	struct rr_read_chunks *chunks);

/* Returns where in the memory of the chunks the octets of this read segment are to be placed. After
 * rr_read_chunks(), the caller calls this once for each segment of the list, in order. The caller leaves out
 * empty segments, as they may belong to no chunk. */
uint32_t rr_read_chunks_next(struct rr_read_chunks *chunks, const struct rr_read_segment *segment);

#endif
