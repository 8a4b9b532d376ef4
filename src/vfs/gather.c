/* SPDX-License-Identifier: BSD-3-Clause */
/* This file gathers the entries of a listing (gather.h). */
#include "vfs/gather.h"

#include <string.h>

enum { GATHER_MAX = 256 << 10 };

/* An entry that was gathered; its pointers point into this structure. */
struct gather_entry {
	size_t size; /* of this structure, with the name */
	struct rr_vfs_entry entry;
	struct rr_vfs_attributes attributes;
	struct rr_vfs_handle handle;
	char name[];
};

struct rr_gather {
	size_t used; /* octets in use */
	_Alignas(max_align_t) uint8_t octets[GATHER_MAX];
};

bool
rr_gather_add(struct rr_gather *gather, const struct rr_vfs_entry *entry)
{
	size_t align = _Alignof(struct gather_entry);
	size_t size = (sizeof(struct gather_entry) + entry->name.length + align - 1) / align * align;
	struct gather_entry *gathered = (void *)(gather->octets + gather->used);

	if (size > GATHER_MAX - gather->used)
		return false;
	gathered->size = size;
	gathered->entry = *entry;
	memcpy(gathered->name, entry->name.data, entry->name.length);
	gathered->entry.name.data = gathered->name;
	if (entry->attributes) {
		gathered->attributes = *entry->attributes;
		gathered->handle = *entry->handle;
		gathered->entry.attributes = &gathered->attributes;
		gathered->entry.handle = &gathered->handle;
	}
	gather->used += size;
	return true;
}

void
rr_gather_deliver(struct rr_gather *gather, struct rr_vfs_readdir *readdir)
{
	readdir->count = 0;
	for (size_t at = 0; at < gather->used;) {
		const struct gather_entry *gathered = (const void *)(gather->octets + at);

		if (!readdir->take(readdir, &gathered->entry)) {
			readdir->eof = false; /* the listing ends in front of this entry */
			return;
		}
		readdir->count++;
		at += gathered->size;
	}
}

struct rr_gather *
rr_gather_new(const struct rr_env *env)
{
	/* Unlike rr_alloc(), this does not write zeros into the memory, which is large. */
	struct rr_gather *gather = env->realloc(env->ctx, NULL, sizeof(*gather));

	if (gather)
		gather->used = 0;
	return gather;
}

void
rr_gather_clear(struct rr_gather *gather)
{
	gather->used = 0;
}
