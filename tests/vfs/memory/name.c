/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations on names: lookup, link, remove, rename. vfs.h describes what each of them
 * does, with its arguments and results. */
#include <string.h>

#include "node.h"
#include "run.h"

static bool
name_is(struct rpcrdma_bytes name, const char *text)
{
	return name.length == strlen(text) && memcmp(name.data, text, name.length) == 0;
}

static enum rr_vfs_status
name_directory(const struct rr_memory_node *node)
{
	return node->attributes.type == RR_VFS_DIRECTORY ? RR_VFS_OK : RR_VFS_NOTDIR;
}

/* Finds the object that has this name in the operation's directory, and stores its node in *node: for "." the
 * directory itself, for ".." its parent. Returns RR_VFS_ACCESS where the caller may not search the
 * directory. */
static enum rr_vfs_status
name_lookup_find(struct rr_memory_run *run, struct rpcrdma_bytes name, struct rr_memory_node **node)
{
	char text[RR_VFS_NAME_MAX + 1];
	enum rr_vfs_status status = rr_vfs_name(name, text);
	const struct rr_memory_entry *entry;

	if (status != RR_VFS_OK && status != RR_VFS_BAD_NAME)
		return status;
	if (!rr_memory_may(run->node, run->caller, RR_MEMORY_EXECUTE))
		return RR_VFS_ACCESS;
	*node = name_is(name, ".") ? run->node : run->node->parent;
	if (status == RR_VFS_BAD_NAME)
		return RR_VFS_OK;
	entry = rr_memory_entry_find(run->memory, run->node, name);
	if (!entry)
		return RR_VFS_NOENT;
	*node = entry->node;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_lookup(struct rr_memory_run *run)
{
	struct rr_vfs_lookup *lookup = (struct rr_vfs_lookup *)run->call;
	enum rr_vfs_status status = name_directory(run->node);
	struct rr_memory_node *node;

	if (status == RR_VFS_OK)
		status = name_lookup_find(run, lookup->name, &node);
	if (status != RR_VFS_OK)
		return status;
	rr_memory_handle(run->memory, node, &lookup->handle);
	lookup->attributes = node->attributes;
	return RR_VFS_OK;
}

/* Finds the entry of this name for an operation that makes, changes or removes the entry. Stores the entry in
 * *entry, or NULL if the directory has no such entry. Returns an error where "directory" is no directory, the
 * caller may not search it, or the name is invalid; "." and ".." are invalid, too. */
static enum rr_vfs_status
name_find(struct rr_memory_run *run, const struct rr_memory_node *directory, struct rpcrdma_bytes name,
	struct rr_memory_entry **entry)
{
	char text[RR_VFS_NAME_MAX + 1];
	enum rr_vfs_status status = name_directory(directory);

	if (status == RR_VFS_OK)
		status = rr_vfs_name(name, text);
	if (status != RR_VFS_OK)
		return status;
	if (!rr_memory_may(directory, run->caller, RR_MEMORY_EXECUTE))
		return RR_VFS_ACCESS;
	*entry = rr_memory_entry_find(run->memory, directory, name);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_link(struct rr_memory_run *run)
{
	struct rr_vfs_link *link = (struct rr_vfs_link *)run->call;
	struct rr_memory_node *file = run->node, *directory = run->second;
	struct rr_memory_entry *entry;
	enum rr_vfs_status status = name_find(run, directory, link->name, &entry);

	if (status != RR_VFS_OK)
		return status;
	if (entry)
		return RR_VFS_EXIST;
	if (file->export != directory->export)
		return RR_VFS_XDEV;
	if (file->attributes.type == RR_VFS_DIRECTORY)
		return RR_VFS_ISDIR;
	status = rr_memory_may_change(directory, run->caller);
	if (status != RR_VFS_OK)
		return status;
	/* An open file whose last name is gone gets no new name. */
	if (file->attributes.links == 0)
		return RR_VFS_STALE;
	if (file->attributes.links >= run->memory->config.link_max)
		return RR_VFS_MLINK;
	return rr_memory_entry_add(run->memory, directory, link->name, file);
}

/* Returns RR_VFS_OK where the object may lose its name, by removal or because another object replaces it: it
 * must be of the type that "what" asks for, and a directory must be empty. Permissions are not checked
 * here. */
static enum rr_vfs_status
name_may_remove(struct rr_memory_node *node, enum rr_vfs_remove_what what)
{
	bool directory = node->attributes.type == RR_VFS_DIRECTORY;

	if (directory && what == RR_VFS_REMOVE_FILE)
		return RR_VFS_ISDIR;
	if (!directory && what == RR_VFS_REMOVE_DIRECTORY)
		return RR_VFS_NOTDIR;
	return directory && !rr_list_empty(&node->entries) ? RR_VFS_NOTEMPTY : RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_remove(struct rr_memory_run *run)
{
	struct rr_vfs_remove *remove = (struct rr_vfs_remove *)run->call;
	struct rr_memory_entry *entry;
	enum rr_vfs_status status = name_find(run, run->node, remove->name, &entry);

	if (status != RR_VFS_OK)
		return status;
	if (!entry)
		return RR_VFS_NOENT;
	status = rr_memory_may_delete(run->node, entry->node, run->caller);
	if (status == RR_VFS_OK)
		status = name_may_remove(entry->node, remove->what);
	if (status == RR_VFS_OK)
		rr_memory_entry_remove(run->memory, entry);
	return status;
}

/* Tells whether the directory "to" is the directory "moved" itself or lies below it, so that "moved" cannot
 * be moved into "to". */
static bool
name_rename_into_itself(const struct rr_memory_node *moved, const struct rr_memory_node *to)
{
	const struct rr_memory_node *up = to;

	while (up != moved && up != up->parent)
		up = up->parent;
	return up == moved;
}

/* Returns RR_VFS_OK where the caller may give the object "moved" its new name, else the status that says why
 * not. Where the new name exists already, "replaced" is its entry, and the caller must be allowed to remove
 * that, too; else "replaced" is NULL. */
static enum rr_vfs_status
name_may_rename(const struct rr_memory_run *run, const struct rr_memory_node *moved,
	const struct rr_memory_entry *replaced)
{
	bool directory = moved->attributes.type == RR_VFS_DIRECTORY;
	enum rr_vfs_status status = rr_memory_may_delete(run->node, moved, run->caller);

	if (status != RR_VFS_OK)
		return status;
	if (directory && name_rename_into_itself(moved, run->second))
		return RR_VFS_INVAL;
	/* Moving a directory to another changes its "..", so the caller needs permission to write it. */
	if (directory && run->node != run->second && !rr_memory_may(moved, run->caller, RR_MEMORY_WRITE_BIT))
		return RR_VFS_ACCESS;
	if (!replaced)
		return rr_memory_may_change(run->second, run->caller);
	status = rr_memory_may_delete(run->second, replaced->node, run->caller);
	if (status != RR_VFS_OK)
		return status;
	if ((replaced->node->attributes.type == RR_VFS_DIRECTORY) != directory)
		return RR_VFS_EXIST;
	return name_may_remove(replaced->node, RR_VFS_REMOVE_ANY);
}

enum rr_vfs_status
rr_memory_rename(struct rr_memory_run *run)
{
	struct rr_vfs_rename *rename = (struct rr_vfs_rename *)run->call;
	struct rr_memory_entry *entry, *replaced;
	enum rr_vfs_status status = name_find(run, run->node, rename->old_name, &entry);

	if (status == RR_VFS_OK)
		status = name_find(run, run->second, rename->new_name, &replaced);
	if (status == RR_VFS_OK && run->node->export != run->second->export)
		status = RR_VFS_XDEV;
	if (status == RR_VFS_OK && !entry)
		status = RR_VFS_NOENT;
	if (status != RR_VFS_OK)
		return status;
	/* RFC 1813, 3.3.14: "If from and to both refer to the same file (they might be hard links of each
	 * other), then RENAME should perform no action and return NFS3_OK." */
	if (replaced && replaced->node == entry->node)
		return RR_VFS_OK;
	status = name_may_rename(run, entry->node, replaced);
	if (status != RR_VFS_OK)
		return status;
	if (replaced)
		rr_memory_entry_remove(run->memory, replaced);
	rr_memory_entry_move(run->memory, entry, run->second, rename->new_name);
	return RR_VFS_OK;
}
