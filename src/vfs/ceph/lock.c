/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation lock. vfs.h describes it, with its arguments and results. The cluster keeps
 * locks of byte ranges, so all of its clients see them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/checked.h"
#include "vfs/ceph/ceph_private.h"

static short
lock_type(enum rr_vfs_lock_kind kind)
{
	return (short)(kind == RR_VFS_UNLOCK ? F_UNLCK : kind == RR_VFS_LOCK_READ ? F_RDLCK : F_WRLCK);
}

/* Translates the kind and the range of a lock into *range for libcephfs. In libcephfs the greatest offset is
 * 2^63 - 1, and the length 0 means "to the end of the file"; in lock->length, UINT64_MAX means that. Returns
 * RR_VFS_INVAL if the range is invalid. */
static enum rr_vfs_status
lock_range(const struct rr_vfs_lock *lock, struct flock *range)
{
	uint64_t last = INT64_MAX;

	if (lock->length == 0 || lock->offset > INT64_MAX)
		return RR_VFS_INVAL;
	if (lock->length != UINT64_MAX && !rr_add_u64(lock->offset, lock->length - 1, &last))
		return RR_VFS_INVAL;
	*range = (struct flock){
		.l_type = lock_type(lock->kind), .l_whence = SEEK_SET, .l_start = (off_t)lock->offset
	};
	if (last < INT64_MAX)
		range->l_len = (off_t)lock->length;
	return RR_VFS_OK;
}

/* Translates the answer of libcephfs to a test of a lock. Returns RR_VFS_OK if no lock conflicts (F_UNLCK),
 * else RR_VFS_LOCK, with the conflicting lock in lock->conflict. */
static enum rr_vfs_status
lock_conflict(struct rr_vfs_lock *lock, const struct flock *range)
{
	if (range->l_type == F_UNLCK)
		return RR_VFS_OK;
	lock->conflict.kind = range->l_type == F_RDLCK ? RR_VFS_LOCK_READ : RR_VFS_LOCK_WRITE;
	lock->conflict.offset = (uint64_t)range->l_start;
	lock->conflict.length = range->l_len ? (uint64_t)range->l_len : UINT64_MAX;
	return RR_VFS_LOCK;
}

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
	enum rr_vfs_status status = lock_range(lock, &range);

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
		status = lock_conflict(lock, &obstacle);
	/* No lock conflicts any more: the one for which ll_setlk() failed is gone, so the caller has to try
	 * again. */
	return status == RR_VFS_OK && !lock->test ? RR_VFS_BUSY : status;
}
