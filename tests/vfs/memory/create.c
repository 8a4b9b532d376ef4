/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation create. vfs.h describes it, with its arguments and results. */
#include <string.h>

#include "node.h"
#include "run.h"

enum { CREATE_SET_GID = 02000, CREATE_MODE = 07777 };

/* Copies the target of a new symbolic link into the link's node. Does nothing for other types. Returns
 * RR_VFS_BUSY if there is no memory. */
static enum rr_vfs_status
create_target(struct rr_memory_run *run, const struct rr_vfs_create *create, struct rr_memory_node *node)
{
	struct rpcrdma_bytes target = create->target;

	if (create->type != RR_VFS_LINK)
		return RR_VFS_OK;
	node->target = rr_alloc(run->memory->env, target.length);
	if (!node->target)
		return RR_VFS_BUSY;
	memcpy(node->target, target.data, target.length);
	node->target_length = target.length;
	node->attributes.size = target.length;
	return RR_VFS_OK;
}

/* Puts the client's verifier into the times that are to be set on the new file. By the verifier a repeated
 * exclusive creation is recognized. */
static void
create_verifier(const struct rr_vfs_create *create, struct rr_vfs_set *set)
{
	struct rr_vfs_time times[2];

	set->mask &= ~(uint32_t)(RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_NOW);
	set->mask |= RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_MODIFY_TIME;
	rr_vfs_verifier_times(create->verifier, times);
	set->access_time = times[0];
	set->modify_time = times[1];
}

/* Sets those attributes of a new object that the call asks for, and adds their bits to *applied, except those
 * of times that contain the verifier of an exclusive creation. An owner that the caller may not set is left
 * as it is, unless the call says must_own. */
static enum rr_vfs_status
create_set(struct rr_memory_run *run, const struct rr_vfs_create *create, struct rr_memory_node *node,
	uint32_t *applied)
{
	struct rr_vfs_set set = create->set;
	bool exclusive = create->type == RR_VFS_FILE && create->how == RR_VFS_EXCLUSIVE;
	enum rr_vfs_status status = RR_VFS_OK;
	uint32_t ignored = 0;

	if (exclusive)
		create_verifier(create, &set);
	if ((set.mask & RR_VFS_SET_SIZE) && create->type == RR_VFS_FILE) {
		status = rr_memory_set_size(run->memory, node, set.size);
		*applied |= status == RR_VFS_OK ? RR_VFS_SET_SIZE : 0;
	}
	if (status == RR_VFS_OK)
		status = rr_memory_set_owner(run, node, &set, applied);
	if (status == RR_VFS_PERM && !create->must_own)
		status = RR_VFS_OK;
	/* The mode comes after the owner, because setting the owner may remove bits of it. */
	if (status == RR_VFS_OK && create->type != RR_VFS_LINK && (set.mask & RR_VFS_SET_MODE)) {
		node->attributes.mode = (set.mode & CREATE_MODE) | (node->attributes.mode & CREATE_SET_GID);
		if (set.mask & RR_VFS_SET_UMASK)
			node->attributes.mode &= ~set.umask;
		*applied |= set.mask & (RR_VFS_SET_MODE | RR_VFS_SET_UMASK);
	}
	if (status == RR_VFS_OK)
		status = rr_memory_set_times(run, node, &set, exclusive ? &ignored : applied);
	return status;
}

/* Makes the new object, sets its attributes and adds its name to the directory. After an error the object is
 * freed again, and *made is not to be used. */
static enum rr_vfs_status
create_node(struct rr_memory_run *run, struct rr_vfs_create *create, struct rr_memory_node **made)
{
	const struct rr_vfs_attributes *directory = &run->node->attributes;
	struct rr_memory_make make = { create->type, run->node->export, 0600, run->caller->uid,
		run->caller->gid };
	struct rr_memory_node *node;
	enum rr_vfs_status status;

	if (create->type == RR_VFS_LINK)
		make.mode = 0777;
	if (create->type == RR_VFS_DIRECTORY)
		make.mode = 0700;
	/* An object that is made in a directory with this bit belongs to the directory's group. */
	if (directory->mode & CREATE_SET_GID) {
		make.gid = directory->gid;
		make.mode |= create->type == RR_VFS_DIRECTORY ? CREATE_SET_GID : 0;
	}
	status = rr_memory_node_new(run->memory, &make, &node);
	if (status != RR_VFS_OK)
		return status;
	status = create_target(run, create, node);
	if (create->type == RR_VFS_BLOCK_DEVICE || create->type == RR_VFS_CHARACTER_DEVICE)
		memcpy(node->attributes.device, create->device, sizeof(create->device));
	if (status == RR_VFS_OK)
		status = create_set(run, create, node, &create->applied);
	if (status == RR_VFS_OK)
		status = rr_memory_entry_add(run->memory, run->node, create->name, node);
	if (status != RR_VFS_OK) {
		create->applied = 0;
		rr_memory_node_drop(run->memory, node);
	}
	*made = node;
	return status;
}

/* Tells whether the times of a file contain the verifier of this exclusive creation: the same call, sent
 * before by the client, has then made the file. */
static bool
create_repeated(const struct rr_vfs_create *create, const struct rr_vfs_attributes *attributes)
{
	struct rr_vfs_set set = { 0 };

	create_verifier(create, &set);
	return memcmp(&attributes->access_time.seconds, &set.access_time.seconds, sizeof(int64_t)) == 0 &&
	       attributes->modify_time.seconds == set.modify_time.seconds &&
	       attributes->access_time.nanoseconds == set.access_time.nanoseconds &&
	       attributes->modify_time.nanoseconds == set.modify_time.nanoseconds;
}

/* Decides whether the call may use the existing object that has the name: a file that this exclusive creation
 * has made before (create_repeated()), or, for RR_VFS_UNCHECKED, any regular file. In the latter case also
 * sets the size of the file where the call asks for that. Returns RR_VFS_EXIST if the object may not be used.
 */
static enum rr_vfs_status
create_existing(struct rr_memory_run *run, struct rr_vfs_create *create, struct rr_memory_node *node)
{
	const struct rr_vfs_object object = { 0 };
	enum rr_vfs_status status;

	if (create->type != RR_VFS_FILE || node->attributes.type != RR_VFS_FILE ||
		create->how == RR_VFS_GUARDED)
		return RR_VFS_EXIST;
	if (create->how == RR_VFS_EXCLUSIVE)
		return create_repeated(create, &node->attributes) ? RR_VFS_OK : RR_VFS_EXIST;
	if (!(create->set.mask & RR_VFS_SET_SIZE))
		return RR_VFS_OK;
	status = rr_memory_may_use(run, &object, node, RR_VFS_SHARE_WRITE);
	if (status == RR_VFS_OK)
		status = rr_memory_set_size(run->memory, node, create->set.size);
	if (status == RR_VFS_OK)
		create->applied = RR_VFS_SET_SIZE;
	return status;
}

/* Checks the arguments of a create call: the type, the name, and the target of a symbolic link. Also checks
 * that the object is made in a directory that the caller may search. */
static enum rr_vfs_status
create_check(struct rr_memory_run *run, const struct rr_vfs_create *create)
{
	char text[RR_VFS_NAME_MAX + 1];
	enum rr_vfs_status status;

	if (create->type < RR_VFS_FILE || create->type > RR_VFS_FIFO)
		return RR_VFS_WRONG_TYPE;
	if (run->node->attributes.type != RR_VFS_DIRECTORY)
		return RR_VFS_NOTDIR;
	status = rr_vfs_name(create->name, text);
	if (status != RR_VFS_OK)
		return status;
	if (!rr_memory_may(run->node, run->caller, RR_MEMORY_EXECUTE))
		return RR_VFS_ACCESS;
	if (create->type != RR_VFS_LINK)
		return RR_VFS_OK;
	if (create->target.length > RR_VFS_TARGET_MAX)
		return RR_VFS_NAME_TOO_LONG;
	if (create->target.length == 0 || memchr(create->target.data, 0, create->target.length))
		return RR_VFS_INVAL;
	return RR_VFS_OK;
}

/* Returns RR_VFS_OK where the caller may make the object; else the status that says why not: only user 0
 * makes devices, or the directory may not be changed. */
static enum rr_vfs_status
create_may(const struct rr_memory_run *run, const struct rr_vfs_create *create)
{
	bool device = create->type == RR_VFS_BLOCK_DEVICE || create->type == RR_VFS_CHARACTER_DEVICE;

	if (device && run->caller->uid != 0)
		return RR_VFS_PERM;
	return rr_memory_may_change(run->node, run->caller);
}

/* If the name exists, the call uses the existing object, if create_existing() allows that; else it makes a
 * new one, if create_may() allows that. */
enum rr_vfs_status
rr_memory_create(struct rr_memory_run *run)
{
	struct rr_vfs_create *create = (struct rr_vfs_create *)run->call;
	enum rr_vfs_status status = create_check(run, create);
	const struct rr_memory_entry *entry;
	struct rr_memory_node *node = NULL;

	if (status != RR_VFS_OK)
		return status;
	entry = rr_memory_entry_find(run->memory, run->node, create->name);
	if (entry) {
		node = entry->node;
		status = create_existing(run, create, node);
	} else {
		status = create_may(run, create);
		if (status == RR_VFS_OK)
			status = create_node(run, create, &node);
		create->created = status == RR_VFS_OK;
	}
	if (status != RR_VFS_OK)
		return status;
	rr_memory_handle(run->memory, node, &create->handle);
	create->object_after.valid = true;
	create->object_after.attributes = node->attributes;
	return RR_VFS_OK;
}
