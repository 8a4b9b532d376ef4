/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_CHAIN_H
#define RR_TESTS_CHAIN_H

#include "base/map.h"

/* The most elements that a search in the map looks at. */
static inline uint32_t
longest_chain(const struct rr_map *map)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i <= map->mask; i++) {
		uint32_t count = 0;

		for (const struct rr_map_link *link = map->buckets[i]; link; link = link->next)
			count++;
		longest = count > longest ? count : longest;
	}
	return longest;
}

#endif
