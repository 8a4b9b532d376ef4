/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the steps that many operations take. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "vfs/posix/posix_private.h"
#include "vfs/posix/tree/tree_private.h"

/* Fills in the subject (the object of an operation) from an open, with the present attributes of the object.
 * Returns RR_VFS_BUSY where getting the attributes might wait and waiting is not allowed now. */
static enum rr_vfs_status
work_find_open(struct rr_posix_work *work, struct rr_vfs_open *open, struct rr_posix_subject *subject)
{
	subject->open = open;
	subject->reserved = false;
	subject->object = (struct rr_object){
		.fd = open->fd,
		.export = open->export,
		.fsid = open->fsid,
		.local = open->local,
		.memory = open->memory,
		.place = open->place,
	};
	if (!open->local && !rr_tree_may_wait(work->tree))
		return RR_VFS_BUSY;
	return rr_object_stat(&subject->object);
}

enum rr_vfs_status
rr_posix_find(struct rr_posix_work *work, const struct rr_vfs_object *named, struct rr_posix_subject *subject)
{
	if (named->open)
		return work_find_open(work, named->open, subject);
	subject->open = NULL;
	subject->reserved = named->reserved;
	return rr_tree_resolve(work->tree, named->handle, &subject->object);
}

void
rr_posix_put(struct rr_posix_work *work, struct rr_posix_subject *subject)
{
	rr_object_put(work->tree, &subject->object);
}

enum rr_vfs_status
rr_posix_refuse(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	const struct rr_vfs_row *row = work->row;

	for (int i = 0; i < 2 && row->objects[i]; i++) {
		struct rr_vfs_change *change = rr_vfs_member(call, row->changes[i]);
		struct rr_vfs_known *known = i == 0 ? rr_vfs_member(call, row->known) : NULL;
		struct rr_posix_subject subject;
		enum rr_vfs_status status =
			rr_posix_find(work, rr_vfs_member(call, row->objects[i]), &subject);

		if (status != RR_VFS_OK)
			return status;
		if (change) {
			rr_posix_unchanged(work->posix, &subject.object, change);
			change->exact = !(row->flags & RR_VFS_INEXACT);
		}
		if (known)
			rr_posix_known(work->posix, &subject.object, known);
		rr_posix_put(work, &subject);
	}
	return call->status;
}

/* Translates O_RDONLY, O_WRONLY or O_RDWR into RR_VFS_SHARE_* bits. */
static uint32_t
work_share(int access)
{
	return access == O_RDONLY   ? RR_VFS_SHARE_READ
	       : access == O_WRONLY ? RR_VFS_SHARE_WRITE
				    : RR_VFS_SHARE_READ | RR_VFS_SHARE_WRITE;
}

enum rr_vfs_status
rr_posix_data(struct rr_posix_work *work, struct rr_posix_subject *subject, int access, int *fd)
{
	uint32_t share = work_share(access);
	enum rr_vfs_status status;

	if (subject->open) {
		*fd = subject->open->fd;
		return share & ~subject->open->reservation.access ? RR_VFS_OPEN_MODE : RR_VFS_OK;
	}
	status = rr_tree_open(work->tree, &subject->object, access, fd);
	if (status == RR_VFS_OK && !subject->reserved &&
		rr_reserve_denies(&work->posix->shared->reserve,
			(struct rr_reserve_file){ subject->object.fsid, subject->object.st.stx_ino }, share))
		return RR_VFS_LOCKED;
	return status;
}

void
rr_posix_store_fd(struct rr_posix_work *work, const struct rr_object *object, int fd, bool data)
{
	if (!object->memory)
		rr_stores_add(&work->stores, fd, data ? RR_STORE_DATA : RR_STORE_FILE);
}

/* An object that cannot be opened (a symbolic link, a device, a directory that may not be read) is stored
 * with its whole file system. An object without a node was named by an open, whose descriptor is used. */
void
rr_posix_store(struct rr_posix_work *work, struct rr_object *object)
{
	bool opens = S_ISREG(object->st.stx_mode) || S_ISDIR(object->st.stx_mode);
	int fd;

	if (object->memory)
		return;
	rr_tree_as_self(work->tree);
	/* While the tree is entered, no other thread closes the descriptors, which rr_stores_add() copies. */
	rr_tree_enter(work->tree);
	if (!object->node)
		rr_stores_add(&work->stores, object->fd, RR_STORE_FILE);
	else if (opens && rr_tree_open(work->tree, object, O_RDONLY, &fd) == RR_VFS_OK)
		rr_stores_add(&work->stores, fd, RR_STORE_FILE);
	else if (rr_tree_open_near(work->tree, object, &fd) == RR_VFS_OK)
		rr_stores_add(&work->stores, fd, RR_STORE_FILE_SYSTEM);
	else
		rr_stores_add(&work->stores, -1, RR_STORE_EVERYTHING);
	rr_tree_leave(work->tree);
}

uint64_t
rr_posix_verifier(const struct rr_posix *posix)
{
	return atomic_load(&posix->shared->verifier);
}

void
rr_posix_path(int fd, char path[RR_POSIX_PATH])
{
	snprintf(path, RR_POSIX_PATH, "/proc/self/fd/%d", fd);
}
