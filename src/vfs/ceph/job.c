/* SPDX-License-Identifier: BSD-3-Clause */
/* This file begins and ends operations, in the loop's thread. run.c executes them in between. */
#include <rpcrdma/error.h>

#include "vfs/ceph/ceph_private.h"

/* Fills in *object from the struct rr_vfs_object at this offset of the call's structure: from the open in it,
 * to which a reference is taken, or else from the handle in it. Does nothing where offset is 0, as the call
 * then has no such object. Returns false where the handle was not made with the server's key. */
static bool
job_note(struct rr_ceph_job *job, uint16_t offset, struct rr_ceph_object *object)
{
	const struct rr_vfs_object *given = rr_vfs_member(job->call, offset);

	if (!given)
		return true;
	object->reserved = given->reserved;
	if (!given->open)
		return rr_ceph_decode(job->ceph, given->handle, object);
	object->open = given->open;
	object->number = given->open->number;
	object->snapshot = given->open->snapshot;
	object->export = given->open->export;
	rr_ceph_open_hold(object->open);
	return true;
}

/* Stores the open of a call that names an open and no object in job->object, and takes a reference to it. */
static void
job_note_open(struct rr_ceph_job *job)
{
	struct rr_vfs_open **open = rr_vfs_member(job->call, job->row->open);

	if (!open)
		return;
	job->object.open = *open;
	job->object.number = (*open)->number;
	rr_ceph_open_hold(*open);
}

/* Sets the keys by which the crew orders jobs (crew_queue.h): the numbers of the directories whose entries
 * the job changes, or of the file that it writes or commits, or in which it sets a lock. A job without keys
 * is not ordered. */
static void
job_order(struct rr_ceph_job *job)
{
	const struct rr_vfs_row *row = job->row;
	bool ordered = row->flags & (RR_VFS_ENTRIES | RR_VFS_WRITES | RR_VFS_COMMITS);

	job->crew.keys[0] = row->open || (ordered && row->changes[0]) ? job->object.number : 0;
	job->crew.keys[1] = ordered && row->changes[1] ? job->second.number : 0;
	job->crew.order = row->flags & RR_VFS_COMMITS  ? RR_CREW_COMMIT
			  : row->flags & RR_VFS_WRITES ? RR_CREW_WRITE
						       : RR_CREW_CHANGE;
}

/* Gives back one reference to an open. What this begins goes on without a call. */
static void
job_release(struct rr_ceph_vfs *vfs, struct rr_vfs_open *open)
{
	if (open && rr_ceph_open_put(vfs, open, NULL) == RR_VFS_PENDING)
		rr_vfs_goes_on(&vfs->vfs);
}

static void
job_free(struct rr_ceph_job *job)
{
	job_release(job->vfs, job->object.open);
	job_release(job->vfs, job->second.open);
	rr_free(job->ceph->env, job->list);
	rr_free(job->ceph->env, job);
}

/* Ends a job in the loop's thread: passes the entries of a readdir to the caller, frees the job, and ends
 * the operation. done() of the call may begin operations and, after the last operation, destroy the
 * provider: so the provider is not used after done(). */
static void
job_done(struct rr_crew_job *crew)
{
	struct rr_ceph_job *job = rr_container(crew, struct rr_ceph_job, crew);
	struct rr_ceph_vfs *vfs = job->vfs;
	struct rr_vfs_call *call = job->call;
	enum rr_vfs_status status = crew->cancelled ? RR_VFS_CANCELLED : job->status;

	if (job->row->flags & RR_VFS_LISTS && status == RR_VFS_OK)
		rr_ceph_readdir_end(job);
	job_free(job);
	rr_vfs_ended(&vfs->vfs, call, status);
}

/* Gets the memory for the data of a read from the call's memory(), in the loop's thread, before a thread of
 * the crew begins the job. Returns RR_VFS_NO_BUFFER if there is none; RR_VFS_OK for all other operations. */
static enum rr_vfs_status
job_memory(const struct rr_ceph_job *job)
{
	struct rr_vfs_read *read = (struct rr_vfs_read *)job->call;

	if (!(job->row->flags & RR_VFS_FETCHES) || read->data || read->size == 0)
		return RR_VFS_OK;
	read->data = read->memory(read, read->size);
	return read->data ? RR_VFS_OK : RR_VFS_NO_BUFFER;
}

enum rr_vfs_status
rr_ceph_begin(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	struct rr_ceph_vfs *own = (struct rr_ceph_vfs *)vfs;
	struct rr_ceph_job *job = rr_alloc(own->ceph->env, sizeof(*job));
	const struct rr_vfs_row *row = &rr_vfs_rows[operation];
	enum rr_vfs_status status;

	if (!job)
		return RR_VFS_BUSY;
	*job = (struct rr_ceph_job){ .crew = { .run = rr_ceph_run, .done = job_done },
		.vfs = own,
		.ceph = own->ceph,
		.call = call,
		.operation = operation,
		.row = row };
	job_note_open(job);
	if (!job_note(job, row->objects[0], &job->object) || !job_note(job, row->objects[1], &job->second))
		status = RR_VFS_BAD_HANDLE;
	else
		status = job_memory(job);
	if (status != RR_VFS_OK) {
		job_free(job);
		return status;
	}
	call->job = job;
	job_order(job);
	job->crew.owner = call->owner;
	rr_crew_add(own->crew, &job->crew);
	return RR_VFS_PENDING;
}

void
rr_ceph_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_ceph_job *job = call->job;

	rr_crew_cancel(((struct rr_ceph_vfs *)vfs)->crew, &job->crew);
}
