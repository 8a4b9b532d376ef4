/* SPDX-License-Identifier: BSD-3-Clause */
/* An operation under way, from its beginning to its end. */
#include <rpcrdma/error.h>
#include <string.h>

#include "base/checked.h"
#include "vfs/nfs/remote/remote.h"

/* Where the other server is not reached, the caller is to try again; any other failure would come again. */
enum rr_vfs_status
rr_remote_unanswered(int error)
{
	switch (-error) {
	case RPCRDMA_ERR_NOMEM:
	case RPCRDMA_ERR_SYSTEM:
	case RPCRDMA_ERR_ADDRESS:
	case RPCRDMA_ERR_REFUSED:
	case RPCRDMA_ERR_UNREACHABLE:
	case RPCRDMA_ERR_REJECTED:
	case RPCRDMA_ERR_TIMEDOUT:
	case RPCRDMA_ERR_DISCONNECTED: return RR_VFS_BUSY;
	case RPCRDMA_ERR_RPC_DENIED: return RR_VFS_ACCESS;
	case RPCRDMA_ERR_PROG_UNAVAIL:
	case RPCRDMA_ERR_PROC_UNAVAIL: return RR_VFS_NOTSUPP;
	default: return RR_VFS_IO;
	}
}

/* ---- The beginning and the end ---- */

/* Sets the user that the other server sees. */
static void
job_set_user(struct rr_remote_job *job)
{
	const struct rr_vfs_caller *caller = job->call->caller;

	if (job->open) {
		job->user = ((const struct rr_remote_open *)job->open)->user;
		return;
	}
	job->user = job->vfs->shared->config.rpc.user;
	job->user.uid = caller->uid;
	job->user.gid = caller->gid;
	job->user.gid_count = (uint32_t)rr_min(caller->group_count, RPCRDMA_AUTH_SYS_GIDS);
	if (job->user.gid_count > 0)
		memcpy(job->user.gids, caller->groups, job->user.gid_count * sizeof(*caller->groups));
}

/* Finds the objects that the call names. Both must be of one export. */
static enum rr_vfs_status
job_find_objects(struct rr_remote_job *job)
{
	const struct rr_vfs_row *row = &rr_vfs_rows[job->operation];
	enum rr_vfs_status status = RR_VFS_OK;

	for (int i = 0; i < 2 && status == RR_VFS_OK; i++) {
		const struct rr_vfs_object *object = rr_vfs_member(job->call, row->objects[i]);

		if (!object)
			break;
		if (i == 0)
			job->open = object->open;
		if (object->open)
			job->objects[i] = ((const struct rr_remote_open *)object->open)->handle;
		else
			status = rr_remote_decode(
				&job->vfs->shared->handles, object->handle, &job->objects[i]);
		if (status == RR_VFS_OK && job->objects[i].export != job->objects[0].export)
			status = RR_VFS_XDEV;
	}
	return status;
}

void
rr_remote_looked(struct rr_remote_job *job, enum rr_vfs_status status, const struct rr_vfs_known *looked)
{
	const struct rr_vfs_row *row = &rr_vfs_rows[job->operation];
	struct rr_vfs_change *change = rr_vfs_member(job->call, row->changes[job->moved]);
	struct rr_vfs_known *known = change            ? &change->after
				     : job->moved == 0 ? rr_vfs_member(job->call, row->known)
						       : NULL;

	if (known && status == RR_VFS_OK)
		*known = *looked;
	if (status == RR_VFS_OK && job->moved == 0 && row->objects[1]) {
		job->moved = 1;
		job->vfs->version->look(job, 1);
		return;
	}
	rr_remote_end(job, status == RR_VFS_OK ? job->call->status : status);
}

/* Makes the first call of the operation; of one that is refused, only looks at its objects. */
static enum rr_vfs_status
job_begin(struct rr_remote_job *job)
{
	if (job->call->status == RR_VFS_OK || !rr_vfs_rows[job->operation].objects[0])
		return job->call->status == RR_VFS_OK ? job->vfs->version->begin(job) : job->call->status;
	job->vfs->version->look(job, 0);
	return RR_VFS_PENDING;
}

bool
rr_remote_is_waiting(const struct rr_remote_job *job)
{
	return !job->called && !job->cancelled;
}

void
rr_remote_go(struct rr_remote_job *job)
{
	enum rr_vfs_status status = job_begin(job);

	if (status != RR_VFS_PENDING)
		rr_remote_end(job, status);
}

/* Frees the job. Its call is over, or was withdrawn. */
static void
job_free(struct rr_remote_job *job)
{
	rr_remote_leave(job);
	rr_list_remove(&job->link);
	rr_task_cancel(&job->ending);
	if (job->vfs->version->drop_opens)
		job->vfs->version->drop_opens(job);
	rr_free(job->vfs->env, job->arena);
	rr_free(job->vfs->env, job);
}

static void
job_end_cancelled(struct rr_task *task)
{
	rr_remote_end(rr_container(task, struct rr_remote_job, ending), RR_VFS_CANCELLED);
}

enum rr_vfs_status
rr_remote_begin(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	struct rr_remote_vfs *own = (struct rr_remote_vfs *)vfs;
	struct rr_remote_job *job = rr_alloc(own->env, own->version->job_size);
	enum rr_vfs_status status;

	if (!job)
		return RR_VFS_BUSY;
	job->vfs = own;
	job->call = call;
	job->operation = operation;
	rr_task_init(&job->ending, job_end_cancelled);
	if (own->version->take_opens)
		own->version->take_opens(job);
	status = job_find_objects(job);
	rr_list_append(&own->jobs, &job->link);
	if (status != RR_VFS_OK) {
		job_free(job);
		return status;
	}
	job_set_user(job);
	call->job = job;
	if (rr_remote_order(job, &status))
		status = job_begin(job);
	if (status != RR_VFS_PENDING)
		job_free(job);
	return status;
}

void
rr_remote_end(struct rr_remote_job *job, enum rr_vfs_status status)
{
	struct rr_vfs *vfs = &job->vfs->base;
	struct rr_vfs_call *call = job->call;

	job_free(job);
	rr_vfs_ended(vfs, call, status);
}

/* An operation that may have changed something goes on: nobody can say whether the other server has executed
 * it. */
void
rr_remote_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_remote_vfs *own = (struct rr_remote_vfs *)vfs;
	struct rr_remote_job *job = call->job;
	bool changes = rr_vfs_rows[job->operation].flags & (RR_VFS_CHANGES | RR_VFS_COMMITS);

	if (job->cancelled || (changes && !rr_remote_is_waiting(job)) ||
		(own->version->is_away && own->version->is_away(job)))
		return;
	if (!rr_remote_is_waiting(job))
		own->version->withdraw(job);
	job->cancelled = true;
	rr_loop_defer(vfs->loop, &job->ending);
}

/* Operations that wait for their turn have had no effect: they are cancelled. */
void
rr_remote_end_all(struct rr_remote_vfs *vfs)
{
	rr_list_for_each (link, &vfs->jobs) {
		struct rr_remote_job *job = rr_container(link, struct rr_remote_job, link);

		if (rr_remote_is_waiting(job) || job->cancelled)
			job->cancelled = true;
		else
			vfs->version->withdraw(job);
	}
	while (!rr_list_empty(&vfs->jobs)) {
		struct rr_remote_job *job = rr_container(vfs->jobs.next, struct rr_remote_job, link);

		rr_remote_end(job, job->cancelled ? RR_VFS_CANCELLED : RR_VFS_BUSY);
	}
}
