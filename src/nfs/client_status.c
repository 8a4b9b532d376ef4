/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client.h"

/* RFC 1813, section 2.6, for people. */

static const struct {
	nfsstat3 status;
	const char *text;
} texts[] = {
	{ NFS3_OK, "success (NFS3_OK)" },
	{ NFS3ERR_PERM, "not the owner (NFS3ERR_PERM)" },
	{ NFS3ERR_NOENT, "no such file or directory (NFS3ERR_NOENT)" },
	{ NFS3ERR_IO, "input/output error on the server (NFS3ERR_IO)" },
	{ NFS3ERR_NXIO, "no such device (NFS3ERR_NXIO)" },
	{ NFS3ERR_ACCES, "permission denied (NFS3ERR_ACCES)" },
	{ NFS3ERR_EXIST, "it exists already (NFS3ERR_EXIST)" },
	{ NFS3ERR_XDEV, "it is on another file system (NFS3ERR_XDEV)" },
	{ NFS3ERR_NODEV, "no such device (NFS3ERR_NODEV)" },
	{ NFS3ERR_NOTDIR, "not a directory (NFS3ERR_NOTDIR)" },
	{ NFS3ERR_ISDIR, "it is a directory (NFS3ERR_ISDIR)" },
	{ NFS3ERR_INVAL, "invalid argument (NFS3ERR_INVAL)" },
	{ NFS3ERR_FBIG, "the file would be too large (NFS3ERR_FBIG)" },
	{ NFS3ERR_NOSPC, "no space left on the server's device (NFS3ERR_NOSPC)" },
	{ NFS3ERR_ROFS, "the export is read-only (NFS3ERR_ROFS)" },
	{ NFS3ERR_MLINK, "too many hard links (NFS3ERR_MLINK)" },
	{ NFS3ERR_NAMETOOLONG, "the name is too long (NFS3ERR_NAMETOOLONG)" },
	{ NFS3ERR_NOTEMPTY, "the directory is not empty (NFS3ERR_NOTEMPTY)" },
	{ NFS3ERR_DQUOT, "the quota on the server is used up (NFS3ERR_DQUOT)" },
	{ NFS3ERR_STALE, "the file is gone from the server (NFS3ERR_STALE)" },
	{ NFS3ERR_REMOTE, "too many levels of remote in the path (NFS3ERR_REMOTE)" },
	{ NFS3ERR_BADHANDLE, "the server does not know its file handle (NFS3ERR_BADHANDLE)" },
	{ NFS3ERR_NOT_SYNC, "somebody else changed it meanwhile (NFS3ERR_NOT_SYNC)" },
	{ NFS3ERR_BAD_COOKIE, "the directory changed while it was read (NFS3ERR_BAD_COOKIE)" },
	{ NFS3ERR_NOTSUPP, "the server does not support this (NFS3ERR_NOTSUPP)" },
	{ NFS3ERR_TOOSMALL, "the answer does not fit (NFS3ERR_TOOSMALL)" },
	{ NFS3ERR_SERVERFAULT, "an error inside the server (NFS3ERR_SERVERFAULT)" },
	{ NFS3ERR_BADTYPE, "the server does not support this type of file (NFS3ERR_BADTYPE)" },
	{ NFS3ERR_JUKEBOX, "the server asks to come back later (NFS3ERR_JUKEBOX)" },
};

const char *
rpcrdma_nfs_status_text(int status)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if ((int)texts[i].status == status)
			return texts[i].text;
	return "an error that NFS version 3 does not define";
}
