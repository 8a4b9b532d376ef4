/* SPDX-License-Identifier: BSD-3-Clause */
/* This file gathers the entries of a listing (gather.h). */
#include "vfs/gather.h"

#include <string.h>

/* Octets of a piece of memory, and the most pieces of a listing. An entry takes at most about four times as
 * many octets here as in a reply, which is as large as RR_VFS_LISTING_MAX at most. */
enum { GATHER_PIECE = 256 << 10, GATHER_PIECES = 16 };

/* An entry that was gathered; its pointers point into the piece. Where the entry has them, the attributes and
 * the handle, without the octets that it does not use, stand behind it, and the name behind these. */
struct gather_entry {
	size_t size; /* of all of that */
	struct rr_vfs_entry entry;
};

struct gather_piece {
	struct gather_piece *next;
	size_t used; /* octets in use */
	_Alignas(max_align_t) uint8_t octets[GATHER_PIECE];
};

struct rr_gather {
	const struct rr_env *env;
	struct gather_piece *last; /* the one that is filled */
	uint32_t count, max;       /* of pieces */
	bool full;                 /* an entry had no room */
	struct gather_piece first;
};

/* Appends a piece, unless there are as many as there may be. Returns false then, or where there is no memory.
 */
static bool
gather_extend(struct rr_gather *gather)
{
	struct gather_piece *piece = NULL;

	if (gather->count < gather->max)
		piece = gather->env->realloc(gather->env->ctx, NULL, sizeof(*piece));
	if (!piece)
		return false;
	piece->next = NULL;
	piece->used = 0;
	gather->last = gather->last->next = piece;
	gather->count++;
	return true;
}

static size_t
gather_align(size_t size)
{
	enum { ALIGN = _Alignof(max_align_t) };

	return (size + ALIGN - 1) / ALIGN * ALIGN;
}

/* Returns memory of that size; NULL where there is no room for it. */
static void *
gather_take(struct rr_gather *gather, size_t size)
{
	uint8_t *memory;

	if (size > GATHER_PIECE - gather->last->used && !gather_extend(gather)) {
		gather->full = true;
		return NULL;
	}
	memory = gather->last->octets + gather->last->used;
	gather->last->used += size;
	return memory;
}

bool
rr_gather_add(struct rr_gather *gather, const struct rr_vfs_entry *entry)
{
	size_t attributes = entry->attributes ? gather_align(sizeof(*entry->attributes)) : 0;
	size_t handle =
		attributes ? gather_align(offsetof(struct rr_vfs_handle, data) + entry->handle->length) : 0;
	size_t beside = gather_align(sizeof(struct gather_entry)) + attributes + handle;
	size_t size = gather_align(beside + entry->name.length);
	struct gather_entry *gathered = gather_take(gather, size);
	uint8_t *behind;

	if (!gathered)
		return false;
	behind = (uint8_t *)gathered + gather_align(sizeof(*gathered));
	gathered->size = size;
	gathered->entry = *entry;
	memcpy((uint8_t *)gathered + beside, entry->name.data, entry->name.length);
	gathered->entry.name.data = (uint8_t *)gathered + beside;
	if (attributes) {
		memcpy(behind, entry->attributes, sizeof(*entry->attributes));
		memcpy(behind + attributes, entry->handle,
			offsetof(struct rr_vfs_handle, data) + entry->handle->length);
		gathered->entry.attributes = (const void *)behind;
		gathered->entry.handle = (const void *)(behind + attributes);
	}
	return true;
}

/* Passes the entries of a piece to take(). Returns false where it takes one no more. */
static bool
gather_deliver_piece(const struct gather_piece *piece, struct rr_vfs_readdir *readdir)
{
	for (size_t at = 0; at < piece->used;) {
		const struct gather_entry *gathered = (const void *)(piece->octets + at);

		if (!readdir->take(readdir, &gathered->entry))
			return false;
		readdir->count++;
		at += gathered->size;
	}
	return true;
}

void
rr_gather_deliver(struct rr_gather *gather, struct rr_vfs_readdir *readdir)
{
	readdir->count = 0;
	for (const struct gather_piece *piece = &gather->first; piece; piece = piece->next)
		if (!gather_deliver_piece(piece, readdir)) {
			readdir->eof = false; /* the listing ends in front of this entry */
			return;
		}
}

bool
rr_gather_is_full(const struct rr_gather *gather)
{
	return gather->full;
}

struct rr_gather *
rr_gather_new(const struct rr_env *env, bool whole)
{
	/* Unlike rr_alloc(), this does not write zeros into the memory, which is large. */
	struct rr_gather *gather = env->realloc(env->ctx, NULL, sizeof(*gather));

	if (!gather)
		return NULL;
	gather->env = env;
	gather->max = whole ? GATHER_PIECES : 1;
	gather->first.next = NULL;
	rr_gather_clear(gather);
	return gather;
}

void
rr_gather_clear(struct rr_gather *gather)
{
	struct gather_piece *piece;

	while ((piece = gather->first.next)) {
		gather->first.next = piece->next;
		rr_free(gather->env, piece);
	}
	gather->last = &gather->first;
	gather->first.used = 0;
	gather->count = 1;
	gather->full = false;
}

void
rr_gather_free(struct rr_gather *gather)
{
	if (!gather)
		return;
	rr_gather_clear(gather);
	rr_free(gather->env, gather);
}
