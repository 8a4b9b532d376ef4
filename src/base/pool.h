/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_POOL_H
#define RR_BASE_POOL_H

#include "base/env.h"
#include "base/list.h"

/*
 * Payload memory of one engine: page-aligned buffers, kept for reuse, and a
 * bound on their sum. Who finds it exhausted may wait: waiters are woken, in
 * their order, as buffers come back.
 *
 * Sizes are rounded up to a power of two of at least 4096 octets; buffers up
 * to RR_POOL_KEPT octets are kept on free lists when they come back, so that
 * a stream of calls does not allocate.
 */
enum { RR_POOL_KEPT = 1 << 21 };

struct rr_pool;

struct rr_pool_waiter {
	void (*wake)(struct rr_pool_waiter *waiter); /* called from rr_pool_put(); may get and wait again */
	struct rr_list link;                         /* initialised with rr_list_init() before use */
};

/* NULL: no memory. max: octets that may be out at a time. */
struct rr_pool *rr_pool_new(const struct rr_env *env, size_t max);

/* Every buffer must have come back. pool may be NULL. */
void rr_pool_free(struct rr_pool *pool);

/*
 * A buffer of at least size octets, contents undefined. NULL where the bound is reached, others are already
 * waiting (unless waiter is the one being woken), or there is no memory; a request above the bound as a whole
 * is granted only while nothing else is out, so that it is slow, not stuck.
 */
void *rr_pool_get(struct rr_pool *pool, size_t size);

/* buffer may be NULL. */
void rr_pool_put(struct rr_pool *pool, void *buffer);

/* Queues waiter to be woken when a buffer comes back; no effect where it waits already.
 * rr_list_remove(&waiter->link) ends the wait. */
void rr_pool_wait(struct rr_pool *pool, struct rr_pool_waiter *waiter);

/* Whether anybody waits. */
bool rr_pool_is_wanted(const struct rr_pool *pool);

/* Octets that are out now, and the most there ever were. */
size_t rr_pool_used(const struct rr_pool *pool);
size_t rr_pool_peak(const struct rr_pool *pool);

#endif
