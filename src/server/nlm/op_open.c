/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The open of a claim. An open for a lock to read cannot lock for writing, and the other way round: then the
 * file is opened once more, for both, and the ranges of the claim are locked by the new open, before the old
 * one is closed. Where the ranges were locked for writing, their old locks are in the way of the new ones,
 * and each is unlocked just before.
 */
#include "server/nlm/server_private.h"

static void open_begin(struct rr_nlm_op *op);

/* Makes the new open that of the claim. */
static void
open_take(struct rr_nlm_op *op)
{
	struct rr_vfs_open *old = op->claim->open;

	op->claim->open = op->fresh;
	op->claim->access |= op->access;
	op->fresh = NULL;
	rr_vfs_close(op->server->vfs, old, NULL);
	op->then(op);
}

/* Finds the next range of the claim that is to be locked by the new open. Only this operation changes them,
 * but that the claim may end. */
static bool
open_next(struct rr_nlm_op *op, struct rr_range *next)
{
	const struct rr_range *range = NULL;

	rr_nlm_enter(op->server);
	if (!op->claim->dead)
		range = rr_range_from(&op->claim->ranges, op->moved);
	if (range)
		*next = *range;
	rr_nlm_leave(op->server);
	return range;
}

/* Unlocks a range by the old open and locks it by the new one, one after the other, until the storage does
 * not answer at once. */
static enum rr_vfs_status
open_move_some(struct rr_nlm_op *op)
{
	enum rr_vfs_status status = RR_VFS_OK;
	struct rr_range range;

	while (status != RR_VFS_PENDING && open_next(op, &range)) {
		rr_nlm_op_clear(op);
		op->vfs.lock.offset = range.span.first;
		op->vfs.lock.length = rr_span_length(range.span);
		if (range.write && !op->is_moved) {
			op->vfs.lock.open = op->claim->open;
			op->vfs.lock.kind = RR_VFS_UNLOCK;
			op->is_moved = true;
		} else {
			op->vfs.lock.open = op->fresh;
			op->vfs.lock.kind = range.write ? RR_VFS_LOCK_WRITE : RR_VFS_LOCK_READ;
			op->is_moved = false;
			op->moved = range.span.last + 1;
			op->is_last = op->moved == 0;
		}
		status = rr_vfs_lock(op->server->vfs, &op->vfs.lock);
		if (op->is_last && status != RR_VFS_PENDING)
			break;
	}
	return status;
}

/* A local program that comes between has the range, and the hosts have it in the tables nevertheless: the
 * result of the storage does not matter. */
static void
open_move(struct rr_nlm_op *op, enum rr_vfs_status status)
{
	(void)status;
	if (!op->is_last && open_move_some(op) == RR_VFS_PENDING) {
		op->step = open_move;
		return;
	}
	open_take(op);
}

static void
open_opened(struct rr_nlm_op *op, enum rr_vfs_status status)
{
	/* A lease (of a delegation of NFS version 4) is being given back, or there is no descriptor now. */
	if (status == RR_VFS_BUSY) {
		rr_nlm_op_retry(op, open_begin);
		return;
	}
	if (status != RR_VFS_OK) {
		rr_nlm_op_end(op, status == RR_VFS_ACCESS ? NLM4_DENIED_NOLOCKS : rr_nlm_op_stat(status));
		return;
	}
	op->fresh = op->vfs.opening.open;
	op->moved = 0;
	op->is_moved = op->is_last = false;
	if (op->claim->open)
		open_move(op, RR_VFS_OK);
	else
		open_take(op);
}

static void
open_begin(struct rr_nlm_op *op)
{
	rr_nlm_op_clear(op);
	op->vfs.opening.object.handle = op->owner.fh;
	op->vfs.opening.access = op->access | op->claim->access;
	op->vfs.opening.relation = RR_VFS_ANOTHER;
	rr_nlm_op_vfs(op, rr_vfs_open(op->server->vfs, &op->vfs.opening), open_opened);
}

void
rr_nlm_open(struct rr_nlm_op *op, uint32_t access, void (*then)(struct rr_nlm_op *op))
{
	op->access = access;
	op->then = then;
	if (op->claim->open && !(access & ~op->claim->access))
		then(op);
	else
		open_begin(op);
}
