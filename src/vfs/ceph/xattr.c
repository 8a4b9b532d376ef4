/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations getxattr, setxattr, listxattr and removexattr, on the user's name space,
 * without its prefix. vfs.h describes what each of them does, with its arguments and results. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "vfs/ceph/ceph_private.h"

enum { XATTR_LIST = 65536, XATTR_CREATE = 1, XATTR_REPLACE = 2 };

/* Checks that the job's object is a file or a directory, as other types have no extended attributes, and that
 * the caller has the permissions "bits" on the object (4: read, 2: write, 1: execute). */
static enum rr_vfs_status
xattr_check(struct rr_ceph_job *job, unsigned bits)
{
	struct ceph_statx st;
	enum rr_vfs_status status = rr_ceph_stat(job, job->object.inode, &st);

	if (status != RR_VFS_OK)
		return status;
	if (!S_ISREG(st.stx_mode) && !S_ISDIR(st.stx_mode))
		return RR_VFS_WRONG_TYPE;
	return rr_ceph_may(&st, job->base.call->caller, bits) ? RR_VFS_OK : RR_VFS_ACCESS;
}

/* Copies the name that the call gives, with its prefix, to text, and checks object and permissions as
 * xattr_check() does. */
static enum rr_vfs_status
xattr_begin(struct rr_ceph_job *job, unsigned bits, char text[RR_VFS_NAME_MAX + 1])
{
	enum rr_vfs_status status = rr_vfs_xattr_name(((struct rr_vfs_xattr *)job->base.call)->name, text);

	return status == RR_VFS_OK ? xattr_check(job, bits) : status;
}

enum rr_vfs_status
rr_ceph_getxattr(struct rr_ceph_job *job)
{
	struct rr_vfs_xattr *xattr = (struct rr_vfs_xattr *)job->base.call;
	const struct rr_ceph *ceph = job->ceph;
	char text[RR_VFS_NAME_MAX + 1];
	enum rr_vfs_status status = xattr_begin(job, 4, text);
	int length;

	if (status != RR_VFS_OK)
		return status;
	/* Without memory, ll_getxattr() returns the length of the value. */
	length = ceph->lib.ll_getxattr(ceph->mount, job->object.inode, text, NULL, 0, ceph->self);
	if (length < 0)
		return rr_ceph_status(length);
	xattr->length = (uint32_t)length;
	if (xattr->length > xattr->size)
		return RR_VFS_XATTR_SIZE;
	/* With size 0, ll_getxattr() would return the length again, which may have grown meanwhile, and no
	 * value. The value was empty just now, and an empty value needs no second call. */
	if (xattr->size == 0)
		return RR_VFS_OK;
	length = ceph->lib.ll_getxattr(
		ceph->mount, job->object.inode, text, xattr->value, xattr->size, ceph->self);
	xattr->length = length > 0 ? (uint32_t)length : 0;
	return rr_ceph_status(length);
}

/* Brings a change of extended attributes to stable storage. Where result is negative, the change has failed:
 * then nothing is stored, and the status for that error is returned. */
static enum rr_vfs_status
xattr_store(struct rr_ceph_job *job, int result)
{
	if (result < 0)
		return rr_ceph_status(result);
	return rr_ceph_sync(job, job->object.inode, false);
}

/* Makes or replaces an attribute, as xattr->how says, for a caller with the permission to write to the object
 * (2), and brings the change to stable storage. */
enum rr_vfs_status
rr_ceph_setxattr(struct rr_ceph_job *job)
{
	static const int flags[] = { [RR_VFS_XATTR_EITHER] = 0,
		[RR_VFS_XATTR_CREATE] = XATTR_CREATE,
		[RR_VFS_XATTR_REPLACE] = XATTR_REPLACE };
	struct rr_vfs_xattr *xattr = (struct rr_vfs_xattr *)job->base.call;
	const struct rr_ceph *ceph = job->ceph;
	char text[RR_VFS_NAME_MAX + 1];
	enum rr_vfs_status status = xattr_begin(job, 2, text);

	if (status != RR_VFS_OK)
		return status;
	return xattr_store(job, ceph->lib.ll_setxattr(ceph->mount, job->object.inode, text, xattr->value,
					xattr->size, flags[xattr->how], ceph->self));
}

/* Lists the names for a caller with the permission to read the object (4). Returns RR_VFS_XATTR_SIZE where
 * xattr->value has no room for all names; xattr->length is then the size that they need. */
enum rr_vfs_status
rr_ceph_listxattr(struct rr_ceph_job *job)
{
	struct rr_vfs_xattr *xattr = (struct rr_vfs_xattr *)job->base.call;
	const struct rr_ceph *ceph = job->ceph;
	enum rr_vfs_status status = xattr_check(job, 4);
	char *names;
	size_t size = 0;

	if (status != RR_VFS_OK)
		return status;
	/* One octet more is allocated, so that a zero ends the last name in any case. */
	names = rr_alloc(ceph->env, XATTR_LIST + 1);
	if (!names)
		return RR_VFS_BUSY;
	status = rr_ceph_status(
		ceph->lib.ll_listxattr(ceph->mount, job->object.inode, names, XATTR_LIST, &size, ceph->self));
	if (status == RR_VFS_OK)
		status = rr_vfs_xattr_names(xattr, names, size);
	rr_free(ceph->env, names);
	return status;
}

/* Removes an attribute for a caller with the permission to write to the object (2), and brings the change to
 * stable storage. */
enum rr_vfs_status
rr_ceph_removexattr(struct rr_ceph_job *job)
{
	const struct rr_ceph *ceph = job->ceph;
	char text[RR_VFS_NAME_MAX + 1];
	enum rr_vfs_status status = xattr_begin(job, 2, text);

	if (status != RR_VFS_OK)
		return status;
	return xattr_store(job, ceph->lib.ll_removexattr(ceph->mount, job->object.inode, text, ceph->self));
}
