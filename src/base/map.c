/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash map of map.h. A bucket is a list of links, in which the link that was added last comes first. */
#include "base/map.h"

#include <rpcrdma/error.h>

/* Returns the bucket in which the elements with this key are: a hash of the key and of the map's secret seed
 * selects the bucket. */
static struct rr_map_link **
map_bucket_of(const struct rr_map *map, uint64_t key)
{
	uint64_t hash = (key ^ map->seed) * UINT64_C(0x9e3779b97f4a7c15);

	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return &map->buckets[(hash >> 32) & map->mask];
}

int
rr_map_init(struct rr_map *map, const struct rr_env *env, uint32_t buckets)
{
	uint32_t size = 1;

	while (size < buckets && size < UINT32_C(1) << 24)
		size <<= 1;
	map->buckets = rr_alloc_array(env, size, sizeof(*map->buckets));
	if (!map->buckets)
		return -RPCRDMA_ERR_NOMEM;
	map->mask = size - 1;
	map->count = 0;
	map->seed = rr_random_u64(env);
	return 0;
}

void
rr_map_free(struct rr_map *map, const struct rr_env *env)
{
	rr_free(env, map->buckets);
	map->buckets = NULL;
}

void
rr_map_add(struct rr_map *map, struct rr_map_link *link, uint64_t key)
{
	struct rr_map_link **bucket = map_bucket_of(map, key);

	link->key = key;
	link->next = *bucket;
	*bucket = link;
	map->count++;
}

struct rr_map_link *
rr_map_find(const struct rr_map *map, uint64_t key)
{
	struct rr_map_link *link = *map_bucket_of(map, key);

	while (link && link->key != key)
		link = link->next;
	return link;
}

struct rr_map_link *
rr_map_next(const struct rr_map_link *link)
{
	struct rr_map_link *next = link->next;

	while (next && next->key != link->key)
		next = next->next;
	return next;
}

void
rr_map_remove(struct rr_map *map, struct rr_map_link *link)
{
	struct rr_map_link **at = map_bucket_of(map, link->key);

	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	link->next = NULL;
	map->count--;
}
