/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/receives.h"

void
rr_receives_init(struct rr_receives *pool, const struct rr_env *env, uint32_t size, uint32_t max)
{
	/* The cache keeps all free buffers, and uses the beginning of each as a pointer to the next one. */
	rr_cache_init(&pool->kept, env, size < sizeof(void *) ? sizeof(void *) : size, UINT32_MAX);
	pool->max = max;
	pool->out = 0;
	rr_list_init(&pool->waiting);
}

void
rr_receives_destroy(struct rr_receives *pool)
{
	rr_cache_end(&pool->kept);
}

/* Whether as many receive buffers are in use as the pool may give out. */
static bool
receives_is_exhausted(const struct rr_receives *pool)
{
	return pool->out >= pool->max;
}

/* Whether the owner of wait must wait for a receive buffer, because no buffer is left or another endpoint
 * has waited longer. An endpoint that connected (and did not accept) never waits. An endpoint with RDMA
 * Reads under way waits only if twice the usual number of buffers is in use, as the data of the Reads may
 * come behind a Send. */
static bool
receives_must_wait(const struct rr_receives *pool, const struct rr_receive_wait *wait)
{
	bool others = !rr_list_empty(&pool->waiting) && pool->waiting.next != &wait->link;

	if (!others && !receives_is_exhausted(pool))
		return false;
	return !wait->assured && !(wait->reads && pool->out / 2 < pool->max);
}

/* Calls the function wake of the endpoint that has waited longest for a receive buffer, if a buffer is free
 * for that endpoint. */
static void
receives_wake_first(struct rr_receives *pool)
{
	struct rr_receive_wait *wait;

	if (rr_list_empty(&pool->waiting) || receives_is_exhausted(pool))
		return;
	wait = rr_container(pool->waiting.next, struct rr_receive_wait, link);
	wait->wake(wait);
}

uint8_t *
rr_receives_get(struct rr_receives *pool, struct rr_receive_wait *wait, bool *full)
{
	uint8_t *receive;

	*full = receives_must_wait(pool, wait);
	if (*full)
		return NULL;
	receive = rr_cache_get(&pool->kept);
	if (!receive)
		return NULL;
	pool->out++;
	rr_receives_leave(pool, wait);
	return receive;
}

void
rr_receives_put(struct rr_receives *pool, uint8_t *receive)
{
	rr_cache_put(&pool->kept, receive);
	pool->out--;
	receives_wake_first(pool);
}

void
rr_receives_wait(struct rr_receives *pool, struct rr_receive_wait *wait)
{
	if (rr_list_empty(&wait->link))
		rr_list_append(&pool->waiting, &wait->link);
}

bool
rr_receives_are_wanted(const struct rr_receives *pool)
{
	return !rr_list_empty(&pool->waiting);
}

void
rr_receives_leave(struct rr_receives *pool, struct rr_receive_wait *wait)
{
	if (rr_list_empty(&wait->link))
		return;
	rr_list_remove(&wait->link);
	receives_wake_first(pool);
}
