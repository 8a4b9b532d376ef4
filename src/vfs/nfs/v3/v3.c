/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider, and the table of its operations. */
#include "vfs/nfs/v3/v3_private.h"

/* The operations that are one call each, with whose status they end. */
static const struct rr_v3_work *const v3_works[RR_VFS_OPERATIONS] = {
	[RR_VFS_OP_GETATTR] = &rr_v3_work_getattr,
	[RR_VFS_OP_ACCESS] = &rr_v3_work_access,
	[RR_VFS_OP_READLINK] = &rr_v3_work_readlink,
	[RR_VFS_OP_COMMIT] = &rr_v3_work_commit,
	[RR_VFS_OP_STATFS] = &rr_v3_work_statfs,
};

/* All others. */
static rr_v3_step *const v3_steps[RR_VFS_OPERATIONS] = {
	[RR_VFS_OP_SETATTR] = rr_v3_setattr,
	[RR_VFS_OP_READ] = rr_v3_read,
	[RR_VFS_OP_WRITE] = rr_v3_write,
	[RR_VFS_OP_OPEN] = rr_v3_open,
	[RR_VFS_OP_LOCK] = rr_v3_lock,
	[RR_VFS_OP_LOOKUP] = rr_v3_lookup,
	[RR_VFS_OP_CREATE] = rr_v3_create,
	[RR_VFS_OP_LINK] = rr_v3_link,
	[RR_VFS_OP_REMOVE] = rr_v3_remove,
	[RR_VFS_OP_RENAME] = rr_v3_rename,
	[RR_VFS_OP_READDIR] = rr_v3_readdir,
	[RR_VFS_OP_GETACL] = rr_v3_getacl,
	[RR_VFS_OP_SETACL] = rr_v3_setacl,
	[RR_VFS_OP_LIMITS] = rr_v3_limits,
};

static enum rr_vfs_status
v3_begin(struct rr_remote_job *job)
{
	const struct rr_v3_work *work = v3_works[job->operation];
	rr_v3_step *step = v3_steps[job->operation];

	if (work)
		return rr_v3_ask((struct rr_v3_job *)job, work, rr_v3_end);
	return step ? step((struct rr_v3_job *)job) : RR_VFS_NOTSUPP;
}

/* An open is nothing that the other server knows of, but for its locks. */
static enum rr_vfs_status
v3_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	(void)call;
	rr_v3_drop_open((struct rr_remote_vfs *)vfs, open);
	return RR_VFS_OK;
}

static void
v3_destroy(struct rr_vfs *vfs)
{
	rr_remote_end_all((struct rr_remote_vfs *)vfs);
	rr_v3_locks_end((struct rr_v3_vfs *)vfs);
	rr_remote_free((struct rr_remote_vfs *)vfs);
}

static const struct rr_remote_version v3_version = {
	.ops = {
		.name = "nfs3",
		.destroy = v3_destroy,
		.root = rr_remote_root,
		.export_of = rr_remote_number,
		.begin = rr_remote_begin,
		.cancel = rr_remote_cancel,
		.close = v3_close,
	},
	.job_size = sizeof(struct rr_v3_job),
	.begin = v3_begin,
	.look = rr_v3_look,
	.withdraw = rr_v3_withdraw,
	.take_opens = rr_v3_take_opens,
	.drop_opens = rr_v3_drop_opens,
};

int
rr_v3_new(struct rpcrdma_engine *engine, struct rr_remote_shared *shared, struct rr_vfs **vfs,
	struct rr_text *text)
{
	struct rr_remote_vfs *own = NULL;
	int error = rr_remote_new(engine, shared, &v3_version, sizeof(struct rr_v3_vfs), &own, text);

	if (!error)
		error = rr_v3_locks_begin((struct rr_v3_vfs *)own, engine, text);
	if (!error)
		*vfs = &own->base;
	else if (own)
		rr_remote_free(own);
	return error;
}
