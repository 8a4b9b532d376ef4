/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations read, write and commit. vfs.h describes what each of them does, with its
 * arguments and results. */
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/whole.h"
#include "vfs/posix/posix_private.h"
#include "vfs/posix/tree/tree_private.h"

/* Returns RR_VFS_OK for a regular file, RR_VFS_ISDIR for a directory, and RR_VFS_WRONG_TYPE for any other
 * object. */
static enum rr_vfs_status
data_type(const struct rr_object *object)
{
	if (S_ISREG(object->st.stx_mode))
		return RR_VFS_OK;
	return S_ISDIR(object->st.stx_mode) ? RR_VFS_ISDIR : RR_VFS_WRONG_TYPE;
}

/* Reads once at offset, as pread(2) does: returns the number of octets, or -1 with errno. While the tree
 * hurries, so that nothing may wait, reads only data that is in memory. Where the data is not in memory, or
 * the file system cannot tell (EOPNOTSUPP), rr_tree_may_wait() notes that in tree->waits. */
static ssize_t
op_read_some(struct rr_tree *tree, const struct rr_object *object, int fd, struct iovec data, uint64_t offset)
{
	ssize_t n;

	if (!tree->hurries || object->memory)
		return pread(fd, data.iov_base, data.iov_len, (off_t)offset);
	n = preadv2(fd, &data, 1, (off_t)offset, RWF_NOWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EOPNOTSUPP))
		rr_tree_may_wait(tree);
	return n;
}

/* Reads until rest->size octets are read, the file ends, or an error occurs, and counts the octets in
 * rest->done. Returns RR_VFS_PENDING where the tree hurries and the rest of the data is not in memory. An
 * error is returned only where no octet was read. */
static enum rr_vfs_status
op_read_fully(struct rr_tree *tree, struct rr_posix_rest *rest, const struct rr_vfs_read *read)
{
	while (rest->done < rest->size) {
		struct iovec data = { (uint8_t *)read->data + rest->done, rest->size - rest->done };
		ssize_t n =
			op_read_some(tree, &rest->subject.object, rest->fd, data, read->offset + rest->done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && tree->hurries && tree->waits)
			return RR_VFS_PENDING;
		if (n < 0 && rest->done == 0)
			return rr_vfs_errno(errno);
		if (n <= 0)
			break;
		rest->done += (uint32_t)n;
	}
	return RR_VFS_OK;
}

/* Fills in the output of a read that has read rest->done octets: their number, whether the file ends behind
 * them, and the attributes of the file. */
static void
op_read_result(struct rr_posix_work *work, struct rr_vfs_read *read)
{
	struct rr_posix_rest *rest = &work->rest;
	uint64_t end;

	rr_posix_know(work->posix, &rest->subject.object, &read->object_after);
	end = rest->subject.object.st.stx_size;
	read->length = rest->done;
	/* If no octet was read, the file has ended there, even if it has grown meanwhile: without eof, a
	 * client might repeat the read for ever. Only a read of size 0 has to look at the size of the file.
	 */
	read->eof =
		rest->done == 0 ? read->size > 0 || read->offset >= end : read->offset + rest->done >= end;
}

/* Reads the octets that work->rest still lacks, and fills in the read's output where no error occurs. Returns
 * RR_VFS_PENDING as op_read_fully() does. */
static enum rr_vfs_status
op_read_rest(struct rr_posix_work *work, struct rr_vfs_read *read)
{
	enum rr_vfs_status status = op_read_fully(work->tree, &work->rest, read);

	if (status == RR_VFS_OK)
		op_read_result(work, read);
	return status;
}

/* Opens the file with the caller's permission, gets memory for the data where the call has none, and reads.
 * No memory is asked for where offset is at or behind the end of the file. memory() may lower read->size, so
 * rest->size is set after it. Returns RR_VFS_NO_BUFFER if there is no memory; RR_VFS_PENDING where the ring
 * (io_uring) or a thread of the crew is to read the rest. */
static enum rr_vfs_status
op_read_data(struct rr_posix_work *work, struct rr_vfs_read *read)
{
	struct rr_posix_rest *rest = &work->rest;
	uint64_t end = rest->subject.object.st.stx_size;
	uint32_t size = read->offset < end ? (uint32_t)rr_min(read->size, end - read->offset) : 0;
	enum rr_vfs_status status = rr_posix_data(work, &rest->subject, O_RDONLY, &rest->fd);

	if (status != RR_VFS_OK)
		return status;
	if (size > 0 && !read->data)
		read->data = read->memory(read, size);
	if (size > 0 && !read->data)
		return RR_VFS_NO_BUFFER;
	rest->size = (uint32_t)rr_min(size, read->size);
	return op_read_rest(work, read);
}

/* Ends a read with this status, and returns the status. After a failure, fills in the attributes of the
 * object, which op_read_result() does after success; not after RR_VFS_NO_BUFFER, where nothing was done. In
 * any case gives the object back. */
static enum rr_vfs_status
op_read_end(struct rr_posix_work *work, struct rr_vfs_read *read, enum rr_vfs_status status)
{
	struct rr_posix_subject *subject = &work->rest.subject;

	if (status != RR_VFS_OK && status != RR_VFS_NO_BUFFER)
		rr_posix_know(work->posix, &subject->object, &read->object_after);
	rr_posix_put(work, subject);
	return status;
}

/* If the tree hurries and part of the data is not in memory (RR_VFS_PENDING), the read does not end here:
 * work->rest keeps the object for the thread or the ring that reads the rest. */
enum rr_vfs_status
rr_posix_read(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_read *read = rr_container(call, struct rr_vfs_read, call);
	enum rr_vfs_status status;

	work->rest.size = work->rest.done = 0;
	status = rr_posix_find(work, &read->object, &work->rest.subject);
	if (status != RR_VFS_OK)
		return status;
	status = data_type(&work->rest.subject.object);
	if (status == RR_VFS_OK)
		status = op_read_data(work, read);
	work->rest.waits = status == RR_VFS_PENDING;
	return work->rest.waits ? status : op_read_end(work, read, status);
}

enum rr_vfs_status
rr_posix_read_rest(struct rr_posix_work *work)
{
	struct rr_vfs_read *read = rr_container(work->call, struct rr_vfs_read, call);

	work->rest.waits = false;
	return op_read_end(work, read, op_read_rest(work, read));
}

enum rr_vfs_status
rr_posix_read_came(struct rr_posix_work *work, int error)
{
	struct rr_vfs_read *read = rr_container(work->call, struct rr_vfs_read, call);
	enum rr_vfs_status status = work->rest.done == 0 ? rr_vfs_errno(error) : RR_VFS_OK;

	work->rest.waits = false;
	if (status == RR_VFS_OK)
		op_read_result(work, read);
	return op_read_end(work, read, status);
}

/* Writes the data of the call to the file. Where the call asks for stable data, notes that the file is to be
 * stored before the operation ends. */
static enum rr_vfs_status
op_write_data(struct rr_posix_work *work, struct rr_posix_subject *subject, struct rr_vfs_write *write)
{
	enum rr_vfs_status status = data_type(&subject->object);
	ssize_t length;
	int fd;

	if (status == RR_VFS_OK)
		status = rr_posix_data(work, subject, O_WRONLY, &fd);
	if (status != RR_VFS_OK)
		return status;
	if (write->offset > (uint64_t)INT64_MAX - write->length)
		return RR_VFS_FBIG;
	length = rr_whole_write(fd, write->data, write->length, (int64_t)write->offset);
	if (length < 0)
		return rr_vfs_errno(errno);
	write->count = (uint32_t)length;
	write->committed = write->stable;
	if (write->stable != RR_VFS_UNSTABLE)
		rr_posix_store_fd(work, &subject->object, fd, write->stable == RR_VFS_DATA_SYNC);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_posix_write(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_write *write = rr_container(call, struct rr_vfs_write, call);
	struct rr_posix_subject subject = { .change = &write->change };
	enum rr_vfs_status status;

	/* The verifier is taken before the data is written. So a failure to store the data that another
	 * thread meets then shows as a change of the verifier. */
	write->verifier = rr_posix_verifier(work->posix);
	status = rr_posix_find(work, &write->object, &subject);
	if (status != RR_VFS_OK)
		return status;
	status = op_write_data(work, &subject, write);
	/* "before" is not given, as others may write to the file at the same time, without a lock. */
	rr_posix_after(work->posix, &subject.object, status == RR_VFS_OK, &write->change);
	rr_posix_put(work, &subject);
	return status;
}

/* Notes that the file is to be stored before the operation ends. The file is opened as the server itself,
 * because the writes needed permission and the commit needs none. RFC 1813, 3.3.21: "COMMIT will always
 * return NFS3_OK, unless there has been an unexpected error". A descriptor for reading will do; the one of
 * the last write is taken where it is still open and can read. A new one for writing would keep the file from
 * being executed. */
static enum rr_vfs_status
op_commit_data(struct rr_posix_work *work, struct rr_posix_subject *subject)
{
	enum rr_vfs_status status = data_type(&subject->object);
	int fd;

	if (status != RR_VFS_OK)
		return status;
	rr_tree_as_self(work->tree);
	if (subject->open)
		fd = subject->open->fd;
	else if (rr_tree_open(work->tree, &subject->object, O_RDONLY, &fd) != RR_VFS_OK)
		status = rr_tree_open(work->tree, &subject->object, O_WRONLY, &fd);
	if (status == RR_VFS_OK)
		rr_posix_store_fd(work, &subject->object, fd, false);
	return status;
}

enum rr_vfs_status
rr_posix_commit(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_commit *commit = rr_container(call, struct rr_vfs_commit, call);
	struct rr_posix_subject subject = { .change = &commit->change };
	enum rr_vfs_status status;

	/* If there is something to store, the verifier is read again after that, in job.c. */
	commit->verifier = rr_posix_verifier(work->posix);
	status = rr_posix_find(work, &commit->object, &subject);
	if (status != RR_VFS_OK)
		return status;
	status = op_commit_data(work, &subject);
	rr_posix_after(work->posix, &subject.object, false, &commit->change);
	rr_posix_put(work, &subject);
	return status;
}
