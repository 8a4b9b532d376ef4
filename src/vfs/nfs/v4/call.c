/* SPDX-License-Identifier: BSD-3-Clause */
/* The COMPOUNDs that operations send. */
#include "vfs/nfs/v4/provider_private.h"

static void
call_answered(struct rr_call *call, int error)
{
	struct rr_v4_job *job = call->ctx;

	if (!error && rr_v4_is_lost(job)) {
		rr_v4_open_again(job);
		return;
	}
	job->then(job, error                    ? rr_remote_unanswered(error)
		       : job->status != NFS4_OK ? rr_v4_status(job->status)
						: job->verdict);
}

enum rr_vfs_status
rr_v4_ask(struct rr_v4_job *job, const struct rr_v4_work *work,
	void (*then)(struct rr_v4_job *job, enum rr_vfs_status status))
{
	struct rr_call *call = &job->base.rpc;

	job->then = then;
	job->work = work;
	job->verdict = RR_VFS_OK;
	job->base.called = true;
	memset(&job->at, 0, sizeof(job->at));
	*call = (struct rr_call){
		.result = &job->status,
		.user = &job->base.user,
		.done = call_answered,
		.ctx = job,
	};
	if (job->base.arena)
		call->arena = rpcrdma_arena(job->base.arena, RR_REMOTE_ARENA);
	rr_v4_call(rr_v4_vfs(job)->v4, call);
	return RR_VFS_PENDING;
}

const struct rr_v4_work *
rr_v4_job_work(const struct rr_call *call)
{
	/* An open that is being closed has a call without a job. */
	return call->done == call_answered ? ((const struct rr_v4_job *)call->ctx)->work
					   : &rr_v4_closing_work;
}

void
rr_v4_withdraw(struct rr_remote_job *job)
{
	struct rr_v4_job *own = (struct rr_v4_job *)job;

	rr_v4_cancel(own->on->v4, &job->rpc);
	if (rr_v4_is_away(job))
		rr_list_remove(&own->of_guests);
}

/* ---- The objects of an operation that is refused ---- */

static void
call_look_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_put_object(slot, (int)job->base.moved);
	job->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

static int
call_look_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_known(slot, job->at.object, &job->above);
	return 0;
}

static const struct rr_v4_work call_look_work = {
	.build = call_look_build, .take = call_look_take, .result = sizeof(nfsstat4)
};

static void
call_look_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	rr_remote_looked(&job->base, status, &job->above);
}

/* job->moved is the number of the object. */
void
rr_v4_look(struct rr_remote_job *job, int index)
{
	(void)index;
	rr_v4_ask((struct rr_v4_job *)job, &call_look_work, call_look_then);
}
