/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation readdir. vfs.h describes it, with its arguments and results. */
#include <string.h>

#include "node.h"
#include "run.h"

enum { LIST_SELF = 1, LIST_PARENT = 2 }; /* the cookies of "." and ".." */

struct memory_list {
	struct rr_memory_run *run;
	struct rr_vfs_readdir *readdir;
	struct rr_vfs_readdir_room room; /* that is left */
	bool search; /* the caller may search the directory, and so look at the objects in it */
};

/* Passes an entry to the call's take() and counts it. Attributes and handle are passed where the call wants
 * them and the caller may search the directory. Returns false where there is no room for the
 * entry. */
static bool
list_give(struct memory_list *list, struct rpcrdma_bytes name, uint64_t cookie,
	const struct rr_memory_node *node)
{
	struct rr_vfs_readdir *readdir = list->readdir;
	struct rr_vfs_handle handle;
	struct rr_vfs_entry entry = { .name = name, .cookie = cookie, .number = node->attributes.id.number };

	if (!rr_vfs_readdir_wants(&list->room, name.length))
		return false;
	entry.status = readdir->attributes && !list->search ? RR_VFS_ACCESS : RR_VFS_OK;
	if (readdir->attributes && list->search) {
		rr_memory_handle(list->run->memory, node, &handle);
		entry.attributes = &node->attributes;
		entry.handle = &handle;
	}
	if (!readdir->take(readdir, &entry))
		return false;
	readdir->count++;
	return true;
}

/* Passes the entries "." and ".." to the call's take(), each only where it lies behind the cookie from which
 * the call lists. Returns false where take() has no room for an entry. */
static bool
list_dots(struct memory_list *list)
{
	const struct rr_memory_node *node = list->run->node;

	if (list->readdir->cookie < LIST_SELF &&
		!list_give(list, (struct rpcrdma_bytes){ ".", 1 }, LIST_SELF, node))
		return false;
	return list->readdir->cookie >= LIST_PARENT ||
	       list_give(list, (struct rpcrdma_bytes){ "..", 2 }, LIST_PARENT, node->parent);
}

/* Passes the directory's entries behind the call's cookie to take(). Returns false where take() has no room.
 */
static bool
list_entries(struct memory_list *list)
{
	rr_list_for_each (link, &list->run->node->entries) {
		const struct rr_memory_entry *entry = rr_container(link, struct rr_memory_entry, link);
		struct rpcrdma_bytes name = { entry->name, entry->length };

		if (entry->cookie > list->readdir->cookie &&
			!list_give(list, name, entry->cookie, entry->node))
			return false;
	}
	return true;
}

enum rr_vfs_status
rr_memory_readdir(struct rr_memory_run *run)
{
	struct memory_list list = { run, (struct rr_vfs_readdir *)run->call, { { 0, 0 }, { 0, 0 } }, false };
	const struct rr_memory_node *node = run->node;

	list.room = list.readdir->room;
	list.readdir->count = 0;
	list.readdir->eof = false;
	if (node->attributes.type != RR_VFS_DIRECTORY)
		return RR_VFS_NOTDIR;
	if (!rr_memory_may(node, run->caller, RR_MEMORY_READ_BIT))
		return RR_VFS_ACCESS;
	/* No entry of this directory was ever given a greater cookie than last_cookie. */
	if (list.readdir->cookie > LIST_PARENT && list.readdir->cookie > node->last_cookie)
		return RR_VFS_BAD_COOKIE;
	list.search = rr_memory_may(node, run->caller, RR_MEMORY_EXECUTE);
	list.readdir->eof = list_dots(&list) && list_entries(&list);
	return RR_VFS_OK;
}
