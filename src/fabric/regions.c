/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/regions.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/checked.h"

/* The entries that the table begins with; handles have room for as many even where max is smaller. */
enum { SIZE_LEAST = 8 };

/* The handles begin and grow at random (regions.h says how), so that a peer cannot guess those of other
 * endpoints. */
void
rr_regions_init(struct rr_regions *regions, const struct rr_env *env, uint32_t max)
{
	uint32_t entries = SIZE_LEAST;

	while (entries < max && entries < UINT32_C(1) << 24)
		entries <<= 1;
	*regions = (struct rr_regions){ .env = env, .max = max < entries ? max : entries };
	regions->entry_mask = entries - 1;
	regions->first_free = RR_REGIONS_NONE;
	regions->disguise = rr_random_u32(env) & regions->entry_mask;
	regions->generation = rr_random_u32(env) & ~regions->entry_mask;
	/* The step is an odd multiple of the lowest bit of a generation, so that all generations come before
	 * any comes again. */
	regions->step = (rr_random_u32(env) | 1) * entries;
}

void
rr_regions_destroy(struct rr_regions *regions)
{
	rr_free(regions->env, regions->entries);
	regions->entries = NULL;
	regions->size = regions->count = 0;
	regions->first_free = RR_REGIONS_NONE;
}

/* Doubles the number of entries (entries) of the table, all of which have regions: the new ones are free, and
 * are used in their order. Errors: LIMIT (the table may have no more regions), NOMEM. */
static int
regions_grow(struct rr_regions *regions)
{
	const struct rr_env *env = regions->env;
	uint32_t size = regions->size ? regions->size * 2 : SIZE_LEAST;
	struct rr_region_entry *entries;

	if (regions->count == regions->max)
		return -RPCRDMA_ERR_LIMIT;
	entries = env->realloc(env->ctx, regions->entries, size * sizeof(*entries));
	if (!entries)
		return -RPCRDMA_ERR_NOMEM;
	for (uint32_t i = regions->size; i < size; i++)
		entries[i] = (struct rr_region_entry){ .next_free = i + 1 < size ? i + 1 : RR_REGIONS_NONE };
	regions->entries = entries;
	regions->first_free = regions->size;
	regions->last_free = size - 1;
	regions->size = size;
	return 0;
}

/* Returns a new handle, which is never 0, for a region in the entry `number` of the table. The upper bits
 * are a count that grows by a random step. The lower bits are number, disguised by a random value. */
static uint32_t
regions_new_handle(struct rr_regions *regions, uint32_t number)
{
	uint32_t handle;

	do {
		regions->generation += regions->step;
		handle = regions->generation | (number ^ regions->disguise);
	} while (!handle);
	return handle;
}

/* Adds a region as rr_regions_add() does, to a table without a free entry, which is rare. */
__attribute__((noinline)) static int
regions_add_grown(
	struct rr_regions *regions, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	int error = regions_grow(regions);

	return error ? error : rr_regions_add(regions, addr, length, access, region);
}

/* A new region gets the entry that has been free longest, so that handles are used again as late as
 * possible. */
int
rr_regions_add(
	struct rr_regions *regions, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	uint32_t number = regions->first_free;
	struct rr_region_entry *entry;

	if (number == RR_REGIONS_NONE)
		return regions_add_grown(regions, addr, length, access, region);
	if (regions->count == regions->max)
		return -RPCRDMA_ERR_LIMIT;
	entry = &regions->entries[number];
	regions->first_free = entry->next_free;
	regions->count++;
	entry->handle = regions_new_handle(regions, number);
	entry->length = length;
	entry->addr = addr;
	/* The offset differs from region to region, is far from 2^64, and keeps the place within the page. */
	entry->offset = (uint64_t)entry->handle << 12 | ((uintptr_t)addr & 0xfff);
	entry->access = (uint8_t)access;
	entry->valid = true;
	entry->revoked = false;
	*region = (struct rr_region){ .handle = entry->handle, .length = length, .offset = entry->offset };
	return 0;
}

void
rr_regions_remove(struct rr_regions *regions, uint32_t handle)
{
	struct rr_region_entry *entry = rr_regions_entry_of(regions, handle);
	uint32_t number;

	if (!entry)
		return;
	number = (uint32_t)(entry - regions->entries);
	entry->handle = 0;
	entry->next_free = RR_REGIONS_NONE;
	/* The entry becomes the last of the free ones, so that it is used again as late as possible. */
	if (regions->first_free == RR_REGIONS_NONE)
		regions->first_free = number;
	else
		regions->entries[regions->last_free].next_free = number;
	regions->last_free = number;
	regions->count--;
}

enum rr_region_fault
rr_regions_fault(const struct rr_region_entry *entry, uint64_t offset, uint32_t length)
{
	uint64_t end;

	if (!entry || !entry->valid)
		return entry && entry->revoked ? RR_REGION_REVOKED : RR_REGION_UNKNOWN;
	if (!rr_add_u64(offset, length, &end))
		return RR_REGION_WRAP;
	if (offset < entry->offset || end > entry->offset + entry->length)
		return RR_REGION_BOUNDS;
	return RR_REGION_RIGHTS;
}

bool
rr_regions_has(const struct rr_regions *regions, uint32_t handle)
{
	return rr_regions_entry_of(regions, handle);
}

void
rr_regions_invalidate(struct rr_regions *regions, uint32_t handle)
{
	struct rr_region_entry *entry = rr_regions_entry_of(regions, handle);

	if (entry)
		entry->valid = false;
}

void
rr_regions_revoke(struct rr_regions *regions, uint32_t handle)
{
	struct rr_region_entry *entry = rr_regions_entry_of(regions, handle);

	if (entry) {
		entry->valid = false;
		entry->revoked = true;
	}
}

const char *
rr_regions_explain(const struct rr_regions *regions, uint32_t handle, uint64_t offset, uint32_t length,
	enum rr_region_fault fault, struct rr_text *text)
{
	static const char *const reasons[] = {
		[RR_REGION_FINE] = "",
		[RR_REGION_UNKNOWN] = "no region has this handle",
		[RR_REGION_BOUNDS] = "outside of the region",
		[RR_REGION_WRAP] = "offset and length pass 2^64",
		[RR_REGION_RIGHTS] = "the region was not registered for that",
		[RR_REGION_REVOKED] = "its call was cancelled, and access to the region was ended",
	};
	const struct rr_region_entry *entry = rr_regions_entry_of(regions, handle);
	int n = snprintf(text->text, sizeof(text->text),
		"handle 0x%08" PRIx32 ", offset 0x%" PRIx64 ", length %" PRIu32 ": %s", handle, offset,
		length, reasons[fault]);

	if (entry && entry->valid && n > 0 && (size_t)n < sizeof(text->text))
		snprintf(text->text + n, sizeof(text->text) - (size_t)n,
			" (offset 0x%" PRIx64 ", length %" PRIu32 ")", entry->offset, entry->length);
	return text->text;
}
