/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_BINDING_H
#define RR_ULB_BINDING_H

#include "ulb/walk.h"

/* The upper-layer bindings of RFC 8267 as data: for each program and version the schema with its marks. A
 * program of a user has such a table from `rpcrdma xdr`, and the same functions walk it. */

/* Returns the schema of a version of a program, or NULL if the library does not have it. NFS version 4 has
 * one schema for all minor versions. */
const struct rpcrdma_program *rr_ulb_find(uint32_t prog, uint32_t vers);

/* Returns the schema of NFS version 4 callbacks, whose program number each client chooses. No data of
 * callbacks may travel in chunks. */
const struct rpcrdma_program *rr_ulb_callback(void);

/* The items that a walk found. The caller sets items and max. */
struct rr_ulb_items {
	struct rr_walk_item *items;
	uint32_t max;
	/* Items found: may be greater than max, and only the first max of them are in items. */
	uint32_t count;
	uint32_t results; /* of a reply: how many results may have an item (rr_walk_item.result), also those
			     without one */
};

/* Finds the items, the data that may travel in chunks, of a call, and stores them in *found. reader stands
 * behind the RPC header, at the arguments; the function does not move it. Unless RR_WALKED is returned, no
 * items are found. */
enum rr_walk_answer rr_ulb_walk_call(const struct rpcrdma_program *program, uint32_t proc,
	const struct rpcrdma_xdr_reader *reader, struct rr_ulb_items *found);
/* Finds the items of a reply as rr_ulb_walk_call() does for a call; reader stands at the results. Items of
 * length 0 are found, too, because each of them has its Write chunk as others do. */
enum rr_walk_answer rr_ulb_walk_reply(const struct rpcrdma_program *program, uint32_t proc,
	const struct rpcrdma_xdr_reader *reader, struct rr_ulb_items *found);

#endif
