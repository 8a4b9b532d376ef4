/* SPDX-License-Identifier: BSD-3-Clause */
/* This file decodes the attributes that a server of version 4 sends, and encodes those that are to be set
 * (RFC 8881, section 5). */
#include <stdio.h>
#include <string.h>

#include <rpcrdma/nfs.h>

#include "base/checked.h"
#include "nfs/v4/private.h"

/* The bit of an attribute in its word of a bitmap. */
#define BIT(number) (UINT32_C(1) << (number) % 32)

/* The attributes of an object: the first and the second word of their bitmap. */
#define OBJECT_0                                                                                             \
	(BIT(FATTR4_TYPE) | BIT(FATTR4_CHANGE) | BIT(FATTR4_SIZE) | BIT(FATTR4_FSID) | BIT(FATTR4_FILEID))
#define OBJECT_1                                                                                             \
	(BIT(FATTR4_MODE) | BIT(FATTR4_NUMLINKS) | BIT(FATTR4_OWNER) | BIT(FATTR4_OWNER_GROUP) |             \
		BIT(FATTR4_RAWDEV) | BIT(FATTR4_SPACE_USED) | BIT(FATTR4_TIME_ACCESS) |                      \
		BIT(FATTR4_TIME_METADATA) | BIT(FATTR4_TIME_MODIFY))

/* Defines the bitmap rr_v4_attr_NAME of two words. */
#define MASK(name, first, second)                                                                            \
	static uint32_t name##_words[] = { first, second };                                                  \
	const bitmap4 rr_v4_attr_##name = { 2, name##_words };

MASK(object, OBJECT_0, OBJECT_1)
MASK(entry, OBJECT_0 | BIT(FATTR4_RDATTR_ERROR) | BIT(FATTR4_FILEHANDLE),
	OBJECT_1 | BIT(FATTR4_MOUNTED_ON_FILEID))
MASK(limits, BIT(FATTR4_LEASE_TIME) | BIT(FATTR4_MAXFILESIZE) | BIT(FATTR4_MAXREAD) | BIT(FATTR4_MAXWRITE), 0)
MASK(space, BIT(FATTR4_FILES_AVAIL) | BIT(FATTR4_FILES_FREE) | BIT(FATTR4_FILES_TOTAL),
	BIT(FATTR4_SPACE_AVAIL) | BIT(FATTR4_SPACE_FREE) | BIT(FATTR4_SPACE_TOTAL))

/* ---- Attributes from a server ---- */

typedef void attr_get(struct rpcrdma_xdr_reader *reader, struct rr_v4_attributes *taken);

/* Defines the function attr_get_NAME, which decodes an attribute that is one number. */
#define GET(name, type, member)                                                                              \
	static void attr_get_##name(struct rpcrdma_xdr_reader *reader, struct rr_v4_attributes *taken)       \
	{                                                                                                    \
		taken->member = rpcrdma_get_##type(reader);                                                  \
	}

GET(change, u64, attributes.vfs.change)
GET(size, u64, attributes.vfs.size)
GET(fileid, u64, attributes.vfs.id.number)
GET(numlinks, u32, attributes.vfs.links)
GET(space_used, u64, attributes.vfs.used)
GET(rdattr_error, u32, error)
GET(mounted_on, u64, attributes.vfs.mounted_on)
GET(lease, u32, lease)
GET(maxread, u64, read_max)
GET(maxwrite, u64, write_max)
GET(maxfilesize, u64, file_max)
GET(space_total, u64, space_total)
GET(space_free, u64, space_free)
GET(space_avail, u64, space_avail)
GET(files_total, u64, files_total)
GET(files_free, u64, files_free)
GET(files_avail, u64, files_avail)

/* Decodes the type of an object. A type that no object of version 3 has, such as that of a named attribute,
 * counts as malformed. */
static void
attr_get_type(struct rpcrdma_xdr_reader *reader, struct rr_v4_attributes *taken)
{
	uint32_t type = rpcrdma_get_u32(reader);

	_Static_assert((int)NF4FIFO == (int)RR_VFS_FIFO && (int)NF4LNK == (int)RR_VFS_LINK, "the same types");
	if (type < NF4REG || type > NF4FIFO)
		rpcrdma_xdr_fail(reader);
	taken->attributes.vfs.type = (enum rr_vfs_type)type;
}

static void
attr_get_fsid(struct rpcrdma_xdr_reader *reader, struct rr_v4_attributes *taken)
{
	taken->attributes.vfs.id.fsid[0] = rpcrdma_get_u64(reader);
	taken->attributes.vfs.id.fsid[1] = rpcrdma_get_u64(reader);
}

static void
attr_get_mode(struct rpcrdma_xdr_reader *reader, struct rr_v4_attributes *taken)
{
	taken->attributes.vfs.mode = rpcrdma_get_u32(reader) & 07777;
}

static void
attr_get_handle(struct rpcrdma_xdr_reader *reader, struct rr_v4_attributes *taken)
{
	taken->handle = rpcrdma_get_bytes(reader, NFS4_FHSIZE);
}

/* Tells whether a user or a group is a number, which is then stored in *number. RFC 8881, 5.9: a text of
 * digits without an '@' is a number. */
static bool
attr_is_number(struct rpcrdma_bytes text, uint32_t *number)
{
	const char *digits = text.data;
	uint64_t value = 0;

	if (text.length == 0)
		return false;
	for (uint32_t i = 0; i < text.length; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(digits[i] - '0');
		if (value >= UINT32_MAX)
			return false;
	}
	*number = (uint32_t)value;
	return true;
}

/* Decodes a user or a group, and returns its number. A text that is no number is a name in a domain: stores
 * it in *name, and returns RR_VFS_NOBODY, because this client has no table of names. A name that is too long
 * for the client's objects, or has a zero in it, is left out. */
static uint32_t
attr_get_who(struct rpcrdma_xdr_reader *reader, struct rpcrdma_bytes *name)
{
	struct rpcrdma_bytes text = rpcrdma_get_bytes(reader, NFS4_OPAQUE_LIMIT);
	uint32_t number;

	if (attr_is_number(text, &number))
		return number;
	if (text.length > 0 && text.length <= RPCRDMA_NFS_OWNER_MAX && !memchr(text.data, 0, text.length))
		*name = text;
	return RR_VFS_NOBODY;
}

static void
attr_get_owner(struct rpcrdma_xdr_reader *reader, struct rr_v4_attributes *taken)
{
	taken->attributes.vfs.uid = attr_get_who(reader, &taken->attributes.owner);
}

static void
attr_get_group(struct rpcrdma_xdr_reader *reader, struct rr_v4_attributes *taken)
{
	taken->attributes.vfs.gid = attr_get_who(reader, &taken->attributes.group);
}

static void
attr_get_device(struct rpcrdma_xdr_reader *reader, struct rr_v4_attributes *taken)
{
	taken->attributes.vfs.device[0] = rpcrdma_get_u32(reader);
	taken->attributes.vfs.device[1] = rpcrdma_get_u32(reader);
}

static struct rr_vfs_time
attr_get_time(struct rpcrdma_xdr_reader *reader)
{
	int64_t seconds = rpcrdma_get_i64(reader);
	uint32_t nanoseconds = rpcrdma_get_u32(reader);

	/* RFC 8881, 3.3.1: "Values greater than 999,999,999 for nseconds are invalid." */
	if (nanoseconds > 999999999)
		rpcrdma_xdr_fail(reader);
	return (struct rr_vfs_time){ seconds, nanoseconds };
}

#define GET_TIME(name)                                                                                       \
	static void attr_get_##name(struct rpcrdma_xdr_reader *reader, struct rr_v4_attributes *taken)       \
	{                                                                                                    \
		taken->attributes.vfs.name = attr_get_time(reader);                                          \
	}

GET_TIME(access_time)
GET_TIME(modify_time)
GET_TIME(change_time)

/* The function that decodes an attribute, by the attribute's number; NULL for attributes that this client
 * never asks for. */
static attr_get *const attr_rows[RR_V4_WORDS * 32] = {
	[FATTR4_TYPE] = attr_get_type,
	[FATTR4_CHANGE] = attr_get_change,
	[FATTR4_SIZE] = attr_get_size,
	[FATTR4_FSID] = attr_get_fsid,
	[FATTR4_LEASE_TIME] = attr_get_lease,
	[FATTR4_RDATTR_ERROR] = attr_get_rdattr_error,
	[FATTR4_FILEHANDLE] = attr_get_handle,
	[FATTR4_FILEID] = attr_get_fileid,
	[FATTR4_FILES_AVAIL] = attr_get_files_avail,
	[FATTR4_FILES_FREE] = attr_get_files_free,
	[FATTR4_FILES_TOTAL] = attr_get_files_total,
	[FATTR4_MAXFILESIZE] = attr_get_maxfilesize,
	[FATTR4_MAXREAD] = attr_get_maxread,
	[FATTR4_MAXWRITE] = attr_get_maxwrite,
	[FATTR4_MODE] = attr_get_mode,
	[FATTR4_NUMLINKS] = attr_get_numlinks,
	[FATTR4_OWNER] = attr_get_owner,
	[FATTR4_OWNER_GROUP] = attr_get_group,
	[FATTR4_RAWDEV] = attr_get_device,
	[FATTR4_SPACE_AVAIL] = attr_get_space_avail,
	[FATTR4_SPACE_FREE] = attr_get_space_free,
	[FATTR4_SPACE_TOTAL] = attr_get_space_total,
	[FATTR4_SPACE_USED] = attr_get_space_used,
	[FATTR4_TIME_ACCESS] = attr_get_access_time,
	[FATTR4_TIME_METADATA] = attr_get_change_time,
	[FATTR4_TIME_MODIFY] = attr_get_modify_time,
	[FATTR4_MOUNTED_ON_FILEID] = attr_get_mounted_on,
};

bool
rr_v4_attr_in(const uint32_t have[RR_V4_WORDS], uint32_t number)
{
	return (have[number / 32] & BIT(number)) != 0;
}

/* Tells whether the client has asked for all attributes that the server gave. The server may give fewer than
 * were asked for, because it need not support all. RFC 8881, 18.7.3: "The server MUST return a value for each
 * attribute that the client requests if the attribute is supported". */
static bool
attr_was_asked(const bitmap4 *given, const bitmap4 *asked)
{
	for (uint32_t i = 0; i < given->count; i++) {
		if (given->values[i] & ~(i < asked->count ? asked->values[i] : 0))
			return false;
	}
	return true;
}

bool
rr_v4_attr_take(const fattr4 *given, const bitmap4 *asked, struct rr_v4_attributes *taken)
{
	const struct rpcrdma_message values = { .stream = given->attr_vals.data,
		.length = given->attr_vals.length };
	struct rpcrdma_xdr_reader reader;

	memset(taken, 0, sizeof(*taken));
	if (!attr_was_asked(&given->attrmask, asked))
		return false;
	rpcrdma_xdr_reader_init(&reader, &values, NULL);
	for (uint32_t i = 0; i < rr_min(given->attrmask.count, RR_V4_WORDS); i++) {
		taken->have[i] = given->attrmask.values[i];
		/* From the lowest bit to the highest: the values are in the order of the attributes' numbers.
		 * Each has a row, as it was asked for. */
		for (uint32_t left = taken->have[i]; left != 0; left &= left - 1)
			attr_rows[32 * i + (uint32_t)__builtin_ctz(left)](&reader, taken);
	}
	return rpcrdma_xdr_done(&reader);
}

/* ---- Attributes to be set ---- */

/* Attributes to be set: the words of their bitmap, and the writer of their values. */
struct attr_writer {
	uint32_t *words;
	struct rpcrdma_xdr_writer values;
};

/* Adds the attribute of this number to the bitmap of the attributes to be set. Returns the writer with which
 * the caller then encodes its value. */
static struct rpcrdma_xdr_writer *
attr_add(struct attr_writer *writer, uint32_t number)
{
	writer->words[number / 32] |= BIT(number);
	return &writer->values;
}

/* Adds the attribute of this number, a user or a group, and encodes its value as decimal digits. */
static void
attr_put_number(struct attr_writer *writer, uint32_t number, uint32_t value)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", value);

	rpcrdma_put_bytes(attr_add(writer, number), (struct rpcrdma_bytes){ text, (uint32_t)length },
		RPCRDMA_XDR_UNBOUNDED);
}

/* Adds the attribute of this number, a time that is to be set, and encodes it: the given time if the bit `to`
 * is in the mask, or that the server is to take its own time if the bit `now` is in it. Adds nothing if
 * neither is. */
static void
attr_put_time(
	struct attr_writer *writer, uint32_t number, uint32_t mask, uint32_t to, struct rr_vfs_time time)
{
	const uint32_t now = to << 1;
	struct rpcrdma_xdr_writer *values;

	if (!(mask & (to | now)))
		return;
	values = attr_add(writer, number);
	rpcrdma_put_u32(values, mask & to ? SET_TO_CLIENT_TIME4 : SET_TO_SERVER_TIME4);
	if (!(mask & to))
		return;
	rpcrdma_put_i64(values, time.seconds);
	rpcrdma_put_u32(values, time.nanoseconds);
}

_Static_assert(RR_VFS_SET_ACCESS_NOW == RR_VFS_SET_ACCESS_TIME << 1 &&
		       RR_VFS_SET_MODIFY_NOW == RR_VFS_SET_MODIFY_TIME << 1,
	"the bit for the server's time is the one above that for a given time");

fattr4
rr_v4_attr_set(const struct rr_vfs_set *set, uint32_t words[RR_V4_WORDS], uint8_t values[RR_V4_VALUES])
{
	struct attr_writer writer = { .words = words };

	memset(words, 0, RR_V4_WORDS * sizeof(*words));
	rpcrdma_xdr_writer_init(&writer.values, values, RR_V4_VALUES, NULL, 0);
	/* The values must be in the order of the attributes' numbers. */
	if (set->mask & RR_VFS_SET_SIZE)
		rpcrdma_put_u64(attr_add(&writer, FATTR4_SIZE), set->size);
	if (set->mask & RR_VFS_SET_MODE)
		rpcrdma_put_u32(attr_add(&writer, FATTR4_MODE), set->mode);
	if (set->mask & RR_VFS_SET_UID)
		attr_put_number(&writer, FATTR4_OWNER, set->uid);
	if (set->mask & RR_VFS_SET_GID)
		attr_put_number(&writer, FATTR4_OWNER_GROUP, set->gid);
	attr_put_time(&writer, FATTR4_TIME_ACCESS_SET, set->mask, RR_VFS_SET_ACCESS_TIME, set->access_time);
	attr_put_time(&writer, FATTR4_TIME_MODIFY_SET, set->mask, RR_VFS_SET_MODIFY_TIME, set->modify_time);
	/* The bitmap ends with its last word that is not zero. */
	return (fattr4){ { words[1]         ? 2
				 : words[0] ? 1
					    : 0,
				 words },
		{ values, (uint32_t)rpcrdma_xdr_length(&writer.values) } };
}
