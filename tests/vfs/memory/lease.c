/* SPDX-License-Identifier: BSD-3-Clause */
/* This file implements leases: an operation that opens a file for writing, or changes its data without an
 * open, waits until all leases on the file were given back. */
#include "run.h"

enum rr_vfs_status
rr_memory_recall(struct rr_memory_node *node, const struct rr_vfs_open *except)
{
	enum rr_vfs_status status = RR_VFS_OK;

	rr_list_for_each (link, &node->opens) {
		struct rr_vfs_open *open = rr_container(link, struct rr_vfs_open, link);

		if (!open->lease.vfs || open == except)
			continue;
		status = RR_VFS_PENDING;
		if (open->lease.recalled)
			continue;
		open->lease.recalled = true;
		rr_list_append(&open->lease.vfs->recalls, &open->recalls);
		rr_loop_arm(open->lease.vfs->vfs.loop, &open->lease.vfs->timer, 0);
	}
	return status;
}

void
rr_memory_recalls(struct rr_memory_vfs *vfs)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&vfs->recalls)) != NULL) {
		struct rr_vfs_open *open = rr_container(link, struct rr_vfs_open, recalls);

		open->lease.recall(open->lease.ctx);
	}
}

void
rr_memory_lease_end(struct rr_vfs_open *open)
{
	bool recalled = open->lease.recalled;

	rr_list_remove(&open->recalls);
	open->lease = (struct rr_memory_lease){ 0 };
	if (recalled)
		rr_memory_wake(open->memory);
}

/* Tells whether the file can have no lease, because one of its opens may write to it. */
static bool
lease_impossible(const struct rr_memory_node *node)
{
	rr_list_for_each (link, &node->opens)
		if (rr_container(link, struct rr_vfs_open, link)->reservation.access & RR_VFS_SHARE_WRITE)
			return true;
	return false;
}

/* Gets a lease for an open, or gives the open's lease back where lease->recall is NULL. Returns RR_VFS_INVAL
 * where the open has a lease already, and RR_VFS_BUSY where the file can have none now. */
enum rr_vfs_status
rr_memory_lease(struct rr_memory_run *run)
{
	struct rr_vfs_lease *lease = (struct rr_vfs_lease *)run->call;
	struct rr_vfs_open *open = lease->open;

	if (!lease->recall) {
		rr_memory_lease_end(open);
		return RR_VFS_OK;
	}
	if (open->lease.vfs)
		return RR_VFS_INVAL;
	if (open->closed || lease_impossible(open->node))
		return RR_VFS_BUSY;
	open->lease = (struct rr_memory_lease){ .vfs = run->vfs, .recall = lease->recall, .ctx = lease->ctx };
	return RR_VFS_OK;
}
