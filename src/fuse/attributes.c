/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes, entries and statuses, as the kernel's FUSE protocol has them. */
#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/checked.h"
#include "fuse/fuse_private.h"
#include "vfs/system.h"

/* For how long the kernel keeps that a name does not exist, at most. */
#define ATTRIBUTES_ABSENT (3 * RR_SECOND)

int
rr_fuse_errno(enum rr_vfs_status status)
{
	static const int numbers[] = {
		[RR_VFS_OK] = 0,
		[RR_VFS_PENDING] = EIO,
		[RR_VFS_PERM] = EPERM,
		[RR_VFS_ACCESS] = EACCES,
		[RR_VFS_NOENT] = ENOENT,
		[RR_VFS_EXIST] = EEXIST,
		[RR_VFS_IO] = EIO,
		[RR_VFS_NXIO] = ENXIO,
		[RR_VFS_XDEV] = EXDEV,
		[RR_VFS_NODEV] = ENODEV,
		[RR_VFS_NOTDIR] = ENOTDIR,
		[RR_VFS_ISDIR] = EISDIR,
		[RR_VFS_SYMLINK] = ELOOP,
		[RR_VFS_WRONG_TYPE] = EINVAL,
		[RR_VFS_INVAL] = EINVAL,
		[RR_VFS_BAD_NAME] = EINVAL,
		[RR_VFS_BAD_CHAR] = EINVAL,
		[RR_VFS_NAME_TOO_LONG] = ENAMETOOLONG,
		[RR_VFS_FBIG] = EFBIG,
		[RR_VFS_NOSPC] = ENOSPC,
		[RR_VFS_DQUOT] = EDQUOT,
		[RR_VFS_ROFS] = EROFS,
		[RR_VFS_MLINK] = EMLINK,
		[RR_VFS_NOTEMPTY] = ENOTEMPTY,
		[RR_VFS_TEXT_BUSY] = EBUSY,
		[RR_VFS_STALE] = ESTALE,
		[RR_VFS_BAD_HANDLE] = ESTALE,
		[RR_VFS_BAD_COOKIE] = EIO,
		[RR_VFS_NOT_SYNC] = EIO,
		[RR_VFS_NOTSUPP] = EOPNOTSUPP,
		[RR_VFS_BUSY] = EAGAIN,
		[RR_VFS_NO_BUFFER] = ENOMEM,
		[RR_VFS_SHARE] = EBUSY,
		[RR_VFS_LOCKED] = EBUSY,
		[RR_VFS_OPEN_MODE] = EBADF,
		[RR_VFS_LOCK] = EAGAIN,
		[RR_VFS_NO_XATTR] = ENODATA,
		[RR_VFS_XATTR_SIZE] = ERANGE,
		[RR_VFS_CANCELLED] = EINTR,
		[RR_VFS_FAULT] = EIO,
	};

	return status < sizeof(numbers) / sizeof(*numbers) && numbers[status] ? numbers[status] : EIO;
}

/* The number that programs see: that of the server, mixed with the file system where it is not that of the
 * root, as one device has all of them, and find(1) and tar(1) take two objects of one number for one. */
static uint64_t
attributes_number(const struct rr_fuse_node *node, const struct rr_vfs_attributes *attributes)
{
	const struct rr_vfs_id *id = &attributes->id, *root = &node->fuse->root->id;

	if (id->fsid[0] == root->fsid[0] && id->fsid[1] == root->fsid[1])
		return id->number;
	return id->number ^ (id->fsid[0] ^ id->fsid[1]) * UINT64_C(0x9e3779b97f4a7c15);
}

static void
attributes_time(const struct rr_vfs_time *time, uint64_t *seconds, uint32_t *nanoseconds)
{
	*seconds = (uint64_t)time->seconds;
	*nanoseconds = time->nanoseconds;
}

/* Stores how long the kernel may keep what it is told. */
static void
attributes_period(struct rr_fuse_node *node, const struct rr_vfs_attributes *attributes)
{
	const struct rr_fuse_config *config = &node->fuse->config;
	bool directory = node->type == RR_VFS_DIRECTORY;
	uint64_t least = directory ? config->directory_least : config->file_least;
	uint64_t most = directory ? config->directory_most : config->file_most;

	if (node->period == 0 || node->change != attributes->change)
		node->period = least;
	else
		node->period = rr_min(2 * node->period, most);
	node->change = attributes->change;
}

void
rr_fuse_tell(struct rr_fuse_node *node, const struct rr_vfs_attributes *attributes, struct fuse_attr_out *out)
{
	struct fuse_attr *attr = &out->attr;

	*out = (struct fuse_attr_out){ 0 };
	attributes_period(node, attributes);
	out->attr_valid = node->period / RR_SECOND;
	out->attr_valid_nsec = (uint32_t)(node->period % RR_SECOND);
	attr->ino = attributes_number(node, attributes);
	/* The server does not know yet how far the file goes that is being written here. */
	attr->size = attributes->size > node->behind.end ? attributes->size : node->behind.end;
	attr->size = rr_min(attr->size, (uint64_t)INT64_MAX);
	attr->blocks = attributes->used / 512 + (attributes->used % 512 != 0);
	attributes_time(&attributes->access_time, &attr->atime, &attr->atimensec);
	attributes_time(&attributes->modify_time, &attr->mtime, &attr->mtimensec);
	attributes_time(&attributes->change_time, &attr->ctime, &attr->ctimensec);
	attr->mode = rr_vfs_mode_of(attributes->type) | (attributes->mode & 07777);
	attr->nlink = attributes->links;
	attr->uid = attributes->uid;
	attr->gid = attributes->gid;
	attr->rdev = (uint32_t)makedev(attributes->device[0], attributes->device[1]);
	attr->blksize = RR_FUSE_IO;
}

void
rr_fuse_tell_entry(struct rr_fuse_node *directory, struct rr_fuse_node *node,
	const struct rr_vfs_attributes *attributes, struct fuse_entry_out *out)
{
	uint64_t names = directory->period ? directory->period : directory->fuse->config.directory_least;
	struct fuse_attr_out told;

	*out = (struct fuse_entry_out){ 0 };
	if (directory->fuse->config.no_names || (!node && directory->fuse->config.no_absent))
		names = 0;
	if (!node) {
		names = rr_min(names, ATTRIBUTES_ABSENT);
	} else {
		rr_fuse_tell(node, attributes, &told);
		out->nodeid = node->number;
		out->attr_valid = told.attr_valid;
		out->attr_valid_nsec = told.attr_valid_nsec;
		out->attr = told.attr;
	}
	out->entry_valid = names / RR_SECOND;
	out->entry_valid_nsec = (uint32_t)(names % RR_SECOND);
}
