/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_POOL_PRIVATE_H
#define RR_BASE_POOL_PRIVATE_H

#include "base/pool.h"

/*
 * The payload memory of an engine, as its files see it: pool.c the buffers,
 * pool_share.c which request is granted, pool_turn.c which waiter is woken.
 */
enum {
	RR_POOL_SHIFT_MIN = 12,
	RR_POOL_MIN = 1 << RR_POOL_SHIFT_MIN, /* octets of the smallest buffer */
	RR_POOL_SHIFT_KEPT = 21,              /* RR_POOL_KEPT is two to this power */
	/* Sizes from each power of two to the next, where they are multiples of RR_POOL_MIN. */
	RR_POOL_STEPS = 4,
	/* Free lists, one for each size up to RR_POOL_KEPT. */
	RR_POOL_CLASSES = (RR_POOL_SHIFT_KEPT - RR_POOL_SHIFT_MIN) * RR_POOL_STEPS + 1
};

/* Lies in front of each buffer. */
struct rr_pool_head {
	struct rr_list link;        /* in a free list, or in the list account->held */
	void *memory;               /* what the environment gave */
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
	size_t large;    /* octets in use, without the buffers of small requests */
	size_t unproven; /* octets in use without proof: the sum of what parties hold beyond what they have
			    proved to move */
	struct rr_list free[RR_POOL_CLASSES]; /* buffers kept for reuse, by size */
	struct rr_account nobody;             /* of requests of no party */
	struct rr_list turns; /* accounts whose requests wait, or waited and were taken back */
	struct rr_list round; /* accounts taken out of turns that the present round has still to look at */
	struct rr_account *woken; /* the account whose waiter is being woken; NULL: no waiter is */
	/* The account that may grow beyond the bound on memory that nobody has proved to move, until all of
	 * its buffers came back; NULL: there is no such account. */
	struct rr_account *guest;
	struct rr_task task; /* wakes waiting requests, round after round */
};

/* pool.c: returns the size of the buffer that a request for size octets gets, or 0 if size is too large. */
size_t rr_pool_rounded_of(size_t size);
/* Returns the party's account with the pool. If party is NULL, returns the account for requests that have no
 * party. */
struct rr_account *rr_pool_account(struct rr_pool *pool, struct rr_party *party);

/* pool_share.c: decides whether the account may have a buffer of size octets now, and returns the verdict. */
enum rr_pool_verdict rr_pool_share_judge(
	const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether a new request of the account for size octets has to wait behind a request that waits already:
 * behind one of the same account, behind any one if the account is that of no party, or behind a request of
 * another account that is due and that the new request would delay. */
bool rr_pool_share_overtakes(const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether the account is entitled to a buffer of size octets however much other accounts hold: the account is
 * that of no party, or holds no buffer, or wants a larger buffer in place of its only one, or the request is
 * small. If not, it can have only what the others leave. */
bool rr_pool_share_is_entitled(const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether a request for size octets is a small one: with it, the account holds RR_POOL_START octets at most,
 * and not more than the whole reserve for small requests. A request of no party is never small. */
bool rr_pool_share_is_small(const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether a buffer of size octets would take some of the memory that is reserved for small requests, even if
 * it were the only buffer in use. */
bool rr_pool_share_is_huge(const struct rr_pool *pool, size_t size);
/* Whether size alone exceeds the bound on memory without proof: octets that parties hold beyond what their
 * peers have sent or taken so far. */
bool rr_pool_share_is_huge_unproven(const struct rr_pool *pool, size_t size);
/* Whether the account, with size more octets, would hold octets without proof: more than its peer has sent or
 * taken so far. */
bool rr_pool_share_is_unproven(const struct rr_account *account, size_t size);
/* Returns how many octets the first waiting request of the account wants, or 0 if no request waits. */
size_t rr_pool_share_wants(const struct rr_account *account);
/* Returns the account's host if the host holds so much of the pool that the request for size octets has to
 * wait until the host gives memory back, else NULL. */
struct rr_host *rr_pool_share_full_host(
	const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether size is little compared to the bound on memory without proof (octets beyond what the peers have
 * sent or taken so far), and no request waits. */
bool rr_pool_share_has_plenty(const struct rr_pool *pool, size_t size);
/* Whether all parties together hold more memory without proof (octets beyond what their peers have sent or
 * taken so far) than they may. The reserve for small requests is not counted into the bound. */
bool rr_pool_share_is_beyond(const struct rr_pool *pool);
/* rr_pool_share_charge() counts the buffer of head as held by the account, puts it into
 * account->held, and adds a reference to the account's party. rr_pool_share_discharge() undoes this: as it
 * removes the reference, it may free the party with its account. */
void rr_pool_share_charge(struct rr_pool *pool, struct rr_pool_head *head, struct rr_account *account);
void rr_pool_share_discharge(struct rr_pool *pool, struct rr_pool_head *head);
/* Sets the time since which the buffer, which an account holds, counts as held. Is called for a buffer that
 * replaces another one, with the time of the other one: a larger buffer is no fresh start for the party. */
void rr_pool_share_date_back(struct rr_pool_head *head, uint64_t granted);
/* Notes that the buffer of head comes back to the pool. The octets that the account's peer has moved count as
 * proof that it moves what it holds, unless the account is on probation. If the buffer was kept for too long,
 * the proof is forgotten, and another probation begins. */
void rr_pool_share_prove(struct rr_pool *pool, const struct rr_pool_head *head);

/* pool_turn.c: initialises the pool's lists of accounts with waiting requests, and the task that wakes the
 * requests. */
void rr_pool_turn_init(struct rr_pool *pool);
/* Whether a request of an account other than `account` waits. */
bool rr_pool_turn_others_wait(const struct rr_pool *pool, const struct rr_account *account);

#endif
