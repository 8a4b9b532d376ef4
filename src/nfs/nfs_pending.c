/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the common part of the public functions: an operation from its start to done(), with or
 * without waiting for it. */
#include <string.h>

#include "base/config.h"
#include "nfs/nfs_private.h"

/* Free operations whose memory is kept for the next ones, at most: `rpcrdma cp` has so many under way. */
enum { PENDINGS_KEPT = 128 };

static void pending_send(struct rr_nfs_pending *pending, uint32_t proc);
static void pending_ask(struct rr_nfs_pending *pending);
static void pending_done(struct rr_call *call, int error);

void
rr_nfs_pending_init(struct rpcrdma_nfs *nfs)
{
	rr_list_init(&nfs->pending);
	rr_cache_init(&nfs->pendings, nfs->env, sizeof(struct rr_nfs_pending), PENDINGS_KEPT);
}

/* Sends the call of an operation again, after the pause for a busy server (NFS3ERR_JUKEBOX). The server may
 * have executed the call before it was busy, so pending->reconnects stays what it was at the first time. */
static void
pending_again(struct rr_timer *timer)
{
	struct rr_nfs_pending *pending = rr_container(timer, struct rr_nfs_pending, retry.later);

	if (pending->work)
		pending_ask(pending);
	else
		pending_send(pending, pending->proc);
}

int
rr_nfs_pending_new(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **result)
{
	struct rr_nfs_pending *pending;
	int error = then ? 0 : rr_engine_may_wait(nfs->engine, "this function without then", &nfs->text);

	if (error)
		return error;
	if (then && !then->done)
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL, "then->done is missing");
	pending = rr_cache_get(&nfs->pendings);
	if (!pending)
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_NOMEM, "%s", rpcrdma_strerror(-RPCRDMA_ERR_NOMEM));
	/* The memory may be that of an earlier operation. */
	memset(pending, 0, offsetof(struct rr_nfs_pending, handles));
	pending->nfs = nfs;
	if (then)
		pending->then = *then;
	rr_nfs_retry_init(nfs, &pending->retry, pending_again);
	rr_list_append(&nfs->pending, &pending->link);
	*result = pending;
	return 0;
}

int
rr_nfs_pending_on(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **result)
{
	int error = nfs && handle ? rr_nfs_pending_new(nfs, then, result) : -RPCRDMA_ERR_INVAL;

	if (!error)
		(*result)->handles[0] = *handle;
	return error;
}

static void
pending_free(struct rr_nfs_pending *pending)
{
	rr_list_remove(&pending->link);
	rr_free(pending->nfs->env, pending->lists);
	rr_cache_put(&pending->nfs->pendings, pending);
}

int
rr_nfs_pending_drop(struct rr_nfs_pending *pending, int error)
{
	pending_free(pending);
	return error;
}

/* Ends an operation without calling its done(), and frees it. */
static void
pending_cancel(struct rr_nfs_pending *pending)
{
	if (pending->io)
		rr_nfs_io_cancel(&pending->data);
	else if (!rr_nfs_retry_cancel(pending->nfs, &pending->retry))
		rr_nfs_withdraw(pending->nfs, pending->work ? &pending->job.base.rpc : &pending->call);
	pending_free(pending);
}

void
rr_nfs_pending_end(struct rpcrdma_nfs *nfs)
{
	while (!rr_list_empty(&nfs->pending))
		pending_cancel(rr_container(nfs->pending.next, struct rr_nfs_pending, link));
	rr_cache_end(&nfs->pendings);
}

void
rpcrdma_nfs_cancel(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_then *then)
{
	struct rr_list *next;

	if (!nfs || !then || !then->done)
		return;
	for (struct rr_list *link = nfs->pending.next; link != &nfs->pending; link = next) {
		struct rr_nfs_pending *pending = rr_container(link, struct rr_nfs_pending, link);

		next = link->next;
		if (pending->then.done == then->done && pending->then.ctx == then->ctx)
			pending_cancel(pending);
	}
}

/* ---- One call ---- */

/* Sends the call of an operation, for the first time or again: the procedure proc with pending->args.
 * pending_done() is called when the call ends. */
static void
pending_send(struct rr_nfs_pending *pending, uint32_t proc)
{
	struct rpcrdma_nfs *nfs = pending->nfs;

	pending->proc = proc;
	pending->call = (struct rr_call){
		.proc = proc,
		.args = &pending->args,
		.result = &pending->result,
		.reply_max = rr_nfs_reply_max(proc, &pending->args),
		.timeout = nfs->cleaning ? RR_NFS_CLEANING_TIME : 0,
		.done = pending_done,
		.ctx = pending,
	};
	if (pending->lists)
		rr_nfs_acl_prepare(pending, &pending->call);
	rr_nfs_send(nfs, &pending->call);
}

void
rr_nfs_pending_call(struct rr_nfs_pending *pending, uint32_t proc)
{
	pending->reconnects = rr_nfs_repeats(pending->nfs);
	pending->work = NULL;
	pending_send(pending, proc);
}

/* Ends the operation with this error. If a caller waits in rr_nfs_pending_wait(), only notes the error there;
 * else frees the operation, and then calls done(), which may close the client. */
void
rr_nfs_pending_finish(struct rr_nfs_pending *pending, int error)
{
	const struct rpcrdma_nfs_then then = pending->then;

	if (!then.done) {
		pending->over = true;
		pending->error = error;
		return;
	}
	pending_free(pending);
	then.done(then.ctx, error);
}

/* Handles a status other than NFS3_OK. Returns the error with which the operation ends, or PENDING_GOES_ON if
 * another call was sent, or the same call is sent again after a pause. If the call was sent twice, the
 * operation's function repeated() decides, because the call may have succeeded the first time. */
static int
pending_refused(struct rr_nfs_pending *pending, nfsstat3 status)
{
	struct rpcrdma_nfs *nfs = pending->nfs;
	bool twice = rr_nfs_repeats(nfs) != pending->reconnects;

	if (rr_nfs_retry_later(nfs, &pending->retry, status))
		return PENDING_GOES_ON;
	rr_nfs_fail(nfs, (int)status, "%s", rr_nfs_status_text(nfs, (int)status));
	return twice && pending->repeated ? pending->repeated(pending, (int)status) : (int)status;
}

/* Returns the error with which an operation ends whose call succeeded, but not its work. */
static int
pending_verdict(struct rr_nfs_pending *pending)
{
	struct rpcrdma_nfs *nfs = pending->nfs;

	switch (pending->verdict) {
	case RR_VFS_NXIO: return rr_nfs_fail(nfs, NFS3ERR_NXIO, "%s", rr_nfs_status_text(nfs, NFS3ERR_NXIO));
	case RR_VFS_NOTSUPP:
		return rr_nfs_fail(nfs, NFS3ERR_NOTSUPP, "%s", rr_nfs_status_text(nfs, NFS3ERR_NOTSUPP));
	case RR_VFS_XATTR_SIZE:
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_LIMIT,
			"the extended attribute has %u octets, and there is room for %u",
			pending->op.xattr.length, pending->op.xattr.size);
	default: return rr_nfs_fail(nfs, -RPCRDMA_ERR_PEER, "the server's answer makes no sense");
	}
}

/* Handles the result of a call that succeeded. Returns as the operation's take() does. */
static int
pending_take(struct rr_nfs_pending *pending)
{
	if (pending->work && pending->verdict != RR_VFS_OK)
		return pending_verdict(pending);
	return pending->take ? pending->take(pending) : 0;
}

/* Handles the end of a call of an operation: its error, or the status that the server answered. The operation
 * then ends, unless another call was sent, or the same call will be sent again after a pause. */
static void
pending_end(struct rr_nfs_pending *pending, int error, nfsstat3 status)
{
	struct rpcrdma_nfs *nfs = pending->nfs;

	if (error)
		error = pending->lists ? rr_nfs_acl_error(pending, error)
				       : rr_nfs_fail(nfs, error, "%s", rr_nfs_why(nfs));
	else if (status != NFS3_OK)
		error = pending_refused(pending, status);
	else
		error = pending_take(pending);
	if (error == PENDING_GOES_ON)
		return;
	/* The last call only looked whether a refused call had succeeded before. It failed, so the refusal
	 * counts. */
	if (error && pending->status)
		error = rr_nfs_fail(nfs, pending->status, "%s", rr_nfs_status_text(nfs, pending->status));
	rr_nfs_pending_finish(pending, error);
}

static void
pending_done(struct rr_call *call, int error)
{
	struct rr_nfs_pending *pending = call->ctx;

	pending_end(pending, error, pending->result.status);
}

/* ---- Works ---- */

/* Called when the call of a work ends. */
static void
pending_answered(struct rr_call *call, int error)
{
	struct rr_nfs_pending *pending = rr_container(call, struct rr_nfs_pending, job.base.rpc);
	struct rr_v3_job *v3 = &pending->job.v3;
	const struct rr_v4_job *v4 = &pending->job.v4;

	if (pending->nfs->v4) {
		pending->verdict = v4->verdict;
		pending_end(pending, error, (nfsstat3)v4->status);
		return;
	}
	if (!error && v3->result.status == NFS3_OK)
		pending->verdict = v3->work->take(v3, RR_VFS_OK);
	pending_end(pending, error, v3->result.status);
}

/* Sends the call of pending->work, for the first time or again. */
static void
pending_ask(struct rr_nfs_pending *pending)
{
	struct rpcrdma_nfs *nfs = pending->nfs;
	struct rr_remote_job *job = &pending->job.base;

	memset(&pending->job, 0, sizeof(pending->job));
	job->call = &pending->op.call;
	job->operation = pending->work->operation;
	job->lean = true;
	for (unsigned i = 0; i < pending->work->objects; i++)
		rr_remote_keep(&job->objects[i], 0, rr_nfs_fh(&pending->handles[pending->first + i]).data);
	job->cookie = pending->cookie;
	if (nfs->v4) {
		pending->opened = rr_remote_fh(&job->objects[pending->work->objects - 1]);
		pending->job.v4.work = pending->work->v4;
		pending->job.v4.commit = pending->commit;
		job->rpc = (struct rr_call){
			.proc = RR_V4_OPERATION,
			.args = &pending->opened,
			.result = &pending->job.v4.status,
		};
	} else {
		rr_v3_prepare(&pending->job.v3, pending->work->v3);
	}
	job->rpc.timeout = nfs->cleaning ? RR_NFS_CLEANING_TIME : 0;
	job->rpc.done = pending_answered;
	job->rpc.ctx = job;
	rr_nfs_send(nfs, &job->rpc);
}

void
rr_nfs_pending_ask(struct rr_nfs_pending *pending, const struct rr_nfs_work *work)
{
	pending->reconnects = rr_nfs_repeats(pending->nfs);
	pending->work = work;
	pending_ask(pending);
}

int
rr_nfs_pending_begin(
	struct rr_nfs_pending *pending, const struct rr_nfs_work *work, const struct rpcrdma_nfs_then *then)
{
	rr_nfs_pending_ask(pending, work);
	return rr_nfs_pending_wait(pending, then);
}

/* ---- Waiting ---- */

int
rr_nfs_pending_wait(struct rr_nfs_pending *pending, const struct rpcrdma_nfs_then *then)
{
	struct rpcrdma_nfs *nfs = pending->nfs;
	int error;

	if (then)
		return 0;
	error = rr_nfs_turn_until(nfs, &pending->over);
	if (error) {
		pending_cancel(pending);
		return error;
	}
	error = pending->error;
	pending_free(pending);
	return error;
}

int
rr_nfs_pending_start(struct rr_nfs_pending *pending, uint32_t proc, const struct rpcrdma_nfs_then *then)
{
	rr_nfs_pending_call(pending, proc);
	return rr_nfs_pending_wait(pending, then);
}

/* ---- Arguments and results ---- */

int
rr_nfs_pending_name(struct rr_nfs_pending *pending, unsigned number, const char *name)
{
	struct rpcrdma_nfs *nfs = pending->nfs;
	size_t length = name ? strlen(name) : 0;

	if (length == 0)
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL, "a name is missing");
	if (memchr(name, '/', length))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL, "a name must not have a '/' in it: %.100s", name);
	if (length > RR_NFS_NAME)
		return rr_nfs_fail(
			nfs, NFS3ERR_NAMETOOLONG, "%s", rr_nfs_status_text(nfs, NFS3ERR_NAMETOOLONG));
	memcpy(pending->names[number], name, length + 1);
	return 0;
}

int
rr_nfs_pending_named(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **result)
{
	struct rr_nfs_pending *pending;
	int error = rr_nfs_pending_on(nfs, directory, then, &pending);

	if (error)
		return error;
	error = rr_nfs_pending_name(pending, 0, name);
	if (error)
		return rr_nfs_pending_drop(pending, error);
	*result = pending;
	return 0;
}

bool
rr_nfs_object_give(struct rpcrdma_nfs_object *theirs, const struct rpcrdma_nfs_object *found)
{
	return rr_config_give(theirs, found, sizeof(*found), sizeof(*found)) == 0;
}
