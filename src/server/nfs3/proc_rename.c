/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/attr.h"

/* This file has RENAME and LINK: RFC 1813, sections 3.3.14 and 3.3.15. Both stay inside one export. The
 * functions ..._begin() begin the operation of the file system for a procedure, and the functions ..._end()
 * complete the result of the procedure when that operation has ended (proc.h). */

static enum rr_vfs_status
rename_begin(struct rr_nfs_work *work)
{
	const RENAME3args *args = work->args;
	struct rr_vfs_rename *rename = &work->op.rename;
	struct rr_vfs *vfs = work->server->vfs;

	rename->from = rr_nfs_object(args->from.dir);
	rename->old_name = args->from.name;
	rename->to = rr_nfs_object(args->to.dir);
	rename->new_name = args->to.name;
	return rr_vfs_rename(vfs, rename);
}

/* Completes the result of RENAME. A target that is a directory and not empty gets NFS3ERR_NOTEMPTY, which is
 * among the errors of RENAME, and which programs know as ENOTEMPTY. This deviates from RFC 1813, 3.3.14: "If
 * they are not compatible or if the target is a directory but not empty, the server should return the error,
 * NFS3ERR_EXIST." */
static enum rpcrdma_handled
rename_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_vfs_rename *rename = &work->op.rename;
	RENAME3res *res = work->result;
	wcc_data from, to;

	/* RFC 1813, 3.3.14, on "." and "..": "These servers will return the error, NFS3ERR_INVAL" */
	res->status = rr_nfs_status(status);
	rr_nfs_wcc(&rename->from_change, &from);
	rr_nfs_wcc(&rename->to_change, &to);
	if (status == RR_VFS_OK)
		res->u.resok = (RENAME3resok){ from, to };
	else
		res->u.resfail = (RENAME3resfail){ from, to };
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_rename = { rename_begin, rename_end, sizeof(struct rr_vfs_rename),
	true };

static enum rr_vfs_status
proc_link_begin(struct rr_nfs_work *work)
{
	const LINK3args *args = work->args;
	struct rr_vfs_link *link = &work->op.link;
	struct rr_vfs *vfs = work->server->vfs;

	link->file = rr_nfs_object(args->file);
	link->directory = rr_nfs_object(args->link.dir);
	link->name = args->link.name;
	return rr_vfs_link(vfs, link);
}

/* Completes the result of LINK. A directory gets NFS3ERR_INVAL, as it cannot have a second name. */
static enum rpcrdma_handled
proc_link_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const LINK3args *args = work->args;
	LINK3res *res = work->result;
	LINK3resok ok;

	res->status = status == RR_VFS_ISDIR
			      ? NFS3ERR_INVAL
			      : rr_nfs_entry_status(status, args->link.name, NFS3ERR_EXIST, NFS3ERR_EXIST);
	rr_nfs_post_op(&work->op.link.file_after, &ok.file_attributes);
	rr_nfs_wcc(&work->op.link.directory_change, &ok.linkdir_wcc);
	if (res->status == NFS3_OK)
		res->u.resok = ok;
	else
		res->u.resfail = (LINK3resfail){ ok.file_attributes, ok.linkdir_wcc };
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_link = { proc_link_begin, proc_link_end, sizeof(struct rr_vfs_link),
	true };
