/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of attributes, rr_attr_rows, and the functions that write their values, attr_put_NAME(), and read
 * them, attr_get_NAME(). */
#include <stdio.h>
#include <string.h>

#include "server/nfs4/attr.h"

/* ATTR_PUT is the head of the function that writes the attribute `name`. ATTR_CONST makes such a function for
 * a value that all objects share; ATTR_VALUE makes one for a value that is a member of the source. `function`
 * encodes the value. */
#define ATTR_PUT(name)                                                                                       \
	static void attr_put_##name(struct rpcrdma_xdr_writer *writer, const struct rr_attr_source *source)
#define ATTR_CONST(name, function, value)                                                                    \
	ATTR_PUT(name)                                                                                       \
	{                                                                                                    \
		(void)source;                                                                                \
		function(writer, value);                                                                     \
	}
#define ATTR_VALUE(name, function, value)                                                                    \
	ATTR_PUT(name)                                                                                       \
	{                                                                                                    \
		function(writer, source->value);                                                             \
	}

ATTR_PUT(supported_attrs)
{
	struct rr_attr_mask mask = rr_attr_supported(source->minor);

	rr_attr_put_mask(writer, &mask);
}

ATTR_PUT(suppattr_exclcreat)
{
	struct rr_attr_mask mask = rr_attr_exclusive(source->minor);

	rr_attr_put_mask(writer, &mask);
}

ATTR_PUT(type)
{
	static const nfs_ftype4 types[] = {
		[RR_VFS_FILE] = NF4REG,
		[RR_VFS_DIRECTORY] = NF4DIR,
		[RR_VFS_BLOCK_DEVICE] = NF4BLK,
		[RR_VFS_CHARACTER_DEVICE] = NF4CHR,
		[RR_VFS_LINK] = NF4LNK,
		[RR_VFS_SOCKET] = NF4SOCK,
		[RR_VFS_FIFO] = NF4FIFO,
	};

	rpcrdma_put_u32(writer, types[source->attributes->type]);
}

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

/* Writes the number of a user or group as text, in decimal digits. RFC 8881, 5.9: "owner and group strings
 * that consist of decimal numeric values with no leading zeros". */
static void
attr_put_number(struct rpcrdma_xdr_writer *writer, uint32_t number)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", number);

	rpcrdma_put_bytes(writer, (struct rpcrdma_bytes){ text, (uint32_t)length }, RPCRDMA_XDR_UNBOUNDED);
}

ATTR_PUT(rawdev)
{
	rpcrdma_put_u32(writer, source->attributes->device[0]);
	rpcrdma_put_u32(writer, source->attributes->device[1]);
}

static void
attr_put_time(struct rpcrdma_xdr_writer *writer, struct rr_vfs_time time)
{
	rpcrdma_put_i64(writer, time.seconds);
	rpcrdma_put_u32(writer, time.nanoseconds);
}

ATTR_CONST(fh_expire_type, rpcrdma_put_u32, FH4_PERSISTENT)
ATTR_VALUE(change, rpcrdma_put_u64, attributes->change)
ATTR_VALUE(size, rpcrdma_put_u64, attributes->size)
ATTR_CONST(yes, rpcrdma_put_bool, true)
ATTR_CONST(no, rpcrdma_put_bool, false)
ATTR_CONST(nothing, rpcrdma_put_u32, 0)
/* RFC 8881, 14.4: "the file system contains non-UTF-8 characters, and the server will not convert non-UTF
 * characters to UTF-8": names are any octets. */
ATTR_CONST(fs_charset_cap, rpcrdma_put_u32, FSCHARSET_CAP4_CONTAINS_NON_UTF8)
ATTR_VALUE(lease_time, rpcrdma_put_u32, lease)
ATTR_VALUE(rdattr_error, rpcrdma_put_u32, error)
ATTR_VALUE(case_insensitive, rpcrdma_put_bool, limits->case_insensitive)
ATTR_VALUE(case_preserving, rpcrdma_put_bool, limits->case_preserving)
ATTR_VALUE(fileid, rpcrdma_put_u64, attributes->id.number)
ATTR_VALUE(files_avail, rpcrdma_put_u64, statfs->files_for_all)
ATTR_VALUE(files_free, rpcrdma_put_u64, statfs->files_free)
ATTR_VALUE(files_total, rpcrdma_put_u64, statfs->files)
ATTR_VALUE(maxfilesize, rpcrdma_put_u64, limits->file_max)
ATTR_VALUE(maxlink, rpcrdma_put_u32, limits->link_max)
ATTR_VALUE(maxname, rpcrdma_put_u32, limits->name_max)
ATTR_VALUE(io_max, rpcrdma_put_u64, io_max)
ATTR_VALUE(mode, rpcrdma_put_u32, attributes->mode)
ATTR_VALUE(numlinks, rpcrdma_put_u32, attributes->links)
ATTR_VALUE(owner, attr_put_number, attributes->uid)
ATTR_VALUE(owner_group, attr_put_number, attributes->gid)
ATTR_VALUE(space_avail, rpcrdma_put_u64, statfs->octets_for_all)
ATTR_VALUE(space_free, rpcrdma_put_u64, statfs->octets_free)
ATTR_VALUE(space_total, rpcrdma_put_u64, statfs->octets)
ATTR_VALUE(space_used, rpcrdma_put_u64, attributes->used)
ATTR_VALUE(time_access, attr_put_time, attributes->access_time)
ATTR_VALUE(time_delta, attr_put_time, limits->time_delta)
ATTR_VALUE(time_metadata, attr_put_time, attributes->change_time)
ATTR_VALUE(time_modify, attr_put_time, attributes->modify_time)
ATTR_VALUE(mounted_on_fileid, rpcrdma_put_u64, attributes->mounted_on)
ATTR_VALUE(clone_blksize, rpcrdma_put_u32, limits->clone_block)
ATTR_VALUE(xattr_support, rpcrdma_put_bool, limits->xattrs)

/* ---- Values that are set ---- */

/* Reads a size. Returns NFS4ERR_FBIG for a size that no file of the storage can have. */
static nfsstat4
attr_get_size(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	set->size = rpcrdma_get_u64(reader);
	return set->size > INT64_MAX ? NFS4ERR_FBIG : NFS4_OK;
}

/* Reads a mode. Returns NFS4ERR_INVAL if it has other bits than those of a mode4. */
static nfsstat4
attr_get_mode(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	set->mode = rpcrdma_get_u32(reader);
	return set->mode > 07777 ? NFS4ERR_INVAL : NFS4_OK;
}

/* Reads a mode and a umask into `set`: RFC 8275, 4.2. Returns NFS4ERR_INVAL if the mode has unknown bits, or
 * the umask has other bits than the nine permission bits. */
static nfsstat4
attr_get_mode_umask(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	set->mode = rpcrdma_get_u32(reader);
	set->umask = rpcrdma_get_u32(reader);
	return set->mode > 07777 || set->umask > 0777 ? NFS4ERR_INVAL : NFS4_OK;
}

/* Reads a user or group, written in decimal digits as attr_put_number() writes it, into *number. Returns
 * NFS4ERR_INVAL for an empty text, and NFS4ERR_BADOWNER for any other text or a number that is too large. */
static nfsstat4
attr_get_number(struct rpcrdma_xdr_reader *reader, uint32_t *number)
{
	struct rpcrdma_bytes text = rpcrdma_get_bytes(reader, RPCRDMA_XDR_UNBOUNDED);
	const char *digits = text.data;
	uint64_t value = 0;

	if (reader->failed)
		return NFS4ERR_BADXDR;
	if (text.length == 0)
		return NFS4ERR_INVAL;
	for (uint32_t i = 0; i < text.length; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return NFS4ERR_BADOWNER;
		value = value * 10 + (uint64_t)(digits[i] - '0');
		if (value >= UINT32_MAX)
			return NFS4ERR_BADOWNER;
	}
	*number = (uint32_t)value;
	return NFS4_OK;
}

static nfsstat4
attr_get_owner(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	return attr_get_number(reader, &set->uid);
}

static nfsstat4
attr_get_owner_group(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	return attr_get_number(reader, &set->gid);
}

/* Reads a settime4. If the client asks for the time of the server, the flag `now` (RR_VFS_SET_*_NOW) is added
 * to *sets. If the client gives a time, this time is stored in *time, and the flag in the bit below `now` is
 * added to *sets. Returns NFS4ERR_INVAL if the nanoseconds are a second or more. */
static nfsstat4
attr_get_settime(struct rpcrdma_xdr_reader *reader, struct rr_vfs_time *time, uint32_t now, uint32_t *sets)
{
	uint32_t how = rpcrdma_get_u32(reader);

	if (how > SET_TO_CLIENT_TIME4)
		return NFS4ERR_BADXDR;
	if (how == SET_TO_SERVER_TIME4) {
		*sets |= now;
		return NFS4_OK;
	}
	*sets |= now >> 1;
	time->seconds = rpcrdma_get_i64(reader);
	time->nanoseconds = rpcrdma_get_u32(reader);
	return time->nanoseconds >= 1000000000 ? NFS4ERR_INVAL : NFS4_OK;
}

static nfsstat4
attr_get_time_access_set(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	return attr_get_settime(reader, &set->access_time, RR_VFS_SET_ACCESS_NOW, &set->mask);
}

static nfsstat4
attr_get_time_modify_set(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	return attr_get_settime(reader, &set->modify_time, RR_VFS_SET_MODIFY_NOW, &set->mask);
}

_Static_assert(RR_VFS_SET_ACCESS_NOW >> 1 == RR_VFS_SET_ACCESS_TIME &&
		       RR_VFS_SET_MODIFY_NOW >> 1 == RR_VFS_SET_MODIFY_TIME,
	"the bit for a given time is the one below that for the present");

/* The two bits of each settable time: the client gives the server's present time, or a time of its own. */
enum {
	TIMES_ACCESS = RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_ACCESS_TIME,
	TIMES_MODIFY = RR_VFS_SET_MODIFY_NOW | RR_VFS_SET_MODIFY_TIME
};

const struct rr_attr_row rr_attr_rows[RR_ATTR_COUNT] = {
	[FATTR4_SUPPORTED_ATTRS] = { attr_put_supported_attrs, .size = 16 },
	[FATTR4_TYPE] = { attr_put_type, .size = 4 },
	[FATTR4_FH_EXPIRE_TYPE] = { attr_put_fh_expire_type, .size = 4 },
	[FATTR4_CHANGE] = { attr_put_change, .size = 8 },
	[FATTR4_SIZE] = { attr_put_size, attr_get_size, RR_VFS_SET_SIZE, .size = 8, .exclusive = true },
	[FATTR4_LINK_SUPPORT] = { attr_put_yes, .size = 4 },
	[FATTR4_SYMLINK_SUPPORT] = { attr_put_yes, .size = 4 },
	[FATTR4_NAMED_ATTR] = { attr_put_no, .size = 4 },
	[FATTR4_FSID] = { attr_put_fsid, .size = 16 },
	/* Several handles may name one object. */
	[FATTR4_UNIQUE_HANDLES] = { attr_put_no, .size = 4 },
	[FATTR4_LEASE_TIME] = { attr_put_lease_time, .size = 4 },
	[FATTR4_RDATTR_ERROR] = { attr_put_rdattr_error, .size = 4 },
	[FATTR4_ACLSUPPORT] = { attr_put_nothing, .size = 4 },
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
	[FATTR4_MODE] = { attr_put_mode, attr_get_mode, RR_VFS_SET_MODE, .size = 4, .exclusive = true },
	[FATTR4_NO_TRUNC] = { attr_put_yes, .size = 4 },
	[FATTR4_NUMLINKS] = { attr_put_numlinks, .size = 4 },
	[FATTR4_OWNER] = { attr_put_owner, attr_get_owner, RR_VFS_SET_UID, .size = 16, .exclusive = true },
	[FATTR4_OWNER_GROUP] = { attr_put_owner_group, attr_get_owner_group, RR_VFS_SET_GID, .size = 16,
		.exclusive = true },
	[FATTR4_RAWDEV] = { attr_put_rawdev, .size = 8 },
	[FATTR4_SPACE_AVAIL] = { attr_put_space_avail, .needs = RR_ATTR_STATFS, .size = 8 },
	[FATTR4_SPACE_FREE] = { attr_put_space_free, .needs = RR_ATTR_STATFS, .size = 8 },
	[FATTR4_SPACE_TOTAL] = { attr_put_space_total, .needs = RR_ATTR_STATFS, .size = 8 },
	[FATTR4_SPACE_USED] = { attr_put_space_used, .size = 8 },
	[FATTR4_TIME_ACCESS] = { attr_put_time_access, .size = 12 },
	[FATTR4_TIME_ACCESS_SET] = { NULL, attr_get_time_access_set, TIMES_ACCESS },
	[FATTR4_TIME_DELTA] = { attr_put_time_delta, .needs = RR_ATTR_LIMITS, .size = 12 },
	[FATTR4_TIME_METADATA] = { attr_put_time_metadata, .size = 12 },
	[FATTR4_TIME_MODIFY] = { attr_put_time_modify, .size = 12 },
	[FATTR4_TIME_MODIFY_SET] = { NULL, attr_get_time_modify_set, TIMES_MODIFY },
	[FATTR4_MOUNTED_ON_FILEID] = { attr_put_mounted_on_fileid, .size = 8 },
	[FATTR4_SUPPATTR_EXCLCREAT] = { attr_put_suppattr_exclcreat, .size = 16 },
	[FATTR4_FS_CHARSET_CAP] = { attr_put_fs_charset_cap, .size = 4 },
	[FATTR4_CLONE_BLKSIZE] = { attr_put_clone_blksize, .needs = RR_ATTR_LIMITS, .size = 4, .minor = 2 },
	[RR_ATTR_MODE_UMASK] = { NULL, attr_get_mode_umask, RR_VFS_SET_MODE | RR_VFS_SET_UMASK, .minor = 2,
		.exclusive = true },
	[FATTR4_XATTR_SUPPORT] = { attr_put_xattr_support, .needs = RR_ATTR_LIMITS, .size = 4, .minor = 2 },
};
