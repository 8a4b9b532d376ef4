/* SPDX-License-Identifier: BSD-3-Clause */
/* This file executes a job, in a thread of the crew. */
#include <string.h>

#include "vfs/ceph/ceph_private.h"

/* Stores in object->inode the inode of one of the job's objects: that of the object's open, or else the one
 * with the number in its handle, to which the job then has a reference (object->mine). offset says where the
 * call's structure names the object; 0: the call has no such object, and nothing is done. Returns
 * RR_VFS_STALE where the object was removed. */
static enum rr_vfs_status
run_find(struct rr_ceph_job *job, uint16_t offset, struct rr_ceph_object *object)
{
	const vinodeno_t number = { { object->number }, { object->snapshot } };
	struct ceph_statx st;
	int result;

	if (!offset)
		return RR_VFS_OK;
	if (object->open) {
		object->inode = object->open->inode;
		return RR_VFS_OK;
	}
	result = job->ceph->lib.ll_lookup_vino(job->ceph->mount, number, &object->inode);
	if (result < 0) {
		object->inode = NULL;
		return rr_ceph_status(result) == RR_VFS_NOENT ? RR_VFS_STALE : rr_ceph_status(result);
	}
	object->mine = true;
	/* libcephfs also finds a removed file that it still has in memory. */
	if (rr_ceph_stat(job, object->inode, &st) == RR_VFS_OK && st.stx_nlink == 0)
		return RR_VFS_STALE;
	return RR_VFS_OK;
}

/* Stores the present attributes of the object in *known, and marks them as valid. Does nothing where known is
 * NULL, the object was not found, or its attributes cannot be got. */
static void
run_known(struct rr_ceph_job *job, struct rr_vfs_known *known, const struct rr_ceph_object *object)
{
	struct ceph_statx st;

	if (!known || !object->inode || rr_ceph_stat(job, object->inode, &st) != RR_VFS_OK)
		return;
	known->valid = true;
	rr_ceph_attributes(job->ceph, &st, &known->attributes);
}

/* Fills in those members of the call's output that contain the attributes of the job's objects after the
 * operation. */
static void
run_after(struct rr_ceph_job *job)
{
	struct rr_vfs_change *change = rr_vfs_member(job->call, job->row->changes[0]);
	struct rr_vfs_change *second = rr_vfs_member(job->call, job->row->changes[1]);

	run_known(job, rr_vfs_member(job->call, job->row->known), &job->object);
	run_known(job, change ? &change->after : NULL, &job->object);
	run_known(job, second ? &second->after : NULL, &job->second);
}

/* Brings the directories in which the operation made or removed an entry to stable storage, and the entry
 * with them. Does nothing for operations that change no entries. */
static enum rr_vfs_status
run_store(struct rr_ceph_job *job)
{
	enum rr_vfs_status status = RR_VFS_OK;

	if (!(job->row->flags & RR_VFS_ENTRIES))
		return RR_VFS_OK;
	if (job->row->changes[0])
		status = rr_ceph_sync(job, job->object.inode, false);
	if (status == RR_VFS_OK && job->row->changes[1] && job->second.number != job->object.number)
		status = rr_ceph_sync(job, job->second.inode, false);
	return status;
}

/* Executes a job as its row describes it: finds its objects, calls the function of the operation, and stores
 * changed directories. Fills in the attributes after the operation in any case. */
static enum rr_vfs_status
run_row(struct rr_ceph_job *job)
{
	enum rr_vfs_status status = run_find(job, job->row->objects[0], &job->object);

	if (status == RR_VFS_OK)
		status = run_find(job, job->row->objects[1], &job->second);
	if (status == RR_VFS_OK)
		status = job->call->status;
	if (status == RR_VFS_OK)
		status = rr_ceph_runs[job->operation](job);
	if (status == RR_VFS_OK)
		status = run_store(job);
	run_after(job);
	return status;
}

/* Gives the inode back where the job has a reference of its own to it. The inode of an open is the open's. */
static void
run_put(struct rr_ceph_job *job, struct rr_ceph_object *object)
{
	if (object->mine)
		job->ceph->lib.ll_put(job->ceph->mount, object->inode);
}

bool
rr_ceph_run(struct rr_crew_job *crew, void *member)
{
	struct rr_ceph_job *job = rr_container(crew, struct rr_ceph_job, crew);
	const struct rr_vfs_caller *caller = job->call->caller;
	const struct rr_ceph_library *lib = &job->ceph->lib;
	gid_t *groups = NULL;

	(void)member;
	/* The library takes the groups as they are, and does not change them. */
	memcpy(&groups, &caller->groups, sizeof(groups));
	job->caller = lib->userperm_new(caller->uid, caller->gid, (int)caller->group_count, groups);
	job->status = job->caller ? run_row(job) : RR_VFS_BUSY;
	run_put(job, &job->object);
	run_put(job, &job->second);
	if (job->caller)
		lib->userperm_destroy(job->caller);
	return true;
}
