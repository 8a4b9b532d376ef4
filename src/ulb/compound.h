/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_COMPOUND_H
#define RR_ULB_COMPOUND_H

#include "ulb/walk.h"

/* COMPOUND of NFS version 4, operation by operation. The messages of all minor versions are those of 4.2, or
 * some of them, so that one schema serves all. */

/* Whether proc is COMPOUND of NFS version 4, by whichever minor version's schema. */
bool rr_compound_is(const struct rpcrdma_program *program, uint32_t proc);

/* Steps over what is in front of the operations of a call; returns how many there are, by its count. */
uint32_t rr_compound_begin_call(struct rr_walk *walk);

/* Steps over one operation, and returns its number. */
uint32_t rr_compound_next_call(struct rr_walk *walk);

/* The same for a reply. */
uint32_t rr_compound_begin_reply(struct rr_walk *walk);
uint32_t rr_compound_next_reply(struct rr_walk *walk);

/* RFC 8267, 6.4.1: "a "READ operation" refers to any NFS version 4 operation that has a DDP-eligible result
 * data item" */
bool rr_compound_is_read(uint32_t operation);

#endif
