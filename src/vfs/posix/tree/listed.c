/* SPDX-License-Identifier: BSD-3-Clause */
/* This file finds the objects of a listing by their names, without opening them: most of them are never used.
 * So an entry takes three system calls where its object has no node yet, and one where it has. */
#include "vfs/posix/tree/tree_private.h"

/* Gives a new object its handle, with the kernel's handle of what has this name in directory. Returns false
 * where the name meanwhile leads to another object, so that the kernel's handle may be the other one's. The
 * caller holds the lock, which is released while a system call may wait. */
static bool
listed_make_handle(
	struct rr_tree *tree, const struct rr_object *directory, const char *name, struct rr_node *node)
{
	struct rr_handle_kernel kernel = { .length = 0 };
	const struct rr_tree_root *root = node->root;
	struct rr_handle_id id;
	struct statx st;
	bool was_locked;

	if (node->handle.length > 0)
		return true;
	if (root->mount_fd >= 0) {
		was_locked = rr_tree_out(tree);
		rr_tree_kernel_name(root, directory->fd, name, &kernel);
		rr_tree_in(tree, was_locked);
		if (rr_tree_stat_in(tree, root, directory->fd, name, &st) != 0)
			return false;
		id = rr_tree_id(tree, root, &st);
		if (!rr_handle_same(&id, &node->id))
			return false;
	}
	rr_tree_make_handle(tree, node, &kernel);
	return true;
}

/* Finds the object that has this name in directory by statx(2) of the name, and sees to it that it has a
 * handle. Returns false where the object has to be opened to be found, or is not there. The caller holds the
 * lock. */
static bool
listed_by_name(
	struct rr_tree *tree, const struct rr_object *directory, const char *name, struct rr_object *object)
{
	struct rr_node *node = directory->node;
	struct statx st;

	if (rr_tree_stat_in(tree, node->root, directory->fd, name, &st) != 0)
		return false;
	node = rr_tree_intern(tree, node, name, -1, &st);
	if (!node)
		return false;
	rr_tree_object(tree, node, &st, object);
	if (listed_make_handle(tree, directory, name, node))
		return true;
	rr_object_put(tree, object);
	return false;
}

enum rr_vfs_status
rr_tree_entry(struct rr_tree *tree, const struct rr_object *directory, struct rpcrdma_bytes name,
	struct rr_object *object)
{
	char text[256];
	bool found;

	if (rr_vfs_name(name, text) != RR_VFS_OK)
		return rr_tree_lookup(tree, directory, name, object);
	rr_tree_enter(tree);
	found = listed_by_name(tree, directory, text, object);
	rr_tree_leave(tree);
	return found ? RR_VFS_OK : rr_tree_lookup(tree, directory, name, object);
}
