/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_RECEIVES_H
#define RR_FABRIC_RECEIVES_H

#include "base/cache.h"
#include "base/list.h"

/*
 * The pool of receives that all endpoints of a fabric share. Buffers are made
 * on demand and kept for reuse. While max are out, an endpoint that accepted
 * its connection finds none. It can wait for one: first come, first served,
 * and those who wait come before those who do not.
 *
 * An endpoint that connected always finds a receive, as long as there is memory, and has no more of them than
 * it is allowed. The message may be the answer without which no receive would ever come back: a server that
 * answers a call by a call of its own, such as the gateway, holds the receive of the first call until the
 * second is answered.
 *
 * So it is with data that was asked for by RDMA Read, where it comes behind
 * the Send: one that waits for such data finds a receive as long as not twice
 * as many are out.
 */
struct rr_receives {
	struct rr_cache kept;
	uint32_t max, out;
	struct rr_list waiting;
};

struct rr_receive_wait {
	void (*wake)(
		struct rr_receive_wait *wait); /* must only schedule: it is called from rr_receives_put() */
	struct rr_list link;
	bool assured; /* it is for an endpoint that connected */
	bool reads;   /* or for one that waits for data behind the Send */
};

void rr_receives_init(struct rr_receives *pool, const struct rr_env *env, uint32_t size, uint32_t max);

/* Frees what has come back; what is still out is lost. */
void rr_receives_destroy(struct rr_receives *pool);

/*
 * A receive for the owner of wait, which then waits no longer. NULL where max are out or others have waited
 * longer, unless it need not mind: then *full is set; or where there is no memory.
 */
uint8_t *rr_receives_get(struct rr_receives *pool, struct rr_receive_wait *wait, bool *full);

void rr_receives_put(struct rr_receives *pool, uint8_t *receive);

/* Waits: wake is called when a receive is there for wait, once or more often. */
void rr_receives_wait(struct rr_receives *pool, struct rr_receive_wait *wait);

/* Whether anybody does. */
bool rr_receives_are_wanted(const struct rr_receives *pool);

/* No longer. No effect where it does not wait. */
void rr_receives_leave(struct rr_receives *pool, struct rr_receive_wait *wait);

#endif
