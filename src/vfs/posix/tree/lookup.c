/* SPDX-License-Identifier: BSD-3-Clause */
/* This file finds the objects that names in a directory stand for, and notes in the cache what removing and
 * renaming change. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "vfs/posix/tree/tree_private.h"

/* Opens the object that has this name in directory, as an O_PATH descriptor in *fd, and gets its attributes
 * into *st. The kernel checks whether the identity in force may search the directory. After an error, no
 * descriptor is open. */
static enum rr_vfs_status
open_in(struct rr_tree *tree, const struct rr_object *directory, const char *name, int *fd, struct statx *st)
{
	const struct rr_node *node = directory->node;
	int error;

	*fd = rr_tree_beneath(tree, directory->fd, name, O_PATH);
	error = *fd < 0 ? errno : rr_tree_stat(tree, node->root, *fd, st);
	if (error && *fd >= 0)
		close(*fd);
	return rr_vfs_errno(error);
}

/* Finds the directory in which node, a directory, lies, and fills in object with it. After success the caller
 * gives object back by rr_object_put(). Returns RR_VFS_STALE where the place of node is not known. */
static enum rr_vfs_status
lookup_parent(struct rr_tree *tree, struct rr_node *node, struct rr_object *object)
{
	struct rr_object self;
	enum rr_vfs_status status;

	/* The directory may have been moved, so rr_tree_reach() is made to verify its place anew. */
	node->verified = 0;
	status = rr_tree_reach(tree, node, &self);
	if (status != RR_VFS_OK)
		return status;
	status = node->parent ? rr_tree_reach(tree, node->parent, object) : RR_VFS_STALE;
	rr_object_put(tree, &self);
	return status;
}

/* Finds the directory itself for the name ".", and the directory above for ".."; in an export's root both are
 * the root. The caller must have the permission to search the directory: opening "." checks that. RFC
 * 1813, 3.2: "the server should be able to handle such a filename correctly". */
static enum rr_vfs_status
lookup_dots(
	struct rr_tree *tree, const struct rr_object *directory, const char *name, struct rr_object *object)
{
	struct rr_node *node = directory->node;
	struct statx st;
	enum rr_vfs_status status;
	int fd;

	status = open_in(tree, directory, ".", &fd, &st);
	if (status != RR_VFS_OK)
		return status;
	close(fd);
	if (name[1] == '.' && node != node->root->node)
		return lookup_parent(tree, node, object);
	rr_tree_object(tree, node, &st, object);
	return RR_VFS_OK;
}

/* Finds the object that has this name in directory, which may be "." or "..", and notes the object's place in
 * its node. This is the work of rr_tree_lookup(); the caller holds the lock. */
static enum rr_vfs_status
lookup_locked(struct rr_tree *tree, const struct rr_object *directory, struct rpcrdma_bytes name,
	struct rr_object *object)
{
	char text[256];
	enum rr_vfs_status status = rr_vfs_name(name, text);
	struct rr_node *node;
	struct statx st;
	int fd;

	if (status == RR_VFS_BAD_NAME)
		return lookup_dots(tree, directory, text, object);
	if (status != RR_VFS_OK)
		return status;
	status = open_in(tree, directory, text, &fd, &st);
	if (status != RR_VFS_OK)
		return status;
	/* The node owns fd from now on; without memory for a node, rr_tree_intern() has closed fd. */
	node = rr_tree_intern(tree, directory->node, text, fd, &st);
	if (!node)
		return RR_VFS_BUSY;
	rr_tree_object(tree, node, &st, object);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_tree_lookup(struct rr_tree *tree, const struct rr_object *directory, struct rpcrdma_bytes name,
	struct rr_object *object)
{
	enum rr_vfs_status status;

	rr_tree_enter(tree);
	status = lookup_locked(tree, directory, name, object);
	rr_tree_leave(tree);
	return status;
}

/* Returns the node of the object that st describes, or NULL where the cache does not know the object. */
static struct rr_node *
lookup_known(struct rr_tree *tree, const struct rr_node *parent, const struct statx *st)
{
	struct rr_handle_id id = rr_tree_id(tree, parent->root, st);

	return rr_nodes_find(&tree->core->nodes, &id);
}

/* Opens the object that has this name in directory, and returns the object's node, with its descriptor open,
 * and the attributes in *st. A node that has a place already keeps it, because "name", which may be another
 * name of the object, is about to be removed. Returns NULL where the object is not found. */
static struct rr_node *
lookup_peek_open(struct rr_tree *tree, const struct rr_object *directory, const char *name, struct statx *st)
{
	struct rr_node *node;
	int fd;

	if (open_in(tree, directory, name, &fd, st) != RR_VFS_OK)
		return NULL;
	node = lookup_known(tree, directory->node, st);
	if (!node || !node->parent)
		return rr_tree_intern(tree, directory->node, name, fd, st);
	if (node->path_fd < 0)
		rr_nodes_set_fd(&tree->core->nodes, node, &node->path_fd, fd);
	else
		close(fd);
	return node;
}

/* Finds the object that has this name in directory, before that name is removed or changed. Where the object
 * is not found, object->node is NULL. Mostly the object is open already, or there is none: so nothing is
 * opened where the attributes of the name show that. This is the work of rr_tree_peek(); the caller holds the
 * lock. */
static void
lookup_peek_locked(struct rr_tree *tree, const struct rr_object *directory, struct rpcrdma_bytes name,
	struct rr_object *object)
{
	const struct rr_node *parent = directory->node;
	struct rr_node *node = NULL;
	struct statx st;
	char text[256];
	int error;

	*object = (struct rr_object){ .fd = -1 };
	if (rr_vfs_name(name, text) != RR_VFS_OK)
		return;
	error = rr_tree_stat_in(tree, parent->root, directory->fd, text, &st);
	if (error == ENOENT)
		return;
	if (!error)
		node = lookup_known(tree, parent, &st);
	if (!node || !node->parent || node->path_fd < 0)
		node = lookup_peek_open(tree, directory, text, &st);
	if (node)
		rr_tree_object(tree, node, &st, object);
}

void
rr_tree_peek(struct rr_tree *tree, const struct rr_object *directory, struct rpcrdma_bytes name,
	struct rr_object *object)
{
	rr_tree_enter(tree);
	lookup_peek_locked(tree, directory, name, object);
	rr_tree_leave(tree);
}

void
rr_tree_removed(struct rr_tree *tree, const struct rr_object *object, const struct rr_object *directory,
	const char *name)
{
	struct rr_node *node = object->node;
	struct statx st;

	/* rr_tree_peek() did not find the object, so the cache knows nothing that is outdated now. */
	if (!node)
		return;
	rr_tree_enter(tree);
	if (rr_tree_stat(tree, node->root, object->fd, &st) == 0 && st.stx_nlink == 0)
		node->gone = true;
	if (node->gone || rr_nodes_child(&tree->core->nodes, directory->node, name) == node)
		rr_nodes_unplace(&tree->core->nodes, node);
	rr_tree_leave(tree);
}

void
rr_tree_renamed(struct rr_tree *tree, const struct rr_object *moved, const struct rr_object *replaced,
	const struct rr_object *directory, const char *name)
{
	struct rr_node *node = moved->node, *parent = directory->node;

	if (node && node == replaced->node) /* both are names of one file, so nothing was renamed */
		return;
	rr_tree_removed(tree, replaced, directory, name);
	if (!node)
		return;
	rr_tree_enter(tree);
	if (rr_nodes_place(&tree->core->nodes, node, parent, name) != 0)
		rr_nodes_unplace(&tree->core->nodes, node);
	node->verified = rr_min(node->verified, rr_tree_believed(tree, parent));
	rr_tree_leave(tree);
}
