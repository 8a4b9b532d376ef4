/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/share/pool_share.h"

/*
 * Ownership: a buffer is its taker's from rr_pool_get() to rr_pool_put(). In front of each buffer, in the
 * slack that its alignment costs, lies a head that says how large it is and what is to be freed. Buffers that
 * came back hang on a free list of their size by that head. Buffers that are out and buffers that are kept
 * stay below the bound together: kept buffers of other sizes are freed to make room. Each buffer in use has a
 * reference to its party.
 */
enum { ALIGNMENT = 4096 };

_Static_assert(RR_POOL_KEPT == 1 << RR_POOL_SHIFT_KEPT, "the largest size that has a free list");
_Static_assert((int)RR_POOL_MIN == (int)ALIGNMENT, "sizes are multiples of the alignment");

/* Returns the head of the buffer, which has the pool's own data about the buffer and lies in front of it. */
static struct rr_pool_head *
pool_head_of(void *buffer)
{
	return (struct rr_pool_head *)((uint8_t *)buffer - sizeof(struct rr_pool_head));
}

/* Returns the buffer to which the head belongs. The buffer lies behind the head in memory. */
static void *
pool_buffer_of(struct rr_pool_head *head)
{
	return (uint8_t *)head + sizeof(*head);
}

/* ---- Buffers ---- */

/* Frees buffers that are kept for reuse, the largest first, until the pool keeps at most limit octets in such
 * buffers. */
static void
pool_trim(struct rr_pool *pool, size_t limit)
{
	for (int i = RR_POOL_CLASSES - 1; i >= 0 && pool->kept > limit; i--) {
		while (pool->kept > limit && pool->kept_of[i]) {
			struct rr_pool_head *head = pool->kept_of[i];

			pool->kept_of[i] = head->next;
			pool->kept -= head->size;
			rr_free(pool->env, head->memory);
		}
	}
}

/* A size that buffers have. */
struct pool_size {
	size_t octets; /* 0: more octets were wanted than there can be */
	size_t number; /* among the sizes, from the least; buffers of those below RR_POOL_CLASSES are kept */
};

/* Returns the least size of buffers that is not below `wanted` octets. */
static struct pool_size
pool_size_of(size_t wanted)
{
	size_t last = wanted > 0 ? wanted - 1 : 0, parts;
	/* Sizes are multiples of RR_POOL_MIN as long as there are up to twice RR_POOL_STEPS of them. */
	unsigned long at_least = last | (unsigned long)RR_POOL_MIN << RR_POOL_SHIFT_STEPS;
	/* The number of the highest bit: that of the leading zeroes, with all bits inverted. */
	unsigned highest = (unsigned)__builtin_clzl(at_least) ^ (8 * sizeof(at_least) - 1);
	unsigned shift = highest - RR_POOL_SHIFT_STEPS;

	parts = (last >> shift) + 1;
	return (struct pool_size){ parts << shift, (shift - RR_POOL_SHIFT_MIN) * RR_POOL_STEPS + parts - 1 };
}

/* Allocates a buffer of that size, aligned to ALIGNMENT, and returns its head. If the pool would exceed its
 * bound with it, first frees buffers that are kept for reuse. Returns NULL if there is no memory. */
static struct rr_pool_head *
pool_new_buffer(struct rr_pool *pool, struct pool_size size)
{
	size_t total;
	uint8_t *memory, *buffer;
	struct rr_pool_head *head;

	if (__builtin_add_overflow(size.octets, ALIGNMENT + sizeof(*head), &total))
		return NULL;
	pool_trim(pool, rr_pool_left_below(pool->max, pool->used + size.octets));
	memory = pool->env->realloc(pool->env->ctx, NULL, total);
	if (!memory)
		return NULL;
	buffer = memory + sizeof(*head);
	buffer += -(uintptr_t)buffer & (ALIGNMENT - 1);
	head = pool_head_of(buffer);
	head->memory = memory;
	head->kept = size.number < RR_POOL_CLASSES ? &pool->kept_of[size.number] : NULL;
	head->size = size.octets;
	return head;
}

/* Returns the head of a buffer of that size: of one that is kept for reuse, or else of a new one. Returns
 * NULL if there is no memory. */
static inline struct rr_pool_head *
pool_buffer(struct rr_pool *pool, struct pool_size size)
{
	struct rr_pool_head *head = size.number < RR_POOL_CLASSES ? pool->kept_of[size.number] : NULL;

	if (!head)
		return pool_new_buffer(pool, size);
	pool->kept_of[size.number] = head->next;
	pool->kept -= size.octets;
	return head;
}

/* ---- Getting and putting ---- */

struct rr_account *
rr_pool_account(struct rr_pool *pool, struct rr_party *party)
{
	return party ? &party->accounts[pool->resource] : &pool->nobody;
}

/* Grants the account a buffer of at least `wanted` octets, and returns the head of the buffer. Returns NULL
 * if the account's share does not allow the buffer now, if requests of other accounts must be granted first,
 * or if there is no memory. */
static struct rr_pool_head *
pool_take(struct rr_pool *pool, struct rr_account *account, size_t wanted)
{
	struct pool_size size = pool_size_of(wanted);
	struct rr_pool_head *head;

	if (size.octets == 0)
		return NULL;
	/* If the request is refused, rr_pool_wait() finds here how many octets the caller waits for. If the
	 * request is granted, rr_pool_share_charge() sets this to 0. */
	account->refused = size.octets;
	if (!rr_list_empty(&pool->turns) && pool->woken != account &&
		rr_pool_share_overtakes(pool, account, size.octets))
		return NULL;
	if (rr_pool_share_judge(pool, account, size.octets) != RR_POOL_GRANTED)
		return NULL;
	head = pool_buffer(pool, size);
	if (!head)
		return NULL;
	head->granted = rr_loop_now(pool->shares->loop);
	rr_pool_share_charge(pool, head, account);
	return head;
}

void *
rr_pool_get(struct rr_pool *pool, struct rr_party *party, size_t size)
{
	struct rr_account *account = rr_pool_account(pool, party);
	struct rr_pool_head *head;

	/* This request is for a further buffer: it replaces none. */
	account->growing = NULL;
	head = pool_take(pool, account, size);
	return head ? pool_buffer_of(head) : NULL;
}

void *
rr_pool_get_some(struct rr_pool *pool, struct rr_party *party, size_t *size, size_t least)
{
	void *buffer = rr_pool_get(pool, party, *size);

	if (buffer || *size <= least || rr_pool_account(pool, party)->used > 0)
		return buffer;
	*size = least;
	return rr_pool_get(pool, party, least);
}

/* Keeps a buffer that came back, for reuse, or frees it if it is larger than RR_POOL_KEPT. If requests wait
 * for memory, queues the task that wakes them, unless the buffer comes from the account whose request is
 * just being woken. That account may have been freed with its party: its address is compared, and nothing
 * else. */
static inline void
pool_keep(struct rr_pool *pool, struct rr_pool_head *head)
{
	const struct rr_account *account = head->account;

	if (head->kept) {
		head->next = *head->kept;
		*head->kept = head;
		pool->kept += head->size;
	} else {
		rr_free(pool->env, head->memory);
	}
	if (pool->used + pool->kept > pool->max)
		pool_trim(pool, rr_pool_left_below(pool->max, pool->used));
	/* An account that is being woken, and gives back only what it has just taken, has changed nothing. */
	if (!rr_list_empty(&pool->turns) && pool->woken != account)
		rr_loop_defer(pool->shares->loop, &pool->task);
}

/* Updates the pool for the buffer of head, which comes back. Clears account->growing if it is this buffer,
 * which the account wanted to replace by a larger one. Clears pool->guest, the account that may exceed the
 * bound, if this is the last buffer of that account. */
static void
pool_forget_growing(struct rr_pool *pool, const struct rr_pool_head *head)
{
	struct rr_account *account = head->account;

	if (account->growing == head)
		account->growing = NULL;
	if (pool->guest == account && account->used == head->size)
		pool->guest = NULL;
}

void
rr_pool_put(struct rr_pool *pool, void *buffer)
{
	if (!buffer)
		return;
	pool_forget_growing(pool, pool_head_of(buffer));
	/* The proof comes first, as rr_pool_share_discharge() may free the account with its party. */
	rr_pool_share_prove(pool, pool_head_of(buffer));
	rr_pool_share_discharge(pool, pool_head_of(buffer));
	pool_keep(pool, pool_head_of(buffer));
}

void *
rr_pool_grow(struct rr_pool *pool, struct rr_party *party, void *buffer, size_t length, size_t size)
{
	struct rr_account *account = rr_pool_account(pool, party);
	struct rr_pool_head *old, *head;
	size_t refused;

	if (!buffer)
		return rr_pool_get(pool, party, size);
	old = account->growing = pool_head_of(buffer);
	/* The reference keeps the party while its last buffer is taken out of the count. */
	rr_party_hold(party);
	rr_pool_share_discharge(pool, old);
	head = pool_take(pool, account, size);
	if (head) {
		memcpy(pool_buffer_of(head), buffer, length);
		/* The new buffer counts as held since the old one was granted. */
		rr_pool_share_date_back(head, old->granted);
		account->growing = NULL;
		/* This account was allowed to exceed the bound on memory without proof. */
		if (rr_pool_share_is_beyond(pool))
			pool->guest = account;
		pool_keep(pool, old);
	} else {
		/* rr_pool_share_charge() would clear account->refused, which rr_pool_wait() needs. */
		refused = account->refused;
		rr_pool_share_charge(pool, old, account);
		account->refused = refused;
	}
	rr_party_release(party);
	return head ? pool_buffer_of(head) : NULL;
}

void *
rr_pool_trim(struct rr_pool *pool, void *buffer, size_t length)
{
	struct rr_pool_head *head = pool_head_of(buffer), *smaller;
	struct rr_account *account = head->account;
	struct pool_size size = pool_size_of(length);

	if (size.octets == 0 || size.octets >= head->size)
		return buffer;
	smaller = pool_buffer(pool, size);
	if (!smaller)
		return buffer;
	memcpy(pool_buffer_of(smaller), buffer, length);
	/* The buffer may have the last reference to the party, of which the account is a part. */
	rr_party_hold(account->party);
	smaller->granted = head->granted;
	rr_pool_share_discharge(pool, head);
	rr_pool_share_charge(pool, smaller, account);
	rr_party_release(account->party);
	pool_keep(pool, head);
	return pool_buffer_of(smaller);
}

/* A message takes its memory in steps as long as the peer of its party (a connection) has not moved any
 * octets that count as proof: else a few slow peers could hold all memory. The size is `wanted` at once if
 * the party holds another buffer besides `buffer`, because that buffer would not come back while the party
 * waited for a larger one. */
size_t
rr_pool_step(struct rr_pool *pool, struct rr_party *party, void *buffer, size_t come, size_t wanted)
{
	const struct rr_account *account = rr_pool_account(pool, party);
	size_t held = buffer ? pool_head_of(buffer)->size : 0;
	size_t step = pool_size_of(come > RR_POOL_STEP ? come : RR_POOL_STEP).octets;

	if (wanted > pool->max / 4 || step > wanted || account->used > held)
		return wanted;
	if (rr_pool_has_proved(pool, party) || rr_pool_share_has_plenty(pool, wanted))
		return wanted;
	return step;
}

bool
rr_pool_is_alone(const struct rr_pool *pool, void *buffer)
{
	return buffer && pool->used == pool_head_of(buffer)->size;
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
	rr_pool_share_init(pool);
	rr_pool_turn_init(pool);
	rr_list_init(&pool->nobody.waiters);
	rr_list_init(&pool->nobody.turn);
	rr_list_init(&pool->nobody.held);
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
	pool_trim(pool, 0);
	rr_free(pool->env, pool);
}
