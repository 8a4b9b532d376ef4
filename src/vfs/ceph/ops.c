/* SPDX-License-Identifier: BSD-3-Clause */
/* This file says which function does an operation, and has the functions of struct rr_vfs_ops and of struct
 * rr_crewed_ops. */
#include <string.h>

#include "vfs/ceph/ceph_private.h"

static enum rr_vfs_status (*const ops_runs[RR_VFS_OPERATIONS])(struct rr_ceph_job *job) = {
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

static struct rr_ceph_object *
ops_object(struct rr_crewed_job *job, int index)
{
	struct rr_ceph_job *own = (struct rr_ceph_job *)job;

	return index == 0 ? &own->object : &own->second;
}

/* Fills in an object of the job from the open by which the call names it, or from its handle. */
static enum rr_vfs_status
ops_note(struct rr_crewed_job *job, int index, const struct rr_vfs_object *given, uint64_t *key)
{
	struct rr_ceph_job *own = (struct rr_ceph_job *)job;
	struct rr_ceph_object *object = ops_object(job, index);
	struct rr_vfs_open *open = job->opens[index];

	own->ceph = ((struct rr_ceph_vfs *)job->vfs)->ceph;
	if (open)
		*object = (struct rr_ceph_object){ .number = open->number,
			.snapshot = open->snapshot,
			.export = open->export,
			.open = open };
	else if (!rr_ceph_decode(own->ceph, given->handle, object))
		return RR_VFS_BAD_HANDLE;
	object->reserved = given && given->reserved;
	*key = object->number;
	return RR_VFS_OK;
}

static enum rr_vfs_status
ops_begin(struct rr_crewed_job *job)
{
	struct rr_ceph_job *own = (struct rr_ceph_job *)job;
	const struct rr_vfs_caller *caller = job->call->caller;
	gid_t *groups = NULL;

	/* The library takes the groups as they are, and does not change them. */
	memcpy(&groups, &caller->groups, sizeof(groups));
	own->caller = own->ceph->lib.userperm_new(caller->uid, caller->gid, (int)caller->group_count, groups);
	return own->caller ? RR_VFS_OK : RR_VFS_BUSY;
}

/* Stores the inode of an object: that of its open, or else the one with the number in its handle, to which
 * the job then has a reference (object->mine). Returns RR_VFS_STALE where the object was removed. */
static enum rr_vfs_status
ops_find(struct rr_crewed_job *job, int index)
{
	struct rr_ceph_job *own = (struct rr_ceph_job *)job;
	struct rr_ceph_object *object = ops_object(job, index);
	const vinodeno_t number = { { object->number }, { object->snapshot } };
	struct ceph_statx st;
	int result;

	if (object->open) {
		object->inode = object->open->inode;
		return RR_VFS_OK;
	}
	result = own->ceph->lib.ll_lookup_vino(own->ceph->mount, number, &object->inode);
	if (result < 0) {
		object->inode = NULL;
		return rr_ceph_status(result) == RR_VFS_NOENT ? RR_VFS_STALE : rr_ceph_status(result);
	}
	object->mine = true;
	/* libcephfs also finds a removed file that it still has in memory. */
	if (rr_ceph_stat(own, object->inode, &st) == RR_VFS_OK && st.stx_nlink == 0)
		return RR_VFS_STALE;
	return RR_VFS_OK;
}

static enum rr_vfs_status
ops_run(struct rr_crewed_job *job)
{
	return ops_runs[job->operation]((struct rr_ceph_job *)job);
}

static enum rr_vfs_status
ops_store(struct rr_crewed_job *job, int index)
{
	return rr_ceph_sync((struct rr_ceph_job *)job, ops_object(job, index)->inode, false);
}

static enum rr_vfs_status
ops_attributes(struct rr_crewed_job *job, int index, struct rr_vfs_attributes *attributes)
{
	struct rr_ceph_job *own = (struct rr_ceph_job *)job;
	struct ceph_statx st;
	enum rr_vfs_status status = rr_ceph_stat(own, ops_object(job, index)->inode, &st);

	if (status == RR_VFS_OK)
		rr_ceph_attributes(own->ceph, &st, attributes);
	return status;
}

/* Gives back the inodes to which the job has references of its own, and the caller's identity. */
static void
ops_end(struct rr_crewed_job *job)
{
	struct rr_ceph_job *own = (struct rr_ceph_job *)job;

	for (int i = 0; i < 2; i++)
		if (ops_object(job, i)->mine)
			own->ceph->lib.ll_put(own->ceph->mount, ops_object(job, i)->inode);
	if (own->caller)
		own->ceph->lib.userperm_destroy(own->caller);
}

const struct rr_crewed_steps rr_ceph_steps = {
	.job_size = sizeof(struct rr_ceph_job),
	.note = ops_note,
	.begin = ops_begin,
	.end = ops_end,
	.find = ops_find,
	.run = ops_run,
	.store = ops_store,
	.attributes = ops_attributes,
	.close_file = rr_ceph_close_file,
	.free_open = rr_ceph_free_open,
};

static void
ops_destroy(struct rr_vfs *vfs)
{
	struct rr_ceph_vfs *own = (struct rr_ceph_vfs *)vfs;

	rr_crewed_stop(&own->base);
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
	.begin = rr_crewed_begin,
	.cancel = rr_crewed_cancel,
	.close = rr_crewed_close,
};
