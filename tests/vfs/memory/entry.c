/* SPDX-License-Identifier: BSD-3-Clause */
/* This file keeps the entries of directories. A cookie is never given to two entries of a directory, so that
 * a listing can go on where it ended. */
#include <string.h>

#include "node.h"
#include "run.h"

enum { ENTRY_GAP = 1 << 30 }; /* the greatest distance of two cookies */

/* Returns the key of a name in a directory in rr_memory.names: the hash FNV-1a. */
static uint64_t
entry_key(const struct rr_memory_node *directory, struct rpcrdma_bytes name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ directory->attributes.id.number;
	const uint8_t *octets = name.data;

	for (uint32_t i = 0; i < name.length; i++)
		hash = (hash ^ octets[i]) * UINT64_C(0x100000001b3);
	return hash;
}

struct rr_memory_entry *
rr_memory_entry_find(
	const struct rr_memory *memory, const struct rr_memory_node *directory, struct rpcrdma_bytes name)
{
	struct rr_map_link *link = rr_map_find(&memory->names, entry_key(directory, name));

	for (; link; link = rr_map_next(link)) {
		struct rr_memory_entry *entry = rr_container(link, struct rr_memory_entry, by_name);

		if (entry->directory == directory && entry->length == name.length &&
			memcmp(entry->name, name.data, name.length) == 0)
			return entry;
	}
	return NULL;
}

/* Puts an entry, whose node is set, into a directory under this name, behind all other entries, with a cookie
 * at a random distance behind the last one. Changes the directory's size and times. Where the node is a
 * subdirectory, also sets its parent and counts one more link of the directory. */
static void
entry_put(struct rr_memory *memory, struct rr_memory_entry *entry, struct rr_memory_node *directory,
	struct rpcrdma_bytes name)
{
	bool subdirectory = entry->node->attributes.type == RR_VFS_DIRECTORY;

	/* The cookies 1 and 2 belong to "." and "..". */
	if (directory->last_cookie == 0)
		directory->last_cookie = 2;
	entry->cookie = directory->last_cookie += 1 + rr_memory_random(memory) % ENTRY_GAP;
	entry->directory = directory;
	entry->length = name.length;
	memcpy(entry->name, name.data, name.length);
	rr_list_append(&directory->entries, &entry->link);
	rr_map_add(&memory->names, &entry->by_name, entry_key(directory, name));
	if (subdirectory)
		entry->node->parent = directory;
	directory->attributes.links += subdirectory;
	directory->attributes.size += name.length;
	rr_memory_touch(memory, directory, true);
}

/* Takes an entry out of its directory, whose size, number of links and times change. The entry and its node
 * are not freed. */
static void
entry_take(struct rr_memory *memory, struct rr_memory_entry *entry)
{
	struct rr_memory_node *directory = entry->directory;

	rr_list_remove(&entry->link);
	rr_map_remove(&memory->names, &entry->by_name);
	directory->attributes.links -= entry->node->attributes.type == RR_VFS_DIRECTORY;
	directory->attributes.size -= entry->length;
	rr_memory_touch(memory, directory, true);
}

enum rr_vfs_status
rr_memory_entry_add(struct rr_memory *memory, struct rr_memory_node *directory, struct rpcrdma_bytes name,
	struct rr_memory_node *node)
{
	struct rr_memory_entry *entry = rr_alloc(memory->env, sizeof(*entry));

	if (!entry)
		return RR_VFS_BUSY;
	/* A directory has one name, and its own entry "." is the second link. */
	entry->node = node;
	entry_put(memory, entry, directory, name);
	if (node->attributes.type == RR_VFS_DIRECTORY)
		node->attributes.links = 2;
	else
		node->attributes.links++;
	rr_memory_touch(memory, node, false);
	return RR_VFS_OK;
}

void
rr_memory_entry_move(struct rr_memory *memory, struct rr_memory_entry *entry,
	struct rr_memory_node *directory, struct rpcrdma_bytes name)
{
	entry_take(memory, entry);
	entry_put(memory, entry, directory, name);
	rr_memory_touch(memory, entry->node, false);
}

void
rr_memory_entry_remove(struct rr_memory *memory, struct rr_memory_entry *entry)
{
	struct rr_memory_node *node = entry->node;

	entry_take(memory, entry);
	if (node->attributes.type == RR_VFS_DIRECTORY)
		node->attributes.links = 0;
	else
		node->attributes.links--;
	rr_memory_touch(memory, node, false);
	rr_free(memory->env, entry);
	rr_memory_node_drop(memory, node);
}
