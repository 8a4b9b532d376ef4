/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which request for payload memory is granted: pool.h has the rules. account->proven, the proof of an
 * account, is the number of octets that its peer took or brought since the account's probation ended. A
 * buffer that was kept for longer than RR_SHARE_LATE sets the proof to 0 and begins another probation. What
 * an account holds beyond its proof is memory without proof.
 */
#include "base/share/pool_share.h"

void
rr_pool_share_init(struct rr_pool *pool)
{
	size_t part = pool->max / RR_POOL_RESERVE;

	pool->small_max = part < RR_POOL_START ? part : RR_POOL_START;
	pool->large_max = pool->max - part;
	/* The last eighth of the memory for large requests is for other hosts. */
	pool->host_max = pool->large_max - pool->large_max / RR_POOL_RESERVE;
	pool->unproven_max = part * RR_POOL_UNPROVEN - part;
	/* Requests of no party need no proof. */
	pool->nobody.proven = SIZE_MAX;
}

bool
rr_pool_share_is_entitled(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	return !account->party || account->used == 0 ||
	       (account->growing && account->used == account->growing->size) ||
	       rr_pool_share_is_small(pool, account, size);
}

bool
rr_pool_share_is_huge(const struct rr_pool *pool, size_t size)
{
	return size > pool->large_max;
}

bool
rr_pool_share_is_huge_unproven(const struct rr_pool *pool, size_t size)
{
	return size > pool->unproven_max;
}

size_t
rr_pool_share_wants(const struct rr_account *account)
{
	if (rr_list_empty(&account->waiters))
		return 0;
	return rr_container(account->waiters.next, struct rr_pool_waiter, link)->size;
}

/* ---- What is proved ---- */

/* Sets account->proven, the number of octets that the account's peer has sent or taken so far, but at most
 * pool->max. Updates the sum pool->unproven. */
static void
share_set_proven(struct rr_pool *pool, struct rr_account *account, uint64_t proven)
{
	pool->unproven -= rr_pool_share_unproven(account, account->used);
	account->proven = proven < pool->max ? (size_t)proven : pool->max;
	pool->unproven += rr_pool_share_unproven(account, account->used);
}

/* Sets account->proven, the number of octets that the account's peer has sent or taken, to 0, and begins the
 * probation of the account: octets that moved before now, or are moved before probation_ends, do not count.
 */
static void
share_begin_probation(struct rr_pool *pool, struct rr_account *account, uint64_t now)
{
	account->probation_ends = now + RR_SHARE_PROBATION;
	if (account->party->ops)
		account->moved_before = account->party->ops->moved(account->party->ctx);
	share_set_proven(pool, account, 0);
}

void
rr_pool_share_prove(struct rr_pool *pool, const struct rr_pool_head *head)
{
	struct rr_account *account = head->account;
	const struct rr_party *party = account->party;
	uint64_t now;

	/* Requests of no party need no proof, and a connection that has ended makes no more requests. */
	if (!party || !party->ops)
		return;
	now = rr_loop_now(pool->shares->loop);
	if (now - head->granted > RR_SHARE_LATE) {
		share_begin_probation(pool, account, now);
		return;
	}
	/* The proof has reached its bound, and octets that move can only add to it. */
	if (account->proven == pool->max)
		return;
	/* Probation begins when the first buffer comes back. What the peer moves during probation is
	 * subtracted from all that it moves later. */
	if (account->probation_ends == 0)
		account->probation_ends = now + RR_SHARE_PROBATION;
	if (now < account->probation_ends)
		account->moved_before = party->ops->moved(party->ctx);
	else
		share_set_proven(pool, account, party->ops->moved(party->ctx) - account->moved_before);
}

bool
rr_pool_has_proved(const struct rr_pool *pool, const struct rr_party *party)
{
	return !party || party->accounts[pool->resource].proven > 0;
}

void
rr_pool_doubt(struct rr_pool *pool, struct rr_party *party)
{
	struct rr_account *account = &party->accounts[pool->resource];
	uint64_t now = rr_now(pool->env);

	if (account->proven == 0 || rr_list_empty(&account->held) ||
		now - rr_container(account->held.next, struct rr_pool_head, link)->granted <= RR_SHARE_LATE)
		return;
	share_begin_probation(pool, account, now);
}

/* ---- What grows ---- */

bool
rr_pool_share_has_plenty(const struct rr_pool *pool, size_t size)
{
	return pool->unproven + size <= pool->unproven_max / 8 && !rr_pool_is_wanted(pool);
}

bool
rr_pool_share_is_beyond(const struct rr_pool *pool)
{
	return pool->unproven > pool->unproven_max;
}

/* Whether the account may exceed the bound on memory without proof (octets beyond what the peers have sent or
 * taken so far) to get a larger buffer in place of its only one. Accounts that hold a small buffer and wait
 * for a larger one could wait for each other for ever, so one of them at a time, the guest, may exceed the
 * bound. The callers have taken account->growing, the buffer to be replaced, out of account->used: 0 octets
 * mean that it is the only one. */
static bool
share_is_guest(const struct rr_pool *pool, const struct rr_account *account)
{
	return account->growing && account->used == 0 && (!pool->guest || pool->guest == account);
}

/* ---- Judgement ---- */

/* Whether an account that holds a buffer already must wait for a further one. With it, the account would hold
 * `after` octets without proof (octets beyond what the peer has sent or taken so far), `more` of them new. It
 * must wait if less than `more` is left of half of the bound on all such memory: the other half is kept for
 * first buffers. While others wait, it must also wait if `after` exceeds one part of RR_POOL_NEWCOMERS of the
 * bound. */
static bool
share_is_further_barred(
	const struct rr_pool *pool, const struct rr_account *account, size_t more, size_t after)
{
	size_t most = pool->unproven_max;

	if (more > rr_pool_left_below(most / 2, pool->unproven))
		return true;
	return after > most / RR_POOL_NEWCOMERS && rr_pool_turn_others_wait(pool, account);
}

/* Whether a request of size octets must wait because all accounts together would hold too much memory without
 * proof (octets beyond what their peers have sent or taken so far). If no other account holds such memory,
 * and no other one waits for memory, there is no bound. */
static bool
share_is_barred(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	size_t before = rr_pool_share_unproven(account, account->used),
	       after = rr_pool_share_unproven(account, account->used + size);
	bool small = rr_pool_share_is_small(pool, account, size);
	size_t room = pool->unproven_max + (small ? pool->max - pool->large_max : 0);

	if (after == before || (pool->unproven == before && !rr_pool_turn_others_wait(pool, account)))
		return false;
	if (after - before > rr_pool_left_below(room, pool->unproven))
		return true;
	/* Stricter bounds hold for a large request of an account that holds a buffer already. */
	return account->used > 0 && !small && share_is_further_barred(pool, account, after - before, after);
}

struct rr_host *
rr_pool_share_full_host(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	if (!account->party || rr_pool_share_is_small(pool, account, size) ||
		size <= rr_pool_share_room_of_host(pool, account))
		return NULL;
	return account->party->host;
}

enum rr_pool_verdict
rr_pool_share_judge_unproven(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	if (share_is_barred(pool, account, size) && !share_is_guest(pool, account))
		return rr_pool_share_is_entitled(pool, account, size) ? RR_POOL_BARRED : RR_POOL_ENOUGH;
	return rr_pool_share_judge_room(pool, account, size);
}

/* Whether `other`, an account that waits for memory that is due to it, must get that memory before `account`
 * gets a buffer of size octets. The result is false if the new buffer does not delay `other`. That is so in
 * three cases: `other` waits until its own host, which is not the host of `account`, gives memory back; or
 * `other` waits only for the bound on memory without proof (octets beyond what the peers have sent or taken),
 * and the new buffer is not such memory; or the new buffer comes from the reserve for small requests, which
 * `other` does not need. */
static bool
share_comes_first(const struct rr_pool *pool, const struct rr_account *other,
	const struct rr_account *account, size_t size)
{
	size_t wants = rr_pool_share_wants(other);
	bool small = rr_pool_share_is_small(pool, account, size);
	const struct rr_host *full = rr_pool_share_full_host(pool, other, wants);

	/* The memory that `other` waits for is held by its own host: the request does not delay it. */
	if (full && full != account->party->host)
		return false;
	if (share_is_barred(pool, other, wants))
		return rr_pool_share_is_unproven(account, size) &&
		       (!small || rr_pool_share_is_small(pool, other, wants) ||
			       rr_pool_share_is_huge_unproven(pool, wants));
	/* A small request delays only other small ones, and one that is too large to be granted beside them.
	 */
	return !small || rr_pool_share_is_small(pool, other, wants) || rr_pool_share_is_huge(pool, wants);
}

/* Whether a new request of account for size octets has to wait behind a request of an account in the list:
 * see rr_pool_share_overtakes(). */
static bool
share_overtakes_in(
	const struct rr_list *list, const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	for (struct rr_list *link = list->next; link != list; link = link->next) {
		const struct rr_account *other = rr_container(link, struct rr_account, turn);

		if (rr_pool_share_wants(other) == 0)
			continue;
		if (other == account || !account->party)
			return true;
		if (other->due && share_comes_first(pool, other, account, size))
			return true;
	}
	return false;
}

bool
rr_pool_share_overtakes(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	/* The list `round` has accounts if the request is made inside a wake(). */
	return share_overtakes_in(&pool->turns, pool, account, size) ||
	       share_overtakes_in(&pool->round, pool, account, size);
}

/* ---- What is out ---- */

void
rr_pool_share_date_back(struct rr_pool_head *head, uint64_t granted)
{
	head->granted = granted;
	rr_list_remove(&head->link);
	rr_pool_share_enter_held(head);
}
