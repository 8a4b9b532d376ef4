/* SPDX-License-Identifier: BSD-3-Clause */
/* This file says which function does an operation, and has the functions of struct rr_vfs_ops. */
#include "vfs/ceph/ceph_private.h"

enum rr_vfs_status (*const rr_ceph_runs[RR_VFS_OPERATIONS])(struct rr_ceph_job *job) = {
	[RR_VFS_OP_GETATTR] = rr_ceph_getattr,
	[RR_VFS_OP_SETATTR] = rr_ceph_setattr,
	[RR_VFS_OP_ACCESS] = rr_ceph_access,
	[RR_VFS_OP_READLINK] = rr_ceph_readlink,
	[RR_VFS_OP_READ] = rr_ceph_read,
	[RR_VFS_OP_WRITE] = rr_ceph_write,
	[RR_VFS_OP_COMMIT] = rr_ceph_commit,
	[RR_VFS_OP_SEEK] = rr_ceph_absent,
	[RR_VFS_OP_ALLOCATE] = rr_ceph_absent,
	[RR_VFS_OP_DEALLOCATE] = rr_ceph_deallocate,
	[RR_VFS_OP_COPY] = rr_ceph_absent,
	[RR_VFS_OP_CLONE] = rr_ceph_absent,
	[RR_VFS_OP_OPEN] = rr_ceph_open,
	[RR_VFS_OP_LOCK] = rr_ceph_lock,
	[RR_VFS_OP_LEASE] = rr_ceph_absent,
	[RR_VFS_OP_LOOKUP] = rr_ceph_lookup,
	[RR_VFS_OP_CREATE] = rr_ceph_create,
	[RR_VFS_OP_LINK] = rr_ceph_link,
	[RR_VFS_OP_REMOVE] = rr_ceph_remove,
	[RR_VFS_OP_RENAME] = rr_ceph_rename,
	[RR_VFS_OP_READDIR] = rr_ceph_readdir,
	[RR_VFS_OP_GETXATTR] = rr_ceph_getxattr,
	[RR_VFS_OP_SETXATTR] = rr_ceph_setxattr,
	[RR_VFS_OP_LISTXATTR] = rr_ceph_listxattr,
	[RR_VFS_OP_REMOVEXATTR] = rr_ceph_removexattr,
	[RR_VFS_OP_STATFS] = rr_ceph_statfs,
	[RR_VFS_OP_LIMITS] = rr_ceph_limits,
};

static void
ops_destroy(struct rr_vfs *vfs)
{
	struct rr_ceph_vfs *own = (struct rr_ceph_vfs *)vfs;

	rr_crew_free(own->crew);
	rr_free(own->ceph->env, own);
}

/* Writes the handle of the root directory of the export of this number. The root lies in no snapshot
 * (RR_CEPH_HEAD). */
static void
ops_root(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle)
{
	const struct rr_ceph *ceph = ((struct rr_ceph_vfs *)vfs)->ceph;
	const struct ceph_statx st = { .stx_ino = ceph->roots[number].number };

	rr_ceph_handle(ceph, ceph->roots[number].hash, &st, RR_CEPH_HEAD, handle);
}

static uint32_t
ops_export_of(const struct rr_vfs *vfs, struct rpcrdma_bytes handle)
{
	return rr_ceph_export_of(((const struct rr_ceph_vfs *)vfs)->ceph, handle);
}

const struct rr_vfs_ops rr_ceph_ops = {
	.name = "ceph",
	.destroy = ops_destroy,
	.root = ops_root,
	.export_of = ops_export_of,
	.begin = rr_ceph_begin,
	.cancel = rr_ceph_cancel,
	.close = rr_ceph_close,
};
