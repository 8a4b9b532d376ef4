/* SPDX-License-Identifier: BSD-3-Clause */
/* This file makes and frees the provider, and says of each operation which function does it, and whether the
 * loop's thread may do it. */
#include "vfs/posix/posix.h"

#include <rpcrdma/error.h>

#include "vfs/posix/posix_private.h"

const struct rr_posix_kind rr_posix_kinds[RR_VFS_OPERATIONS] = {
	[RR_VFS_OP_GETATTR] = { rr_posix_getattr, RR_POSIX_QUICK },
	[RR_VFS_OP_SETATTR] = { rr_posix_setattr, RR_POSIX_IN_MEMORY },
	[RR_VFS_OP_ACCESS] = { rr_posix_access, RR_POSIX_QUICK },
	[RR_VFS_OP_READLINK] = { rr_posix_readlink, RR_POSIX_IN_MEMORY },
	[RR_VFS_OP_READ] = { rr_posix_read, RR_POSIX_QUICK },
	[RR_VFS_OP_WRITE] = { rr_posix_write, RR_POSIX_IN_MEMORY },
	[RR_VFS_OP_COMMIT] = { rr_posix_commit, RR_POSIX_IN_MEMORY },
	[RR_VFS_OP_SEEK] = { rr_posix_seek, RR_POSIX_SLOW },
	[RR_VFS_OP_ALLOCATE] = { rr_posix_allocate, RR_POSIX_SLOW },
	[RR_VFS_OP_DEALLOCATE] = { rr_posix_deallocate, RR_POSIX_SLOW },
	[RR_VFS_OP_COPY] = { rr_posix_copy, RR_POSIX_SLOW },
	[RR_VFS_OP_CLONE] = { rr_posix_clone, RR_POSIX_SLOW },
	[RR_VFS_OP_OPEN] = { rr_posix_open, RR_POSIX_IN_MEMORY },
	[RR_VFS_OP_LOCK] = { rr_posix_lock_range, RR_POSIX_SLOW },
	[RR_VFS_OP_LEASE] = { rr_posix_lease, RR_POSIX_AT_ONCE },
	[RR_VFS_OP_LOOKUP] = { rr_posix_lookup, RR_POSIX_QUICK },
	[RR_VFS_OP_CREATE] = { rr_posix_create, RR_POSIX_IN_MEMORY },
	[RR_VFS_OP_LINK] = { rr_posix_link, RR_POSIX_IN_MEMORY },
	[RR_VFS_OP_REMOVE] = { rr_posix_remove, RR_POSIX_SLOW },
	[RR_VFS_OP_RENAME] = { rr_posix_rename, RR_POSIX_IN_MEMORY },
	[RR_VFS_OP_READDIR] = { rr_posix_readdir, RR_POSIX_IN_MEMORY },
	[RR_VFS_OP_GETXATTR] = { rr_posix_getxattr, RR_POSIX_SLOW },
	[RR_VFS_OP_SETXATTR] = { rr_posix_setxattr, RR_POSIX_SLOW },
	[RR_VFS_OP_LISTXATTR] = { rr_posix_listxattr, RR_POSIX_SLOW },
	[RR_VFS_OP_REMOVEXATTR] = { rr_posix_removexattr, RR_POSIX_SLOW },
	[RR_VFS_OP_GETACL] = { rr_posix_getacl, RR_POSIX_SLOW },
	[RR_VFS_OP_SETACL] = { rr_posix_setacl, RR_POSIX_SLOW },
	[RR_VFS_OP_STATFS] = { rr_posix_statfs, RR_POSIX_IN_MEMORY },
	[RR_VFS_OP_QUOTA] = { rr_posix_quota, RR_POSIX_SLOW },
	[RR_VFS_OP_LIMITS] = { rr_posix_limits, RR_POSIX_IN_MEMORY },
};

/* Ends the lease of the open, and gives the caller's reference back. The locks end with
 * the last reference, when the descriptor is closed. */
static enum rr_vfs_status
posix_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);

	rr_posix_lease_end(posix->shared, open);
	return rr_posix_open_release(posix, open, call);
}

static void
posix_root(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle)
{
	rr_tree_root(rr_container(vfs, struct rr_posix, vfs)->tree, number, handle);
}

static uint32_t
posix_export_of(const struct rr_vfs *vfs, struct rpcrdma_bytes handle)
{
	return rr_tree_export_of(((const struct rr_posix *)vfs)->tree, handle);
}

/* Each open has a descriptor, too, until its file is closed. */
static void
posix_count(const struct rr_vfs *vfs, struct rr_vfs_counters *counters)
{
	const struct rr_posix *posix = (const void *)vfs; /* vfs is its first member */

	_Static_assert(offsetof(struct rr_posix, vfs) == 0, "as said");
	counters->descriptors = atomic_load(&posix->shared->open_count) + rr_tree_descriptors(posix->tree);
}

/* Waits for the operations under way, and frees the provider, which may be made in part only. */
static void
posix_destroy(struct rr_vfs *vfs)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);

	rr_posix_leases_end(posix);
	rr_ring_free(posix->ring); /* before the crew, because a read that came in part goes on in the crew */
	rr_crew_free(posix->crew);
	for (uint32_t i = 0; i < posix->storer_count; i++)
		rr_storer_free(posix->storers[i].storer);
	if (posix->vfs.loop)
		rr_loop_disarm(posix->vfs.loop, &posix->timer);
	rr_tree_free(posix->tree);
	rr_gather_free(posix->gather);
	rr_free(posix->env, posix->exports);
	rr_free(posix->env, posix);
}

static const struct rr_vfs_ops posix_ops = {
	.name = "posix",
	.destroy = posix_destroy,
	.count = posix_count,
	.root = posix_root,
	.export_of = posix_export_of,
	.begin = rr_posix_begin,
	.cancel = rr_posix_cancel,
	.close = posix_close,
};

/* Makes what a new thread of the crew needs for itself: a tree that shares all knowledge of the provider's
 * tree. Returns NULL if there is no memory. */
static void *
posix_enlist(void *ctx)
{
	struct rr_tree *tree;

	return rr_tree_beside(((struct rr_posix *)ctx)->tree, &tree) < 0 ? NULL : tree;
}

/* Frees the tree of a thread of the crew, after the thread has ended (rr_crew_config.discharge). */
static void
posix_discharge(void *ctx, void *member)
{
	(void)ctx;
	rr_tree_free(member);
}

/* Makes the parts of the provider: the tree, the list of exports, and for a provider with workers the crew
 * and the ring (io_uring). Returns 0, or an error with text, after which posix_destroy() frees the parts that
 * were made. */
static int
posix_start(struct rr_posix *posix, struct rr_loop *loop, const struct rr_tree_config *config,
	struct rr_text *text)
{
	struct rr_crew_config crew = { .enlist = posix_enlist, .discharge = posix_discharge, .ctx = posix };
	const struct rr_tree_config *kept;
	int error = rr_tree_new(posix->env, config, &posix->tree, text);

	if (error)
		return error;
	kept = rr_tree_config(posix->tree);
	posix->exports = rr_alloc_array(posix->env, kept->export_count, sizeof(*posix->exports));
	if (!posix->exports)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for exports");
	for (uint32_t i = 0; i < kept->export_count; i++)
		posix->exports[i].name = kept->exports[i].name;
	posix->vfs = (struct rr_vfs){ .ops = &posix_ops,
		.loop = loop,
		.reserve = &posix->shared->reserve,
		.exports = posix->exports,
		.export_count = kept->export_count,
		.read_only = kept->read_only };
	rr_posix_attend_init(posix);
	crew.max = loop ? config->workers : 0;
	error = crew.max > 0 ? rr_crew_new(posix->env, loop, &crew, &posix->crew) : 0;
	if (error)
		return rr_fail(text, error, "no thread for files: %s", rpcrdma_strerror(error));
	if (posix->crew && rr_ring_new(posix->env, loop, RR_POSIX_RING, &posix->ring) < 0)
		rr_log(posix->env, RR_LOG_INFO, "no io_uring here: threads read what is not in memory");
	return 0;
}

int
rr_posix_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_tree_config *config,
	struct rr_posix_shared *shared, struct rr_vfs **vfs, struct rr_text *text)
{
	struct rr_posix *posix = rr_alloc(env, sizeof(*posix));
	int error;

	if (!posix)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for exports");
	posix->env = env;
	posix->shared = shared;
	rr_posix_leases_init(posix);
	error = posix_start(posix, loop, config, text);
	if (error) {
		posix_destroy(&posix->vfs);
		return error;
	}
	*vfs = &posix->vfs;
	return 0;
}

void
rr_posix_apart(struct rr_vfs *vfs)
{
	struct rr_posix *posix = rr_container(vfs, struct rr_posix, vfs);

	posix->apart = rr_tree_acts_as_callers(posix->tree);
}
