/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of operations, in the loop: see ceph_private.h. */
#include <rpcrdma/error.h>

#include "vfs/ceph/ceph_private.h"

void *
rr_ceph_member(struct rr_vfs_call *call, uint16_t offset)
{
	return offset ? (char *)call + offset : NULL;
}

/* Notes what an object is: no call to the cluster yet. False: the handle is none of ours. */
static bool
job_note(struct rr_ceph_job *job, uint16_t offset, struct rr_ceph_object *object)
{
	const struct rr_vfs_object *given = rr_ceph_member(job->call, offset);

	if (!given)
		return true;
	if (!given->open)
		return rr_ceph_decode(job->ceph, given->handle, object);
	object->open = given->open;
	object->number = given->open->number;
	object->snapshot = given->open->snapshot;
	object->export = given->open->export;
	rr_ceph_open_hold(object->open);
	return true;
}

/* The open of a lock, which has no other object. */
static void
job_note_lock(struct rr_ceph_job *job)
{
	if (job->row->run != rr_ceph_lock)
		return;
	job->object.open = ((struct rr_vfs_lock *)job->call)->open;
	rr_ceph_open_hold(job->object.open);
}

static bool
job_same(uint64_t number, uint64_t other)
{
	return number != 0 && number == other;
}

static uint64_t
job_directory(const struct rr_ceph_job *job, bool second)
{
	if (!(job->row->flags & RR_CEPH_ENTRIES))
		return 0;
	if (second)
		return job->row->second_change ? job->second.number : 0;
	return job->row->change ? job->object.number : 0;
}

static bool
job_stands_before(const struct rr_ceph_job *earlier, const struct rr_ceph_job *job)
{
	if (earlier->state == RR_CEPH_ENDED)
		return false;
	if ((job->row->flags & RR_CEPH_COMMITS) && (earlier->row->flags & RR_CEPH_WRITES) &&
		job_same(earlier->object.number, job->object.number))
		return true;
	for (int i = 0; i < 2; i++)
		if (job_same(job_directory(earlier, i), job_directory(job, false)) ||
			job_same(job_directory(earlier, i), job_directory(job, true)))
			return true;
	return false;
}

static bool
job_may_begin(const struct rr_ceph_job *job)
{
	rr_list_for_each (link, &job->vfs->jobs) {
		const struct rr_ceph_job *earlier = rr_container(link, struct rr_ceph_job, link);

		if (earlier == job)
			return true;
		if (job_stands_before(earlier, job))
			return false;
	}
	return true;
}

static void
job_give(struct rr_ceph_job *job)
{
	job->state = RR_CEPH_GIVEN;
	rr_vfs_threads_give(job->vfs->threads, &job->task);
}

static void
job_give_those_that_waited(struct rr_ceph_vfs *vfs)
{
	rr_list_for_each (link, &vfs->jobs) {
		struct rr_ceph_job *job = rr_container(link, struct rr_ceph_job, link);

		if (job->state == RR_CEPH_WAITS && job_may_begin(job))
			job_give(job);
	}
}

static void
job_free(struct rr_ceph_job *job)
{
	if (job->object.open)
		rr_ceph_open_put(job->object.open);
	if (job->second.open)
		rr_ceph_open_put(job->second.open);
	rr_free(job->ceph->env, job->list);
	rr_free(job->ceph->env, job);
}

/* done() may begin operations and, after the last one, destroy the provider. */
static void
job_done(struct rr_vfs_task *task)
{
	struct rr_ceph_job *job = rr_container(task, struct rr_ceph_job, task);
	struct rr_ceph_vfs *vfs = job->vfs;
	struct rr_vfs_call *call = job->call;

	job->state = RR_CEPH_ENDED;
	if (job->row->end && job->status == RR_VFS_OK)
		job->row->end(job);
	rr_list_remove(&job->link);
	job_give_those_that_waited(vfs);
	vfs->counters.under_way--;
	vfs->counters.cancelled += job->status == RR_VFS_CANCELLED;
	call->status = job->status;
	job_free(job);
	call->done(call);
}

/* What has to be asked for before a thread is at work, as it belongs to the loop: memory for data. */
static enum rr_vfs_status
job_memory(const struct rr_ceph_job *job)
{
	struct rr_vfs_read *read = (struct rr_vfs_read *)job->call;

	if (job->row->run != rr_ceph_read || read->data || read->size == 0)
		return RR_VFS_OK;
	read->data = read->memory(read, read->size);
	return read->data ? RR_VFS_OK : RR_VFS_NO_BUFFER;
}

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
	*job = (struct rr_ceph_job){ .task = { rr_ceph_run, job_done, { NULL, NULL } },
		.vfs = own,
		.ceph = own->ceph,
		.call = call,
		.row = row };
	job_note_lock(job);
	if (!job_note(job, row->object, &job->object) || !job_note(job, row->second, &job->second))
		status = RR_VFS_BAD_HANDLE;
	else if ((row->flags & RR_CEPH_CHANGES) && vfs->read_only)
		status = RR_VFS_ROFS;
	if (status == RR_VFS_OK)
		status = job_memory(job);
	if (status != RR_VFS_OK) {
		job_free(job);
		return status;
	}
	call->job = job;
	rr_list_append(&own->jobs, &job->link);
	own->counters.later++;
	if (++own->counters.under_way > own->counters.under_way_peak)
		own->counters.under_way_peak = own->counters.under_way;
	if (job_may_begin(job))
		job_give(job);
	return RR_VFS_PENDING;
}

/* Ends in a thread, as all do, without having any effect. */
void
rr_ceph_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_ceph_vfs *own = (struct rr_ceph_vfs *)vfs;
	struct rr_ceph_job *job = call->job;

	if (job->state == RR_CEPH_WAITS) {
		job->cancelled = true;
		return;
	}
	if (job->state != RR_CEPH_GIVEN || !rr_vfs_threads_withdraw(own->threads, &job->task))
		return;
	job->cancelled = true;
	rr_vfs_threads_give(own->threads, &job->task);
}
