/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "nfs/tree_inner.h"

/* Opens name in directory with the identity that is in force: that checks the permission to search directory.
 */
static nfsstat3
open_in(struct rr_tree *tree, const struct rr_object *directory, const char *name, int *fd, struct statx *st)
{
	int error;

	*fd = rr_tree_beneath(tree, directory->fd, name, O_PATH);
	error = *fd < 0 ? errno : rr_tree_stat(*fd, st);
	if (error && *fd >= 0)
		close(*fd);
	return rr_nfs_status(error);
}

static nfsstat3
lookup_parent(struct rr_tree *tree, struct rr_node *node, struct rr_object *object)
{
	struct rr_object self;
	nfsstat3 status;

	/* Where the directory is now, not where it was once seen. */
	node->verified = 0;
	status = rr_tree_reach(tree, node, &self);
	if (status != NFS3_OK)
		return status;
	status = node->parent ? rr_tree_reach(tree, node->parent, object) : NFS3ERR_STALE;
	rr_object_put(tree, &self);
	return status;
}

/* RFC 1813, 3.2: "the server should be able to handle such a filename correctly": "." and "..". */
static nfsstat3
lookup_dots(
	struct rr_tree *tree, const struct rr_object *directory, const char *name, struct rr_object *object)
{
	struct rr_node *node = directory->node;
	struct statx st;
	nfsstat3 status;
	int fd;

	status = open_in(tree, directory, ".", &fd, &st);
	if (status != NFS3_OK)
		return status;
	close(fd);
	if (name[1] == '.' && node != node->root->node)
		return lookup_parent(tree, node, object);
	rr_tree_object(tree, node, &st, object);
	return NFS3_OK;
}

nfsstat3
rr_tree_lookup(struct rr_tree *tree, const struct rr_object *directory, struct rpcrdma_bytes name,
	struct rr_object *object)
{
	char text[256];
	nfsstat3 status = rr_tree_name(name, text);
	struct rr_node *node;
	struct statx st;
	int fd;

	if (status == NFS3ERR_INVAL)
		return lookup_dots(tree, directory, text, object);
	if (status != NFS3_OK)
		return status;
	status = open_in(tree, directory, text, &fd, &st);
	if (status != NFS3_OK)
		return status;
	node = rr_tree_intern(tree, directory->node, text, fd, &st);
	if (!node)
		return NFS3ERR_JUKEBOX;
	rr_tree_object(tree, node, &st, object);
	return NFS3_OK;
}

/* How many octets of path the name of an export takes up; 0: it is not that one. */
static uint32_t
export_prefix(const struct rr_export *export, struct rpcrdma_bytes path)
{
	uint32_t length = (uint32_t)strlen(export->name);

	if (path.length < length || memcmp(path.data, export->name, length) != 0)
		return 0;
	if (length > 1 && path.length > length && ((const char *)path.data)[length] != '/')
		return 0;
	return length;
}

/* Takes the next component off path; of no length at its end. */
static struct rpcrdma_bytes
next_component(struct rpcrdma_bytes *path)
{
	const char *next = path->data, *end = next + path->length;
	struct rpcrdma_bytes name;

	while (next < end && *next == '/')
		next++;
	name.data = next;
	while (next < end && *next != '/')
		next++;
	name.length = (uint32_t)(next - (const char *)name.data);
	*path = (struct rpcrdma_bytes){ next, (uint32_t)(end - next) };
	return name;
}

nfsstat3
rr_tree_mount(struct rr_tree *tree, struct rpcrdma_bytes path, struct rr_object *object)
{
	const struct rr_tree_root *root = NULL;
	struct rpcrdma_bytes name;
	uint32_t longest = 0;
	nfsstat3 status;

	/* Clients that mount the part before the last slash of "/file" ask for no octet at all. */
	if (path.length == 0)
		path = (struct rpcrdma_bytes){ "/", 1 };
	for (uint32_t i = 0; i < tree->config.export_count; i++) {
		uint32_t length = export_prefix(&tree->exports[i], path);

		if (length > longest) {
			longest = length;
			root = &tree->roots[i];
		}
	}
	if (!root)
		return NFS3ERR_NOENT;
	path = (struct rpcrdma_bytes){ (const char *)path.data + longest, path.length - longest };
	status = rr_tree_reach(tree, root->node, object);
	for (name = next_component(&path); status == NFS3_OK && name.length > 0;
		name = next_component(&path)) {
		struct rr_object directory = *object;

		status = rr_tree_lookup(tree, &directory, name, object);
		rr_object_put(tree, &directory);
	}
	if (status == NFS3_OK && !S_ISDIR(object->st.stx_mode)) {
		rr_object_put(tree, object);
		return NFS3ERR_NOTDIR;
	}
	return status;
}

void
rr_tree_peek(struct rr_tree *tree, const struct rr_object *directory, struct rpcrdma_bytes name,
	struct rr_object *object)
{
	struct rr_node *parent = directory->node, *node;
	struct rr_handle_id id;
	struct statx st;
	char text[256];
	int fd;

	*object = (struct rr_object){ .fd = -1 };
	if (rr_tree_name(name, text) != NFS3_OK || open_in(tree, directory, text, &fd, &st) != NFS3_OK)
		return;
	id = rr_tree_id(tree, parent->root, &st);
	node = rr_nodes_find(&tree->nodes, &id);
	if (!node || !node->parent)
		node = rr_tree_intern(tree, parent, text, fd, &st);
	else if (node->path_fd < 0)
		rr_nodes_set_fd(&tree->nodes, node, &node->path_fd, fd);
	else
		close(fd);
	if (node)
		rr_tree_object(tree, node, &st, object);
}

void
rr_tree_removed(struct rr_tree *tree, const struct rr_object *object, const struct rr_object *directory,
	const char *name)
{
	struct rr_node *node = object->node;
	struct statx st;

	if (!node)
		return;
	if (rr_tree_stat(object->fd, &st) == 0 && st.stx_nlink == 0)
		node->gone = true;
	if (node->gone || rr_nodes_child(&tree->nodes, directory->node, name) == node)
		rr_nodes_unplace(&tree->nodes, node);
}

void
rr_tree_renamed(struct rr_tree *tree, const struct rr_object *moved, const struct rr_object *replaced,
	const struct rr_object *directory, const char *name)
{
	struct rr_node *node = moved->node, *parent = directory->node;

	if (node && node == replaced->node) /* two names of one file: nothing was renamed */
		return;
	rr_tree_removed(tree, replaced, directory, name);
	if (!node)
		return;
	if (rr_nodes_place(&tree->nodes, node, parent, name) != 0)
		rr_nodes_unplace(&tree->nodes, node);
	node->verified = rr_min(node->verified, rr_tree_believed(tree, parent));
}
