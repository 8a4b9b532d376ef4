/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The delegation that comes with an OPEN: RFC 8881, sections 10.4 and 18.16.
 *
 * The delegation is entered into the tables first, so that a later writer of any client finds it. Then the
 * storage opens the file once more and is asked for a lease on that open: the lease breaks when a local
 * program is about to change the file. Without a lease of the storage there is no delegation.
 */
#include <string.h>

#include "server/nfs4/op/open.h"
#include "server/nfs4/support.h"
#include "server/nfs4/tables/deleg.h"

/* Tells whether an OPEN reclaims a read delegation that the client had before the server was started
 * again. */
static bool
deleg_is_reclaimed(const OPEN4args *args)
{
	return args->claim.claim == CLAIM_PREVIOUS && args->claim.u.delegate_type == OPEN_DELEGATE_READ;
}

/* Tells whether the arguments of the OPEN allow that the client gets a read delegation: the OPEN opens the
 * file for reading only, by its name or filehandle, and does not say that it wants no such delegation; or it
 * is a reclaim. If they do not allow it, *why has the reason. */
static bool
deleg_is_wanted(const OPEN4args *args, why_no_delegation4 *why)
{
	uint32_t want = args->share_access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;

	*why = WND4_RESOURCE;
	if (deleg_is_reclaimed(args))
		return true;
	switch (want) {
	case OPEN4_SHARE_ACCESS_WANT_NO_DELEG: *why = WND4_NOT_WANTED; return false;
	case OPEN4_SHARE_ACCESS_WANT_CANCEL: *why = WND4_CANCELLED; return false;
	case OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG: *why = WND4_WRITE_DELEG_NOT_SUPP_FTYPE; return false;
	}
	/* A delegation that the client did not ask for and that would soon be recalled is not given: a new
	 * file is about to be written to, and a share that denies something expects other clients. */
	if (want == OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE &&
		(args->openhow.opentype == OPEN4_CREATE || args->share_deny != OPEN4_SHARE_DENY_NONE))
		return false;
	if (args->claim.claim != CLAIM_NULL && args->claim.claim != CLAIM_FH)
		return false;
	return rr_open_access(args->share_access) == OPEN4_SHARE_ACCESS_READ;
}

/* Recalls a delegation. The storage calls this function when a local program is about to change the file, so
 * that the storage's lease on the file breaks. ctx: the open of the delegation, which has the lease. */
static void
deleg_broken(void *ctx)
{
	struct rr_nfs4_opened *opened = ctx;
	struct rr_nfs4_tables *tables = opened->tables;
	struct rr_nfs4_shared *shared = rr_container(tables, struct rr_nfs4_shared, tables);

	/* Not rr_nfs4_lock_tables(): its counterpart would close the opens that are not used any more, and
	 * the storage forbids that here. */
	pthread_mutex_lock(&shared->tables.locks->mutex);
	/* NULL: the delegation has ended or was revoked meanwhile. */
	if (opened->delegation)
		rr_nfs4_deleg_recall(opened->delegation, rr_now(shared->env));
	pthread_mutex_unlock(&shared->tables.locks->mutex);
}

/* Handles a delegation for which the storage gave no open or no lease, unless it was revoked meanwhile. A
 * reclaimed delegation, which the client had before the server started, counts as recalled: rr_open_give()
 * then sets "recall" in the answer, and the client has a lease period to return it. Any other delegation, of
 * which the client does not know yet, ends. The caller holds the lock of the tables. */
static void
deleg_fail(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_open_work *work = c->op_memory;
	struct rr_nfs4_state *state = work->delegation;

	if (!rr_nfs4_state_lives(state))
		return;
	if (deleg_is_reclaimed(&c->op->u.opopen))
		rr_nfs4_deleg_lapse(state, rr_now(c->server->env));
	else
		rr_nfs4_state_end(state);
}

/* Tells whether the storage has answered that the file system of the file has no leases. */
static bool
deleg_has_no_leases(const struct rr_nfs4_compound *c)
{
	const struct rr_nfs4_open_work *work = c->op_memory;

	return c->server->no_leases &&
	       memcmp(c->server->no_leases_fsid, work->id.fsid, sizeof(work->id.fsid)) == 0;
}

/* Runs when the storage has granted or refused a lease for the delegation, and completes the OPEN. Without a
 * lease, the delegation loses its open, and deleg_fail() ends it or asks for its return. */
static uint32_t
deleg_leased(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_open_work *work = c->op_memory;

	/* With RR_VFS_NOTSUPP, the file system has no leases at all: rr_open_delegate() then makes no
	 * delegation of its files any more, except for a reclaim. */
	if (c->vfs_status == RR_VFS_NOTSUPP) {
		c->server->no_leases = true;
		memcpy(c->server->no_leases_fsid, work->id.fsid, sizeof(work->id.fsid));
	}
	rr_nfs4_lock_tables(c->server);
	if (c->vfs_status != RR_VFS_OK) {
		rr_nfs4_state_close(work->delegation);
		deleg_fail(c);
	}
	rr_nfs4_unlock_tables(c->server);
	return rr_open_finish(c);
}

/* Runs when the storage has opened the file once more, for the delegation, which may outlive the open of the
 * OPEN: asks for a lease on that new open. The storage may call deleg_broken() with the open as soon as it
 * has granted the lease, so c->opened[0] holds a reference to the open until the OPEN is completed. If the
 * storage could not open the file, deleg_fail() handles the delegation, and the OPEN is completed. */
static uint32_t
deleg_opened(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_open_work *work = c->op_memory;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_open *open = c->vfs.opening.open;
	struct rr_nfs4_opened *opened = NULL;
	struct rr_vfs_lease *lease;

	rr_nfs4_lock_tables(c->server);
	if (c->vfs_status == RR_VFS_OK && rr_nfs4_state_opened(work->delegation, open, c->caller.who)) {
		opened = rr_nfs4_opened_hold(work->delegation->opened);
		if (c->opened[0])
			rr_nfs4_opened_release(work->delegation->tables, c->opened[0]);
		c->opened[0] = opened;
	} else {
		deleg_fail(c);
	}
	rr_nfs4_unlock_tables(c->server);
	if (!opened && c->vfs_status == RR_VFS_OK)
		rr_vfs_close(vfs, open, NULL);
	if (!opened)
		return rr_open_finish(c);
	lease = &rr_nfs4_vfs_begin(c)->lease;
	lease->open = open;
	lease->recall = deleg_broken;
	lease->ctx = opened;
	return rr_nfs4_vfs(c, rr_vfs_lease(vfs, lease), deleg_leased);
}

/* Makes the delegation in the tables, or makes it again for a reclaim. Returns NULL if the client gets no
 * delegation; unless it was a reclaim, work->why then has the reason. */
static struct rr_nfs4_state *
deleg_make(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_open_work *work = c->op_memory;
	const struct rr_vfs_id *id = &work->id;
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(c->server);
	struct rr_nfs4_state *state;

	if (deleg_is_reclaimed(&c->op->u.opopen))
		state = rr_nfs4_deleg_reclaim(tables, c->client, id, &c->current.handle);
	else
		state = rr_nfs4_deleg_make(
			tables, c->client, id, &c->current.handle, rr_now(c->server->env), &work->why);
	rr_nfs4_unlock_tables(c->server);
	return state;
}

uint32_t
rr_open_delegate(struct rr_nfs4_compound *c)
{
	const OPEN4args *args = &c->op->u.opopen;
	struct rr_nfs4_open_work *work = c->op_memory;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_opening *opening;

	/* Without sessions, clients of version 4.0 get no callbacks. */
	if (!c->args->minor->sessions || !deleg_is_wanted(args, &work->why))
		return rr_open_finish(c);
	/* If the file system has no leases, only a reclaim makes a delegation: deleg_fail() then has the
	 * client return it. */
	if (!deleg_has_no_leases(c) || deleg_is_reclaimed(args))
		work->delegation = deleg_make(c);
	if (!work->delegation)
		return rr_open_finish(c);
	opening = &rr_nfs4_vfs_begin(c)->opening;
	/* c->opened[1] is the open that this OPEN has made, c->opened[0] an earlier open of the state. */
	opening->object = rr_nfs4_object_as(c, &c->current, c->opened[1] ? 1 : 0);
	opening->access = RR_VFS_SHARE_READ;
	/* The share reservation of the OPEN's open holds for this open, too. */
	opening->relation = RR_VFS_BESIDE;
	return rr_nfs4_vfs(c, rr_vfs_open(vfs, opening), deleg_opened);
}

/* Stores in *delegation why there is no delegation, if the client said in its OPEN what it wants; else leaves
 * *delegation as it is. RFC 8881, 18.16.3: "in the event the server does not return a delegation, it MUST
 * return a delegation type of OPEN_DELEGATE_NONE_EXT". */
static void
deleg_none(uint32_t share_access, why_no_delegation4 why, open_delegation4 *delegation)
{
	if ((share_access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK) == OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE)
		return;
	delegation->delegation_type = OPEN_DELEGATE_NONE_EXT;
	delegation->u.od_whynone.ond_why = why;
}

/* Stores in the delegation which call gives it to the client, for a recall that may come before the answer to
 * that call. RFC 8881, 2.10.6.3: "For each client operation that might result in some sort of server
 * callback, the server SHOULD "remember" the { session ID, slot ID, sequence ID } triple of the client
 * request" */
static void
deleg_remember(const struct rr_nfs4_compound *c, struct rr_nfs4_state *state)
{
	const SEQUENCE4resok *ok = &c->turn.ok;
	struct rr_nfs4_call_name *origin = &state->callback.origin;

	memcpy(origin->session, ok->sr_sessionid, sizeof(origin->session));
	origin->slot = ok->sr_slotid;
	origin->sequence = ok->sr_sequenceid;
	state->callback.has_origin = true;
}

/* Fills in the delegation of the OPEN's result, or the reason why there is none, and releases the reference
 * to the delegation. The permissions in the result stay empty, so that the client asks the server by ACCESS.
 * The caller holds the lock of the tables. */
void
rr_open_give(struct rr_nfs4_compound *c, open_delegation4 *delegation)
{
	struct rr_nfs4_open_work *work = c->op_memory;
	struct rr_nfs4_state *state = work->delegation;
	open_read_delegation4 *read = &delegation->u.read;

	delegation->delegation_type = OPEN_DELEGATE_NONE;
	if (!state || !rr_nfs4_state_lives(state)) {
		deleg_none(c->op->u.opopen.share_access, state ? WND4_CONTENTION : work->why, delegation);
	} else {
		delegation->delegation_type = OPEN_DELEGATE_READ;
		rr_nfs4_stateid_next(state, &read->stateid);
		read->recall = state->recalled > 0;
		deleg_remember(c, state);
	}
	if (state)
		rr_nfs4_state_release(state);
}
