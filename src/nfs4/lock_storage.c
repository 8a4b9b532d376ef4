/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage's side of LOCK and LOCKU. Local programs see the locks of the storage. */
#include "nfs4/op_lock.h"

/* Has the storage lock or unlock `span` by the lock-owner's own open, and returns the status of the storage.
 * If there is no such open, or the span begins beyond INT64_MAX, does not ask the storage and returns
 * RR_VFS_OK: local programs, whose offsets are signed, have no locks beyond INT64_MAX. */
static enum rr_vfs_status
lock_ask_storage(struct rr_nfs4_compound *c, struct rr_nfs4_span span, enum rr_vfs_lock_kind kind)
{
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_lock *lock;

	if (!c->opened[1] || span.first > INT64_MAX)
		return RR_VFS_OK;
	lock = &rr_nfs4_vfs_begin(c)->lock;
	lock->open = c->opened[1]->open;
	lock->kind = kind;
	lock->offset = span.first;
	lock->length = rr_nfs4_span_length(span);
	return vfs->ops->lock(vfs, lock);
}

uint32_t
rr_lock_storage(struct rr_nfs4_compound *c, enum rr_vfs_lock_kind kind, rr_nfs4_step *then)
{
	const struct rr_lock_work *work = c->op_memory;

	return rr_nfs4_vfs(c, lock_ask_storage(c, work->span, kind), then);
}

/* Shortens *span from its end, until the rest lies within one locked range, or touches no locked range.
 * Returns how the rest is locked: RR_VFS_UNLOCK if it is not. */
static enum rr_vfs_lock_kind
lock_first_part(const struct rr_nfs4_ranges *ranges, struct rr_nfs4_span *span)
{
	const struct rr_nfs4_range *range = ranges->first;

	while (range && range->span.last < span->first)
		range = range->next;
	if (!range || range->span.first > span->last)
		return RR_VFS_UNLOCK;
	if (range->span.first > span->first) {
		span->last = range->span.first - 1;
		return RR_VFS_UNLOCK;
	}
	if (range->span.last < span->last)
		span->last = range->span.last;
	return range->write ? RR_VFS_LOCK_WRITE : RR_VFS_LOCK_READ;
}

/*
 * Gives the lock-owner, part after part of work->left, the locks in the storage that its lock state has; runs
 * again after each part that the storage has not ended at once. The result of the storage does not matter: if
 * a local program has locked a part that was unlocked for a moment, the lock of the client still stands
 * against other clients. This is a loop and no recursion, as a client may have very many ranges.
 */
static uint32_t
lock_restore_step(struct rr_nfs4_compound *c)
{
	struct rr_lock_work *work = c->op_memory;
	enum rr_vfs_status status = RR_VFS_OK;

	while (!work->is_restored && status != RR_VFS_PENDING) {
		struct rr_nfs4_span part = work->left;
		enum rr_vfs_lock_kind kind;

		rr_nfs4_lock_tables(c->server);
		kind = lock_first_part(&c->state->ranges, &part);
		rr_nfs4_unlock_tables(c->server);
		work->is_restored = part.last == work->left.last;
		work->left.first = part.last + 1;
		status = lock_ask_storage(c, part, kind);
	}
	return rr_nfs4_vfs(c, status, status == RR_VFS_PENDING ? lock_restore_step : work->then);
}

uint32_t
rr_lock_restore(struct rr_nfs4_compound *c, nfsstat4 status, rr_nfs4_step *then)
{
	struct rr_lock_work *work = c->op_memory;

	work->left = work->span;
	work->is_restored = false;
	work->status = status;
	work->then = then;
	return lock_restore_step(c);
}
