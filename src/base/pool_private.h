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
	RR_POOL_MIN = 1 << RR_POOL_SHIFT_MIN,
	RR_POOL_SHIFT_KEPT = 21,
	RR_POOL_STEPS = 4, /* from each power of two to the next, where those are multiples of RR_POOL_MIN */
	RR_POOL_CLASSES = (RR_POOL_SHIFT_KEPT - RR_POOL_SHIFT_MIN) * RR_POOL_STEPS + 1
};

/* What lies in front of each buffer. */
struct rr_pool_head {
	struct rr_list link; /* in a free list, or in its account's held */
	void *memory;        /* what the environment gave */
	size_t size;         /* of the buffer */
	uint64_t granted;    /* when */
	struct rr_account *account;
	bool small; /* granted without a look at the share */
};

/* What the pool says of a request. */
enum rr_pool_verdict {
	RR_POOL_GRANTED,
	RR_POOL_LATER,  /* the party is entitled to it; there is not enough */
	RR_POOL_BARRED, /* the party is entitled to it; those that have not proved to move hold their part */
	RR_POOL_ENOUGH  /* the party holds its share */
};

struct rr_pool {
	const struct rr_env *env;
	struct rr_shares *shares;
	enum rr_resource resource;
	size_t max, used, peak, kept;
	size_t large;                         /* of what is used, all but small requests */
	size_t unproven;                      /* of what is used, what its parties have not proved to move */
	struct rr_list free[RR_POOL_CLASSES]; /* by size */
	struct rr_account nobody;
	struct rr_list turns;     /* accounts with waiters */
	struct rr_list round;     /* those of them that are still to be looked at in the present round */
	struct rr_account *woken; /* whose waiter is being woken */
	/* The one that may grow beyond the part of those that have proved nothing, until all of its buffers
	 * came back; NULL: there is none. */
	struct rr_account *guest;
	struct rr_task task;
};

/* pool.c: the size of the buffer for so many octets; 0 where there is none. */
size_t rr_pool_rounded_of(size_t size);
/* That of the party, or of nobody in particular. */
struct rr_account *rr_pool_account(struct rr_pool *pool, struct rr_party *party);

/* pool_share.c */
enum rr_pool_verdict rr_pool_share_judge(
	const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether the request would overtake one that is due. */
bool rr_pool_share_overtakes(const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* The account is to have that, whatever others hold: not only what they leave. */
bool rr_pool_share_is_entitled(const struct rr_pool *pool, const struct rr_account *account, size_t size);
bool rr_pool_share_is_small(const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* It cannot be granted beside small ones. */
bool rr_pool_share_is_huge(const struct rr_pool *pool, size_t size);
/* The same among those that have not proved to move. */
bool rr_pool_share_is_huge_unproven(const struct rr_pool *pool, size_t size);
/* With that, the account would hold more than it has proved to move. */
bool rr_pool_share_is_unproven(const struct rr_account *account, size_t size);
/* Octets that the first waiter of the account wants; 0: nobody waits. */
size_t rr_pool_share_wants(const struct rr_account *account);
/* The account's host, if that has its part of the pool, and so nothing for the request until it gives some
 * back; else NULL. */
struct rr_host *rr_pool_share_full_host(
	const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether so much is little beside what may be out without proof, and nobody waits. */
bool rr_pool_share_has_plenty(const struct rr_pool *pool, size_t size);
/* Whether more is out without proof than may be, beside what is kept for small requests. */
bool rr_pool_share_is_beyond(const struct rr_pool *pool);
/* The buffer is out now, or no more. */
void rr_pool_share_charge(struct rr_pool *pool, struct rr_pool_head *head, struct rr_account *account);
void rr_pool_share_discharge(struct rr_pool *pool, struct rr_pool_head *head);
/* The buffer comes back: that proves something if it was not kept for too long. */
void rr_pool_share_prove(struct rr_pool *pool, const struct rr_pool_head *head);

/* pool_turn.c */
void rr_pool_turn_init(struct rr_pool *pool);
/* Whether an account beside this one waits. */
bool rr_pool_turn_others_wait(const struct rr_pool *pool, const struct rr_account *account);

#endif
