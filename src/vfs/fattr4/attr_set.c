/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of attributes that can be set, rr_attr_sets, and the functions that read them, set_get_NAME(),
 * and write them, set_give_NAME(). */
#include <stdio.h>

#include "vfs/fattr4/attr.h"

/* ---- Texts and times ---- */

/* RFC 8881, 5.9: "owner and group strings that consist of decimal numeric values with no leading zeros". */
void
rr_attr_put_number(struct rpcrdma_xdr_writer *writer, uint32_t number)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", number);

	rpcrdma_put_bytes(writer, (struct rpcrdma_bytes){ text, (uint32_t)length }, RPCRDMA_XDR_UNBOUNDED);
}

/* RFC 8881, 5.9: a text of digits without an '@' is a number. */
bool
rr_attr_is_number(struct rpcrdma_bytes text, uint32_t *number)
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

void
rr_attr_put_time(struct rpcrdma_xdr_writer *writer, struct rr_vfs_time time)
{
	rpcrdma_put_i64(writer, time.seconds);
	rpcrdma_put_u32(writer, time.nanoseconds);
}

bool
rr_attr_get_time(struct rpcrdma_xdr_reader *reader, struct rr_vfs_time *time)
{
	time->seconds = rpcrdma_get_i64(reader);
	time->nanoseconds = rpcrdma_get_u32(reader);
	/* RFC 8881, 3.3.1: "Values greater than 999,999,999 for nseconds are invalid." */
	return time->nanoseconds <= 999999999;
}

/* ---- What a server sets ---- */

/* Reads a size. Returns NFS4ERR_FBIG for a size that no file of the storage can have. */
static nfsstat4
set_get_size(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	set->size = rpcrdma_get_u64(reader);
	return set->size > INT64_MAX ? NFS4ERR_FBIG : NFS4_OK;
}

/* Reads a mode. Returns NFS4ERR_INVAL if it has other bits than those of a mode4. */
static nfsstat4
set_get_mode(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	set->mode = rpcrdma_get_u32(reader);
	return set->mode > 07777 ? NFS4ERR_INVAL : NFS4_OK;
}

/* Reads a mode and a umask into `set`: RFC 8275, 4.2. Returns NFS4ERR_INVAL if the mode has unknown bits, or
 * the umask has other bits than the nine permission bits. */
static nfsstat4
set_get_mode_umask(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	set->mode = rpcrdma_get_u32(reader);
	set->umask = rpcrdma_get_u32(reader);
	return set->mode > 07777 || set->umask > 0777 ? NFS4ERR_INVAL : NFS4_OK;
}

/* Reads a user or group, which must be a number, into *number. Returns NFS4ERR_INVAL for an empty text, and
 * NFS4ERR_BADOWNER for any other text or a number that is too large. */
static nfsstat4
set_get_number(struct rpcrdma_xdr_reader *reader, uint32_t *number)
{
	struct rpcrdma_bytes text = rpcrdma_get_bytes(reader, RPCRDMA_XDR_UNBOUNDED);

	if (reader->failed)
		return NFS4ERR_BADXDR;
	if (text.length == 0)
		return NFS4ERR_INVAL;
	return rr_attr_is_number(text, number) ? NFS4_OK : NFS4ERR_BADOWNER;
}

static nfsstat4
set_get_owner(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	return set_get_number(reader, &set->uid);
}

static nfsstat4
set_get_owner_group(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	return set_get_number(reader, &set->gid);
}

/* Reads a settime4. If the client asks for the time of the server, the flag `now` (RR_VFS_SET_*_NOW) is added
 * to *sets. If the client gives a time, this time is stored in *time, and the flag in the bit below `now` is
 * added to *sets. Returns NFS4ERR_INVAL if the nanoseconds are a second or more. */
static nfsstat4
set_get_settime(struct rpcrdma_xdr_reader *reader, struct rr_vfs_time *time, uint32_t now, uint32_t *sets)
{
	uint32_t how = rpcrdma_get_u32(reader);

	if (how > SET_TO_CLIENT_TIME4)
		return NFS4ERR_BADXDR;
	if (how == SET_TO_SERVER_TIME4) {
		*sets |= now;
		return NFS4_OK;
	}
	*sets |= now >> 1;
	return rr_attr_get_time(reader, time) ? NFS4_OK : NFS4ERR_INVAL;
}

static nfsstat4
set_get_time_access_set(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	return set_get_settime(reader, &set->access_time, RR_VFS_SET_ACCESS_NOW, &set->mask);
}

static nfsstat4
set_get_time_modify_set(struct rpcrdma_xdr_reader *reader, struct rr_vfs_set *set)
{
	return set_get_settime(reader, &set->modify_time, RR_VFS_SET_MODIFY_NOW, &set->mask);
}

_Static_assert(RR_VFS_SET_ACCESS_NOW >> 1 == RR_VFS_SET_ACCESS_TIME &&
		       RR_VFS_SET_MODIFY_NOW >> 1 == RR_VFS_SET_MODIFY_TIME,
	"the bit for a given time is the one below that for the present");

/* The two bits of each settable time: the client gives the server's present time, or a time of its own. */
enum {
	TIMES_ACCESS = RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_ACCESS_TIME,
	TIMES_MODIFY = RR_VFS_SET_MODIFY_NOW | RR_VFS_SET_MODIFY_TIME
};

/* ---- What a client sets ---- */

static void
set_give_size(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	rpcrdma_put_u64(writer, set->size);
}

static void
set_give_mode(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	rpcrdma_put_u32(writer, set->mode);
}

static void
set_give_owner(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	rr_attr_put_number(writer, set->uid);
}

static void
set_give_owner_group(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	rr_attr_put_number(writer, set->gid);
}

/* Writes a settime4: the time of the server if `now` is true, else the given time. */
static void
set_give_settime(struct rpcrdma_xdr_writer *writer, bool now, struct rr_vfs_time time)
{
	rpcrdma_put_u32(writer, now ? SET_TO_SERVER_TIME4 : SET_TO_CLIENT_TIME4);
	if (!now)
		rr_attr_put_time(writer, time);
}

static void
set_give_time_access_set(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	set_give_settime(writer, set->mask & RR_VFS_SET_ACCESS_NOW, set->access_time);
}

static void
set_give_time_modify_set(struct rpcrdma_xdr_writer *writer, const struct rr_vfs_set *set)
{
	set_give_settime(writer, set->mask & RR_VFS_SET_MODIFY_NOW, set->modify_time);
}

const struct rr_attr_set rr_attr_sets[RR_ATTR_COUNT] = {
	[FATTR4_SIZE] = { set_get_size, set_give_size, RR_VFS_SET_SIZE },
	[FATTR4_MODE] = { set_get_mode, set_give_mode, RR_VFS_SET_MODE },
	[FATTR4_OWNER] = { set_get_owner, set_give_owner, RR_VFS_SET_UID },
	[FATTR4_OWNER_GROUP] = { set_get_owner_group, set_give_owner_group, RR_VFS_SET_GID },
	[FATTR4_TIME_ACCESS_SET] = { set_get_time_access_set, set_give_time_access_set, TIMES_ACCESS },
	[FATTR4_TIME_MODIFY_SET] = { set_get_time_modify_set, set_give_time_modify_set, TIMES_MODIFY },
	[RR_ATTR_MODE_UMASK] = { set_get_mode_umask, NULL, RR_VFS_SET_MODE | RR_VFS_SET_UMASK },
};
