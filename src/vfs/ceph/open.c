/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation open, closes opens, and decides who may use data without an open. vfs.h
 * describes the operation, with its arguments and results. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "vfs/ceph/ceph_private.h"

/* Tells whether the caller may open the file with this access (RR_VFS_SHARE_*): the owner always may, other
 * callers by the mode of the file, where permission to execute is enough for reading. RFC 1813, 4.4: "the
 * server's permission checking algorithm should allow the owner of a file to access it regardless of the
 * permission setting", and "the server allows reading of files if the uid given in the call has either
 * execute or read permission on the file". */
static bool
open_permitted(const struct ceph_statx *st, const struct rr_vfs_caller *caller, uint32_t access)
{
	if (caller->uid == st->stx_uid)
		return true;
	if ((access & RR_VFS_SHARE_WRITE) && !rr_ceph_may(st, caller, 2))
		return false;
	return !(access & RR_VFS_SHARE_READ) || rr_ceph_may(st, caller, 4) || rr_ceph_may(st, caller, 1);
}

/* Checks that the job's object is a regular file, and that the caller may open it with this access. for_link
 * is the status to return where the object is a symbolic link. */
static enum rr_vfs_status
open_check(struct rr_ceph_job *job, uint32_t access, enum rr_vfs_status for_link)
{
	struct ceph_statx st;
	enum rr_vfs_status status = rr_ceph_stat(job, job->object.inode, &st);

	if (status != RR_VFS_OK)
		return status;
	if (S_ISDIR(st.stx_mode))
		return RR_VFS_ISDIR;
	if (!S_ISREG(st.stx_mode))
		return S_ISLNK(st.stx_mode) ? for_link : RR_VFS_WRONG_TYPE;
	return open_permitted(&st, job->base.call->caller, access) ? RR_VFS_OK : RR_VFS_ACCESS;
}

/* Returns RR_VFS_LOCKED where an open of the file with this number denies "access", else RR_VFS_OK. */
static enum rr_vfs_status
open_denied(struct rr_ceph *ceph, uint64_t number, uint32_t access)
{
	const struct rr_reserve_file file = { 0, number };

	return rr_reserve_denies(&ceph->reserve, file, access) ? RR_VFS_LOCKED : RR_VFS_OK;
}

enum rr_vfs_status
rr_ceph_may_use_found(struct rr_ceph_job *job, const struct ceph_statx *st, uint32_t access)
{
	if (!open_permitted(st, job->base.call->caller, access))
		return RR_VFS_ACCESS;
	return open_denied(job->ceph, st->stx_ino, access);
}

enum rr_vfs_status
rr_ceph_may_use(struct rr_ceph_job *job, uint32_t access)
{
	const struct rr_vfs_open *open = job->object.open;
	enum rr_vfs_status status;

	if (open)
		return (open->base.reservation.access & access) == access ? RR_VFS_OK : RR_VFS_OPEN_MODE;
	status = open_check(job, access, RR_VFS_WRONG_TYPE);
	if (status != RR_VFS_OK || job->object.reserved)
		return status;
	return open_denied(job->ceph, job->object.number, access);
}

static int
open_flags(uint32_t access)
{
	return access == RR_VFS_SHARE_READ ? O_RDONLY : access == RR_VFS_SHARE_WRITE ? O_WRONLY : O_RDWR;
}

enum rr_vfs_status
rr_ceph_use(struct rr_ceph_job *job, uint32_t access, struct Fh **file)
{
	const struct rr_ceph *ceph = job->ceph;
	enum rr_vfs_status status = rr_ceph_may_use(job, access);

	if (status != RR_VFS_OK)
		return status;
	if (job->object.open) {
		*file = job->object.open->file;
		return RR_VFS_OK;
	}
	return rr_ceph_status(
		ceph->lib.ll_open(ceph->mount, job->object.inode, open_flags(access), file, ceph->self));
}

void
rr_ceph_done(struct rr_ceph_job *job, struct Fh *file)
{
	if (!job->object.open)
		job->ceph->lib.ll_close(job->ceph->mount, file);
}

/* Fills in a new open: finds its inode, opens the file with the server's own identity, and makes the share
 * reservation. After an error the caller closes the file, if it is open, and frees the open.
 */
static enum rr_vfs_status
open_make(struct rr_ceph_job *job, struct rr_vfs_open *open)
{
	const struct rr_vfs_opening *opening = (struct rr_vfs_opening *)job->base.call;
	const struct rr_ceph *ceph = job->ceph;
	const vinodeno_t number = { { job->object.number }, { job->object.snapshot } };
	const struct rr_reserve_file file = { 0, job->object.number };
	enum rr_vfs_status status =
		rr_ceph_status(ceph->lib.ll_lookup_vino(ceph->mount, number, &open->inode));

	if (status == RR_VFS_OK)
		status = rr_ceph_status(ceph->lib.ll_open(
			ceph->mount, open->inode, open_flags(opening->access), &open->file, ceph->self));
	if (status == RR_VFS_OK)
		status = rr_reserve_open(&job->ceph->reserve, opening, file, &open->base.reservation);
	return status;
}

void
rr_ceph_close_file(struct rr_vfs_open *open)
{
	if (open->file)
		open->ceph->lib.ll_close(open->ceph->mount, open->file);
	open->file = NULL;
}

void
rr_ceph_free_open(struct rr_vfs_open *open)
{
	if (open->inode)
		open->ceph->lib.ll_put(open->ceph->mount, open->inode);
	rr_free(open->ceph->env, open);
}

/* "known" is the access of the open that the call names, if any: the caller's permission for that access is
 * not checked again. */
enum rr_vfs_status
rr_ceph_open(struct rr_ceph_job *job)
{
	struct rr_vfs_opening *opening = (struct rr_vfs_opening *)job->base.call;
	uint32_t known = job->object.open ? job->object.open->base.reservation.access : 0;
	enum rr_vfs_status status = open_check(job, opening->access & ~known, RR_VFS_SYMLINK);
	struct rr_vfs_open *open;

	if (status != RR_VFS_OK)
		return status;
	open = rr_alloc(job->ceph->env, sizeof(*open));
	if (!open)
		return RR_VFS_BUSY;
	open->ceph = job->ceph;
	open->number = job->object.number;
	open->snapshot = job->object.snapshot;
	open->export = job->object.export;
	atomic_init(&open->base.holders, 1);
	status = open_make(job, open);
	if (status == RR_VFS_OK) {
		opening->open = open;
		return RR_VFS_OK;
	}
	rr_ceph_close_file(open);
	rr_ceph_free_open(open);
	return status;
}
