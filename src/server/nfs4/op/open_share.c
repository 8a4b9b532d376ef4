/* SPDX-License-Identifier: BSD-3-Clause */
/* The second part of OPEN, when the file is known: RFC 8881, section 18.16. */
#include <string.h>

#include "server/nfs4/op/open.h"
#include "server/nfs4/support.h"
#include "server/nfs4/tables/deleg.h"
#include "server/nfs4/tables/owner.h"
#include "server/nfs4/tables/share.h"

_Static_assert(OPEN4_SHARE_ACCESS_READ == RR_VFS_SHARE_READ && OPEN4_SHARE_ACCESS_WRITE == RR_VFS_SHARE_WRITE,
	"shares are numbered alike");

void
rr_open_undo(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_open_work *work = c->op_memory;

	rr_nfs4_lock_tables(c->server);
	rr_nfs4_share_undo(&work->reserved);
	rr_nfs4_unlock_tables(c->server);
}

/* Lists in *attrset the attributes that were set; after an exclusive create also the times of access and
 * modification, as the storage keeps the verifier in them. Returns NFS4ERR_DELAY if there is no memory. */
static nfsstat4
open_attrset(struct rr_nfs4_compound *c, bitmap4 *attrset)
{
	const struct rr_nfs4_open_work *work = c->op_memory;
	struct rr_attr_mask mask = { { 0 } };
	uint32_t *words = rr_nfs4_alloc(c, sizeof(mask.words));

	if (!words)
		return NFS4ERR_DELAY;
	if (work->asked)
		mask = rr_attr_applied(work->asked, work->applied);
	if (work->exclusive) {
		rr_attr_add(&mask, FATTR4_TIME_ACCESS);
		rr_attr_add(&mask, FATTR4_TIME_MODIFY);
	}
	memcpy(words, mask.words, sizeof(mask.words));
	attrset->values = words;
	attrset->count = RR_ATTR_WORDS;
	while (attrset->count > 0 && words[attrset->count - 1] == 0)
		attrset->count--;
	return NFS4_OK;
}

/* Returns the flag of the OPEN's result that is of its version: in version 4.0, whether OPEN_CONFIRM is to
 * follow. RFC 7530, 9.1.11: "The server MUST NOT require confirmation on a reclaim-type open". The caller
 * holds the lock of the tables. */
static uint32_t
open_confirmation(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_owner *owner = c->owners[0];

	if (c->args->minor->sessions)
		return OPEN4_RESULT_MAY_NOTIFY_LOCK;
	if (!owner->confirmed && c->op->u.opopen.claim.claim == CLAIM_PREVIOUS)
		rr_nfs4_owner_confirm(owner);
	return owner->confirmed ? 0 : OPEN4_RESULT_CONFIRM;
}

/* Completes the OPEN: fills its result, makes its stateid the current stateid, and releases the reference to
 * the open state. */
uint32_t
rr_open_finish(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_open_work *work = c->op_memory;
	OPEN4resok *ok = &c->res.u.opopen.u.resok4;
	struct rr_nfs4_state *state = work->reserved.state;

	/* The file is open: without memory for the list, the list is empty. */
	open_attrset(c, &ok->attrset);
	ok->cinfo = work->cinfo;
	ok->rflags = OPEN4_RESULT_LOCKTYPE_POSIX;
	rr_nfs4_lock_tables(c->server);
	ok->rflags |= open_confirmation(c);
	rr_open_give(c, &ok->delegation);
	/* This OPEN cannot fail any more: other operations may change the share of the state again. */
	if (work->opening)
		state->opening = false;
	rr_nfs4_stateid_next(state, &ok->stateid);
	rr_nfs4_state_release(state);
	rr_nfs4_unlock_tables(c->server);
	rr_nfs4_set_stateid(c, &ok->stateid);
	return NFS4_OK;
}

/* Runs when the storage has truncated the file: goes on with the delegation. If the storage failed, the share
 * of the OPEN is undone. */
static uint32_t
open_truncated(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_open_work *work = c->op_memory;

	if (c->vfs_status != RR_VFS_OK) {
		rr_open_undo(c);
		return rr_nfs4_status(c->vfs_status);
	}
	work->applied |= RR_VFS_SET_SIZE;
	return rr_open_delegate(c);
}

/* Runs when the file is open: cuts the file to size 0 if the OPEN asks for that and has not made the file
 * itself; then goes on with the delegation. */
static uint32_t
open_truncate(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_open_work *work = c->op_memory;
	struct rr_vfs *vfs = c->server->vfs;
	struct rr_vfs_setattr *setattr;

	if (!work->truncate || work->created)
		return rr_open_delegate(c);
	setattr = &rr_nfs4_vfs_begin(c)->setattr;
	/* If the OPEN does not open the file for writing, setattr gets no open: the storage then checks that
	 * the caller may write the file. No other open denies that: rr_nfs4_share() has looked. */
	setattr->object = rr_nfs4_object(&c->current);
	setattr->object.reserved = true;
	if (c->op->u.opopen.share_access & OPEN4_SHARE_ACCESS_WRITE)
		setattr->object = rr_nfs4_object_as(c, &c->current, c->opened[1] ? 1 : 0);
	setattr->set.mask = RR_VFS_SET_SIZE;
	return rr_nfs4_vfs(c, rr_vfs_setattr(vfs, setattr), open_truncated);
}

nfsstat4
rr_open_take(struct rr_nfs4_compound *c)
{
	const struct rr_nfs4_open_work *work = c->op_memory;
	struct rr_nfs4_state *state = work->reserved.state;
	struct rr_vfs *vfs = c->server->vfs;
	bool kept;

	if (c->vfs_status != RR_VFS_OK) {
		rr_open_undo(c);
		return rr_nfs4_status(c->vfs_status);
	}
	rr_nfs4_lock_tables(c->server);
	kept = rr_nfs4_state_opened(state, c->vfs.opening.open, c->caller.who);
	if (kept)
		c->opened[1] = rr_nfs4_opened_hold(state->opened);
	rr_nfs4_unlock_tables(c->server);
	if (kept)
		return NFS4_OK;
	rr_vfs_close(vfs, c->vfs.opening.open, NULL);
	rr_open_undo(c);
	return NFS4ERR_DELAY;
}

/* Runs when the storage has opened the file, or failed to: stores the open in the open state, and truncates
 * the file if the OPEN asks for that. */
static uint32_t
open_opened(struct rr_nfs4_compound *c)
{
	nfsstat4 status = rr_open_take(c);

	return status == NFS4_OK ? open_truncate(c) : status;
}

bool
rr_open_is_enough(const struct rr_nfs4_reserved *reserved)
{
	const struct rr_nfs4_state *state = reserved->state;

	return state->opened && state->access == reserved->access && state->deny == reserved->deny;
}

uint32_t
rr_open_storage(struct rr_nfs4_compound *c, rr_nfs4_step *then)
{
	const struct rr_nfs4_open_work *work = c->op_memory;
	const struct rr_nfs4_state *state = work->reserved.state;
	struct rr_vfs_opening *opening = &rr_nfs4_vfs_begin(c)->opening;
	struct rr_vfs *vfs = c->server->vfs;

	/* c->opened[0] is the earlier open of the state. */
	opening->object = rr_nfs4_object_as(c, &c->current, 0);
	opening->access = state->access;
	opening->deny = state->deny;
	opening->relation = opening->object.open ? RR_VFS_REPLACES : RR_VFS_ANOTHER;
	return rr_nfs4_vfs(c, rr_vfs_open(vfs, opening), then);
}

/*
 * Handles the delegations of the file before it is opened. With CLAIM_DELEGATE_CUR or CLAIM_DELEG_CUR_FH, the
 * client must have a delegation of the file and must not write. With other claims, an OPEN that writes, or
 * denies something to others, recalls the delegations of other clients and gets NFS4ERR_DELAY until these
 * have ended: RFC 8881, 10.4. An OPEN that writes also recalls the client's own delegation. The caller holds
 * the lock of the tables.
 */
static nfsstat4
open_meet_delegations(struct rr_nfs4_compound *c, struct rr_nfs4_tables *tables)
{
	const OPEN4args *args = &c->op->u.opopen;
	const struct rr_nfs4_open_work *work = c->op_memory;
	uint64_t now = rr_now(c->server->env);
	bool writes = args->share_access & OPEN4_SHARE_ACCESS_WRITE || work->truncate;

	if (args->claim.claim == CLAIM_DELEGATE_CUR || args->claim.claim == CLAIM_DELEG_CUR_FH)
		return writes ? NFS4ERR_INVAL : rr_open_check_delegation(c, &work->id);
	if (!writes && args->share_deny == OPEN4_SHARE_DENY_NONE)
		return NFS4_OK;
	if (rr_nfs4_deleg_conflict(tables, c->client, &work->id, now))
		return NFS4ERR_DELAY;
	if (writes)
		rr_nfs4_deleg_own(tables, c->client, &work->id, now);
	return NFS4_OK;
}

/*
 * Tells whether the mode of the file forbids this OPEN to the owner of the file. RFC 8881, 6.1: "setting a
 * mode of 000 should be enough to ensure that future OPEN operations for OPEN4_SHARE_ACCESS_READ or
 * OPEN4_SHARE_ACCESS_WRITE by any principal fail". The storage lets the owner of a file in by any mode, as
 * NFS version 3 needs it, so OPEN checks the owner's bits here. Any mode is allowed for the superuser; for a
 * file that this OPEN has made, or an exclusive OPEN of which this may be a retry; and for claims other than
 * CLAIM_NULL and CLAIM_FH, as the client has had that file open. The right to execute includes reading: RFC
 * 8881, 6.3.1.1.
 */
static bool
open_is_closed_to_owner(const struct rr_nfs4_compound *c)
{
	const OPEN4args *args = &c->op->u.opopen;
	const struct rr_nfs4_open_work *work = c->op_memory;
	const struct rr_vfs_attributes *attributes = &c->current.attributes;
	uint32_t uid = c->identity.caller.uid;

	if (uid == 0 || uid != attributes->uid || work->created || work->exclusive)
		return false;
	if (args->claim.claim != CLAIM_NULL && args->claim.claim != CLAIM_FH)
		return false;
	if ((args->share_access & OPEN4_SHARE_ACCESS_WRITE || work->truncate) &&
		!(attributes->mode & MODE4_WUSR))
		return true;
	return args->share_access & OPEN4_SHARE_ACCESS_READ &&
	       !(attributes->mode & (MODE4_RUSR | MODE4_XUSR));
}

uint32_t
rr_open_file(struct rr_nfs4_compound *c)
{
	const OPEN4args *args = &c->op->u.opopen;
	struct rr_nfs4_open_work *work = c->op_memory;
	const struct rr_nfs4_share share = {
		.id = &c->current.attributes.id,
		.handle = &c->current.handle,
		.owner = args->owner.owner,
		.access = rr_open_access(args->share_access),
		.deny = args->share_deny,
		.once = work->truncate ? OPEN4_SHARE_ACCESS_WRITE : 0,
	};
	struct rr_nfs4_tables *tables;
	nfsstat4 status;
	bool enough = false;

	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	status = rr_nfs4_regular(&c->current);
	if (status == NFS4_OK && open_is_closed_to_owner(c))
		status = NFS4ERR_ACCESS;
	if (status != NFS4_OK)
		return status;
	work->id = c->current.attributes.id;
	tables = rr_nfs4_lock_tables(c->server);
	/* The share is reserved first: an OPEN that a share reservation refuses recalls no delegation. */
	status = rr_nfs4_share(tables, c->client, &share, &work->reserved);
	if (status == NFS4_OK) {
		status = open_meet_delegations(c, tables);
		if (status != NFS4_OK)
			rr_nfs4_share_undo(&work->reserved);
	}
	if (status == NFS4_OK && c->owners[0])
		rr_nfs4_owner_take(c->owners[0], work->reserved.state);
	if (status == NFS4_OK) {
		/* If this OPEN has the file opened or truncated, it may fail and undo its share: until
		 * then, `opening` keeps other operations away from the state. */
		enough = rr_open_is_enough(&work->reserved);
		if (!enough || work->truncate)
			work->reserved.state->opening = work->opening = true;
		if (work->reserved.state->opened)
			c->opened[0] = rr_nfs4_opened_hold(work->reserved.state->opened);
	}
	rr_nfs4_unlock_tables(c->server);
	/* The open that a reclaim asks for conflicts with an open of another client. */
	if (status == NFS4ERR_SHARE_DENIED && args->claim.claim == CLAIM_PREVIOUS)
		return NFS4ERR_RECLAIM_CONFLICT;
	if (status != NFS4_OK)
		return status;
	return enough ? open_truncate(c) : rr_open_storage(c, open_opened);
}
