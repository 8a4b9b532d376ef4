/* SPDX-License-Identifier: BSD-3-Clause */
/* This file implements opens and their share reservations. */
#include "node.h"
#include "run.h"

static struct rr_reserve_file
open_file(const struct rr_memory_node *node)
{
	return (struct rr_reserve_file){ node->export, node->attributes.id.number };
}

bool
rr_memory_denied(struct rr_memory *memory, const struct rr_memory_node *node, uint32_t access)
{
	return rr_reserve_denies(&memory->reserve, open_file(node), access);
}

/* Checks whether the caller may open the operation's file with the access that the call asks for. Access that
 * the call's other open has is not checked again. Returns RR_VFS_PENDING where a lease is being recalled. */
static enum rr_vfs_status
open_may(struct rr_memory_run *run, const struct rr_vfs_opening *opening)
{
	struct rr_vfs_object object = opening->object;
	uint32_t asked = opening->access;
	enum rr_vfs_status status;

	/* Rights that the other open has are not checked again. */
	if (object.open)
		asked &= ~object.open->reservation.access;
	if (run->node->attributes.type == RR_VFS_LINK)
		return RR_VFS_SYMLINK;
	object.open = NULL;
	status = rr_memory_may_use(run, &object, run->node, asked);
	/* rr_reserve_open() compares the reservations, so a denial is no reason to refuse here. */
	return status == RR_VFS_LOCKED ? RR_VFS_OK : status;
}

/* Makes an open of the operation's file with its share reservation, and stores the open in opening->open.
 * Returns RR_VFS_BUSY if there is no memory. */
static enum rr_vfs_status
open_make(struct rr_memory_run *run, struct rr_vfs_opening *opening)
{
	struct rr_memory *memory = run->memory;
	struct rr_vfs_open *open = rr_alloc(memory->env, sizeof(*open));

	enum rr_vfs_status status;

	if (!open)
		return RR_VFS_BUSY;
	status = rr_reserve_open(&memory->reserve, opening, open_file(run->node), &open->reservation);
	if (status != RR_VFS_OK) {
		rr_free(memory->env, open);
		return status;
	}
	open->memory = memory;
	open->node = run->node;
	rr_list_init(&open->ranges);
	rr_list_init(&open->recalls);
	rr_list_append(&run->node->opens, &open->link);
	run->node->holders++;
	opening->open = open;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_open(struct rr_memory_run *run)
{
	struct rr_vfs_opening *opening = (struct rr_vfs_opening *)run->call;
	enum rr_vfs_status status = open_may(run, opening);

	/* open_may() recalls no lease where it ignores a denial, or where the other open has the access. */
	if (status == RR_VFS_OK && (opening->access & RR_VFS_SHARE_WRITE))
		status = rr_memory_recall(run->node, NULL);
	return status == RR_VFS_OK ? open_make(run, opening) : status;
}

enum rr_vfs_status
rr_memory_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	(void)vfs;
	(void)call; /* nothing here waits */
	rr_list_remove(&open->link);
	rr_memory_unlock_all(open);
	rr_memory_lease_end(open);
	open->closed = true;
	if (open->jobs == 0)
		rr_memory_open_drop(open);
	return RR_VFS_OK;
}

void
rr_memory_open_drop(struct rr_vfs_open *open)
{
	struct rr_memory *memory = open->memory;
	struct rr_memory_node *node = open->node;

	if (!open->closed)
		return;
	node->holders--;
	rr_memory_node_drop(memory, node);
	rr_free(memory->env, open);
}
