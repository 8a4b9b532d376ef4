/* SPDX-License-Identifier: BSD-3-Clause */
/* LOCKT and LOCKU: RFC 8881, sections 18.11 and 18.12. */
#include "server/nfs4/op/lock.h"
#include "server/nfs4/support.h"
#include "server/nfs4/tables/lock.h"

/* Runs when the attributes of the file are known: looks for a conflicting lock of another owner in the
 * tables. If there is one, LOCKT fails with NFS4ERR_DENIED and describes that lock. The storage is not asked:
 * only LOCK finds the locks of local programs. */
static uint32_t
lockt_typed(struct rr_nfs4_compound *c)
{
	struct rr_lock_work *work = c->op_memory;
	struct rr_nfs4_tables *tables;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = rr_nfs4_regular(&c->current);
	if (status != NFS4_OK)
		return status;
	tables = rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_grace_grant(&tables->grace, c->client);
	if (status == NFS4_OK)
		status = rr_nfs4_lock_conflict(tables, c->client, &c->current.attributes.id,
			c->op->u.oplockt.owner.owner, work->span, work->write, &work->conflict);
	rr_nfs4_unlock_tables(c->server);
	return status == NFS4ERR_DENIED ? rr_lock_denied(work, &c->res.u.oplockt.u.denied) : status;
}

uint32_t
rr_op_lockt(struct rr_nfs4_compound *c)
{
	const LOCKT4args *args = &c->op->u.oplockt;
	nfsstat4 status = rr_lock_begin(c, args->offset, args->length, rr_lock_is_write(args->locktype));

	return status == NFS4_OK ? rr_nfs4_attributes(c, &c->current, lockt_typed) : status;
}

/* ---- LOCKU ---- */

/* Runs when the storage has the locks of the lock-owner again that it had before: refuses the LOCKU. */
static uint32_t
op_locku_undone(struct rr_nfs4_compound *c)
{
	const struct rr_lock_work *work = c->op_memory;

	return work->status;
}

/* Runs when the storage has unlocked the range: removes the range from the lock state, whose stateid gets its
 * next seqid and becomes the current stateid. If the tables refuse that, as the cut would make too many
 * ranges, the storage gets its locks back, too. */
static uint32_t
op_locku_unlocked(struct rr_nfs4_compound *c)
{
	const struct rr_lock_work *work = c->op_memory;
	stateid4 *stateid = &c->res.u.oplocku.u.lock_stateid;
	nfsstat4 status = NFS4ERR_BAD_STATEID;

	if (c->vfs_status != RR_VFS_OK && c->vfs_status != RR_VFS_NOTSUPP)
		return rr_nfs4_status(c->vfs_status);
	rr_nfs4_lock_tables(c->server);
	if (rr_nfs4_state_lives(c->state))
		status = rr_nfs4_unlock(c->state, work->span);
	if (status == NFS4_OK)
		rr_nfs4_stateid_next(c->state, stateid);
	rr_nfs4_unlock_tables(c->server);
	if (status != NFS4_OK)
		return rr_lock_restore(c, status, op_locku_undone);
	rr_nfs4_set_stateid(c, stateid);
	return NFS4_OK;
}

/* Runs when the attributes of the file are known: finds the lock state of the LOCKU, and has the storage
 * unlock the range by the lock-owner's own open, which becomes c->opened[1]. Without such an open the storage
 * has no locks of the owner, and is not asked. */
static uint32_t
op_locku_typed(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_state *state;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_find_state(c, &c->current, &c->op->u.oplocku.lock_stateid, RR_NFS4_LOCK, &state);
	/* A LOCK moves the ranges to a new open: rr_lock_reopen(). */
	if (status == NFS4_OK && state->opening)
		status = NFS4ERR_DELAY;
	if (status == NFS4_OK) {
		c->state = rr_nfs4_state_hold(state);
		if (state->opened)
			c->opened[1] = rr_nfs4_opened_hold(state->opened);
	}
	rr_nfs4_unlock_tables(c->server);
	return status == NFS4_OK ? rr_lock_storage(c, RR_VFS_UNLOCK, op_locku_unlocked) : status;
}

uint32_t
rr_op_locku(struct rr_nfs4_compound *c)
{
	const LOCKU4args *args = &c->op->u.oplocku;
	/* false: LOCKU unlocks whatever is locked in the range, so the type of a lock does not matter. */
	nfsstat4 status = rr_lock_begin(c, args->offset, args->length, false);

	return status == NFS4_OK ? rr_nfs4_attributes(c, &c->current, op_locku_typed) : status;
}
