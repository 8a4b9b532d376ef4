/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of attributes, rr_attr_rows, and the functions that write their values, attr_put_NAME(), and read
 * them, attr_take_NAME(). */
#include <string.h>

#include "vfs/fattr4/acl.h"

/* ATTR_PUT and ATTR_TAKE are the heads of the functions that write and read the attribute `name`. ATTR_CONST
 * makes a function that writes a value that all objects share. ATTR_FROM makes a function that writes a
 * member of the source, and ATTR_INTO one that reads a member of the values; ATTR_BOTH makes both.
 * rpcrdma_put_TYPE() and rpcrdma_get_TYPE() are the codec. */
#define ATTR_PUT(name)                                                                                       \
	static void attr_put_##name(struct rpcrdma_xdr_writer *writer, const struct rr_attr_source *source)
#define ATTR_TAKE(name)                                                                                      \
	static void attr_take_##name(struct rpcrdma_xdr_reader *reader, struct rr_attr_values *values)
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
#define ATTR_INTO(name, type, value)                                                                         \
	ATTR_TAKE(name)                                                                                      \
	{                                                                                                    \
		values->value = rpcrdma_get_##type(reader);                                                  \
	}
#define ATTR_BOTH(name, type, from, into)                                                                    \
	ATTR_FROM(name, type, from)                                                                          \
	ATTR_INTO(name, type, into)

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

/* A type that vfs.h does not have, such as that of a named attribute, counts as malformed. */
ATTR_TAKE(type)
{
	uint32_t type = rpcrdma_get_u32(reader);

	if (type < NF4REG || type > NF4FIFO)
		rpcrdma_xdr_fail(reader);
	values->attributes.type = (enum rr_vfs_type)type;
}

ATTR_PUT(fsid)
{
	rpcrdma_put_u64(writer, source->attributes->id.fsid[0]);
	rpcrdma_put_u64(writer, source->attributes->id.fsid[1]);
}

ATTR_TAKE(fsid)
{
	values->attributes.id.fsid[0] = rpcrdma_get_u64(reader);
	values->attributes.id.fsid[1] = rpcrdma_get_u64(reader);
}

ATTR_PUT(filehandle)
{
	rpcrdma_put_bytes(
		writer, (struct rpcrdma_bytes){ source->handle->data, source->handle->length }, NFS4_FHSIZE);
}

ATTR_TAKE(filehandle)
{
	values->handle = rpcrdma_get_bytes(reader, NFS4_FHSIZE);
}

ATTR_FROM(mode, u32, attributes->mode)

ATTR_TAKE(mode)
{
	values->attributes.mode = rpcrdma_get_u32(reader) & 07777;
}

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

/* Reads a user or a group, and returns its number. A text that is no number is a name in a domain: stores it
 * in *name, and returns RR_VFS_NOBODY, because the caller finds out whom it names here. */
static uint32_t
attr_take_who(struct rpcrdma_xdr_reader *reader, struct rpcrdma_bytes *name)
{
	struct rpcrdma_bytes text = rpcrdma_get_bytes(reader, NFS4_OPAQUE_LIMIT);
	uint32_t number;

	if (rr_idmap_is_number(text, &number))
		return number;
	*name = text;
	return RR_VFS_NOBODY;
}

ATTR_TAKE(owner)
{
	values->attributes.uid = attr_take_who(reader, &values->owner);
}

ATTR_TAKE(owner_group)
{
	values->attributes.gid = attr_take_who(reader, &values->group);
}

ATTR_PUT(rawdev)
{
	rpcrdma_put_u32(writer, source->attributes->device[0]);
	rpcrdma_put_u32(writer, source->attributes->device[1]);
}

ATTR_TAKE(rawdev)
{
	values->attributes.device[0] = rpcrdma_get_u32(reader);
	values->attributes.device[1] = rpcrdma_get_u32(reader);
}

#define ATTR_TIME(name, member)                                                                              \
	ATTR_PUT(name)                                                                                       \
	{                                                                                                    \
		rr_attr_put_time(writer, source->attributes->member);                                        \
	}                                                                                                    \
	ATTR_TAKE(name)                                                                                      \
	{                                                                                                    \
		if (!rr_attr_get_time(reader, &values->attributes.member))                                   \
			rpcrdma_xdr_fail(reader);                                                            \
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

ATTR_TAKE(time_delta)
{
	if (!rr_attr_get_time(reader, &values->time_delta))
		rpcrdma_xdr_fail(reader);
}

ATTR_CONST(fh_expire_type, u32, FH4_PERSISTENT)
ATTR_BOTH(change, u64, attributes->change, attributes.change)
ATTR_BOTH(size, u64, attributes->size, attributes.size)
ATTR_CONST(yes, bool, true)
ATTR_CONST(no, bool, false)
/* RFC 8881, 14.4: "the file system contains non-UTF-8 characters, and the server will not convert non-UTF
 * characters to UTF-8": names are any octets. */
ATTR_CONST(fs_charset_cap, u32, FSCHARSET_CAP4_CONTAINS_NON_UTF8)
ATTR_BOTH(lease_time, u32, lease, lease)
ATTR_BOTH(rdattr_error, u32, error, error)
ATTR_FROM(case_insensitive, bool, limits->case_insensitive)
ATTR_INTO(case_insensitive, bool, case_insensitive)
ATTR_FROM(case_preserving, bool, limits->case_preserving)
ATTR_INTO(case_preserving, bool, case_preserving)
ATTR_BOTH(fileid, u64, attributes->id.number, attributes.id.number)
ATTR_BOTH(files_avail, u64, statfs->files_for_all, files_for_all)
ATTR_BOTH(files_free, u64, statfs->files_free, files_free)
ATTR_BOTH(files_total, u64, statfs->files, files)
ATTR_BOTH(maxfilesize, u64, limits->file_max, file_max)
ATTR_BOTH(maxlink, u32, limits->link_max, link_max)
ATTR_BOTH(maxname, u32, limits->name_max, name_max)
ATTR_FROM(io_max, u64, io_max)
ATTR_INTO(maxread, u64, read_max)
ATTR_INTO(maxwrite, u64, write_max)
ATTR_BOTH(numlinks, u32, attributes->links, attributes.links)
ATTR_BOTH(space_avail, u64, statfs->octets_for_all, octets_for_all)
ATTR_BOTH(space_free, u64, statfs->octets_free, octets_free)
ATTR_BOTH(space_total, u64, statfs->octets, octets)
ATTR_BOTH(space_used, u64, attributes->used, attributes.used)
ATTR_BOTH(mounted_on_fileid, u64, attributes->mounted_on, attributes.mounted_on)
ATTR_BOTH(clone_blksize, u32, limits->clone_block, clone_block)
ATTR_FROM(xattr_support, bool, limits->xattrs)
ATTR_INTO(xattr_support, bool, xattrs)

/* For a list, which has no bound, so much memory is taken. */
enum { ATTR_ACL = 48 << 10 };

const struct rr_attr_row rr_attr_rows[RR_ATTR_COUNT] = {
	[FATTR4_SUPPORTED_ATTRS] = { attr_put_supported_attrs, .needs = RR_ATTR_LIMITS, .size = 16 },
	[FATTR4_TYPE] = { attr_put_type, attr_take_type, .size = 4 },
	[FATTR4_FH_EXPIRE_TYPE] = { attr_put_fh_expire_type, .size = 4 },
	[FATTR4_CHANGE] = { attr_put_change, attr_take_change, .size = 8 },
	[FATTR4_SIZE] = { attr_put_size, attr_take_size, .size = 8, .exclusive = true },
	[FATTR4_LINK_SUPPORT] = { attr_put_yes, .size = 4 },
	[FATTR4_SYMLINK_SUPPORT] = { attr_put_yes, .size = 4 },
	[FATTR4_NAMED_ATTR] = { attr_put_no, .size = 4 },
	[FATTR4_FSID] = { attr_put_fsid, attr_take_fsid, .size = 16 },
	/* Several handles may name one object. */
	[FATTR4_UNIQUE_HANDLES] = { attr_put_no, .size = 4 },
	[FATTR4_LEASE_TIME] = { attr_put_lease_time, attr_take_lease_time, .size = 4 },
	[FATTR4_RDATTR_ERROR] = { attr_put_rdattr_error, attr_take_rdattr_error, .size = 4 },
	[FATTR4_ACL] = { attr_put_acl, .needs = RR_ATTR_ACL, .size = ATTR_ACL },
	[FATTR4_ACLSUPPORT] = { attr_put_aclsupport, .needs = RR_ATTR_LIMITS, .size = 4 },
	[FATTR4_CANSETTIME] = { attr_put_yes, .size = 4 },
	[FATTR4_CASE_INSENSITIVE] = { attr_put_case_insensitive, attr_take_case_insensitive,
		.needs = RR_ATTR_LIMITS, .size = 4 },
	[FATTR4_CASE_PRESERVING] = { attr_put_case_preserving, attr_take_case_preserving,
		.needs = RR_ATTR_LIMITS, .size = 4 },
	[FATTR4_CHOWN_RESTRICTED] = { attr_put_yes, .size = 4 },
	[FATTR4_FILEHANDLE] = { attr_put_filehandle, attr_take_filehandle, .size = 4 + RR_VFS_HANDLE_MAX },
	[FATTR4_FILEID] = { attr_put_fileid, attr_take_fileid, .size = 8 },
	[FATTR4_FILES_AVAIL] = { attr_put_files_avail, attr_take_files_avail, .needs = RR_ATTR_STATFS,
		.size = 8 },
	[FATTR4_FILES_FREE] = { attr_put_files_free, attr_take_files_free, .needs = RR_ATTR_STATFS,
		.size = 8 },
	[FATTR4_FILES_TOTAL] = { attr_put_files_total, attr_take_files_total, .needs = RR_ATTR_STATFS,
		.size = 8 },
	[FATTR4_HOMOGENEOUS] = { attr_put_yes, .size = 4 },
	[FATTR4_MAXFILESIZE] = { attr_put_maxfilesize, attr_take_maxfilesize, .needs = RR_ATTR_LIMITS,
		.size = 8 },
	[FATTR4_MAXLINK] = { attr_put_maxlink, attr_take_maxlink, .needs = RR_ATTR_LIMITS, .size = 4 },
	[FATTR4_MAXNAME] = { attr_put_maxname, attr_take_maxname, .needs = RR_ATTR_LIMITS, .size = 4 },
	[FATTR4_MAXREAD] = { attr_put_io_max, attr_take_maxread, .size = 8 },
	[FATTR4_MAXWRITE] = { attr_put_io_max, attr_take_maxwrite, .size = 8 },
	[FATTR4_MODE] = { attr_put_mode, attr_take_mode, .size = 4, .exclusive = true },
	[FATTR4_NO_TRUNC] = { attr_put_yes, .size = 4 },
	[FATTR4_NUMLINKS] = { attr_put_numlinks, attr_take_numlinks, .size = 4 },
	[FATTR4_OWNER] = { attr_put_owner, attr_take_owner, .size = 16, .exclusive = true },
	[FATTR4_OWNER_GROUP] = { attr_put_owner_group, attr_take_owner_group, .size = 16, .exclusive = true },
	[FATTR4_RAWDEV] = { attr_put_rawdev, attr_take_rawdev, .size = 8 },
	[FATTR4_SPACE_AVAIL] = { attr_put_space_avail, attr_take_space_avail, .needs = RR_ATTR_STATFS,
		.size = 8 },
	[FATTR4_SPACE_FREE] = { attr_put_space_free, attr_take_space_free, .needs = RR_ATTR_STATFS,
		.size = 8 },
	[FATTR4_SPACE_TOTAL] = { attr_put_space_total, attr_take_space_total, .needs = RR_ATTR_STATFS,
		.size = 8 },
	[FATTR4_SPACE_USED] = { attr_put_space_used, attr_take_space_used, .size = 8 },
	[FATTR4_TIME_ACCESS] = { attr_put_time_access, attr_take_time_access, .size = 12 },
	[FATTR4_TIME_DELTA] = { attr_put_time_delta, attr_take_time_delta, .needs = RR_ATTR_LIMITS,
		.size = 12 },
	[FATTR4_TIME_METADATA] = { attr_put_time_metadata, attr_take_time_metadata, .size = 12 },
	[FATTR4_TIME_MODIFY] = { attr_put_time_modify, attr_take_time_modify, .size = 12 },
	[FATTR4_MOUNTED_ON_FILEID] = { attr_put_mounted_on_fileid, attr_take_mounted_on_fileid, .size = 8 },
	[FATTR4_DACL] = { attr_put_dacl, .needs = RR_ATTR_ACL, .size = ATTR_ACL, .minor = 1 },
	[FATTR4_SUPPATTR_EXCLCREAT] = { attr_put_suppattr_exclcreat, .size = 16 },
	[FATTR4_FS_CHARSET_CAP] = { attr_put_fs_charset_cap, .size = 4 },
	[FATTR4_CLONE_BLKSIZE] = { attr_put_clone_blksize, attr_take_clone_blksize, .needs = RR_ATTR_LIMITS,
		.size = 4, .minor = 2 },
	[RR_ATTR_MODE_UMASK] = { .minor = 2, .exclusive = true },
	[FATTR4_XATTR_SUPPORT] = { attr_put_xattr_support, attr_take_xattr_support, .needs = RR_ATTR_LIMITS,
		.size = 4, .minor = 2 },
};
