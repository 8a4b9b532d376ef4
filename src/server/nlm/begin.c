/* SPDX-License-Identifier: BSD-3-Clause */
/* How operations begin: those of hosts at the gate, and those of the server's own for hosts that wait. */
#include "server/nlm/server_private.h"

/* Runs when the attributes of the file are known. */
static void
begin_typed(struct rr_nlm_op *op, enum rr_vfs_status status)
{
	if (status != RR_VFS_OK)
		rr_nlm_op_end(op, rr_nlm_op_stat(status));
	else if (op->vfs.getattr.attributes.type != RR_VFS_FILE)
		rr_nlm_op_end(op, NLM4_FAILED);
	else if (op->what == RR_NLM_TEST)
		rr_nlm_test_begin(op);
	else if (op->what == RR_NLM_SHARE)
		rr_nlm_share_begin(op);
	else
		rr_nlm_lock_begin(op);
}

static void
begin_getattr(struct rr_nlm_op *op)
{
	rr_nlm_op_clear(op);
	op->vfs.getattr.object.handle = op->owner.fh;
	rr_nlm_op_vfs(op, rr_vfs_getattr(op->server->vfs, &op->vfs.getattr), begin_typed);
}

void
rr_nlm_op_begin(struct rr_nlm_op *op)
{
	const struct rr_gate_caller caller = {
		.source = op->way.source, .who = &op->request->caller, .version = RR_RIGHT_V3
	};
	enum rr_gate_answer answer;

	rr_nlm_op_enlist(op);
	/* Nothing is kept for an address that no rule admits to the export, and nobody there is called. */
	answer = rr_gate_ask_handle(op->server->gate, &caller, op->owner.fh, &op->identity);
	if (answer != RR_GATE_OPEN) {
		/* In a grace period clients ask again, as they are to do until the names of their hosts are
		 * known. */
		rr_nlm_op_end(op, answer == RR_GATE_LATER ? NLM4_DENIED_GRACE_PERIOD : NLM4_DENIED_NOLOCKS);
		return;
	}
	switch (op->what) {
	case RR_NLM_CANCEL: rr_nlm_cancel_begin(op); break;
	case RR_NLM_UNLOCK: rr_nlm_unlock_begin(op); break;
	case RR_NLM_UNSHARE: rr_nlm_unshare_begin(op); break;
	default: begin_getattr(op);
	}
}

/* Begins an operation of the server's own, for the wait. */
static void
begin_own(struct rr_nlm_op *op, void (*begin)(struct rr_nlm_op *op))
{
	rr_nlm_op_enlist(op);
	op->span = op->wait->wait.span;
	op->write = op->wait->wait.write;
	begin(op);
}

/* Begins to use the claim of the wait. Without one, the wait is over. */
static bool
begin_use_waiting(struct rr_nlm_op *op, void (*again)(struct rr_nlm_op *op))
{
	struct rr_nlm_claim *claim;
	bool used;

	rr_nlm_enter(op->server);
	claim = op->wait->claim;
	used = claim && rr_nlm_op_use(op, claim);
	if (used) {
		op->host = claim->host;
		op->host->users++;
	}
	rr_nlm_leave(op->server);
	if (!claim)
		rr_nlm_op_end(op, NLM4_DENIED);
	else if (!used)
		rr_nlm_op_retry(op, again);
	return used;
}

static void
begin_grant_try(struct rr_nlm_op *op)
{
	if (begin_use_waiting(op, begin_grant_try))
		rr_nlm_lock_begin(op);
}

static void
begin_return_try(struct rr_nlm_op *op)
{
	if (begin_use_waiting(op, begin_return_try))
		rr_nlm_unlock_begin(op);
}

void
rr_nlm_op_grant(struct rr_nlm_op *op)
{
	op->what = RR_NLM_LOCK;
	begin_own(op, begin_grant_try);
}

void
rr_nlm_op_return(struct rr_nlm_op *op)
{
	op->what = RR_NLM_UNLOCK;
	begin_own(op, begin_return_try);
}
