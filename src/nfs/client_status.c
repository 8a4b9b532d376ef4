/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client.h"
#include "ulb/nfs42.h"

/* This file has texts for the statuses of RFC 1813, section 2.6, and RFC 8881, section 15.1. */

static const struct {
	int status;
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
	{ NFS4ERR_EXPIRED,
		"the server took back what was open, as this client was silent (NFS4ERR_EXPIRED)" },
	{ NFS4ERR_LOCKED, "somebody else locked it (NFS4ERR_LOCKED)" },
	{ NFS4ERR_SHARE_DENIED, "somebody else has it open, and lets nobody else (NFS4ERR_SHARE_DENIED)" },
	{ NFS4ERR_WRONGSEC, "the server wants another kind of authentication (NFS4ERR_WRONGSEC)" },
	{ NFS4ERR_CLID_INUSE, "another client of the server has this name (NFS4ERR_CLID_INUSE)" },
	{ NFS4ERR_RESOURCE, "the server is out of resources (NFS4ERR_RESOURCE)" },
	{ NFS4ERR_MOVED, "the file system is on another server now (NFS4ERR_MOVED)" },
	{ NFS4ERR_STALE_CLIENTID, "the server does not know this client (NFS4ERR_STALE_CLIENTID)" },
	{ NFS4ERR_BAD_STATEID, "the server does not know what was open (NFS4ERR_BAD_STATEID)" },
	{ NFS4ERR_SYMLINK, "it is a symbolic link (NFS4ERR_SYMLINK)" },
	{ NFS4ERR_ATTRNOTSUPP, "the server does not have this attribute (NFS4ERR_ATTRNOTSUPP)" },
	{ NFS4ERR_OPENMODE, "the file is not open for this (NFS4ERR_OPENMODE)" },
	{ NFS4ERR_BADOWNER, "the server does not know this user or group (NFS4ERR_BADOWNER)" },
	{ NFS4ERR_BADCHAR, "the server does not take a character of the name (NFS4ERR_BADCHAR)" },
	{ NFS4ERR_BADNAME, "the server does not take the name (NFS4ERR_BADNAME)" },
	{ NFS4ERR_FILE_OPEN, "somebody has it open (NFS4ERR_FILE_OPEN)" },
	{ NFS4ERR_ADMIN_REVOKED,
		"the server's administrator took back what was open (NFS4ERR_ADMIN_REVOKED)" },
	{ NFS4ERR_BADSESSION, "the server does not know the session (NFS4ERR_BADSESSION)" },
	{ NFS4ERR_DEADSESSION, "the session ended (NFS4ERR_DEADSESSION)" },
	{ NFS4ERR_SEQ_MISORDERED, "the server lost count of the calls (NFS4ERR_SEQ_MISORDERED)" },
	{ NFS4ERR_REQ_TOO_BIG, "the call is too large for the session (NFS4ERR_REQ_TOO_BIG)" },
	{ NFS4ERR_REP_TOO_BIG, "the answer is too large for the session (NFS4ERR_REP_TOO_BIG)" },
	{ NFS4ERR_TOO_MANY_OPS, "the call has too many operations for the session (NFS4ERR_TOO_MANY_OPS)" },
	{ NFS4ERR_WRONG_CRED, "the state is another user's (NFS4ERR_WRONG_CRED)" },
	{ NFS4ERR_NOXATTR, "there is no such extended attribute (NFS4ERR_NOXATTR)" },
	{ NFS4ERR_XATTR2BIG, "the extended attribute is too large for the server (NFS4ERR_XATTR2BIG)" },
	{ NFS4ERR_WRONG_TYPE, "it is of another type (NFS4ERR_WRONG_TYPE)" },
};

const char *
rpcrdma_nfs_status_text(int status)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].status == status)
			return texts[i].text;
	return "an error that NFS does not define";
}
