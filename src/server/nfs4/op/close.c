/* SPDX-License-Identifier: BSD-3-Clause */
/* OPEN_DOWNGRADE and CLOSE: RFC 8881, sections 18.18 and 18.2. OPEN_CONFIRM. */
#include "server/nfs4/op/open.h"
#include "server/nfs4/support.h"
#include "server/nfs4/tables/owner.h"
#include "server/nfs4/tables/share.h"

/* Completes OPEN_DOWNGRADE: the open state gets its next seqid, and its stateid becomes the result and the
 * current stateid. The reference of the operation to the state is released. */
static uint32_t
op_downgrade_finish(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_open_work *work = c->op_memory;
	stateid4 *stateid = &c->res.u.opopen_downgrade.u.resok4.open_stateid;

	rr_nfs4_lock_tables(c->server);
	/* The new open is in its place: other operations may have the file opened for this state again. */
	if (work->opening)
		work->reserved.state->opening = false;
	rr_nfs4_stateid_next(work->reserved.state, stateid);
	rr_nfs4_state_release(work->reserved.state);
	rr_nfs4_unlock_tables(c->server);
	rr_nfs4_set_stateid(c, stateid);
	return NFS4_OK;
}

/* Runs when the storage has opened the file for the lower access: stores this new open in the open state, and
 * completes OPEN_DOWNGRADE. If the storage failed, the earlier share is set back. */
static uint32_t
op_downgrade_opened(struct rr_nfs4_compound *c)
{
	nfsstat4 status = rr_open_take(c);

	return status == NFS4_OK ? op_downgrade_finish(c) : status;
}

/* Lowers the share of the open state in the tables, and keeps the earlier share in work->reserved for the
 * case that the storage refuses. Takes references to the state, in work->reserved, and to its open, in
 * c->opened[0]. Returns NFS4ERR_DELAY if the storage is opening the file for another operation with this
 * state, and NFS4ERR_INVAL for a share that the client cannot ask for. */
static nfsstat4
op_downgrade_reserve(struct rr_nfs4_compound *c, const OPEN_DOWNGRADE4args *args)
{
	struct rr_nfs4_open_work *work = c->op_memory;
	struct rr_nfs4_state *state;
	nfsstat4 status;

	rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_find_state(c, &c->current, &args->open_stateid, RR_NFS4_OPEN, &state);
	if (status == NFS4_OK && state->opening)
		status = NFS4ERR_DELAY;
	if (status == NFS4_OK) {
		work->reserved =
			(struct rr_nfs4_reserved){ state, state->access, state->deny, state->combinations };
		status = rr_nfs4_downgrade(state, rr_open_access(args->share_access), args->share_deny);
	}
	if (status == NFS4_OK) {
		rr_nfs4_state_hold(state);
		work->opening = !rr_open_is_enough(&work->reserved);
		state->opening = work->opening;
		if (state->opened)
			c->opened[0] = rr_nfs4_opened_hold(state->opened);
	}
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/* Runs when the attributes of the file are known: lowers the share in the tables. If the share has changed,
 * the storage opens the file again for the lower access. */
static uint32_t
op_downgrade_typed(struct rr_nfs4_compound *c)
{
	const struct rr_nfs4_open_work *work = c->op_memory;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = op_downgrade_reserve(c, &c->op->u.opopen_downgrade);
	if (status != NFS4_OK)
		return status;
	return work->opening ? rr_open_storage(c, op_downgrade_opened) : op_downgrade_finish(c);
}

uint32_t
rr_op_open_downgrade(struct rr_nfs4_compound *c)
{
	const OPEN_DOWNGRADE4args *args = &c->op->u.opopen_downgrade;
	nfsstat4 status = rr_open_check_share(c, args->share_access, args->share_deny);

	if (status != NFS4_OK)
		return status;
	c->op_memory = rr_nfs4_alloc(c, sizeof(struct rr_nfs4_open_work));
	return c->op_memory ? rr_nfs4_attributes(c, &c->current, op_downgrade_typed) : NFS4ERR_DELAY;
}

/* ---- OPEN_CONFIRM ---- */

/* Carries out OPEN_CONFIRM, of version 4.0: RFC 7530, 16.18. The number of the request was right, and names
 * an owner that is not confirmed yet: identify.c. */
uint32_t
rr_op_open_confirm(struct rr_nfs4_compound *c)
{
	const OPEN_CONFIRM4args *args = &c->op->u.opopen_confirm;
	stateid4 *stateid = &c->res.u.opopen_confirm.u.resok4.open_stateid;
	struct rr_nfs4_state *state;
	nfsstat4 status;

	rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_find_state(c, &c->current, &args->open_stateid, RR_NFS4_OPEN, &state);
	if (status == NFS4_OK) {
		rr_nfs4_owner_confirm(c->owners[0]);
		rr_nfs4_stateid_next(state, stateid);
	}
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/* ---- CLOSE ---- */

/* Runs when the storage has closed the file: makes the invalid special stateid the result and the current
 * stateid. */
static uint32_t
close_closed(struct rr_nfs4_compound *c)
{
	stateid4 *closed = &c->res.u.opclose.u.open_stateid;

	/* RFC 8881, 18.2.4: "the server SHOULD return the invalid special stateid". Its other octets are 0,
	 * as the result was zeroed before. */
	closed->seqid = NFS4_UINT32_MAX;
	rr_nfs4_set_stateid(c, closed);
	return NFS4_OK;
}

/* Ends the open state. Returns the storage's open, which the caller closes, or NULL where another operation
 * still uses it. The caller holds the lock of the tables. */
static struct rr_vfs_open *
close_state(struct rr_nfs4_state *state)
{
	struct rr_nfs4_opened *opened = state->opened ? rr_nfs4_opened_hold(state->opened) : NULL;

	rr_nfs4_state_end(state);
	return opened ? rr_nfs4_opened_take(opened) : NULL;
}

/* Runs when the attributes of the file are known, or need not be known: ends the open state, and has the
 * storage close the file. CLOSE ends after that, because a program that the client has written can only be
 * run when nobody has it open for writing. */
static uint32_t
close_typed(struct rr_nfs4_compound *c)
{
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_open *open = NULL;
	struct rr_nfs4_state *state;
	nfsstat4 status;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	rr_nfs4_lock_tables(c->server);
	status = rr_nfs4_find_state(c, &c->current, &c->op->u.opclose.open_stateid, RR_NFS4_OPEN, &state);
	/* An OPEN or OPEN_DOWNGRADE of this state is under way: its result would name a state that has
	 * ended. */
	if (status == NFS4_OK && state->holders > 1)
		status = NFS4ERR_DELAY;
	if (status == NFS4_OK)
		open = close_state(state);
	rr_nfs4_unlock_tables(c->server);
	if (status != NFS4_OK)
		return status;
	rr_nfs4_vfs_begin_of(c, sizeof(c->vfs.call));
	return rr_nfs4_vfs(c, rr_vfs_close(vfs, open, &c->vfs.call), close_closed);
}

/* Carries out CLOSE. First it looks for the open state without the attributes of the file. This succeeds if
 * the file was opened by the same filehandle. Otherwise it reads the attributes and looks again. */
uint32_t
rr_op_close(struct rr_nfs4_compound *c)
{
	uint32_t status;

	c->vfs_status = RR_VFS_OK;
	status = close_typed(c);
	return status == NFS4ERR_BAD_STATEID ? rr_nfs4_attributes(c, &c->current, close_typed) : status;
}
