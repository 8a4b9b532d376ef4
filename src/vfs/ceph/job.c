/* SPDX-License-Identifier: BSD-3-Clause */
/* This file begins and ends operations, in the loop's thread. run.c executes them in between. */
#include <rpcrdma/error.h>

#include "vfs/ceph/ceph_private.h"

void *
rr_ceph_member(struct rr_vfs_call *call, uint16_t offset)
{
	return offset ? (char *)call + offset : NULL;
}

/* Fills in *object from the struct rr_vfs_object at this offset of the call's structure: from the open in it,
 * to which a reference is taken, or else from the handle in it. Does nothing where offset is 0, as the call
 * then has no such object. Returns false where the handle was not made with the server's key. */
static bool
job_note(struct rr_ceph_job *job, uint16_t offset, struct rr_ceph_object *object)
{
	const struct rr_vfs_object *given = rr_ceph_member(job->call, offset);

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

/* For the operation lock only: stores the call's open in job->object, and takes a reference to the open. The
 * call of a lock has an open and no handle, so job_note() finds nothing in it. */
static void
job_note_lock(struct rr_ceph_job *job)
{
	if (job->row->run != rr_ceph_lock)
		return;
	job->object.open = ((struct rr_vfs_lock *)job->call)->open;
	rr_ceph_open_hold(job->object.open);
}

/* Sets the keys by which the crew orders jobs (crew_queue.h): the numbers of the directories whose entries
 * the job changes, or of the file that it writes or
 * commits, or in which it sets a lock. The row has no "change" for an object that the
 * operation does not change: its key is 0, which means no key. A job without keys is not ordered. */
static void
job_order(struct rr_ceph_job *job)
{
	uint8_t flags = job->row->flags;

	if (flags & RR_CEPH_ENTRIES) {
		job->crew.order = RR_CREW_CHANGE;
		job->crew.keys[0] = job->row->change ? job->object.number : 0;
		job->crew.keys[1] = job->row->second_change ? job->second.number : 0;
	} else if (flags & (RR_CEPH_WRITES | RR_CEPH_COMMITS)) {
		job->crew.order = flags & RR_CEPH_WRITES ? RR_CREW_WRITE : RR_CREW_COMMIT;
		job->crew.keys[0] = job->object.number;
	} else if (job->row->run == rr_ceph_lock) {
		job->crew.order = RR_CREW_CHANGE;
		job->crew.keys[0] = job->object.open->number;
	}
}

static void
job_free(struct rr_ceph_job *job)
{
	if (job->object.open)
		rr_ceph_open_put(job->vfs, job->object.open, NULL);
	if (job->second.open)
		rr_ceph_open_put(job->vfs, job->second.open, NULL);
	rr_free(job->ceph->env, job->list);
	rr_free(job->ceph->env, job);
}

/* Ends a job in the loop's thread: calls the row's end() after success, sets the call's status, frees the
 * job, and calls done() of the call. done() may begin operations and, after the last operation, destroy the
 * provider: so the provider is not used after done(). */
static void
job_done(struct rr_crew_job *crew)
{
	struct rr_ceph_job *job = rr_container(crew, struct rr_ceph_job, crew);
	struct rr_ceph_vfs *vfs = job->vfs;
	struct rr_vfs_call *call = job->call;

	if (crew->cancelled)
		job->status = RR_VFS_CANCELLED;
	else if (job->row->end && job->status == RR_VFS_OK)
		job->row->end(job);
	vfs->counters.under_way--;
	vfs->counters.cancelled += job->status == RR_VFS_CANCELLED;
	call->status = job->status;
	job_free(job);
	call->done(call);
}

/* Gets the memory for the data of a read from the call's memory(), in the loop's thread, before a thread of
 * the crew begins the job. Returns RR_VFS_NO_BUFFER if there is none; RR_VFS_OK for all other operations. */
static enum rr_vfs_status
job_memory(const struct rr_ceph_job *job)
{
	struct rr_vfs_read *read = (struct rr_vfs_read *)job->call;

	if (job->row->run != rr_ceph_read || read->data || read->size == 0)
		return RR_VFS_OK;
	read->data = read->memory(read, read->size);
	return read->data ? RR_VFS_OK : RR_VFS_NO_BUFFER;
}

/* Marks all attributes in the call's output as not valid, before the operation begins: they stay so where it
 * fails before they are known. The row of the operation says where they are in the call's structure. */
static void
job_forget(struct rr_vfs_call *call, const struct rr_ceph_row *row)
{
	struct rr_vfs_known *known = rr_ceph_member(call, row->known);
	struct rr_vfs_change *changes[] = { rr_ceph_member(call, row->change),
		rr_ceph_member(call, row->second_change) };

	if (known)
		known->valid = false;
	for (int i = 0; i < 2; i++)
		if (changes[i])
			changes[i]->exact = changes[i]->after.valid = false;
}

enum rr_vfs_status
rr_ceph_begin(struct rr_vfs *vfs, const struct rr_ceph_row *row, struct rr_vfs_call *call)
{
	struct rr_ceph_vfs *own = (struct rr_ceph_vfs *)vfs;
	struct rr_ceph_job *job = rr_alloc(own->ceph->env, sizeof(*job));
	enum rr_vfs_status status = RR_VFS_OK;

	own->counters.begun++;
	job_forget(call, row);
	if (!job)
		return RR_VFS_BUSY;
	*job = (struct rr_ceph_job){ .crew = { .run = rr_ceph_run, .done = job_done },
		.vfs = own,
		.ceph = own->ceph,
		.call = call,
		.row = row };
	job_note_lock(job);
	if (!job_note(job, row->object, &job->object) || !job_note(job, row->second, &job->second))
		status = RR_VFS_BAD_HANDLE;
	else if ((row->flags & RR_CEPH_CHANGES) && rr_ceph_read_only(job))
		status = RR_VFS_ROFS;
	if (status == RR_VFS_OK)
		status = job_memory(job);
	if (status != RR_VFS_OK) {
		job_free(job);
		return status;
	}
	call->job = job;
	job_order(job);
	job->crew.owner = call->owner;
	rr_ceph_under_way(own);
	rr_crew_add(own->crew, &job->crew);
	return RR_VFS_PENDING;
}

void
rr_ceph_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_ceph_job *job = call->job;

	if (job) /* the closing of an open has none */
		rr_crew_cancel(((struct rr_ceph_vfs *)vfs)->crew, &job->crew);
}
