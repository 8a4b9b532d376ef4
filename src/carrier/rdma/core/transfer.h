/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_TRANSFER_H
#define RR_CARRIER_RDMA_CORE_TRANSFER_H

#include "carrier/rdma/core/pieces.h"
#include "fabric/fabric.h"
#include "wire/rpcrdma1.h"

/* Pieces of memory on their way into the segments of a Write chunk or Reply chunk, by one RDMA Write after
 * the other: "filling the chunk contiguously and in segment array order" (RFC 8166, section 3.4.6). */
struct rr_transfer {
	const struct rr_piece *pieces;
	uint32_t piece_count;
	struct rr_chunk *chunk;
	uint32_t piece, piece_at; /* the next octet to be written: its piece, and its place in the piece */
	uint32_t segment, segment_at; /* the place for it: the segment, and the place in the segment */
};

/* Begins to write the pieces into the chunk by RDMA Write. The pieces together must not be longer than the
 * chunk. */
struct rr_transfer rr_transfer(const struct rr_piece *pieces, uint32_t count, struct rr_chunk *chunk);

/* Fills in the next RDMA Write: its sges (at most sge_max) and its target. Returns false if there are no
 * more. The segments of the chunk then have the lengths that were written, as the reply returns them. */
bool rr_transfer_next(
	struct rr_transfer *transfer, struct rr_work *work, struct rr_sge *sges, uint32_t sge_max);

/* Sets the segments of an unused chunk to length zero. */
void rr_transfer_nothing(struct rr_chunk *chunk);

#endif
