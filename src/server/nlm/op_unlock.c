/* SPDX-License-Identifier: BSD-3-Clause */
/* UNLOCK, CANCEL and UNSHARE: what is not there is given back already, so they are granted then. */
#include "server/nlm/server_private.h"

/* Runs when the storage has unlocked the range: removes it from the tables. If these refuse that, as the cut
 * would make too many ranges, the range is still locked for other hosts. */
static void
unlock_unlocked(struct rr_nlm_op *op, enum rr_vfs_status status)
{
	bool done = true;

	if (status != RR_VFS_OK && status != RR_VFS_NOTSUPP) {
		rr_nlm_op_end(op, rr_nlm_op_stat(status));
		return;
	}
	rr_nlm_enter(op->server);
	if (!op->claim->dead)
		done = rr_nlm_claim_unlock(op->claim, op->span);
	if (op->wait && op->wait->claim)
		rr_nlm_wait_end(op->wait);
	rr_nlm_leave(op->server);
	rr_nlm_op_end(op, done ? NLM4_GRANTED : NLM4_DENIED_NOLOCKS);
}

/* Unlocks the range of the claim that the operation uses. */
static void
unlock_go(struct rr_nlm_op *op)
{
	enum rr_vfs_status status = RR_VFS_OK;

	rr_nlm_op_clear(op);
	op->vfs.lock.open = op->claim->open;
	op->vfs.lock.kind = RR_VFS_UNLOCK;
	op->vfs.lock.offset = op->span.first;
	op->vfs.lock.length = rr_span_length(op->span);
	if (op->claim->open)
		status = rr_vfs_lock(op->server->vfs, &op->vfs.lock);
	rr_nlm_op_vfs(op, status, unlock_unlocked);
}

void
rr_nlm_unlock_begin(struct rr_nlm_op *op)
{
	if (op->claim || rr_nlm_op_find(op, rr_nlm_unlock_begin))
		unlock_go(op);
}

/* A wait for this very lock ends. If the lock was set already, and the host has not answered, it is given
 * back. */
void
rr_nlm_cancel_begin(struct rr_nlm_op *op)
{
	struct rr_nlm_wait *wait;
	bool is_set;

	if (!rr_nlm_op_find(op, rr_nlm_cancel_begin))
		return;
	rr_nlm_enter(op->server);
	wait = rr_nlm_wait_find(op->claim, op->span, op->write);
	is_set = wait && wait->phase == RR_NLM_CALLING;
	if (wait)
		rr_nlm_wait_end(wait);
	rr_nlm_leave(op->server);
	if (is_set)
		unlock_go(op);
	else
		rr_nlm_op_end(op, NLM4_GRANTED);
}

void
rr_nlm_unshare_begin(struct rr_nlm_op *op)
{
	struct rr_vfs_open *open;

	if (!rr_nlm_op_find(op, rr_nlm_unshare_begin))
		return;
	open = op->claim->open;
	op->claim->open = NULL;
	rr_vfs_close(op->server->vfs, open, NULL);
	/* A share without an open ends with the operation. */
	rr_nlm_op_end(op, NLM4_GRANTED);
}
