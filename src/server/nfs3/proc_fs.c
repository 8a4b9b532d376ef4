/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/attr.h"
#include "ulb/limits.h"

/* This file has FSSTAT, FSINFO and PATHCONF: RFC 1813, sections 3.3.18 to 3.3.20. The functions ..._begin()
 * begin the operation of the file system for a procedure, and the functions ..._end() complete the result of
 * the procedure when that operation has ended (proc.h). */

/* The octets of a READDIR that this server prefers; and the block size: reads and writes should have a
 * multiple of it. */
enum { DIRECTORY_PREFERRED = RR_VFS_LISTING_MAX, BLOCK = 4096 };

static enum rr_vfs_status
proc_fsstat_begin(struct rr_nfs_work *work)
{
	const FSSTAT3args *args = work->args;
	struct rr_vfs *vfs = work->server->vfs;

	work->op.statfs.object = rr_nfs_object(args->fsroot);
	return rr_vfs_statfs(vfs, &work->op.statfs);
}

static enum rpcrdma_handled
proc_fsstat_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_vfs_statfs *statfs = &work->op.statfs;
	FSSTAT3res *res = work->result;

	res->status = rr_nfs_status(status);
	if (status != RR_VFS_OK) {
		rr_nfs_post_op(&statfs->object_after, &res->u.resfail.obj_attributes);
		return RPCRDMA_HANDLED;
	}
	res->u.resok = (FSSTAT3resok){
		.tbytes = statfs->octets,
		.fbytes = statfs->octets_free,
		.abytes = statfs->octets_for_all,
		.tfiles = statfs->files,
		.ffiles = statfs->files_free,
		.afiles = statfs->files_for_all,
	};
	rr_nfs_post_op(&statfs->object_after, &res->u.resok.obj_attributes);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_fsstat = { proc_fsstat_begin, proc_fsstat_end,
	sizeof(struct rr_vfs_statfs) };

/* Begins the file system's operation limits, which both FSINFO and PATHCONF need. */
static enum rr_vfs_status
fs_limits_begin(struct rr_nfs_work *work, nfs_fh3 handle)
{
	struct rr_vfs *vfs = work->server->vfs;

	work->op.limits.object = rr_nfs_object(handle);
	return rr_vfs_limits(vfs, &work->op.limits);
}

static enum rr_vfs_status
proc_fsinfo_begin(struct rr_nfs_work *work)
{
	return fs_limits_begin(work, ((const FSINFO3args *)work->args)->fsroot);
}

static enum rpcrdma_handled
proc_fsinfo_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_vfs_limits *limits = &work->op.limits;
	FSINFO3res *res = work->result;

	res->status = rr_nfs_status(status);
	if (status != RR_VFS_OK) {
		rr_nfs_post_op(&limits->object_after, &res->u.resfail.obj_attributes);
		return RPCRDMA_HANDLED;
	}
	res->u.resok = (FSINFO3resok){
		.rtmax = RR_NFS_IO_MAX,
		.rtpref = RR_NFS_IO_MAX,
		.rtmult = BLOCK,
		.wtmax = RR_NFS_IO_MAX,
		.wtpref = RR_NFS_IO_MAX,
		.wtmult = BLOCK,
		.dtpref = DIRECTORY_PREFERRED,
		.maxfilesize = limits->file_max,
		.time_delta = { (uint32_t)limits->time_delta.seconds, limits->time_delta.nanoseconds },
		.properties = FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME,
	};
	rr_nfs_post_op(&limits->object_after, &res->u.resok.obj_attributes);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_fsinfo = { proc_fsinfo_begin, proc_fsinfo_end,
	sizeof(struct rr_vfs_limits) };

static enum rr_vfs_status
proc_pathconf_begin(struct rr_nfs_work *work)
{
	return fs_limits_begin(work, ((const PATHCONF3args *)work->args)->object);
}

static enum rpcrdma_handled
proc_pathconf_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_vfs_limits *limits = &work->op.limits;
	PATHCONF3res *res = work->result;

	res->status = rr_nfs_status(status);
	if (status != RR_VFS_OK) {
		rr_nfs_post_op(&limits->object_after, &res->u.resfail.obj_attributes);
		return RPCRDMA_HANDLED;
	}
	res->u.resok = (PATHCONF3resok){
		.linkmax = limits->link_max,
		.name_max = limits->name_max,
		.no_trunc = true,
		.chown_restricted = true,
		.case_insensitive = limits->case_insensitive,
		.case_preserving = limits->case_preserving,
	};
	rr_nfs_post_op(&limits->object_after, &res->u.resok.obj_attributes);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_pathconf = { proc_pathconf_begin, proc_pathconf_end,
	sizeof(struct rr_vfs_limits) };
