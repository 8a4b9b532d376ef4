/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation lock. vfs.h describes it, with its arguments and results. The cluster keeps
 * locks of byte ranges, so all of its clients see them. */
#include <errno.h>
#include <fcntl.h>

#include "vfs/ceph/ceph_private.h"

/* The address of the open is the owner of its locks for the cluster, so locks of two opens conflict. */
enum rr_vfs_status
rr_ceph_lock(struct rr_ceph_job *job)
{
	struct rr_vfs_lock *lock = (struct rr_vfs_lock *)job->base.call;
	struct rr_vfs_open *open = lock->open;
	const struct rr_ceph *ceph = job->ceph;
	uint64_t owner = (uintptr_t)open;
	uint32_t needed = lock->kind == RR_VFS_LOCK_READ    ? RR_VFS_SHARE_READ
			  : lock->kind == RR_VFS_LOCK_WRITE ? RR_VFS_SHARE_WRITE
							    : 0;
	struct flock range, obstacle;
	enum rr_vfs_status status = rr_vfs_lock_range(lock, &range);

	if (status != RR_VFS_OK)
		return status;
	if (!lock->test && (open->base.reservation.access & needed) != needed)
		return RR_VFS_OPEN_MODE;
	obstacle = range;
	if (!lock->test) {
		int result = ceph->lib.ll_setlk(ceph->mount, open->file, &range, owner, 0);

		if (result != -EAGAIN)
			return rr_ceph_status(result);
	}
	status = rr_ceph_status(ceph->lib.ll_getlk(ceph->mount, open->file, &obstacle, owner));
	if (status == RR_VFS_OK)
		status = rr_vfs_lock_conflict(lock, &obstacle);
	/* No lock conflicts any more: the one for which ll_setlk() failed is gone, so the caller has to try
	 * again. */
	return status == RR_VFS_OK && !lock->test ? RR_VFS_BUSY : status;
}
