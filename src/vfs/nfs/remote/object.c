/* SPDX-License-Identifier: BSD-3-Clause */
/* What vfs.h says of objects where NFS says something else, or nothing, whatever its version. */
#include "vfs/nfs/remote/remote.h"

struct rr_vfs_set
rr_remote_new_set(const struct rr_vfs_create *create)
{
	struct rr_vfs_set set = create->set;

	if (!(set.mask & RR_VFS_SET_MODE)) {
		set.mask |= RR_VFS_SET_MODE;
		set.mode = create->type == RR_VFS_DIRECTORY ? 0700 : 0600;
	}
	return set;
}

enum rr_vfs_status
rr_remote_found(struct rr_remote_job *job, struct rpcrdma_bytes given, struct rr_vfs_handle *handle)
{
	uint32_t export = job->objects[0].export;

	if (given.length == 0 || given.length > RR_REMOTE_HANDLE)
		return RR_VFS_FAULT;
	rr_remote_keep(&job->objects[1], export, given);
	return job->lean ? RR_VFS_OK : job->vfs->encode(&job->vfs->shared->handles, export, given, handle);
}

enum rr_vfs_status
rr_remote_data_status(enum rr_vfs_status status, const struct rr_vfs_known *known)
{
	if (status != RR_VFS_INVAL || !known->valid || known->attributes.type == RR_VFS_FILE)
		return status;
	return known->attributes.type == RR_VFS_DIRECTORY ? RR_VFS_ISDIR : RR_VFS_WRONG_TYPE;
}

enum rr_vfs_status
rr_remote_openable(enum rr_vfs_type type)
{
	switch (type) {
	case RR_VFS_FILE: return RR_VFS_OK;
	case RR_VFS_DIRECTORY: return RR_VFS_ISDIR;
	case RR_VFS_LINK: return RR_VFS_SYMLINK;
	default: return RR_VFS_WRONG_TYPE;
	}
}

enum rr_vfs_status
rr_remote_open_new(const struct rr_remote_job *job, size_t size)
{
	struct rr_vfs_opening *opening = rr_container(job->call, struct rr_vfs_opening, call);
	const struct rr_vfs_id *id = &opening->object_after.attributes.id;
	struct rr_remote_open *open = rr_alloc(job->vfs->env, size);
	enum rr_vfs_status status;

	if (!open)
		return RR_VFS_BUSY;
	status = rr_reserve_open(&job->vfs->shared->reserve, opening,
		(struct rr_reserve_file){ id->fsid[0] ^ id->fsid[1], id->number }, &open->reservation);
	if (status != RR_VFS_OK) {
		rr_free(job->vfs->env, open);
		return status;
	}
	open->handle = job->objects[0];
	open->user = job->user;
	opening->open = (struct rr_vfs_open *)open;
	return RR_VFS_OK;
}
