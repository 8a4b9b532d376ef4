/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of files. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fuse.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "fuse/fuse_private.h"
#include "fuse/ops.h"

/* Finds the file of the request, and holds it; the kernel may name none for pages that mmap(2) has: then any
 * file of the node with that access is as good. Returns false, and has answered, where there is none. */
static bool
data_file(struct rr_fuse_request *request, uint64_t number, uint32_t access)
{
	struct rr_fuse_file *file = rr_fuse_file_find(request->fuse, number, request->node);

	if (!file || !(file->access & access))
		file = rr_fuse_file_with(request->node, access);
	if (!file) {
		rr_fuse_answer(request, EBADF, NULL, 0);
		return false;
	}
	request->file = rr_fuse_file_hold(file);
	return true;
}

static struct rr_vfs_object
data_object(const struct rr_fuse_request *request)
{
	struct rr_vfs_object object = rr_fuse_node_object(request->node);

	object.open = request->file->open;
	return object;
}

static void
data_read_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	if (status == RR_VFS_OK)
		rr_fuse_answer(request, 0, request->data, request->vfs.read.length);
	else
		rr_fuse_answer_status(request, status);
}

static void
data_read_begin(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct fuse_read_in *in = RR_FUSE_ARGS_AS(request, fuse_read_in);
	struct rr_vfs_read *read;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	request->size = rr_min(in->size, (uint32_t)RR_FUSE_IO);
	request->data = request->fuse->env->realloc(request->fuse->env->ctx, NULL, request->size);
	if (!request->data) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	read = &RR_FUSE_ZERO(request)->read;
	read->object = data_object(request);
	read->offset = in->offset;
	read->size = request->size;
	read->data = request->data;
	rr_fuse_begin(request, RR_VFS_OP_READ, data_read_done);
}

/* Reads what is at the server, where all that was written here is by then. */
void
rr_fuse_op_read(struct rr_fuse_request *request)
{
	const struct fuse_read_in *in = RR_FUSE_ARGS_AS(request, fuse_read_in);

	if (in->size == 0)
		rr_fuse_answer(request, 0, NULL, 0);
	else if (data_file(request, in->fh, RR_VFS_SHARE_READ))
		rr_fuse_behind_drain(request, request->node, false, data_read_begin);
}

/* Answers a write of which the octets are here; with O_SYNC, when they are stable. */
static void
data_write_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct fuse_write_out out = { .size = RR_FUSE_ARGS_AS(request, fuse_write_in)->size };
	int error = status == RR_VFS_OK ? rr_fuse_behind_error(request->node) : rr_fuse_errno(status);

	rr_fuse_answer(request, error, error ? NULL : &out, error ? 0 : sizeof(out));
}

/* Takes the octets over, as soon as there is room for them. */
static void
data_write_begin(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct fuse_write_in *in = RR_FUSE_ARGS_AS(request, fuse_write_in);
	struct rr_fuse *fuse = request->fuse;
	int error = rr_fuse_behind_error(request->node);

	if (status != RR_VFS_OK || error) {
		rr_fuse_answer(request, error ? error : rr_fuse_errno(status), NULL, 0);
		return;
	}
	if (fuse->behind >= fuse->config.behind_max) {
		if (rr_list_empty(&fuse->throttled))
			rr_fuse_behind_look(fuse, true);
		else
			rr_fuse_behind_push(request->node, true);
		if (fuse->behind >= fuse->config.behind_max) {
			rr_fuse_wait(request, &fuse->throttled, data_write_begin);
			return;
		}
	}
	if (!rr_fuse_behind_take(request->file, request, in->offset, request->data, in->size)) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	rr_free(fuse->env, request->data);
	request->data = NULL;
	if (in->flags & (O_SYNC | O_DSYNC))
		rr_fuse_behind_drain(request, request->node, true, data_write_done);
	else
		data_write_done(request, RR_VFS_OK);
}

void
rr_fuse_op_write(struct rr_fuse_request *request)
{
	const struct fuse_write_in *in = RR_FUSE_ARGS_AS(request, fuse_write_in);

	if (in->size > request->size || in->size > RR_FUSE_IO || in->offset > (uint64_t)INT64_MAX - in->size)
		rr_fuse_answer(request, EINVAL, NULL, 0);
	else if (in->size == 0)
		data_write_done(request, RR_VFS_OK);
	else if (data_file(request, in->fh, RR_VFS_SHARE_WRITE))
		data_write_begin(request, RR_VFS_OK);
}

/* Where the server knows no SEEK, the kernel has all of a file be data, as it says itself when it hears
 * ENOSYS once. */
static void
data_lseek_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct rr_vfs_seek *seek = &request->vfs.seek;
	const struct fuse_lseek_out out = { .offset = seek->found };

	if (status == RR_VFS_OK && seek->data && seek->eof)
		rr_fuse_answer(request, ENXIO, NULL, 0);
	else if (status == RR_VFS_OK)
		rr_fuse_answer(request, 0, &out, sizeof(out));
	else if (status == RR_VFS_NOTSUPP)
		rr_fuse_answer(request, ENOSYS, NULL, 0);
	else
		rr_fuse_answer_status(request, status);
}

static void
data_lseek_begin(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct fuse_lseek_in *in = RR_FUSE_ARGS_AS(request, fuse_lseek_in);
	struct rr_vfs_seek *seek;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	seek = &RR_FUSE_ZERO(request)->seek;
	seek->object = data_object(request);
	seek->offset = in->offset;
	seek->data = in->whence == SEEK_DATA;
	rr_fuse_begin(request, RR_VFS_OP_SEEK, data_lseek_done);
}

void
rr_fuse_op_lseek(struct rr_fuse_request *request)
{
	const struct fuse_lseek_in *in = RR_FUSE_ARGS_AS(request, fuse_lseek_in);

	if (in->whence != SEEK_DATA && in->whence != SEEK_HOLE)
		rr_fuse_answer(request, EINVAL, NULL, 0);
	else if (data_file(request, in->fh, 0))
		rr_fuse_behind_drain(request, request->node, false, data_lseek_begin);
}

static void
data_fallocate_begin(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct fuse_fallocate_in *in = RR_FUSE_ARGS_AS(request, fuse_fallocate_in);
	struct rr_vfs_space *space;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	space = &RR_FUSE_ZERO(request)->space;
	space->object = data_object(request);
	space->offset = in->offset;
	space->length = in->length;
	rr_fuse_begin(request, in->mode ? RR_VFS_OP_DEALLOCATE : RR_VFS_OP_ALLOCATE, rr_fuse_answer_status);
}

/* RFC 7862, 15.1 and 15.4: space can be reserved, and a hole made; nothing else of fallocate(2). What was
 * written before is stable first, so that nothing of it is ever written again into the hole. */
void
rr_fuse_op_fallocate(struct rr_fuse_request *request)
{
	const struct fuse_fallocate_in *in = RR_FUSE_ARGS_AS(request, fuse_fallocate_in);

	if (in->mode != 0 && in->mode != (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE))
		rr_fuse_answer(request, EOPNOTSUPP, NULL, 0);
	else if (data_file(request, in->fh, RR_VFS_SHARE_WRITE))
		rr_fuse_behind_drain(request, request->node, true, data_fallocate_begin);
}

/* Answers when what was copied is stable; where the server has lost it, the program sees the error of a disk.
 */
static void
data_copy_committed(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct fuse_write_out out = { .size = (uint32_t)request->kept };

	if (status == RR_VFS_OK && request->vfs.commit.verifier != request->verifier)
		status = RR_VFS_IO;
	if (status == RR_VFS_OK)
		rr_fuse_answer(request, 0, &out, sizeof(out));
	else
		rr_fuse_answer_status(request, status);
}

/* RFC 7862, 15.2.3: the data of a COPY may be unstable: a COMMIT follows. */
static void
data_copy_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct rr_vfs_copy copy = request->vfs.copy;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	request->kept = copy.copied;
	request->verifier = copy.verifier;
	RR_FUSE_ZERO(request)->commit.object = copy.to;
	rr_fuse_begin(request, RR_VFS_OP_COMMIT, data_copy_committed);
}

/* Runs when nothing of both files is behind. */
static void
data_copy_begin(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct fuse_copy_file_range_in *in = RR_FUSE_ARGS_AS(request, fuse_copy_file_range_in);
	struct rr_fuse_file *to = rr_fuse_file_find(request->fuse, in->fh_out, request->other);
	struct rr_vfs_copy *copy;

	if (status != RR_VFS_OK || !to) {
		rr_fuse_answer(request, to ? rr_fuse_errno(status) : EBADF, NULL, 0);
		return;
	}
	copy = &RR_FUSE_ZERO(request)->copy;
	copy->from = data_object(request);
	copy->to = rr_fuse_node_object(request->other);
	copy->to.open = to->open;
	copy->from_offset = in->off_in;
	copy->to_offset = in->off_out;
	copy->length = rr_min(in->len, (uint64_t)1 << 30);
	rr_fuse_begin(request, RR_VFS_OP_COPY, data_copy_done);
}

static void
data_copy_drained(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	if (status == RR_VFS_OK)
		rr_fuse_behind_drain(request, request->other, true, data_copy_begin);
	else
		rr_fuse_answer_status(request, status);
}

/* RFC 7862, 15.2.3: "If SAVED_FH and CURRENT_FH refer to the same file, the operation MUST fail with
 * NFS4ERR_INVAL": then the kernel copies, as it does where it hears EOPNOTSUPP. */
void
rr_fuse_op_copy(struct rr_fuse_request *request)
{
	const struct fuse_copy_file_range_in *in = RR_FUSE_ARGS_AS(request, fuse_copy_file_range_in);

	request->other = rr_fuse_node_find(&request->fuse->nodes, in->nodeid_out);
	if (request->other)
		rr_fuse_node_hold(request->other);
	if (!request->other || in->len == 0)
		rr_fuse_answer(request, EINVAL, NULL, 0);
	else if (request->other == request->node)
		rr_fuse_answer(request, EOPNOTSUPP, NULL, 0);
	else if (data_file(request, in->fh_in, RR_VFS_SHARE_READ))
		rr_fuse_behind_drain(request, request->node, false, data_copy_drained);
}
