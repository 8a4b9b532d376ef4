/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations on single objects: getattr, setattr, access, readlink, statfs, limits. vfs.h
 * describes what each of them does, with its arguments and results. */
#include <string.h>

#include "node.h"
#include "run.h"

enum rr_vfs_status
rr_memory_getattr(struct rr_memory_run *run)
{
	((struct rr_vfs_getattr *)run->call)->attributes = run->node->attributes;
	return RR_VFS_OK;
}

static enum rr_vfs_status
attribute_set_size(struct rr_memory_run *run, struct rr_vfs_setattr *setattr)
{
	enum rr_vfs_status status;

	if (!(setattr->set.mask & RR_VFS_SET_SIZE))
		return RR_VFS_OK;
	if (run->node->attributes.type != RR_VFS_FILE)
		return RR_VFS_INVAL;
	status = rr_memory_may_use(run, &setattr->object, run->node, RR_VFS_SHARE_WRITE);
	if (status == RR_VFS_OK)
		status = rr_memory_set_size(run->memory, run->node, setattr->set.size);
	if (status == RR_VFS_OK)
		setattr->applied |= RR_VFS_SET_SIZE;
	return status;
}

enum rr_vfs_status
rr_memory_setattr(struct rr_memory_run *run)
{
	struct rr_vfs_setattr *setattr = (struct rr_vfs_setattr *)run->call;
	const struct rr_vfs_time *time = &run->node->attributes.change_time;
	enum rr_vfs_status status;

	if (setattr->guarded &&
		(setattr->guard.seconds != time->seconds || setattr->guard.nanoseconds != time->nanoseconds))
		return RR_VFS_NOT_SYNC;
	status = attribute_set_size(run, setattr);
	if (status == RR_VFS_OK)
		status = rr_memory_set_owner(run, run->node, &setattr->set, &setattr->applied);
	if (status == RR_VFS_OK)
		status = rr_memory_set_mode(run, run->node, &setattr->set, &setattr->applied);
	if (status == RR_VFS_OK)
		status = rr_memory_set_times(run, run->node, &setattr->set, &setattr->applied);
	return status;
}

/* Each right, the permission bits that it needs, and the types of objects for which it makes sense. */
static const struct access_right {
	uint32_t right;
	unsigned bits;
	bool directories, files, others;
} access_rights[] = {
	{ RR_VFS_MAY_READ, RR_MEMORY_READ_BIT, true, true, true },
	{ RR_VFS_MAY_LOOKUP, RR_MEMORY_EXECUTE, true, false, false },
	{ RR_VFS_MAY_MODIFY, RR_MEMORY_WRITE_BIT, true, true, true },
	{ RR_VFS_MAY_EXTEND, RR_MEMORY_WRITE_BIT, true, true, true },
	{ RR_VFS_MAY_DELETE, RR_MEMORY_WRITE_BIT, true, false, false },
	{ RR_VFS_MAY_EXECUTE, RR_MEMORY_EXECUTE, false, true, false },
	{ RR_VFS_MAY_XATTR_READ, RR_MEMORY_READ_BIT, true, true, false },
	{ RR_VFS_MAY_XATTR_WRITE, RR_MEMORY_WRITE_BIT, true, true, false },
	{ RR_VFS_MAY_XATTR_LIST, RR_MEMORY_READ_BIT, true, true, false },
};

/* Tells whether the caller has this right (one of those that an access call asks for) on the operation's
 * object. A right to write is never granted where the export is read-only for the caller. directory is true
 * if the object is a directory. */
static bool
attribute_granted(const struct rr_memory_run *run, const struct access_right *right, bool directory)
{
	unsigned bits = right->bits;
	bool xattrs = right->right & (RR_VFS_MAY_XATTR_WRITE);

	/* A caller may change the entries of a directory only where it may search the directory. */
	if (directory && bits == RR_MEMORY_WRITE_BIT && !xattrs)
		bits |= RR_MEMORY_EXECUTE;
	if ((bits & RR_MEMORY_WRITE_BIT) && rr_vfs_is_read_only(&run->vfs->vfs, run->call))
		return false;
	return rr_memory_may(run->node, run->caller, bits);
}

enum rr_vfs_status
rr_memory_access(struct rr_memory_run *run)
{
	struct rr_vfs_access *access = (struct rr_vfs_access *)run->call;
	enum rr_vfs_type type = run->node->attributes.type;

	access->supported = access->granted = 0;
	for (size_t i = 0; i < sizeof(access_rights) / sizeof(access_rights[0]); i++) {
		const struct access_right *right = &access_rights[i];
		bool sense = type == RR_VFS_DIRECTORY ? right->directories
			     : type == RR_VFS_FILE    ? right->files
						      : right->others;

		if (!(access->asked & right->right) || !sense)
			continue;
		access->supported |= right->right;
		if (attribute_granted(run, right, type == RR_VFS_DIRECTORY))
			access->granted |= right->right;
	}
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_readlink(struct rr_memory_run *run)
{
	struct rr_vfs_readlink *readlink = (struct rr_vfs_readlink *)run->call;
	const struct rr_memory_node *node = run->node;

	if (node->attributes.type != RR_VFS_LINK)
		return RR_VFS_WRONG_TYPE;
	if (node->target_length > readlink->size)
		return RR_VFS_NAME_TOO_LONG;
	memcpy(readlink->target, node->target, node->target_length);
	readlink->length = node->target_length;
	return RR_VFS_OK;
}

static uint64_t
attribute_free_space(uint64_t bound, uint64_t used)
{
	return used < bound ? bound - used : 0;
}

enum rr_vfs_status
rr_memory_statfs(struct rr_memory_run *run)
{
	struct rr_vfs_statfs *statfs = (struct rr_vfs_statfs *)run->call;
	const struct rr_memory_limit *all = &run->memory->all;

	statfs->octets = all->octets;
	statfs->octets_free = statfs->octets_for_all = attribute_free_space(all->octets, all->octets_used);
	statfs->files = all->files;
	statfs->files_free = statfs->files_for_all = attribute_free_space(all->files, all->files_used);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_memory_limits(struct rr_memory_run *run)
{
	struct rr_vfs_limits *limits = (struct rr_vfs_limits *)run->call;

	limits->file_max = run->memory->config.file_max;
	limits->link_max = run->memory->config.link_max;
	limits->name_max = RR_VFS_NAME_MAX;
	limits->clone_block = RR_MEMORY_PAGE;
	limits->time_delta = (struct rr_vfs_time){ 0, 1 };
	limits->xattrs = true;
	limits->case_insensitive = false;
	limits->case_preserving = true;
	return RR_VFS_OK;
}
