/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/system.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum rr_vfs_status
rr_vfs_errno(int error)
{
	switch (error) {
	case 0: return RR_VFS_OK;
	case EPERM: return RR_VFS_PERM;
	case ENOENT: return RR_VFS_NOENT;
	case ENXIO: return RR_VFS_NXIO;
	case EACCES: return RR_VFS_ACCESS;
	case EEXIST: return RR_VFS_EXIST;
	case EXDEV: return RR_VFS_XDEV;
	case ENODEV: return RR_VFS_NODEV;
	case ENOTDIR: return RR_VFS_NOTDIR;
	case EISDIR: return RR_VFS_ISDIR;
	case EINVAL: return RR_VFS_INVAL;
	case EFBIG: return RR_VFS_FBIG;
	case ENOSPC: return RR_VFS_NOSPC;
	case EROFS: return RR_VFS_ROFS;
	case EMLINK: return RR_VFS_MLINK;
	case ENAMETOOLONG: return RR_VFS_NAME_TOO_LONG;
	case ENOTEMPTY: return RR_VFS_NOTEMPTY;
	case EDQUOT: return RR_VFS_DQUOT;
	case ESTALE: return RR_VFS_STALE;
	case EOPNOTSUPP: return RR_VFS_NOTSUPP;
	case ETXTBSY:
	case EBUSY: return RR_VFS_TEXT_BUSY;
	case ENODATA: return RR_VFS_NO_XATTR;
	case ERANGE:
	case E2BIG: return RR_VFS_XATTR_SIZE;
	case EAGAIN:
	case ENOMEM:
	case EMFILE:
	case ENFILE: return RR_VFS_BUSY;
	default: return RR_VFS_IO;
	}
}

enum rr_vfs_type
rr_vfs_type_of(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR: return RR_VFS_DIRECTORY;
	case S_IFBLK: return RR_VFS_BLOCK_DEVICE;
	case S_IFCHR: return RR_VFS_CHARACTER_DEVICE;
	case S_IFLNK: return RR_VFS_LINK;
	case S_IFSOCK: return RR_VFS_SOCKET;
	case S_IFIFO: return RR_VFS_FIFO;
	default: return RR_VFS_FILE;
	}
}

uint32_t
rr_vfs_mode_of(enum rr_vfs_type type)
{
	switch (type) {
	case RR_VFS_FILE: return S_IFREG;
	case RR_VFS_DIRECTORY: return S_IFDIR;
	case RR_VFS_BLOCK_DEVICE: return S_IFBLK;
	case RR_VFS_CHARACTER_DEVICE: return S_IFCHR;
	case RR_VFS_LINK: return S_IFLNK;
	case RR_VFS_SOCKET: return S_IFSOCK;
	case RR_VFS_FIFO: return S_IFIFO;
	}
	return 0;
}

enum rr_vfs_status
rr_vfs_target(struct rpcrdma_bytes target, char text[RR_VFS_TARGET_MAX + 1])
{
	if (target.length > RR_VFS_TARGET_MAX)
		return RR_VFS_NAME_TOO_LONG;
	if (target.length == 0 || memchr(target.data, 0, target.length))
		return RR_VFS_INVAL;
	memcpy(text, target.data, target.length);
	text[target.length] = 0;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_vfs_xattr_name(struct rpcrdma_bytes name, char text[RR_VFS_NAME_MAX + 1])
{
	if (name.length == 0 || memchr(name.data, 0, name.length))
		return RR_VFS_BAD_CHAR;
	if (name.length > RR_VFS_NAME_MAX - RR_VFS_XATTR_PREFIX_SIZE)
		return RR_VFS_NAME_TOO_LONG;
	memcpy(text, RR_VFS_XATTR_PREFIX, RR_VFS_XATTR_PREFIX_SIZE);
	memcpy(text + RR_VFS_XATTR_PREFIX_SIZE, name.data, name.length);
	text[RR_VFS_XATTR_PREFIX_SIZE + name.length] = 0;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_vfs_xattr_names(struct rr_vfs_xattr *xattr, const char *names, size_t size)
{
	char *to = xattr->value;

	xattr->length = 0;
	for (const char *name = names; name < names + size; name += strlen(name) + 1) {
		uint32_t octets;

		if (strncmp(name, RR_VFS_XATTR_PREFIX, RR_VFS_XATTR_PREFIX_SIZE) != 0)
			continue;
		octets = (uint32_t)strlen(name + RR_VFS_XATTR_PREFIX_SIZE) + 1;
		if (octets <= xattr->size && xattr->length <= xattr->size - octets)
			memcpy(to + xattr->length, name + RR_VFS_XATTR_PREFIX_SIZE, octets);
		xattr->length += octets;
	}
	return xattr->length > xattr->size ? RR_VFS_XATTR_SIZE : RR_VFS_OK;
}

enum rr_vfs_status
rr_vfs_lock_range(const struct rr_vfs_lock *lock, struct flock *range)
{
	static const short kinds[] = {
		[RR_VFS_UNLOCK] = F_UNLCK, [RR_VFS_LOCK_READ] = F_RDLCK, [RR_VFS_LOCK_WRITE] = F_WRLCK
	};
	bool to_end = lock->length == UINT64_MAX;

	if (lock->length == 0 || (!to_end && lock->length > UINT64_MAX - lock->offset))
		return RR_VFS_INVAL;
	if (lock->offset > INT64_MAX)
		return RR_VFS_INVAL;
	to_end = to_end || lock->length > INT64_MAX - lock->offset;
	*range = (struct flock){
		.l_type = kinds[lock->kind],
		.l_whence = SEEK_SET,
		.l_start = (off_t)lock->offset,
		.l_len = to_end ? 0 : (off_t)lock->length,
	};
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_vfs_lock_conflict(struct rr_vfs_lock *lock, const struct flock *range)
{
	if (range->l_type == F_UNLCK)
		return RR_VFS_OK;
	lock->conflict.kind = range->l_type == F_RDLCK ? RR_VFS_LOCK_READ : RR_VFS_LOCK_WRITE;
	lock->conflict.offset = (uint64_t)range->l_start;
	lock->conflict.length = range->l_len == 0 ? UINT64_MAX : (uint64_t)range->l_len;
	return RR_VFS_LOCK;
}
