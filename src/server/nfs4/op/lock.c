/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LOCK: RFC 8881, section 18.10.
 *
 * A lock is in the tables, where it stands against the locks of other clients, and in the storage, where
 * local programs see it. Each lock-owner has its own open of the file in the storage: c->opened[1], while
 * c->opened[0] is the open of the OPEN; rr_lock_reopen() replaces both. With storage that has no locks, the
 * lock in the tables is enough.
 */
#include <string.h>

#include "server/nfs4/op/lock.h"
#include "server/nfs4/support.h"
#include "server/nfs4/tables/lock.h"
#include "server/nfs4/tables/owner.h"

/* RFC 8881, 18.10.3: "If the server returns NFS4ERR_DENIED, the owner, offset, and length of a conflicting
 * lock are returned." */
uint32_t
rr_lock_denied(const struct rr_lock_work *work, LOCK4denied *denied)
{
	denied->offset = work->conflict.span.first;
	denied->length = rr_span_length(work->conflict.span);
	denied->locktype = work->conflict.write ? WRITE_LT : READ_LT;
	denied->owner.clientid = work->conflict.client;
	denied->owner.owner = (struct rpcrdma_bytes){ work->conflict.owner, work->conflict.owner_length };
	return NFS4ERR_DENIED;
}

/* Describes in *conflict the lock of a local program that the storage has found: the client ID is 0, and the
 * owner "local". A range that NFS cannot express becomes the whole file. */
static void
lock_local_conflict(const struct rr_vfs_lock *lock, struct rr_locks_holder *conflict)
{
	static const char owner[] = "local";

	*conflict = (struct rr_locks_holder){ .write = lock->conflict.kind == RR_VFS_LOCK_WRITE,
		.owner_length = sizeof(owner) - 1 };
	memcpy(conflict->owner, owner, sizeof(owner) - 1);
	if (!rr_span(lock->conflict.offset, lock->conflict.length, &conflict->span))
		conflict->span = (struct rr_span){ 0, UINT64_MAX };
}

/* Returns the name of the lock-owner of a lock state. */
static struct rpcrdma_bytes
lock_owner(const struct rr_nfs4_state *state)
{
	return (struct rpcrdma_bytes){ state->owner, state->owner_length };
}

/* Ends the lock state of a LOCK that is refused, if no answer has named its stateid and it has no locked
 * range: the client could not free such a state. The caller holds the lock of the tables. */
static void
lock_drop_made(struct rr_nfs4_compound *c)
{
	const struct rr_lock_work *work = c->op_memory;

	if (work->made && rr_nfs4_state_lives(c->state) && c->state->ranges.count == 0 &&
		c->state->seqid == 0)
		rr_nfs4_state_end(c->state);
}

/* Runs when the storage has the locks of the lock-owner again that it had before: refuses the LOCK. */
static uint32_t
lock_undone(struct rr_nfs4_compound *c)
{
	struct rr_lock_work *work = c->op_memory;

	rr_nfs4_lock_tables(c->server);
	lock_drop_made(c);
	rr_nfs4_unlock_tables(c->server);
	if (work->status == NFS4ERR_DENIED)
		return rr_lock_denied(work, &c->res.u.oplock.u.denied);
	return work->status;
}

/* Enters the lock into the tables after the storage has granted it. If that cannot be done, as another owner
 * has got a conflicting lock meanwhile, or there are too many ranges, the storage gets the locks back that it
 * had before, and the LOCK is refused. */
static uint32_t
lock_finish(struct rr_nfs4_compound *c)
{
	struct rr_lock_work *work = c->op_memory;
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(c->server);
	struct rr_nfs4_state *state = c->state;
	LOCK4res *res = &c->res.u.oplock;
	nfsstat4 status = NFS4_OK;

	if (!rr_nfs4_state_lives(state))
		status = NFS4ERR_BAD_STATEID;
	else
		status = rr_nfs4_lock_conflict(tables, state->client, &state->file->id, lock_owner(state),
			work->span, work->write, &work->conflict);
	if (status == NFS4_OK)
		status = rr_nfs4_lock(state, work->span, work->write);
	if (status == NFS4_OK)
		rr_nfs4_stateid_next(state, &res->u.resok4.lock_stateid);
	rr_nfs4_unlock_tables(c->server);
	if (status != NFS4_OK)
		return rr_lock_restore(c, status, lock_undone);
	rr_nfs4_set_stateid(c, &res->u.resok4.lock_stateid);
	return NFS4_OK;
}

/* Tells whether the client waits for a lock that it cannot have now. */
static bool
lock_waits(const struct rr_nfs4_compound *c)
{
	const LOCK4args *args = &c->op->u.oplock;

	return args->locktype == READW_LT || args->locktype == WRITEW_LT;
}

/* Refuses the LOCK, as the storage has failed with c->vfs_status, and ends a lock state that no answer has
 * named. If a local program has the lock, and the client waits for that, the storage is asked again later. */
static uint32_t
lock_refused(struct rr_nfs4_compound *c)
{
	struct rr_lock_work *work = c->op_memory;
	bool waits = c->vfs_status == RR_VFS_LOCK && lock_waits(c);

	if (c->vfs_status == RR_VFS_LOCK)
		lock_local_conflict(&c->vfs.lock, &work->conflict);
	rr_nfs4_lock_tables(c->server);
	if (waits && rr_nfs4_state_lives(c->state))
		rr_nfs4_wait(c->state, work->span, work->write, true);
	lock_drop_made(c);
	rr_nfs4_unlock_tables(c->server);
	if (waits)
		rr_nfs4_probe_later(c->server);
	if (c->vfs_status == RR_VFS_LOCK)
		return rr_lock_denied(work, &c->res.u.oplock.u.denied);
	return rr_nfs4_status(c->vfs_status);
}

/* Runs when the storage has answered to the request for the lock. If the storage has granted the lock, or
 * does not support locks, the lock is entered into the tables. Else the LOCK is refused. */
static uint32_t
lock_locked(struct rr_nfs4_compound *c)
{
	if (c->vfs_status == RR_VFS_OK || c->vfs_status == RR_VFS_NOTSUPP)
		return lock_finish(c);
	return lock_refused(c);
}

/* Runs when rr_lock_reopen() has ended: with the new open, which can lock for writing, the storage locks the
 * range. */
static uint32_t
lock_reopened(struct rr_nfs4_compound *c)
{
	return c->vfs_status == RR_VFS_OK ? rr_lock_storage(c, RR_VFS_LOCK_WRITE, lock_locked)
					  : lock_refused(c);
}

/* Runs when the storage has opened the file for the lock-owner, or could not, or when c->opened[1] is an open
 * of an earlier LOCK. A new open becomes that of the lock state, and c->opened[1]. Then the storage locks the
 * range by c->opened[1]. Without any open, the storage is not asked, and the lock is in the tables alone. */
static uint32_t
lock_opened(struct rr_nfs4_compound *c)
{
	const struct rr_lock_work *work = c->op_memory;
	struct rr_vfs *vfs = c->server->vfs;

	rr_nfs4_lock_tables(c->server);
	/* This LOCK has set `opening` in lock_open(), as there was no open yet. */
	if (!c->opened[1])
		c->state->opening = false;
	if (c->vfs_status == RR_VFS_OK &&
		rr_nfs4_state_opened(c->state, c->vfs.opening.open, c->caller.who)) {
		c->state->access = c->own.lock_access;
		c->opened[1] = rr_nfs4_opened_hold(c->state->opened);
	}
	rr_nfs4_unlock_tables(c->server);
	/* The lock state has ended meanwhile, or there is no memory: nobody needs the new open. */
	if (c->vfs_status == RR_VFS_OK) {
		if (!c->opened[1])
			rr_vfs_close(vfs, c->vfs.opening.open, NULL);
	}
	return rr_lock_storage(c, work->write ? RR_VFS_LOCK_WRITE : RR_VFS_LOCK_READ, lock_locked);
}

/* Tells whether another LOCK or LOCKU uses c->opened[1]: then the open has more references than those of the
 * lock state and of this LOCK. The caller holds the lock of the tables. */
static bool
lock_is_used(const struct rr_nfs4_compound *c)
{
	return c->opened[1] && c->opened[1]->holders > 2;
}

/* Has the storage open the file for the lock-owner, unless an earlier LOCK has done that with enough access,
 * and goes on with lock_opened() or, for a lock state that has an open already, lock_reopened(). */
static uint32_t
lock_open(struct rr_nfs4_compound *c)
{
	const struct rr_lock_work *work = c->op_memory;
	bool is_other;

	/* An earlier LOCK has opened the file. Any error tells lock_opened() that there is no new open. */
	if (c->opened[1] && !work->reopens) {
		c->vfs_status = RR_VFS_EXIST;
		return lock_opened(c);
	}
	rr_nfs4_lock_tables(c->server);
	is_other = c->state->opening || c->state->opened != c->opened[1] || lock_is_used(c);
	if (!is_other)
		c->state->opening = true;
	rr_nfs4_unlock_tables(c->server);
	/* Another LOCK of the lock-owner opens the file, or has just done so, or uses the open that is to be
	 * replaced. */
	if (is_other)
		return NFS4ERR_DELAY;
	return work->reopens ? rr_lock_reopen(c, lock_reopened) : rr_lock_open(c, lock_opened);
}

/* Returns NFS4_OK if `open` has opened the file for writing, for a lock to write, or for reading, for a lock
 * to read. Else returns NFS4ERR_OPENMODE, which RFC 8881, 15.2, has for LOCK. */
static nfsstat4
lock_check_mode(const struct rr_nfs4_state *open, bool write)
{
	uint32_t wanted = write ? OPEN4_SHARE_ACCESS_WRITE : OPEN4_SHARE_ACCESS_READ;

	return open->access & wanted ? NFS4_OK : NFS4ERR_OPENMODE;
}

/* Finds the open by its stateid, and finds or makes the lock state of the lock-owner for that open. Sets
 * work->made if no answer has named the lock state yet (its seqid is 0). Returns NFS4ERR_DELAY if there is no
 * memory, or there are too many states. The caller holds the lock of the tables. */
static nfsstat4
lock_new_owner(struct rr_nfs4_compound *c, const open_to_lock_owner4 *locker, struct rr_nfs4_state **open,
	struct rr_nfs4_state **state)
{
	struct rr_nfs4_tables *tables = &c->server->shared->tables;
	struct rr_lock_work *work = c->op_memory;
	nfsstat4 status = rr_nfs4_find_state(c, &c->current, &locker->open_stateid, RR_NFS4_OPEN, open);

	if (status == NFS4_OK)
		status = lock_check_mode(*open, work->write);
	if (status != NFS4_OK)
		return status;
	*state = rr_nfs4_lock_state(tables, *open, locker->lock_owner.owner);
	if (*state && c->owners[1])
		rr_nfs4_owner_take(c->owners[1], *state);
	work->made = *state && (*state)->seqid == 0;
	return *state ? NFS4_OK : NFS4ERR_DELAY;
}

/* Finds the lock state by the stateid of an earlier LOCK, and checks that its open allows this lock. The
 * caller holds the lock of the tables. */
static nfsstat4
lock_known_owner(struct rr_nfs4_compound *c, const exist_lock_owner4 *locker, struct rr_nfs4_state **open,
	struct rr_nfs4_state **state)
{
	const struct rr_lock_work *work = c->op_memory;
	nfsstat4 status = rr_nfs4_find_state(c, &c->current, &locker->lock_stateid, RR_NFS4_LOCK, state);

	if (status != NFS4_OK)
		return status;
	*open = (*state)->parent;
	return lock_check_mode(*open, work->write);
}

/* Finds out whether the lock state needs another open of the storage, and stores that in work->reopens: its
 * own was opened for reading only, and this LOCK is to write by an open state that has been upgraded since,
 * or is another one. Returns NFS4ERR_DELAY if the open state waits for the storage to upgrade it. The caller
 * holds the lock of the tables. */
static nfsstat4
lock_check_open(
	struct rr_nfs4_compound *c, const struct rr_nfs4_state *open, const struct rr_nfs4_state *state)
{
	struct rr_lock_work *work = c->op_memory;

	if (state->opening)
		return NFS4ERR_DELAY;
	/* The new open must be able to do what the present open can do. If `open` has too little access for
	 * that, the storage refuses the lock. */
	work->reopens = work->write && state->opened && !(state->access & OPEN4_SHARE_ACCESS_WRITE) &&
			!(state->access & ~open->access);
	return work->reopens && open->opening ? NFS4ERR_DELAY : NFS4_OK;
}

/*
 * Finds or makes the lock state. Stores it in c->state, the open of the OPEN that this LOCK names in
 * c->opened[0] and the lock state's own open, if there is one, in c->opened[1], with references. If another
 * owner has a conflicting lock, work->conflict describes that lock, and NFS4ERR_DENIED is returned; for a
 * reclaim, NFS4ERR_RECLAIM_CONFLICT; for a lock that is about to end, NFS4ERR_DELAY. A client that is ready
 * to wait (READW_LT, WRITEW_LT) is then entered in the list of waits. The caller holds the lock of the
 * tables.
 */
static nfsstat4
lock_prepare(struct rr_nfs4_compound *c, const LOCK4args *args)
{
	struct rr_nfs4_tables *tables = &c->server->shared->tables;
	struct rr_lock_work *work = c->op_memory;
	struct rr_nfs4_state *open = NULL, *state = NULL;
	nfsstat4 status =
		args->reclaim ? rr_nfs4_may_reclaim(c) : rr_nfs4_grace_grant(&tables->grace, c->client);

	if (status == NFS4_OK)
		status = args->locker.new_lock_owner
				 ? lock_new_owner(c, &args->locker.u.open_owner, &open, &state)
				 : lock_known_owner(c, &args->locker.u.lock_owner, &open, &state);
	if (status == NFS4_OK)
		status = lock_check_open(c, open, state);
	if (status != NFS4_OK)
		return status;
	c->state = rr_nfs4_state_hold(state);
	c->own.lock_access = open->access;
	if (open->opened)
		c->opened[0] = rr_nfs4_opened_hold(open->opened);
	if (state->opened)
		c->opened[1] = rr_nfs4_opened_hold(state->opened);
	status = rr_nfs4_lock_conflict(tables, c->client, &state->file->id, lock_owner(state), work->span,
		work->write, &work->conflict);
	if (status == NFS4_OK)
		return NFS4_OK;
	if (status == NFS4ERR_DENIED && lock_waits(c))
		rr_nfs4_wait(state, work->span, work->write, false);
	lock_drop_made(c);
	/* RFC 8881, 15.1.9.5, of NFS4ERR_RECLAIM_CONFLICT: "The reclaim attempted by the client has
	 * encountered a conflict and cannot be satisfied." */
	return args->reclaim && status == NFS4ERR_DENIED ? NFS4ERR_RECLAIM_CONFLICT : status;
}

bool
rr_lock_is_write(nfs_lock_type4 type)
{
	return type == WRITE_LT || type == WRITEW_LT;
}

/* Runs when the attributes of the file are known: looks for a conflicting lock in the tables. If there is
 * none, the storage is asked for the lock, and lock_finish() enters it into the tables. */
static uint32_t
lock_typed(struct rr_nfs4_compound *c)
{
	const LOCK4args *args = &c->op->u.oplock;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = rr_nfs4_regular(&c->current);
	if (status != NFS4_OK)
		return status;
	rr_nfs4_lock_tables(c->server);
	status = lock_prepare(c, args);
	rr_nfs4_unlock_tables(c->server);
	if (status == NFS4ERR_DENIED)
		return rr_lock_denied(c->op_memory, &c->res.u.oplock.u.denied);
	return status == NFS4_OK ? lock_open(c) : status;
}

nfsstat4
rr_lock_begin(struct rr_nfs4_compound *c, uint64_t offset, uint64_t length, bool write)
{
	struct rr_lock_work *work = c->op_memory = rr_nfs4_alloc(c, sizeof(*work));

	if (!work)
		return NFS4ERR_DELAY;
	work->write = write;
	return rr_span(offset, length, &work->span) ? NFS4_OK : NFS4ERR_INVAL;
}

uint32_t
rr_op_lock(struct rr_nfs4_compound *c)
{
	const LOCK4args *args = &c->op->u.oplock;
	nfsstat4 status = rr_lock_begin(c, args->offset, args->length, rr_lock_is_write(args->locktype));

	return status == NFS4_OK ? rr_nfs4_attributes(c, &c->current, lock_typed) : status;
}
