/* SPDX-License-Identifier: BSD-3-Clause */
/* OPEN: RFC 8881, section 18.16. This file goes from the arguments to the file, which is found or made;
 * open_share.c then opens it. */
#include "server/nfs4/op/open.h"
#include "server/nfs4/names.h"
#include "server/nfs4/support.h"

#include <string.h>

nfsstat4
rr_open_check_share(const struct rr_nfs4_compound *c, uint32_t share_access, uint32_t share_deny)
{
	/* wants: all flags beside the access itself; want: the one of them that says which delegation. */
	uint32_t wants = share_access & ~(uint32_t)OPEN4_SHARE_ACCESS_BOTH;
	uint32_t want = wants & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;

	if (rr_open_access(share_access) == 0 || share_deny > OPEN4_SHARE_DENY_BOTH)
		return NFS4ERR_INVAL;
	if (want > OPEN4_SHARE_ACCESS_WANT_CANCEL || (wants > 0 && !c->args->minor->sessions))
		return NFS4ERR_INVAL;
	if (wants & ~(uint32_t)(OPEN4_SHARE_ACCESS_WANT_DELEG_MASK |
				OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL |
				OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED))
		return NFS4ERR_INVAL;
	return NFS4_OK;
}

/*
 * Returns NFS4_OK if the claim of an OPEN is allowed now, else an error. CLAIM_PREVIOUS, a reclaim, is
 * allowed in the grace period until the client has sent RECLAIM_COMPLETE. CLAIM_DELEGATE_CUR and
 * CLAIM_DELEG_CUR_FH are always allowed. Any other claim is allowed when the grace period is over and the
 * client has sent RECLAIM_COMPLETE. RFC 8881, 18.51.3: "If non-reclaim locking operations are done before the
 * RECLAIM_COMPLETE, an NFS4ERR_GRACE error will be returned", and NFS4ERR_NO_GRACE for later reclaims.
 */
static nfsstat4
open_check_grace(struct rr_nfs4_compound *c, open_claim_type4 claim)
{
	struct rr_nfs4_tables *tables = rr_nfs4_lock_tables(c->server);
	nfsstat4 status = NFS4_OK;

	if (claim == CLAIM_PREVIOUS)
		status = rr_nfs4_may_reclaim(c);
	else if (claim != CLAIM_DELEGATE_CUR && claim != CLAIM_DELEG_CUR_FH)
		status = rr_nfs4_grace_grant(&tables->grace, c->client);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/* Sets work->cinfo for an OPEN that has not changed the directory: before and after are the same. If the
 * storage has not given the attributes of the directory, both are 0 and atomic is false. */
static void
open_set_cinfo(struct rr_nfs4_open_work *work, const struct rr_vfs_known *directory)
{
	work->cinfo.atomic = directory->valid;
	work->cinfo.before = work->cinfo.after = directory->valid ? directory->attributes.change : 0;
}

/* Runs when the type of the current filehandle's object is known, which is no directory. */
static uint32_t
open_no_directory(struct rr_nfs4_compound *c)
{
	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	return c->current.attributes.type == RR_VFS_LINK ? NFS4ERR_SYMLINK : NFS4ERR_NOTDIR;
}

/* Runs when the storage has looked up the name of an existing file: the file becomes the current filehandle,
 * and is opened. */
static uint32_t
open_looked_up(struct rr_nfs4_compound *c)
{
	const struct rr_vfs_lookup *lookup = &c->vfs.lookup;
	const struct rr_nfs4_open_work *work = c->op_memory;

	if (c->vfs_status == RR_VFS_NOTDIR)
		return rr_nfs4_attributes(c, &c->current, open_no_directory);
	/* With UNCHECKED4, the name is looked up because the creation has just found it in the directory. It
	 * is gone now, so the client has to try again. */
	if (c->vfs_status == RR_VFS_NOENT && work->unchecked)
		return NFS4ERR_DELAY;
	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	open_set_cinfo(c->op_memory, &lookup->directory_after);
	rr_nfs4_set_fh(&c->current, &lookup->handle);
	c->current.known = true;
	c->current.attributes = lookup->attributes;
	return rr_open_file(c);
}

/* Has the storage look up the name of the file, and goes on with open_looked_up(). */
static uint32_t
open_look_up(struct rr_nfs4_compound *c)
{
	struct rr_vfs_lookup *lookup = &rr_nfs4_vfs_begin(c)->lookup;
	struct rr_vfs *vfs = c->server->vfs;

	lookup->directory = rr_nfs4_object(&c->current);
	lookup->name = c->own.lookup.name;
	return rr_nfs4_vfs(c, rr_vfs_lookup(vfs, lookup), open_looked_up);
}

/* Runs when the storage has answered to the creation of the file: a new file becomes the current filehandle
 * and is opened. If the name exists and the create is UNCHECKED4, the name is looked up instead. */
static uint32_t
open_created(struct rr_nfs4_compound *c)
{
	const struct rr_vfs_create *create = &c->vfs.create;
	struct rr_nfs4_open_work *work = c->op_memory;

	/* RFC 8881, 18.16.3: UNCHECKED4 opens an existing file. Another object of that name is looked up,
	 * too: its type then gives the error. */
	if (c->vfs_status == RR_VFS_EXIST && work->unchecked)
		return open_look_up(c);
	if (c->vfs_status == RR_VFS_NOTDIR)
		return rr_nfs4_attributes(c, &c->current, open_no_directory);
	if (c->vfs_status != RR_VFS_OK)
		return rr_nfs4_status(c->vfs_status);
	rr_nfs4_change_info(&create->directory_change, &work->cinfo);
	work->created = create->created;
	/* A new file has the size 0 that a truncating OPEN asks for. */
	work->applied = create->applied | (create->created && work->truncate ? RR_VFS_SET_SIZE : 0);
	/* A client that sees the directory unchanged believes that no file was made. */
	if (create->created && work->cinfo.before == work->cinfo.after)
		work->cinfo.before--;
	rr_nfs4_set_fh(&c->current, &create->handle);
	c->current.known = create->object_after.valid;
	c->current.attributes = create->object_after.attributes;
	return rr_nfs4_attributes(c, &c->current, rr_open_file);
}

static uint32_t open_create(struct rr_nfs4_compound *c);

/* Sets how the storage makes the file, in `create`, and which attributes the new file gets, in work->set. The
 * mode of the create decides both: UNCHECKED4, GUARDED4, EXCLUSIVE4 or EXCLUSIVE4_1. Returns an error if the
 * attributes of the arguments cannot be set, or RR_NFS4_PENDING: open_create() will run once more. */
static uint32_t
open_how(struct rr_nfs4_compound *c, struct rr_vfs_create *create)
{
	const createhow4 *how = &c->op->u.opopen.openhow.u.how;
	struct rr_nfs4_open_work *work = c->op_memory;
	const fattr4 *attrs = NULL;
	uint32_t status = NFS4_OK;

	switch (how->mode) {
	case UNCHECKED4:
	case GUARDED4:
		work->unchecked = how->mode == UNCHECKED4;
		create->how = work->unchecked ? RR_VFS_UNCHECKED : RR_VFS_GUARDED;
		attrs = &how->u.createattrs;
		break;
	case EXCLUSIVE4: memcpy(create->verifier, how->u.createverf, sizeof(create->verifier)); break;
	case EXCLUSIVE4_1:
		memcpy(create->verifier, how->u.ch_createboth.cva_verf, sizeof(create->verifier));
		attrs = &how->u.ch_createboth.cva_attrs;
		break;
	}
	if (how->mode == EXCLUSIVE4 || how->mode == EXCLUSIVE4_1) {
		create->how = RR_VFS_EXCLUSIVE;
		work->exclusive = true;
	}
	if (!attrs)
		return NFS4_OK;
	work->asked = &attrs->attrmask;
	status = rr_nfs4_attr_get(c, attrs, NULL, &work->set, open_create);
	/* RFC 8881, 18.16.3: "If the client attempts to set in cva_attrs an attribute that is not in
	 * suppattr_exclcreat, the server MUST return NFS4ERR_INVAL." */
	if (work->exclusive &&
		(status == NFS4ERR_ATTRNOTSUPP ||
			work->set.mask & ~(uint32_t)(RR_VFS_SET_SIZE | RR_VFS_SET_MODE | RR_VFS_SET_UID |
						     RR_VFS_SET_GID | RR_VFS_SET_UMASK)))
		return NFS4ERR_INVAL;
	return status;
}

/* Has the storage make the file. If an UNCHECKED4 create sets a size, a new file gets that size at once, so
 * the storage is to make the file only if it is new. An existing file is then looked up and keeps its size;
 * only a size of 0 cuts the existing file, later, when it is open. */
static uint32_t
open_create(struct rr_nfs4_compound *c)
{
	struct rr_nfs4_open_work *work = c->op_memory;
	struct rr_vfs_create *create = &rr_nfs4_vfs_begin(c)->create;
	struct rr_vfs *vfs = c->server->vfs;
	uint32_t status = open_how(c, create);

	if (status != NFS4_OK)
		return status;
	create->directory = rr_nfs4_object(&c->current);
	create->name = c->own.lookup.name;
	create->type = RR_VFS_FILE;
	create->set = work->set;
	create->must_own = rr_nfs4_owner_differs(c, &create->set);
	if (work->unchecked && work->set.mask & RR_VFS_SET_SIZE) {
		work->truncate = work->set.size == 0;
		create->how = RR_VFS_GUARDED;
	}
	return rr_nfs4_vfs(c, rr_vfs_create(vfs, create), open_created);
}

/* Begins an OPEN of a name in the directory of the current filehandle. A directory above the exports has no
 * files, so an OPEN there fails: with NFS4ERR_ISDIR if it has an entry of that name, with NFS4ERR_ROFS if the
 * OPEN would make a file, else as LOOKUP does. */
static uint32_t
open_by_name(struct rr_nfs4_compound *c, component4 name)
{
	bool creates = c->op->u.opopen.openhow.opentype == OPEN4_CREATE;
	nfsstat4 status = rr_nfs4_name(name);
	uint32_t entry;

	if (status != NFS4_OK)
		return status;
	c->own.lookup.name = name;
	if (c->current.kind != RR_NFS4_FH_PSEUDO)
		return creates ? open_create(c) : open_look_up(c);
	status = rr_nfs4_find_entry(c, name, &entry);
	if (status == NFS4_OK)
		return NFS4ERR_ISDIR;
	return creates ? NFS4ERR_ROFS : status;
}

/* Runs when the attributes of a file that is opened by its filehandle are known: opens the file. */
static uint32_t
open_found(struct rr_nfs4_compound *c)
{
	return c->vfs_status == RR_VFS_OK ? rr_open_file(c) : rr_nfs4_status(c->vfs_status);
}

/* Begins an OPEN of the file of the current filehandle itself. A create is refused, as it needs a name. */
static uint32_t
open_by_handle(struct rr_nfs4_compound *c)
{
	if (c->op->u.opopen.openhow.opentype == OPEN4_CREATE)
		return NFS4ERR_INVAL;
	if (c->current.kind == RR_NFS4_FH_PSEUDO)
		return NFS4ERR_ISDIR;
	return rr_nfs4_attributes(c, &c->current, open_found);
}

nfsstat4
rr_open_check_delegation(struct rr_nfs4_compound *c, const struct rr_vfs_id *id)
{
	const open_claim4 *claim = &c->op->u.opopen.claim;
	const stateid4 *given = claim->claim == CLAIM_DELEGATE_CUR
					? &claim->u.delegate_cur_info.delegate_stateid
					: &claim->u.oc_delegate_stateid;
	struct rr_nfs4_state *state;
	stateid4 stateid;
	nfsstat4 status = rr_nfs4_current_stateid(c, given, &stateid);

	return status == NFS4_OK ? rr_nfs4_state_find(&c->server->shared->tables, c->client, &stateid, id,
					   RR_NFS4_DELEGATION, &state)
				 : status;
}

/* Checks, before the file is looked up, that the client has the delegation that the claim of the OPEN
 * names. */
static nfsstat4
open_check_delegation(struct rr_nfs4_compound *c)
{
	nfsstat4 status;

	rr_nfs4_lock_tables(c->server);
	status = rr_open_check_delegation(c, NULL);
	rr_nfs4_unlock_tables(c->server);
	return status;
}

/* Begins with the file, as the claim of the OPEN names it. */
static uint32_t
open_begin(struct rr_nfs4_compound *c)
{
	const open_claim4 *claim = &c->op->u.opopen.claim;
	nfsstat4 status;

	switch (claim->claim) {
	case CLAIM_NULL: return open_by_name(c, claim->u.file);
	case CLAIM_PREVIOUS:
	case CLAIM_FH: return open_by_handle(c);
	case CLAIM_DELEGATE_CUR:
		status = open_check_delegation(c);
		return status == NFS4_OK ? open_by_name(c, claim->u.delegate_cur_info.file) : status;
	case CLAIM_DELEG_CUR_FH:
		status = open_check_delegation(c);
		return status == NFS4_OK ? open_by_handle(c) : status;
	/* A delegation ends with the record of its client, so a client that has restarted has none to
	 * reclaim. RFC 8881, 15.2, has no NFS4ERR_NOTSUPP for OPEN; RFC 7530, 10.2.1: "A server that does not
	 * support CLAIM_DELEGATE_PREV MUST return NFS4ERR_NOTSUPP". */
	case CLAIM_DELEGATE_PREV:
	case CLAIM_DELEG_PREV_FH: return c->args->minor->sessions ? NFS4ERR_RECLAIM_BAD : NFS4ERR_NOTSUPP;
	}
	return NFS4ERR_INVAL;
}

/* Runs when the thread for records has written the record of the client, or failed. */
static uint32_t
open_recorded(struct rr_nfs4_compound *c)
{
	return c->vfs_status == RR_VFS_OK ? open_begin(c) : NFS4ERR_SERVERFAULT;
}

/*
 * Has the client recorded on the disk before its first open, and goes on with open_begin(). RFC 8881,
 * 8.4.2.1: the record has "a timestamp that is updated the first time after a server boot or reboot the
 * client acquires record locking, share reservation, or delegation state on the server". A client that
 * reclaims is recorded already, by the last start. All other state is got by means of an open.
 */
static uint32_t
open_record(struct rr_nfs4_compound *c, open_claim_type4 claim)
{
	nfsstat4 status = NFS4_OK;
	bool waits = false;

	/* One of version 4.0 says never that it has reclaimed all, when it would be recorded anew. */
	if (claim == CLAIM_PREVIOUS && c->args->minor->sessions)
		return open_begin(c);
	rr_nfs4_lock_tables(c->server);
	waits = rr_nfs4_house_await(c, open_recorded, &status);
	rr_nfs4_unlock_tables(c->server);
	if (waits)
		return RR_NFS4_PENDING;
	return status == NFS4_OK ? open_begin(c) : status;
}

uint32_t
rr_op_open(struct rr_nfs4_compound *c)
{
	const OPEN4args *args = &c->op->u.opopen;
	nfsstat4 status = rr_open_check_share(c, args->share_access, args->share_deny);

	if (status == NFS4_OK)
		status = open_check_grace(c, args->claim.claim);
	if (status != NFS4_OK)
		return status;
	c->op_memory = rr_nfs4_alloc(c, sizeof(struct rr_nfs4_open_work));
	return c->op_memory ? open_record(c, args->claim.claim) : NFS4ERR_DELAY;
}
