/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_RECEIVES_H
#define RR_FABRIC_RECEIVES_H

#include "base/cache.h"
#include "base/list.h"

/*
 * The pool of receives that all endpoints of a fabric share. Buffers are made on demand and kept for reuse.
 * While max receives are out, an endpoint that accepted its connection gets no receive. It can wait for a
 * receive: the endpoint that has waited longest gets the next receive, and endpoints that do not wait come
 * after all that do.
 *
 * An endpoint that connected always gets a receive, as long as there is memory, up to the number that it is
 * allowed. The message may be the answer without which no receive would ever come back: a server that answers
 * a call by a call of its own, such as the gateway, holds the receive of the first call until the second call
 * is answered.
 *
 * Data that was asked for by RDMA Read may come behind the Send: an endpoint that waits for such data gets a
 * receive as long as fewer than twice max are out.
 */
struct rr_receives {
	struct rr_cache kept;   /* the buffers that are not in use */
	uint32_t max, out;      /* the bound; the buffers that are in use */
	struct rr_list waiting; /* of struct rr_receive_wait, the one that has waited longest in front */
};

/* An endpoint that needs a receive, and may wait for it. */
struct rr_receive_wait {
	/* Called when a buffer may be free for the endpoint. It must only schedule a later rr_receives_get():
	 * it is called inside other functions of the pool. */
	void (*wake)(struct rr_receive_wait *wait);
	struct rr_list link;
	bool assured; /* the endpoint connected (and did not accept), so that it never waits */
	bool reads;   /* the endpoint has RDMA Reads under way, whose data may come behind the Send */
};

/* Initialises an empty pool of receive buffers of size octets, of which at most max may be in use. */
void rr_receives_init(struct rr_receives *pool, const struct rr_env *env, uint32_t size, uint32_t max);

/* Frees the buffers that have come back to the pool. A buffer that has not come back is never freed. */
void rr_receives_destroy(struct rr_receives *pool);

/* Takes a receive buffer for the owner of wait, and ends that owner's wait. If max buffers are in use or
 * others have waited longer, sets *full to true and returns NULL: the owner must wait for its turn. Otherwise
 * sets *full to false; the result is then NULL only if there is no memory. */
uint8_t *rr_receives_get(struct rr_receives *pool, struct rr_receive_wait *wait, bool *full);

/* Gives a receive buffer back to the pool, and wakes the owner that has waited longest for one, if a buffer
 * is free for it. */
void rr_receives_put(struct rr_receives *pool, uint8_t *receive);

/* Puts the owner of wait behind the owners that wait for a receive buffer already. The function wait->wake is
 * called, once or more often, when a buffer may be free for it. Has no effect if the owner waits already. */
void rr_receives_wait(struct rr_receives *pool, struct rr_receive_wait *wait);

/* Whether any owner waits for a receive buffer. */
bool rr_receives_are_wanted(const struct rr_receives *pool);

/* Ends the owner's wait for a receive buffer, and wakes the owner that has waited longest, if a buffer is
 * free for it. Has no effect if the owner does not wait. */
void rr_receives_leave(struct rr_receives *pool, struct rr_receive_wait *wait);

#endif
