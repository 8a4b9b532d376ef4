/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation quota. vfs.h describes it, with its arguments and results. */
#include <errno.h>
#include <sys/quota.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vfs/posix/posix_private.h"
#include "vfs/posix/tree/tree_private.h"

static int64_t
op_quota_left(uint64_t ends)
{
	return ends ? (int64_t)ends - (int64_t)time(NULL) : 0;
}

static void
op_quota_from(const struct dqblk *block, struct rr_vfs_quota *quota)
{
	/* quotactl(2): limits are in "quota blocks" of 1 KiB, dqb_curspace is in bytes. */
	quota->octets = (struct rr_vfs_quota_of){ block->dqb_bhardlimit << 10, block->dqb_bsoftlimit << 10,
		block->dqb_curspace, op_quota_left(block->dqb_btime) };
	quota->files = (struct rr_vfs_quota_of){ block->dqb_ihardlimit, block->dqb_isoftlimit,
		block->dqb_curinodes, op_quota_left(block->dqb_itime) };
}

/* As QCMD() of the C library, which shifts a bit out of an int. */
static uint32_t
op_quota_command(bool group)
{
	return ((uint32_t)Q_GETQUOTA << SUBCMDSHIFT) | (group ? GRPQUOTA : USRQUOTA);
}

/* Asks the kernel, which tells everybody of the quota of the effective user and group of the thread; more
 * would need CAP_SYS_ADMIN, which a server of files ought not to have. So the thread asks as the user or
 * group that the question is about. Kernels before Linux 5.14 do not have the call. */
static enum rr_vfs_status
op_quota_ask(struct rr_posix_work *work, int fd, struct rr_vfs_quota *quota)
{
	struct rr_identity *identity = &work->tree->identity;
	struct dqblk block = { 0 };
	int error = 0;

	if (!rr_identity_pose(identity, quota->group, quota->id))
		error = errno;
#ifdef SYS_quotactl_fd
	else if (syscall(SYS_quotactl_fd, fd, op_quota_command(quota->group), quota->id, &block) != 0)
		error = errno;
#else
	else
		error = ENOSYS;
#endif
	rr_identity_unpose(identity);
	/* ENOSYS: the file system has none; ESRCH: none of this kind are on. */
	if (error == ENOSYS || error == ESRCH || error == ENOTBLK || error == EINVAL)
		return RR_VFS_NOTSUPP;
	op_quota_from(&block, quota);
	return error ? rr_vfs_errno(error) : RR_VFS_OK;
}

enum rr_vfs_status
rr_posix_quota(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_quota *quota = rr_container(call, struct rr_vfs_quota, call);
	struct rr_posix_subject subject;
	enum rr_vfs_status status = rr_posix_find(work, &quota->object, &subject);

	if (status != RR_VFS_OK)
		return status;
	rr_tree_as_self(work->tree);
	status = op_quota_ask(work, subject.object.fd, quota);
	rr_posix_put(work, &subject);
	return status;
}
