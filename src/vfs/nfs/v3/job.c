/* SPDX-License-Identifier: BSD-3-Clause */
/* An operation under way, from its beginning to its end. */
#include <rpcrdma/error.h>
#include <string.h>

#include "base/checked.h"
#include "ulb/reply.h"
#include "vfs/nfs/v3/v3_private.h"

/* ---- Calls of the other server ---- */

/* Returns the status of an operation whose call has failed. Where the other server is not reached, the caller
 * is to try again; any other failure would come again. */
static enum rr_vfs_status
job_unanswered(int error)
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
	case RPCRDMA_ERR_PROC_UNAVAIL: return RR_VFS_NOTSUPP;
	default: return RR_VFS_IO;
	}
}

static void
job_answered(struct rr_call *call, int error)
{
	struct rr_v3_job *job = call->ctx;

	/* The result of a call before this one may still be there. */
	if (error)
		memset(&job->result, 0, sizeof(job->result));
	job->then(job, error ? job_unanswered(error) : rr_v3_status(job->result.status));
}

enum rr_vfs_status
rr_v3_call(struct rr_v3_job *job, uint32_t procedure, void (*then)(struct rr_v3_job *job, enum rr_vfs_status))
{
	struct rpcrdma_sink sink = job->rpc.sinks[0];
	uint32_t sinks = job->rpc.sink_count;

	job->then = then;
	job->rpc = (struct rr_call){
		.program = &NFS_V3_program,
		.proc = procedure,
		.args = &job->args,
		.result = &job->result,
		.reply_max = rr_ulb_nfs3_reply_max(procedure, &job->args),
		.sink_count = sinks,
		.sinks = { sink },
		.user = &job->user,
		.done = job_answered,
		.ctx = job,
	};
	if (job->arena)
		job->rpc.arena = rpcrdma_arena(job->arena, RR_V3_ARENA);
	rr_client_call(job->vfs->client, &job->rpc);
	return RR_VFS_PENDING;
}

/* ---- The beginning and the end ---- */

/* Sets the user that the other server sees. */
static void
job_set_user(struct rr_v3_job *job)
{
	const struct rr_vfs_caller *caller = job->call->caller;

	if (job->open) {
		job->user = job->open->user;
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
job_find_objects(struct rr_v3_job *job)
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
			job->objects[i] = object->open->handle;
		else
			status = rr_v3_decode(&job->vfs->shared->handles, object->handle, &job->objects[i]);
		if (status == RR_VFS_OK && job->objects[i].export != job->objects[0].export)
			status = RR_VFS_XDEV;
	}
	return status;
}

/* Notes the attributes of an object of an operation that is refused, then those of the next; ends it at last.
 */
static void
job_refused(struct rr_v3_job *job, enum rr_vfs_status status)
{
	const struct rr_vfs_row *row = &rr_vfs_rows[job->operation];
	struct rr_vfs_change *change = rr_vfs_member(job->call, row->changes[job->moved]);
	struct rr_vfs_known *known = change            ? &change->after
				     : job->moved == 0 ? rr_vfs_member(job->call, row->known)
						       : NULL;

	if (known && status == RR_VFS_OK)
		known->valid =
			rr_v3_attributes(&job->result.getattr.u.resok.obj_attributes, &known->attributes);
	if (status == RR_VFS_OK && job->moved == 0 && row->objects[1]) {
		job->moved = 1;
		job->args.getattr.object = rr_v3_fh(&job->objects[1]);
		rr_v3_call(job, NFSPROC3_GETATTR, job_refused);
		return;
	}
	rr_v3_end(job, status == RR_VFS_OK ? job->call->status : status);
}

/* Makes the first call of the operation; of one that is refused, only looks at its objects. */
static enum rr_vfs_status
job_begin(struct rr_v3_job *job)
{
	if (job->call->status == RR_VFS_OK)
		return job->vfs->steps[job->operation](job);
	job->args.getattr.object = rr_v3_fh(&job->objects[0]);
	return rr_v3_call(job, NFSPROC3_GETATTR, job_refused);
}

bool
rr_v3_is_waiting(const struct rr_v3_job *job)
{
	return !job->then && !job->cancelled;
}

void
rr_v3_go(struct rr_v3_job *job)
{
	enum rr_vfs_status status = job_begin(job);

	if (status != RR_VFS_PENDING)
		rr_v3_end(job, status);
}

/* Frees the job. Its call is over, or was withdrawn. */
static void
job_free(struct rr_v3_job *job)
{
	rr_v3_leave(job);
	rr_list_remove(&job->link);
	rr_task_cancel(&job->ending);
	rr_free(job->vfs->env, job->arena);
	rr_free(job->vfs->env, job);
}

static void
job_end_cancelled(struct rr_task *task)
{
	rr_v3_end(rr_container(task, struct rr_v3_job, ending), RR_VFS_CANCELLED);
}

enum rr_vfs_status
rr_v3_begin(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	struct rr_v3_vfs *own = (struct rr_v3_vfs *)vfs;
	struct rr_v3_job *job = rr_alloc(own->env, sizeof(*job));
	enum rr_vfs_status status;

	if (!job)
		return RR_VFS_BUSY;
	job->vfs = own;
	job->call = call;
	job->operation = operation;
	rr_task_init(&job->ending, job_end_cancelled);
	status = job_find_objects(job);
	if (status == RR_VFS_OK && !own->steps[operation])
		status = call->status != RR_VFS_OK ? call->status : RR_VFS_NOTSUPP;
	rr_list_append(&own->jobs, &job->link);
	if (status != RR_VFS_OK) {
		job_free(job);
		return status;
	}
	job_set_user(job);
	call->job = job;
	if (rr_v3_order(job, &status))
		status = job_begin(job);
	if (status != RR_VFS_PENDING)
		job_free(job);
	return status;
}

void
rr_v3_end(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs *vfs = &job->vfs->base;
	struct rr_vfs_call *call = job->call;

	job_free(job);
	rr_vfs_ended(vfs, call, status);
}

/* An operation that may have changed something goes on: nobody can say whether the other server has executed
 * it. */
void
rr_v3_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_v3_vfs *own = (struct rr_v3_vfs *)vfs;
	struct rr_v3_job *job = call->job;
	bool changes = rr_vfs_rows[job->operation].flags & (RR_VFS_CHANGES | RR_VFS_COMMITS);

	if (job->cancelled || (changes && !rr_v3_is_waiting(job)))
		return;
	if (!rr_v3_is_waiting(job))
		rr_client_cancel(own->client, &job->rpc);
	job->cancelled = true;
	rr_loop_defer(vfs->loop, &job->ending);
}

/* Operations that wait for their turn have had no effect: they are cancelled. */
void
rr_v3_end_all(struct rr_v3_vfs *vfs)
{
	rr_list_for_each (link, &vfs->jobs) {
		struct rr_v3_job *job = rr_container(link, struct rr_v3_job, link);

		if (rr_v3_is_waiting(job) || job->cancelled)
			job->cancelled = true;
		else
			rr_client_cancel(vfs->client, &job->rpc);
	}
	while (!rr_list_empty(&vfs->jobs)) {
		struct rr_v3_job *job = rr_container(vfs->jobs.next, struct rr_v3_job, link);

		rr_v3_end(job, job->cancelled ? RR_VFS_CANCELLED : RR_VFS_BUSY);
	}
}
