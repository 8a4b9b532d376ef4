/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of attributes, rr_attr_rows, and the functions that write their values, attr_put_NAME(). */
#include <string.h>

#include "vfs/fattr4/acl.h"

/* ATTR_PUT is the head of the function that writes the attribute `name`. ATTR_CONST makes a function that
 * writes a value that all objects share. ATTR_FROM makes a function that writes a member of the source.
 * rpcrdma_put_TYPE() is the codec. */
#define ATTR_PUT(name)                                                                                       \
	static void attr_put_##name(struct rpcrdma_xdr_writer *writer, const struct rr_attr_source *source)
#define ATTR_CONST(name, type, value)                                                                        \
	ATTR_PUT(name)                                                                                       \
	{                                                                                                    \
		(void)source;                                                                                \
		rpcrdma_put_##type(writer, value);                                                           \
	}
#define ATTR_FROM(name, type, value)                                                                         \
	ATTR_PUT(name)                                                                                       \
	{                                                                                                    \
		rpcrdma_put_##type(writer, source->value);                                                   \
	}

/* RFC 8881, 5.8.1.1: "the mandatory and recommended attributes that are supported for this object": access
 * lists are where the storage keeps them. */
ATTR_PUT(supported_attrs)
{
	struct rr_attr_mask mask = rr_attr_supported(source->minor);

	if (!source->limits->acls) {
		mask.words[0] &= ~(UINT32_C(1) << FATTR4_ACL);
		mask.words[1] &= ~(UINT32_C(1) << (FATTR4_DACL - 32));
	}
	rr_attr_put_mask(writer, &mask);
}

ATTR_PUT(suppattr_exclcreat)
{
	struct rr_attr_mask mask = rr_attr_exclusive(source->minor);

	rr_attr_put_mask(writer, &mask);
}

/* The types have the same numbers in vfs.h. */
_Static_assert((int)NF4REG == (int)RR_VFS_FILE && (int)NF4DIR == (int)RR_VFS_DIRECTORY &&
		       (int)NF4BLK == (int)RR_VFS_BLOCK_DEVICE &&
		       (int)NF4CHR == (int)RR_VFS_CHARACTER_DEVICE && (int)NF4LNK == (int)RR_VFS_LINK &&
		       (int)NF4SOCK == (int)RR_VFS_SOCKET && (int)NF4FIFO == (int)RR_VFS_FIFO,
	"the same types");
ATTR_FROM(type, u32, attributes->type)

ATTR_PUT(fsid)
{
	rpcrdma_put_u64(writer, source->attributes->id.fsid[0]);
	rpcrdma_put_u64(writer, source->attributes->id.fsid[1]);
}

ATTR_PUT(filehandle)
{
	rpcrdma_put_bytes(
		writer, (struct rpcrdma_bytes){ source->handle->data, source->handle->length }, NFS4_FHSIZE);
}

ATTR_FROM(mode, u32, attributes->mode)

/* RFC 8881, 5.9: a user or a group is written as a name in a domain, or as a number. */
static void
attr_put_who(struct rpcrdma_xdr_writer *writer, const char *name, uint32_t number)
{
	if (name && name[0])
		rpcrdma_put_bytes(writer, (struct rpcrdma_bytes){ name, (uint32_t)strlen(name) },
			RPCRDMA_XDR_UNBOUNDED);
	else
		rr_attr_put_number(writer, number);
}

ATTR_PUT(owner)
{
	attr_put_who(writer, source->owner, source->attributes->uid);
}

ATTR_PUT(owner_group)
{
	attr_put_who(writer, source->group, source->attributes->gid);
}

ATTR_PUT(rawdev)
{
	rpcrdma_put_u32(writer, source->attributes->device[0]);
	rpcrdma_put_u32(writer, source->attributes->device[1]);
}

#define ATTR_TIME(name, member)                                                                              \
	ATTR_PUT(name)                                                                                       \
	{                                                                                                    \
		rr_attr_put_time(writer, source->attributes->member);                                        \
	}

ATTR_TIME(time_access, access_time)
ATTR_TIME(time_metadata, change_time)
ATTR_TIME(time_modify, modify_time)

/* RFC 8881, 6.2.1.2: entries that allow and that deny can be set. */
ATTR_PUT(aclsupport)
{
	rpcrdma_put_u32(writer, source->limits->acls ? ACL4_SUPPORT_ALLOW_ACL | ACL4_SUPPORT_DENY_ACL : 0);
}

ATTR_PUT(acl)
{
	rr_attr_put_acl(writer, source->acl, source->attributes->type == RR_VFS_DIRECTORY, source->names);
}

ATTR_PUT(dacl)
{
	rpcrdma_put_u32(writer, 0); /* na41_flag */
	attr_put_acl(writer, source);
}

ATTR_PUT(time_delta)
{
	rr_attr_put_time(writer, source->limits->time_delta);
}

ATTR_CONST(fh_expire_type, u32, FH4_PERSISTENT)
ATTR_FROM(change, u64, attributes->change)
ATTR_FROM(size, u64, attributes->size)
ATTR_CONST(yes, bool, true)
ATTR_CONST(no, bool, false)
/* RFC 8881, 14.4: "the file system contains non-UTF-8 characters, and the server will not convert non-UTF
 * characters to UTF-8": names are any octets. */
ATTR_CONST(fs_charset_cap, u32, FSCHARSET_CAP4_CONTAINS_NON_UTF8)
ATTR_FROM(lease_time, u32, lease)
ATTR_FROM(rdattr_error, u32, error)
ATTR_FROM(case_insensitive, bool, limits->case_insensitive)
ATTR_FROM(case_preserving, bool, limits->case_preserving)
ATTR_FROM(fileid, u64, attributes->id.number)
ATTR_FROM(files_avail, u64, statfs->files_for_all)
ATTR_FROM(files_free, u64, statfs->files_free)
ATTR_FROM(files_total, u64, statfs->files)
ATTR_FROM(maxfilesize, u64, limits->file_max)
ATTR_FROM(maxlink, u32, limits->link_max)
ATTR_FROM(maxname, u32, limits->name_max)
ATTR_FROM(io_max, u64, io_max)
ATTR_FROM(numlinks, u32, attributes->links)
ATTR_FROM(space_avail, u64, statfs->octets_for_all)
ATTR_FROM(space_free, u64, statfs->octets_free)
ATTR_FROM(space_total, u64, statfs->octets)
ATTR_FROM(space_used, u64, attributes->used)
ATTR_FROM(mounted_on_fileid, u64, attributes->mounted_on)
ATTR_FROM(clone_blksize, u32, limits->clone_block)
ATTR_FROM(xattr_support, bool, limits->xattrs)

/* For a list, which has no bound, so much memory is taken. */
enum { ATTR_ACL = 48 << 10 };

const struct rr_attr_row rr_attr_rows[RR_ATTR_COUNT] = {
	[FATTR4_SUPPORTED_ATTRS] = { attr_put_supported_attrs, .needs = RR_ATTR_LIMITS, .size = 16 },
	[FATTR4_TYPE] = { attr_put_type, .size = 4 },
	[FATTR4_FH_EXPIRE_TYPE] = { attr_put_fh_expire_type, .size = 4 },
	[FATTR4_CHANGE] = { attr_put_change, .size = 8 },
	[FATTR4_SIZE] = { attr_put_size, .size = 8, .exclusive = true },
	[FATTR4_LINK_SUPPORT] = { attr_put_yes, .size = 4 },
	[FATTR4_SYMLINK_SUPPORT] = { attr_put_yes, .size = 4 },
	[FATTR4_NAMED_ATTR] = { attr_put_no, .size = 4 },
	[FATTR4_FSID] = { attr_put_fsid, .size = 16 },
	/* Several handles may name one object. */
	[FATTR4_UNIQUE_HANDLES] = { attr_put_no, .size = 4 },
	[FATTR4_LEASE_TIME] = { attr_put_lease_time, .size = 4 },
	[FATTR4_RDATTR_ERROR] = { attr_put_rdattr_error, .size = 4 },
	[FATTR4_ACL] = { attr_put_acl, .needs = RR_ATTR_ACL, .size = ATTR_ACL },
	[FATTR4_ACLSUPPORT] = { attr_put_aclsupport, .needs = RR_ATTR_LIMITS, .size = 4 },
	[FATTR4_CANSETTIME] = { attr_put_yes, .size = 4 },
	[FATTR4_CASE_INSENSITIVE] = { attr_put_case_insensitive, .needs = RR_ATTR_LIMITS, .size = 4 },
	[FATTR4_CASE_PRESERVING] = { attr_put_case_preserving, .needs = RR_ATTR_LIMITS, .size = 4 },
	[FATTR4_CHOWN_RESTRICTED] = { attr_put_yes, .size = 4 },
	[FATTR4_FILEHANDLE] = { attr_put_filehandle, .size = 4 + RR_VFS_HANDLE_MAX },
	[FATTR4_FILEID] = { attr_put_fileid, .size = 8 },
	[FATTR4_FILES_AVAIL] = { attr_put_files_avail, .needs = RR_ATTR_STATFS, .size = 8 },
	[FATTR4_FILES_FREE] = { attr_put_files_free, .needs = RR_ATTR_STATFS, .size = 8 },
	[FATTR4_FILES_TOTAL] = { attr_put_files_total, .needs = RR_ATTR_STATFS, .size = 8 },
	[FATTR4_HOMOGENEOUS] = { attr_put_yes, .size = 4 },
	[FATTR4_MAXFILESIZE] = { attr_put_maxfilesize, .needs = RR_ATTR_LIMITS, .size = 8 },
	[FATTR4_MAXLINK] = { attr_put_maxlink, .needs = RR_ATTR_LIMITS, .size = 4 },
	[FATTR4_MAXNAME] = { attr_put_maxname, .needs = RR_ATTR_LIMITS, .size = 4 },
	[FATTR4_MAXREAD] = { attr_put_io_max, .size = 8 },
	[FATTR4_MAXWRITE] = { attr_put_io_max, .size = 8 },
	[FATTR4_MODE] = { attr_put_mode, .size = 4, .exclusive = true },
	[FATTR4_NO_TRUNC] = { attr_put_yes, .size = 4 },
	[FATTR4_NUMLINKS] = { attr_put_numlinks, .size = 4 },
	[FATTR4_OWNER] = { attr_put_owner, .size = 16, .exclusive = true },
	[FATTR4_OWNER_GROUP] = { attr_put_owner_group, .size = 16, .exclusive = true },
	[FATTR4_RAWDEV] = { attr_put_rawdev, .size = 8 },
	[FATTR4_SPACE_AVAIL] = { attr_put_space_avail, .needs = RR_ATTR_STATFS, .size = 8 },
	[FATTR4_SPACE_FREE] = { attr_put_space_free, .needs = RR_ATTR_STATFS, .size = 8 },
	[FATTR4_SPACE_TOTAL] = { attr_put_space_total, .needs = RR_ATTR_STATFS, .size = 8 },
	[FATTR4_SPACE_USED] = { attr_put_space_used, .size = 8 },
	[FATTR4_TIME_ACCESS] = { attr_put_time_access, .size = 12 },
	[FATTR4_TIME_DELTA] = { attr_put_time_delta, .needs = RR_ATTR_LIMITS, .size = 12 },
	[FATTR4_TIME_METADATA] = { attr_put_time_metadata, .size = 12 },
	[FATTR4_TIME_MODIFY] = { attr_put_time_modify, .size = 12 },
	[FATTR4_MOUNTED_ON_FILEID] = { attr_put_mounted_on_fileid, .size = 8 },
	[FATTR4_DACL] = { attr_put_dacl, .needs = RR_ATTR_ACL, .size = ATTR_ACL, .minor = 1 },
	[FATTR4_SUPPATTR_EXCLCREAT] = { attr_put_suppattr_exclcreat, .size = 16, .minor = 1 },
	[FATTR4_FS_CHARSET_CAP] = { attr_put_fs_charset_cap, .size = 4, .minor = 1 },
	[FATTR4_CLONE_BLKSIZE] = { attr_put_clone_blksize, .needs = RR_ATTR_LIMITS, .size = 4, .minor = 2 },
	[RR_ATTR_MODE_UMASK] = { .minor = 2, .exclusive = true },
	[FATTR4_XATTR_SUPPORT] = { attr_put_xattr_support, .needs = RR_ATTR_LIMITS, .size = 4, .minor = 2 },
};
