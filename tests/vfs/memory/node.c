/* SPDX-License-Identifier: BSD-3-Clause */
/* This file makes and frees nodes, the objects of the storage, and keeps the clock of the storage. */
#include <assert.h>

#include "node.h"
#include "pages.h"
#include "run.h"

enum { TICKS_PER_SECOND = 1000000, TICK = 1000 /* nanoseconds */ };

struct rr_vfs_time
rr_memory_now(struct rr_memory *memory)
{
	uint64_t ticks = ++memory->ticks;

	return (struct rr_vfs_time){ (int64_t)(ticks / TICKS_PER_SECOND),
		(uint32_t)(ticks % TICKS_PER_SECOND * TICK) };
}

void
rr_memory_touch(struct rr_memory *memory, struct rr_memory_node *node, bool data)
{
	struct rr_vfs_attributes *attributes = &node->attributes;

	attributes->change_time = rr_memory_now(memory);
	attributes->change = memory->ticks;
	if (data)
		attributes->modify_time = attributes->change_time;
}

/* Returns a number for a new node: the number of the node that was freed last, unless another node has got
 * that number already; else a number that no node has had. Numbers are used again because a server has to
 * cope with that: id.birth then tells the objects apart. */
static uint64_t
node_number(struct rr_memory *memory)
{
	uint64_t number = memory->free_number;

	memory->free_number = 0;
	return number ? number : ++memory->last_number;
}

/* Fills in a new node: its attributes as make says, its times, its number, and its lists, which are empty. */
static void
node_fill(struct rr_memory *memory, struct rr_memory_node *node, const struct rr_memory_make *make)
{
	struct rr_vfs_attributes *attributes = &node->attributes;

	rr_memory_touch(memory, node, true);
	attributes->type = make->type;
	attributes->mode = make->mode;
	attributes->uid = make->uid;
	attributes->gid = make->gid;
	attributes->block_size = RR_MEMORY_PAGE;
	attributes->id = (struct rr_vfs_id){ { memory->config.seed, make->export + 1 }, node_number(memory),
		memory->ticks };
	attributes->mounted_on = attributes->id.number;
	attributes->access_time = attributes->birth_time = attributes->change_time;
	node->export = make->export;
	rr_list_init(&node->entries);
	rr_list_init(&node->opens);
	rr_list_init(&node->xattrs);
}

enum rr_vfs_status
rr_memory_node_new(struct rr_memory *memory, const struct rr_memory_make *make, struct rr_memory_node **made)
{
	enum rr_vfs_status status = rr_memory_charge(memory, make->uid, 0, 1);
	struct rr_memory_node *node;

	if (status != RR_VFS_OK)
		return status;
	node = rr_alloc(memory->env, sizeof(*node));
	if (!node) {
		rr_memory_discharge(memory, make->uid, 0, 1);
		return RR_VFS_BUSY;
	}
	node_fill(memory, node, make);
	rr_map_add(&memory->numbers, &node->by_number, node->attributes.id.number);
	rr_list_append(&memory->nodes, &node->all);
	*made = node;
	return RR_VFS_OK;
}

void
rr_memory_node_free(struct rr_memory *memory, struct rr_memory_node *node)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&node->entries)) != NULL)
		rr_free(memory->env, rr_container(link, struct rr_memory_entry, link));
	while ((link = rr_list_pop(&node->xattrs)) != NULL)
		rr_free(memory->env, rr_container(link, struct rr_memory_xattr, link));
	rr_memory_pages_free(memory, node);
	rr_list_remove(&node->all);
	rr_map_remove(&memory->numbers, &node->by_number);
	rr_memory_discharge(memory, node->attributes.uid, 0, 1);
	rr_free(memory->env, node->target);
	rr_free(memory->env, node);
}

void
rr_memory_node_drop(struct rr_memory *memory, struct rr_memory_node *node)
{
	if (node->attributes.links > 0 || node->holders > 0)
		return;
	assert(rr_list_empty(&node->entries));
	memory->free_number = node->attributes.id.number;
	rr_memory_node_free(memory, node);
}
