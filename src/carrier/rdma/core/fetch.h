/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_FETCH_H
#define RR_CARRIER_RDMA_CORE_FETCH_H

#include "carrier/rdma/core/chunks.h"
#include "fabric/fabric.h"

/*
 * Read chunks on their way into memory, one RDMA Read for each of their
 * segments: those of a call, at the responder, or that of a reply which the
 * responder provided, at the requester.
 */
struct rr_fetch {
	const struct rr_chunk_lists *lists;
	struct rr_read_chunks *chunks; /* of the same lists, judged */
	uint8_t *memory;               /* chunks->memory octets */
	uint32_t next;                 /* segment of the Read list */
	uint32_t left;                 /* RDMA Reads that did not complete */
};

struct rr_fetch rr_fetch(const struct rr_chunk_lists *lists, struct rr_read_chunks *chunks, void *memory);

/* The next RDMA Read, into one sge. False after the last one. */
bool rr_fetch_next(struct rr_fetch *fetch, struct rr_work *work, struct rr_sge *sge);

#endif
