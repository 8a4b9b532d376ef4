/* SPDX-License-Identifier: BSD-3-Clause */
/* This file sets attributes, of existing and of new objects. */
#include "node.h"
#include "pages.h"
#include "run.h"

enum { SET_NANOSECONDS = 1000000000 };
enum { SET_MODE = 07777, SET_UID = 04000, SET_GID = 02000, SET_GROUP_EXECUTE = 00010 };

enum rr_vfs_status
rr_memory_set_size(struct rr_memory *memory, struct rr_memory_node *node, uint64_t size)
{
	if (size > memory->config.file_max)
		return RR_VFS_FBIG;
	rr_memory_pages_resize(memory, node, size);
	rr_memory_touch(memory, node, true);
	return RR_VFS_OK;
}

/* Tells whether the caller may set the user and the group that "set" asks for: user 0 may set any; the owner
 * of the object may only keep the user, and choose a group that it is in; no other caller may set them. */
static bool
set_may_own(
	const struct rr_memory_node *node, const struct rr_vfs_caller *caller, const struct rr_vfs_set *set)
{
	const struct rr_vfs_attributes *attributes = &node->attributes;

	if (caller->uid == 0)
		return true;
	if (caller->uid != attributes->uid)
		return false;
	if ((set->mask & RR_VFS_SET_UID) && set->uid != attributes->uid)
		return false;
	return !(set->mask & RR_VFS_SET_GID) || set->gid == attributes->gid ||
	       rr_memory_in_group(caller, set->gid);
}

enum rr_vfs_status
rr_memory_set_owner(struct rr_memory_run *run, struct rr_memory_node *node, const struct rr_vfs_set *set,
	uint32_t *applied)
{
	struct rr_vfs_attributes *attributes = &node->attributes;

	if (!(set->mask & (RR_VFS_SET_UID | RR_VFS_SET_GID)))
		return RR_VFS_OK;
	if (((set->mask & RR_VFS_SET_UID) && set->uid == UINT32_MAX) ||
		((set->mask & RR_VFS_SET_GID) && set->gid == UINT32_MAX))
		return RR_VFS_INVAL;
	if (!set_may_own(node, run->caller, set))
		return RR_VFS_PERM;
	if (set->mask & RR_VFS_SET_UID) {
		rr_memory_recharge(run->memory, node, set->uid);
		attributes->uid = set->uid;
	}
	if (set->mask & RR_VFS_SET_GID)
		attributes->gid = set->gid;
	/* The bits that let a program run as its owner are removed, as the file may have another owner from
	 * now on. */
	if (attributes->type == RR_VFS_FILE) {
		attributes->mode &= ~(uint32_t)SET_UID;
		if (attributes->mode & SET_GROUP_EXECUTE)
			attributes->mode &= ~(uint32_t)SET_GID;
	}
	*applied |= set->mask & (RR_VFS_SET_UID | RR_VFS_SET_GID);
	rr_memory_touch(run->memory, node, false);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_set_mode(struct rr_memory_run *run, struct rr_memory_node *node, const struct rr_vfs_set *set,
	uint32_t *applied)
{
	struct rr_vfs_attributes *attributes = &node->attributes;
	uint32_t mode = set->mode & SET_MODE;

	if (!(set->mask & RR_VFS_SET_MODE))
		return RR_VFS_OK;
	/* A symbolic link has no mode of its own, and clients send one with each new link. */
	if (attributes->type == RR_VFS_LINK)
		return RR_VFS_OK;
	if (!rr_memory_is_owner(node, run->caller))
		return RR_VFS_PERM;
	/* Only a member of the file's group may let a program run with the rights of that group. */
	if (run->caller->uid != 0 && !rr_memory_in_group(run->caller, attributes->gid))
		mode &= ~(uint32_t)SET_GID;
	attributes->mode = mode;
	*applied |= RR_VFS_SET_MODE;
	rr_memory_touch(run->memory, node, false);
	return RR_VFS_OK;
}

/* Returns RR_VFS_OK where the caller may set the times that mask names: the owner may set any times, and a
 * caller with permission to write may set them to the present. Else RR_VFS_PERM or RR_VFS_ACCESS. */
static enum rr_vfs_status
set_may_time(const struct rr_memory_run *run, const struct rr_memory_node *node, uint32_t mask)
{
	if (rr_memory_is_owner(node, run->caller))
		return RR_VFS_OK;
	if (mask & (RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_MODIFY_TIME))
		return RR_VFS_PERM;
	return rr_memory_may(node, run->caller, RR_MEMORY_WRITE_BIT) ? RR_VFS_OK : RR_VFS_ACCESS;
}

enum rr_vfs_status
rr_memory_set_times(struct rr_memory_run *run, struct rr_memory_node *node, const struct rr_vfs_set *set,
	uint32_t *applied)
{
	const uint32_t times = RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_TIME |
			       RR_VFS_SET_MODIFY_NOW;
	uint32_t mask = set->mask & times;
	struct rr_vfs_attributes *attributes = &node->attributes;
	enum rr_vfs_status status;

	if (!mask)
		return RR_VFS_OK;
	if (((mask & RR_VFS_SET_ACCESS_TIME) && set->access_time.nanoseconds >= SET_NANOSECONDS) ||
		((mask & RR_VFS_SET_MODIFY_TIME) && set->modify_time.nanoseconds >= SET_NANOSECONDS))
		return RR_VFS_INVAL;
	status = set_may_time(run, node, mask);
	if (status != RR_VFS_OK)
		return status;
	rr_memory_touch(run->memory, node, false);
	if (mask & RR_VFS_SET_ACCESS_TIME)
		attributes->access_time = set->access_time;
	if (mask & RR_VFS_SET_ACCESS_NOW)
		attributes->access_time = attributes->change_time;
	if (mask & RR_VFS_SET_MODIFY_TIME)
		attributes->modify_time = set->modify_time;
	if (mask & RR_VFS_SET_MODIFY_NOW)
		attributes->modify_time = attributes->change_time;
	*applied |= mask;
	return RR_VFS_OK;
}
