/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/attr.h"

/* This file has LOOKUP and READLINK: RFC 1813, sections 3.3.3 and 3.3.5. The functions ..._begin() begin the
 * operation of the file system for a procedure, and the functions ..._end() complete the result of the
 * procedure when that operation has ended (proc.h). */

static enum rr_vfs_status
proc_lookup_begin(struct rr_nfs_work *work)
{
	const LOOKUP3args *args = work->args;
	struct rr_vfs *vfs = work->server->vfs;

	work->op.lookup.directory = rr_nfs_object(args->what.dir);
	work->op.lookup.name = args->what.name;
	return rr_vfs_lookup(vfs, &work->op.lookup);
}

/* Completes the result of LOOKUP. If the request has no memory for the handle, the status is
 * NFS3ERR_SERVERFAULT. */
static enum rpcrdma_handled
proc_lookup_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_vfs_lookup *lookup = &work->op.lookup;
	LOOKUP3resok found = { 0 };
	LOOKUP3res *res = work->result;

	if (status == RR_VFS_OK && !rr_nfs_handle(work, &lookup->handle, &found.object))
		status = RR_VFS_FAULT;
	res->status = rr_nfs_status(status);
	rr_nfs_post_op(&lookup->directory_after, &found.dir_attributes);
	if (status != RR_VFS_OK) {
		res->u.resfail.dir_attributes = found.dir_attributes;
		return RPCRDMA_HANDLED;
	}
	found.obj_attributes.attributes_follow = true;
	rr_nfs_fattr(&lookup->attributes, &found.obj_attributes.u.attributes);
	res->u.resok = found;
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_lookup = { proc_lookup_begin, proc_lookup_end,
	sizeof(struct rr_vfs_lookup) };

/* Begins READLINK, with memory of the request for the longest target. */
static enum rr_vfs_status
proc_readlink_begin(struct rr_nfs_work *work)
{
	const READLINK3args *args = work->args;
	struct rr_vfs_readlink *readlink = &work->op.readlink;
	struct rr_vfs *vfs = work->server->vfs;

	readlink->object = rr_nfs_object(args->symlink);
	readlink->size = RR_VFS_TARGET_MAX;
	readlink->target = rr_nfs_alloc(work->request, RR_VFS_TARGET_MAX);
	return readlink->target ? rr_vfs_readlink(vfs, readlink) : RR_VFS_FAULT;
}

/* Completes the result of READLINK: the target of the symbolic link, or the status. RFC 1813, 3.3.5: "should
 * return the error, NFS3ERR_INVAL, if the object is not of type, NF3LNK" */
static enum rpcrdma_handled
proc_readlink_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_vfs_readlink *readlink = &work->op.readlink;
	READLINK3res *res = work->result;

	res->status = rr_nfs_status(status);
	if (status != RR_VFS_OK) {
		rr_nfs_post_op(&readlink->object_after, &res->u.resfail.symlink_attributes);
		return RPCRDMA_HANDLED;
	}
	rr_nfs_post_op(&readlink->object_after, &res->u.resok.symlink_attributes);
	res->u.resok.data = (struct rpcrdma_bytes){ readlink->target, readlink->length };
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_readlink = { proc_readlink_begin, proc_readlink_end,
	sizeof(struct rr_vfs_readlink) };
