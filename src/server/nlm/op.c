/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the steps that all operations share: the storage, retries, and the end. */
#include <string.h>

#include "server/nlm/server_private.h"

/* An operation that has to wait for another, which is short, tries again after OP_PAUSE; it is given up after
 * OP_TRIES. */
#define OP_PAUSE (5 * RR_MILLISECOND)
enum { OP_TRIES = 2000 };

void
rr_nlm_op_end(struct rr_nlm_op *op, nlm4_stats stat)
{
	struct rr_nlm_server *server = op->server;

	op->stat = stat;
	op->over = true;
	rr_list_remove(&op->link);
	rr_loop_disarm(server->loop, &op->timer);
	rr_nlm_enter(server);
	if (op->claim)
		rr_nlm_claim_leave(op->claim);
	if (op->host)
		op->host->users--;
	rr_nlm_leave(server);
	op->ended(op);
}

static void
op_expired(struct rr_timer *timer)
{
	struct rr_nlm_op *op = rr_container(timer, struct rr_nlm_op, timer);

	op->again(op);
}

void
rr_nlm_op_retry(struct rr_nlm_op *op, void (*again)(struct rr_nlm_op *op))
{
	if (op->server->ends || ++op->tries > OP_TRIES) {
		rr_nlm_op_end(op, NLM4_DENIED_NOLOCKS);
		return;
	}
	op->again = again;
	rr_loop_arm(op->server->loop, &op->timer, OP_PAUSE);
}

static void
op_done(struct rr_vfs_call *call)
{
	struct rr_nlm_op *op = rr_container(call, struct rr_nlm_op, vfs.call);

	op->step(op, call->status);
}

void
rr_nlm_op_clear(struct rr_nlm_op *op)
{
	const struct rpcrdma_request *request = op->request;

	memset(&op->vfs, 0, sizeof(op->vfs));
	op->vfs.call.caller = &op->identity.caller;
	op->vfs.call.done = op_done;
	op->vfs.call.host = request && request->party ? rr_party_host(request->party) : 0;
	op->vfs.call.owner = request && request->party ? request->party->number : 0;
}

void
rr_nlm_op_vfs(struct rr_nlm_op *op, enum rr_vfs_status status,
	void (*step)(struct rr_nlm_op *op, enum rr_vfs_status status))
{
	op->step = step;
	if (status != RR_VFS_PENDING)
		step(op, status);
}

bool
rr_nlm_op_use(struct rr_nlm_op *op, struct rr_nlm_claim *claim)
{
	if (claim->busy)
		return false;
	claim->busy = true;
	op->claim = claim;
	return true;
}

nlm4_stats
rr_nlm_op_stat(enum rr_vfs_status status)
{
	switch (status) {
	case RR_VFS_OK: return NLM4_GRANTED;
	case RR_VFS_ROFS: return NLM4_ROFS;
	case RR_VFS_STALE:
	case RR_VFS_BAD_HANDLE: return NLM4_STALE_FH;
	case RR_VFS_FBIG: return NLM4_FBIG;
	case RR_VFS_SHARE:
	case RR_VFS_LOCKED: return NLM4_DENIED;
	case RR_VFS_BUSY:
	case RR_VFS_CANCELLED: return NLM4_DENIED_NOLOCKS;
	default: return NLM4_FAILED;
	}
}

bool
rr_nlm_op_find(struct rr_nlm_op *op, void (*again)(struct rr_nlm_op *op))
{
	struct rr_nlm_tables *tables = rr_nlm_enter(op->server);
	struct rr_nlm_host *host = rr_nlm_host_find(tables, &op->way.source, op->name);
	struct rr_nlm_claim *claim = host ? rr_nlm_claim_find(host, &op->owner) : NULL;
	bool used = claim && rr_nlm_op_use(op, claim);

	if (used && !op->host) {
		op->host = host;
		host->users++;
	}
	rr_nlm_leave(op->server);
	if (!claim)
		rr_nlm_op_end(op, NLM4_GRANTED);
	else if (!used)
		rr_nlm_op_retry(op, again);
	return used;
}

void
rr_nlm_op_enlist(struct rr_nlm_op *op)
{
	rr_timer_init(&op->timer, op_expired);
	rr_list_init(&op->link);
	rr_list_append(&op->server->ops, &op->link);
}
