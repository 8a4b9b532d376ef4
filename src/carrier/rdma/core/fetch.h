/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_FETCH_H
#define RR_CARRIER_RDMA_CORE_FETCH_H

#include "carrier/rdma/core/chunks.h"
#include "fabric/fabric.h"

/* Read chunks on their way into memory, by one RDMA Read for each of their segments. The responder fetches
 * the chunks of a call so, and the requester those of a reply which the responder provided. */
struct rr_fetch {
	const struct rr_chunk_lists *lists;
	struct rr_read_chunks *chunks; /* made and judged from the same lists */
	uint8_t *memory;               /* chunks->memory octets */
	uint32_t next;                 /* the next segment of the Read list */
	uint32_t left;                 /* RDMA Reads that have not completed */
};

/* Begins to read the segments of the Read list `lists` into memory: nothing is read yet, but left is the
 * number of RDMA Reads that it takes, one for each segment that is not empty. `chunks`, which was made from
 * the same lists, says where in memory each segment belongs. */
struct rr_fetch rr_fetch(const struct rr_chunk_lists *lists, struct rr_read_chunks *chunks, void *memory);

/* Fills in the next RDMA Read, with one sge. Returns false if all RDMA Reads were filled in before. */
bool rr_fetch_next(struct rr_fetch *fetch, struct rr_work *work, struct rr_sge *sge);

#endif
