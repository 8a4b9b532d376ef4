/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/attr.h"

static const ftype3 types[] = {
	[RR_VFS_FILE] = NF3REG,
	[RR_VFS_DIRECTORY] = NF3DIR,
	[RR_VFS_BLOCK_DEVICE] = NF3BLK,
	[RR_VFS_CHARACTER_DEVICE] = NF3CHR,
	[RR_VFS_LINK] = NF3LNK,
	[RR_VFS_SOCKET] = NF3SOCK,
	[RR_VFS_FIFO] = NF3FIFO,
};

nfstime3
rr_nfs_time(struct rr_vfs_time time)
{
	return (nfstime3){ (uint32_t)time.seconds, time.nanoseconds };
}

void
rr_nfs_fattr(const struct rr_vfs_attributes *given, fattr3 *attributes)
{
	*attributes = (fattr3){
		.type = types[given->type],
		.mode = given->mode,
		.nlink = given->links,
		.uid = given->uid,
		.gid = given->gid,
		.size = given->size,
		.used = given->used,
		.rdev = { given->device[0], given->device[1] },
		.fsid = given->id.fsid[0],
		.fileid = given->id.number,
		.atime = rr_nfs_time(given->access_time),
		.mtime = rr_nfs_time(given->modify_time),
		.ctime = rr_nfs_time(given->change_time),
	};
}

void
rr_nfs_post_op(const struct rr_vfs_known *known, post_op_attr *attributes)
{
	attributes->attributes_follow = known->valid;
	if (known->valid)
		rr_nfs_fattr(&known->attributes, &attributes->u.attributes);
}

void
rr_nfs_wcc(const struct rr_vfs_change *change, wcc_data *wcc)
{
	wcc->before.attributes_follow = change->exact;
	wcc->before.u.attributes = (wcc_attr){
		.size = change->before.size,
		.mtime = rr_nfs_time(change->before.modify_time),
		.ctime = rr_nfs_time(change->before.change_time),
	};
	rr_nfs_post_op(&change->after, &wcc->after);
}

/* Stores the given time in *time. Returns the bit for the mask of attributes that are to be set: "now" if the
 * time becomes the server's own time, "to" if it becomes the given time, 0 if it stays as it is. */
static uint32_t
attr_time(enum time_how how, nfstime3 given, uint32_t now, uint32_t to, struct rr_vfs_time *time)
{
	*time = (struct rr_vfs_time){ given.seconds, given.nseconds };
	if (how == SET_TO_SERVER_TIME)
		return now;
	return how == SET_TO_CLIENT_TIME ? to : 0;
}

void
rr_nfs_set(const sattr3 *attributes, struct rr_vfs_set *set)
{
	*set = (struct rr_vfs_set){
		.mask = (attributes->mode.set_it ? RR_VFS_SET_MODE : 0) |
			(attributes->uid.set_it ? RR_VFS_SET_UID : 0) |
			(attributes->gid.set_it ? RR_VFS_SET_GID : 0) |
			(attributes->size.set_it ? RR_VFS_SET_SIZE : 0),
		.mode = attributes->mode.u.mode,
		.uid = attributes->uid.u.uid,
		.gid = attributes->gid.u.gid,
		.size = attributes->size.u.size,
	};
	set->mask |= attr_time(attributes->atime.set_it, attributes->atime.u.atime, RR_VFS_SET_ACCESS_NOW,
		RR_VFS_SET_ACCESS_TIME, &set->access_time);
	set->mask |= attr_time(attributes->mtime.set_it, attributes->mtime.u.mtime, RR_VFS_SET_MODIFY_NOW,
		RR_VFS_SET_MODIFY_TIME, &set->modify_time);
}
