/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which request for payload memory is granted: pool.h has the rules. account->proven, the proof of an
 * account, is the number of octets that its peer took or brought since the account's probation ended. A
 * buffer that was kept for longer than RR_SHARE_LATE sets the proof to 0 and begins another probation. What
 * an account holds beyond its proof is memory without proof.
 */
#include "base/pool_private.h"

/* Returns how many octets of the pool are reserved for small requests. */
static size_t
share_reserve_of(const struct rr_pool *pool)
{
	return pool->max / RR_POOL_RESERVE;
}

/* Returns how many octets are left below bound when `used` octets are taken; 0 if there are none left. */
static size_t
share_left_below(size_t bound, size_t used)
{
	return bound > used ? bound - used : 0;
}

bool
rr_pool_share_is_small(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	size_t start = share_reserve_of(pool) < RR_POOL_START ? share_reserve_of(pool) : RR_POOL_START;

	return account->party && account->used + size <= start;
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
	return size > pool->max - share_reserve_of(pool);
}

/* Returns how many octets all parties (connections) together may hold without proof: octets beyond what the
 * peer of each party has sent or taken so far. Small requests may take their reserve in addition. */
static size_t
share_unproven_max(const struct rr_pool *pool)
{
	return pool->max / RR_POOL_RESERVE * RR_POOL_UNPROVEN - share_reserve_of(pool);
}

bool
rr_pool_share_is_huge_unproven(const struct rr_pool *pool, size_t size)
{
	return size > share_unproven_max(pool);
}

size_t
rr_pool_share_wants(const struct rr_account *account)
{
	if (rr_list_empty(&account->waiters))
		return 0;
	return rr_container(account->waiters.next, struct rr_pool_waiter, link)->size;
}

/* ---- What is proved ---- */

/* Returns how many of `used` octets would be without proof if the account held that many: those beyond the
 * number of octets that the peer has sent or taken so far (account->proven). The result is 0 for the account
 * of requests without a party. */
static size_t
share_unproven_of(const struct rr_account *account, size_t used)
{
	return account->party ? share_left_below(used, account->proven) : 0;
}

bool
rr_pool_share_is_unproven(const struct rr_account *account, size_t size)
{
	return share_unproven_of(account, account->used + size) > 0;
}

/* Sets account->proven, the number of octets that the account's peer has sent or taken so far, but at most
 * pool->max. Updates the sum pool->unproven. */
static void
share_set_proven(struct rr_pool *pool, struct rr_account *account, uint64_t proven)
{
	pool->unproven -= share_unproven_of(account, account->used);
	account->proven = proven < pool->max ? (size_t)proven : pool->max;
	pool->unproven += share_unproven_of(account, account->used);
}

/* Sets account->used, the number of octets that the account holds, and updates the sum pool->unproven. */
static void
share_set_used(struct rr_pool *pool, struct rr_account *account, size_t used)
{
	pool->unproven -= share_unproven_of(account, account->used);
	account->used = used;
	pool->unproven += share_unproven_of(account, account->used);
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
	return pool->unproven + size <= share_unproven_max(pool) / 8 && !rr_pool_is_wanted(pool);
}

bool
rr_pool_share_is_beyond(const struct rr_pool *pool)
{
	return pool->unproven > share_unproven_max(pool);
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
	size_t most = share_unproven_max(pool);

	if (more > share_left_below(most / 2, pool->unproven))
		return true;
	return after > most / RR_POOL_NEWCOMERS && rr_pool_turn_others_wait(pool, account);
}

/* Whether a request of size octets must wait because all accounts together would hold too much memory without
 * proof (octets beyond what their peers have sent or taken so far). If no other account holds such memory,
 * and no other one waits for memory, there is no bound. */
static bool
share_is_barred(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	size_t before = share_unproven_of(account, account->used),
	       after = share_unproven_of(account, account->used + size);
	bool small = rr_pool_share_is_small(pool, account, size);
	size_t room = share_left_below(
		share_unproven_max(pool) + (small ? share_reserve_of(pool) : 0), pool->unproven);

	if (after == before || (pool->unproven == before && !rr_pool_turn_others_wait(pool, account)))
		return false;
	if (after - before > room)
		return true;
	/* Stricter bounds hold for a large request of an account that holds a buffer already. */
	return account->used > 0 && !small && share_is_further_barred(pool, account, after - before, after);
}

/* Returns how many more octets the host of the account's party may have for large requests. One host may hold
 * seven eighths of the memory for large requests; the last eighth is for other hosts. */
static size_t
share_room_of_host(const struct rr_pool *pool, const struct rr_account *account)
{
	size_t bound = pool->max - share_reserve_of(pool), most = bound - bound / RR_POOL_RESERVE;

	return share_left_below(most, account->party->host->used[pool->resource]);
}

/* Returns how many more octets the account may have for large requests: the least of the room below the
 * pool's bound for large requests, the free memory, and the room of its host. */
static size_t
share_room_of(const struct rr_pool *pool, const struct rr_account *account)
{
	size_t room = share_left_below(pool->max - share_reserve_of(pool), pool->large);
	size_t free = share_left_below(pool->max, pool->used), here = share_room_of_host(pool, account);

	room = room < free ? room : free;
	return room < here ? room : here;
}

struct rr_host *
rr_pool_share_full_host(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	if (!account->party || rr_pool_share_is_small(pool, account, size) ||
		size <= share_room_of_host(pool, account))
		return NULL;
	return account->party->host;
}

enum rr_pool_verdict
rr_pool_share_judge(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	size_t room;

	/* A request that is larger than any bound is granted if nothing is in use. */
	if (pool->used == 0)
		return RR_POOL_GRANTED;
	if (share_is_barred(pool, account, size) && !share_is_guest(pool, account))
		return rr_pool_share_is_entitled(pool, account, size) ? RR_POOL_BARRED : RR_POOL_ENOUGH;
	/* A first buffer, where all others are of small requests, may take their reserve too: a request that
	 * is larger than the rest of the pool would otherwise be granted only if nothing is in use. */
	if (!account->party || rr_pool_share_is_small(pool, account, size) ||
		(account->used == 0 && pool->large == 0))
		return size <= share_left_below(pool->max, pool->used) ? RR_POOL_GRANTED : RR_POOL_LATER;
	/* A large request of a party: its first buffer, or one more. */
	room = share_room_of(pool, account);
	if (account->used == 0)
		return size <= room ? RR_POOL_GRANTED : RR_POOL_LATER;
	/* The party may hold as much as is still free afterwards. */
	return size <= room && account->used + size <= room - size ? RR_POOL_GRANTED : RR_POOL_ENOUGH;
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

/* Puts the buffer into account->held, which is in the order of the times at which buffers were granted.
 * Nearly all buffers belong at its end. */
static void
share_enter_held(struct rr_pool_head *head)
{
	struct rr_list *held = &head->account->held, *next = held;

	while (next->prev != held &&
		rr_container(next->prev, struct rr_pool_head, link)->granted > head->granted)
		next = next->prev;
	rr_list_append(next, &head->link);
}

void
rr_pool_share_date_back(struct rr_pool_head *head, uint64_t granted)
{
	head->granted = granted;
	rr_list_remove(&head->link);
	share_enter_held(head);
}

void
rr_pool_share_charge(struct rr_pool *pool, struct rr_pool_head *head, struct rr_account *account)
{
	head->account = account;
	head->small = rr_pool_share_is_small(pool, account, head->size);
	share_enter_held(head);
	share_set_used(pool, account, account->used + head->size);
	account->refused = 0;
	if (rr_party_hold(account->party))
		account->party->host->used[pool->resource] += head->size;
	pool->large += head->small ? 0 : head->size;
	pool->used += head->size;
	if (pool->used > pool->peak)
		pool->peak = pool->used;
}

void
rr_pool_share_discharge(struct rr_pool *pool, struct rr_pool_head *head)
{
	struct rr_account *account = head->account;

	rr_list_remove(&head->link);
	share_set_used(pool, account, account->used - head->size);
	if (account->party)
		account->party->host->used[pool->resource] -= head->size;
	pool->large -= head->small ? 0 : head->size;
	pool->used -= head->size;
	rr_party_release(account->party);
}
