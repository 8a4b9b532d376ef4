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

/* Makes an empty cache of blocks of size octets, where size is at least the size of a pointer. The cache
 * keeps at most `most` blocks for reuse. */
static inline void
rr_cache_init(struct rr_cache *cache, const struct rr_env *env, size_t size, uint32_t most)
{
	*cache = (struct rr_cache){ .env = env, .size = size, .most = most };
}

/* Takes a block out of the cache and returns it. The block has the contents that it had when rr_cache_put()
 * got it, except for its first octets, where the cache kept a pointer. Returns NULL if the cache keeps no
 * block. */
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

/* Returns a block with undefined contents: one that the cache keeps, or newly allocated memory. Returns NULL
 * if there is no memory. */
static inline void *
rr_cache_get(struct rr_cache *cache)
{
	void *block = rr_cache_take(cache);

	return block ? block : rr_alloc(cache->env, cache->size);
}

/* Gives a block back to the cache, for reuse. The block is freed instead if the cache holds its maximum of
 * blocks already. */
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

/* Frees all blocks that the cache keeps. Blocks that are given back later are freed at once. */
static inline void
rr_cache_end(struct rr_cache *cache)
{
	cache->most = 0;
	while (cache->first)
		rr_free(cache->env, rr_cache_take(cache));
}

#endif
