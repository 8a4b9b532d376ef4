/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the functions of struct rr_vfs_ops. For each operation there is a row (struct rr_ceph_row)
 * that describes it, and a function that begins it. */
#include "vfs/ceph/ceph_private.h"

#define AT(type, member) offsetof(struct rr_vfs_##type, member)

/* Defines ops_NAME(), which begins an operation, with its row. type is that of the operation's structure,
 * struct rr_vfs_TYPE; the other arguments are the members of the row. */
#define BEGINS(name, type, ...)                                                                              \
	static enum rr_vfs_status ops_##name(struct rr_vfs *vfs, struct rr_vfs_##type *input)                \
	{                                                                                                    \
		static const struct rr_ceph_row row = { __VA_ARGS__ };                                       \
		return rr_ceph_begin(vfs, &row, &input->call);                                               \
	}

BEGINS(getattr, getattr, rr_ceph_getattr, AT(getattr, object))
BEGINS(setattr, setattr, rr_ceph_setattr, AT(setattr, object), .change = AT(setattr, change),
	.flags = RR_CEPH_CHANGES)
BEGINS(access, access, rr_ceph_access, AT(access, object), .known = AT(access, object_after))
BEGINS(readlink, readlink, rr_ceph_readlink, AT(readlink, object), .known = AT(readlink, object_after))
BEGINS(read, read, rr_ceph_read, AT(read, object), .known = AT(read, object_after))
BEGINS(write, write, rr_ceph_write, AT(write, object), .change = AT(write, change),
	.flags = RR_CEPH_CHANGES | RR_CEPH_WRITES)
BEGINS(commit, commit, rr_ceph_commit, AT(commit, object), .change = AT(commit, change),
	.flags = RR_CEPH_CHANGES | RR_CEPH_COMMITS)
BEGINS(seek, seek, rr_ceph_absent, AT(seek, object))
BEGINS(allocate, space, rr_ceph_absent, AT(space, object), .change = AT(space, change),
	.flags = RR_CEPH_CHANGES)
BEGINS(deallocate, space, rr_ceph_deallocate, AT(space, object), .change = AT(space, change),
	.flags = RR_CEPH_CHANGES)
BEGINS(copy, copy, rr_ceph_absent, AT(copy, from), AT(copy, to), .second_change = AT(copy, change),
	.flags = RR_CEPH_CHANGES)
BEGINS(clone, copy, rr_ceph_absent, AT(copy, from), AT(copy, to), .second_change = AT(copy, change),
	.flags = RR_CEPH_CHANGES)
BEGINS(open, opening, rr_ceph_open, AT(opening, object), .known = AT(opening, object_after))
BEGINS(lock, lock, rr_ceph_lock)
BEGINS(lease, lease, rr_ceph_absent)
BEGINS(lookup, lookup, rr_ceph_lookup, AT(lookup, directory), .known = AT(lookup, directory_after))
BEGINS(create, create, rr_ceph_create, AT(create, directory), .change = AT(create, directory_change),
	.flags = RR_CEPH_ENTRIES)
BEGINS(link, link, rr_ceph_link, AT(link, file), AT(link, directory), .known = AT(link, file_after),
	.second_change = AT(link, directory_change), .flags = RR_CEPH_CHANGES | RR_CEPH_ENTRIES)
BEGINS(remove, remove, rr_ceph_remove, AT(remove, directory), .change = AT(remove, directory_change),
	.flags = RR_CEPH_CHANGES | RR_CEPH_ENTRIES)
BEGINS(rename, rename, rr_ceph_rename, AT(rename, from), AT(rename, to), .change = AT(rename, from_change),
	.second_change = AT(rename, to_change), .flags = RR_CEPH_CHANGES | RR_CEPH_ENTRIES)
BEGINS(readdir, readdir, rr_ceph_readdir, AT(readdir, directory), .known = AT(readdir, directory_after),
	.end = rr_ceph_readdir_end)
BEGINS(getxattr, xattr, rr_ceph_getxattr, AT(xattr, object))
BEGINS(setxattr, xattr, rr_ceph_setxattr, AT(xattr, object), .change = AT(xattr, change),
	.flags = RR_CEPH_CHANGES)
BEGINS(listxattr, xattr, rr_ceph_listxattr, AT(xattr, object))
BEGINS(removexattr, xattr, rr_ceph_removexattr, AT(xattr, object), .change = AT(xattr, change),
	.flags = RR_CEPH_CHANGES)
BEGINS(statfs, statfs, rr_ceph_statfs, AT(statfs, object), .known = AT(statfs, object_after))
BEGINS(limits, limits, rr_ceph_limits, AT(limits, object), .known = AT(limits, object_after))

static void
ops_destroy(struct rr_vfs *vfs)
{
	struct rr_ceph_vfs *own = (struct rr_ceph_vfs *)vfs;

	rr_crew_free(own->crew);
	rr_free(own->ceph->env, own);
}

/* The opens are those of all providers of the file system. Each counts as one descriptor. */
static void
ops_counters(const struct rr_vfs *vfs, struct rr_vfs_counters *counters)
{
	const struct rr_ceph_vfs *own = (const struct rr_ceph_vfs *)vfs;

	*counters = own->counters;
	pthread_mutex_lock(&own->ceph->lock);
	counters->opens = counters->descriptors = own->ceph->open_count;
	pthread_mutex_unlock(&own->ceph->lock);
}

/* Writes the handle of the root directory of the export of this number. The root lies in no snapshot
 * (RR_CEPH_HEAD). */
static void
ops_root(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle)
{
	const struct rr_ceph *ceph = ((struct rr_ceph_vfs *)vfs)->ceph;
	const struct ceph_statx st = { .stx_ino = ceph->roots[number].number };

	rr_ceph_handle(ceph, ceph->roots[number].hash, &st, RR_CEPH_HEAD, handle);
}

static uint32_t
ops_export_of(const struct rr_vfs *vfs, struct rpcrdma_bytes handle)
{
	return rr_ceph_export_of(((const struct rr_ceph_vfs *)vfs)->ceph, handle);
}

const struct rr_vfs_ops rr_ceph_ops = {
	.name = "ceph",
	.destroy = ops_destroy,
	.counters = ops_counters,
	.root = ops_root,
	.export_of = ops_export_of,
	.cancel = rr_ceph_cancel,
	.close = rr_ceph_close,
#define OP(name) .name = ops_##name
	OP(getattr),
	OP(setattr),
	OP(access),
	OP(readlink),
	OP(read),
	OP(write),
	OP(commit),
	OP(seek),
	OP(allocate),
	OP(deallocate),
	OP(copy),
	OP(clone),
	OP(open),
	OP(lock),
	OP(lease),
	OP(lookup),
	OP(create),
	OP(link),
	OP(remove),
	OP(rename),
	OP(readdir),
	OP(getxattr),
	OP(setxattr),
	OP(listxattr),
	OP(removexattr),
	OP(statfs),
	OP(limits),
#undef OP
};
