/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the public functions that change attributes and make objects. A function with _take_ in its
 * name handles the result of a call (take() in nfs_private.h). */
#include <string.h>

#include "base/config.h"
#include "nfs/nfs_private.h"

/* The modes of new objects for which the caller wants no changes. */
enum { MODE_FILE = 0644, MODE_DIRECTORY = 0755 };

/* Translates a time. Version 3 has 32 bits for the seconds; higher bits are cut off. */
static nfstime3
change_time(struct rpcrdma_nfs_time time)
{
	return (nfstime3){ (uint32_t)time.seconds, time.nanoseconds };
}

/* Translates the changes that the caller wants (theirs) into the attributes of a call. If theirs is NULL,
 * only the mode is set, or nothing if mode is 0. Errors: INVAL, NOTSUP. */
static int
change_take(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_changes *theirs, sattr3 *attributes, uint32_t mode)
{
	struct rpcrdma_nfs_changes mine = { .set_mode = mode != 0, .mode = mode };
	int error = 0;

	if (theirs)
		error = rr_config_take(
			&mine, sizeof(mine), sizeof(mine), theirs, "struct rpcrdma_nfs_changes", &nfs->text);
	*attributes = (sattr3){
		.mode = { mine.set_mode, { mine.mode } },
		.uid = { mine.set_uid, { mine.uid } },
		.gid = { mine.set_gid, { mine.gid } },
		.size = { mine.set_length, { mine.length } },
		.atime = { mine.set_accessed ? SET_TO_CLIENT_TIME : DONT_CHANGE,
			{ change_time(mine.accessed) } },
		.mtime = { mine.set_modified ? SET_TO_CLIENT_TIME : DONT_CHANGE,
			{ change_time(mine.modified) } },
	};
	return error;
}

int
rr_nfs_change_new(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **result)
{
	struct rr_nfs_pending *pending;
	int error = rr_nfs_pending_on(nfs, directory, then, &pending);

	if (error)
		return error;
	error = rr_nfs_pending_name(pending, 0, name);
	if (error)
		return rr_nfs_pending_drop(pending, error);
	*result = pending;
	return 0;
}

diropargs3
rr_nfs_change_where(struct rr_nfs_pending *pending, unsigned number)
{
	return (diropargs3){ rr_nfs_fh(&pending->handles[number]), rr_nfs_string(pending->names[number]) };
}

int
rpcrdma_nfs_change(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const struct rpcrdma_nfs_changes *changes, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = changes ? rr_nfs_pending_on(nfs, handle, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->args.setattr = (SETATTR3args){ .object = rr_nfs_fh(&pending->handles[0]) };
	error = change_take(nfs, changes, &pending->args.setattr.new_attributes, 0);
	return error ? rr_nfs_pending_drop(pending, error)
		     : rr_nfs_pending_start(pending, NFSPROC3_SETATTR, then);
}

/* ---- Making ---- */

/* Copies the handle and the attributes of the new object from the reply to the caller's structure. If the
 * reply does not have both, or the caller's structure is too small, sends a LOOKUP, whose end fills in the
 * structure or reports the error, and returns PENDING_GOES_ON. */
static int
change_take_made(struct rr_nfs_pending *pending, const post_op_fh3 *handle, const post_op_attr *attributes)
{
	if (handle->handle_follows && attributes->attributes_follow &&
		rr_nfs_handle_set(&pending->handles[1], handle->u.handle.data) &&
		rr_nfs_object_give(pending->object, &pending->handles[1], &attributes->u.attributes))
		return 0;
	rr_nfs_pending_lookup(pending, 0);
	return PENDING_GOES_ON;
}

static int
change_take_file(struct rr_nfs_pending *pending)
{
	const CREATE3resok *made = &pending->result.create.u.resok;

	return change_take_made(pending, &made->obj, &made->obj_attributes);
}

static int
change_take_symlink(struct rr_nfs_pending *pending)
{
	const SYMLINK3resok *made = &pending->result.symlink.u.resok;

	return change_take_made(pending, &made->obj, &made->obj_attributes);
}

static int
change_take_directory(struct rr_nfs_pending *pending)
{
	const MKDIR3resok *made = &pending->result.mkdir.u.resok;

	return change_take_made(pending, &made->obj, &made->obj_attributes);
}

/* The operation's function repeated(): handles the status of a call that may have been executed twice. If the
 * name exists, the call may itself have made the object: sends a LOOKUP, which shows whether the name is now
 * that of an object of the right type, and returns PENDING_GOES_ON. Returns any other status, with which the
 * operation then ends. */
static int
change_made_before(struct rr_nfs_pending *pending, int status)
{
	if (status != NFS3ERR_EXIST)
		return status;
	pending->status = status;
	pending->type = pending->take == change_take_file        ? NF3REG
			: pending->take == change_take_directory ? NF3DIR
								 : NF3LNK;
	rr_nfs_pending_lookup(pending, 0);
	return PENDING_GOES_ON;
}

/* Prepares an operation that makes an object of that name in the directory, and stores the operation in
 * *result. The new object will be described in *object, which must not be NULL. */
static int
change_make(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	struct rpcrdma_nfs_object *object, const struct rpcrdma_nfs_then *then,
	struct rr_nfs_pending **result)
{
	int error = object ? rr_nfs_change_new(nfs, directory, name, then, result) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	(*result)->object = object;
	(*result)->repeated = change_made_before;
	return 0;
}

int
rpcrdma_nfs_create(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_changes *changes, struct rpcrdma_nfs_object *object,
	const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = change_make(nfs, directory, name, object, then, &pending);

	if (error)
		return error;
	pending->take = change_take_file;
	pending->args.create = (CREATE3args){ .where = rr_nfs_change_where(pending, 0), .how.mode = GUARDED };
	error = change_take(nfs, changes, &pending->args.create.how.u.obj_attributes, MODE_FILE);
	return error ? rr_nfs_pending_drop(pending, error)
		     : rr_nfs_pending_start(pending, NFSPROC3_CREATE, then);
}

int
rpcrdma_nfs_mkdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_changes *changes, struct rpcrdma_nfs_object *object,
	const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = change_make(nfs, directory, name, object, then, &pending);

	if (error)
		return error;
	pending->take = change_take_directory;
	pending->args.mkdir = (MKDIR3args){ .where = rr_nfs_change_where(pending, 0) };
	error = change_take(nfs, changes, &pending->args.mkdir.attributes, MODE_DIRECTORY);
	return error ? rr_nfs_pending_drop(pending, error)
		     : rr_nfs_pending_start(pending, NFSPROC3_MKDIR, then);
}

/* Copies the target of a new symbolic link into the operation. Errors, with a text: INVAL if the target is
 * NULL or empty, NFS3ERR_NAMETOOLONG. */
static int
change_target(struct rr_nfs_pending *pending, const char *target)
{
	size_t length = target ? strlen(target) : 0;

	if (length == 0)
		return rr_nfs_fail(
			pending->nfs, -RPCRDMA_ERR_INVAL, "the target of the symbolic link is missing");
	if (length >= sizeof(pending->path))
		return rr_nfs_fail(pending->nfs, NFS3ERR_NAMETOOLONG, "%s",
			rr_nfs_status_text(pending->nfs, NFS3ERR_NAMETOOLONG));
	memcpy(pending->path, target, length + 1);
	return 0;
}

int
rpcrdma_nfs_symlink(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const char *target, struct rpcrdma_nfs_object *object, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = change_make(nfs, directory, name, object, then, &pending);

	if (error)
		return error;
	pending->take = change_take_symlink;
	pending->args.symlink = (SYMLINK3args){ .where = rr_nfs_change_where(pending, 0) };
	error = change_target(pending, target);
	if (error)
		return rr_nfs_pending_drop(pending, error);
	pending->args.symlink.symlink.symlink_data = rr_nfs_string(pending->path);
	return rr_nfs_pending_start(pending, NFSPROC3_SYMLINK, then);
}
