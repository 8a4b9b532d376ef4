/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creation of entries. A file is made by an OPEN, and closed by the same COMPOUND. An UNCHECKED creation is
 * made GUARDED, as an OPEN of a file that exists wants rights that a creation does not: where the file
 * exists, it is looked up, and gets the size.
 */
#include <stdio.h>

#include "vfs/nfs/v4/provider_private.h"

/* The attributes that an EXCLUSIVE creation does not set: the times hold the verifier. */
enum {
	CREATE_TIMES = RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_TIME |
		       RR_VFS_SET_MODIFY_NOW
};

/* The stateid of the OPEN in the same COMPOUND. RFC 8881, 8.2.3: "When "other" is zero and "seqid" is one,
 * the stateid represents the current stateid". */
static const stateid4 create_current = { .seqid = 1 };

static bool
create_is_exclusive(const struct rr_vfs_create *create)
{
	return create->how == RR_VFS_EXCLUSIVE && create->type == RR_VFS_FILE;
}

/* Returns the attributes with which the new object is made. */
static struct rr_vfs_set
create_set(const struct rr_vfs_create *create)
{
	struct rr_vfs_set set = rr_remote_new_set(create);

	if (set.mask & RR_VFS_SET_UMASK)
		set.mode &= ~set.umask;
	if (create_is_exclusive(create))
		set.mask &= ~(uint32_t)CREATE_TIMES;
	return set;
}

/* ---- The end ---- */

static void
create_undo_build(struct rr_v4_slot *slot)
{
	rr_v4_put_object(slot, 0);
	rr_v4_op(slot, OP_REMOVE, XDR_MAX_change_info4)->u.opremove.target =
		RR_V4_INPUT(rr_v4_job(slot), create)->name;
}

static const struct rr_v4_work create_undo = {
	.build = create_undo_build, .take = rr_v4_nothing_take, .result = sizeof(nfsstat4), .changes = true
};

static void
create_undone(struct rr_v4_job *job, enum rr_vfs_status status)
{
	(void)status;
	rr_v4_end(job, RR_VFS_PERM);
}

/* Notes which attributes the object has as they were wanted, and ends the operation; or removes the object
 * again, whose owner is not the wanted one. */
static void
create_end(struct rr_v4_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_create *create = RR_V4_INPUT(job, create);
	const struct rr_vfs_attributes *attributes = &create->object_after.attributes;
	const struct rr_vfs_set *set = &create->set;
	bool uid = !(set->mask & RR_VFS_SET_UID) || attributes->uid == set->uid;
	bool gid = !(set->mask & RR_VFS_SET_GID) || attributes->gid == set->gid;

	if (status != RR_VFS_OK) {
		rr_v4_end(job, status);
		return;
	}
	if (job->base.created && create->object_after.valid && create->must_own && !(uid && gid)) {
		rr_v4_ask(job, &create_undo, create_undone);
		return;
	}
	create->created = job->base.created;
	create->applied = job->base.created ? set->mask : set->mask & RR_VFS_SET_SIZE;
	if (create->type == RR_VFS_LINK)
		create->applied &= ~(uint32_t)(RR_VFS_SET_MODE | RR_VFS_SET_UMASK);
	if (create_is_exclusive(create))
		create->applied &= ~(uint32_t)CREATE_TIMES;
	if (create->object_after.valid)
		create->applied &= ~(uint32_t)((uid ? 0 : RR_VFS_SET_UID) | (gid ? 0 : RR_VFS_SET_GID));
	rr_v4_end(job, RR_VFS_OK);
}

/* ---- A file that existed ---- */

static void
create_cut_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_put_object(slot, 1);
	rr_v4_op(slot, OP_SETATTR, 4 + 4 * RR_ATTR_WORDS)->u.opsetattr.obj_attributes =
		rr_v4_attr_set(slot, &job->set);
	job->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

static int
create_cut_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_known(slot, job->at.object, &RR_V4_INPUT(job, create)->object_after);
	return 0;
}

static const struct rr_v4_work create_cut = {
	.build = create_cut_build, .take = create_cut_take, .result = sizeof(nfsstat4), .changes = true
};

static void
create_found(struct rr_v4_job *job, enum rr_vfs_status status)
{
	const struct rr_vfs_create *create = RR_V4_INPUT(job, create);

	if (status == RR_VFS_OK &&
		(!create->object_after.valid || create->object_after.attributes.type != RR_VFS_FILE))
		status = RR_VFS_EXIST;
	job->set = create->set;
	job->set.mask &= RR_VFS_SET_SIZE;
	if (status == RR_VFS_OK && job->set.mask)
		rr_v4_ask(job, &create_cut, create_end);
	else
		create_end(job, status);
}

static void
create_look_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_put_object(slot, 0);
	rr_v4_op(slot, OP_LOOKUP, 0)->u.oplookup.objname = RR_V4_INPUT(job, create)->name;
	rr_v4_op(slot, OP_GETFH, 4 + NFS4_FHSIZE);
	job->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

/* Keeps the handle and the attributes of the object. */
static int
create_look_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_create *create = RR_V4_INPUT(job, create);
	const struct rpcrdma_bytes given = rr_v4_res(slot, OP_GETFH)->u.opgetfh.u.resok4.object;

	rr_v4_take_known(slot, job->at.object, &create->object_after);
	job->verdict = rr_remote_found(&job->base, given, &create->handle);
	return 0;
}

static const struct rr_v4_work create_look = {
	.build = create_look_build, .take = create_look_take, .result = sizeof(nfsstat4)
};

/* ---- The object is made ---- */

/* Appends the OPEN that makes a file. */
static void
create_open_op(struct rr_v4_slot *slot, const struct rr_vfs_create *create, fattr4 attributes)
{
	OPEN4args *args = &rr_v4_op(slot, OP_OPEN, RR_V4_OPEN_MAX)->u.opopen;
	createhow4 *how = &args->openhow.u.how;

	rr_v4_open_owner(slot, args, OPEN4_SHARE_ACCESS_BOTH);
	/* Before a CLOSE in the same COMPOUND, it is one of the slot: opens of one file by one owner are one
	 * open (RFC 8881, 9.7), so that the CLOSE would end another open, too. */
	if (!rr_v4_job(slot)->base.lean) {
		int length = snprintf(slot->owner, sizeof(slot->owner), "rpcrdma %u", slot->number);

		args->owner.owner = (struct rpcrdma_bytes){ slot->owner, (uint32_t)length };
	}
	args->openhow.opentype = OPEN4_CREATE;
	args->claim.claim = CLAIM_NULL;
	args->claim.u.file = create->name;
	if (create->how == RR_VFS_EXCLUSIVE) {
		how->mode = EXCLUSIVE4_1;
		memcpy(how->u.ch_createboth.cva_verf, create->verifier,
			sizeof(how->u.ch_createboth.cva_verf));
		how->u.ch_createboth.cva_attrs = attributes;
	} else {
		how->mode = GUARDED4;
		how->u.createattrs = attributes;
	}
}

/* Appends the CREATE that makes an object that is no file. The types have the same numbers in vfs.h. */
static void
create_op(struct rr_v4_slot *slot, const struct rr_vfs_create *create, fattr4 attributes)
{
	CREATE4args *args = &rr_v4_op(slot, OP_CREATE, 20 + 4 + 16)->u.opcreate;

	args->objtype.type = (nfs_ftype4)create->type;
	if (create->type == RR_VFS_LINK)
		args->objtype.u.linkdata = create->target;
	if (create->type == RR_VFS_BLOCK_DEVICE || create->type == RR_VFS_CHARACTER_DEVICE)
		args->objtype.u.devdata = (specdata4){ create->device[0], create->device[1] };
	args->objname = create->name;
	args->createattrs = attributes;
}

/* A file that the client of <rpcrdma/nfs.h> makes stays open, in the session's table of opens, as data is
 * written to it next. */
static void
create_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_create *create = RR_V4_INPUT(job, create);
	fattr4 attributes = rr_v4_attr_set(slot, job->base.lean ? &create->set : &job->set);

	rr_v4_put_object(slot, 0);
	if (!job->base.lean)
		rr_v4_op(slot, OP_SAVEFH, 0);
	job->at.before[0] = rr_v4_ask_known(slot);
	if (create->type == RR_VFS_FILE)
		create_open_op(slot, create, attributes);
	else
		create_op(slot, create, attributes);
	rr_v4_op(slot, OP_GETFH, 4 + NFS4_FHSIZE);
	job->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
	if (job->base.lean)
		return;
	if (create->type == RR_VFS_FILE)
		rr_v4_op(slot, OP_CLOSE, sizeof(stateid4))->u.opclose.open_stateid = create_current;
	rr_v4_op(slot, OP_RESTOREFH, 0);
	job->at.after[0] = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

/* A file that is open and was not closed, as an operation behind its OPEN has failed, goes into the session's
 * table of opens, which closes it. */
static void
create_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	uint32_t failed = slot->result.resarray.count - 1;

	rr_v4_take_change(slot, job->at.before[0], 0, NULL, &RR_V4_INPUT(job, create)->directory_change);
	/* The GETATTR of the object, or the CLOSE behind it. */
	if (RR_V4_INPUT(job, create)->type == RR_VFS_FILE &&
		(failed == job->at.object || failed == job->at.object + 1u))
		rr_v4_open_leave(
			slot, rr_v4_res(slot, OP_GETFH)->u.opgetfh.u.resok4.object, OPEN4_SHARE_ACCESS_BOTH);
}

static int
create_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_create *create = RR_V4_INPUT(job, create);
	bool file = create->type == RR_VFS_FILE;
	const change_info4 *info = file ? &rr_v4_res(slot, OP_OPEN)->u.opopen.u.resok4.cinfo
					: &rr_v4_res(slot, OP_CREATE)->u.opcreate.u.resok4.cinfo;

	rr_v4_take_change(slot, job->at.before[0], job->at.after[0], info, &create->directory_change);
	job->base.created = true;
	if (file && job->base.lean)
		rr_v4_open_enter(
			slot, rr_v4_res(slot, OP_GETFH)->u.opgetfh.u.resok4.object, OPEN4_SHARE_ACCESS_BOTH);
	return create_look_take(slot);
}

const struct rr_v4_work rr_v4_work_create = { .build = create_build,
	.take = create_take,
	.fail = create_fail,
	.result = sizeof(nfsstat4),
	.makes = true,
	.changes = true };

/* Leaves the owner, or then the group, out of the attributes. Returns false if there is none. RFC 8881,
 * 18.16.3: where the caller may not set the owner, the server makes no object; vfs.h wants one that keeps the
 * owner that it was made with. */
static bool
create_leave_owner(struct rr_v4_job *job)
{
	uint32_t out = job->set.mask & RR_VFS_SET_UID ? RR_VFS_SET_UID : job->set.mask & RR_VFS_SET_GID;

	job->set.mask &= ~out;
	return out != 0;
}

static void
create_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	const struct rr_vfs_create *create = RR_V4_INPUT(job, create);

	if (status == RR_VFS_EXIST && create->type == RR_VFS_FILE && create->how == RR_VFS_UNCHECKED)
		rr_v4_ask(job, &create_look, create_found);
	else if (status == RR_VFS_PERM && !create->must_own && create_leave_owner(job))
		rr_v4_ask(job, &rr_v4_work_create, create_then);
	else
		create_end(job, status == RR_VFS_SYMLINK ? RR_VFS_NOTDIR : status);
}

enum rr_vfs_status
rr_v4_do_create(struct rr_v4_job *job)
{
	const struct rr_vfs_create *create = RR_V4_INPUT(job, create);
	char text[RR_VFS_NAME_MAX + 1];
	enum rr_vfs_status status = rr_vfs_name(create->name, text);

	if (status == RR_VFS_OK && (create->type < RR_VFS_FILE || create->type > RR_VFS_FIFO))
		status = RR_VFS_WRONG_TYPE;
	job->set = create_set(create);
	return status == RR_VFS_OK ? rr_v4_ask(job, &rr_v4_work_create, create_then) : status;
}
