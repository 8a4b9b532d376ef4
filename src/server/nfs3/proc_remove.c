/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/attr.h"

/* This file has REMOVE and RMDIR: RFC 1813, sections 3.3.12 and 3.3.13. The functions ..._begin() begin the
 * operation of the file system for a procedure, and the functions ..._end() complete the result of the
 * procedure when that operation has ended (proc.h). */

/* Begins the file system's operation remove, of a directory for RMDIR, of any other object for REMOVE. */
static enum rr_vfs_status
remove_begin_what(struct rr_nfs_work *work, const diropargs3 *where, enum rr_vfs_remove_what what)
{
	struct rr_vfs_remove *remove = &work->op.remove;
	struct rr_vfs *vfs = work->server->vfs;

	remove->directory = rr_nfs_object(where->dir);
	remove->name = where->name;
	remove->what = what;
	return rr_vfs_remove(vfs, remove);
}

static enum rr_vfs_status
remove_begin(struct rr_nfs_work *work)
{
	const REMOVE3args *args = work->args;

	return remove_begin_what(work, &args->object, RR_VFS_REMOVE_FILE);
}

/* Completes the result of REMOVE. The names "." and ".." get NFS3ERR_ISDIR, as they are names of
 * directories. */
static enum rpcrdma_handled
remove_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const REMOVE3args *args = work->args;
	REMOVE3res *res = work->result;

	res->status = rr_nfs_entry_status(status, args->object.name, NFS3ERR_ISDIR, NFS3ERR_ISDIR);
	rr_nfs_wcc(&work->op.remove.directory_change,
		res->status == NFS3_OK ? &res->u.resok.dir_wcc : &res->u.resfail.dir_wcc);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_remove = { remove_begin, remove_end, sizeof(struct rr_vfs_remove),
	true };

static enum rr_vfs_status
proc_rmdir_begin(struct rr_nfs_work *work)
{
	const RMDIR3args *args = work->args;

	return remove_begin_what(work, &args->object, RR_VFS_REMOVE_DIRECTORY);
}

static enum rpcrdma_handled
proc_rmdir_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const RMDIR3args *args = work->args;
	RMDIR3res *res = work->result;

	/* RFC 1813, 3.3.13, on "." and "..": "NFS3ERR_INVAL ... NFS3ERR_EXIST" */
	res->status = rr_nfs_entry_status(status, args->object.name, NFS3ERR_INVAL, NFS3ERR_EXIST);
	rr_nfs_wcc(&work->op.remove.directory_change,
		res->status == NFS3_OK ? &res->u.resok.dir_wcc : &res->u.resfail.dir_wcc);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_rmdir = { proc_rmdir_begin, proc_rmdir_end,
	sizeof(struct rr_vfs_remove), true };
