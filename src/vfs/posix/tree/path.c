/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This file opens objects by the paths that the cache knows. The work for one handle does not grow with the
 * depth of its object:
 *   - A path is followed from the nearest directory that is open and whose own path is believed, not from the
 *     export's root. A thread that must not wait follows at most RR_TREE_NEAR names; where no such directory
 *     is that near, a thread of the crew does the operation.
 *   - A thread of the crew that has further to go takes one name after the other. All directories on the way
 *     are then believed, and one in PATH_MILESTONE of them stays open, so that the next handles below them
 *     are near.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "vfs/posix/tree/tree_private.h"

/* Of the directories that a walk has opened, every one with such a number stays open. */
enum { PATH_MILESTONE = RR_TREE_NEAR / 2 };

bool
rr_tree_is_believed(const struct rr_tree *tree, const struct rr_node *node)
{
	return node == node->root->node ||
	       (node->parent && rr_now(tree->env) - node->verified < RR_TREE_BELIEVED);
}

bool
rr_tree_may_move_to(struct rr_tree *tree, const struct rr_object *directory)
{
	const struct rr_node *at = directory->node;

	for (int i = 0; i < RR_TREE_NEAR && at; i++)
		at = at->parent;
	return !at || rr_tree_may_wait(tree);
}

bool
rr_tree_is_passing(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR || error == EAGAIN;
}

/* Returns the nearest directory above node whose path is believed, and which has a descriptor where is_open
 * is true; for the root of an export, returns the root. Stores in *names how many names lead from there to
 * node. Returns NULL, with errno, where there is none: ENOENT because a place is not known, EAGAIN because
 * the tree hurries and has looked at RR_TREE_NEAR directories. */
static struct rr_node *
path_anchor(struct rr_tree *tree, struct rr_node *node, bool is_open, uint32_t *names)
{
	struct rr_node *at = node->parent ? node->parent : node;

	for (*names = at == node ? 0 : 1; at; at = at->parent, ++*names) {
		if (rr_tree_is_believed(tree, at) && (!is_open || at->path_fd >= 0))
			return at;
		if (*names == RR_TREE_NEAR && !rr_tree_may_wait(tree))
			return NULL;
	}
	errno = ENOENT;
	return NULL;
}

/* Returns the path from the directory "from" down to node, in "text" where it is short, else in memory that
 * path_text_free() frees. Returns NULL if there is no memory. */
static char *
path_text(const struct rr_tree *tree, const struct rr_node *node, const struct rr_node *from,
	char text[PATH_MAX])
{
	size_t length = rr_node_path_length(node, from);
	char *path = length < PATH_MAX ? text : rr_alloc(tree->env, length + 1);

	if (path)
		rr_node_path(node, from, path, length);
	return path;
}

static void
path_text_free(const struct rr_tree *tree, char *path, const char text[PATH_MAX])
{
	if (path != text)
		rr_free(tree->env, path);
}

/* Opens the object of node by the path from the directory "from", and gets its attributes into *st. Keeps the
 * descriptor where the node has none. From now on the path of node is believed as long as that of "from".
 * Returns 0 or an errno: ENOENT where the path leads to another object. */
static int
path_open_from(struct rr_tree *tree, struct rr_node *node, const struct rr_node *from, struct statx *st)
{
	char text[PATH_MAX], *path = path_text(tree, node, from, text);
	struct rr_handle_id id;
	int fd, error;

	if (!path)
		return ENOMEM;
	fd = rr_tree_beneath(tree, from->path_fd, path, O_PATH);
	error = fd < 0 ? errno : rr_tree_stat(tree, node->root, fd, st);
	path_text_free(tree, path, text);
	if (!error) {
		id = rr_tree_id(tree, node->root, st);
		error = rr_handle_same(&id, &node->id) ? 0 : ENOENT;
	}
	if (!error && node->path_fd < 0)
		rr_nodes_set_fd(&tree->core->nodes, node, &node->path_fd, fd);
	else if (fd >= 0)
		close(fd);
	if (!error && rr_tree_believed(tree, from) > node->verified)
		node->verified = rr_tree_believed(tree, from);
	return error;
}

/* Gives a reference to a directory that a walk has passed back. The walk is the number'th step, and has
 * opened the directory if was_open is false. */
static void
path_pass(struct rr_tree *tree, struct rr_node *node, uint32_t number, bool was_open)
{
	struct rr_nodes *nodes = &tree->core->nodes;

	if (!was_open && node->refs == 1 && number % PATH_MILESTONE != 0)
		rr_nodes_set_fd(nodes, node, &node->path_fd, -1);
	rr_nodes_release(nodes, node);
}

/* Opens the object that is called name in the directory "at", and notes its place in its node, which it
 * returns, held. Stores in *was_open whether the node had a descriptor before. Returns NULL, with errno,
 * where there is no such object, or that cannot be seen now. */
static struct rr_node *
path_step(struct rr_tree *tree, struct rr_node *at, const char *name, struct statx *st, bool *was_open)
{
	int fd = rr_tree_beneath(tree, at->path_fd, name, O_PATH);
	int error = fd < 0 ? errno : rr_tree_stat(tree, at->root, fd, st);
	struct rr_node *next = NULL;

	if (error && fd >= 0)
		close(fd);
	if (!error) {
		struct rr_handle_id id = rr_tree_id(tree, at->root, st);
		const struct rr_node *known = rr_nodes_find(&tree->core->nodes, &id);

		*was_open = known && known->path_fd >= 0;
		next = rr_tree_intern(tree, at, name, fd, st);
		error = next ? 0 : ENOMEM;
	}
	if (next)
		rr_nodes_hold(&tree->core->nodes, next);
	errno = error;
	return next;
}

/* Walks path from the directory "at", which is open, and notes the place of each object on the way in its
 * node. Writes zeros over the slashes in path. Returns the node at the end of the path, which is then held;
 * NULL, with errno, where the path leads to no object any more, or that cannot be seen now
 * (rr_tree_is_passing()). Stores in *st the attributes of the last object that was found on the way; an empty
 * path leads to "at", and leaves *st as it is. */
static struct rr_node *
path_walk(struct rr_tree *tree, struct rr_node *at, char *path, struct statx *st)
{
	bool was_open = true, next_was_open = true;
	uint32_t number = 0;
	char *rest = NULL;

	rr_nodes_hold(&tree->core->nodes, at);
	for (char *name = strtok_r(path, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
		struct rr_node *next = path_step(tree, at, name, st, &next_was_open);
		int error = errno;

		path_pass(tree, at, number++, was_open);
		if (!next) {
			errno = error;
			return NULL;
		}
		at = next;
		was_open = next_was_open;
	}
	return at;
}

/* Finds out whether path leads from the directory "from" to node, by path_walk(). Returns 0 or an errno. */
static int
path_lead(struct rr_tree *tree, struct rr_node *node, struct rr_node *from, char *path, struct statx *st)
{
	struct rr_node *end = path_walk(tree, from, path, st);

	if (!end)
		return rr_tree_is_passing(errno) ? EAGAIN : ENOENT;
	rr_nodes_release(&tree->core->nodes, end);
	return end == node ? 0 : ENOENT;
}

int
rr_tree_follow(struct rr_tree *tree, struct rr_node *node, char *path, struct statx *st)
{
	memset(st, 0, sizeof(*st));
	return path_lead(tree, node, node->root->node, path, st);
}

/* Opens a directory that has no descriptor, though its path is believed: only the names below the nearest
 * open directory are to be followed. Returns 0 or an errno. */
static int
path_open_believed(struct rr_tree *tree, struct rr_node *node, struct statx *st)
{
	uint32_t names;
	struct rr_node *from = path_anchor(tree, node, true, &names);
	int error;

	if (!from)
		return errno;
	rr_nodes_hold(&tree->core->nodes, from);
	error = path_open_from(tree, node, from, st);
	rr_nodes_release(&tree->core->nodes, from);
	return error;
}

/* Walks to node from the directory "from", which is held and whose path is believed. Returns 0 or an errno.
 */
static int
path_far(struct rr_tree *tree, struct rr_node *node, struct rr_node *from, struct statx *st)
{
	char text[PATH_MAX], *path = path_text(tree, node, from, text);
	int error = 0;

	if (!path)
		return ENOMEM;
	if (from->path_fd < 0)
		error = path_open_believed(tree, from, st);
	if (!error)
		error = path_lead(tree, node, from, path, st);
	path_text_free(tree, path, text);
	return error;
}

int
rr_tree_follow_known(struct rr_tree *tree, struct rr_node *node, struct statx *st)
{
	uint32_t names;
	struct rr_node *from = path_anchor(tree, node, true, &names);
	/* Where the path of node itself is believed, only its descriptor is missing. */
	bool is_far = from && names > RR_TREE_NEAR && !rr_tree_is_believed(tree, node);
	int error;

	if (is_far)
		from = path_anchor(tree, node, false, &names);
	if (!from)
		return errno;
	rr_nodes_hold(&tree->core->nodes, from);
	error = is_far ? path_far(tree, node, from, st) : path_open_from(tree, node, from, st);
	rr_nodes_release(&tree->core->nodes, from);
	return error;
}
