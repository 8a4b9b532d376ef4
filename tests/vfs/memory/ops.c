/* SPDX-License-Identifier: BSD-3-Clause */
/* This file says which function does an operation, and has the functions of struct rr_vfs_ops. */
#include <assert.h>

#include "node.h"
#include "run.h"

enum rr_vfs_status (*const rr_memory_runs[RR_VFS_OPERATIONS])(struct rr_memory_run *run) = {
	[RR_VFS_OP_GETATTR] = rr_memory_getattr,
	[RR_VFS_OP_SETATTR] = rr_memory_setattr,
	[RR_VFS_OP_ACCESS] = rr_memory_access,
	[RR_VFS_OP_READLINK] = rr_memory_readlink,
	[RR_VFS_OP_READ] = rr_memory_read,
	[RR_VFS_OP_WRITE] = rr_memory_write,
	[RR_VFS_OP_COMMIT] = rr_memory_commit,
	[RR_VFS_OP_SEEK] = rr_memory_seek,
	[RR_VFS_OP_ALLOCATE] = rr_memory_allocate,
	[RR_VFS_OP_DEALLOCATE] = rr_memory_deallocate,
	[RR_VFS_OP_COPY] = rr_memory_copy,
	[RR_VFS_OP_CLONE] = rr_memory_clone,
	[RR_VFS_OP_OPEN] = rr_memory_open,
	[RR_VFS_OP_LOCK] = rr_memory_lock,
	[RR_VFS_OP_LEASE] = rr_memory_lease,
	[RR_VFS_OP_LOOKUP] = rr_memory_lookup,
	[RR_VFS_OP_CREATE] = rr_memory_create,
	[RR_VFS_OP_LINK] = rr_memory_link,
	[RR_VFS_OP_REMOVE] = rr_memory_remove,
	[RR_VFS_OP_RENAME] = rr_memory_rename,
	[RR_VFS_OP_READDIR] = rr_memory_readdir,
	[RR_VFS_OP_GETXATTR] = rr_memory_getxattr,
	[RR_VFS_OP_SETXATTR] = rr_memory_setxattr,
	[RR_VFS_OP_LISTXATTR] = rr_memory_listxattr,
	[RR_VFS_OP_REMOVEXATTR] = rr_memory_removexattr,
	[RR_VFS_OP_STATFS] = rr_memory_statfs,
	[RR_VFS_OP_LIMITS] = rr_memory_limits,
};

static void
ops_destroy(struct rr_vfs *vfs)
{
	struct rr_memory_vfs *own = rr_container(vfs, struct rr_memory_vfs, vfs);

	/* A test that destroys a provider too early has a defect. */
	assert(rr_list_empty(&own->jobs) && rr_list_empty(&own->recalls));
	rr_list_remove(&own->link);
	assert(atomic_load(&own->memory->reserve.opens) == 0 || !rr_list_empty(&own->memory->vfss));
	rr_loop_disarm(vfs->loop, &own->timer);
	rr_free(own->memory->env, own);
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
	.root = ops_root,
	.export_of = ops_export_of,
	.begin = rr_memory_begin,
	.cancel = rr_memory_cancel,
	.close = rr_memory_close,
};
