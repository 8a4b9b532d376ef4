/* SPDX-License-Identifier: BSD-3-Clause */
/* Wakes the requests that wait for payload memory, account by account: an account is in the list pool->turns
 * while it has waiters. In each round, that comes first whose connection has used least of the loop's time. A
 * waiter that takes its request back leaves its account in the list until the next round, which looks at each
 * account of the list once. pool.h says when a request is due, and what memory without proof is. */
#include "base/share/pool_share.h"

/* Sets account->due: whether the account waits for memory to which its share entitles it. If so, notes since
 * when, and starts the umpire, a timer that cuts off connections which hold memory without moving data. */
static void
turn_set_due(struct rr_pool *pool, struct rr_account *account, bool due)
{
	if (due && !account->due)
		account->due_since = rr_now(pool->env);
	account->due = due;
	if (due)
		rr_shares_wanted(pool->shares);
}

/* Wakes the first waiting request of the account, so that it asks for memory again: pool->woken lets this
 * request pass those that wait. Returns false if the request got no memory and has put itself at the front of
 * the account's list again, else true. */
static bool
turn_wake_first(struct rr_pool *pool, struct rr_account *account)
{
	struct rr_list *link = account->waiters.next;
	struct rr_pool_waiter *waiter = rr_container(link, struct rr_pool_waiter, link);

	rr_list_remove(link);
	account->due = false;
	account->refused = 0;
	pool->woken = account;
	waiter->wake(waiter);
	pool->woken = NULL;
	return account->waiters.next != link;
}

/* The state of a round. A request that is due and cannot be granted closes the round to later requests, which
 * would take the memory that it needs. */
struct turn_round {
	/* To all large [0] or all small [1] requests; to those of them that need memory without proof. */
	bool closed[2], closed_to_unproven[2];
	/* This host holds its part of the pool: its large requests wait; NULL: there is none. */
	const struct rr_host *full;
};

/* Whether the request of account must wait, because an earlier request of this round waits for the same
 * memory. The round can be closed to the large requests of one host, to all small or all large requests, or
 * to those of them that need memory without proof (octets beyond what the peer has sent or taken so far). */
static bool
turn_is_closed(const struct turn_round *round, const struct rr_account *account, size_t wants, bool small)
{
	if (!small && round->full && account->party && account->party->host == round->full)
		return true;
	return round->closed[small] ||
	       (round->closed_to_unproven[small] && rr_pool_share_is_unproven(account, wants));
}

/* Notes in round which later requests must wait, because they would take the memory that the account's
 * request needs. That request was not granted; verdict says why. */
static void
turn_close_to(struct turn_round *round, const struct rr_pool *pool, const struct rr_account *account,
	enum rr_pool_verdict verdict, size_t wants)
{
	bool small = rr_pool_share_is_small(pool, account, wants);
	const struct rr_host *full = rr_pool_share_full_host(pool, account, wants);

	/* A huge request needs the reserve for small requests, too: it closes the round to them as well. */
	if (verdict == RR_POOL_LATER && full) {
		round->full = full;
	} else if (verdict == RR_POOL_LATER) {
		round->closed[small] = true;
		round->closed[1] |= rr_pool_share_is_huge(pool, wants);
	} else if (verdict == RR_POOL_BARRED) {
		round->closed_to_unproven[small] = true;
		round->closed_to_unproven[1] |= rr_pool_share_is_huge_unproven(pool, wants);
	}
}

/* Whether the account may have the octets that it wants now. If not, notes in round that later requests which
 * would overtake this one must wait. */
static bool
turn_is_granted(struct rr_pool *pool, struct rr_account *account, size_t wants, struct turn_round *round)
{
	enum rr_pool_verdict verdict = rr_pool_share_judge(pool, account, wants);

	if (verdict == RR_POOL_GRANTED &&
		!turn_is_closed(round, account, wants, rr_pool_share_is_small(pool, account, wants)))
		return true;
	turn_close_to(round, pool, account, verdict, wants);
	return false;
}

/* Wakes the account's first waiting request if it can be granted. Returns true if the request was woken and
 * got memory. Returns false if no request waits, if it cannot be granted now, or if it was woken in vain. A
 * request that cannot be granted becomes due if the account is entitled to the buffer. If the request is for
 * a larger buffer in place of account->growing, it is judged as if that buffer had come back. */
static bool
turn_serve(struct rr_pool *pool, struct rr_account *account, struct turn_round *round)
{
	struct rr_pool_head *growing = account->growing;
	size_t wants = rr_pool_share_wants(account);
	bool granted;

	account->due &= wants > 0;
	if (wants == 0)
		return false;
	if (growing)
		rr_pool_share_discharge(pool, growing);
	granted = turn_is_granted(pool, account, wants, round);
	if (growing)
		rr_pool_share_charge(pool, growing, account);
	if (granted)
		return turn_wake_first(pool, account);
	turn_set_due(pool, account, rr_pool_share_is_entitled(pool, account, wants));
	return false;
}

/* Puts the account whose connection has used least of the loop's time (base/payer.h) in front of those of the
 * round, and leaves the others in their order. So a client that makes one call after the other need not wait
 * for memory until all those had their turn that make as many calls as they can. */
static void
turn_prefer_least(struct rr_pool *pool)
{
	struct rr_account *least = NULL;

	rr_list_for_each (link, &pool->round) {
		struct rr_account *account = rr_container(link, struct rr_account, turn);

		if (account->party &&
			(!least || rr_payer_is_before(&account->party->payer, &least->party->payer)))
			least = account;
	}
	if (!least)
		return;
	rr_list_remove(&least->turn);
	rr_list_prepend(&pool->round, &least->turn);
}

/* Looks at each account with waiting requests once, and wakes its first request if it can be granted. Returns
 * whether any request was served. */
static bool
turn_serve_round(struct rr_pool *pool)
{
	struct rr_list *link;
	struct turn_round round = { 0 };
	bool served = false;

	while ((link = rr_list_pop(&pool->turns)))
		rr_list_append(&pool->round, link);
	turn_prefer_least(pool);
	while ((link = rr_list_pop(&pool->round))) {
		struct rr_account *account = rr_container(link, struct rr_account, turn);
		/* The account is a part of the party, whose connection may end when the request is woken. */
		struct rr_party *party = rr_party_hold(account->party);

		/* The account stays among those that wait, in the same order, until it has no waiter any
		 * more. */
		if (!rr_list_empty(&account->waiters))
			rr_list_append(&pool->turns, link);
		served |= turn_serve(pool, account, &round);
		if (rr_list_empty(&account->waiters))
			rr_list_remove(link);
		rr_party_release(party);
	}
	return served;
}

/* Wakes the waiting requests that can be granted now, round after round, until a round serves no request. */
static void
turn_run(struct rr_task *task)
{
	struct rr_pool *pool = rr_container(task, struct rr_pool, task);

	while (turn_serve_round(pool))
		;
}

void
rr_pool_wait(struct rr_pool *pool, struct rr_party *party, struct rr_pool_waiter *waiter)
{
	struct rr_account *account = rr_pool_account(pool, party);

	if (!rr_list_empty(&waiter->link))
		return;
	/* The size is not known if the account got a buffer after its request was refused: such a waiter is
	 * woken as soon as any memory is free, and then asks for the size that it needs. */
	waiter->size = account->refused > 0 ? account->refused : 1;
	/* A waiter that was woken in vain keeps its place. */
	if (pool->woken == account)
		rr_list_prepend(&account->waiters, &waiter->link);
	else
		rr_list_append(&account->waiters, &waiter->link);
	if (rr_list_empty(&account->turn))
		rr_list_append(&pool->turns, &account->turn);
	if (account->waiters.next == &waiter->link)
		turn_set_due(pool, account,
			account->refused > 0 && rr_pool_share_is_entitled(pool, account, waiter->size));
	account->refused = 0;
	/* No buffer is out that could come back: the task serves the waiter, or refuses its request for good.
	 */
	if (pool->used == 0 && !pool->woken)
		rr_loop_defer(pool->shares->loop, &pool->task);
}

/* Whether an account in the list, other than `account` (if that is not NULL), has a request that waits for
 * memory. */
static bool
turn_has_other(const struct rr_list *list, const struct rr_account *account)
{
	for (struct rr_list *link = list->next; link != list; link = link->next) {
		const struct rr_account *other = rr_container(link, struct rr_account, turn);

		if (other != account && rr_pool_share_wants(other) > 0)
			return true;
	}
	return false;
}

bool
rr_pool_turn_others_wait(const struct rr_pool *pool, const struct rr_account *account)
{
	return !rr_pool_turn_is_quiet(pool) &&
	       (turn_has_other(&pool->turns, account) || turn_has_other(&pool->round, account));
}

bool
rr_pool_is_wanted(const struct rr_pool *pool)
{
	return rr_pool_turn_others_wait(pool, NULL);
}

bool
rr_pool_is_idle(const struct rr_pool *pool)
{
	return pool->used == 0 && (pool->woken || !rr_pool_is_wanted(pool));
}

uint64_t
rr_pool_due_since(const struct rr_pool *pool)
{
	uint64_t since = 0;

	for (struct rr_list *link = pool->turns.next; link != &pool->turns; link = link->next) {
		const struct rr_account *account = rr_container(link, struct rr_account, turn);

		if (account->due && rr_pool_share_wants(account) > 0 &&
			(since == 0 || account->due_since < since))
			since = account->due_since;
	}
	return since;
}

void
rr_pool_turn_init(struct rr_pool *pool)
{
	rr_list_init(&pool->turns);
	rr_list_init(&pool->round);
	rr_task_init(&pool->task, turn_run);
}
