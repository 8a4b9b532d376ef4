/* SPDX-License-Identifier: BSD-3-Clause */
/* The operation LOCK: a lock is set, tested or removed at the other server. */
#include <string.h>

#include "base/checked.h"
#include "vfs/nfs/v3/v3_private.h"

static struct rr_vfs_lock *
lock_input(const struct rr_v3_job *job)
{
	return rr_container(job->base.call, struct rr_vfs_lock, call);
}

static struct rr_v3_job *
lock_job(struct rr_call *call, int error)
{
	struct rr_v3_job *job = call->ctx;

	if (!error)
		rr_v3_locks_look((struct rr_v3_vfs *)job->base.vfs);
	return job;
}

static void
lock_begin(struct rr_v3_job *job, uint32_t procedure, void (*done)(struct rr_call *call, int error))
{
	job->base.called = true;
	job->base.rpc = (struct rr_call){ .user = &job->base.user, .done = done, .ctx = job };
	rr_v3_nlm_call((struct rr_v3_vfs *)job->base.vfs, &job->nlm, &job->base.rpc, procedure);
}

/* ---- TEST ---- */

static void
lock_tested(struct rr_call *call, int error)
{
	struct rr_v3_job *job = lock_job(call, error);
	const nlm4_testrply *reply = &job->nlm.result.test.stat;
	enum rr_vfs_status status = rr_v3_nlm_status(&job->nlm, error, error ? NLM4_FAILED : reply->stat);
	struct rr_vfs_lock *lock = lock_input(job);

	if (status == RR_VFS_LOCK) {
		lock->conflict.kind = reply->u.holder.exclusive ? RR_VFS_LOCK_WRITE : RR_VFS_LOCK_READ;
		lock->conflict.offset = reply->u.holder.l_offset;
		lock->conflict.length = reply->u.holder.l_len ? reply->u.holder.l_len : UINT64_MAX;
	} else if (status == RR_VFS_OK && !lock->test) {
		/* The lock that was in the way of a LOCK is gone. */
		status = RR_VFS_LOCK;
		lock->conflict.kind = RR_VFS_LOCK_WRITE;
		lock->conflict.offset = lock->offset;
		lock->conflict.length = lock->length;
	}
	rr_remote_end(&job->base, status);
}

static void
lock_test(struct rr_v3_job *job, const struct rr_v3_owner *owner)
{
	const struct rr_vfs_lock *lock = lock_input(job);

	job->nlm.args.test = (nlm4_testargs){ .exclusive = lock->kind == RR_VFS_LOCK_WRITE,
		.alock = rr_v3_nlm_lock(owner, lock->offset, lock->length) };
	lock_begin(job, NLMPROC4_TEST, lock_tested);
}

/* ---- LOCK and UNLOCK ---- */

/* Notes that a range was locked or unlocked. A lock of which there is no memory to know is lost when the
 * other server starts anew. */
static void
lock_keep(const struct rr_v3_job *job)
{
	struct rr_v3_vfs *vfs = (struct rr_v3_vfs *)job->base.vfs;
	const struct rr_vfs_lock *lock = lock_input(job);
	struct rr_ranges *ranges = &lock->open->owner->ranges;
	struct rr_span span;

	if (!rr_span(lock->offset, lock->length, &span))
		return;
	if (lock->kind == RR_VFS_UNLOCK) {
		rr_range_unlock(ranges, vfs->base.env, span);
		return;
	}
	rr_range_lock(ranges, vfs->base.env, span, lock->kind == RR_VFS_LOCK_WRITE);
	if (!rr_timer_armed(&vfs->locks.watch))
		rr_loop_arm(vfs->base.base.loop, &vfs->locks.watch, RR_V3_WATCH);
}

static void
lock_set_done(struct rr_call *call, int error)
{
	struct rr_v3_job *job = lock_job(call, error);
	nlm4_stats stat = error ? NLM4_FAILED : job->nlm.result.res.stat.stat;
	enum rr_vfs_status status = rr_v3_nlm_status(&job->nlm, error, stat);

	if (status == RR_VFS_OK)
		lock_keep(job);
	if (status == RR_VFS_LOCK && lock_input(job)->kind == RR_VFS_UNLOCK)
		status = RR_VFS_IO;
	if (status == RR_VFS_LOCK)
		lock_test(job, lock_input(job)->open->owner);
	else
		rr_remote_end(&job->base, status);
}

static void
lock_set(struct rr_v3_job *job, const struct rr_v3_owner *owner)
{
	const struct rr_vfs_lock *lock = lock_input(job);
	nlm4_lock alock = rr_v3_nlm_lock(owner, lock->offset, lock->length);

	if (lock->kind == RR_VFS_UNLOCK) {
		job->nlm.args.unlock.alock = alock;
		lock_begin(job, NLMPROC4_UNLOCK, lock_set_done);
		return;
	}
	job->nlm.args.lock = (nlm4_lockargs){ .exclusive = lock->kind == RR_VFS_LOCK_WRITE, .alock = alock };
	lock_begin(job, NLMPROC4_LOCK, lock_set_done);
}

enum rr_vfs_status
rr_v3_lock(struct rr_v3_job *job)
{
	struct rr_v3_vfs *vfs = (struct rr_v3_vfs *)job->base.vfs;
	const struct rr_vfs_lock *lock = lock_input(job);
	uint32_t access = lock->kind == RR_VFS_LOCK_WRITE ? RR_VFS_SHARE_WRITE : RR_VFS_SHARE_READ;
	struct rr_v3_owner *owner = lock->open->owner;

	if (lock->length == 0 || (lock->length != UINT64_MAX && lock->length > UINT64_MAX - lock->offset))
		return RR_VFS_INVAL;
	if (lock->kind != RR_VFS_UNLOCK && !(lock->open->remote.reservation.access & access))
		return RR_VFS_OPEN_MODE;
	if (owner && owner->broken)
		return RR_VFS_IO;
	/* There are no locks to end, or nobody but the callers of this provider to meet them. */
	if (!vfs->locks.client || (lock->kind == RR_VFS_UNLOCK && (!owner || lock->test)))
		return RR_VFS_OK;
	owner = rr_v3_owner(vfs, lock->open);
	if (!owner)
		return RR_VFS_BUSY;
	if (lock->test)
		lock_test(job, owner);
	else
		lock_set(job, owner);
	return RR_VFS_PENDING;
}

/* ---- Opens stay until the locks are answered that are asked for by them ---- */

void
rr_v3_take_opens(struct rr_remote_job *job)
{
	if (job->operation == RR_VFS_OP_LOCK)
		lock_input((struct rr_v3_job *)job)->open->users++;
}

void
rr_v3_drop_opens(struct rr_remote_job *job)
{
	if (job->operation == RR_VFS_OP_LOCK)
		rr_v3_drop_open(job->vfs, lock_input((struct rr_v3_job *)job)->open);
}

void
rr_v3_drop_open(struct rr_remote_vfs *vfs, struct rr_vfs_open *open)
{
	if (--open->users > 0)
		return;
	if (open->owner)
		rr_v3_owner_end(open->owner);
	rr_free(vfs->env, open);
}
