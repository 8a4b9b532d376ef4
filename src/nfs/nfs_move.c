/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the public functions that remove, move and add names. A function with _take_ in its name
 * handles the result of a call (take() in nfs_private.h). */
#include <string.h>

#include "nfs/nfs_private.h"

/* Handles the status of a REMOVE or RMDIR that was sent twice. If the name does not exist, the call itself
 * has removed it already, so the result is 0. Any other status is returned. */
static int
move_gone_before(struct rr_nfs_pending *pending, int status)
{
	(void)pending;
	return status == NFS3ERR_NOENT ? 0 : status;
}

/* Handles the status of a RENAME that was sent twice. If the old name does not exist, the call may itself
 * have renamed the object: sends a LOOKUP of the new name, which shows that, and returns PENDING_GOES_ON.
 * Returns any other status. */
static int
move_renamed_before(struct rr_nfs_pending *pending, int status)
{
	if (status != NFS3ERR_NOENT)
		return status;
	pending->status = status;
	rr_nfs_pending_lookup(pending, 1);
	return PENDING_GOES_ON;
}

static const struct rr_nfs_work move_remove = { RR_VFS_OP_REMOVE, 1, &rr_v3_work_remove, &rr_v4_work_remove };
static const struct rr_nfs_work move_rmdir = { RR_VFS_OP_REMOVE, 1, &rr_v3_work_rmdir, &rr_v4_work_remove };

static int
move_take_away(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	enum rr_vfs_remove_what what, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = rr_nfs_pending_named(nfs, directory, name, then, &pending);

	if (error)
		return error;
	pending->repeated = move_gone_before;
	pending->op.remove = (struct rr_vfs_remove){ .name = rr_nfs_string(pending->names[0]), .what = what };
	return rr_nfs_pending_begin(pending, what == RR_VFS_REMOVE_FILE ? &move_remove : &move_rmdir, then);
}

int
rpcrdma_nfs_remove(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_then *then)
{
	return move_take_away(nfs, directory, name, RR_VFS_REMOVE_FILE, then);
}

int
rpcrdma_nfs_rmdir(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory, const char *name,
	const struct rpcrdma_nfs_then *then)
{
	return move_take_away(nfs, directory, name, RR_VFS_REMOVE_DIRECTORY, then);
}

static const struct rr_nfs_work move_rename = { RR_VFS_OP_RENAME, 2, &rr_v3_work_rename, &rr_v4_work_rename };

int
rpcrdma_nfs_rename(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *from, const char *from_name,
	const struct rpcrdma_nfs_handle *to, const char *to_name, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = to ? rr_nfs_pending_named(nfs, from, from_name, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->handles[1] = *to;
	error = rr_nfs_pending_name(pending, 1, to_name);
	if (error)
		return rr_nfs_pending_drop(pending, error);
	pending->repeated = move_renamed_before;
	pending->op.rename = (struct rr_vfs_rename){ .old_name = rr_nfs_string(pending->names[0]),
		.new_name = rr_nfs_string(pending->names[1]) };
	return rr_nfs_pending_begin(pending, &move_rename, then);
}

/* Sends GETATTR of pending->handles[number]; take handles the result. Returns PENDING_GOES_ON. */
static int
move_getattr(struct rr_nfs_pending *pending, unsigned number, int (*take)(struct rr_nfs_pending *pending))
{
	rr_nfs_pending_getattr(pending, number);
	pending->take = take;
	return PENDING_GOES_ON;
}

/* Handles the attributes of the file. If they show that the name found is that of the file, LINK itself has
 * made the name, so the result is 0. Otherwise returns the status of LINK. */
static int
move_take_file(struct rr_nfs_pending *pending)
{
	const struct rr_vfs_id *name = &pending->id, *file = &pending->op.getattr.attributes.id;

	return name->fsid[0] == file->fsid[0] && name->fsid[1] == file->fsid[1] &&
			       name->number == file->number
		       ? 0
		       : pending->status;
}

/* Handles the attributes of the object that has the name: notes which object that is, and asks for the
 * attributes of the file. */
static int
move_take_found(struct rr_nfs_pending *pending)
{
	pending->id = pending->op.getattr.attributes.id;
	return move_getattr(pending, 0, move_take_file);
}

/* Handles the result of the LOOKUP that move_linked_before() sent. If the name is now that of the same file,
 * LINK itself has made the name, so the result is 0. Two handles of one file need not be equal, so where the
 * handles differ, the attributes decide. RFC 1813, 2.6: "Fileid is a number which uniquely identifies the
 * file within its file system". */
static int
move_take_linked(struct rr_nfs_pending *pending)
{
	const struct rpcrdma_nfs_handle *file = &pending->handles[0], *found = &pending->handles[1];

	rr_nfs_handle_set(&pending->handles[1], rr_remote_fh(&pending->job.base.objects[1]));
	if (found->length == file->length && memcmp(found->data, file->data, file->length) == 0)
		return 0;
	return move_getattr(pending, 1, move_take_found);
}

/* Handles the status of a LINK that was sent twice. If the name exists, the call may itself have made the
 * name: sends a LOOKUP, which shows that, and returns PENDING_GOES_ON. Returns any other status. */
static int
move_linked_before(struct rr_nfs_pending *pending, int status)
{
	if (status != NFS3ERR_EXIST)
		return status;
	pending->status = status;
	rr_nfs_pending_lookup(pending, 1);
	pending->take = move_take_linked;
	return PENDING_GOES_ON;
}

static const struct rr_nfs_work move_link = { RR_VFS_OP_LINK, 2, &rr_v3_work_link, &rr_v4_work_link };

int
rpcrdma_nfs_link(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *file,
	const struct rpcrdma_nfs_handle *directory, const char *name, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = directory ? rr_nfs_pending_on(nfs, file, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->handles[1] = *directory;
	error = rr_nfs_pending_name(pending, 1, name);
	if (error)
		return rr_nfs_pending_drop(pending, error);
	pending->repeated = move_linked_before;
	pending->op.link = (struct rr_vfs_link){ .name = rr_nfs_string(pending->names[1]) };
	return rr_nfs_pending_begin(pending, &move_link, then);
}
