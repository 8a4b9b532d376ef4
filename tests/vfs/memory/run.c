/* SPDX-License-Identifier: BSD-3-Clause */
/* This file executes an operation: it finds the operation's objects and notes how the operation changed
 * them. */
#include <string.h>

#include "node.h"
#include "run.h"

/* Stores in *node the node of the object at this offset of the operation's structure; NULL where the object
 * cannot be found (the status says why), or the offset is 0 (RR_VFS_OK). */
static enum rr_vfs_status
run_find(struct rr_memory_run *run, uint16_t offset, struct rr_memory_node **node)
{
	const struct rr_vfs_object *object = rr_vfs_member(run->call, offset);

	*node = NULL;
	return object ? rr_memory_resolve(run->memory, object, node) : RR_VFS_OK;
}

/* Stores the state of an object before the operation in change->before, and marks it as valid. Where node is
 * NULL, because the object was not found, change->before is marked as not valid. change may be NULL. */
static void
run_before(struct rr_vfs_change *change, const struct rr_memory_node *node)
{
	if (!change)
		return;
	memset(change, 0, sizeof(*change));
	if (!node)
		return;
	change->exact = true;
	change->before.size = node->attributes.size;
	change->before.change = node->attributes.change;
	change->before.modify_time = node->attributes.modify_time;
	change->before.change_time = node->attributes.change_time;
}

/* Stores the attributes of node in *known; where node is NULL, they are not valid. known may be NULL. */
static void
run_known(struct rr_vfs_known *known, const struct rr_memory_node *node)
{
	if (!known)
		return;
	memset(known, 0, sizeof(*known));
	if (!node)
		return;
	known->valid = true;
	known->attributes = node->attributes;
}

/* Stores the attributes of node in change->after, and marks change->before as not valid for operations that
 * vfs.h allows no exact change (RR_VFS_INEXACT). change may be NULL. */
static void
run_after(const struct rr_vfs_row *row, struct rr_vfs_change *change, const struct rr_memory_node *node)
{
	if (!change)
		return;
	run_known(&change->after, node);
	if (row->flags & RR_VFS_INEXACT)
		change->exact = false;
}

/* Executes an operation as its row in the table of operations (vfs/door.h) describes it, and fills in the
 * attributes of its objects before and after. Where fate, a status that a test's script chose, is an error,
 * the operation ends with that status and is not executed. */
static enum rr_vfs_status
run_row(struct rr_memory_run *run, enum rr_vfs_operation operation, enum rr_vfs_status fate)
{
	const struct rr_vfs_row *row = &rr_vfs_rows[operation];
	struct rr_vfs_change *change = rr_vfs_member(run->call, row->changes[0]);
	struct rr_vfs_change *second_change = rr_vfs_member(run->call, row->changes[1]);
	enum rr_vfs_status first = run_find(run, row->objects[0], &run->node);
	enum rr_vfs_status second = run_find(run, row->objects[1], &run->second);
	enum rr_vfs_status status = fate;

	run_before(change, run->node);
	run_before(second_change, run->second);
	if (status == RR_VFS_OK)
		status = first;
	if (status == RR_VFS_OK)
		status = second;
	if (status == RR_VFS_OK)
		status = run->call->status;
	if (status == RR_VFS_OK)
		status = rr_memory_runs[operation] ? rr_memory_runs[operation](run) : RR_VFS_NOTSUPP;
	run_known(rr_vfs_member(run->call, row->known), run->node);
	run_after(row, change, run->node);
	run_after(row, second_change, run->second);
	return status;
}

enum rr_vfs_status
rr_memory_run(struct rr_memory_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	struct rr_memory_run run = { vfs->memory, vfs, call, call->caller, NULL, NULL };

	return run_row(&run, operation, RR_VFS_OK);
}

enum rr_vfs_status
rr_memory_skip(struct rr_memory_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call,
	enum rr_vfs_status status)
{
	struct rr_memory_run run = { vfs->memory, vfs, call, call->caller, NULL, NULL };

	return run_row(&run, operation, status);
}
