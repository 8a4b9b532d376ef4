/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pool.h"

#include <string.h>

/*
 * Who owns what: a buffer is its taker's from rr_pool_get() to rr_pool_put(). In front of each buffer, in the
 * slack that its alignment costs, lies a head that says how large it is and what is to be freed. Buffers that
 * came back hang on a free list of their size by that head. What is out and what is kept stays below the
 * bound together: kept buffers of other sizes are freed to make room. A buffer holds its party.
 */
enum { SHIFT_MIN = 12, SHIFT_KEPT = 21, ALIGNMENT = 4096 };

_Static_assert(RR_POOL_KEPT == 1 << SHIFT_KEPT, "the largest size that has a free list");

struct head {
	struct rr_list link; /* in a free list */
	void *memory;        /* what the environment gave */
	size_t size;         /* of the buffer */
	struct rr_account *account;
	bool small; /* granted without a look at the share */
};

/* What the pool says of a request. */
enum verdict {
	GRANTED,
	LATER, /* the party is entitled to it; there is not enough */
	ENOUGH /* the party holds its share */
};

struct rr_pool {
	const struct rr_env *env;
	struct rr_shares *shares;
	enum rr_resource resource;
	size_t max, used, large, peak, kept; /* large: of what is used, all but small requests */
	struct rr_list free[SHIFT_KEPT - SHIFT_MIN + 1];
	struct rr_account nobody;
	struct rr_list turns;     /* accounts with waiters */
	struct rr_account *woken; /* whose waiter is being woken */
	struct rr_task task;
};

static struct head *
head_of(void *buffer)
{
	return (struct head *)((uint8_t *)buffer - sizeof(struct head));
}

static void *
buffer_of(struct head *head)
{
	return (uint8_t *)head + sizeof(*head);
}

/* ---- Buffers ---- */

/* Frees kept buffers, the largest first, until no more than limit octets are kept. */
static void
trim(struct rr_pool *pool, size_t limit)
{
	for (int i = SHIFT_KEPT - SHIFT_MIN; i >= 0; i--) {
		while (pool->kept > limit && !rr_list_empty(&pool->free[i])) {
			struct rr_list *link = rr_list_pop(&pool->free[i]);
			struct head *head = rr_container(link, struct head, link);

			pool->kept -= head->size;
			rr_free(pool->env, head->memory);
		}
	}
}

/* The power of two that size is rounded up to, as a shift; 0 where there is none. */
static unsigned
shift_of(size_t size)
{
	unsigned shift = SHIFT_MIN;

	while (shift < 8 * sizeof(size) - 1 && (size_t)1 << shift < size)
		shift++;
	return (size_t)1 << shift < size ? 0 : shift;
}

static struct head *
new_buffer(struct rr_pool *pool, size_t size)
{
	size_t total;
	uint8_t *memory, *buffer;
	struct head *head;

	if (__builtin_add_overflow(size, ALIGNMENT + sizeof(*head), &total))
		return NULL;
	trim(pool, pool->max > pool->used + size ? pool->max - pool->used - size : 0);
	memory = pool->env->realloc(pool->env->ctx, NULL, total);
	if (!memory)
		return NULL;
	buffer = memory + sizeof(*head);
	buffer += -(uintptr_t)buffer & (ALIGNMENT - 1);
	head = head_of(buffer);
	head->memory = memory;
	head->size = size;
	rr_list_init(&head->link);
	return head;
}

static struct head *
kept_buffer(struct rr_pool *pool, unsigned shift)
{
	struct rr_list *link = shift <= SHIFT_KEPT ? rr_list_pop(&pool->free[shift - SHIFT_MIN]) : NULL;

	if (!link)
		return NULL;
	pool->kept -= (size_t)1 << shift;
	return rr_container(link, struct head, link);
}

/* ---- Shares ---- */

static struct rr_account *
account_of(struct rr_pool *pool, struct rr_party *party)
{
	return party ? &party->accounts[pool->resource] : &pool->nobody;
}

static size_t
reserve_of(const struct rr_pool *pool)
{
	return pool->max / RR_POOL_RESERVE;
}

/* What there is left below a bound. */
static size_t
left_below(size_t bound, size_t used)
{
	return bound > used ? bound - used : 0;
}

static bool
is_small(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	size_t start = reserve_of(pool) < RR_POOL_START ? reserve_of(pool) : RR_POOL_START;

	return account->used + size <= start;
}

/* The account is to have that, whatever others hold: not only what they leave. */
static bool
is_entitled(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	return !account->party || account->used == 0 || is_small(pool, account, size);
}

/* It cannot be granted beside small ones. */
static bool
is_huge(const struct rr_pool *pool, size_t size)
{
	return size > pool->max - reserve_of(pool);
}

/* Octets that the first waiter of the account wants; 0: nobody waits. */
static size_t
wants_of(const struct rr_account *account)
{
	if (rr_list_empty(&account->waiters))
		return 0;
	return rr_container(account->waiters.next, struct rr_pool_waiter, link)->size;
}

/* Octets that large requests of the account's host can still have. */
static size_t
room_of(const struct rr_pool *pool, const struct rr_account *account)
{
	size_t bound = pool->max - reserve_of(pool), most = bound - bound / RR_POOL_RESERVE;
	size_t room = left_below(bound, pool->large), free = left_below(pool->max, pool->used);
	size_t here = left_below(most, account->party->host->used[pool->resource]);

	room = room < free ? room : free;
	return room < here ? room : here;
}

static enum verdict
judge(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	size_t room;

	if (pool->used == 0)
		return GRANTED;
	if (!account->party || is_small(pool, account, size))
		return size <= left_below(pool->max, pool->used) ? GRANTED : LATER;
	room = room_of(pool, account);
	if (account->used == 0 && pool->large == 0)
		return size <= left_below(pool->max, pool->used) ? GRANTED : LATER;
	if (account->used == 0)
		return size <= room ? GRANTED : LATER;
	return size <= room && account->used + size <= room - size ? GRANTED : ENOUGH;
}

/* Whether the request would overtake one that is due: small ones are only in the way of each other. */
static bool
overtakes(const struct rr_pool *pool, const struct rr_account *account, size_t size)
{
	bool small = is_small(pool, account, size);

	for (struct rr_list *link = pool->turns.next; link != &pool->turns; link = link->next) {
		const struct rr_account *other = rr_container(link, struct rr_account, turn);
		size_t wants = wants_of(other);

		if (wants == 0)
			continue;
		if (other == account || !account->party)
			return true;
		if (other->due && (!small || is_small(pool, other, wants) || is_huge(pool, wants)))
			return true;
	}
	return false;
}

static void
charge(struct rr_pool *pool, struct head *head, struct rr_account *account)
{
	head->account = account;
	head->small = account->party && is_small(pool, account, head->size);
	account->used += head->size;
	account->refused = 0;
	if (rr_party_hold(account->party))
		account->party->host->used[pool->resource] += head->size;
	pool->large += head->small ? 0 : head->size;
	pool->used += head->size;
	if (pool->used > pool->peak)
		pool->peak = pool->used;
}

static void
discharge(struct rr_pool *pool, struct head *head)
{
	struct rr_account *account = head->account;

	account->used -= head->size;
	if (account->party)
		account->party->host->used[pool->resource] -= head->size;
	pool->large -= head->small ? 0 : head->size;
	pool->used -= head->size;
	rr_party_release(account->party);
}

void *
rr_pool_get(struct rr_pool *pool, struct rr_party *party, size_t size)
{
	struct rr_account *account = account_of(pool, party);
	unsigned shift = shift_of(size);
	size_t rounded = (size_t)1 << shift;
	struct head *head;

	if (shift == 0)
		return NULL;
	account->refused = rounded;
	if (pool->woken != account && !rr_list_empty(&pool->turns) && overtakes(pool, account, rounded))
		return NULL;
	if (judge(pool, account, rounded) != GRANTED)
		return NULL;
	head = kept_buffer(pool, shift);
	if (!head)
		head = new_buffer(pool, rounded);
	if (!head)
		return NULL;
	charge(pool, head, account);
	return buffer_of(head);
}

/* A buffer that nobody holds any more is kept for reuse, or freed. */
static void
keep(struct rr_pool *pool, struct head *head)
{
	const struct rr_account *account = head->account;

	if (head->size <= RR_POOL_KEPT) {
		rr_list_append(&pool->free[shift_of(head->size) - SHIFT_MIN], &head->link);
		pool->kept += head->size;
	} else {
		rr_free(pool->env, head->memory);
	}
	trim(pool, pool->max > pool->used ? pool->max - pool->used : 0);
	/* One that was woken in vain, and gives back what it had taken before, has changed nothing. */
	if (pool->woken != account && !rr_list_empty(&pool->turns))
		rr_loop_defer(pool->shares->loop, &pool->task);
}

void
rr_pool_put(struct rr_pool *pool, void *buffer)
{
	if (!buffer)
		return;
	discharge(pool, head_of(buffer));
	keep(pool, head_of(buffer));
}

void *
rr_pool_trim(struct rr_pool *pool, void *buffer, size_t length)
{
	struct head *head = head_of(buffer), *smaller;
	struct rr_account *account = head->account;
	unsigned shift = shift_of(length);

	if (shift == 0 || (size_t)1 << shift >= head->size)
		return buffer;
	smaller = kept_buffer(pool, shift);
	if (!smaller)
		smaller = new_buffer(pool, (size_t)1 << shift);
	if (!smaller)
		return buffer;
	memcpy(buffer_of(smaller), buffer, length);
	rr_party_hold(account->party);
	discharge(pool, head);
	charge(pool, smaller, account);
	rr_party_release(account->party);
	keep(pool, head);
	return buffer_of(smaller);
}

/* ---- Waiting ---- */

static void
set_due(struct rr_pool *pool, struct rr_account *account, bool due)
{
	if (due && !account->due)
		account->due_since = rr_now(pool->env);
	account->due = due;
	if (due)
		rr_shares_wanted(pool->shares);
}

/* The first waiter of the account may have what it wants. False: nothing came of that. */
static bool
wake_first(struct rr_pool *pool, struct rr_account *account)
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

/* Serves the account, in its turn. closed[small]: a request of that kind before it is due, but not granted.
 */
static bool
serve(struct rr_pool *pool, struct rr_account *account, bool closed[2])
{
	size_t wants = wants_of(account);
	enum verdict verdict;
	bool small;

	account->due &= wants > 0;
	if (wants == 0)
		return false;
	small = account->party && is_small(pool, account, wants);
	verdict = judge(pool, account, wants);
	if (verdict == GRANTED && !closed[small])
		return wake_first(pool, account);
	set_due(pool, account, is_entitled(pool, account, wants));
	closed[small] |= verdict == LATER;
	closed[1] |= verdict == LATER && is_huge(pool, wants);
	return false;
}

/* One round: each account once. True where one was served. */
static bool
serve_round(struct rr_pool *pool)
{
	struct rr_list round;
	struct rr_list *link;
	bool closed[2] = { false }, served = false;

	rr_list_init(&round);
	while ((link = rr_list_pop(&pool->turns)))
		rr_list_append(&round, link);
	while ((link = rr_list_pop(&round))) {
		struct rr_account *account = rr_container(link, struct rr_account, turn);
		struct rr_party *party = rr_party_hold(account->party);

		/* One that was served goes behind those that were not. */
		if (!rr_list_empty(&account->waiters))
			rr_list_append(&pool->turns, link);
		served |= serve(pool, account, closed);
		if (rr_list_empty(&account->waiters))
			rr_list_remove(link);
		rr_party_release(party);
	}
	return served;
}

static void
run(struct rr_task *task)
{
	struct rr_pool *pool = rr_container(task, struct rr_pool, task);

	while (serve_round(pool))
		;
}

void
rr_pool_wait(struct rr_pool *pool, struct rr_party *party, struct rr_pool_waiter *waiter)
{
	struct rr_account *account = account_of(pool, party);

	if (!rr_list_empty(&waiter->link))
		return;
	waiter->size = account->refused > 0 ? account->refused : 1;
	/* One that was woken in vain keeps its place. */
	if (pool->woken == account)
		rr_list_prepend(&account->waiters, &waiter->link);
	else
		rr_list_append(&account->waiters, &waiter->link);
	if (rr_list_empty(&account->turn))
		rr_list_append(&pool->turns, &account->turn);
	if (account->waiters.next == &waiter->link)
		set_due(pool, account, account->refused > 0 && is_entitled(pool, account, waiter->size));
	account->refused = 0;
	/* Nothing is out that could come back: who waits is refused for good, or served. */
	if (pool->used == 0 && !pool->woken)
		rr_loop_defer(pool->shares->loop, &pool->task);
}

bool
rr_pool_is_wanted(const struct rr_pool *pool)
{
	for (struct rr_list *link = pool->turns.next; link != &pool->turns; link = link->next) {
		if (wants_of(rr_container(link, struct rr_account, turn)) > 0)
			return true;
	}
	return false;
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

		if (account->due && wants_of(account) > 0 && (since == 0 || account->due_since < since))
			since = account->due_since;
	}
	return since;
}

size_t
rr_pool_used(const struct rr_pool *pool)
{
	return pool->used;
}

size_t
rr_pool_peak(const struct rr_pool *pool)
{
	return pool->peak;
}

/* ---- The pool ---- */

struct rr_pool *
rr_pool_new(struct rr_shares *shares, enum rr_resource resource, size_t max)
{
	const struct rr_env *env = rr_loop_env(shares->loop);
	struct rr_pool *pool = rr_alloc(env, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->env = env;
	pool->shares = shares;
	pool->resource = resource;
	pool->max = max;
	rr_list_init(&pool->turns);
	rr_list_init(&pool->nobody.waiters);
	rr_list_init(&pool->nobody.turn);
	rr_task_init(&pool->task, run);
	for (int i = 0; i <= SHIFT_KEPT - SHIFT_MIN; i++)
		rr_list_init(&pool->free[i]);
	shares->pools[resource] = pool;
	return pool;
}

void
rr_pool_free(struct rr_pool *pool)
{
	if (!pool)
		return;
	rr_task_cancel(&pool->task);
	if (pool->shares->pools[pool->resource] == pool)
		pool->shares->pools[pool->resource] = NULL;
	trim(pool, 0);
	rr_free(pool->env, pool);
}
