/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations getattr, setattr, access and readlink. vfs.h describes what each of them
 * does, with its arguments and results. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "vfs/posix/posix_private.h"

enum rr_vfs_status
rr_posix_getattr(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_getattr *getattr = rr_container(call, struct rr_vfs_getattr, call);
	struct rr_posix_subject subject;
	enum rr_vfs_status status = rr_posix_find(work, &getattr->object, &subject);

	if (status != RR_VFS_OK)
		return status;
	rr_posix_attributes(work->posix, &subject.object, &getattr->attributes);
	rr_posix_put(work, &subject);
	return RR_VFS_OK;
}

/* Tells whether the attributes may be set: the call has no guard, or the object still has the time of change
 * that the guard says. RFC 1813, 3.3.2: "If the values are different, the server must preserve the object
 * attributes" */
static bool
op_setattr_guard_holds(const struct rr_object *object, const struct rr_vfs_setattr *setattr)
{
	return !setattr->guarded || (setattr->guard.seconds == object->st.stx_ctime.tv_sec &&
					    setattr->guard.nanoseconds == object->st.stx_ctime.tv_nsec);
}

/* Checks the guard of the call (the time of change that the caller expects), sets the attributes, and notes
 * that the object is to be stored, also where only some of the attributes could be set. Meanwhile no other
 * thread changes the object, except by a write, which takes no lock. So for a regular file, "before" is not
 * valid (change->exact is false). */
static enum rr_vfs_status
op_setattr_change(
	struct rr_posix_work *work, struct rr_posix_subject *subject, struct rr_vfs_setattr *setattr)
{
	enum rr_vfs_status status = RR_VFS_NOT_SYNC;

	rr_posix_change_begin(work->posix, subject, NULL);
	if (op_setattr_guard_holds(&subject->object, setattr))
		status = rr_posix_set(work, subject, &setattr->set, &setattr->applied);
	rr_posix_change_end(work->posix, subject, NULL, setattr->applied != 0);
	if (S_ISREG(subject->object.st.stx_mode))
		subject->change->exact = false;
	if (status == RR_VFS_OK || setattr->applied != 0)
		rr_posix_store(work, &subject->object);
	return status;
}

enum rr_vfs_status
rr_posix_setattr(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_setattr *setattr = rr_container(call, struct rr_vfs_setattr, call);
	struct rr_posix_subject subject = { .change = &setattr->change };
	enum rr_vfs_status status = rr_posix_find(work, &setattr->object, &subject);

	if (status != RR_VFS_OK)
		return status;
	/* These are the outputs of an operation that fails before it changes anything. */
	rr_posix_unchanged(work->posix, &subject.object, &setattr->change);
	status = op_setattr_change(work, &subject, setattr);
	rr_posix_put(work, &subject);
	return status;
}

/* Tells whether the identity in force has this permission (R_OK, W_OK or X_OK) on the object. */
static bool
op_access_permits(const struct rr_object *object, int mode)
{
	return faccessat(object->fd, "", mode, AT_EMPTY_PATH | AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0;
}

enum {
	CHANGES = RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND | RR_VFS_MAY_DELETE | RR_VFS_MAY_XATTR_WRITE,
	XATTRS = RR_VFS_MAY_XATTR_READ | RR_VFS_MAY_XATTR_WRITE | RR_VFS_MAY_XATTR_LIST
};

/* Returns the rights (RR_VFS_MAY_*) that make sense for an object of this type. */
static uint32_t
op_access_supported(const struct rr_object *object)
{
	uint32_t all = RR_VFS_MAY_READ | RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND;

	if (S_ISDIR(object->st.stx_mode))
		return all | RR_VFS_MAY_LOOKUP | RR_VFS_MAY_DELETE | XATTRS;
	return all | RR_VFS_MAY_EXECUTE | (S_ISREG(object->st.stx_mode) ? XATTRS : 0);
}

/* Returns the rights (RR_VFS_MAY_*) that the caller has on the object. Changing the entries of a directory
 * needs both write and search permission. */
static uint32_t
op_access_granted(const struct rr_object *object)
{
	bool directory = S_ISDIR(object->st.stx_mode), search = op_access_permits(object, X_OK);
	bool read = op_access_permits(object, R_OK), write = op_access_permits(object, W_OK);
	uint32_t granted = read ? RR_VFS_MAY_READ | RR_VFS_MAY_XATTR_READ | RR_VFS_MAY_XATTR_LIST : 0;

	if (search)
		granted |= RR_VFS_MAY_LOOKUP | RR_VFS_MAY_EXECUTE;
	if (write)
		granted |= RR_VFS_MAY_XATTR_WRITE;
	if (write && (search || !directory))
		granted |= RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND | RR_VFS_MAY_DELETE;
	return granted;
}

enum rr_vfs_status
rr_posix_access(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_access *access = rr_container(call, struct rr_vfs_access, call);
	struct rr_posix_subject subject;
	enum rr_vfs_status status = rr_posix_find(work, &access->object, &subject);

	if (status != RR_VFS_OK)
		return status;
	access->supported = access->asked & op_access_supported(&subject.object);
	access->granted = access->supported & op_access_granted(&subject.object);
	if (rr_vfs_is_read_only(&work->posix->vfs, call))
		access->granted &= ~(uint32_t)CHANGES;
	rr_posix_known(work->posix, &subject.object, &access->object_after);
	rr_posix_put(work, &subject);
	return RR_VFS_OK;
}

static enum rr_vfs_status
op_readlink_read(const struct rr_object *object, struct rr_vfs_readlink *readlink)
{
	ssize_t length;

	if (!S_ISLNK(object->st.stx_mode))
		return RR_VFS_WRONG_TYPE;
	length = readlinkat(object->fd, "", readlink->target, readlink->size);
	if (length < 0)
		return rr_vfs_errno(errno);
	readlink->length = (uint32_t)length;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_posix_readlink(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_readlink *readlink = rr_container(call, struct rr_vfs_readlink, call);
	struct rr_posix_subject subject;
	enum rr_vfs_status status = rr_posix_find(work, &readlink->object, &subject);

	if (status != RR_VFS_OK)
		return status;
	status = op_readlink_read(&subject.object, readlink);
	rr_posix_know(work->posix, &subject.object, &readlink->object_after);
	rr_posix_put(work, &subject);
	return status;
}
