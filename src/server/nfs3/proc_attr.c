/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/attr.h"

/* This file has GETATTR, SETATTR and ACCESS: RFC 1813, sections 3.3.1, 3.3.2 and 3.3.4. The functions
 * ..._begin() begin the operation of the file system for a procedure, and the functions ..._end() complete
 * the result of the procedure when that operation has ended (proc.h). */

static enum rr_vfs_status
proc_getattr_begin(struct rr_nfs_work *work)
{
	const GETATTR3args *args = work->args;
	struct rr_vfs *vfs = work->server->vfs;

	work->op.getattr.object = rr_nfs_object(args->object);
	return rr_vfs_getattr(vfs, &work->op.getattr);
}

static enum rpcrdma_handled
proc_getattr_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	GETATTR3res *res = work->result;

	res->status = rr_nfs_status(status);
	if (status == RR_VFS_OK)
		rr_nfs_fattr(&work->op.getattr.attributes, &res->u.resok.obj_attributes);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_getattr = { proc_getattr_begin, proc_getattr_end,
	sizeof(struct rr_vfs_getattr) };

static enum rr_vfs_status
proc_setattr_begin(struct rr_nfs_work *work)
{
	const SETATTR3args *args = work->args;
	struct rr_vfs_setattr *setattr = &work->op.setattr;
	struct rr_vfs *vfs = work->server->vfs;

	setattr->object = rr_nfs_object(args->object);
	rr_nfs_set(&args->new_attributes, &setattr->set);
	setattr->guarded = args->guard.check;
	if (setattr->guarded)
		setattr->guard = (struct rr_vfs_time){ args->guard.u.obj_ctime.seconds,
			args->guard.u.obj_ctime.nseconds };
	return rr_vfs_setattr(vfs, setattr);
}

static enum rpcrdma_handled
proc_setattr_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	SETATTR3res *res = work->result;

	res->status = rr_nfs_status(status);
	rr_nfs_wcc(&work->op.setattr.change,
		status == RR_VFS_OK ? &res->u.resok.obj_wcc : &res->u.resfail.obj_wcc);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_setattr = { proc_setattr_begin, proc_setattr_end,
	sizeof(struct rr_vfs_setattr), true };

/* All rights that version 3 has. */
enum {
	ALL = ACCESS3_READ | ACCESS3_LOOKUP | ACCESS3_MODIFY | ACCESS3_EXTEND | ACCESS3_DELETE |
	      ACCESS3_EXECUTE
};

_Static_assert((int)RR_VFS_MAY_READ == (int)ACCESS3_READ && (int)RR_VFS_MAY_LOOKUP == (int)ACCESS3_LOOKUP &&
		       (int)RR_VFS_MAY_MODIFY == (int)ACCESS3_MODIFY &&
		       (int)RR_VFS_MAY_EXTEND == (int)ACCESS3_EXTEND &&
		       (int)RR_VFS_MAY_DELETE == (int)ACCESS3_DELETE &&
		       (int)RR_VFS_MAY_EXECUTE == (int)ACCESS3_EXECUTE,
	"rights are numbered alike");

static enum rr_vfs_status
proc_access_begin(struct rr_nfs_work *work)
{
	const ACCESS3args *args = work->args;
	struct rr_vfs *vfs = work->server->vfs;

	work->op.access.object = rr_nfs_object(args->object);
	work->op.access.asked = args->access & ALL;
	return rr_vfs_access(vfs, &work->op.access);
}

static enum rpcrdma_handled
proc_access_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	ACCESS3res *res = work->result;

	res->status = rr_nfs_status(status);
	res->u.resok.access = work->op.access.granted;
	rr_nfs_post_op(&work->op.access.object_after,
		status == RR_VFS_OK ? &res->u.resok.obj_attributes : &res->u.resfail.obj_attributes);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_access = { proc_access_begin, proc_access_end,
	sizeof(struct rr_vfs_access) };
