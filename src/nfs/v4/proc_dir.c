/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has READDIR and READDIRPLUS. The functions ..._build() append the operations of a procedure to
 * the COMPOUND, and the functions ..._take() fill in the result of the procedure when all of them succeeded
 * (struct rr_v4_work). */
#include <string.h>

#include "nfs/v4/proc.h"

/* The arguments that READDIR and READDIRPLUS of version 3 have in common. */
struct dir_args {
	nfs_fh3 directory;
	uint64_t cookie;
	const uint8_t *verifier;
	uint32_t dircount, maxcount;
};

/* Builds a READDIR that asks for these attributes of each entry. The entries are decoded into the caller's
 * memory for lists (outer->arena), and the client's own are made in the rest of that memory. */
static void
dir_build(struct rr_v4_slot *slot, const struct dir_args *args, const bitmap4 *attributes)
{
	READDIR4args *to;

	rr_v4_putfh(slot, args->directory.data);
	to = &rr_v4_op(slot, OP_READDIR, args->maxcount)->u.opreaddir;
	*to = (READDIR4args){ .cookie = args->cookie,
		.dircount = args->dircount,
		.maxcount = args->maxcount,
		.attr_request = *attributes };
	memcpy(to->cookieverf, args->verifier, sizeof(to->cookieverf));
	slot->call.arena = slot->outer->arena;
	/* A READDIR often has as many entries as are allowed, so that a Reply chunk is worth its cost. */
	slot->call.often_large = true;
}

/* Returns zeroed memory from the caller's memory for lists, or NULL if that is used up. */
static void *
dir_alloc(struct rr_v4_slot *slot, size_t size)
{
	struct rpcrdma_arena *arena = &slot->call.arena;
	uint8_t *at = arena->next + (-(uintptr_t)arena->next & 15);

	if (at > arena->end || size > (size_t)(arena->end - at))
		return NULL;
	arena->next = at + size;
	return memset(at, 0, size);
}

/* Sets the error text for entries that do not fit in the caller's memory. Returns the error LIMIT. */
static int
dir_no_room(struct rr_v4_slot *slot)
{
	return rr_fail(&slot->v4->text, -RPCRDMA_ERR_LIMIT,
		"a part of a directory has more entries than there is room for");
}

/* ---- READDIRPLUS ---- */

static void
proc_plus_build(struct rr_v4_slot *slot)
{
	const READDIRPLUS3args *from = slot->outer->args;
	const struct dir_args args = { from->dir, from->cookie, from->cookieverf, from->dircount,
		from->maxcount };

	dir_build(slot, &args, &rr_v4_ask_entry);
}

/* Makes an entry of READDIRPLUS from an entry of version 4's READDIR. Fails if the attributes are malformed,
 * or the caller's memory has no room for the names and the handle. */
static int
proc_plus_entry(struct rr_v4_slot *slot, const entry4 *from, struct rr_nfs_listed *entry)
{
	struct rr_attr_values taken;

	if (!rr_attr_take(&from->attrs, &rr_v4_ask_entry, &taken))
		return rr_v4_broken(
			slot->v4, "attributes of an entry that cannot be read, or that were not asked for");
	entry->cookie = from->cookie;
	entry->name = from->name;
	entry->handle = taken.handle;
	/* If the server sends no fileid, its attribute mounted_on_fileid takes the place. */
	entry->number = taken.attributes.id.number ? taken.attributes.id.number : taken.attributes.mounted_on;
	/* If the server cannot send the attributes of an entry, LOOKUP finds out why. */
	entry->known = rr_attr_in(&taken.have, FATTR4_TYPE);
	if (rr_v4_keep(slot, &entry->name) < 0 || rr_v4_keep(slot, &entry->handle) < 0)
		return -RPCRDMA_ERR_LIMIT;
	return rr_v4_give_attributes(slot, &taken, &entry->attributes);
}

/* Makes the result of READDIRPLUS from the result of version 4's READDIR. */
static int
proc_plus_take(struct rr_v4_slot *slot)
{
	const READDIR4resok *from = &rr_v4_res(slot, OP_READDIR)->u.opreaddir.u.resok4;
	struct rr_nfs_list *list = slot->outer->result;
	struct rr_nfs_listed **next = &list->entries;
	int error = 0;

	memcpy(list->verifier, from->cookieverf, sizeof(list->verifier));
	list->eof = from->reply.eof;
	for (const entry4 *entry = from->reply.entries; entry && !error; entry = entry->nextentry) {
		*next = dir_alloc(slot, sizeof(**next));
		if (!*next)
			return dir_no_room(slot);
		error = proc_plus_entry(slot, entry, *next);
		next = &(*next)->next;
	}
	return error;
}

const struct rr_v4_work rr_v4_readdirplus3 = {
	.build = proc_plus_build,
	.take = proc_plus_take,
	.result = sizeof(struct rr_nfs_list),
};

/* ---- READDIR ---- */

/* Builds READDIR for version 3's READDIR, whose entries have no attributes but the fileid. */
static void
proc_plain_build(struct rr_v4_slot *slot)
{
	static uint32_t words[] = { 1 << FATTR4_FILEID };
	static const bitmap4 fileid = { 1, words };
	const READDIR3args *from = slot->outer->args;
	const struct dir_args args = { from->dir, from->cookie, from->cookieverf, from->count, from->count };

	dir_build(slot, &args, &fileid);
}

/* Makes the result of version 3's READDIR from the result of version 4's READDIR. */
static int
proc_plain_take(struct rr_v4_slot *slot)
{
	const READDIR4resok *from = &rr_v4_res(slot, OP_READDIR)->u.opreaddir.u.resok4;
	READDIR3resok *ok = &((READDIR3res *)slot->outer->result)->u.resok;
	entry3 **next = &ok->reply.entries;

	memcpy(ok->cookieverf, from->cookieverf, sizeof(ok->cookieverf));
	ok->reply.eof = from->reply.eof;
	for (const entry4 *entry = from->reply.entries; entry; entry = entry->nextentry) {
		struct rr_attr_values taken;

		*next = dir_alloc(slot, sizeof(**next));
		if (!*next)
			return dir_no_room(slot);
		/* Operation 2 is the READDIR, behind SEQUENCE and PUTFH. */
		if (!rr_attr_take(&entry->attrs, &slot->ops[2].u.opreaddir.attr_request, &taken))
			return rr_v4_broken(slot->v4, "attributes of an entry that were not asked for");
		**next = (entry3){
			.fileid = taken.attributes.id.number, .name = entry->name, .cookie = entry->cookie
		};
		if (rr_v4_keep(slot, &(*next)->name) < 0)
			return -RPCRDMA_ERR_LIMIT;
		next = &(*next)->nextentry;
	}
	return 0;
}

const struct rr_v4_work rr_v4_readdir3 = {
	.build = proc_plain_build,
	.take = proc_plain_take,
	.result = sizeof(READDIR3res),
};
