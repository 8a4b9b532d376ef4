/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening, making and closing files. RFC 8881, 10.3.1: close-to-open. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <string.h>

#include "fuse/fuse_private.h"
#include "fuse/lock.h"
#include "fuse/ops.h"

/* Returns the access that flags of open(2) ask for. */
static uint32_t
open_access(uint32_t flags)
{
	switch (flags & O_ACCMODE) {
	case O_RDONLY: return RR_VFS_SHARE_READ;
	case O_WRONLY: return RR_VFS_SHARE_WRITE;
	default: return RR_VFS_SHARE_READ | RR_VFS_SHARE_WRITE;
	}
}

/* Returns what the kernel is to do with the pages that it has of the file: keep them where the file has not
 * changed since, and ask nothing of them for O_DIRECT. */
static uint32_t
open_flags(struct rr_fuse_node *node, uint32_t flags, const struct rr_vfs_known *now)
{
	if (flags & O_DIRECT)
		return FOPEN_DIRECT_IO;
	if (now->valid && now->attributes.change == node->cached)
		return FOPEN_KEEP_CACHE;
	node->cached = now->valid ? now->attributes.change : 0;
	rr_fuse_drop_attributes(node->fuse, node);
	node->period = 0;
	return 0;
}

static void
open_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	uint32_t flags = RR_FUSE_ARGS_AS(request, fuse_open_in)->flags;
	const struct rr_vfs_opening *opening = &request->vfs.opening;
	struct rr_fuse_file *file;
	struct fuse_open_out out = { 0 };

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	file = rr_fuse_file_new(request->fuse, request->node, open_access(flags));
	if (!file) {
		rr_vfs_close(request->fuse->config.vfs, opening->open, NULL);
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	file->open = opening->open;
	out.fh = file->number;
	out.open_flags = open_flags(request->node, flags, &opening->object_after);
	if (!rr_fuse_answer(request, 0, &out, sizeof(out)))
		rr_fuse_file_release(file);
}

static void
open_begin(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	struct rr_vfs_opening *opening;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	opening = &RR_FUSE_ZERO(request)->opening;
	opening->object = rr_fuse_node_object(request->node);
	opening->access = open_access(RR_FUSE_ARGS_AS(request, fuse_open_in)->flags);
	rr_fuse_begin(request, RR_VFS_OP_OPEN, open_done);
}

/* What others here have written is at the server first, so that the attributes tell of it. */
void
rr_fuse_op_open(struct rr_fuse_request *request)
{
	rr_fuse_behind_drain(request, request->node, false, open_begin);
}

/* Runs when the file that was made is open. */
static void
open_create_opened(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out = { .open = { 0 } };
	const struct rr_vfs_opening *opening = &request->vfs.opening;
	struct rr_fuse_node *node = request->other;
	struct rr_fuse_file *file;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	file = rr_fuse_file_new(
		request->fuse, node, open_access(RR_FUSE_ARGS_AS(request, fuse_create_in)->flags));
	if (!file || !opening->object_after.valid) {
		rr_vfs_close(request->fuse->config.vfs, opening->open, NULL);
		rr_fuse_file_release(file);
		rr_fuse_answer(request, file ? EIO : ENOMEM, NULL, 0);
		return;
	}
	file->open = opening->open;
	rr_fuse_tell_entry(request->node, node, &opening->object_after.attributes, &out.entry);
	out.open.fh = file->number;
	if (RR_FUSE_ARGS_AS(request, fuse_create_in)->flags & O_DIRECT)
		out.open.open_flags = FOPEN_DIRECT_IO;
	node->lookups++;
	rr_fuse_node_hold(node);
	if (!rr_fuse_answer(request, 0, &out, sizeof(out))) {
		node->lookups--;
		rr_fuse_file_release(file);
	}
	rr_fuse_node_release(node);
}

static void open_create_open(struct rr_fuse_request *request, const struct rr_vfs_handle *handle,
	const struct rr_vfs_attributes *attributes);

static void
open_create_found(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct rr_vfs_attributes attributes = request->vfs.lookup.attributes;
	const struct rr_vfs_handle handle = request->vfs.lookup.handle;

	if (status == RR_VFS_OK)
		open_create_open(request, &handle, &attributes);
	else
		rr_fuse_answer_status(request, status);
}

/* Opens the file of the name. */
static void
open_create_open(struct rr_fuse_request *request, const struct rr_vfs_handle *handle,
	const struct rr_vfs_attributes *attributes)
{
	struct rr_vfs_opening *opening;

	request->other = rr_fuse_node_make(request->fuse, handle, attributes);
	if (!request->other) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	rr_fuse_node_hold(request->other);
	opening = &RR_FUSE_ZERO(request)->opening;
	opening->object = rr_fuse_node_object(request->other);
	opening->access = open_access(RR_FUSE_ARGS_AS(request, fuse_create_in)->flags);
	rr_fuse_begin(request, RR_VFS_OP_OPEN, open_create_opened);
}

static void
open_create_made(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct rr_vfs_create *create = &request->vfs.create;
	const struct rr_vfs_attributes attributes = create->object_after.attributes;
	const struct rr_vfs_handle handle = create->handle;
	struct rr_vfs_lookup *lookup;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
	} else if (create->object_after.valid) {
		open_create_open(request, &handle, &attributes);
	} else {
		lookup = &RR_FUSE_ZERO(request)->lookup;
		lookup->directory = rr_fuse_node_object(request->node);
		lookup->name = rr_fuse_name(request, 0);
		rr_fuse_begin(request, RR_VFS_OP_LOOKUP, open_create_found);
	}
}

void
rr_fuse_op_create(struct rr_fuse_request *request)
{
	const struct fuse_create_in *in = RR_FUSE_ARGS_AS(request, fuse_create_in);
	struct rr_vfs_create *create = &RR_FUSE_ZERO(request)->create;

	create->directory = rr_fuse_node_object(request->node);
	create->name = rr_fuse_name(request, 0);
	create->type = RR_VFS_FILE;
	create->how = in->flags & O_EXCL ? RR_VFS_GUARDED : RR_VFS_UNCHECKED;
	create->set.mask = RR_VFS_SET_MODE | (in->flags & O_TRUNC ? RR_VFS_SET_SIZE : 0);
	create->set.mode = in->mode & 07777;
	rr_fuse_begin(request, RR_VFS_OP_CREATE, open_create_made);
}

/* Answers with the error that something of what was written has met. */
static void
open_flush_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	int error = status == RR_VFS_OK ? rr_fuse_behind_error(request->node) : rr_fuse_errno(status);

	if (request->opcode == FUSE_FLUSH)
		rr_fuse_unlock_owner(
			request->node, RR_FUSE_ARGS_AS(request, fuse_flush_in)->lock_owner, false);
	rr_fuse_answer(request, error, NULL, 0);
}

/* FUSE_FLUSH, which is close(2) of each descriptor of the file: others that open it find what was written;
 * and FUSE_FSYNC: it is stable. */
void
rr_fuse_op_flush(struct rr_fuse_request *request)
{
	rr_fuse_behind_drain(request, request->node, request->opcode == FUSE_FSYNC, open_flush_done);
}

/* The last descriptor has gone. What mmap(2) has written after close(2) is brought to the server. */
void
rr_fuse_op_release(struct rr_fuse_request *request)
{
	const struct fuse_release_in *in = RR_FUSE_ARGS_AS(request, fuse_release_in);
	struct rr_fuse_file *file = rr_fuse_file_find(request->fuse, in->fh, request->node);

	if (file) {
		if (in->release_flags & FUSE_RELEASE_FLOCK_UNLOCK)
			rr_fuse_unlock_owner(request->node, in->lock_owner, true);
		if (rr_fuse_is_behind(&request->node->behind))
			rr_fuse_behind_push(request->node, false);
		rr_fuse_file_close(file);
	}
	rr_fuse_answer(request, 0, NULL, 0);
}
