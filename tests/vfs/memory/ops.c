/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the table of operations, and the functions of struct rr_vfs_ops, each of which begins the
 * operation of a row. */
#include <assert.h>

#include "memory_private.h"

#define AT(type, member) offsetof(struct rr_vfs_##type, member)

const struct rr_memory_row rr_memory_rows[RR_MEMORY_OPERATIONS] = {
	[RR_MEMORY_GETATTR] = { "getattr", rr_memory_getattr, AT(getattr, object) },
	[RR_MEMORY_SETATTR] = { "setattr", rr_memory_setattr, AT(setattr, object),
		.change = AT(setattr, change), .flags = RR_MEMORY_CHANGES },
	[RR_MEMORY_ACCESS] = { "access", rr_memory_access, AT(access, object),
		.known = AT(access, object_after) },
	[RR_MEMORY_READLINK] = { "readlink", rr_memory_readlink, AT(readlink, object),
		.known = AT(readlink, object_after) },
	[RR_MEMORY_READ] = { "read", rr_memory_read, AT(read, object), .known = AT(read, object_after) },
	[RR_MEMORY_WRITE] = { "write", rr_memory_write, AT(write, object), .change = AT(write, change),
		.flags = RR_MEMORY_CHANGES | RR_MEMORY_WRITES | RR_MEMORY_INEXACT },
	[RR_MEMORY_COMMIT] = { "commit", rr_memory_commit, AT(commit, object), .change = AT(commit, change),
		.flags = RR_MEMORY_CHANGES | RR_MEMORY_COMMITS },
	[RR_MEMORY_SEEK] = { "seek", rr_memory_seek, AT(seek, object) },
	[RR_MEMORY_ALLOCATE] = { "allocate", rr_memory_allocate, AT(space, object),
		.change = AT(space, change), .flags = RR_MEMORY_CHANGES | RR_MEMORY_INEXACT },
	[RR_MEMORY_DEALLOCATE] = { "deallocate", rr_memory_deallocate, AT(space, object),
		.change = AT(space, change), .flags = RR_MEMORY_CHANGES | RR_MEMORY_INEXACT },
	[RR_MEMORY_COPY] = { "copy", rr_memory_copy, AT(copy, from), AT(copy, to),
		.second_change = AT(copy, change),
		.flags = RR_MEMORY_CHANGES | RR_MEMORY_WRITES | RR_MEMORY_INEXACT },
	[RR_MEMORY_CLONE] = { "clone", rr_memory_clone, AT(copy, from), AT(copy, to),
		.second_change = AT(copy, change),
		.flags = RR_MEMORY_CHANGES | RR_MEMORY_WRITES | RR_MEMORY_INEXACT },
	[RR_MEMORY_OPEN] = { "open", rr_memory_open, AT(opening, object),
		.known = AT(opening, object_after) },
	[RR_MEMORY_LOCK] = { "lock", rr_memory_lock },
	[RR_MEMORY_LEASE] = { "lease", rr_memory_lease },
	[RR_MEMORY_LOOKUP] = { "lookup", rr_memory_lookup, AT(lookup, directory),
		.known = AT(lookup, directory_after) },
	[RR_MEMORY_CREATE] = { "create", rr_memory_create, AT(create, directory),
		.change = AT(create, directory_change), .flags = RR_MEMORY_ENTRIES },
	[RR_MEMORY_LINK] = { "link", rr_memory_link, AT(link, file), AT(link, directory),
		.known = AT(link, file_after), .second_change = AT(link, directory_change),
		.flags = RR_MEMORY_CHANGES | RR_MEMORY_ENTRIES },
	[RR_MEMORY_REMOVE] = { "remove", rr_memory_remove, AT(remove, directory),
		.change = AT(remove, directory_change), .flags = RR_MEMORY_CHANGES | RR_MEMORY_ENTRIES },
	[RR_MEMORY_RENAME] = { "rename", rr_memory_rename, AT(rename, from), AT(rename, to),
		.change = AT(rename, from_change), .second_change = AT(rename, to_change),
		.flags = RR_MEMORY_CHANGES | RR_MEMORY_ENTRIES },
	[RR_MEMORY_READDIR] = { "readdir", rr_memory_readdir, AT(readdir, directory),
		.known = AT(readdir, directory_after) },
	[RR_MEMORY_GETXATTR] = { "getxattr", rr_memory_getxattr, AT(xattr, object) },
	[RR_MEMORY_SETXATTR] = { "setxattr", rr_memory_setxattr, AT(xattr, object),
		.change = AT(xattr, change), .flags = RR_MEMORY_CHANGES },
	[RR_MEMORY_LISTXATTR] = { "listxattr", rr_memory_listxattr, AT(xattr, object) },
	[RR_MEMORY_REMOVEXATTR] = { "removexattr", rr_memory_removexattr, AT(xattr, object),
		.change = AT(xattr, change), .flags = RR_MEMORY_CHANGES },
	[RR_MEMORY_STATFS] = { "statfs", rr_memory_statfs, AT(statfs, object),
		.known = AT(statfs, object_after) },
	[RR_MEMORY_LIMITS] = { "limits", rr_memory_limits, AT(limits, object),
		.known = AT(limits, object_after) },
};

const char *
rr_memory_operation_name(enum rr_memory_operation operation)
{
	return rr_memory_rows[operation].name;
}

/* Defines ops_NAME(), which begins an operation. type is that of its structure, struct rr_vfs_TYPE. */
#define BEGINS(name, type, operation)                                                                        \
	static enum rr_vfs_status ops_##name(struct rr_vfs *vfs, struct rr_vfs_##type *input)                \
	{                                                                                                    \
		return rr_memory_begin(vfs, operation, &input->call);                                        \
	}

BEGINS(getattr, getattr, RR_MEMORY_GETATTR)
BEGINS(setattr, setattr, RR_MEMORY_SETATTR)
BEGINS(access, access, RR_MEMORY_ACCESS)
BEGINS(readlink, readlink, RR_MEMORY_READLINK)
BEGINS(read, read, RR_MEMORY_READ)
BEGINS(write, write, RR_MEMORY_WRITE)
BEGINS(commit, commit, RR_MEMORY_COMMIT)
BEGINS(seek, seek, RR_MEMORY_SEEK)
BEGINS(allocate, space, RR_MEMORY_ALLOCATE)
BEGINS(deallocate, space, RR_MEMORY_DEALLOCATE)
BEGINS(copy, copy, RR_MEMORY_COPY)
BEGINS(clone, copy, RR_MEMORY_CLONE)
BEGINS(open, opening, RR_MEMORY_OPEN)
BEGINS(lock, lock, RR_MEMORY_LOCK)
BEGINS(lease, lease, RR_MEMORY_LEASE)
BEGINS(lookup, lookup, RR_MEMORY_LOOKUP)
BEGINS(create, create, RR_MEMORY_CREATE)
BEGINS(link, link, RR_MEMORY_LINK)
BEGINS(remove, remove, RR_MEMORY_REMOVE)
BEGINS(rename, rename, RR_MEMORY_RENAME)
BEGINS(readdir, readdir, RR_MEMORY_READDIR)
BEGINS(getxattr, xattr, RR_MEMORY_GETXATTR)
BEGINS(setxattr, xattr, RR_MEMORY_SETXATTR)
BEGINS(listxattr, xattr, RR_MEMORY_LISTXATTR)
BEGINS(removexattr, xattr, RR_MEMORY_REMOVEXATTR)
BEGINS(statfs, statfs, RR_MEMORY_STATFS)
BEGINS(limits, limits, RR_MEMORY_LIMITS)

static void
ops_destroy(struct rr_vfs *vfs)
{
	struct rr_memory_vfs *own = rr_container(vfs, struct rr_memory_vfs, vfs);

	/* A test that destroys a provider too early has a defect. */
	assert(rr_list_empty(&own->jobs) && rr_list_empty(&own->recalls));
	rr_list_remove(&own->link);
	assert(own->memory->opens == 0 || !rr_list_empty(&own->memory->vfss));
	rr_loop_disarm(vfs->loop, &own->timer);
	rr_free(own->memory->env, own);
}

/* The opens are those of the whole storage. They also count as descriptors, which this provider has not. */
static void
ops_counters(const struct rr_vfs *vfs, struct rr_vfs_counters *counters)
{
	const struct rr_memory_vfs *own = (const struct rr_memory_vfs *)vfs;

	*counters = own->counters;
	counters->opens = counters->descriptors = own->memory->opens;
}

static void
ops_root(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle)
{
	struct rr_memory *memory = rr_container(vfs, struct rr_memory_vfs, vfs)->memory;

	rr_memory_handle(memory, memory->roots[number], handle);
}

static uint32_t
ops_export_of(const struct rr_vfs *vfs, struct rpcrdma_bytes handle)
{
	return rr_memory_export_of(((const struct rr_memory_vfs *)vfs)->memory, handle);
}

const struct rr_vfs_ops rr_memory_ops = {
	.name = "memory",
	.destroy = ops_destroy,
	.counters = ops_counters,
	.root = ops_root,
	.export_of = ops_export_of,
	.cancel = rr_memory_cancel,
	.getattr = ops_getattr,
	.setattr = ops_setattr,
	.access = ops_access,
	.readlink = ops_readlink,
	.read = ops_read,
	.write = ops_write,
	.commit = ops_commit,
	.seek = ops_seek,
	.allocate = ops_allocate,
	.deallocate = ops_deallocate,
	.copy = ops_copy,
	.clone = ops_clone,
	.open = ops_open,
	.close = rr_memory_close,
	.lock = ops_lock,
	.lease = ops_lease,
	.lookup = ops_lookup,
	.create = ops_create,
	.link = ops_link,
	.remove = ops_remove,
	.rename = ops_rename,
	.readdir = ops_readdir,
	.getxattr = ops_getxattr,
	.setxattr = ops_setxattr,
	.listxattr = ops_listxattr,
	.removexattr = ops_removexattr,
	.statfs = ops_statfs,
	.limits = ops_limits,
};
