/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations getxattr, setxattr, listxattr and removexattr. vfs.h describes what each of
 * them does, with its arguments and results. RFC 8276 serves the user's name space only, without its prefix.
 */
#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "vfs/posix/posix_private.h"

/* The names of an object's extended attributes have at most so many octets on Linux. */
enum { LIST_MAX = 65536 };

/* An object with an extended attribute, as arguments of system calls. */
struct xattr_subject {
	struct rr_posix_subject subject;
	char path[RR_POSIX_PATH];       /* stands for the object */
	char name[RR_VFS_NAME_MAX + 1]; /* of the attribute, with its prefix */
};

/* Finds the object of the call, which must be a file or a directory: RR_VFS_WRONG_TYPE for other types, which
 * have no extended attributes. After success the caller gives the object back by rr_posix_put(). */
static enum rr_vfs_status
xattr_find(struct rr_posix_work *work, struct rr_vfs_xattr *xattr, struct xattr_subject *at)
{
	enum rr_vfs_status status = rr_posix_find(work, &xattr->object, &at->subject);
	mode_t mode;

	if (status != RR_VFS_OK)
		return status;
	mode = at->subject.object.st.stx_mode;
	rr_posix_path(at->subject.object.fd, at->path);
	if (S_ISREG(mode) || S_ISDIR(mode))
		return RR_VFS_OK;
	rr_posix_put(work, &at->subject);
	return RR_VFS_WRONG_TYPE;
}

enum rr_vfs_status
rr_posix_getxattr(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_xattr *xattr = rr_container(call, struct rr_vfs_xattr, call);
	struct xattr_subject at;
	enum rr_vfs_status status = rr_vfs_xattr_name(xattr->name, at.name);
	ssize_t length;
	char one;

	if (status == RR_VFS_OK)
		status = xattr_find(work, xattr, &at);
	if (status != RR_VFS_OK)
		return status;
	/* With size 0, getxattr(2) would not fail for a value that is too large, but return its length. So
	 * memory of one octet is used instead, and a value of one octet is found to be too large afterwards.
	 */
	length = getxattr(
		at.path, at.name, xattr->size > 0 ? xattr->value : &one, xattr->size > 0 ? xattr->size : 1);
	status = length < 0 ? rr_vfs_errno(errno) : RR_VFS_OK;
	if (length > (ssize_t)xattr->size)
		status = RR_VFS_XATTR_SIZE;
	if (status == RR_VFS_XATTR_SIZE)
		length = getxattr(at.path, at.name, NULL, 0);
	xattr->length = length > 0 ? (uint32_t)length : 0;
	rr_posix_put(work, &at.subject);
	return status;
}

enum rr_vfs_status
rr_posix_listxattr(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_xattr *xattr = rr_container(call, struct rr_vfs_xattr, call);
	struct xattr_subject at;
	enum rr_vfs_status status = xattr_find(work, xattr, &at);
	ssize_t size;
	char *names;

	if (status != RR_VFS_OK)
		return status;
	names = rr_alloc(work->posix->env, LIST_MAX);
	size = names ? listxattr(at.path, names, LIST_MAX) : -1;
	if (!names)
		status = RR_VFS_BUSY;
	else if (size < 0)
		status = rr_vfs_errno(errno);
	if (status == RR_VFS_OK)
		status = rr_vfs_xattr_names(xattr, names, (size_t)size);
	rr_free(work->posix->env, names);
	rr_posix_put(work, &at.subject);
	return status;
}

static int
xattr_set(const struct xattr_subject *at, const struct rr_vfs_xattr *xattr)
{
	static const int flags[] = { [RR_VFS_XATTR_EITHER] = 0,
		[RR_VFS_XATTR_CREATE] = XATTR_CREATE,
		[RR_VFS_XATTR_REPLACE] = XATTR_REPLACE };

	return setxattr(at->path, at->name, xattr->value, xattr->size, flags[xattr->how]);
}

static int
xattr_remove(const struct xattr_subject *at, const struct rr_vfs_xattr *xattr)
{
	(void)xattr;
	return removexattr(at->path, at->name);
}

/* Does a setxattr or removexattr call: finds the object, calls change(), which sets or removes the attribute,
 * and notes that the object is to be stored. Fills in the state of the object before and after; for a regular
 * file only after, because a write may change the file meanwhile. */
static enum rr_vfs_status
xattr_change(struct rr_posix_work *work, struct rr_vfs_xattr *xattr,
	int (*change)(const struct xattr_subject *at, const struct rr_vfs_xattr *xattr))
{
	struct xattr_subject at = { .subject.change = &xattr->change };
	enum rr_vfs_status status = rr_vfs_xattr_name(xattr->name, at.name);
	int error;

	if (status == RR_VFS_OK)
		status = xattr_find(work, xattr, &at);
	if (status != RR_VFS_OK)
		return status;
	rr_posix_change_begin(work->posix, &at.subject, NULL);
	error = change(&at, xattr) < 0 ? errno : 0;
	rr_posix_change_end(work->posix, &at.subject, NULL, !error);
	if (S_ISREG(at.subject.object.st.stx_mode))
		xattr->change.exact = false;
	if (!error)
		rr_posix_store(work, &at.subject.object);
	rr_posix_put(work, &at.subject);
	return rr_vfs_errno(error);
}

enum rr_vfs_status
rr_posix_setxattr(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	return xattr_change(work, rr_container(call, struct rr_vfs_xattr, call), xattr_set);
}

enum rr_vfs_status
rr_posix_removexattr(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	return xattr_change(work, rr_container(call, struct rr_vfs_xattr, call), xattr_remove);
}
