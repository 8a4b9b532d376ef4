/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_SHARE_POOL_SHARE_H
#define RR_BASE_SHARE_POOL_SHARE_H

#include "base/share/pool_private.h"

/*
 * Which request for payload memory is granted, and what is counted for that. Memory without proof is what an
 * account holds beyond account->proven, the octets that its peer has sent or taken so far: pool.h has the
 * rules. The functions that each buffer calls as it goes out and comes back are inline.
 */

/* Computes the pool's bounds, which follow from pool->max. */
void rr_pool_share_init(struct rr_pool *pool);

/* Returns the verdict on a request that the bound on memory without proof may bar. */
enum rr_pool_verdict rr_pool_share_judge_unproven(
	const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether a new request of the account for size octets has to wait behind a request that waits already:
 * behind one of the same account, behind any one if the account is that of no party, or behind a request of
 * another account that is due and that the new request would delay. */
bool rr_pool_share_overtakes(const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether the account is entitled to a buffer of size octets however much other accounts hold: the account is
 * that of no party, or holds no buffer, or wants a larger buffer in place of its only one, or the request is
 * small. If not, it can have only what the others leave. */
bool rr_pool_share_is_entitled(const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether a buffer of size octets would take some of the memory that is reserved for small requests, even if
 * it were the only buffer in use. */
bool rr_pool_share_is_huge(const struct rr_pool *pool, size_t size);
/* Whether size alone exceeds the bound on memory without proof. */
bool rr_pool_share_is_huge_unproven(const struct rr_pool *pool, size_t size);
/* Returns how many octets the first waiting request of the account wants, or 0 if no request waits. */
size_t rr_pool_share_wants(const struct rr_account *account);
/* Returns the account's host if the host holds so much of the pool that the request for size octets has to
 * wait until the host gives memory back, else NULL. */
struct rr_host *rr_pool_share_full_host(
	const struct rr_pool *pool, const struct rr_account *account, size_t size);
/* Whether size is little compared to the bound on memory without proof, and no request waits. */
bool rr_pool_share_has_plenty(const struct rr_pool *pool, size_t size);
/* Whether all parties together hold more memory without proof than they may. The reserve for small requests
 * is not counted into the bound. */
bool rr_pool_share_is_beyond(const struct rr_pool *pool);
/* Sets the time since which the buffer, which an account holds, counts as held. Is called for a buffer that
 * replaces another one, with the time of the other one: a larger buffer is no fresh start for the party. */
void rr_pool_share_date_back(struct rr_pool_head *head, uint64_t granted);
/* Notes that the buffer of head comes back to the pool. The octets that the account's peer has moved count as
 * proof that it moves what it holds, unless the account is on probation. If the buffer was kept for too long,
 * the proof is forgotten, and another probation begins. */
void rr_pool_share_prove(struct rr_pool *pool, const struct rr_pool_head *head);

/* Returns how many octets are left below bound when `used` octets are taken; 0 if there are none left. */
static inline size_t
rr_pool_left_below(size_t bound, size_t used)
{
	return bound > used ? bound - used : 0;
}

/* Whether a request for size octets is a small one: with it, the account holds RR_POOL_START octets at most,
 * and not more than the whole reserve for small requests. A request of no party is never small. */
static inline bool
rr_pool_share_is_small(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	return account->party && account->used + size <= pool->small_max;
}

/* Returns how many of `used` octets would be without proof if the account held that many. */
static inline size_t
rr_pool_share_unproven(const struct rr_account *account, size_t used)
{
	return rr_pool_left_below(used, account->proven);
}

/* Whether the account, with size more octets, would hold octets without proof. */
static inline bool
rr_pool_share_is_unproven(const struct rr_account *account, size_t size)
{
	return account->used + size > account->proven;
}

/* Returns how many more octets the host of the account's party may have for large requests. */
static inline size_t
rr_pool_share_room_of_host(const struct rr_pool *pool, const struct rr_account *account)
{
	return rr_pool_left_below(pool->host_max, account->party->host->used[pool->resource]);
}

/* Whether the account may have `size` more octets for large requests: they must fit below the pool's bound
 * for large requests, into the free memory, and below the bound of its host. */
static inline bool
rr_pool_share_has_room(const struct rr_pool *pool, const struct rr_account *account, uint64_t size)
{
	return size <= rr_pool_left_below(pool->large_max, pool->large) &&
	       size <= rr_pool_left_below(pool->max, pool->used) &&
	       size <= rr_pool_share_room_of_host(pool, account);
}

/* Returns the verdict on a request that the bound on memory without proof does not bar. */
static inline enum rr_pool_verdict
rr_pool_share_judge_room(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	/* A first buffer, where all others are of small requests, may take their reserve too: a request that
	 * is larger than the rest of the pool would otherwise be granted only if nothing is in use. */
	if (!account->party || rr_pool_share_is_small(pool, account, size) ||
		(account->used == 0 && pool->large == 0))
		return size <= rr_pool_left_below(pool->max, pool->used) ? RR_POOL_GRANTED : RR_POOL_LATER;
	/* A large request of a party: its first buffer, or one more. */
	if (account->used == 0)
		return rr_pool_share_has_room(pool, account, size) ? RR_POOL_GRANTED : RR_POOL_LATER;
	/* The party may hold as much as is still free afterwards: with the buffer, there must be room for all
	 * that it then holds once more. */
	if (size > pool->max || !rr_pool_share_has_room(pool, account, (uint64_t)account->used + size + size))
		return RR_POOL_ENOUGH;
	return RR_POOL_GRANTED;
}

/* Whether the account alone holds memory without proof, if there is any, and nobody waits. */
static inline bool
rr_pool_share_is_unrivalled(const struct rr_pool *pool, const struct rr_account *account)
{
	return pool->unproven == rr_pool_share_unproven(account, account->used) &&
	       rr_pool_turn_is_quiet(pool);
}

/* Decides whether the account may have a buffer of size octets now, and returns the verdict. */
static inline enum rr_pool_verdict
rr_pool_share_judge(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	/* A request that is larger than any bound is granted if nothing is in use. */
	if (pool->used == 0)
		return RR_POOL_GRANTED;
	if (rr_pool_share_is_unproven(account, size) && !rr_pool_share_is_unrivalled(pool, account))
		return rr_pool_share_judge_unproven(pool, account, size);
	return rr_pool_share_judge_room(pool, account, size);
}

/* Returns how many octets of a buffer of size octets are without proof, if the account holds `used` octets
 * with the buffer: the buffer's octets count as the last ones. */
static inline size_t
rr_pool_share_unproven_part(const struct rr_account *account, size_t used, size_t size)
{
	size_t unproven = rr_pool_share_unproven(account, used);

	return unproven < size ? unproven : size;
}

/* Puts the buffer into account->held, which is in the order of the times at which buffers were granted.
 * Nearly all buffers belong at its end. */
static inline void
rr_pool_share_enter_held(struct rr_pool_head *head)
{
	struct rr_list *held = &head->account->held, *next = held;

	while (next->prev != held &&
		rr_container(next->prev, struct rr_pool_head, link)->granted > head->granted)
		next = next->prev;
	rr_list_append(next, &head->link);
}

/* rr_pool_share_charge() counts the buffer of head as held by the account, puts it into
 * account->held, and adds a reference to the account's party. rr_pool_share_discharge() undoes this: as it
 * removes the reference, it may free the party with its account. */
static inline void
rr_pool_share_charge(struct rr_pool *pool, struct rr_pool_head *head, struct rr_account *account)
{
	size_t size = head->size;

	head->account = account;
	head->small = rr_pool_share_is_small(pool, account, size);
	if (!head->small)
		pool->large += size;
	rr_pool_share_enter_held(head);
	account->used += size;
	account->refused = 0;
	pool->unproven += rr_pool_share_unproven_part(account, account->used, size);
	pool->used += size;
	if (pool->used > pool->peak)
		pool->peak = pool->used;
	if (rr_party_hold(account->party))
		account->party->host->used[pool->resource] += size;
}

static inline void
rr_pool_share_discharge(struct rr_pool *pool, struct rr_pool_head *head)
{
	struct rr_account *account = head->account;
	size_t size = head->size;

	rr_list_unlink(&head->link);
	pool->unproven -= rr_pool_share_unproven_part(account, account->used, size);
	if (!head->small)
		pool->large -= size;
	pool->used -= size;
	account->used -= size;
	if (!account->party)
		return;
	account->party->host->used[pool->resource] -= size;
	rr_party_release(account->party);
}

#endif
