/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_SHARE_POOL_PRIVATE_H
#define RR_BASE_SHARE_POOL_PRIVATE_H

#include "base/share/pool.h"

/*
 * The payload memory of an engine, as its files see it: pool.c the buffers,
 * pool_share.c which request is granted, pool_turn.c which waiter is woken.
 * pool_share.h has what is counted whenever a buffer goes out or comes back.
 */
enum {
	RR_POOL_SHIFT_MIN = 12,
	RR_POOL_MIN = 1 << RR_POOL_SHIFT_MIN, /* octets of the smallest buffer */
	RR_POOL_SHIFT_KEPT = 21,              /* RR_POOL_KEPT is two to this power */
	RR_POOL_SHIFT_STEPS = 2,              /* RR_POOL_STEPS is two to this power */
	/* Sizes from each power of two to the next, where they are multiples of RR_POOL_MIN. */
	RR_POOL_STEPS = 1 << RR_POOL_SHIFT_STEPS,
	/* Sizes up to RR_POOL_KEPT: the first two times RR_POOL_STEPS are all multiples of RR_POOL_MIN, and
	 * each power of two above them has RR_POOL_STEPS more. */
	RR_POOL_CLASSES = (RR_POOL_SHIFT_KEPT - RR_POOL_SHIFT_MIN - RR_POOL_SHIFT_STEPS + 1) * RR_POOL_STEPS
};

/* Lies in front of each buffer. */
struct rr_pool_head {
	union {
		struct rr_list link;       /* in account->held, while the buffer is in use */
		struct rr_pool_head *next; /* kept for reuse below this one, while it is not */
	};
	void *memory;               /* what the environment gave */
	struct rr_pool_head **kept; /* those of its size that are kept; NULL: it is too large to be kept */
	size_t size;                /* of the buffer */
	uint64_t granted;           /* the time at which the buffer was granted */
	struct rr_account *account; /* the account that holds the buffer, while it is in use */
	bool small;                 /* the buffer counts as one of a small request */
};

/* The verdict of the pool on a request. */
enum rr_pool_verdict {
	RR_POOL_GRANTED,
	RR_POOL_LATER,  /* the party is entitled to it, but there is not enough memory */
	RR_POOL_BARRED, /* the party is entitled to it, but memory that nobody has proved to move has reached
			   its bound */
	RR_POOL_ENOUGH  /* the party holds its share already */
};

/* The pool. */
struct rr_pool {
	const struct rr_env *env;
	struct rr_shares *shares;
	enum rr_resource resource;
	/* Octets: the bound, those in use, the most ever in use, those kept for reuse. */
	size_t max, used, peak, kept;
	/* Octets, parts of max: rr_pool_share_init() sets them. A party's small requests together; all large
	 * requests; those of one host; memory without proof, to which small requests may add their reserve.
	 */
	size_t small_max, large_max, host_max, unproven_max;
	size_t large;    /* octets in use, without the buffers of small requests */
	size_t unproven; /* octets in use without proof: the sum of what parties hold beyond what they have
			    proved to move */
	struct rr_pool_head *kept_of[RR_POOL_CLASSES]; /* buffers kept for reuse, by size */
	struct rr_account nobody;                      /* of requests of no party */
	struct rr_list turns; /* accounts whose requests wait, or waited and were taken back */
	struct rr_list round; /* accounts taken out of turns that the present round has still to look at */
	struct rr_account *woken; /* the account whose waiter is being woken; NULL: no waiter is */
	/* The account that may grow beyond the bound on memory that nobody has proved to move, until all of
	 * its buffers came back; NULL: there is no such account. */
	struct rr_account *guest;
	struct rr_task task; /* wakes waiting requests, round after round */
};

/* pool.c: returns the party's account with the pool. If party is NULL, returns the account for requests that
 * have no party. */
struct rr_account *rr_pool_account(struct rr_pool *pool, struct rr_party *party);

/* pool_turn.c: initialises the pool's lists of accounts with waiting requests, and the task that wakes the
 * requests. */
void rr_pool_turn_init(struct rr_pool *pool);
/* Whether a request of an account other than `account` waits. */
bool rr_pool_turn_others_wait(const struct rr_pool *pool, const struct rr_account *account);

/* Whether no account is in the pool's lists of those that wait: then no request waits. */
static inline bool
rr_pool_turn_is_quiet(const struct rr_pool *pool)
{
	return rr_list_empty(&pool->turns) && rr_list_empty(&pool->round);
}

#endif
