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

/* ---- LOCK ---- */

/* RFC 8881, 18.10.3: the first lock of an owner names the open and the owner, later ones the stateid that the
 * first has given. Sequence IDs of owners are not used in this minor version. */
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
	args->locker.new_lock_owner = !open->locks;
	if (open->locks) {
		args->locker.u.lock_owner.lock_stateid = open->lock;
	} else {
		args->locker.u.open_owner.open_stateid = open->held->stateid;
		args->locker.u.open_owner.lock_owner = lock_owner(slot, open);
	}
}

static int
lock_set_take(struct rr_v4_slot *slot)
{
	struct rr_vfs_open *open = RR_V4_INPUT(rr_v4_job(slot), lock)->open;

	open->lock = rr_v4_res(slot, OP_LOCK)->u.oplock.u.resok4.lock_stateid;
	open->lock.seqid = 0; /* RFC 8881, 8.2.2: the most recent one */
	open->locks = true;
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
	job->base.user = open->remote.user;
	if (lock->kind != RR_VFS_UNLOCK)
		return rr_v4_ask(job, lock->test ? &lock_test : &lock_set, rr_v4_end);
	/* There are no locks to end. */
	return open->locks && !lock->test ? rr_v4_ask(job, &lock_end, rr_v4_end) : RR_VFS_OK;
}
