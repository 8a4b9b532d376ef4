/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations seek, allocate, deallocate, copy and clone, of regular files. vfs.h describes
 * what each of them does, with its arguments and results. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/checked.h"
#include "vfs/posix/posix_private.h"

/* One call copies at most so many octets, so that it does not take too long: the caller calls again for the
 * rest. */
enum { COPY_MAX = 4 << 20 };

/* Finds the regular file that the operation names, and a descriptor of the file with this access (O_RDONLY or
 * O_WRONLY). After success the caller gives the file back by rr_posix_put(). */
static enum rr_vfs_status
space_find(struct rr_posix_work *work, const struct rr_vfs_object *named, int access,
	struct rr_posix_subject *subject, int *fd)
{
	enum rr_vfs_status status = rr_posix_find(work, named, subject);

	if (status != RR_VFS_OK)
		return status;
	if (S_ISDIR(subject->object.st.stx_mode))
		status = RR_VFS_ISDIR;
	else if (!S_ISREG(subject->object.st.stx_mode))
		status = RR_VFS_WRONG_TYPE;
	else
		status = rr_posix_data(work, subject, access, fd);
	if (status != RR_VFS_OK)
		rr_posix_put(work, subject);
	return status;
}

/* Finds the next data (seek->data is true) or the next hole in a file of this size. Returns RR_VFS_NXIO where
 * the offset is not within the file. RFC 7862, 15.11.3: where there is no data behind the offset (lseek(2)
 * fails with ENXIO), the rest of the file is a hole. Then seek->found is the end of the file, and seek->eof
 * is true. */
static enum rr_vfs_status
op_seek_in(int fd, uint64_t size, struct rr_vfs_seek *seek)
{
	off_t found;

	if (seek->offset >= size)
		return RR_VFS_NXIO;
	found = lseek(fd, (off_t)seek->offset, seek->data ? SEEK_DATA : SEEK_HOLE);
	if (found < 0 && errno != ENXIO)
		return rr_vfs_errno(errno);
	seek->found = found < 0 ? size : (uint64_t)found;
	seek->eof = seek->found >= size;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_posix_seek(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_seek *seek = rr_container(call, struct rr_vfs_seek, call);
	struct rr_posix_subject subject;
	int fd;
	enum rr_vfs_status status = space_find(work, &seek->object, O_RDONLY, &subject, &fd);

	/* lseek(2) looks for data by an open for writing only, too. */
	if (status == RR_VFS_OPEN_MODE)
		status = space_find(work, &seek->object, O_WRONLY, &subject, &fd);
	if (status != RR_VFS_OK)
		return status;
	status = op_seek_in(fd, subject.object.st.stx_size, seek);
	rr_posix_put(work, &subject);
	return status;
}

/* Reserves space for a range of a file, or makes a hole there, as the mode of fallocate(2) says, and notes
 * that the file is to be stored. Fills in the attributes of the file after that. */
static enum rr_vfs_status
space_change(struct rr_posix_work *work, struct rr_vfs_call *call, int mode)
{
	struct rr_vfs_space *space = rr_container(call, struct rr_vfs_space, call);
	struct rr_posix_subject subject = { .change = &space->change };
	enum rr_vfs_status status;
	int fd;

	if (space->length == 0)
		return RR_VFS_INVAL;
	if (space->offset > INT64_MAX || space->length > INT64_MAX - space->offset)
		return RR_VFS_FBIG;
	status = space_find(work, &space->object, O_WRONLY, &subject, &fd);
	if (status != RR_VFS_OK)
		return status;
	if (fallocate(fd, mode, (off_t)space->offset, (off_t)space->length) < 0)
		status = rr_vfs_errno(errno);
	else
		rr_posix_store_fd(work, &subject.object, fd, false);
	rr_posix_after(work->posix, &subject.object, status == RR_VFS_OK, &space->change);
	rr_posix_put(work, &subject);
	return status;
}

enum rr_vfs_status
rr_posix_allocate(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	return space_change(work, call, 0);
}

enum rr_vfs_status
rr_posix_deallocate(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	return space_change(work, call, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
}

/* The two files of a copy, with open descriptors. */
struct space_pair {
	struct rr_posix_subject from, to;
	int in, out;
};

/* Copies a range of one file to another by copy_file_range(2): at most COPY_MAX octets, and none behind the
 * end of the source. copy->length 0 means up to the end of the source. Stores the number of copied octets in
 * copy->copied. */
static enum rr_vfs_status
op_copy_data(struct rr_posix_work *work, const struct space_pair *pair, struct rr_vfs_copy *copy)
{
	uint64_t size = pair->from.object.st.stx_size;
	uint64_t left = copy->from_offset < size ? size - copy->from_offset : 0;
	off_t in = (off_t)copy->from_offset, out = (off_t)copy->to_offset;
	ssize_t length;

	(void)work;
	if (copy->length > 0)
		left = rr_min(left, copy->length);
	length = left > 0 ? copy_file_range(pair->in, &in, pair->out, &out, rr_min(left, COPY_MAX), 0) : 0;
	if (length < 0)
		return rr_vfs_errno(errno);
	copy->copied = (uint64_t)length;
	return RR_VFS_OK;
}

/* Clones a range of one file into another by FICLONERANGE, and notes that the target is to be stored. Returns
 * RR_VFS_NOTSUPP where the file system cannot do that, and also where the kernel says that the files are in
 * two file systems (EXDEV). */
static enum rr_vfs_status
op_clone_data(struct rr_posix_work *work, const struct space_pair *pair, struct rr_vfs_copy *copy)
{
	struct file_clone_range range = {
		.src_fd = pair->in,
		.src_offset = copy->from_offset,
		.src_length = copy->length,
		.dest_offset = copy->to_offset,
	};

	if (ioctl(pair->out, FICLONERANGE, &range) < 0)
		return errno == EXDEV || errno == ENOTTY || errno == ENOSYS ? RR_VFS_NOTSUPP
									    : rr_vfs_errno(errno);
	copy->copied = copy->length;
	rr_stores_add(&work->stores, pair->out, RR_STORE_FILE);
	return RR_VFS_OK;
}

/* Does a copy or a clone: checks the ranges, opens both files, and calls between(), which copies or clones.
 * Fills in the verifier before that (struct rr_vfs_write), and the attributes of the target after it. */
static enum rr_vfs_status
op_copy_between(struct rr_posix_work *work, struct rr_vfs_call *call,
	enum rr_vfs_status (*between)(
		struct rr_posix_work *work, const struct space_pair *pair, struct rr_vfs_copy *copy))
{
	struct rr_vfs_copy *copy = rr_container(call, struct rr_vfs_copy, call);
	struct space_pair pair = { .to.change = &copy->change };
	enum rr_vfs_status status;

	copy->verifier = rr_posix_verifier(work->posix);
	if (copy->from_offset > INT64_MAX || copy->to_offset > INT64_MAX ||
		copy->length > INT64_MAX - copy->from_offset || copy->length > INT64_MAX - copy->to_offset)
		return RR_VFS_INVAL;
	status = space_find(work, &copy->from, O_RDONLY, &pair.from, &pair.in);
	if (status != RR_VFS_OK)
		return status;
	status = space_find(work, &copy->to, O_WRONLY, &pair.to, &pair.out);
	if (status == RR_VFS_OK) {
		status = between(work, &pair, copy);
		rr_posix_after(work->posix, &pair.to.object, status == RR_VFS_OK, &copy->change);
		rr_posix_put(work, &pair.to);
	}
	rr_posix_put(work, &pair.from);
	return status;
}

enum rr_vfs_status
rr_posix_copy(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	return op_copy_between(work, call, op_copy_data);
}

enum rr_vfs_status
rr_posix_clone(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	return op_copy_between(work, call, op_clone_data);
}
