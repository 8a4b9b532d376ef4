/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/system.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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
