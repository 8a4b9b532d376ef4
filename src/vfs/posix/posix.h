/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_POSIX_H
#define RR_VFS_POSIX_POSIX_H

#include "vfs/posix/shared.h"
#include "vfs/posix/tree.h"

/*
 * This is the provider of directory trees of this machine. rr_posix_new() makes a provider.
 *
 * shared is the same for the providers of all threads that export the same directories; it must exist as long
 * as they do. loop is the loop of the calling thread. The loop also continues work that operations began and
 * did not wait for, and closes descriptors that are not used any more. Where loop is NULL, all operations end
 * at once. Errors: as rr_tree_new().
 */
int rr_posix_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_tree_config *config,
	struct rr_posix_shared *shared, struct rr_vfs **vfs, struct rr_text *text);

/* The number of threads for operations that may wait: 32 operations at a time in one file system, and as many
 * in others. */
enum { RR_POSIX_WORKERS = 64 };

/* Keeps the loop's thread from taking on any caller's identity from this call on: workers do all operations
 * that need a caller's permission. A provider that acts as its callers needs this where the loop's thread
 * also uses RDMA adapters: the kernel takes their commands only from a thread whose credentials are those
 * with which the thread opened them, and a change of credentials counts even when it was undone. This
 * function must be called before the first operation, and only for a provider with workers. */
void rr_posix_apart(struct rr_vfs *vfs);

#endif
