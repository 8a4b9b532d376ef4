/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "vfs/ceph/ceph_private.h"

enum rr_vfs_status
rr_ceph_status(int64_t result)
{
	switch (result < 0 ? -result : 0) {
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
	case EDQUOT: return RR_VFS_DQUOT;
	case EROFS: return RR_VFS_ROFS;
	case EMLINK: return RR_VFS_MLINK;
	case ENAMETOOLONG: return RR_VFS_NAME_TOO_LONG;
	case ENOTEMPTY: return RR_VFS_NOTEMPTY;
	case ESTALE: return RR_VFS_STALE;
	case EOPNOTSUPP: return RR_VFS_NOTSUPP;
	case EBUSY: return RR_VFS_TEXT_BUSY;
	case ENODATA: return RR_VFS_NO_XATTR;
	case ERANGE:
	case E2BIG: return RR_VFS_XATTR_SIZE;
	case EAGAIN:
	case ENOMEM: return RR_VFS_BUSY;
	default: return RR_VFS_IO;
	}
}
