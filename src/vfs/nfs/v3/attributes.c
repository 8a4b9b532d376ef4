/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes and statuses of version 3, as vfs.h has them. */
#include "vfs/fattr3.h"
#include "vfs/nfs/v3/v3_private.h"

static struct rr_vfs_time
attributes_time(nfstime3 time)
{
	return (struct rr_vfs_time){ time.seconds, time.nseconds };
}

/* Returns a number that is another one after each change, as far as the other server's clock is fine enough.
 */
static uint64_t
attributes_change(nfstime3 time)
{
	return (uint64_t)time.seconds * 1000000000 + time.nseconds;
}

bool
rr_v3_attributes(const fattr3 *given, struct rr_vfs_attributes *attributes)
{
	if (given->type < NF3REG || given->type > NF3FIFO || given->fileid == 0)
		return false;
	rr_fattr3_take(given, attributes);
	attributes->block_size = 4096;
	attributes->mounted_on = given->fileid;
	attributes->change = attributes_change(given->ctime);
	return true;
}

/* Only clients of a provider need a number of the object. */
bool
rr_v3_take(const struct rr_v3_job *job, const fattr3 *given, struct rr_vfs_attributes *attributes)
{
	if (!job->base.lean)
		return rr_v3_attributes(given, attributes);
	rr_fattr3_take(given, attributes);
	return true;
}

void
rr_v3_known(const post_op_attr *given, struct rr_vfs_known *known)
{
	known->valid = given->attributes_follow && rr_v3_attributes(&given->u.attributes, &known->attributes);
}

void
rr_v3_change(const wcc_data *given, struct rr_vfs_change *change)
{
	const wcc_attr *before = &given->before.u.attributes;

	rr_v3_known(&given->after, &change->after);
	change->exact = given->before.attributes_follow && change->after.valid;
	if (!change->exact)
		return;
	change->before.size = before->size;
	change->before.change = attributes_change(before->ctime);
	change->before.modify_time = attributes_time(before->mtime);
	change->before.change_time = attributes_time(before->ctime);
}

enum rr_vfs_status
rr_v3_set(const struct rr_vfs_set *set, sattr3 *attributes)
{
	*attributes = rr_fattr3_give(set);
	if (set->mask & RR_VFS_SET_UMASK)
		attributes->mode.u.mode &= ~set->umask;
	return rr_fattr3_can_set(set) ? RR_VFS_OK : RR_VFS_INVAL;
}

enum rr_vfs_status
rr_v3_status(nfsstat3 status)
{
	switch (status) {
	case NFS3_OK: return RR_VFS_OK;
	case NFS3ERR_PERM: return RR_VFS_PERM;
	case NFS3ERR_NOENT: return RR_VFS_NOENT;
	case NFS3ERR_IO: return RR_VFS_IO;
	case NFS3ERR_NXIO: return RR_VFS_NXIO;
	case NFS3ERR_ACCES: return RR_VFS_ACCESS;
	case NFS3ERR_EXIST: return RR_VFS_EXIST;
	case NFS3ERR_XDEV: return RR_VFS_XDEV;
	case NFS3ERR_NODEV: return RR_VFS_NODEV;
	case NFS3ERR_NOTDIR: return RR_VFS_NOTDIR;
	case NFS3ERR_ISDIR: return RR_VFS_ISDIR;
	case NFS3ERR_INVAL: return RR_VFS_INVAL;
	case NFS3ERR_FBIG: return RR_VFS_FBIG;
	case NFS3ERR_NOSPC: return RR_VFS_NOSPC;
	case NFS3ERR_ROFS: return RR_VFS_ROFS;
	case NFS3ERR_MLINK: return RR_VFS_MLINK;
	case NFS3ERR_NAMETOOLONG: return RR_VFS_NAME_TOO_LONG;
	case NFS3ERR_NOTEMPTY: return RR_VFS_NOTEMPTY;
	case NFS3ERR_DQUOT: return RR_VFS_DQUOT;
	/* A handle that the other server does not take any more is none that a client of this one made up. */
	case NFS3ERR_STALE:
	case NFS3ERR_BADHANDLE: return RR_VFS_STALE;
	case NFS3ERR_NOT_SYNC: return RR_VFS_NOT_SYNC;
	case NFS3ERR_BAD_COOKIE: return RR_VFS_BAD_COOKIE;
	case NFS3ERR_NOTSUPP: return RR_VFS_NOTSUPP;
	case NFS3ERR_BADTYPE: return RR_VFS_WRONG_TYPE;
	case NFS3ERR_JUKEBOX: return RR_VFS_BUSY;
	case NFS3ERR_REMOTE:
	case NFS3ERR_TOOSMALL:
	case NFS3ERR_SERVERFAULT: return RR_VFS_IO;
	}
	return RR_VFS_IO;
}
