/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of attributes that can be set, rr_attr_sets, and the functions that read them, set_get_NAME(). */
#include <stdio.h>

#include "vfs/fattr4/acl.h"

/* ---- Texts and times ---- */

/* RFC 8881, 5.9: "owner and group strings that consist of decimal numeric values with no leading zeros". */
void
rr_attr_put_number(struct rpcrdma_xdr_writer *writer, uint32_t number)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", number);

	rpcrdma_put_bytes(writer, (struct rpcrdma_bytes){ text, (uint32_t)length }, RPCRDMA_XDR_UNBOUNDED);
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

/* The head of the function that reads the value of the attribute `name` that a client sets. */
#define SET_GET(name)                                                                                        \
	static nfsstat4 set_get_##name(struct rpcrdma_xdr_reader *reader,                                    \
		const struct rr_attr_getting *getting, struct rr_vfs_set *set)

/* Reads a size. Returns NFS4ERR_FBIG for a size that no file of the storage can have. */
SET_GET(size)
{
	(void)getting;
	set->size = rpcrdma_get_u64(reader);
	return set->size > INT64_MAX ? NFS4ERR_FBIG : NFS4_OK;
}

/* Reads a mode. Returns NFS4ERR_INVAL if it has other bits than those of a mode4. */
SET_GET(mode)
{
	(void)getting;
	set->mode = rpcrdma_get_u32(reader);
	return set->mode > 07777 ? NFS4ERR_INVAL : NFS4_OK;
}

/* Reads a mode and a umask into `set`: RFC 8275, 4.2. Returns NFS4ERR_INVAL if the mode has unknown bits, or
 * the umask has other bits than the nine permission bits. */
SET_GET(mode_umask)
{
	(void)getting;
	set->mode = rpcrdma_get_u32(reader);
	set->umask = rpcrdma_get_u32(reader);
	return set->mode > 07777 || set->umask > 0777 ? NFS4ERR_INVAL : NFS4_OK;
}

/* Reads a user or group, by number or by name, into *number. Returns NFS4ERR_INVAL for an empty text,
 * NFS4ERR_BADOWNER for one that names nobody, and NFS4ERR_DELAY if that is not known yet. RFC 8881, 5.9:
 * "SHOULD return an error (NFS4ERR_BADOWNER) when a string is presented that has no translation" */
static nfsstat4
set_get_who(
	struct rpcrdma_xdr_reader *reader, const struct rr_idmap_asking *asking, bool group, uint32_t *number)
{
	struct rpcrdma_bytes text = rpcrdma_get_bytes(reader, RPCRDMA_XDR_UNBOUNDED);

	if (reader->failed)
		return NFS4ERR_BADXDR;
	if (text.length == 0)
		return NFS4ERR_INVAL;
	switch (rr_idmap_number(asking, text, group, number)) {
	case RR_IDMAP_FOUND: return NFS4_OK;
	case RR_IDMAP_NONE: return NFS4ERR_BADOWNER;
	default: return NFS4ERR_DELAY;
	}
}

SET_GET(owner)
{
	return set_get_who(reader, &getting->asking, false, &set->uid);
}

SET_GET(owner_group)
{
	return set_get_who(reader, &getting->asking, true, &set->gid);
}

SET_GET(acl)
{
	(void)set;
	return getting->acl ? rr_attr_get_acl(reader, &getting->asking, getting->acl) : NFS4ERR_ATTRNOTSUPP;
}

/* RFC 8881, 6.2.3.2, has flags for the inheritance of lists that change later, which POSIX does not have. */
SET_GET(dacl)
{
	uint32_t flags = rpcrdma_get_u32(reader);
	nfsstat4 status = set_get_acl(reader, getting, set);

	return status == NFS4_OK && flags != 0 ? NFS4ERR_ATTRNOTSUPP : status;
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

SET_GET(time_access_set)
{
	(void)getting;
	return set_get_settime(reader, &set->access_time, RR_VFS_SET_ACCESS_NOW, &set->mask);
}

SET_GET(time_modify_set)
{
	(void)getting;
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

const struct rr_attr_set rr_attr_sets[RR_ATTR_COUNT] = {
	[FATTR4_SIZE] = { set_get_size, RR_VFS_SET_SIZE },
	[FATTR4_ACL] = { set_get_acl, RR_ATTR_SET_ACL },
	[FATTR4_DACL] = { set_get_dacl, RR_ATTR_SET_ACL },
	[FATTR4_MODE] = { set_get_mode, RR_VFS_SET_MODE },
	[FATTR4_OWNER] = { set_get_owner, RR_VFS_SET_UID },
	[FATTR4_OWNER_GROUP] = { set_get_owner_group, RR_VFS_SET_GID },
	[FATTR4_TIME_ACCESS_SET] = { set_get_time_access_set, TIMES_ACCESS },
	[FATTR4_TIME_MODIFY_SET] = { set_get_time_modify_set, TIMES_MODIFY },
	[RR_ATTR_MODE_UMASK] = { set_get_mode_umask, RR_VFS_SET_MODE | RR_VFS_SET_UMASK },
};
