/* SPDX-License-Identifier: BSD-3-Clause */
/* The front door: see door.h. It has the one table of operations. */
#include "vfs/door.h"

#include <assert.h>

#include "vfs/reserve.h"

/* Outputs of an open that fails early. RR_VFS_INVAL: the access is none, or one that there is not. */
static enum rr_vfs_status
door_prepare_open(const struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_vfs_opening *opening = rr_container(call, struct rr_vfs_opening, call);
	const uint32_t all = RR_VFS_SHARE_READ | RR_VFS_SHARE_WRITE;

	opening->open = NULL;
	if (opening->access == 0 || (opening->access | opening->deny) & ~all)
		return RR_VFS_INVAL;
	return opening->access & RR_VFS_SHARE_WRITE && rr_vfs_is_read_only(vfs, call) ? RR_VFS_ROFS
										      : RR_VFS_OK;
}

static enum rr_vfs_status
door_prepare_setattr(const struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	(void)vfs;
	rr_container(call, struct rr_vfs_setattr, call)->applied = 0;
	return RR_VFS_OK;
}

static enum rr_vfs_status
door_prepare_create(const struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_vfs_create *create = rr_container(call, struct rr_vfs_create, call);

	(void)vfs;
	create->created = create->object_after.valid = false;
	create->applied = 0;
	return RR_VFS_OK;
}

static enum rr_vfs_status
door_prepare_readdir(const struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_vfs_readdir *readdir = rr_container(call, struct rr_vfs_readdir, call);

	(void)vfs;
	readdir->count = 0;
	readdir->eof = false;
	return RR_VFS_OK;
}

static enum rr_vfs_status
door_prepare_getacl(const struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	struct rr_vfs_getacl *getacl = rr_container(call, struct rr_vfs_getacl, call);

	(void)vfs;
	getacl->access.count = getacl->inherited.count = 0;
	getacl->is_supported = false;
	return call->caller->no_acl ? RR_VFS_NOTSUPP : RR_VFS_OK;
}

static enum rr_vfs_status
door_prepare_setacl(const struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	(void)vfs;
	return call->caller->no_acl ? RR_VFS_NOTSUPP : RR_VFS_OK;
}

/* Few providers keep access lists: the others need not say so. */
static enum rr_vfs_status
door_prepare_limits(const struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	(void)vfs;
	rr_container(call, struct rr_vfs_limits, call)->acls = false;
	return RR_VFS_OK;
}

#define AT(type, member) offsetof(struct rr_vfs_##type, member)

/* A commit changes nothing that a client sees. RFC 1813, 3.3.21: "COMMIT will always return NFS3_OK, unless
 * there has been an unexpected error". So it is not refused where all is read-only. */
const struct rr_vfs_row rr_vfs_rows[RR_VFS_OPERATIONS] = {
	[RR_VFS_OP_GETATTR] = { "getattr", { AT(getattr, object) } },
	[RR_VFS_OP_SETATTR] = { "setattr", { AT(setattr, object) }, .changes = { AT(setattr, change) },
		.flags = RR_VFS_CHANGES | RR_VFS_CUTS, .prepare = door_prepare_setattr },
	[RR_VFS_OP_ACCESS] = { "access", { AT(access, object) }, .known = AT(access, object_after) },
	[RR_VFS_OP_READLINK] = { "readlink", { AT(readlink, object) }, .known = AT(readlink, object_after) },
	[RR_VFS_OP_READ] = { "read", { AT(read, object) }, .known = AT(read, object_after),
		.flags = RR_VFS_FETCHES },
	[RR_VFS_OP_WRITE] = { "write", { AT(write, object) }, .changes = { AT(write, change) },
		.flags = RR_VFS_CHANGES | RR_VFS_WRITES | RR_VFS_INEXACT },
	[RR_VFS_OP_COMMIT] = { "commit", { AT(commit, object) }, .changes = { AT(commit, change) },
		.flags = RR_VFS_COMMITS },
	[RR_VFS_OP_SEEK] = { "seek", { AT(seek, object) } },
	[RR_VFS_OP_ALLOCATE] = { "allocate", { AT(space, object) }, .changes = { AT(space, change) },
		.flags = RR_VFS_CHANGES | RR_VFS_INEXACT },
	[RR_VFS_OP_DEALLOCATE] = { "deallocate", { AT(space, object) }, .changes = { AT(space, change) },
		.flags = RR_VFS_CHANGES | RR_VFS_INEXACT },
	[RR_VFS_OP_COPY] = { "copy", { AT(copy, from), AT(copy, to) }, .changes = { 0, AT(copy, change) },
		.flags = RR_VFS_CHANGES | RR_VFS_WRITES | RR_VFS_INEXACT },
	[RR_VFS_OP_CLONE] = { "clone", { AT(copy, from), AT(copy, to) }, .changes = { 0, AT(copy, change) },
		.flags = RR_VFS_CHANGES | RR_VFS_WRITES | RR_VFS_INEXACT },
	[RR_VFS_OP_OPEN] = { "open", { AT(opening, object) }, .known = AT(opening, object_after),
		.prepare = door_prepare_open },
	[RR_VFS_OP_LOCK] = { "lock", .open = AT(lock, open) },
	[RR_VFS_OP_LEASE] = { "lease", .open = AT(lease, open) },
	[RR_VFS_OP_LOOKUP] = { "lookup", { AT(lookup, directory) }, .known = AT(lookup, directory_after) },
	[RR_VFS_OP_CREATE] = { "create", { AT(create, directory) },
		.changes = { AT(create, directory_change) }, .flags = RR_VFS_CHANGES | RR_VFS_ENTRIES,
		.prepare = door_prepare_create },
	[RR_VFS_OP_LINK] = { "link", { AT(link, file), AT(link, directory) }, .known = AT(link, file_after),
		.changes = { 0, AT(link, directory_change) }, .flags = RR_VFS_CHANGES | RR_VFS_ENTRIES },
	[RR_VFS_OP_REMOVE] = { "remove", { AT(remove, directory) },
		.changes = { AT(remove, directory_change) }, .flags = RR_VFS_CHANGES | RR_VFS_ENTRIES },
	[RR_VFS_OP_RENAME] = { "rename", { AT(rename, from), AT(rename, to) },
		.changes = { AT(rename, from_change), AT(rename, to_change) },
		.flags = RR_VFS_CHANGES | RR_VFS_ENTRIES },
	[RR_VFS_OP_READDIR] = { "readdir", { AT(readdir, directory) }, .known = AT(readdir, directory_after),
		.flags = RR_VFS_LISTS, .prepare = door_prepare_readdir },
	[RR_VFS_OP_GETXATTR] = { "getxattr", { AT(xattr, object) } },
	[RR_VFS_OP_SETXATTR] = { "setxattr", { AT(xattr, object) }, .changes = { AT(xattr, change) },
		.flags = RR_VFS_CHANGES },
	[RR_VFS_OP_LISTXATTR] = { "listxattr", { AT(xattr, object) } },
	[RR_VFS_OP_REMOVEXATTR] = { "removexattr", { AT(xattr, object) }, .changes = { AT(xattr, change) },
		.flags = RR_VFS_CHANGES },
	[RR_VFS_OP_GETACL] = { "getacl", { AT(getacl, object) }, .known = AT(getacl, object_after),
		.prepare = door_prepare_getacl },
	[RR_VFS_OP_SETACL] = { "setacl", { AT(setacl, object) }, .changes = { AT(setacl, change) },
		.flags = RR_VFS_CHANGES, .prepare = door_prepare_setacl },
	[RR_VFS_OP_STATFS] = { "statfs", { AT(statfs, object) }, .known = AT(statfs, object_after) },
	[RR_VFS_OP_QUOTA] = { "quota", { AT(quota, object) } },
	[RR_VFS_OP_LIMITS] = { "limits", { AT(limits, object) }, .known = AT(limits, object_after),
		.prepare = door_prepare_limits },
};

/* Marks the attributes in the call's output as not valid. They stay so where the operation fails before they
 * are known. */
static void
door_forget(const struct rr_vfs_row *row, struct rr_vfs_call *call)
{
	struct rr_vfs_known *known = rr_vfs_member(call, row->known);

	if (known)
		known->valid = false;
	for (int i = 0; i < 2; i++) {
		struct rr_vfs_change *change = rr_vfs_member(call, row->changes[i]);

		if (change)
			change->exact = change->after.valid = false;
	}
}

void
rr_vfs_goes_on(struct rr_vfs *vfs)
{
	struct rr_vfs_counters *counters = &vfs->counters;

	counters->later++;
	if (++counters->under_way > counters->under_way_peak)
		counters->under_way_peak = counters->under_way;
}

enum rr_vfs_status
rr_vfs_begin(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call)
{
	const struct rr_vfs_row *row = &rr_vfs_rows[operation];
	enum rr_vfs_status status;

	assert(call->done && call->caller);
	vfs->counters.begun++;
	door_forget(row, call);
	call->job = NULL;
	call->status = row->prepare ? row->prepare(vfs, call) : RR_VFS_OK;
	if (row->flags & RR_VFS_CHANGES && rr_vfs_is_read_only(vfs, call))
		call->status = RR_VFS_ROFS;
	status = vfs->ops->begin(vfs, operation, call);
	if (status == RR_VFS_PENDING)
		rr_vfs_goes_on(vfs);
	return status;
}

void
rr_vfs_ended(struct rr_vfs *vfs, struct rr_vfs_call *call, enum rr_vfs_status status)
{
	assert(vfs->counters.under_way > 0);
	vfs->counters.under_way--;
	if (!call)
		return;
	vfs->counters.cancelled += status == RR_VFS_CANCELLED;
	call->status = status;
	call->done(call);
}

enum rr_vfs_status
rr_vfs_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	enum rr_vfs_status status;

	assert(!call || call->done);
	if (!open)
		return RR_VFS_OK;
	if (call)
		call->job = NULL;
	rr_reserve_close(vfs->reserve, rr_reservation(open));
	status = vfs->ops->close(vfs, open, call);
	if (status == RR_VFS_PENDING)
		rr_vfs_goes_on(vfs);
	return status;
}

/* An operation that has no job (the closing of an open) cannot be cancelled. */
void
rr_vfs_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call)
{
	if (call->job)
		vfs->ops->cancel(vfs, call);
}

void
rr_vfs_destroy(struct rr_vfs *vfs)
{
	vfs->ops->destroy(vfs);
}

void
rr_vfs_counters(const struct rr_vfs *vfs, struct rr_vfs_counters *counters)
{
	*counters = vfs->counters;
	counters->opens = counters->descriptors = atomic_load(&vfs->reserve->opens);
	if (vfs->ops->count)
		vfs->ops->count(vfs, counters);
}

void
rr_vfs_root(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle)
{
	assert(number < vfs->export_count);
	vfs->ops->root(vfs, number, handle);
}

uint32_t
rr_vfs_export_of(const struct rr_vfs *vfs, struct rpcrdma_bytes handle)
{
	return vfs->ops->export_of(vfs, handle);
}
