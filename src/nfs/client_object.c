/* SPDX-License-Identifier: BSD-3-Clause */
/* This file translates attributes between the public interface and the procedures (procedure.h). */
#include <string.h>

#include "nfs/client_private.h"
#include "vfs/fattr3.h"

static struct rpcrdma_nfs_time
object_time(struct rr_vfs_time time)
{
	return (struct rpcrdma_nfs_time){ time.seconds, time.nanoseconds };
}

/* Copies a name, and closes it by a zero. One that is too long, or has a zero in it, is left out. */
static void
object_name(char text[RPCRDMA_NFS_OWNER_MAX + 1], struct rpcrdma_bytes name)
{
	if (name.length > RPCRDMA_NFS_OWNER_MAX || (name.length > 0 && memchr(name.data, 0, name.length)))
		name.length = 0;
	if (name.length > 0)
		memcpy(text, name.data, name.length);
	text[name.length] = '\0';
}

void
rr_nfs_object_describe(struct rpcrdma_nfs_object *object, const struct rr_nfs_attributes *attributes)
{
	const struct rr_vfs_attributes *vfs = &attributes->vfs;

	_Static_assert((int)RPCRDMA_NFS_FIFO == (int)RR_VFS_FIFO, "the same types");
	*object = (struct rpcrdma_nfs_object){
		.size = sizeof(*object),
		.handle = object->handle,
		.type = (enum rpcrdma_nfs_type)vfs->type,
		.mode = vfs->mode,
		.links = vfs->links,
		.uid = vfs->uid,
		.gid = vfs->gid,
		.length = vfs->size,
		.used = vfs->used,
		.filesystem = { vfs->id.fsid[0], vfs->id.fsid[1] },
		.number = vfs->id.number,
		.change = vfs->change,
		.device_major = vfs->device[0],
		.device_minor = vfs->device[1],
		.accessed = object_time(vfs->access_time),
		.modified = object_time(vfs->modify_time),
		.changed = object_time(vfs->change_time),
	};
	object_name(object->owner, attributes->owner);
	object_name(object->group, attributes->group);
}

int
rr_nfs_change_set(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_changes *changes, struct rr_vfs_set *set)
{
	*set = (struct rr_vfs_set){
		.mask = (changes->set_mode ? RR_VFS_SET_MODE : 0) | (changes->set_uid ? RR_VFS_SET_UID : 0) |
			(changes->set_gid ? RR_VFS_SET_GID : 0) |
			(changes->set_length ? RR_VFS_SET_SIZE : 0) |
			(changes->set_accessed ? RR_VFS_SET_ACCESS_TIME : 0) |
			(changes->set_modified ? RR_VFS_SET_MODIFY_TIME : 0),
		.mode = changes->mode,
		.uid = changes->uid,
		.gid = changes->gid,
		.size = changes->length,
		.access_time = { changes->accessed.seconds, changes->accessed.nanoseconds },
		.modify_time = { changes->modified.seconds, changes->modified.nanoseconds },
	};
	if (nfs->v4 || rr_fattr3_can_set(set))
		return 0;
	return rr_nfs_fail(nfs, -RPCRDMA_ERR_NOTSUP, "%s", RR_NFS_TIMES);
}

bool
rr_nfs_is_same(const struct rpcrdma_nfs_object *a, const struct rpcrdma_nfs_object *b)
{
	return a->filesystem.major == b->filesystem.major && a->filesystem.minor == b->filesystem.minor &&
	       a->number == b->number;
}

bool
rr_nfs_has_time(const struct rpcrdma_nfs *nfs, struct rpcrdma_nfs_time time)
{
	const struct rr_vfs_set set = { .mask = RR_VFS_SET_MODIFY_TIME,
		.modify_time = { time.seconds, time.nanoseconds } };

	return nfs->v4 || rr_fattr3_can_set(&set);
}
