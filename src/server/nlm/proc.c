/* SPDX-License-Identifier: BSD-3-Clause */
/* The procedures of NLM, of the versions 1, 3 and 4: from arguments to operations, and from these to results.
 */
#include "server/nlm/proc.h"

#include <string.h>

#include "server/nlm/back.h"
#include "server/nlm/old.h"
#include "ulb/nlm3.h"

/* An offset, or the end of a range, beyond this cannot be locked: RFC 1813, appendix II, of NLM4_FBIG: "a
 * request for a lock in a region beyond what the server supports". The storage has signed offsets. */
#define PROC_OFFSET_MAX ((uint64_t)INT64_MAX)

/* From TEST to TEST_RES, and so for the others. */
enum { PROC_TO_RES = NLMPROC4_TEST_RES - NLMPROC4_TEST, PROC_TO_MSG = NLMPROC4_TEST_MSG - NLMPROC4_TEST };

/* A call, in the memory of its request. */
struct proc_call {
	struct rr_nlm_op op;
	void *result;
	struct rpcrdma_bytes cookie;
	uint32_t proc; /* NLMPROC4_TEST to NLMPROC4_UNLOCK, also for the asynchronous forms; or as it is */
};

/* The results of version 4. */
union proc_result {
	nlm4_testres test;
	nlm4_res res;
	nlm4_shareres share;
};

/* ---- Results ---- */

static void
proc_compose(const struct proc_call *call, union proc_result *result)
{
	const struct rr_nlm_op *op = &call->op;
	const struct rr_locks_holder *holder = &op->holder;
	uint64_t length = rr_span_length(holder->span);

	memset(result, 0, sizeof(*result));
	switch (op->what) {
	case RR_NLM_TEST:
		result->test.cookie = call->cookie;
		result->test.stat.stat = op->stat;
		if (op->stat == NLM4_DENIED)
			result->test.stat.u.holder = (nlm4_holder){ holder->write, holder->svid,
				{ holder->owner, holder->owner_length }, holder->span.first,
				length == UINT64_MAX ? 0 : length };
		return;
	case RR_NLM_SHARE:
	case RR_NLM_UNSHARE: result->share = (nlm4_shareres){ call->cookie, op->stat, 0 }; return;
	default: result->res = (nlm4_res){ call->cookie, { op->stat } };
	}
}

/* Stores the result of a call of any version. */
static void
proc_store(const struct proc_call *call, const union proc_result *from)
{
	enum rr_nlm_what what = call->op.what;
	bool old = call->op.way.vers != NLM4_VERS;

	if (what == RR_NLM_TEST && old)
		rr_nlm_narrow_test(&from->test, call->result);
	else if (what == RR_NLM_TEST)
		*(nlm4_testres *)call->result = from->test;
	else if ((what == RR_NLM_SHARE || what == RR_NLM_UNSHARE) && old)
		rr_nlm_narrow_share(&from->share, call->result);
	else if (what == RR_NLM_SHARE || what == RR_NLM_UNSHARE)
		*(nlm4_shareres *)call->result = from->share;
	else if (old)
		rr_nlm_narrow(&from->res, call->result);
	else
		*(nlm4_res *)call->result = from->res;
}

/* Runs when the operation has ended. XNFS, 10, of the asynchronous procedures: the reply to the call is void,
 * and the result comes as a call of its own. */
static void
proc_ended(struct rr_nlm_op *op)
{
	const struct proc_call *call = rr_container(op, struct proc_call, op);
	union proc_result result;

	proc_compose(call, &result);
	if (op->way.message)
		rr_nlm_send_result(op->server, &op->way, call->proc + PROC_TO_RES, &result);
	else
		proc_store(call, &result);
	if (op->kept)
		rr_request_end(op->request, RPCRDMA_HANDLED);
}

/* ---- Arguments ---- */

/* Takes what the call says of a lock. Returns NLM4_GRANTED, or why there is no such lock. */
static nlm4_stats
proc_take_lock(struct rr_nlm_op *op, const nlm4_lock *lock)
{
	op->name = lock->caller_name;
	op->owner = (struct rr_nlm_owner){ .svid = lock->svid, .oh = lock->oh, .fh = lock->fh };
	if (lock->fh.length > RR_VFS_HANDLE_MAX)
		return NLM4_STALE_FH;
	/* A length of 0 reaches to the end of the file; so does one of all ones, as clients send it. */
	if (!rr_span(lock->l_offset, lock->l_len == 0 ? UINT64_MAX : lock->l_len, &op->span) ||
		op->span.first > PROC_OFFSET_MAX ||
		(op->span.last != UINT64_MAX && op->span.last > PROC_OFFSET_MAX))
		return NLM4_FBIG;
	return NLM4_GRANTED;
}

static nlm4_stats
proc_take_share(struct proc_call *call, const nlm4_shareargs *args)
{
	struct rr_nlm_op *op = &call->op;

	call->cookie = args->cookie;
	op->name = args->share.caller_name;
	op->owner = (struct rr_nlm_owner){ .share = true, .oh = args->share.oh, .fh = args->share.fh };
	op->access = args->share.access;
	op->deny = args->share.mode;
	op->reclaim = args->reclaim;
	return args->share.fh.length > RR_VFS_HANDLE_MAX ? NLM4_STALE_FH : NLM4_GRANTED;
}

static nlm4_stats
proc_take_lockargs(struct proc_call *call, const nlm4_lockargs *args)
{
	struct rr_nlm_op *op = &call->op;

	call->cookie = args->cookie;
	op->write = args->exclusive;
	op->block = args->block;
	op->reclaim = args->reclaim;
	op->state = args->state;
	/* XNFS, 10: NM_LOCK is of clients that are not monitored. */
	op->monitored = call->proc == NLMPROC4_LOCK;
	return proc_take_lock(op, &args->alock);
}

/* Takes the arguments, which are of version 4, of one of the procedures that proc_whats has. */
static nlm4_stats
proc_take(struct proc_call *call, const void *args)
{
	const nlm4_testargs *test = args;
	const nlm4_cancargs *cancel = args;
	const nlm4_unlockargs *unlock = args;

	switch (call->op.what) {
	case RR_NLM_TEST:
		call->cookie = test->cookie;
		call->op.write = test->exclusive;
		return proc_take_lock(&call->op, &test->alock);
	case RR_NLM_LOCK: return proc_take_lockargs(call, args);
	case RR_NLM_CANCEL:
		call->cookie = cancel->cookie;
		call->op.write = cancel->exclusive;
		return proc_take_lock(&call->op, &cancel->alock);
	case RR_NLM_UNLOCK: call->cookie = unlock->cookie; return proc_take_lock(&call->op, &unlock->alock);
	default: return proc_take_share(call, args);
	}
}

/* ---- Handlers ---- */

static const enum rr_nlm_what proc_whats[] = {
	[NLMPROC4_TEST] = RR_NLM_TEST,
	[NLMPROC4_LOCK] = RR_NLM_LOCK,
	[NLMPROC4_CANCEL] = RR_NLM_CANCEL,
	[NLMPROC4_UNLOCK] = RR_NLM_UNLOCK,
	[NLMPROC4_SHARE] = RR_NLM_SHARE,
	[NLMPROC4_UNSHARE] = RR_NLM_UNSHARE,
	[NLMPROC4_NM_LOCK] = RR_NLM_LOCK,
};

/* Handles the procedures that are operations, in both forms. */
static enum rpcrdma_handled
proc_run(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nlm_version *version = ctx;
	struct proc_call *call = rpcrdma_request_alloc(request, sizeof(*call));
	struct rr_nlm_op *op = &call->op;
	nlm4_stats stat;

	if (call && version->vers != NLM4_VERS)
		args = rr_nlm_widen(request, args);
	if (!call || !args)
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	call->result = result;
	call->proc = request->proc;
	op->way = (struct rr_nlm_way){ .vers = version->vers,
		.message = request->proc >= NLMPROC4_TEST_MSG && request->proc <= NLMPROC4_UNLOCK_MSG,
		.source = request->source };
	if (op->way.message)
		call->proc -= PROC_TO_MSG;
	op->server = version->server;
	op->what = proc_whats[call->proc];
	op->request = request;
	op->ended = proc_ended;
	stat = proc_take(call, args);
	if (stat == NLM4_GRANTED) {
		rr_nlm_op_begin(op);
	} else {
		op->stat = stat;
		op->over = true;
		proc_ended(op);
	}
	if (op->over)
		return RPCRDMA_HANDLED;
	op->kept = true;
	return RPCRDMA_HANDLE_KEPT;
}

/* Handles NULL, and the calls with results that no operation of this server waits for. */
static enum rpcrdma_handled
proc_do_nothing(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)ctx, (void)request, (void)args, (void)result;
	return RPCRDMA_HANDLED;
}

/* Handles GRANTED, a call to those who wait: nobody does so here, and a server that calls itself learns that.
 */
static enum rpcrdma_handled
proc_granted(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nlm_version *version = ctx;
	nlm4_res denied = { { NULL, 0 }, { NLM4_DENIED } };

	(void)request;
	/* The cookie is the first member in all versions. */
	denied.cookie = *(const netobj *)args;
	if (version->vers == NLM4_VERS)
		*(nlm4_res *)result = denied;
	else
		rr_nlm_narrow(&denied, result);
	return RPCRDMA_HANDLED;
}

static enum rpcrdma_handled
proc_granted_res(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nlm_version *version = ctx;
	const nlm4_res *res = version->vers == NLM4_VERS ? args : rr_nlm_widen(request, args);

	(void)result;
	if (res)
		rr_nlm_grant_answered(version->server, &request->source, res->cookie, res->stat.stat);
	return RPCRDMA_HANDLED;
}

/* Handles FREE_ALL: all that the host has ends. The name alone proves nothing: the host is one of the address
 * that calls. */
static enum rpcrdma_handled
proc_free_all(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct rr_nlm_version *version = ctx;
	const nlm4_notify *notify = version->vers == NLM4_VERS ? args : rr_nlm_widen(request, args);
	struct rr_nlm_server *server = version->server;
	struct rr_nlm_host *host;

	(void)result;
	if (!notify)
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	host = rr_nlm_host_meant(rr_nlm_enter(server), &request->source, notify->name);
	if (host)
		rr_nlm_host_end(host);
	rr_nlm_leave(server);
	return RPCRDMA_HANDLED;
}

rpcrdma_handler *const rr_nlm_handlers[RR_NLM_PROCEDURES] = {
	[NLMPROC4_NULL] = proc_do_nothing,
	[NLMPROC4_TEST] = proc_run,
	[NLMPROC4_LOCK] = proc_run,
	[NLMPROC4_CANCEL] = proc_run,
	[NLMPROC4_UNLOCK] = proc_run,
	[NLMPROC4_GRANTED] = proc_granted,
	[NLMPROC4_TEST_MSG] = proc_run,
	[NLMPROC4_LOCK_MSG] = proc_run,
	[NLMPROC4_CANCEL_MSG] = proc_run,
	[NLMPROC4_UNLOCK_MSG] = proc_run,
	[NLMPROC4_GRANTED_MSG] = proc_do_nothing,
	[NLMPROC4_TEST_RES] = proc_do_nothing,
	[NLMPROC4_LOCK_RES] = proc_do_nothing,
	[NLMPROC4_CANCEL_RES] = proc_do_nothing,
	[NLMPROC4_UNLOCK_RES] = proc_do_nothing,
	[NLMPROC4_GRANTED_RES] = proc_granted_res,
	[NLMPROC4_SHARE] = proc_run,
	[NLMPROC4_UNSHARE] = proc_run,
	[NLMPROC4_NM_LOCK] = proc_run,
	[NLMPROC4_FREE_ALL] = proc_free_all,
};

/* A LOCK that is executed once more after its UNLOCK would leave a lock that nobody knows of. */
const bool rr_nlm_once[RR_NLM_PROCEDURES] = {
	[NLMPROC4_LOCK] = true,
	[NLMPROC4_CANCEL] = true,
	[NLMPROC4_UNLOCK] = true,
	[NLMPROC4_LOCK_MSG] = true,
	[NLMPROC4_CANCEL_MSG] = true,
	[NLMPROC4_UNLOCK_MSG] = true,
	[NLMPROC4_SHARE] = true,
	[NLMPROC4_UNSHARE] = true,
	[NLMPROC4_NM_LOCK] = true,
	[NLMPROC4_FREE_ALL] = true,
};
