/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes and statuses of version 4, as vfs.h has them. */
#include "vfs/nfs/v4/provider_private.h"

/* The bit of an attribute in its word of a bitmap. */
#define BIT(number) (UINT32_C(1) << (number) % 32)

/* The attributes of an object: the first and the second word of their bitmap. */
#define OBJECT_0                                                                                             \
	(BIT(FATTR4_TYPE) | BIT(FATTR4_CHANGE) | BIT(FATTR4_SIZE) | BIT(FATTR4_FSID) | BIT(FATTR4_FILEID))
#define OBJECT_1                                                                                             \
	(BIT(FATTR4_MODE) | BIT(FATTR4_NUMLINKS) | BIT(FATTR4_OWNER) | BIT(FATTR4_OWNER_GROUP) |             \
		BIT(FATTR4_RAWDEV) | BIT(FATTR4_SPACE_USED) | BIT(FATTR4_TIME_ACCESS) |                      \
		BIT(FATTR4_TIME_METADATA) | BIT(FATTR4_TIME_MODIFY) | BIT(FATTR4_MOUNTED_ON_FILEID))
#define LIMITS_0                                                                                             \
	(OBJECT_0 | BIT(FATTR4_ACLSUPPORT) | BIT(FATTR4_CASE_INSENSITIVE) | BIT(FATTR4_CASE_PRESERVING) |    \
		BIT(FATTR4_MAXFILESIZE) | BIT(FATTR4_MAXLINK) | BIT(FATTR4_MAXNAME))

static uint32_t object_words[] = { OBJECT_0, OBJECT_1 };
static uint32_t entry_words[] = { OBJECT_0 | BIT(FATTR4_RDATTR_ERROR) | BIT(FATTR4_FILEHANDLE), OBJECT_1 };
static uint32_t acl_words[] = { OBJECT_0 | BIT(FATTR4_ACL), OBJECT_1 };
static uint32_t space_words[] = { OBJECT_0 | BIT(FATTR4_FILES_AVAIL) | BIT(FATTR4_FILES_FREE) |
					  BIT(FATTR4_FILES_TOTAL),
	OBJECT_1 | BIT(FATTR4_SPACE_AVAIL) | BIT(FATTR4_SPACE_FREE) | BIT(FATTR4_SPACE_TOTAL) };
static uint32_t limits_words[] = { LIMITS_0, OBJECT_1 | BIT(FATTR4_TIME_DELTA),
	BIT(FATTR4_CLONE_BLKSIZE) | BIT(FATTR4_XATTR_SUPPORT) };

const bitmap4 rr_v4_ask_object = { 2, object_words };
const bitmap4 rr_v4_ask_entry = { 2, entry_words };
const bitmap4 rr_v4_ask_acl = { 2, acl_words };
const bitmap4 rr_v4_ask_space = { 2, space_words };
const bitmap4 rr_v4_ask_limits[2] = { { 2, limits_words }, { 3, limits_words } };

uint8_t
rr_v4_ask_attributes(struct rr_v4_slot *slot, const bitmap4 *asked)
{
	uint8_t place = (uint8_t)slot->args.argarray.count;

	rr_v4_getattr(slot, asked);
	return place;
}

uint8_t
rr_v4_ask_known(struct rr_v4_slot *slot)
{
	return rr_v4_job(slot)->base.lean ? 0 : rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

bool
rr_v4_take_values(const struct rr_v4_slot *slot, uint8_t place, struct rr_attr_values *values)
{
	const GETATTR4res *res = &slot->result.resarray.values[place].u.opgetattr;

	return place > 0 && place < slot->result.resarray.count && res->status == NFS4_OK &&
	       rr_attr_take(
		       &res->u.resok4.obj_attributes, &slot->ops[place].u.opgetattr.attr_request, values);
}

bool
rr_v4_complete(const struct rr_attr_values *values, struct rr_vfs_attributes *attributes)
{
	*attributes = values->attributes;
	attributes->block_size = 4096;
	if (!rr_attr_in(&values->have, FATTR4_MOUNTED_ON_FILEID))
		attributes->mounted_on = attributes->id.number;
	return rr_attr_in(&values->have, FATTR4_TYPE) && attributes->id.number != 0;
}

void
rr_v4_take_known(const struct rr_v4_slot *slot, uint8_t place, struct rr_vfs_known *known)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_attr_values values;

	/* Only clients of a provider need a number of the object. */
	known->valid = rr_v4_take_values(slot, place, &values) &&
		       (rr_v4_complete(&values, &known->attributes) ||
			       (job->base.lean && rr_attr_in(&values.have, FATTR4_TYPE)));
	if (!known->valid || place != job->at.object)
		return;
	job->owner = values.owner;
	job->group = values.group;
}

void
rr_v4_take_change(const struct rr_v4_slot *slot, uint8_t before, uint8_t after, const change_info4 *info,
	struct rr_vfs_change *change)
{
	struct rr_vfs_known was;
	const struct rr_vfs_attributes *old = &was.attributes;

	rr_v4_take_known(slot, before, &was);
	rr_v4_take_known(slot, after, &change->after);
	/* Of an operation that failed, what was before is all that is known. */
	if (!change->after.valid)
		change->after = was;
	/* RFC 8881, 3.3.3: "If atomic is TRUE", nothing else has changed the directory between before and
	 * after. Nor has anything between the operation and either of the GETATTRs if these have the same
	 * numbers. */
	change->exact = info && info->atomic && was.valid && change->after.valid &&
			old->change == info->before && change->after.attributes.change == info->after;
	if (!change->exact)
		return;
	change->before.size = old->size;
	change->before.change = old->change;
	change->before.modify_time = old->modify_time;
	change->before.change_time = old->change_time;
}

uint32_t
rr_v4_applied(const bitmap4 *bitmap, const struct rr_vfs_set *set)
{
	struct rr_attr_mask mask = rr_attr_mask(bitmap);
	uint32_t applied = 0;

	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++)
		if (rr_attr_in(&mask, i))
			applied |= rr_attr_gives(i);
	return applied & set->mask;
}

/* What version 4 has besides version 3. */
static enum rr_vfs_status
attributes_newer(nfsstat4 status)
{
	switch (status) {
	case NFS4ERR_GRACE:
	case NFS4ERR_RESOURCE:
	case NFS4ERR_FILE_OPEN: return RR_VFS_BUSY;
	case NFS4ERR_FHEXPIRED:
	case NFS4ERR_MOVED: return RR_VFS_STALE;
	case NFS4ERR_NOT_SAME: return RR_VFS_NOT_SYNC;
	case NFS4ERR_SHARE_DENIED: return RR_VFS_SHARE;
	case NFS4ERR_LOCKED: return RR_VFS_LOCKED;
	case NFS4ERR_OPENMODE: return RR_VFS_OPEN_MODE;
	case NFS4ERR_DENIED: return RR_VFS_LOCK;
	case NFS4ERR_SYMLINK: return RR_VFS_SYMLINK;
	case NFS4ERR_WRONG_TYPE: return RR_VFS_WRONG_TYPE;
	case NFS4ERR_BADNAME: return RR_VFS_BAD_NAME;
	case NFS4ERR_BADCHAR: return RR_VFS_BAD_CHAR;
	case NFS4ERR_BADOWNER:
	case NFS4ERR_BAD_RANGE:
	case NFS4ERR_LOCK_RANGE: return RR_VFS_INVAL;
	case NFS4ERR_WRONGSEC: return RR_VFS_ACCESS;
	case NFS4ERR_NOXATTR: return RR_VFS_NO_XATTR;
	case NFS4ERR_XATTR2BIG: return RR_VFS_XATTR_SIZE;
	case NFS4ERR_ATTRNOTSUPP:
	case NFS4ERR_UNION_NOTSUPP:
	case NFS4ERR_OP_ILLEGAL: return RR_VFS_NOTSUPP;
	default: return RR_VFS_IO;
	}
}

enum rr_vfs_status
rr_v4_status(nfsstat4 status)
{
	switch (status) {
	case NFS4_OK: return RR_VFS_OK;
	case NFS4ERR_PERM: return RR_VFS_PERM;
	case NFS4ERR_NOENT: return RR_VFS_NOENT;
	case NFS4ERR_NXIO: return RR_VFS_NXIO;
	case NFS4ERR_ACCESS: return RR_VFS_ACCESS;
	case NFS4ERR_EXIST: return RR_VFS_EXIST;
	case NFS4ERR_XDEV: return RR_VFS_XDEV;
	case NFS4ERR_NOTDIR: return RR_VFS_NOTDIR;
	case NFS4ERR_ISDIR: return RR_VFS_ISDIR;
	case NFS4ERR_INVAL: return RR_VFS_INVAL;
	case NFS4ERR_FBIG: return RR_VFS_FBIG;
	case NFS4ERR_NOSPC: return RR_VFS_NOSPC;
	case NFS4ERR_ROFS: return RR_VFS_ROFS;
	case NFS4ERR_MLINK: return RR_VFS_MLINK;
	case NFS4ERR_NAMETOOLONG: return RR_VFS_NAME_TOO_LONG;
	case NFS4ERR_NOTEMPTY: return RR_VFS_NOTEMPTY;
	case NFS4ERR_DQUOT: return RR_VFS_DQUOT;
	/* A handle that the other server does not take any more is none that a client of this one made up. */
	case NFS4ERR_STALE:
	case NFS4ERR_BADHANDLE: return RR_VFS_STALE;
	case NFS4ERR_BAD_COOKIE: return RR_VFS_BAD_COOKIE;
	case NFS4ERR_NOTSUPP: return RR_VFS_NOTSUPP;
	case NFS4ERR_BADTYPE: return RR_VFS_WRONG_TYPE;
	case NFS4ERR_DELAY: return RR_VFS_BUSY;
	default: return attributes_newer(status);
	}
}
