/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of byte ranges: each open has a lock-owner of its own at the other server. */
#include "vfs/nfs/v4/provider_private.h"

/* Returns the lock-owner of the open. */
static lock_owner4
lock_owner(const struct rr_v4_slot *slot, struct rr_vfs_open *open)
{
	return (lock_owner4){ .clientid = rr_v4_clientid(slot->v4),
		.owner = { open->owner, (uint32_t)strlen(open->owner) } };
}

static nfs_lock_type4
lock_type(const struct rr_vfs_lock *lock)
{
	return lock->kind == RR_VFS_LOCK_WRITE ? WRITE_LT : READ_LT;
}

/* Notes the lock that is in the way. */
static void
lock_note(struct rr_vfs_lock *lock, const LOCK4denied *denied)
{
	lock->conflict.kind = denied->locktype == WRITE_LT || denied->locktype == WRITEW_LT
				      ? RR_VFS_LOCK_WRITE
				      : RR_VFS_LOCK_READ;
	lock->conflict.offset = denied->offset;
	lock->conflict.length = denied->length;
}

/* ---- The ranges that are locked ---- */

void
rr_v4_locks_init(struct rr_vfs_open *open)
{
	rr_locked_init(&open->locked);
	rr_ranges_init(&open->ranges, &open->locked);
}

void
rr_v4_locks_end(struct rr_vfs_open *open, const struct rr_env *env)
{
	rr_ranges_free(&open->ranges, env, UINT32_MAX);
}

/* Notes that a range was locked or unlocked. A lock of which there is no memory to know is lost at the next
 * restart of the other server. */
static void
lock_keep(struct rr_v4_job *job)
{
	const struct rr_vfs_lock *lock = RR_V4_INPUT(job, lock);
	const struct rr_env *env = job->base.vfs->env;
	struct rr_span span;

	if (!rr_span(lock->offset, lock->length, &span))
		return;
	if (lock->kind == RR_VFS_UNLOCK)
		rr_range_unlock(&lock->open->ranges, env, span);
	else
		rr_range_lock(&lock->open->ranges, env, span, lock->kind == RR_VFS_LOCK_WRITE);
}

void
rr_v4_locks_lost(struct rr_v4_held *held)
{
	rr_list_for_each (link, &held->opens) {
		struct rr_vfs_open *open = rr_container(link, struct rr_vfs_open, of_held);

		open->locks = false;
		open->relocks = open->ranges.count > 0;
		open->relocked = 0;
	}
}

struct rr_vfs_open *
rr_v4_locks_next(struct rr_v4_held *held)
{
	rr_list_for_each (link, &held->opens) {
		struct rr_vfs_open *open = rr_container(link, struct rr_vfs_open, of_held);

		if (open->relocks && rr_range_from(&open->ranges, open->relocked))
			return open;
		open->relocks = false;
	}
	return NULL;
}

void
rr_v4_lock_broken(struct rr_vfs_open *open)
{
	open->relocks = false;
	open->broken = true;
}

/* ---- LOCK ---- */

/* Fills in who locks. RFC 8881, 18.10.3: the first lock of an owner names the open and the owner, later ones
 * the stateid that the first has given. Sequence IDs of owners are not used in this minor version. */
static void
lock_locker(const struct rr_v4_slot *slot, struct rr_vfs_open *open, locker4 *locker)
{
	locker->new_lock_owner = !open->locks;
	if (open->locks) {
		locker->u.lock_owner.lock_stateid = open->lock;
	} else {
		locker->u.open_owner.open_stateid = open->held->stateid;
		locker->u.open_owner.lock_owner = lock_owner(slot, open);
	}
}

/* Keeps the stateid of the open's locks. */
static void
lock_take(const struct rr_v4_slot *slot, struct rr_vfs_open *open)
{
	open->lock = rr_v4_res(slot, OP_LOCK)->u.oplock.u.resok4.lock_stateid;
	open->lock.seqid = 0; /* RFC 8881, 8.2.2: the most recent one */
	open->locks = true;
}

void
rr_v4_lock_again_op(struct rr_v4_slot *slot, struct rr_vfs_open *open, bool reclaim)
{
	const struct rr_range *range = rr_range_from(&open->ranges, open->relocked);
	LOCK4args *args = &rr_v4_op(slot, OP_LOCK, XDR_MAX_LOCK4denied)->u.oplock;

	args->locktype = range->write ? WRITE_LT : READ_LT;
	args->reclaim = reclaim;
	args->offset = range->span.first;
	args->length = rr_span_length(range->span);
	lock_locker(slot, open, &args->locker);
}

void
rr_v4_lock_again_take(struct rr_v4_slot *slot, struct rr_vfs_open *open)
{
	const struct rr_range *range = rr_range_from(&open->ranges, open->relocked);

	lock_take(slot, open);
	if (range && range->span.last < UINT64_MAX)
		open->relocked = range->span.last + 1;
	else
		open->relocks = false;
}

static void
lock_set_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_lock *lock = RR_V4_INPUT(job, lock);
	struct rr_vfs_open *open = lock->open;
	LOCK4args *args;

	rr_v4_putfh(slot, rr_remote_fh(&open->remote.handle));
	args = &rr_v4_op(slot, OP_LOCK, XDR_MAX_LOCK4denied)->u.oplock;
	args->locktype = lock_type(lock);
	args->offset = lock->offset;
	args->length = lock->length;
	lock_locker(slot, open, &args->locker);
}

static int
lock_set_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	lock_take(slot, RR_V4_INPUT(job, lock)->open);
	lock_keep(job);
	return 0;
}

static void
lock_set_fail(struct rr_v4_slot *slot)
{
	if (slot->result.status == NFS4ERR_DENIED)
		lock_note(RR_V4_INPUT(rr_v4_job(slot), lock), &rr_v4_res(slot, OP_LOCK)->u.oplock.u.denied);
}

static const struct rr_v4_work lock_set = { .build = lock_set_build,
	.take = lock_set_take,
	.fail = lock_set_fail,
	.result = sizeof(nfsstat4),
	.changes = true };

/* ---- LOCKT ---- */

static void
lock_test_build(struct rr_v4_slot *slot)
{
	const struct rr_vfs_lock *lock = RR_V4_INPUT(rr_v4_job(slot), lock);

	rr_v4_putfh(slot, rr_remote_fh(&lock->open->remote.handle));
	rr_v4_op(slot, OP_LOCKT, XDR_MAX_LOCK4denied)->u.oplockt =
		(LOCKT4args){ lock_type(lock), lock->offset, lock->length, lock_owner(slot, lock->open) };
}

static void
lock_test_fail(struct rr_v4_slot *slot)
{
	if (slot->result.status == NFS4ERR_DENIED)
		lock_note(RR_V4_INPUT(rr_v4_job(slot), lock), &rr_v4_res(slot, OP_LOCKT)->u.oplockt.u.denied);
}

static const struct rr_v4_work lock_test = { .build = lock_test_build,
	.take = rr_v4_nothing_take,
	.fail = lock_test_fail,
	.result = sizeof(nfsstat4) };

/* ---- LOCKU ---- */

static void
lock_end_build(struct rr_v4_slot *slot)
{
	const struct rr_vfs_lock *lock = RR_V4_INPUT(rr_v4_job(slot), lock);

	rr_v4_putfh(slot, rr_remote_fh(&lock->open->remote.handle));
	rr_v4_op(slot, OP_LOCKU, sizeof(stateid4))->u.oplocku =
		(LOCKU4args){ WRITE_LT, 0, lock->open->lock, lock->offset, lock->length };
}

static const struct rr_v4_work lock_end = {
	.build = lock_end_build, .take = rr_v4_nothing_take, .result = sizeof(nfsstat4), .changes = true
};

enum rr_vfs_status
rr_v4_do_lock(struct rr_v4_job *job)
{
	const struct rr_vfs_lock *lock = RR_V4_INPUT(job, lock);
	uint32_t access = lock->kind == RR_VFS_LOCK_WRITE ? RR_VFS_SHARE_WRITE : RR_VFS_SHARE_READ;
	struct rr_vfs_open *open = lock->open;

	if (lock->length == 0 || (lock->length != UINT64_MAX && lock->length > UINT64_MAX - lock->offset))
		return RR_VFS_INVAL;
	if (lock->kind != RR_VFS_UNLOCK && !(open->remote.reservation.access & access))
		return RR_VFS_OPEN_MODE;
	if (open->broken)
		return RR_VFS_IO;
	if (open->held && open->held->vfs == job->on)
		job->held = open->held;
	job->base.user = open->remote.user;
	if (lock->kind != RR_VFS_UNLOCK)
		return rr_v4_ask(job, lock->test ? &lock_test : &lock_set, rr_v4_end);
	/* There are no locks to end. */
	return open->locks && !lock->test ? rr_v4_ask(job, &lock_end, rr_v4_end) : RR_VFS_OK;
}
