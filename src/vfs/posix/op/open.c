/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations open and lock. vfs.h describes what each of them does, with its arguments and
 * results. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "vfs/posix/posix_private.h"
#include "vfs/posix/tree/tree_private.h"

static int
open_access(uint32_t share)
{
	if (share == RR_VFS_SHARE_READ)
		return O_RDONLY;
	return share == RR_VFS_SHARE_WRITE ? O_WRONLY : O_RDWR;
}

static enum rr_vfs_status
open_type(const struct rr_object *object)
{
	switch (object->st.stx_mode & S_IFMT) {
	case S_IFREG: return RR_VFS_OK;
	case S_IFDIR: return RR_VFS_ISDIR;
	case S_IFLNK: return RR_VFS_SYMLINK;
	default: return RR_VFS_WRONG_TYPE;
	}
}

/* Opens a new descriptor of the file with this access (RR_VFS_SHARE_*). Where the open that the call names
 * has this access already, the thread opens the file as the server itself, without checking a permission, and
 * acts as the server from then on. */
static enum rr_vfs_status
open_descriptor(struct rr_posix_work *work, struct rr_posix_subject *subject, uint32_t share, int *fd)
{
	if (!subject->open || share & ~subject->open->reservation.access)
		return rr_tree_open_apart(work->tree, &subject->object, open_access(share), fd);
	rr_tree_as_self(work->tree);
	*fd = rr_tree_reopen(work->tree, subject->open->fd, open_access(share));
	return *fd < 0 ? rr_vfs_errno(errno) : RR_VFS_OK;
}

/* Makes an open of the object with the access that the call asks for, and its share reservation, and stores
 * the open in opening->open. */
static enum rr_vfs_status
open_subject(struct rr_posix_work *work, struct rr_posix_subject *subject, struct rr_vfs_opening *opening)
{
	struct rr_posix_shared *shared = work->posix->shared;
	const struct rr_object *object = &subject->object;
	enum rr_vfs_status status = open_type(&subject->object);
	struct rr_vfs_open *open;
	int fd;

	if (status == RR_VFS_OK)
		status = open_descriptor(work, subject, opening->access, &fd);
	if (status != RR_VFS_OK)
		return status;
	open = rr_posix_open_new(shared, &subject->object, fd);
	if (!open)
		return RR_VFS_BUSY;
	status = rr_reserve_open(&shared->reserve, opening,
		(struct rr_reserve_file){ object->fsid, object->st.stx_ino }, &open->reservation);
	if (status == RR_VFS_OK)
		opening->open = open;
	else
		rr_posix_open_free(shared, open);
	return status;
}

enum rr_vfs_status
rr_posix_open(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_opening *opening = rr_container(call, struct rr_vfs_opening, call);
	struct rr_posix_subject subject;
	enum rr_vfs_status status = rr_posix_find(work, &opening->object, &subject);

	if (status != RR_VFS_OK)
		return status;
	status = open_subject(work, &subject, opening);
	rr_posix_known(work->posix, &subject.object, &opening->object_after);
	rr_posix_put(work, &subject);
	return status;
}

/* Tests whether another open has a lock that conflicts with the lock of the call. Returns RR_VFS_OK if there
 * is no such lock, else RR_VFS_LOCK, with the other open's lock in lock->conflict. */
static enum rr_vfs_status
op_lock_test(struct rr_vfs_lock *lock, struct flock range)
{
	if (fcntl(lock->open->fd, F_OFD_GETLK, &range) < 0)
		return rr_vfs_errno(errno);
	return rr_vfs_lock_conflict(lock, &range);
}

/* Sets, removes or tests a lock of octets by the locks of open file descriptions (F_OFD_SETLK), which belong
 * to the descriptor of the open. A lock that conflicts is never waited for. */
enum rr_vfs_status
rr_posix_lock_range(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_lock *lock = rr_container(call, struct rr_vfs_lock, call);
	struct flock range;
	enum rr_vfs_status status = rr_vfs_lock_range(lock, &range);

	(void)work;
	if (status != RR_VFS_OK)
		return status;
	if (lock->test)
		return op_lock_test(lock, range);
	if ((lock->kind == RR_VFS_LOCK_READ && !(lock->open->reservation.access & RR_VFS_SHARE_READ)) ||
		(lock->kind == RR_VFS_LOCK_WRITE && !(lock->open->reservation.access & RR_VFS_SHARE_WRITE)))
		return RR_VFS_OPEN_MODE;
	if (lock->kind != RR_VFS_UNLOCK)
		atomic_store(&lock->open->locked, true);
	if (fcntl(lock->open->fd, F_OFD_SETLK, &range) == 0)
		return RR_VFS_OK;
	if (errno != EAGAIN && errno != EACCES)
		return rr_vfs_errno(errno);
	/* The call's output describes the lock that is in the way. If that lock was removed meanwhile, the
	 * caller has to try again. */
	status = op_lock_test(lock, range);
	return status == RR_VFS_OK ? RR_VFS_BUSY : status;
}
