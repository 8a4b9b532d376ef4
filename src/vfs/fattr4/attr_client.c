/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoding and encoding of a fattr4, as a client does that: by a table of the functions that read the
 * values, client_take_NAME(), and one of those that write what is set, client_give_NAME(). */
#include <string.h>

#include "base/checked.h"
#include "vfs/fattr4/attr.h"

/* ---- What a server sent ---- */

/* CLIENT_TAKE is the head of the function that reads the attribute `name`, and CLIENT_INTO makes one that
 * reads a member of the values. rpcrdma_get_TYPE() is the codec. */
#define CLIENT_TAKE(name)                                                                                    \
	static void client_take_##name(struct rpcrdma_xdr_reader *reader, struct rr_attr_values *values)
#define CLIENT_INTO(name, type, value)                                                                       \
	CLIENT_TAKE(name)                                                                                    \
	{                                                                                                    \
		values->value = rpcrdma_get_##type(reader);                                                  \
	}

/* A type that vfs.h does not have, such as that of a named attribute, counts as malformed. */
CLIENT_TAKE(type)
{
	uint32_t type = rpcrdma_get_u32(reader);

	if (type < NF4REG || type > NF4FIFO)
		rpcrdma_xdr_fail(reader);
	values->attributes.type = (enum rr_vfs_type)type;
}

CLIENT_TAKE(fsid)
{
	values->attributes.id.fsid[0] = rpcrdma_get_u64(reader);
	values->attributes.id.fsid[1] = rpcrdma_get_u64(reader);
}

CLIENT_TAKE(filehandle)
{
	values->handle = rpcrdma_get_bytes(reader, NFS4_FHSIZE);
}

CLIENT_TAKE(mode)
{
	values->attributes.mode = rpcrdma_get_u32(reader) & 07777;
}

/* Reads a user or a group, and returns its number. A text that is no number is a name in a domain: stores it
 * in *name, and returns RR_VFS_NOBODY, because the caller finds out whom it names here. */
static uint32_t
client_who(struct rpcrdma_xdr_reader *reader, struct rpcrdma_bytes *name)
{
	struct rpcrdma_bytes text = rpcrdma_get_bytes(reader, NFS4_OPAQUE_LIMIT);
	uint32_t number;

	if (rr_idmap_is_number(text, &number))
		return number;
	*name = text;
	return RR_VFS_NOBODY;
}

CLIENT_TAKE(owner)
{
	values->attributes.uid = client_who(reader, &values->owner);
}

CLIENT_TAKE(owner_group)
{
	values->attributes.gid = client_who(reader, &values->group);
}

CLIENT_TAKE(rawdev)
{
	values->attributes.device[0] = rpcrdma_get_u32(reader);
	values->attributes.device[1] = rpcrdma_get_u32(reader);
}

/* Lists of POSIX need both kinds of entries: acl/nfs4_from.c. */
CLIENT_TAKE(aclsupport)
{
	const uint32_t both = ACL4_SUPPORT_ALLOW_ACL | ACL4_SUPPORT_DENY_ACL;

	values->acls = (rpcrdma_get_u32(reader) & both) == both;
}

/* Finds the end of the list. Its entries are read when it is known whom they name. */
CLIENT_TAKE(acl)
{
	const uint8_t *start = reader->next;
	uint32_t count = rpcrdma_get_u32(reader);

	for (; count > 0 && !reader->failed; count--) {
		rpcrdma_get_u32(reader); /* type */
		rpcrdma_get_u32(reader); /* flag */
		rpcrdma_get_u32(reader); /* access_mask */
		rpcrdma_get_bytes(reader, RPCRDMA_XDR_UNBOUNDED);
	}
	values->acl = (struct rpcrdma_bytes){ start, (uint32_t)(reader->next - start) };
}

#define CLIENT_TIME(name, value)                                                                             \
	CLIENT_TAKE(name)                                                                                    \
	{                                                                                                    \
		if (!rr_attr_get_time(reader, &values->value))                                               \
			rpcrdma_xdr_fail(reader);                                                            \
	}

CLIENT_TIME(time_access, attributes.access_time)
CLIENT_TIME(time_metadata, attributes.change_time)
CLIENT_TIME(time_modify, attributes.modify_time)
CLIENT_TIME(time_delta, time_delta)

CLIENT_INTO(change, u64, attributes.change)
CLIENT_INTO(size, u64, attributes.size)
CLIENT_INTO(lease_time, u32, lease)
CLIENT_INTO(rdattr_error, u32, error)
CLIENT_INTO(fileid, u64, attributes.id.number)
CLIENT_INTO(files_avail, u64, files_for_all)
CLIENT_INTO(files_free, u64, files_free)
CLIENT_INTO(files_total, u64, files)
CLIENT_INTO(maxfilesize, u64, file_max)
CLIENT_INTO(maxlink, u32, link_max)
CLIENT_INTO(maxname, u32, name_max)
CLIENT_INTO(numlinks, u32, attributes.links)
CLIENT_INTO(space_avail, u64, octets_for_all)
CLIENT_INTO(space_free, u64, octets_free)
CLIENT_INTO(space_total, u64, octets)
CLIENT_INTO(space_used, u64, attributes.used)
CLIENT_INTO(mounted_on_fileid, u64, attributes.mounted_on)
CLIENT_INTO(clone_blksize, u32, clone_block)
CLIENT_INTO(case_insensitive, bool, case_insensitive)
CLIENT_INTO(case_preserving, bool, case_preserving)
CLIENT_INTO(maxread, u64, read_max)
CLIENT_INTO(maxwrite, u64, write_max)
CLIENT_INTO(xattr_support, bool, xattrs)

/* The functions that read the attributes that the client may ask for. */
static void (*const client_takes[RR_ATTR_COUNT])(struct rpcrdma_xdr_reader *, struct rr_attr_values *) = {
	[FATTR4_TYPE] = client_take_type,
	[FATTR4_CHANGE] = client_take_change,
	[FATTR4_SIZE] = client_take_size,
	[FATTR4_FSID] = client_take_fsid,
	[FATTR4_LEASE_TIME] = client_take_lease_time,
	[FATTR4_RDATTR_ERROR] = client_take_rdattr_error,
	[FATTR4_ACL] = client_take_acl,
	[FATTR4_ACLSUPPORT] = client_take_aclsupport,
	[FATTR4_CASE_INSENSITIVE] = client_take_case_insensitive,
	[FATTR4_CASE_PRESERVING] = client_take_case_preserving,
	[FATTR4_FILEHANDLE] = client_take_filehandle,
	[FATTR4_FILEID] = client_take_fileid,
	[FATTR4_FILES_AVAIL] = client_take_files_avail,
	[FATTR4_FILES_FREE] = client_take_files_free,
	[FATTR4_FILES_TOTAL] = client_take_files_total,
	[FATTR4_MAXFILESIZE] = client_take_maxfilesize,
	[FATTR4_MAXLINK] = client_take_maxlink,
	[FATTR4_MAXNAME] = client_take_maxname,
	[FATTR4_MAXREAD] = client_take_maxread,
	[FATTR4_MAXWRITE] = client_take_maxwrite,
	[FATTR4_MODE] = client_take_mode,
	[FATTR4_NUMLINKS] = client_take_numlinks,
	[FATTR4_OWNER] = client_take_owner,
	[FATTR4_OWNER_GROUP] = client_take_owner_group,
	[FATTR4_RAWDEV] = client_take_rawdev,
	[FATTR4_SPACE_AVAIL] = client_take_space_avail,
	[FATTR4_SPACE_FREE] = client_take_space_free,
	[FATTR4_SPACE_TOTAL] = client_take_space_total,
	[FATTR4_SPACE_USED] = client_take_space_used,
	[FATTR4_TIME_ACCESS] = client_take_time_access,
	[FATTR4_TIME_DELTA] = client_take_time_delta,
	[FATTR4_TIME_METADATA] = client_take_time_metadata,
	[FATTR4_TIME_MODIFY] = client_take_time_modify,
	[FATTR4_MOUNTED_ON_FILEID] = client_take_mounted_on_fileid,
	[FATTR4_CLONE_BLKSIZE] = client_take_clone_blksize,
	[FATTR4_XATTR_SUPPORT] = client_take_xattr_support,
};

bool
rr_attr_is_known(uint32_t number)
{
	return client_takes[number] != NULL;
}

/* Tells whether the client has asked for all attributes that the server gave. The server may give fewer than
 * were asked for, because it need not support all. RFC 8881, 18.7.3: "The server MUST return a value for each
 * attribute that the client requests if the attribute is supported". */
static bool
client_has_asked(const bitmap4 *given, const bitmap4 *asked)
{
	for (uint32_t i = 0; i < given->count; i++) {
		if (given->values[i] & ~(i < asked->count ? asked->values[i] : 0))
			return false;
	}
	return true;
}

bool
rr_attr_take(const fattr4 *fattr, const bitmap4 *asked, struct rr_attr_values *values)
{
	const struct rpcrdma_message message = { .stream = fattr->attr_vals.data,
		.length = fattr->attr_vals.length };
	struct rpcrdma_xdr_reader reader;

	memset(values, 0, sizeof(*values));
	if (!client_has_asked(&fattr->attrmask, asked))
		return false;
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	for (uint32_t i = 0; i < rr_min(fattr->attrmask.count, RR_ATTR_WORDS); i++) {
		values->have.words[i] = fattr->attrmask.values[i];
		/* From the lowest bit to the highest: the values are in the order of the attributes' numbers.
		 * Each has a function, as it was asked for. */
		for (uint32_t left = values->have.words[i]; left != 0; left &= left - 1)
			client_takes[32 * i + (uint32_t)__builtin_ctz(left)](&reader, values);
	}
	return rpcrdma_xdr_done(&reader);
}

/* ---- What the client sets ---- */

static void
client_give_size(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	rpcrdma_put_u64(writer, set->size);
}

static void
client_give_mode(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	rpcrdma_put_u32(writer, set->mode);
}

static void
client_give_owner(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	rr_attr_put_number(writer, set->uid);
}

static void
client_give_owner_group(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	rr_attr_put_number(writer, set->gid);
}

/* Writes a settime4: the time of the server if `now` is true, else the given time. */
static void
client_settime(struct rpcrdma_xdr_writer *writer, bool now, struct rr_vfs_time time)
{
	rpcrdma_put_u32(writer, now ? SET_TO_SERVER_TIME4 : SET_TO_CLIENT_TIME4);
	if (!now)
		rr_attr_put_time(writer, time);
}

static void
client_give_time_access_set(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	client_settime(writer, set->mask & RR_VFS_SET_ACCESS_NOW, set->access_time);
}

static void
client_give_time_modify_set(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	client_settime(writer, set->mask & RR_VFS_SET_MODIFY_NOW, set->modify_time);
}

/* The attributes that the client sets, with the RR_VFS_SET_* bits for which it does. */
static const struct {
	void (*give)(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set);
	uint32_t sets;
} client_gives[RR_ATTR_COUNT] = {
	[FATTR4_SIZE] = { client_give_size, RR_VFS_SET_SIZE },
	[FATTR4_MODE] = { client_give_mode, RR_VFS_SET_MODE },
	[FATTR4_OWNER] = { client_give_owner, RR_VFS_SET_UID },
	[FATTR4_OWNER_GROUP] = { client_give_owner_group, RR_VFS_SET_GID },
	[FATTR4_TIME_ACCESS_SET] = { client_give_time_access_set,
		RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_ACCESS_TIME },
	[FATTR4_TIME_MODIFY_SET] = { client_give_time_modify_set,
		RR_VFS_SET_MODIFY_NOW | RR_VFS_SET_MODIFY_TIME },
};

fattr4
rr_attr_give(const struct rr_vfs_set *set, struct rr_attr_mask *mask, void *memory, uint32_t size)
{
	struct rpcrdma_xdr_writer writer;
	uint32_t count = RR_ATTR_WORDS;

	memset(mask, 0, sizeof(*mask));
	rpcrdma_xdr_writer_init(&writer, memory, size, NULL, 0);
	/* The values must be in the order of the attributes' numbers. */
	for (uint32_t i = 0; i < RR_ATTR_COUNT; i++) {
		if (!(client_gives[i].sets & set->mask))
			continue;
		rr_attr_add(mask, i);
		client_gives[i].give(&writer, set);
	}
	/* The bitmap ends with its last word that is not zero. */
	while (count > 0 && mask->words[count - 1] == 0)
		count--;
	return (fattr4){ { count, mask->words }, { memory, (uint32_t)rpcrdma_xdr_length(&writer) } };
}

uint32_t
rr_attr_gives(uint32_t number)
{
	return client_gives[number].sets;
}
