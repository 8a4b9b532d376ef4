/* SPDX-License-Identifier: BSD-3-Clause */
#include "../fabric/loop/endpoint.h"

#include "model.h"

void
model_reach(struct rr_endpoint *endpoint,
	void (*seen)(void *ctx, const uint8_t *from, uint32_t length, unsigned access), void *ctx)
{
	const struct rr_loop_endpoint *own = rr_loop_endpoint_of(endpoint);

	for (uint32_t i = 0; i < own->regions.size; i++) {
		const struct rr_region_entry *entry = &own->regions.entries[i];

		if (entry->handle && entry->valid)
			seen(ctx, entry->addr, entry->length, entry->access);
	}
}

uint32_t
model_posted(struct rr_endpoint *endpoint)
{
	return rr_loop_endpoint_of(endpoint)->allowed;
}
