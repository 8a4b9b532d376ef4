/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuse/node.h"

#include <string.h>

#include "fuse/fuse_private.h"

enum { NODE_BUCKETS = 1 << 14 };

int
rr_fuse_nodes_init(struct rr_fuse_nodes *nodes, const struct rr_env *env)
{
	int error;

	*nodes = (struct rr_fuse_nodes){ .env = env };
	error = rr_map_init(&nodes->by_number, env, NODE_BUCKETS);
	return error ? error : rr_map_init(&nodes->by_id, env, NODE_BUCKETS);
}

static void
node_free(struct rr_fuse_node *node)
{
	struct rr_fuse_nodes *nodes = &node->fuse->nodes;

	rr_map_remove(&nodes->by_number, &node->by_number);
	rr_map_remove(&nodes->by_id, &node->by_id);
	nodes->count--;
	rr_free(nodes->env, node->silly);
	rr_free(nodes->env, node);
}

void
rr_fuse_nodes_end(struct rr_fuse_nodes *nodes)
{
	for (uint32_t i = 0; nodes->by_number.buckets && i <= nodes->by_number.mask; i++)
		while (nodes->by_number.buckets[i])
			node_free(rr_container(nodes->by_number.buckets[i], struct rr_fuse_node, by_number));
	rr_map_free(&nodes->by_number, nodes->env);
	rr_map_free(&nodes->by_id, nodes->env);
}

struct rr_fuse_node *
rr_fuse_node_find(const struct rr_fuse_nodes *nodes, uint64_t number)
{
	struct rr_map_link *link = rr_map_find(&nodes->by_number, number);

	return link ? rr_container(link, struct rr_fuse_node, by_number) : NULL;
}

static uint64_t
node_key(const struct rr_vfs_id *id)
{
	return id->number ^ id->fsid[0] * UINT64_C(0x9e3779b97f4a7c15) ^
	       id->fsid[1] * UINT64_C(0xc2b2ae3d27d4eb4f);
}

static bool
node_same(const struct rr_vfs_id *a, const struct rr_vfs_id *b)
{
	return a->number == b->number && a->fsid[0] == b->fsid[0] && a->fsid[1] == b->fsid[1] &&
	       a->birth == b->birth;
}

static bool
node_has_handle(const struct rr_fuse_node *node, const struct rr_vfs_handle *handle)
{
	return node->handle.length == handle->length &&
	       memcmp(node->handle.data, handle->data, handle->length) == 0;
}

/* One object may have several handles. But where the server tells no birth, another handle may be that of a
 * new object, which has got the number of a removed one; and what is behind of that one must not be written
 * there. */
struct rr_fuse_node *
rr_fuse_node_of(const struct rr_fuse_nodes *nodes, const struct rr_vfs_handle *handle,
	const struct rr_vfs_attributes *attributes)
{
	struct rr_map_link *link = rr_map_find(&nodes->by_id, node_key(&attributes->id));
	struct rr_fuse_node *other = NULL;

	for (; link; link = rr_map_next(link)) {
		struct rr_fuse_node *node = rr_container(link, struct rr_fuse_node, by_id);

		if (node->type != attributes->type || !node_same(&node->id, &attributes->id))
			continue;
		if (node_has_handle(node, handle))
			return node;
		if (node->id.birth != 0 || node->holders == 0)
			other = node;
	}
	return other;
}

struct rr_fuse_node *
rr_fuse_node_make(
	struct rr_fuse *fuse, const struct rr_vfs_handle *handle, const struct rr_vfs_attributes *attributes)
{
	struct rr_fuse_nodes *nodes = &fuse->nodes;
	struct rr_fuse_node *node = rr_fuse_node_of(nodes, handle, attributes);

	/* The newest handle is used, unless a call has the one before. */
	if (node) {
		if (node->holders == 0)
			node->handle = *handle;
		return node;
	}
	node = rr_alloc(nodes->env, sizeof(*node));
	if (!node)
		return NULL;
	node->fuse = fuse;
	node->number = ++nodes->last;
	node->id = attributes->id;
	node->type = attributes->type;
	node->handle = *handle;
	rr_list_init(&node->files);
	rr_list_init(&node->owners);
	rr_fuse_behind_init(&node->behind);
	rr_map_add(&nodes->by_number, &node->by_number, node->number);
	rr_map_add(&nodes->by_id, &node->by_id, node_key(&node->id));
	nodes->count++;
	return node;
}

struct rr_fuse_node *
rr_fuse_node_hold(struct rr_fuse_node *node)
{
	node->holders++;
	return node;
}

static void
node_look(struct rr_fuse_node *node)
{
	if (node->holders == 0 && node->lookups == 0 && node != node->fuse->root)
		node_free(node);
}

void
rr_fuse_node_release(struct rr_fuse_node *node)
{
	if (!node)
		return;
	node->holders--;
	node_look(node);
}

void
rr_fuse_node_forget(struct rr_fuse_node *node, uint64_t lookups)
{
	node->lookups -= lookups < node->lookups ? lookups : node->lookups;
	node_look(node);
}

struct rr_vfs_object
rr_fuse_node_object(const struct rr_fuse_node *node)
{
	return (struct rr_vfs_object){ .handle = { node->handle.data, node->handle.length } };
}
