/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_VERBS_POOL_H
#define RR_FABRIC_VERBS_POOL_H

#include "base/env.h"
#include "fabric/verbs/library.h"

/*
 * Registered buffers of one size. They are made a slab at a time, when they are first needed, and are kept
 * until the pool is destroyed; a slab is one registration.
 */
struct rr_verbs_slab {
	struct rr_verbs_slab *next;
	struct ibv_mr *mr;
	void *memory;
};

struct rr_verbs_buffer {
	struct rr_verbs_buffer *next; /* while it is free */
	struct rr_verbs_pool *pool;
	struct rr_verbs_slab *slab;
	uint64_t size;
	uint8_t data[];
};

struct rr_verbs_pool {
	const struct rr_env *env;
	const struct rr_verbs_library *library;
	struct ibv_pd *pd;
	uint32_t size;
	uint32_t made, max;
	struct rr_verbs_buffer *free;
	struct rr_verbs_slab *slabs;
};

void rr_verbs_pool_init(struct rr_verbs_pool *pool, const struct rr_env *env,
	const struct rr_verbs_library *library, struct ibv_pd *pd, uint32_t size, uint32_t max);

/* Frees all buffers, also those that are out. Also a pool that is all zeroes. */
void rr_verbs_pool_destroy(struct rr_verbs_pool *pool);

/* A buffer of length octets or more; one longer than the pool's size is made for this once. NULL: no memory,
 * or max are out. */
struct rr_verbs_buffer *rr_verbs_pool_get(struct rr_verbs_pool *pool, uint32_t length);

void rr_verbs_pool_put(struct rr_verbs_buffer *buffer);

/* The buffer whose data this is. */
struct rr_verbs_buffer *rr_verbs_buffer_of(uint8_t *data);

#endif
