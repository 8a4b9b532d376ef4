/* SPDX-License-Identifier: BSD-3-Clause */
/* This file keeps the cache of nodes and of their descriptors (node.h). */
#include "vfs/posix/tree/node.h"

#include <fcntl.h>
#include <rpcrdma/error.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "vfs/posix/tree/tree_private.h"

/* For so long the place of a directory is not noted again in rr_nodes.seen. */
#define NODE_NOTED RR_SECOND

/* Returns the key of an object's identity in nodes->by_id. */
static uint64_t
node_id_key(const struct rr_handle_id *id)
{
	uint64_t key = id->inode ^ id->birth * UINT64_C(0x9e3779b97f4a7c15);

	return key ^ ((uint64_t)id->export << 32 | id->device) * UINT64_C(0xd6e8feb86659fd93);
}

/* Returns the key in nodes->by_name of the name with this hash in parent. */
static uint64_t
node_name_key(const struct rr_node *parent, uint64_t hash)
{
	return hash ^ (uintptr_t)parent * UINT64_C(0x9e3779b97f4a7c15);
}

static bool
node_is_root(const struct rr_node *node)
{
	return node->root->node == node;
}

int
rr_nodes_init(struct rr_nodes *nodes, const struct rr_env *env, const struct rr_handle_keys *keys,
	uint32_t open_max)
{
	int error;

	*nodes = (struct rr_nodes){ .env = env, .keys = keys, .max = RR_NODES_MAX, .open_max = open_max };
	rr_list_init(&nodes->idle);
	rr_list_init(&nodes->open);
	rr_list_init(&nodes->far);
	rr_list_init(&nodes->writing);
	error = rr_map_init(&nodes->by_id, env, RR_NODES_MAX / 2);
	return error ? error : rr_map_init(&nodes->by_name, env, RR_NODES_MAX / 2);
}

struct rr_node *
rr_nodes_find(const struct rr_nodes *nodes, const struct rr_handle_id *id)
{
	uint64_t key = node_id_key(id);

	for (struct rr_map_link *link = rr_map_find(&nodes->by_id, key); link; link = link->next) {
		struct rr_node *node = rr_container(link, struct rr_node, by_id);

		if (link->key == key && rr_handle_same(&node->id, id))
			return node;
	}
	return NULL;
}

struct rr_node *
rr_nodes_child(const struct rr_nodes *nodes, const struct rr_node *parent, const char *name)
{
	uint64_t key = node_name_key(parent, rr_handle_hash(nodes->keys, name, strlen(name)));

	for (struct rr_map_link *link = rr_map_find(&nodes->by_name, key); link; link = link->next) {
		struct rr_node *node = rr_container(link, struct rr_node, by_name);

		if (link->key == key && node->parent == parent && strcmp(node->name, name) == 0)
			return node;
	}
	return NULL;
}

/* Forgets the place of node, so that it has no name and no parent. A parent without further children goes
 * into the list of idle nodes. Does nothing where node has no place. */
static void
node_take_out(struct rr_nodes *nodes, struct rr_node *node)
{
	struct rr_node *parent = node->parent;

	if (!parent)
		return;
	rr_map_remove(&nodes->by_name, &node->by_name);
	rr_free(nodes->env, node->name);
	node->name = NULL;
	node->parent = NULL;
	node->noted = 0;
	if (--parent->children == 0)
		rr_list_append(&nodes->idle, &parent->idle);
}

/* Gives up the descriptors of node, forgets its place, and frees it. The node must have no children. */
static void
node_free(struct rr_nodes *nodes, struct rr_node *node)
{
	rr_nodes_close(nodes, node);
	node_take_out(nodes, node);
	rr_map_remove(&nodes->by_id, &node->by_id);
	rr_list_remove(&node->idle);
	nodes->count--;
	rr_free(nodes->env, node);
}

/* Frees all nodes, held or not, and closes all descriptors. Children are freed before their parents, because
 * a parent gets into the list of idle nodes when it loses its last child. */
void
rr_nodes_free(struct rr_nodes *nodes)
{
	while (nodes->count > 0 && !rr_list_empty(&nodes->idle))
		node_free(nodes, rr_container(nodes->idle.next, struct rr_node, idle));
	rr_retired_close(&nodes->near);
	rr_far_close(&nodes->far);
	rr_map_free(&nodes->by_id, nodes->env);
	rr_map_free(&nodes->by_name, nodes->env);
}

/* Notes the places of a node that is to be freed, and of the directories above it, in nodes->seen, so that
 * its object is found again without a search. Does nothing where the object is gone. Directories whose places
 * were noted within the last second are not noted again: without this, the work for one node would grow with
 * its depth. A path of more names than RR_HANDLE_DEPTH_MAX is not found there (rr_seen_path()). */
static void
nodes_leave_place(const struct rr_nodes *nodes, struct rr_node *node)
{
	uint64_t now = rr_now(nodes->env);
	uint32_t depth = 0;

	if (!nodes->seen || node->gone)
		return;
	for (; node->parent && depth < RR_HANDLE_DEPTH_MAX; node = node->parent, depth++) {
		if (depth > 0 && node->noted > 0 && now - node->noted < NODE_NOTED)
			return;
		rr_seen_note(nodes->seen, rr_seen_key(&node->id), rr_seen_key(&node->parent->id), node->name);
		node->noted = now;
	}
}

/* Frees nodes that have no children and are not held, the least recently used first, until there is room for
 * one more node. Before that, notes their places, so that their objects are found again without a search.
 * Where no further node can be freed, the cache grows beyond nodes->max. */
static void
node_make_room(struct rr_nodes *nodes)
{
	rr_list_for_each (link, &nodes->idle) {
		struct rr_node *node = rr_container(link, struct rr_node, idle);

		if (nodes->count < nodes->max)
			return;
		if (node->refs > 0)
			continue;
		nodes_leave_place(nodes, node);
		node_free(nodes, node);
	}
}

struct rr_node *
rr_nodes_add(struct rr_nodes *nodes, const struct rr_tree_root *root, const struct rr_handle_id *id)
{
	struct rr_node *node;

	node_make_room(nodes);
	node = rr_alloc(nodes->env, sizeof(*node));
	if (!node)
		return NULL;
	node->root = root;
	node->id = *id;
	node->path_fd = node->data_fd[RR_NODE_READ] = node->data_fd[RR_NODE_WRITE] = -1;
	rr_list_init(&node->open);
	rr_list_init(&node->writing);
	rr_list_init(&node->idle);
	rr_list_append(&nodes->idle, &node->idle);
	rr_map_add(&nodes->by_id, &node->by_id, node_id_key(id));
	nodes->count++;
	return node;
}

void
rr_nodes_unplace(struct rr_nodes *nodes, struct rr_node *node)
{
	node_take_out(nodes, node);
	if (node->refs == 0)
		rr_nodes_close(nodes, node);
}

/* Tells whether node is "below" itself or one of the directories above it. */
static bool
node_is_above(const struct rr_node *node, const struct rr_node *below)
{
	while (below && below != node)
		below = below->parent;
	return below;
}

int
rr_nodes_place(struct rr_nodes *nodes, struct rr_node *node, struct rr_node *parent, const char *name)
{
	struct rr_node *there = rr_nodes_child(nodes, parent, name);
	uint64_t hash = rr_handle_hash(nodes->keys, name, strlen(name));
	char *copy;

	if (there == node || node_is_root(node))
		return 0;
	if (there)
		rr_nodes_unplace(nodes, there);
	node_take_out(nodes, node);
	/* node is known as a directory above parent, and was now found in parent: other programs have moved
	 * these directories. So what is known of parent's place is outdated; keeping it would make a circle.
	 */
	if (node->children > 0 && node_is_above(node, parent))
		rr_nodes_unplace(nodes, parent);
	if (node == parent)
		return 0;
	copy = rr_strdup(nodes->env, name);
	if (!copy)
		return -RPCRDMA_ERR_NOMEM;
	node->name = copy;
	node->hint = (uint8_t)hash;
	node->parent = parent;
	rr_map_add(&nodes->by_name, &node->by_name, node_name_key(parent, hash));
	parent->children++;
	rr_list_remove(&parent->idle);
	return 0;
}

void
rr_nodes_hold(struct rr_nodes *nodes, struct rr_node *node)
{
	node->refs++;
	if (node->children == 0) {
		rr_list_remove(&node->idle);
		rr_list_append(&nodes->idle, &node->idle);
	}
	if (!rr_list_empty(&node->open)) {
		rr_list_remove(&node->open);
		rr_list_append(&nodes->open, &node->open);
	}
}

void
rr_nodes_release(struct rr_nodes *nodes, struct rr_node *node)
{
	/* The object of a node without a place may be removed: a descriptor would keep the blocks of a file.
	 */
	if (--node->refs == 0 && !node->parent)
		rr_nodes_close(nodes, node);
	if (nodes->open_count > nodes->open_max)
		rr_nodes_trim(nodes, nodes->open_max);
}

uint64_t
rr_node_place(const struct rr_node *node)
{
	return (uint64_t)node->id.export << 32 | node->id.device;
}

void
rr_retired_take(struct rr_retired *list, struct rr_retired *taken)
{
	taken->count = list->count;
	memcpy(taken->fds, list->fds, list->count * sizeof(list->fds[0]));
	list->count = 0;
}

void
rr_retired_close(struct rr_retired *taken)
{
	while (taken->count > 0)
		close(taken->fds[--taken->count]);
}

void
rr_far_close(struct rr_list *list)
{
	struct rr_list *link;

	while ((link = rr_list_pop(list))) {
		struct rr_far_fd *far = rr_container(link, struct rr_far_fd, link);

		close(far->fd);
		rr_free(far->env, far);
	}
}

/* Puts a descriptor for data of node, which lies in a file system that is not local, into nodes->far. Without
 * memory for that, the descriptor is never closed, because closing it here may hang. */
static void
nodes_retire_far(struct rr_nodes *nodes, const struct rr_node *node, int fd)
{
	struct rr_far_fd *far = rr_alloc(nodes->env, sizeof(*far));

	if (!far)
		return;
	far->env = nodes->env;
	far->fd = fd;
	far->job.place = rr_node_place(node);
	rr_list_append(&nodes->far, &far->link);
	atomic_store_explicit(&nodes->has_far, true, memory_order_relaxed);
}

/* Puts a descriptor for data of node into nodes->near or nodes->far, to be closed later. Where nodes->near is
 * full, the descriptor is closed here. */
static void
nodes_retire(struct rr_nodes *nodes, const struct rr_node *node, int fd)
{
	if (!node->root->local || node->id.device != 0)
		nodes_retire_far(nodes, node, fd);
	else if (nodes->near.count < RR_NODES_RETIRED)
		nodes->near.fds[nodes->near.count++] = fd;
	else
		close(fd);
}

void
rr_nodes_wrote(struct rr_nodes *nodes, struct rr_node *node)
{
	if (rr_list_empty(&node->writing))
		nodes->writing_count++;
	rr_list_remove(&node->writing);
	rr_list_append(&nodes->writing, &node->writing);
	node->wrote = rr_now(nodes->env);
}

/* Notes that the descriptor for writing of node is given up. */
static void
nodes_writes_no_more(struct rr_nodes *nodes, struct rr_node *node)
{
	rr_list_remove(&node->writing);
	nodes->writing_count--;
}

void
rr_nodes_set_fd(struct rr_nodes *nodes, struct rr_node *node, int *slot, int fd)
{
	bool writes = slot == &node->data_fd[RR_NODE_WRITE];

	if (*slot >= 0) {
		if (slot == &node->path_fd)
			close(*slot);
		else
			nodes_retire(nodes, node, *slot);
		nodes->open_count--;
	}
	if (writes && fd >= 0)
		rr_nodes_wrote(nodes, node);
	else if (writes && *slot >= 0)
		nodes_writes_no_more(nodes, node);
	*slot = fd;
	if (fd >= 0)
		nodes->open_count++;
	/* The order of the list is that of use, which giving a descriptor up is not. */
	if (fd >= 0 ||
		(node->path_fd < 0 && node->data_fd[RR_NODE_READ] < 0 && node->data_fd[RR_NODE_WRITE] < 0))
		rr_list_remove(&node->open);
	if (fd >= 0)
		rr_list_append(&nodes->open, &node->open);
}

/* Sets node->gone where the object of node has no name any more. The caller is about to close the descriptor
 * that shows this; without a descriptor, only a search would show that the object is gone. */
static void
nodes_note_gone(struct rr_node *node)
{
	struct statx st;

	int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC; /* no file system is asked that might hang */

	if (node->path_fd >= 0 && statx(node->path_fd, "", flags, STATX_NLINK, &st) == 0 && st.stx_nlink == 0)
		node->gone = true;
}

void
rr_nodes_close(struct rr_nodes *nodes, struct rr_node *node)
{
	nodes_note_gone(node);
	rr_nodes_set_fd(nodes, node, &node->path_fd, -1);
	for (int i = 0; i < RR_NODE_DATA; i++)
		rr_nodes_set_fd(nodes, node, &node->data_fd[i], -1);
}

bool
rr_nodes_trim(struct rr_nodes *nodes, uint32_t open_max)
{
	uint32_t before = nodes->open_count;

	rr_list_for_each (link, &nodes->open) {
		struct rr_node *node = rr_container(link, struct rr_node, open);

		if (nodes->open_count <= open_max)
			break;
		if (node->refs == 0)
			rr_nodes_close(nodes, node);
	}
	return nodes->open_count < before;
}

/* Gives up the descriptors for writing that were not used for that for RR_NODE_WRITE_IDLE. */
static void
nodes_tidy_writing(struct rr_nodes *nodes, uint64_t now)
{
	rr_list_for_each (link, &nodes->writing) {
		struct rr_node *node = rr_container(link, struct rr_node, writing);

		if (node->refs > 0)
			continue;
		if (now - node->wrote < RR_NODE_WRITE_IDLE)
			break;
		rr_nodes_set_fd(nodes, node, &node->data_fd[RR_NODE_WRITE], -1);
	}
}

void
rr_nodes_tidy(struct rr_nodes *nodes, uint64_t now)
{
	nodes_tidy_writing(nodes, now);
	rr_list_for_each (link, &nodes->open) {
		struct rr_node *node = rr_container(link, struct rr_node, open);

		if (node->refs > 0)
			continue;
		/* The list is in the order of use, so the nodes that follow were used later. */
		if (now - node->verified < RR_NODE_IDLE)
			break;
		rr_nodes_close(nodes, node);
	}
}

/* Returns the directory above node from which the place of node is counted: the root, or the first directory
 * whose place is not known; where these are far, one that has a handle. Stores in *depth how many names lead
 * from there to node. Looks at no more than RR_HANDLE_DEPTH_MAX directories. */
static const struct rr_node *
node_top(const struct rr_node *node, uint32_t *depth)
{
	const struct rr_node *top = node;

	for (*depth = 0; top->parent && *depth < RR_HANDLE_DEPTH_MAX; top = top->parent, ++*depth)
		if (*depth >= RR_TREE_NEAR && top->handle.length > 0)
			break;
	return top;
}

void
rr_nodes_where(const struct rr_nodes *nodes, const struct rr_node *node, struct rr_handle_place *place)
{
	struct rr_handle_id id;
	uint32_t depth;
	const struct rr_node *top = node_top(node, &depth);

	/* The handle of top says how deep top lay when the handle was made, and has the hints of its path;
	 * the root's handle says depth 0. */
	if (!rr_handle_decode(
		    nodes->keys, (struct rpcrdma_bytes){ top->handle.data, top->handle.length }, &id, place))
		*place = (struct rr_handle_place){ 0 };
	place->kernel.length = 0; /* the kernel handle that was decoded is top's, not node's */
	depth += place->depth;
	place->depth = (uint8_t)rr_min(depth, RR_HANDLE_DEPTH_MAX);
	for (; node != top; node = node->parent)
		if (--depth < RR_HANDLE_HINTS)
			place->hints[depth] = node->hint;
}

size_t
rr_node_path_length(const struct rr_node *node, const struct rr_node *from)
{
	size_t length = 0;

	for (; node != from; node = node->parent)
		length += strlen(node->name) + 1;
	return length > 0 ? length - 1 : 0;
}

void
rr_node_path(const struct rr_node *node, const struct rr_node *from, char *path, size_t length)
{
	char *at = path + length;

	*at = 0;
	for (; node != from; node = node->parent) {
		size_t size = strlen(node->name);

		at -= size;
		memcpy(at, node->name, size);
		if (at > path)
			*--at = '/';
	}
}
