/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage's side of LOCK and LOCKU. Local programs see the locks of the storage. */
#include "server/nfs4/op/lock.h"
#include "server/nfs4/support.h"

/* Has the storage lock or unlock `span` by the open, and returns the status of the storage. If open is NULL,
 * or the span begins beyond INT64_MAX, does not ask the storage and returns RR_VFS_OK: local programs, whose
 * offsets are signed, have no locks beyond INT64_MAX. */
static enum rr_vfs_status
lock_ask_storage(
	struct rr_nfs4_compound *c, struct rr_vfs_open *open, struct rr_span span, enum rr_vfs_lock_kind kind)
{
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_lock *lock;

	if (!open || span.first > INT64_MAX)
		return RR_VFS_OK;
	lock = &rr_nfs4_vfs_begin(c)->lock;
	lock->open = open;
	lock->kind = kind;
	lock->offset = span.first;
	lock->length = rr_span_length(span);
	return rr_vfs_lock(vfs, lock);
}

/* Returns the lock-owner's own open; NULL if there is none. */
static struct rr_vfs_open *
lock_own_open(const struct rr_nfs4_compound *c)
{
	return c->opened[1] ? c->opened[1]->open : NULL;
}

uint32_t
rr_lock_storage(struct rr_nfs4_compound *c, enum rr_vfs_lock_kind kind, rr_nfs4_step *then)
{
	const struct rr_lock_work *work = c->op_memory;

	return rr_nfs4_vfs(c, lock_ask_storage(c, lock_own_open(c), work->span, kind), then);
}

/* Shortens *span from its end, until the rest lies within one locked range, or touches no locked range.
 * Returns how the rest is locked: RR_VFS_UNLOCK if it is not. */
static enum rr_vfs_lock_kind
lock_first_part(struct rr_ranges *ranges, struct rr_span *span)
{
	const struct rr_range *range = rr_range_from(ranges, span->first);

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
 * against other clients. Nothing is restored beyond INT64_MAX, and in storage that has no locks: the storage
 * was not asked for it. So each part is a call of the storage. This is a loop and no recursion, as a client
 * may have very many ranges.
 */
static uint32_t
lock_restore_step(struct rr_nfs4_compound *c)
{
	struct rr_lock_work *work = c->op_memory;
	enum rr_vfs_status status = RR_VFS_OK;

	while (!work->is_restored && status != RR_VFS_PENDING && status != RR_VFS_NOTSUPP) {
		struct rr_span part = work->left;
		enum rr_vfs_lock_kind kind;

		rr_nfs4_lock_tables(c->server);
		kind = lock_first_part(&c->state->ranges, &part);
		rr_nfs4_unlock_tables(c->server);
		work->is_restored = part.last == work->left.last || part.last >= INT64_MAX;
		work->left.first = part.last + 1;
		status = lock_ask_storage(c, lock_own_open(c), part, kind);
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

/* ---- The open of the lock-owner ---- */

uint32_t
rr_lock_open(struct rr_nfs4_compound *c, rr_nfs4_step *then)
{
	struct rr_vfs_opening *opening = &rr_nfs4_vfs_begin(c)->opening;
	struct rr_vfs *vfs = c->server->vfs;

	opening->object = rr_nfs4_object_as(c, &c->current, 0);
	opening->access = c->own.lock_access;
	/* The share reservation of the OPEN's open holds for this open, too. */
	opening->relation = RR_VFS_BESIDE;
	return rr_nfs4_vfs(c, rr_vfs_open(vfs, opening), then);
}

/* Ends rr_lock_reopen() with this status: lets other operations use the lock state again. */
static uint32_t
lock_reopen_end(struct rr_nfs4_compound *c, enum rr_vfs_status status)
{
	const struct rr_lock_work *work = c->op_memory;

	rr_nfs4_lock_tables(c->server);
	c->state->opening = false;
	rr_nfs4_unlock_tables(c->server);
	return rr_nfs4_vfs(c, status, work->then);
}

/* Ends rr_lock_reopen() without success. The locks of the new open end when it is closed. */
static uint32_t
lock_reopen_fail(struct rr_nfs4_compound *c, enum rr_vfs_status status)
{
	const struct rr_lock_work *work = c->op_memory;
	struct rr_vfs *vfs = c->server->vfs;

	rr_vfs_close(vfs, work->fresh, NULL);
	return lock_reopen_end(c, status);
}

/* Runs when the storage has removed the locks of the earlier open. Should the storage have failed, the locks
 * end when the earlier open is closed. */
static uint32_t
lock_reopen_unlocked(struct rr_nfs4_compound *c)
{
	return lock_reopen_end(c, RR_VFS_OK);
}

/* Makes the new open, by which the storage has locked all ranges, the open of the lock state, and
 * c->opened[1]. Then has the storage unlock all ranges of the earlier open, which moves to c->opened[0]: they
 * would be in the way of locks of the new open, and an operation may keep the earlier open from being closed.
 */
static uint32_t
lock_reopen_take(struct rr_nfs4_compound *c)
{
	static const struct rr_span all = { 0, UINT64_MAX };
	struct rr_lock_work *work = c->op_memory;
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(c->server);
	bool taken = rr_nfs4_state_opened(c->state, work->fresh, c->caller.who);

	if (taken) {
		c->state->access = c->own.lock_access;
		if (c->opened[0])
			rr_nfs4_opened_release(tables, c->opened[0]);
		c->opened[0] = c->opened[1];
		c->opened[1] = rr_nfs4_opened_hold(c->state->opened);
	}
	rr_nfs4_unlock_tables(c->server);
	/* The lock state has ended meanwhile, or there is no memory. */
	if (!taken)
		return lock_reopen_fail(c, RR_VFS_BUSY);
	return rr_nfs4_vfs(
		c, lock_ask_storage(c, c->opened[0]->open, all, RR_VFS_UNLOCK), lock_reopen_unlocked);
}

/* Copies the next range that the storage is to lock by the new open to *range. Returns false if there is no
 * further range up to INT64_MAX, or the lock state has ended, which has freed its ranges. As long as
 * `opening` is set, nothing else changes them. */
static bool
lock_reopen_next(struct rr_nfs4_compound *c, struct rr_range *range)
{
	struct rr_lock_work *work = c->op_memory;
	bool is_left;

	rr_nfs4_lock_tables(c->server);
	is_left = rr_nfs4_state_lives(c->state) && work->next && work->next->span.first <= INT64_MAX;
	if (is_left) {
		*range = *work->next;
		work->next = rr_range_next(work->next);
	}
	rr_nfs4_unlock_tables(c->server);
	return is_left;
}

/* Has the storage lock one range of the lock state after another by the new open; runs again after each range
 * that the storage has not locked at once. The earlier open keeps its locks until all of them are set: both
 * opens can have them, as an open that cannot write has locks to read alone. */
static uint32_t
lock_reopen_step(struct rr_nfs4_compound *c)
{
	const struct rr_lock_work *work = c->op_memory;
	enum rr_vfs_status status = c->vfs_status;
	struct rr_range range;

	/* RR_VFS_NOTSUPP: with storage that has no locks, the locks in the tables are enough. */
	while (status == RR_VFS_OK && lock_reopen_next(c, &range))
		status = lock_ask_storage(
			c, work->fresh, range.span, range.write ? RR_VFS_LOCK_WRITE : RR_VFS_LOCK_READ);
	if (status == RR_VFS_PENDING)
		return rr_nfs4_vfs(c, status, lock_reopen_step);
	if (status != RR_VFS_OK && status != RR_VFS_NOTSUPP)
		return lock_reopen_fail(c, status);
	return lock_reopen_take(c);
}

/* Runs when the storage has opened the file once more, or could not: begins with the first range. */
static uint32_t
lock_reopen_opened(struct rr_nfs4_compound *c)
{
	struct rr_lock_work *work = c->op_memory;

	if (c->vfs_status != RR_VFS_OK)
		return lock_reopen_end(c, c->vfs_status);
	work->fresh = c->vfs.opening.open;
	rr_nfs4_lock_tables(c->server);
	/* The ranges of a lock state that has ended are freed: lock_reopen_next() sees that. */
	work->next = rr_range_from(&c->state->ranges, 0);
	rr_nfs4_unlock_tables(c->server);
	return lock_reopen_step(c);
}

uint32_t
rr_lock_reopen(struct rr_nfs4_compound *c, rr_nfs4_step *then)
{
	struct rr_lock_work *work = c->op_memory;

	work->then = then;
	return rr_lock_open(c, lock_reopen_opened);
}
