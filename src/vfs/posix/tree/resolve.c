/* SPDX-License-Identifier: BSD-3-Clause */
/* This file finds the objects that file handles name: by the cache, by their paths (path.c), by their
 * kernel handles, or by a search. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "vfs/posix/tree/tree_private.h"

/* The root of an export is kept open, so that its place is always right: for the root, this is the present
 * time. */
uint64_t
rr_tree_believed(const struct rr_tree *tree, const struct rr_node *directory)
{
	return directory == directory->root->node ? rr_now(tree->env) : directory->verified;
}

struct rr_node *
rr_tree_intern(struct rr_tree *tree, struct rr_node *parent, const char *name, int fd, const struct statx *st)
{
	struct rr_nodes *nodes = &tree->core->nodes;
	struct rr_handle_id id = rr_tree_id(tree, parent->root, st);
	struct rr_node *node = rr_nodes_find(nodes, &id);

	if (!node)
		node = rr_nodes_add(nodes, parent->root, &id);
	if (fd >= 0 && node && node->path_fd < 0)
		rr_nodes_set_fd(nodes, node, &node->path_fd, fd);
	else if (fd >= 0)
		close(fd);
	if (!node)
		return NULL;
	/* If there is no memory for its name, the node has no place: it serves this call, and the next
	 * call has to find the object by other means. */
	node->verified = rr_nodes_place(nodes, node, parent, name) == 0 ? rr_tree_believed(tree, parent) : 0;
	node->gone = false;
	rr_search_note(tree, parent->root, id.inode);
	return node;
}

/* Returns the number by which clients know the file system in which the object of st lies: the root's fsid,
 * or for a file system that is mounted below the root, a hash of the export and the device number. */
static uint64_t
resolve_fsid(const struct rr_tree *tree, const struct rr_tree_root *root, const struct statx *st)
{
	uint64_t device = (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
	uint64_t both[2] = { root->id, device };

	return device == root->device ? root->fsid : rr_handle_hash(&tree->core->keys, both, sizeof(both));
}

void
rr_tree_object(struct rr_tree *tree, struct rr_node *node, const struct statx *st, struct rr_object *object)
{
	uint64_t device = (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;

	rr_nodes_hold(&tree->core->nodes, node);
	*object = (struct rr_object){
		.fd = node->path_fd,
		.st = *st,
		.export = node->root->export,
		.fsid = resolve_fsid(tree, node->root, st),
		.local = node->root->local && device == node->root->device,
		.memory = node->root->memory && device == node->root->device,
		.place = rr_node_place(node),
		.node = node,
	};
}

/* Tells whether an error of rr_tree_follow_known() means that the node's path is unknown or outdated. */
static bool
resolve_leads_elsewhere(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV ||
	       error == ENAMETOOLONG;
}

/* Finds the object of a node whose path is not known, by the kernel handle or else by a search, and gives the
 * node its place. Returns 0, with the attributes in *st; ESTALE if the object is gone; EAGAIN if the tree
 * hurries, or the search for the object is not over; or another errno. */
static int
resolve_find_again(struct rr_tree *tree, struct rr_node *node, struct statx *st)
{
	struct rr_handle_place place;
	struct rr_handle_id id;
	char path[PATH_MAX];
	int error;

	if (!rr_tree_may_wait(tree))
		return EAGAIN;
	if (!rr_handle_decode(&tree->core->keys,
		    (struct rpcrdma_bytes){ node->handle.data, node->handle.length }, &id, &place))
		rr_nodes_where(&tree->core->nodes, node, &place);
	error = rr_tree_kernel_find(tree, node, &place.kernel, path);
	if (error == 0)
		error = rr_tree_follow(tree, node, path, st);
	/* ENOENT: there is no kernel handle, or the kernel knows no path of the object, or that path does not
	 * lie in the export or does not lead to the object any more. */
	if (error == ENOENT)
		error = rr_tree_search(tree, node, &place, st);
	if (error == ESTALE)
		rr_nodes_unplace(&tree->core->nodes, node);
	return error;
}

/* Finds the object of a held node by the node's path. Where the path does not lead to that object, forgets
 * the path and finds the object anew. */
static enum rr_vfs_status
resolve_by_path(struct rr_tree *tree, struct rr_node *node, struct rr_object *object)
{
	struct statx st;
	int error = rr_tree_follow_known(tree, node, &st);

	if (resolve_leads_elsewhere(error)) {
		rr_nodes_unplace(&tree->core->nodes, node);
		error = resolve_find_again(tree, node, &st);
	}
	if (error)
		return rr_vfs_errno(error);
	rr_tree_object(tree, node, &st, object);
	return RR_VFS_OK;
}

/* Tells whether nothing has to be opened to find the node's object: its descriptor is open, and its path was
 * verified within the last second (RR_TREE_BELIEVED), or the object is gone. Where the descriptor is open,
 * gets the attributes into *st by one system call, and sets node->gone to whether the object has lost its
 * last name. */
static bool
resolve_is_at_hand(struct rr_tree *tree, struct rr_node *node, struct statx *st)
{
	if (node->path_fd < 0 || rr_tree_stat(tree, node->root, node->path_fd, st) != 0)
		return false;
	node->gone = st->stx_nlink == 0;
	return node->gone || rr_tree_is_believed(tree, node);
}

/* Finds the object of a node that is held: by the node's descriptor where that is enough (at_hand), else by
 * its path. While the path is walked or searched for, the thread acts as the server itself. Returns
 * RR_VFS_STALE if the object is gone, RR_VFS_BUSY if finding it would wait, which is not allowed now, and
 * RR_VFS_FAULT if the caller's identity could not be taken on again. */
static enum rr_vfs_status
resolve_held(struct rr_tree *tree, struct rr_node *node, struct rr_object *object)
{
	enum rr_vfs_status status;
	struct statx st;
	bool at_hand = !node->gone && resolve_is_at_hand(tree, node, &st);

	if (node->gone) {
		rr_nodes_unplace(&tree->core->nodes, node);
		return RR_VFS_STALE;
	}
	if (tree->waits)
		return RR_VFS_BUSY;
	if (at_hand) {
		rr_tree_object(tree, node, &st, object);
		return RR_VFS_OK;
	}
	rr_identity_suspend(&tree->identity);
	status = resolve_by_path(tree, node, object);
	if (rr_identity_resume(&tree->identity))
		return status;
	if (status == RR_VFS_OK)
		rr_object_put(tree, object);
	return RR_VFS_FAULT;
}

enum rr_vfs_status
rr_tree_reach(struct rr_tree *tree, struct rr_node *node, struct rr_object *object)
{
	enum rr_vfs_status status;

	rr_nodes_hold(&tree->core->nodes, node);
	status = resolve_held(tree, node, object);
	rr_nodes_release(&tree->core->nodes, node);
	return status;
}

uint32_t
rr_tree_export_of(const struct rr_tree *tree, struct rpcrdma_bytes handle)
{
	uint32_t number = 0;

	while (number < tree->core->config.export_count &&
		!rr_handle_is_of(handle, tree->core->roots[number].id))
		number++;
	return number;
}

/* Returns the root of the export that a handle names, or NULL where the tree has no such export. */
static const struct rr_tree_root *
resolve_root(const struct rr_tree *tree, uint32_t export)
{
	for (uint32_t i = 0; i < tree->core->config.export_count; i++)
		if (tree->core->roots[i].id == export)
			return &tree->core->roots[i];
	return NULL;
}

/* Checks a handle, finds its object, and makes a node for the object where there is none. Also closes
 * descriptors that were not used for a time. This is the work of rr_tree_resolve(); the caller holds the
 * lock. */
static enum rr_vfs_status
resolve_locked(struct rr_tree *tree, struct rpcrdma_bytes handle, struct rr_object *object)
{
	const struct rr_tree_root *root;
	struct rr_handle_place place;
	struct rr_handle_id id;
	struct rr_node *node;

	/* RFC 1813, 2.6: "NFS3ERR_BADHANDLE Illegal NFS file handle. The file handle failed internal
	 * consistency checks." */
	if (!rr_handle_decode(&tree->core->keys, handle, &id, &place))
		return RR_VFS_BAD_HANDLE;
	root = resolve_root(tree, id.export);
	if (!root)
		return RR_VFS_STALE;
	rr_nodes_tidy(&tree->core->nodes, rr_now(tree->env));
	node = rr_nodes_find(&tree->core->nodes, &id);
	if (!node)
		node = rr_nodes_add(&tree->core->nodes, root, &id);
	if (!node)
		return RR_VFS_BUSY;
	/* The node has no handle after a restart of the server, or after the node was freed. It gets the
	 * client's handle, because a handle made anew could differ: the object may have had another path
	 * before. */
	if (node->handle.length == 0) {
		node->handle.length = handle.length;
		memcpy(node->handle.data, handle.data, handle.length);
	}
	return rr_tree_reach(tree, node, object);
}

enum rr_vfs_status
rr_tree_resolve(struct rr_tree *tree, struct rpcrdma_bytes handle, struct rr_object *object)
{
	enum rr_vfs_status status;

	rr_tree_enter(tree);
	status = resolve_locked(tree, handle, object);
	rr_tree_leave(tree);
	return status;
}

void
rr_tree_make_handle(struct rr_tree *tree, struct rr_node *node, const struct rr_handle_kernel *kernel)
{
	struct rr_handle_place place;

	if (node->handle.length > 0)
		return;
	rr_nodes_where(&tree->core->nodes, node, &place);
	place.kernel = *kernel;
	rr_handle_encode(&tree->core->keys, &node->id, &place, &node->handle);
}

void
rr_tree_handle(struct rr_tree *tree, const struct rr_object *object, struct rr_vfs_handle *handle)
{
	struct rr_handle_kernel kernel = { .length = 0 };
	struct rr_node *node = object->node;

	rr_tree_enter(tree);
	/* A kernel handle leads to an object of the root's file system only. */
	if (node->handle.length == 0 && node->id.device == 0)
		rr_tree_kernel_name(node->root, object->fd, "", &kernel);
	rr_tree_make_handle(tree, node, &kernel);
	*handle = node->handle;
	rr_tree_leave(tree);
}

void
rr_tree_root(struct rr_tree *tree, uint32_t number, struct rr_vfs_handle *handle)
{
	*handle = tree->core->roots[number].node->handle;
}

/* Octets 2 to 9 are the fields export and device, octets 10 to 17 the field inode (handle.h). */
struct rr_tree_place
rr_tree_place(struct rpcrdma_bytes handle)
{
	const uint8_t *data = handle.data;

	if (handle.length < RR_HANDLE_FIXED)
		return (struct rr_tree_place){ 0 };
	return (struct rr_tree_place){ rr_get_be64(data + 2), rr_get_be64(data + 10) };
}

bool
rr_tree_is_genuine(const struct rr_tree *tree, struct rpcrdma_bytes handle)
{
	struct rr_handle_place place;
	struct rr_handle_id id;

	return rr_handle_decode(&tree->core->keys, handle, &id, &place) && resolve_root(tree, id.export);
}

/* In the number place, the field export is in the upper half and the field device in the lower half, which is
 * 0 for the file system of the export's root (struct rr_handle_id). */
bool
rr_tree_in_memory(const struct rr_tree *tree, uint64_t place)
{
	const struct rr_tree_core *core = tree->core;

	for (uint32_t i = 0; i < core->config.export_count; i++)
		if (core->roots[i].memory && place == (uint64_t)core->roots[i].id << 32)
			return true;
	return false;
}

enum rr_vfs_status
rr_object_stat(struct rr_object *object)
{
	unsigned mask = STATX_BASIC_STATS | STATX_BTIME;

	return rr_vfs_errno(
		statx(object->fd, "", AT_EMPTY_PATH | AT_STATX_SYNC_AS_STAT, mask, &object->st) == 0 ? 0
												     : errno);
}

void
rr_object_again(struct rr_tree *tree, const struct rr_object *object, struct rr_object *again)
{
	*again = *object;
	rr_tree_enter(tree);
	rr_nodes_hold(&tree->core->nodes, again->node);
	rr_tree_leave(tree);
}

void
rr_object_put(struct rr_tree *tree, struct rr_object *object)
{
	if (object->node) {
		rr_tree_enter(tree);
		rr_nodes_release(&tree->core->nodes, object->node);
		rr_tree_leave(tree);
	}
	object->node = NULL;
	object->fd = -1;
}
