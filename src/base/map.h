/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_MAP_H
#define RR_BASE_MAP_H

#include "base/env.h"

/*
 * A hash map from 64-bit keys to elements that carry their own link, so that
 * adding and removing never allocates. Keys need not be unique: find returns
 * the one that was added last, rr_map_next() the others in turn.
 */
struct rr_map_link {
	struct rr_map_link *next;
	uint64_t key;
};

/* The map. buckets has mask + 1 lists. */
struct rr_map {
	struct rr_map_link **buckets;
	uint32_t mask, count;
	uint64_t seed; /* peers choose keys: with the seed they cannot choose buckets */
};

/* Makes an empty map with at least `buckets` buckets; the number is rounded up to a power of two, and is 2^24
 * at most. Returns 0 or -RPCRDMA_ERR_NOMEM. */
int rr_map_init(struct rr_map *map, const struct rr_env *env, uint32_t buckets);

/* Frees the buckets, not the elements. A map that is zeroed, or whose rr_map_init() failed, may be freed,
 * too. */
void rr_map_free(struct rr_map *map, const struct rr_env *env);

/* Adds link, which is part of the caller's element, with that key. Elements with the same key stay in the
 * map. */
void rr_map_add(struct rr_map *map, struct rr_map_link *link, uint64_t key);

/* Returns the link with that key, or NULL if there is no such link. If several links have the key, returns
 * the one that was added last. */
struct rr_map_link *rr_map_find(const struct rr_map *map, uint64_t key);

/* Returns the link with the same key that was added before this link, or NULL if there is no such link. */
struct rr_map_link *rr_map_next(const struct rr_map_link *link);

/* Removes link, which must be in map. */
void rr_map_remove(struct rr_map *map, struct rr_map_link *link);

#endif
