/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/proc.h"

/* The status of version 3 for each status of a provider. NFS3ERR_SERVERFAULT stands for those that no
 * operation of version 3 ends with. */
static const nfsstat3 statuses[RR_VFS_FAULT + 1] = {
	[RR_VFS_OK] = NFS3_OK,
	[RR_VFS_PENDING] = NFS3ERR_SERVERFAULT,
	[RR_VFS_PERM] = NFS3ERR_PERM,
	[RR_VFS_ACCESS] = NFS3ERR_ACCES,
	[RR_VFS_NOENT] = NFS3ERR_NOENT,
	[RR_VFS_EXIST] = NFS3ERR_EXIST,
	[RR_VFS_IO] = NFS3ERR_IO,
	[RR_VFS_NXIO] = NFS3ERR_NXIO,
	[RR_VFS_XDEV] = NFS3ERR_XDEV,
	[RR_VFS_NODEV] = NFS3ERR_NODEV,
	[RR_VFS_NOTDIR] = NFS3ERR_NOTDIR,
	[RR_VFS_ISDIR] = NFS3ERR_ISDIR,
	[RR_VFS_SYMLINK] = NFS3ERR_INVAL,
	[RR_VFS_WRONG_TYPE] = NFS3ERR_INVAL,
	[RR_VFS_INVAL] = NFS3ERR_INVAL,
	[RR_VFS_BAD_NAME] = NFS3ERR_INVAL,
	/* RFC 1813, 3.2: "The filename must not be null nor may it be the null string. The server should
	 * return the error, NFS3ERR_ACCES"; and the same for "characters that it can not handle". */
	[RR_VFS_BAD_CHAR] = NFS3ERR_ACCES,
	[RR_VFS_NAME_TOO_LONG] = NFS3ERR_NAMETOOLONG,
	[RR_VFS_FBIG] = NFS3ERR_FBIG,
	[RR_VFS_NOSPC] = NFS3ERR_NOSPC,
	[RR_VFS_DQUOT] = NFS3ERR_DQUOT,
	[RR_VFS_ROFS] = NFS3ERR_ROFS,
	[RR_VFS_MLINK] = NFS3ERR_MLINK,
	[RR_VFS_NOTEMPTY] = NFS3ERR_NOTEMPTY,
	/* A running program cannot be written, and a directory that is mounted on cannot be removed. */
	[RR_VFS_TEXT_BUSY] = NFS3ERR_ACCES,
	[RR_VFS_STALE] = NFS3ERR_STALE,
	/* RFC 1813, 2.6: "NFS3ERR_BADHANDLE Illegal NFS file handle. The file handle failed internal
	 * consistency checks." */
	[RR_VFS_BAD_HANDLE] = NFS3ERR_BADHANDLE,
	[RR_VFS_BAD_COOKIE] = NFS3ERR_BAD_COOKIE,
	[RR_VFS_NOT_SYNC] = NFS3ERR_NOT_SYNC,
	[RR_VFS_NOTSUPP] = NFS3ERR_NOTSUPP,
	/* RFC 1813, 2.6: "The client should wait and then try the request with a new RPC transaction ID." */
	[RR_VFS_BUSY] = NFS3ERR_JUKEBOX,
	[RR_VFS_NO_BUFFER] = NFS3ERR_JUKEBOX,
	[RR_VFS_SHARE] = NFS3ERR_ACCES,
	[RR_VFS_LOCKED] = NFS3ERR_ACCES,
	[RR_VFS_OPEN_MODE] = NFS3ERR_SERVERFAULT,
	[RR_VFS_LOCK] = NFS3ERR_SERVERFAULT,
	[RR_VFS_NO_XATTR] = NFS3ERR_SERVERFAULT,
	[RR_VFS_XATTR_SIZE] = NFS3ERR_SERVERFAULT,
	[RR_VFS_CANCELLED] = NFS3ERR_SERVERFAULT,
	[RR_VFS_FAULT] = NFS3ERR_SERVERFAULT,
};

nfsstat3
rr_nfs_status(enum rr_vfs_status status)
{
	return statuses[status];
}

nfsstat3
rr_nfs_entry_status(enum rr_vfs_status status, filename3 name, nfsstat3 dot, nfsstat3 dotdot)
{
	if (status == RR_VFS_BAD_NAME)
		return name.length == 1 ? dot : dotdot;
	return rr_nfs_status(status);
}
