/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_VERBS_POOL_H
#define RR_FABRIC_VERBS_POOL_H

#include "base/env.h"
#include "fabric/verbs/library.h"

/*
 * A pool of registered buffers of one size. Buffers are made a slab at a time, when they are first needed,
 * and are kept until the pool is destroyed; a slab is one registration.
 */
struct rr_verbs_slab {
	struct rr_verbs_slab *next;
	struct ibv_mr *mr;
	void *memory;
};

/* A buffer; data has size octets. The slab is the one that the buffer lies in: its registration has the key
 * of the buffer. */
struct rr_verbs_buffer {
	struct rr_verbs_buffer *next; /* while it is free */
	struct rr_verbs_pool *pool;
	struct rr_verbs_slab *slab;
	uint64_t size;
	uint8_t data[];
};

/* The pool: size octets of a buffer, the buffers made so far and at most, and the free ones. */
struct rr_verbs_pool {
	const struct rr_env *env;
	const struct rr_verbs_library *library;
	struct ibv_pd *pd;
	uint32_t size;
	uint32_t made, max;
	struct rr_verbs_buffer *free;
	struct rr_verbs_slab *slabs;
};

/* Initialises an empty pool for at most max buffers of size octets, which are registered in the protection
 * domain pd. */
void rr_verbs_pool_init(struct rr_verbs_pool *pool, const struct rr_env *env,
	const struct rr_verbs_library *library, struct ibv_pd *pd, uint32_t size, uint32_t max);

/* Frees all buffers of the pool, even those that are in use, except buffers that are longer than the pool's
 * size: these must have been given back before. Has no effect on a pool that is all zeroes. */
void rr_verbs_pool_destroy(struct rr_verbs_pool *pool);

/* Takes a buffer of at least length octets. A buffer that is longer than the pool's size is made for this
 * use alone. Returns NULL if there is no memory, or max buffers are in use. */
struct rr_verbs_buffer *rr_verbs_pool_get(struct rr_verbs_pool *pool, uint32_t length);

/* Gives a buffer back to its pool. A buffer that is longer than the pool's size is freed. */
void rr_verbs_pool_put(struct rr_verbs_buffer *buffer);

/* Returns the buffer whose member data is at this address. */
struct rr_verbs_buffer *rr_verbs_buffer_of(uint8_t *data);

#endif
