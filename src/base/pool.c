/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pool.h"

/*
 * Who owns what: a buffer is its taker's from rr_pool_get() to rr_pool_put(). In front of each buffer, in the
 * slack that its alignment costs, lies a head that says how large it is and what is to be freed. Buffers that
 * came back hang on a free list of their size by that head. What is out and what is kept stays below the
 * bound together: kept buffers of other sizes are freed to make room.
 */
enum { SHIFT_MIN = 12, SHIFT_KEPT = 21, ALIGNMENT = 4096 };

_Static_assert(RR_POOL_KEPT == 1 << SHIFT_KEPT, "the largest size that has a free list");

struct head {
	struct rr_list link; /* in a free list */
	void *memory;        /* what the environment gave */
	size_t size;         /* of the buffer */
};

struct rr_pool {
	const struct rr_env *env;
	size_t max, used, peak, kept;
	struct rr_list free[SHIFT_KEPT - SHIFT_MIN + 1];
	struct rr_list waiters;
	struct rr_list *woken; /* the waiter being woken: it may take what others wait for */
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

struct rr_pool *
rr_pool_new(const struct rr_env *env, size_t max)
{
	struct rr_pool *pool = rr_alloc(env, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->env = env;
	pool->max = max;
	rr_list_init(&pool->waiters);
	for (int i = 0; i <= SHIFT_KEPT - SHIFT_MIN; i++)
		rr_list_init(&pool->free[i]);
	return pool;
}

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

void
rr_pool_free(struct rr_pool *pool)
{
	if (!pool)
		return;
	trim(pool, 0);
	rr_free(pool->env, pool);
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

void *
rr_pool_get(struct rr_pool *pool, size_t size)
{
	unsigned shift = shift_of(size);
	size_t rounded = (size_t)1 << shift;
	struct head *head;

	if (shift == 0 || (!pool->woken && !rr_list_empty(&pool->waiters)))
		return NULL;
	if (pool->used > 0 && (pool->used >= pool->max || rounded > pool->max - pool->used))
		return NULL;
	head = kept_buffer(pool, shift);
	if (!head)
		head = new_buffer(pool, rounded);
	if (!head)
		return NULL;
	pool->used += rounded;
	if (pool->used > pool->peak)
		pool->peak = pool->used;
	return buffer_of(head);
}

/* Wakes waiters in their order until one of them has to wait again. */
static void
wake(struct rr_pool *pool)
{
	if (pool->woken)
		return; /* the loop below, further up the stack, goes on */
	while ((pool->woken = rr_list_pop(&pool->waiters))) {
		struct rr_pool_waiter *waiter = rr_container(pool->woken, struct rr_pool_waiter, link);

		waiter->wake(waiter);
		if (pool->waiters.next == pool->woken)
			break;
	}
	pool->woken = NULL;
}

void
rr_pool_put(struct rr_pool *pool, void *buffer)
{
	struct head *head;

	if (!buffer)
		return;
	head = head_of(buffer);
	pool->used -= head->size;
	if (head->size <= RR_POOL_KEPT) {
		rr_list_append(&pool->free[shift_of(head->size) - SHIFT_MIN], &head->link);
		pool->kept += head->size;
	} else {
		rr_free(pool->env, head->memory);
	}
	trim(pool, pool->max > pool->used ? pool->max - pool->used : 0);
	wake(pool);
}

void
rr_pool_wait(struct rr_pool *pool, struct rr_pool_waiter *waiter)
{
	if (!rr_list_empty(&waiter->link))
		return;
	/* One that was woken in vain keeps its place: the first element of the list. */
	rr_list_append(pool->woken == &waiter->link ? pool->waiters.next : &pool->waiters, &waiter->link);
}

bool
rr_pool_is_wanted(const struct rr_pool *pool)
{
	return !rr_list_empty(&pool->waiters);
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
