/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CACHE_H
#define RR_BASE_CACHE_H

#include "base/env.h"

/*
 * Blocks of memory of one size that are kept for reuse, so that what happens often allocates nothing. A block
 * that is kept is linked by its first octets: the cache itself takes no memory.
 *
 * Ownership: a block belongs to the caller from rr_cache_get() to rr_cache_put(), to the cache otherwise.
 */
struct rr_cache {
	const struct rr_env *env;
	void *first;
	size_t size;    /* of a block */
	uint32_t count; /* blocks that are kept */
	uint32_t most;  /* blocks that are kept at most: further ones are freed */
};

/* Makes a cache of blocks of size octets, which is at least the size of a pointer; the cache keeps at most
 * `most` blocks. */
static inline void
rr_cache_init(struct rr_cache *cache, const struct rr_env *env, size_t size, uint32_t most)
{
	*cache = (struct rr_cache){ .env = env, .size = size, .most = most };
}

/* Returns a block that was kept, with the contents that it was given back with, but for its first pointer.
 * NULL: there is no such block. */
static inline void *
rr_cache_take(struct rr_cache *cache)
{
	void *block = cache->first;

	if (!block)
		return NULL;
	cache->first = *(void **)block;
	cache->count--;
	return block;
}

/* Returns a block, whose contents are undefined. NULL: no memory. */
static inline void *
rr_cache_get(struct rr_cache *cache)
{
	void *block = rr_cache_take(cache);

	return block ? block : rr_alloc(cache->env, cache->size);
}

/* Gives back a block that is not needed any more. */
static inline void
rr_cache_put(struct rr_cache *cache, void *block)
{
	if (cache->count >= cache->most) {
		rr_free(cache->env, block);
		return;
	}
	*(void **)block = cache->first;
	cache->first = block;
	cache->count++;
}

/* Frees the blocks that are kept. */
static inline void
rr_cache_end(struct rr_cache *cache)
{
	cache->most = 0;
	while (cache->first)
		rr_free(cache->env, rr_cache_take(cache));
}

#endif
