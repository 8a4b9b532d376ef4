/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that operations make. */
#include <string.h>

#include "ulb/reply.h"
#include "vfs/nfs/v3/v3_private.h"

static void
call_answered(struct rr_call *call, int error)
{
	struct rr_v3_job *job = call->ctx;

	enum rr_vfs_status status = error ? rr_remote_unanswered(error) : rr_v3_status(job->result.status);

	/* The result of a call before this one may still be there. */
	if (error)
		memset(&job->result, 0, sizeof(job->result));
	job->then(job, job->work ? job->work->take(job, status) : status);
}

/* Begins the call, of which the program, the procedure and the most octets of the result are set. */
static enum rr_vfs_status
call_begin(struct rr_v3_job *job, struct rr_call set, void (*then)(struct rr_v3_job *job, enum rr_vfs_status))
{
	struct rr_call *call = &job->base.rpc;

	job->then = then;
	job->base.called = true;
	set.args = &job->args;
	set.result = &job->result;
	set.user = &job->base.user;
	set.done = call_answered;
	set.ctx = job;
	if (job->base.arena)
		set.arena = rpcrdma_arena(job->base.arena, RR_REMOTE_ARENA);
	*call = set;
	rr_client_call(job->base.vfs->client, call);
	return RR_VFS_PENDING;
}

enum rr_vfs_status
rr_v3_call(struct rr_v3_job *job, uint32_t procedure, void (*then)(struct rr_v3_job *job, enum rr_vfs_status))
{
	const struct rr_call *call = &job->base.rpc;

	job->work = NULL;
	return call_begin(job,
		(struct rr_call){
			.program = &rr_v3_program,
			.proc = procedure,
			.reply_max = rr_ulb_nfs3_reply_max(procedure, &job->args),
			.sink_count = call->sink_count,
			.sinks = { call->sinks[0] },
		},
		then);
}

void
rr_v3_prepare(struct rr_v3_job *job, const struct rr_v3_work *work)
{
	struct rr_call *call = &job->base.rpc;

	work->build(job);
	job->work = work;
	*call = (struct rr_call){
		.program = &rr_v3_program,
		.proc = work->procedure,
		.args = &job->args,
		.result = &job->result,
		.reply_max = rr_ulb_nfs3_reply_max(work->procedure, &job->args) + work->more,
		.often_large = rr_ulb_nfs3[work->procedure].often_large,
		.sink_count = call->sink_count,
		.sinks = { call->sinks[0] },
	};
}

enum rr_vfs_status
rr_v3_ask(struct rr_v3_job *job, const struct rr_v3_work *work,
	void (*then)(struct rr_v3_job *job, enum rr_vfs_status))
{
	rr_v3_prepare(job, work);
	return call_begin(job, job->base.rpc, then);
}

void
rr_v3_end(struct rr_v3_job *job, enum rr_vfs_status status)
{
	rr_remote_end(&job->base, status);
}

enum rr_vfs_status
rr_v3_acl_call(
	struct rr_v3_job *job, uint32_t procedure, void (*then)(struct rr_v3_job *job, enum rr_vfs_status))
{
	const uint32_t size = procedure == ACLPROC3_GETACL ? XDR_MAX_GETACL3res : XDR_MAX_SETACL3res;

	job->work = NULL;
	return call_begin(job,
		(struct rr_call){ .program = &NFS_ACL_V3_program, .proc = procedure, .reply_max = size },
		then);
}

void
rr_v3_withdraw(struct rr_remote_job *job)
{
	rr_client_cancel(job->rpc.client, &job->rpc);
}

static void
call_looked(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_known known = { .valid = false };

	if (status == RR_VFS_OK)
		known.valid =
			rr_v3_attributes(&job->result.getattr.u.resok.obj_attributes, &known.attributes);
	rr_remote_looked(&job->base, status, &known);
}

void
rr_v3_look(struct rr_remote_job *job, int index)
{
	struct rr_v3_job *own = (struct rr_v3_job *)job;

	own->args.getattr.object = rr_v3_fh(&job->objects[index]);
	rr_v3_call(own, NFSPROC3_GETATTR, call_looked);
}
