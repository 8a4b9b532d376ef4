/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations on data: read, write, commit, seek, allocate, deallocate. vfs.h describes
 * what each of them does, with its arguments and results. */
#include "base/checked.h"
#include "node.h"
#include "pages.h"
#include "run.h"

enum { FILE_SET_ID = 06000, FILE_SET_UID = 04000, FILE_SET_GID = 02010, FILE_GROUP_EXECUTE = 00010 };

/* Notes a change of the file's data in its times and its change number. Unless user 0 made the change, the
 * mode also loses the set-user-ID bit and, where the group may execute the file, the set-group-ID bit. */
static void
file_touch(struct rr_memory_run *run, struct rr_memory_node *node)
{
	uint32_t mode = node->attributes.mode;

	rr_memory_touch(run->memory, node, true);
	if (run->caller->uid == 0)
		return;
	if (mode & FILE_GROUP_EXECUTE)
		mode &= ~(uint32_t)02000;
	node->attributes.mode = mode & ~(uint32_t)FILE_SET_UID;
}

enum rr_vfs_status
rr_memory_read(struct rr_memory_run *run)
{
	struct rr_vfs_read *read = (struct rr_vfs_read *)run->call;
	enum rr_vfs_status status = rr_memory_may_use(run, &read->object, run->node, RR_VFS_SHARE_READ);
	uint64_t size, left;

	if (status != RR_VFS_OK)
		return status;
	size = run->node->attributes.size;
	left = read->offset < size ? size - read->offset : 0;
	read->length = (uint32_t)rr_min(read->size, left);
	if (read->length > 0 && !read->data) {
		read->data = read->memory(read, read->length);
		if (!read->data)
			return RR_VFS_NO_BUFFER;
		/* memory() may have lowered read->size. */
		read->length = (uint32_t)rr_min(read->size, read->length);
	}
	read->eof = read->length == left;
	rr_memory_pages_read(run->node, read->offset, read->data, read->length);
	return RR_VFS_OK;
}

/* Tells whether this range of octets may exist in a file of the storage. */
static bool
file_fits(const struct rr_memory *memory, uint64_t offset, uint64_t length)
{
	uint64_t end;

	return rr_add_u64(offset, length, &end) && end <= memory->config.file_max;
}

/* Notes that the file has data that is not on stable storage. Where all its data was stable until now, keeps
 * its present size in stable_size, the size that the file gets back after a loss of power. */
static void
file_unsettle(struct rr_memory_node *node)
{
	if (!node->unstable)
		node->stable_size = node->attributes.size;
	node->unstable = true;
}

enum rr_vfs_status
rr_memory_write(struct rr_memory_run *run)
{
	struct rr_vfs_write *write = (struct rr_vfs_write *)run->call;
	enum rr_vfs_status status = rr_memory_may_use(run, &write->object, run->node, RR_VFS_SHARE_WRITE);

	write->verifier = run->memory->verifier;
	write->committed = write->stable;
	write->count = 0;
	if (status != RR_VFS_OK || write->length == 0)
		return status;
	if (!file_fits(run->memory, write->offset, write->length))
		return RR_VFS_FBIG;
	/* A stable write is done like an unstable one, and made stable afterwards. */
	file_unsettle(run->node);
	status = rr_memory_pages_write(run->memory, run->node, write->offset,
		(struct rpcrdma_bytes){ write->data, write->length }, &write->count);
	if (write->count > 0)
		file_touch(run, run->node);
	if (write->stable != RR_VFS_UNSTABLE)
		rr_memory_settle(run->memory, run->node);
	return status;
}

enum rr_vfs_status
rr_memory_commit(struct rr_memory_run *run)
{
	struct rr_vfs_commit *commit = (struct rr_vfs_commit *)run->call;

	/* A directory can be committed, too, although its changes are stable in any case. */
	if (run->node->attributes.type == RR_VFS_FILE)
		rr_memory_settle(run->memory, run->node);
	else if (run->node->attributes.type != RR_VFS_DIRECTORY)
		return RR_VFS_WRONG_TYPE;
	commit->verifier = run->memory->verifier;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_seek(struct rr_memory_run *run)
{
	struct rr_vfs_seek *seek = (struct rr_vfs_seek *)run->call;
	enum rr_vfs_status status = rr_memory_may_use(run, &seek->object, run->node, RR_VFS_SHARE_READ);
	uint64_t size;

	/* An open for writing only is enough, as for lseek(2). */
	if (status == RR_VFS_OPEN_MODE)
		status = rr_memory_may_use(run, &seek->object, run->node, RR_VFS_SHARE_WRITE);
	if (status != RR_VFS_OK)
		return status;
	size = run->node->attributes.size;
	if (seek->offset >= size)
		return RR_VFS_NXIO;
	seek->found = rr_memory_pages_seek(run->node, seek->offset, seek->data);
	seek->eof = seek->found >= size;
	if (seek->eof)
		seek->found = size;
	return RR_VFS_OK;
}

/* Reserves space for all pages of a range of the operation's file, without data. After an error, the pages
 * that were reserved until then stay reserved. */
static enum rr_vfs_status
file_reserve(struct rr_memory_run *run, uint64_t offset, uint64_t length)
{
	uint64_t last = (offset + length - 1) / RR_MEMORY_PAGE;

	/* A range larger than the storage fails at once, without reserving anything. */
	if (length > run->memory->all.octets)
		return RR_VFS_NOSPC;
	for (uint64_t index = offset / RR_MEMORY_PAGE; index <= last; index++) {
		enum rr_vfs_status status = rr_memory_pages_make(run->memory, run->node, index, false);

		if (status != RR_VFS_OK)
			return status;
	}
	return RR_VFS_OK;
}

/* Checks the permission and the range of an allocate or deallocate operation. Where both are right, makes all
 * data stable that was written to the file before. */
static enum rr_vfs_status
file_begin_space(struct rr_memory_run *run, const struct rr_vfs_space *space)
{
	enum rr_vfs_status status = rr_memory_may_use(run, &space->object, run->node, RR_VFS_SHARE_WRITE);

	if (status != RR_VFS_OK)
		return status;
	if (space->length == 0)
		return RR_VFS_INVAL;
	if (!file_fits(run->memory, space->offset, space->length))
		return RR_VFS_FBIG;
	rr_memory_settle(run->memory, run->node);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_allocate(struct rr_memory_run *run)
{
	struct rr_vfs_space *space = (struct rr_vfs_space *)run->call;
	enum rr_vfs_status status = file_begin_space(run, space);

	if (status != RR_VFS_OK)
		return status;
	status = file_reserve(run, space->offset, space->length);
	if (status != RR_VFS_OK)
		return status;
	if (space->offset + space->length > run->node->attributes.size)
		run->node->attributes.size = space->offset + space->length;
	file_touch(run, run->node);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_deallocate(struct rr_memory_run *run)
{
	struct rr_vfs_space *space = (struct rr_vfs_space *)run->call;
	enum rr_vfs_status status = file_begin_space(run, space);

	if (status != RR_VFS_OK)
		return status;
	rr_memory_pages_punch(run->memory, run->node, space->offset, space->offset + space->length);
	file_touch(run, run->node);
	return RR_VFS_OK;
}
