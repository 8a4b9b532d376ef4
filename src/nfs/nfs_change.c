/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the public functions that change attributes and make objects. A function with _take_ in its
 * name handles the result of a call (take() in nfs_private.h). */
#include <string.h>

#include "base/config.h"
#include "nfs/nfs_private.h"

/* The modes of new objects for which the caller wants no changes. */
enum { MODE_FILE = 0644, MODE_DIRECTORY = 0755 };

int
rr_nfs_change_take(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_changes *theirs, struct rr_vfs_set *set,
	uint32_t mode)
{
	struct rpcrdma_nfs_changes mine = { .set_mode = mode != 0, .mode = mode };
	int error = 0;

	if (theirs)
		error = rr_config_take(
			&mine, sizeof(mine), sizeof(mine), theirs, "struct rpcrdma_nfs_changes", &nfs->text);
	return error ? error : rr_nfs_change_set(nfs, &mine, set);
}

static const struct rr_nfs_work change_setattr = { RR_VFS_OP_SETATTR, 1, &rr_v3_work_setattr,
	&rr_v4_work_setattr };

int
rpcrdma_nfs_change(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const struct rpcrdma_nfs_changes *changes, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = changes ? rr_nfs_pending_on(nfs, handle, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->op.setattr = (struct rr_vfs_setattr){ 0 };
	error = rr_nfs_change_take(nfs, changes, &pending->op.setattr.set, 0);
	return error ? rr_nfs_pending_drop(pending, error)
		     : rr_nfs_pending_begin(pending, &change_setattr, then);
}

/* ---- Making ---- */

/* Copies the handle and the attributes of the new object from the reply to the caller's structure. If the
 * reply does not have both, or the caller's structure is too small, sends a LOOKUP, whose end fills in the
 * structure or reports the error, and returns PENDING_GOES_ON. */
static int
change_take_made(struct rr_nfs_pending *pending)
{
	const struct rr_vfs_known *made = &pending->op.create.object_after;
	struct rpcrdma_nfs_object object;

	if (made->valid && rr_nfs_handle_set(&object.handle, rr_remote_fh(&pending->job.base.objects[1]))) {
		const struct rr_nfs_attributes attributes =
			rr_nfs_pending_attributes(pending, &made->attributes);

		rr_nfs_object_describe(&object, &attributes);
		if (rr_nfs_object_give(pending->object, &object))
			return 0;
	}
	rr_nfs_pending_lookup(pending, 0);
	return PENDING_GOES_ON;
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
	pending->type = pending->op.create.type;
	rr_nfs_pending_lookup(pending, 0);
	return PENDING_GOES_ON;
}

/* Prepares an operation that makes an object of that name in the directory, and stores the operation in
 * *result. The caller sets the type of the new object, which will be described in *object; object must not be
 * NULL. */
static int
change_make(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	struct rpcrdma_nfs_object *object, const struct rpcrdma_nfs_then *then,
	struct rr_nfs_pending **result)
{
	int error = object ? rr_nfs_pending_named(nfs, directory, name, then, result) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	(*result)->object = object;
	(*result)->take = change_take_made;
	(*result)->repeated = change_made_before;
	(*result)->op.create =
		(struct rr_vfs_create){ .name = rr_nfs_string((*result)->names[0]), .how = RR_VFS_GUARDED };
	return 0;
}

static const struct rr_nfs_work change_create = { RR_VFS_OP_CREATE, 1, &rr_v3_work_create,
	&rr_v4_work_create };
static const struct rr_nfs_work change_mkdir = { RR_VFS_OP_CREATE, 1, &rr_v3_work_mkdir, &rr_v4_work_create };
static const struct rr_nfs_work change_symlink = { RR_VFS_OP_CREATE, 1, &rr_v3_work_symlink,
	&rr_v4_work_create };
static const struct rr_nfs_work change_mknod = { RR_VFS_OP_CREATE, 1, &rr_v3_work_mknod, &rr_v4_work_create };

int
rpcrdma_nfs_create(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_changes *changes, struct rpcrdma_nfs_object *object,
	const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = change_make(nfs, directory, name, object, then, &pending);

	if (error)
		return error;
	pending->op.create.type = RR_VFS_FILE;
	error = rr_nfs_change_take(nfs, changes, &pending->op.create.set, MODE_FILE);
	return error ? rr_nfs_pending_drop(pending, error)
		     : rr_nfs_pending_begin(pending, &change_create, then);
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
	pending->op.create.type = RR_VFS_DIRECTORY;
	error = rr_nfs_change_take(nfs, changes, &pending->op.create.set, MODE_DIRECTORY);
	return error ? rr_nfs_pending_drop(pending, error)
		     : rr_nfs_pending_begin(pending, &change_mkdir, then);
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
	pending->op.create.type = RR_VFS_LINK;
	error = change_target(pending, target);
	if (error)
		return rr_nfs_pending_drop(pending, error);
	pending->op.create.target = rr_nfs_string(pending->path);
	return rr_nfs_pending_begin(pending, &change_symlink, then);
}

/* Tells whether MKNOD makes objects of this type. */
static bool
change_is_special(enum rr_vfs_type type)
{
	return type == RR_VFS_BLOCK_DEVICE || type == RR_VFS_CHARACTER_DEVICE || type == RR_VFS_SOCKET ||
	       type == RR_VFS_FIFO;
}

int
rpcrdma_nfs_mknod(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_changes *changes, struct rpcrdma_nfs_object *object,
	const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	struct rr_vfs_create *args;
	int error = change_make(nfs, directory, name, object, then, &pending);

	if (error)
		return error;
	args = &pending->op.create;
	args->type = (enum rr_vfs_type)object->type;
	args->device[0] = object->device_major;
	args->device[1] = object->device_minor;
	error = rr_nfs_change_take(nfs, changes, &args->set, MODE_FILE);
	if (!error && !change_is_special(args->type))
		error = rr_nfs_fail(nfs, -RPCRDMA_ERR_INVAL, "the object is no device, pipe or socket");
	return error ? rr_nfs_pending_drop(pending, error)
		     : rr_nfs_pending_begin(pending, &change_mknod, then);
}
