/* SPDX-License-Identifier: BSD-3-Clause */
/* This file decides by the mode of an object, its owner and its opens what a caller may do. */
#include "node.h"
#include "run.h"

enum { MAY_STICKY = 01000 };

bool
rr_memory_in_group(const struct rr_vfs_caller *caller, uint32_t gid)
{
	if (caller->gid == gid)
		return true;
	for (uint32_t i = 0; i < caller->group_count; i++)
		if (caller->groups[i] == gid)
			return true;
	return false;
}

bool
rr_memory_is_owner(const struct rr_memory_node *node, const struct rr_vfs_caller *caller)
{
	return caller->uid == 0 || caller->uid == node->attributes.uid;
}

bool
rr_memory_may(const struct rr_memory_node *node, const struct rr_vfs_caller *caller, unsigned bits)
{
	const struct rr_vfs_attributes *attributes = &node->attributes;
	unsigned mode = attributes->mode;

	/* User 0 may execute a file that at least one user may execute. */
	if (caller->uid == 0)
		return !(bits & RR_MEMORY_EXECUTE) || attributes->type == RR_VFS_DIRECTORY || (mode & 0111);
	if (caller->uid == attributes->uid)
		mode >>= 6;
	else if (rr_memory_in_group(caller, attributes->gid))
		mode >>= 3;
	return (mode & bits) == bits;
}

enum rr_vfs_status
rr_memory_may_change(const struct rr_memory_node *directory, const struct rr_vfs_caller *caller)
{
	if (!rr_memory_may(directory, caller, RR_MEMORY_WRITE_BIT | RR_MEMORY_EXECUTE))
		return RR_VFS_ACCESS;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_may_delete(const struct rr_memory_node *directory, const struct rr_memory_node *node,
	const struct rr_vfs_caller *caller)
{
	enum rr_vfs_status status = rr_memory_may_change(directory, caller);

	if (status != RR_VFS_OK)
		return status;
	if ((directory->attributes.mode & MAY_STICKY) && !rr_memory_is_owner(directory, caller) &&
		!rr_memory_is_owner(node, caller))
		return RR_VFS_PERM;
	return RR_VFS_OK;
}

/* Tells whether the caller may use the file with this access (RR_VFS_SHARE_*): the owner always may, other
 * callers by the mode of the file, where permission to execute is enough for reading. RFC 1813, 4.4: "the
 * server's permission checking algorithm should allow the owner of a file to access it regardless of the
 * permission setting", and "the server allows reading of files if the uid given in the call has either
 * execute or read permission on the file". */
static bool
may_by_permission(const struct rr_memory_node *node, const struct rr_vfs_caller *caller, uint32_t access)
{
	if (rr_memory_is_owner(node, caller))
		return true;
	if ((access & RR_VFS_SHARE_WRITE) && !rr_memory_may(node, caller, RR_MEMORY_WRITE_BIT))
		return false;
	return !(access & RR_VFS_SHARE_READ) || rr_memory_may(node, caller, RR_MEMORY_READ_BIT) ||
	       rr_memory_may(node, caller, RR_MEMORY_EXECUTE);
}

static enum rr_vfs_status
may_by_type(const struct rr_memory_node *node)
{
	switch (node->attributes.type) {
	case RR_VFS_FILE: return RR_VFS_OK;
	case RR_VFS_DIRECTORY: return RR_VFS_ISDIR;
	default: return RR_VFS_WRONG_TYPE;
	}
}

enum rr_vfs_status
rr_memory_may_use(struct rr_memory_run *run, const struct rr_vfs_object *object, struct rr_memory_node *node,
	uint32_t access)
{
	enum rr_vfs_status status = may_by_type(node);

	if (status != RR_VFS_OK)
		return status;
	if (object->open)
		return (object->open->reservation.access & access) == access ? RR_VFS_OK : RR_VFS_OPEN_MODE;
	if (!may_by_permission(node, run->caller, access))
		return RR_VFS_ACCESS;
	if (!object->reserved && rr_memory_denied(run->memory, node, access))
		return RR_VFS_LOCKED;
	return access & RR_VFS_SHARE_WRITE ? rr_memory_recall(node, NULL) : RR_VFS_OK;
}
