/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access lists, as the attribute acl of the other server (RFC 8881, 6.2.1): its list stands for that of the
 * object, and, of a directory, for the one that is inherited. So one of them alone is set with the other one
 * as it was, and only if the object has not changed since that was read.
 */
#include "vfs/fattr4/acl.h"
#include "base/endian.h"
#include "vfs/nfs/v4/provider_private.h"

/* What an operation has in the memory of its job, base.arena. */
struct acl_memory {
	struct rr_vfs_known known; /* the object, when its list was read */
	bool has;                  /* the other server keeps a list of it */
	struct rr_attr_lists lists;
};

static const struct rr_idmap_asking acl_numbers = { .idmap = NULL };

static struct acl_memory *
acl_memory(const struct rr_v4_job *job)
{
	return (struct acl_memory *)(void *)job->base.arena;
}

static bool
acl_is_directory(const struct acl_memory *memory)
{
	return memory->known.attributes.type == RR_VFS_DIRECTORY;
}

/* ---- Reading ---- */

static void
acl_get_build(struct rr_v4_slot *slot)
{
	rr_v4_put_object(slot, 0);
	rr_v4_job(slot)->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_acl);
	slot->reply_max += RR_ATTR_LIST;
}

static int
acl_get_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct acl_memory *memory = acl_memory(job);
	struct rr_attr_values values;

	memory->known.valid = rr_v4_take_values(slot, job->at.object, &values) &&
			      rr_v4_complete(&values, &memory->known.attributes) &&
			      rr_attr_lists_keep(&memory->lists, values.acl);
	if (!memory->known.valid)
		job->verdict = RR_VFS_IO;
	else
		memory->has = rr_attr_in(&values.have, FATTR4_ACL);
	return 0;
}

static const struct rr_v4_work acl_get = {
	.build = acl_get_build, .take = acl_get_take, .result = sizeof(nfsstat4)
};

static void
acl_copy(const struct rr_vfs_acl *from, struct rr_vfs_acl *to)
{
	if (!to->entries)
		return;
	to->count = from->count;
	memcpy(to->entries, from->entries, from->count * sizeof(*from->entries));
}

static void
acl_got(struct rr_v4_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_getacl *getacl = RR_V4_INPUT(job, getacl);
	struct acl_memory *memory = acl_memory(job);

	getacl->object_after = memory->known;
	getacl->is_supported = memory->has;
	if (status == RR_VFS_OK && memory->has)
		status = rr_attr_lists_read(&memory->lists, acl_is_directory(memory), &acl_numbers);
	if (status == RR_VFS_OK && memory->has) {
		acl_copy(&memory->lists.access, &getacl->access);
		acl_copy(&memory->lists.inherited, &getacl->inherited);
	} else if (status == RR_VFS_OK && getacl->access.entries) {
		rr_acl_from_mode(memory->known.attributes.mode, &getacl->access);
	}
	rr_v4_end(job, status);
}

/* Asks for the list, first of all. */
static enum rr_vfs_status
acl_ask(struct rr_v4_job *job, void (*then)(struct rr_v4_job *job, enum rr_vfs_status status))
{
	_Static_assert(sizeof(struct acl_memory) <= RR_REMOTE_ARENA, "there is room for all of it");
	_Static_assert(RR_ACL4_MAX + 4 <= RR_VFS_ACL_MAX, "and in the memory of the caller");
	job->base.arena = rr_alloc(job->base.vfs->env, RR_REMOTE_ARENA);
	return job->base.arena ? rr_v4_ask(job, &acl_get, then) : RR_VFS_BUSY;
}

enum rr_vfs_status
rr_v4_do_getacl(struct rr_v4_job *job)
{
	RR_V4_INPUT(job, getacl)->access.count = RR_V4_INPUT(job, getacl)->inherited.count = 0;
	return acl_ask(job, acl_got);
}

/* ---- Setting ---- */

/* Tells whether one of a directory's lists stays as it is. */
static bool
acl_keeps_one(const struct rr_v4_job *job)
{
	const struct rr_vfs_setacl *setacl = RR_V4_INPUT(job, setacl);

	return acl_is_directory(acl_memory(job)) && (!setacl->access || !setacl->inherited);
}

/* Appends a VERIFY that the object has not changed since its list was read. */
static void
acl_guard(struct rr_v4_slot *slot)
{
	static uint32_t words[] = { UINT32_C(1) << FATTR4_CHANGE };

	struct rr_v4_job *job = rr_v4_job(slot);

	rr_put_be64(job->guard, acl_memory(job)->known.attributes.change);
	rr_v4_op(slot, OP_VERIFY, 0)->u.opverify.obj_attributes = (fattr4){ { 1, words }, { job->guard, 8 } };
}

static void
acl_set_build(struct rr_v4_slot *slot)
{
	static uint32_t words[] = { UINT32_C(1) << FATTR4_ACL };

	struct rr_v4_job *job = rr_v4_job(slot);
	const struct acl_memory *memory = acl_memory(job);

	rr_v4_put_object(slot, 0);
	job->at.before[0] = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
	if (acl_keeps_one(job))
		acl_guard(slot);
	rr_v4_op(slot, OP_SETATTR, 4 + 4 * RR_ATTR_WORDS)->u.opsetattr.obj_attributes =
		(fattr4){ { 1, words }, { memory->lists.octets, memory->lists.length } };
	job->at.after[0] = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

static void
acl_set_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_change(slot, job->at.before[0], job->at.after[0], NULL, &RR_V4_INPUT(job, setacl)->change);
}

static int
acl_set_take(struct rr_v4_slot *slot)
{
	acl_set_fail(slot);
	return 0;
}

static const struct rr_v4_work acl_set = { .build = acl_set_build,
	.take = acl_set_take,
	.fail = acl_set_fail,
	.result = sizeof(nfsstat4),
	.changes = true };

/* Another client has changed the object meanwhile: the caller is to try again. */
static void
acl_was_set(struct rr_v4_job *job, enum rr_vfs_status status)
{
	rr_v4_end(job, status == RR_VFS_NOT_SYNC ? RR_VFS_BUSY : status);
}

/* Writes the list that stands for both of an object's lists. */
static enum rr_vfs_status
acl_write(const struct rr_v4_job *job)
{
	const struct rr_vfs_setacl *setacl = RR_V4_INPUT(job, setacl);
	struct acl_memory *memory = acl_memory(job);
	bool is_directory = acl_is_directory(memory);
	enum rr_vfs_status status = acl_keeps_one(job)
					    ? rr_attr_lists_read(&memory->lists, is_directory, &acl_numbers)
					    : RR_VFS_OK;

	return status == RR_VFS_OK
		       ? rr_attr_lists_write(&memory->lists, is_directory, setacl->access, setacl->inherited)
		       : status;
}

static void
acl_found(struct rr_v4_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_setacl *setacl = RR_V4_INPUT(job, setacl);
	const struct acl_memory *memory = acl_memory(job);
	bool is_directory = acl_is_directory(memory);

	setacl->change.after = memory->known;
	if (status == RR_VFS_OK && !memory->has)
		status = RR_VFS_NOTSUPP;
	if (status == RR_VFS_OK && !is_directory && setacl->inherited && setacl->inherited->count > 0)
		status = RR_VFS_INVAL;
	/* An object that is no directory has no other list that could be removed. */
	if (status == RR_VFS_OK && (setacl->access || (is_directory && setacl->inherited))) {
		status = acl_write(job);
		if (status == RR_VFS_OK) {
			rr_v4_ask(job, &acl_set, acl_was_set);
			return;
		}
	}
	rr_v4_end(job, status);
}

enum rr_vfs_status
rr_v4_do_setacl(struct rr_v4_job *job)
{
	return acl_ask(job, acl_found);
}
