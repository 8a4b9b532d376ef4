/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfs/fattr3.h"

static struct rr_vfs_time
fattr3_time(nfstime3 time)
{
	return (struct rr_vfs_time){ time.seconds, time.nseconds };
}

/* The numbers of the types are those of vfs.h. */
void
rr_fattr3_take(const fattr3 *given, struct rr_vfs_attributes *attributes)
{
	_Static_assert(
		(int)RR_VFS_FILE == (int)NF3REG && (int)RR_VFS_FIFO == (int)NF3FIFO, "the same numbers");
	*attributes = (struct rr_vfs_attributes){
		.type = (enum rr_vfs_type)given->type,
		.mode = given->mode & 07777,
		.links = given->nlink,
		.uid = given->uid,
		.gid = given->gid,
		.device = { given->rdev.specdata1, given->rdev.specdata2 },
		.size = given->size,
		.used = given->used,
		.id = { .fsid = { given->fsid }, .number = given->fileid },
		.access_time = fattr3_time(given->atime),
		.modify_time = fattr3_time(given->mtime),
		.change_time = fattr3_time(given->ctime),
	};
}

static bool
fattr3_has_time(struct rr_vfs_time time)
{
	return time.seconds >= 0 && time.seconds <= UINT32_MAX;
}

bool
rr_fattr3_can_set(const struct rr_vfs_set *set)
{
	return (!(set->mask & RR_VFS_SET_ACCESS_TIME) || fattr3_has_time(set->access_time)) &&
	       (!(set->mask & RR_VFS_SET_MODIFY_TIME) || fattr3_has_time(set->modify_time));
}

/* Returns how a time is set: `to` and `now` are the bits of the mask that stand for the given time and for
 * the server's. */
static enum time_how
fattr3_how(uint32_t mask, uint32_t to, uint32_t now)
{
	return mask & to ? SET_TO_CLIENT_TIME : mask & now ? SET_TO_SERVER_TIME : DONT_CHANGE;
}

sattr3
rr_fattr3_give(const struct rr_vfs_set *set)
{
	return (sattr3){
		.mode = { (set->mask & RR_VFS_SET_MODE) != 0, { set->mode } },
		.uid = { (set->mask & RR_VFS_SET_UID) != 0, { set->uid } },
		.gid = { (set->mask & RR_VFS_SET_GID) != 0, { set->gid } },
		.size = { (set->mask & RR_VFS_SET_SIZE) != 0, { set->size } },
		.atime = { fattr3_how(set->mask, RR_VFS_SET_ACCESS_TIME, RR_VFS_SET_ACCESS_NOW),
			{ { (uint32_t)set->access_time.seconds, set->access_time.nanoseconds } } },
		.mtime = { fattr3_how(set->mask, RR_VFS_SET_MODIFY_TIME, RR_VFS_SET_MODIFY_NOW),
			{ { (uint32_t)set->modify_time.seconds, set->modify_time.nanoseconds } } },
	};
}
