/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "nfs/tree.h"

nfsstat3
rr_nfs_status(int error)
{
	switch (error) {
	case 0: return NFS3_OK;
	case EPERM: return NFS3ERR_PERM;
	case ENOENT: return NFS3ERR_NOENT;
	case ENXIO: return NFS3ERR_NXIO;
	case EACCES: return NFS3ERR_ACCES;
	case EEXIST: return NFS3ERR_EXIST;
	case EXDEV: return NFS3ERR_XDEV;
	case ENODEV: return NFS3ERR_NODEV;
	case ENOTDIR: return NFS3ERR_NOTDIR;
	case EISDIR: return NFS3ERR_ISDIR;
	case EINVAL: return NFS3ERR_INVAL;
	case EFBIG: return NFS3ERR_FBIG;
	case ENOSPC: return NFS3ERR_NOSPC;
	case EROFS: return NFS3ERR_ROFS;
	case EMLINK: return NFS3ERR_MLINK;
	case ENAMETOOLONG: return NFS3ERR_NAMETOOLONG;
	case ENOTEMPTY: return NFS3ERR_NOTEMPTY;
	case EDQUOT: return NFS3ERR_DQUOT;
	case ESTALE: return NFS3ERR_STALE;
	case EREMOTE: return NFS3ERR_REMOTE;
	case EOPNOTSUPP: return NFS3ERR_NOTSUPP;
	/* A program that runs is not written, a directory that is mounted on is not removed. */
	case ETXTBSY:
	case EBUSY: return NFS3ERR_ACCES;
	/* RFC 1813, 2.6: "The client should wait and then try the request with a new RPC transaction ID." */
	case EAGAIN:
	case ENOMEM:
	case EMFILE:
	case ENFILE: return NFS3ERR_JUKEBOX;
	default: return NFS3ERR_IO;
	}
}

nfsstat3
rr_tree_name(struct rpcrdma_bytes name, char text[256])
{
	/* RFC 1813, 3.2: "The filename must not be null nor may it be the null string. The server should
	 * return the error, NFS3ERR_ACCES"; and the same for "characters that it can not handle". */
	if (name.length == 0 || memchr(name.data, '/', name.length) || memchr(name.data, 0, name.length))
		return NFS3ERR_ACCES;
	if (name.length > 255)
		return NFS3ERR_NAMETOOLONG;
	memcpy(text, name.data, name.length);
	text[name.length] = 0;
	if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
		return NFS3ERR_INVAL;
	return NFS3_OK;
}
