/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations read, write, commit and deallocate, and the answer to those that CephFS
 * cannot do. vfs.h describes what each of them does, with its arguments and results. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "vfs/ceph/ceph_private.h"

/* Tells whether this range of octets may exist in a file: the end of the range must be below 2^63. */
static bool
data_fits(uint64_t offset, uint64_t length)
{
	uint64_t end;

	return rr_add_u64(offset, length, &end) && end <= INT64_MAX;
}

/* The verifier changes after an error so that all clients send again the data that they have not committed.
 * This is needed because an error may be reported only once, while a later commit, of another client,
 * succeeds. RFC 1813, 3.3.7: "it will not destroy any data without changing the value of verf" */
enum rr_vfs_status
rr_ceph_sync(struct rr_ceph_job *job, struct Inode *inode, bool data_only)
{
	struct rr_ceph *ceph = job->ceph;
	int result = ceph->lib.ll_sync_inode(ceph->mount, inode, data_only);

	if (result < 0)
		atomic_fetch_add(&ceph->verifier, 1);
	return rr_ceph_status(result);
}

/* Reads into read->data until read->size octets are read or the file ends. Returns the number of octets read,
 * or a negative errno. */
static int64_t
data_read(struct rr_ceph_job *job, struct Fh *file, const struct rr_vfs_read *read)
{
	const struct rr_ceph *ceph = job->ceph;
	uint32_t length = 0;

	while (length < read->size && data_fits(read->offset + length, 1)) {
		int got = ceph->lib.ll_read(ceph->mount, file, (int64_t)(read->offset + length),
			read->size - length, (char *)read->data + length);

		if (got < 0)
			return got;
		if (got == 0)
			break;
		length += (uint32_t)got;
	}
	return length;
}

/* No file has octets from offset 2^63 on, so a read there is at the end of the file. */
enum rr_vfs_status
rr_ceph_read(struct rr_ceph_job *job)
{
	struct rr_vfs_read *read = (struct rr_vfs_read *)job->base.call;
	struct ceph_statx st;
	struct Fh *file;
	enum rr_vfs_status status = rr_ceph_use(job, RR_VFS_SHARE_READ, &file);
	int64_t length;

	if (status != RR_VFS_OK)
		return status;
	length = data_fits(read->offset, 0) ? data_read(job, file, read) : 0;
	rr_ceph_done(job, file);
	if (length < 0)
		return rr_ceph_status(length);
	read->length = (uint32_t)length;
	read->eof = read->length < read->size;
	if (read->eof)
		return RR_VFS_OK;
	status = rr_ceph_stat(job, job->object.inode, &st);
	read->eof = status == RR_VFS_OK && read->offset + read->length >= st.stx_size;
	return status;
}

/* Writes write->length octets, or fewer where an error occurs after the first of them. Returns the number of
 * octets written, or a negative errno if no octet was written. */
static int64_t
data_write(struct rr_ceph_job *job, struct Fh *file, const struct rr_vfs_write *write)
{
	const struct rr_ceph *ceph = job->ceph;
	uint32_t count = 0;

	while (count < write->length) {
		int put = ceph->lib.ll_write(ceph->mount, file, (int64_t)(write->offset + count),
			write->length - count, (const char *)write->data + count);

		/* ll_write() that took no octet might do so again and again: it counts as an error. */
		if (put <= 0)
			return count > 0 ? (int64_t)count : put < 0 ? put : -EIO;
		count += (uint32_t)put;
	}
	return count;
}

enum rr_vfs_status
rr_ceph_write(struct rr_ceph_job *job)
{
	struct rr_vfs_write *write = (struct rr_vfs_write *)job->base.call;
	struct Fh *file;
	enum rr_vfs_status status = rr_ceph_use(job, RR_VFS_SHARE_WRITE, &file);
	int64_t count;

	/* The verifier is taken before the data is written. So a failure to store the data that another
	 * thread meets then shows as a change of the verifier. */
	write->verifier = atomic_load(&job->ceph->verifier);
	write->count = 0;
	write->committed = write->stable;
	if (status != RR_VFS_OK)
		return status;
	count = data_fits(write->offset, write->length) ? data_write(job, file, write) : -EFBIG;
	/* A write of no octets succeeds at any offset. */
	if (write->length == 0)
		count = 0;
	rr_ceph_done(job, file);
	if (count < 0)
		return rr_ceph_status(count);
	write->count = (uint32_t)count;
	if (write->stable == RR_VFS_UNSTABLE)
		return RR_VFS_OK;
	return rr_ceph_sync(job, job->object.inode, write->stable == RR_VFS_DATA_SYNC);
}

enum rr_vfs_status
rr_ceph_commit(struct rr_ceph_job *job)
{
	struct rr_vfs_commit *commit = (struct rr_vfs_commit *)job->base.call;
	enum rr_vfs_status status = rr_ceph_sync(job, job->object.inode, false);

	/* The verifier is taken after the data was stored: see struct rr_vfs_write. */
	commit->verifier = atomic_load(&job->ceph->verifier);
	return status;
}

enum rr_vfs_status
rr_ceph_deallocate(struct rr_ceph_job *job)
{
	struct rr_vfs_space *space = (struct rr_vfs_space *)job->base.call;
	const struct rr_ceph *ceph = job->ceph;
	struct Fh *file;
	enum rr_vfs_status status;

	if (space->length == 0)
		return RR_VFS_INVAL;
	if (!data_fits(space->offset, space->length))
		return RR_VFS_FBIG;
	status = rr_ceph_use(job, RR_VFS_SHARE_WRITE, &file);
	if (status != RR_VFS_OK)
		return status;
	status = rr_ceph_status(ceph->lib.ll_fallocate(ceph->mount, file,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (int64_t)space->offset, (int64_t)space->length));
	rr_ceph_done(job, file);
	if (status != RR_VFS_OK)
		return status;
	return rr_ceph_sync(job, job->object.inode, false);
}

/* Returns RR_VFS_NOTSUPP. It is the function of all operations that CephFS does not support: seek (a cluster
 * keeps no holes), allocate (it reserves no space), copy, clone and lease. */
enum rr_vfs_status
rr_ceph_absent(struct rr_ceph_job *job)
{
	(void)job;
	return RR_VFS_NOTSUPP;
}
