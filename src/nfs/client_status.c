/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"
#include "ulb/nfs42.h"

/* This file has texts for the statuses of RFC 1813, section 2.6, and RFC 8881, section 15.1. A status that
 * both versions of NFS have has one number in both, and a name of its own in each. */

#define BOTH(name3, name4, text)                                                                             \
	{                                                                                                    \
		name3, text " (" #name3 ")", text " (" #name4 ")"                                            \
	}
#define ONE(name, text)                                                                                      \
	{                                                                                                    \
		name, text " (" #name ")", text " (" #name ")"                                               \
	}

static const struct {
	int status;
	const char *text3, *text4; /* with the name that NFS versions 3 and 4 have for the status */
} texts[] = {
	BOTH(NFS3_OK, NFS4_OK, "success"),
	BOTH(NFS3ERR_PERM, NFS4ERR_PERM, "not the owner"),
	BOTH(NFS3ERR_NOENT, NFS4ERR_NOENT, "no such file or directory"),
	BOTH(NFS3ERR_IO, NFS4ERR_IO, "input/output error on the server"),
	BOTH(NFS3ERR_NXIO, NFS4ERR_NXIO, "no such device"),
	BOTH(NFS3ERR_ACCES, NFS4ERR_ACCESS, "permission denied"),
	BOTH(NFS3ERR_EXIST, NFS4ERR_EXIST, "it exists already"),
	BOTH(NFS3ERR_XDEV, NFS4ERR_XDEV, "it is on another file system"),
	ONE(NFS3ERR_NODEV, "no such device"),
	BOTH(NFS3ERR_NOTDIR, NFS4ERR_NOTDIR, "not a directory"),
	BOTH(NFS3ERR_ISDIR, NFS4ERR_ISDIR, "it is a directory"),
	BOTH(NFS3ERR_INVAL, NFS4ERR_INVAL, "invalid argument"),
	BOTH(NFS3ERR_FBIG, NFS4ERR_FBIG, "the file would be too large"),
	BOTH(NFS3ERR_NOSPC, NFS4ERR_NOSPC, "no space left on the server's device"),
	BOTH(NFS3ERR_ROFS, NFS4ERR_ROFS, "the export is read-only"),
	BOTH(NFS3ERR_MLINK, NFS4ERR_MLINK, "too many hard links"),
	BOTH(NFS3ERR_NAMETOOLONG, NFS4ERR_NAMETOOLONG, "the name is too long"),
	BOTH(NFS3ERR_NOTEMPTY, NFS4ERR_NOTEMPTY, "the directory is not empty"),
	BOTH(NFS3ERR_DQUOT, NFS4ERR_DQUOT, "the quota on the server is used up"),
	BOTH(NFS3ERR_STALE, NFS4ERR_STALE, "the file is gone from the server"),
	ONE(NFS3ERR_REMOTE, "too many levels of remote in the path"),
	BOTH(NFS3ERR_BADHANDLE, NFS4ERR_BADHANDLE, "the server does not know its file handle"),
	ONE(NFS3ERR_NOT_SYNC, "somebody else changed it meanwhile"),
	BOTH(NFS3ERR_BAD_COOKIE, NFS4ERR_BAD_COOKIE, "the directory changed while it was read"),
	BOTH(NFS3ERR_NOTSUPP, NFS4ERR_NOTSUPP, "the server does not support this"),
	BOTH(NFS3ERR_TOOSMALL, NFS4ERR_TOOSMALL, "the answer does not fit"),
	BOTH(NFS3ERR_SERVERFAULT, NFS4ERR_SERVERFAULT, "an error inside the server"),
	BOTH(NFS3ERR_BADTYPE, NFS4ERR_BADTYPE, "the server does not support this type of file"),
	BOTH(NFS3ERR_JUKEBOX, NFS4ERR_DELAY, "the server asks to come back later"),
	ONE(NFS4ERR_EXPIRED, "the server took back what was open, as this client was silent"),
	ONE(NFS4ERR_LOCKED, "somebody else locked it"),
	ONE(NFS4ERR_SHARE_DENIED, "somebody else has it open, and lets nobody else"),
	ONE(NFS4ERR_WRONGSEC, "the server wants another kind of authentication, or TLS "
			      "(xprtsec=tls or mtls)"),
	ONE(NFS4ERR_CLID_INUSE, "another client of the server has this name"),
	ONE(NFS4ERR_RESOURCE, "the server is out of resources"),
	ONE(NFS4ERR_MOVED, "the file system is on another server now"),
	ONE(NFS4ERR_STALE_CLIENTID, "the server does not know this client"),
	ONE(NFS4ERR_BAD_STATEID, "the server does not know what was open"),
	ONE(NFS4ERR_SYMLINK, "it is a symbolic link"),
	ONE(NFS4ERR_ATTRNOTSUPP, "the server does not have this attribute"),
	ONE(NFS4ERR_OPENMODE, "the file is not open for this"),
	ONE(NFS4ERR_BADOWNER, "the server does not know this user or group"),
	ONE(NFS4ERR_BADCHAR, "the server does not take a character of the name"),
	ONE(NFS4ERR_BADNAME, "the server does not take the name"),
	ONE(NFS4ERR_FILE_OPEN, "somebody has it open"),
	ONE(NFS4ERR_ADMIN_REVOKED, "the server's administrator took back what was open"),
	ONE(NFS4ERR_BADSESSION, "the server does not know the session"),
	ONE(NFS4ERR_DEADSESSION, "the session ended"),
	ONE(NFS4ERR_SEQ_MISORDERED, "the server lost count of the calls"),
	ONE(NFS4ERR_REQ_TOO_BIG, "the call is too large for the session"),
	ONE(NFS4ERR_REP_TOO_BIG, "the answer is too large for the session"),
	ONE(NFS4ERR_TOO_MANY_OPS, "the call has too many operations for the session"),
	ONE(NFS4ERR_WRONG_CRED, "the state is another user's"),
	ONE(NFS4ERR_NOXATTR, "there is no such extended attribute"),
	ONE(NFS4ERR_XATTR2BIG, "the extended attribute is too large for the server"),
	ONE(NFS4ERR_WRONG_TYPE, "it is of another type"),
};

/* Returns the text of a status, with the name of version 4 or of version 3. */
static const char *
status_text(int status, bool v4)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].status == status)
			return v4 ? texts[i].text4 : texts[i].text3;
	return "an error that NFS does not define";
}

const char *
rpcrdma_nfs_status_text(int status)
{
	return status_text(status, true);
}

const char *
rr_nfs_status_text(const struct rpcrdma_nfs *nfs, int status)
{
	return status_text(status, nfs->v4 != NULL);
}
