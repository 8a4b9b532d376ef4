/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations open and close, and decides who may use data without an open. vfs.h describes
 * what each of them does, with its arguments and results. */
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
	return open_permitted(&st, job->call->caller, access) ? RR_VFS_OK : RR_VFS_ACCESS;
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
	if (!open_permitted(st, job->call->caller, access))
		return RR_VFS_ACCESS;
	return open_denied(job->ceph, st->stx_ino, access);
}

enum rr_vfs_status
rr_ceph_may_use(struct rr_ceph_job *job, uint32_t access)
{
	const struct rr_vfs_open *open = job->object.open;
	enum rr_vfs_status status;

	if (open)
		return (open->reservation.access & access) == access ? RR_VFS_OK : RR_VFS_OPEN_MODE;
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
 * reservation. After an error the caller frees the open by open_free(), which closes the file if it is open.
 */
static enum rr_vfs_status
open_make(struct rr_ceph_job *job, struct rr_vfs_open *open)
{
	const struct rr_vfs_opening *opening = (struct rr_vfs_opening *)job->call;
	const struct rr_ceph *ceph = job->ceph;
	const vinodeno_t number = { { job->object.number }, { job->object.snapshot } };
	const struct rr_reserve_file file = { 0, job->object.number };
	enum rr_vfs_status status =
		rr_ceph_status(ceph->lib.ll_lookup_vino(ceph->mount, number, &open->inode));

	if (status == RR_VFS_OK)
		status = rr_ceph_status(ceph->lib.ll_open(
			ceph->mount, open->inode, open_flags(opening->access), &open->file, ceph->self));
	if (status == RR_VFS_OK)
		status = rr_reserve_open(&job->ceph->reserve, opening, file, &open->reservation);
	return status;
}

static void
open_free(struct rr_vfs_open *open)
{
	const struct rr_ceph *ceph = open->ceph;

	if (open->file)
		ceph->lib.ll_close(ceph->mount, open->file);
	if (open->inode)
		ceph->lib.ll_put(ceph->mount, open->inode);
	rr_free(ceph->env, open);
}

/* "known" is the access of the open that the call names, if any: the caller's permission for that access is
 * not checked again. */
enum rr_vfs_status
rr_ceph_open(struct rr_ceph_job *job)
{
	struct rr_vfs_opening *opening = (struct rr_vfs_opening *)job->call;
	uint32_t known = job->object.open ? job->object.open->reservation.access : 0;
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
	open->holders = 1;
	status = open_make(job, open);
	if (status != RR_VFS_OK) {
		open_free(open);
		return status;
	}
	opening->open = open;
	return RR_VFS_OK;
}

void
rr_ceph_open_hold(struct rr_vfs_open *open)
{
	pthread_mutex_lock(&open->ceph->lock);
	open->holders++;
	pthread_mutex_unlock(&open->ceph->lock);
}

/* Does the job that closes the file of an open, in a thread of the crew: it may have to wait until the
 * cluster has removed the open's locks. */
static bool
open_close_run(struct rr_crew_job *job, void *member)
{
	struct rr_vfs_open *open = rr_container(job, struct rr_vfs_open, closing.job);

	(void)member;
	open->ceph->lib.ll_close(open->ceph->mount, open->file);
	open->file = NULL;
	return true;
}

/* Ends the job: frees the open, and ends the call that waits for this, if there is one. */
static void
open_close_done(struct rr_crew_job *job)
{
	struct rr_vfs_open *open = rr_container(job, struct rr_vfs_open, closing.job);
	struct rr_ceph_vfs *vfs = open->closing.vfs;
	struct rr_vfs_call *call = open->closing.call;

	open_free(open);
	rr_vfs_ended(&vfs->vfs, call, RR_VFS_OK);
}

/* The job has a key in common with locks of the file (job.c), so that a lock that comes after a close does
 * not meet the locks of the closed open. */
enum rr_vfs_status
rr_ceph_open_put(struct rr_ceph_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	bool last;

	pthread_mutex_lock(&open->ceph->lock);
	last = --open->holders == 0;
	pthread_mutex_unlock(&open->ceph->lock);
	if (!last)
		return RR_VFS_OK;
	open->closing.vfs = vfs;
	open->closing.call = call;
	open->closing.job = (struct rr_crew_job){ .owner = call ? call->owner : 0,
		.keys = { open->number },
		.order = RR_CREW_CHANGE,
		.run = open_close_run,
		.done = open_close_done };
	rr_crew_add(vfs->crew, &open->closing.job);
	return RR_VFS_PENDING;
}

/* Closes an open for the caller: gives back the caller's reference. */
enum rr_vfs_status
rr_ceph_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	return rr_ceph_open_put((struct rr_ceph_vfs *)vfs, open, call);
}
