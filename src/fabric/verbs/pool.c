/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/pool.h"

#include "base/list.h"

/* A pool of buffers in registered memory. Memory is allocated and registered in slabs, each for many
 * buffers. */

/* The size of a slab, about: large enough for few registrations, and small where little memory is needed. */
enum { SLAB_SIZE = 65536, ALIGN = 64 };

void
rr_verbs_pool_init(struct rr_verbs_pool *pool, const struct rr_env *env,
	const struct rr_verbs_library *library, struct ibv_pd *pd, uint32_t size, uint32_t max)
{
	*pool = (struct rr_verbs_pool){ .env = env, .library = library, .pd = pd, .size = size, .max = max };
}

/* Ends the registration of a slab (a block of memory for buffers) if it was registered, and frees its
 * memory. */
static void
pool_free_slab(struct rr_verbs_pool *pool, struct rr_verbs_slab *slab)
{
	if (slab->mr)
		pool->library->dereg_mr(slab->mr);
	rr_free(pool->env, slab->memory);
	rr_free(pool->env, slab);
}

void
rr_verbs_pool_destroy(struct rr_verbs_pool *pool)
{
	while (pool->slabs) {
		struct rr_verbs_slab *slab = pool->slabs;

		pool->slabs = slab->next;
		pool_free_slab(pool, slab);
	}
	pool->free = NULL;
}

/* Allocates and registers a slab (a block of memory for buffers) of length octets. Returns NULL if there is
 * no memory, or the memory cannot be registered. */
static struct rr_verbs_slab *
pool_new_slab(struct rr_verbs_pool *pool, size_t length)
{
	struct rr_verbs_slab *slab = rr_alloc(pool->env, sizeof(*slab));

	if (!slab)
		return NULL;
	slab->memory = pool->env->realloc(pool->env->ctx, NULL, length);
	if (slab->memory)
		slab->mr = pool->library->reg_mr_(pool->pd, slab->memory, length, IBV_ACCESS_LOCAL_WRITE);
	if (slab->mr)
		return slab;
	pool_free_slab(pool, slab);
	return NULL;
}

/* Initialises the buffer that begins at octet `at` of a slab (a block of memory for buffers), and returns
 * it. size: the number of octets that the buffer can hold. */
static struct rr_verbs_buffer *
pool_carve(struct rr_verbs_pool *pool, struct rr_verbs_slab *slab, size_t at, uint64_t size)
{
	struct rr_verbs_buffer *buffer = (void *)((char *)slab->memory + at);

	*buffer = (struct rr_verbs_buffer){ .pool = pool, .slab = slab, .size = size };
	return buffer;
}

/* Allocates another slab (a block of memory for buffers), and adds its buffers to the pool's free buffers.
 * Returns false if there is no memory, or the pool has all the buffers that it may have. */
static bool
pool_grow(struct rr_verbs_pool *pool)
{
	size_t stride = (sizeof(struct rr_verbs_buffer) + (size_t)pool->size + ALIGN - 1) / ALIGN * ALIGN;
	size_t count = stride < SLAB_SIZE ? SLAB_SIZE / stride : 1;
	struct rr_verbs_slab *slab;

	if (count > pool->max - pool->made)
		count = pool->max - pool->made;
	slab = count ? pool_new_slab(pool, count * stride) : NULL;
	if (!slab)
		return false;
	slab->next = pool->slabs;
	pool->slabs = slab;
	pool->made += (uint32_t)count;
	while (count--)
		rr_verbs_pool_put(pool_carve(pool, slab, count * stride, pool->size));
	return true;
}

struct rr_verbs_buffer *
rr_verbs_pool_get(struct rr_verbs_pool *pool, uint32_t length)
{
	struct rr_verbs_buffer *buffer;
	struct rr_verbs_slab *slab;

	if (length > pool->size) {
		slab = pool_new_slab(pool, sizeof(*buffer) + (size_t)length);
		return slab ? pool_carve(pool, slab, 0, length) : NULL;
	}
	if (!pool->free && !pool_grow(pool))
		return NULL;
	buffer = pool->free;
	pool->free = buffer->next;
	return buffer;
}

void
rr_verbs_pool_put(struct rr_verbs_buffer *buffer)
{
	struct rr_verbs_pool *pool = buffer->pool;

	if (buffer->size > pool->size) {
		pool_free_slab(pool, buffer->slab);
		return;
	}
	buffer->next = pool->free;
	pool->free = buffer;
}

struct rr_verbs_buffer *
rr_verbs_buffer_of(uint8_t *data)
{
	return rr_container(data, struct rr_verbs_buffer, data);
}
