/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_POSIX_H
#define RR_VFS_POSIX_POSIX_H

#include "vfs/posix/shared.h"
#include "vfs/posix/tree/tree.h"

/*
 * This is the provider of directory trees of this machine. rr_posix_new() makes a provider.
 *
 * shared is the same for the providers of all threads that export the same directories; it must exist as long
 * as any of these providers. loop is the loop of the calling thread. From the loop, the provider also
 * continues searches for objects (tree/search.h), and closes descriptors that are not used any more. Where
 * loop is NULL, all operations end at once. Errors: as rr_tree_new().
 */
int rr_posix_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_tree_config *config,
	struct rr_posix_shared *shared, struct rr_vfs **vfs, struct rr_text *text);

/* The usual number of threads for operations that may wait (rr_tree_config.workers). With 64 of them, one
 * file system can keep 32 busy, and the others are left for other file systems. */
enum { RR_POSIX_WORKERS = 64 };

/* Keeps the loop's thread from taking on any caller's identity from this call on: workers do all operations
 * that need a caller's permission. A provider that acts as its callers needs this where the loop's thread
 * also uses RDMA adapters. The kernel accepts commands for an adapter only from a thread that still has the
 * credentials with which the adapter was opened; credentials that were changed and changed back count as
 * others. This function must be called before the first operation, and only for a provider with workers. */
void rr_posix_apart(struct rr_vfs *vfs);

#endif
