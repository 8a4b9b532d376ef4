/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_CHUNKS_H
#define RR_CARRIER_RDMA_CORE_CHUNKS_H

#include "carrier/rdma/core/pieces.h"
#include "wire/rpcrdma1.h"

/*
 * The Read list of a call as Read chunks, judged before memory is taken for
 * what a peer claims: RFC 8166, section 4.3.1: a list of read segments "that
 * are grouped by their Position fields into Read chunks".
 */
struct rr_read_chunk {
	uint32_t position;
	uint32_t length; /* octets of all its segments; above 0 */
	uint32_t offset; /* of the reduced stream in front of it */
	uint32_t at;     /* where it lies in the memory that all chunks of the call share */
	uint32_t filled; /* for who walks the segments: octets of those before */
};

struct rr_read_chunks {
	struct rr_read_chunk chunks[RR_MESSAGE_ITEMS + 1]; /* by position */
	uint32_t count;
	uint32_t memory; /* octets of memory that they take together */
};

/*
 * Groups and judges the Read list of a call: an RDMA_MSG with `body` octets of stream behind its header, or
 * an RDMA_NOMSG (long_call), whose first chunk must be the stream. False for what is to be answered by
 * ERR_CHUNK: chunks that overlap or lie past the body, too many of them, a position-zero chunk where there is
 * a body or none where there is none, a message of more than max octets. Chunks of no octets are left out.
 */
bool rr_read_chunks(const struct rr_chunk_lists *lists, bool long_call, uint32_t body, uint32_t max,
	struct rr_read_chunks *chunks);

/*
 * Where in the chunks' memory read segment `index` of the list goes. To be asked for each segment once, in
 * list order, after rr_read_chunks(); only for segments above length 0.
 */
uint32_t rr_read_chunks_next(struct rr_read_chunks *chunks, const struct rr_read_segment *segment);

#endif
