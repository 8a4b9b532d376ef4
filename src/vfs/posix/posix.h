/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_POSIX_H
#define RR_VFS_POSIX_POSIX_H

#include "vfs/posix/shared.h"
#include "vfs/posix/tree.h"

/*
 * The provider of directory trees of this machine.
 *
 * shared: the same for the providers of all threads that export the same directories; there as long as they
 * are. loop: that of the calling thread, which also goes on with what operations began and did not wait for,
 * and closes descriptors that are not used any more; NULL: all operations end at once. Errors: as
 * rr_tree_new().
 */
int rr_posix_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_tree_config *config,
	struct rr_posix_shared *shared, struct rr_vfs **vfs, struct rr_text *text);

/* Threads for what may wait: 32 operations at a time in one file system, and as many in others. */
enum { RR_POSIX_WORKERS = 64 };

/*
 * From now on the thread of the loop takes on nobody's identity: workers do all that a caller must have the
 * permission for. A provider that acts as its callers needs that where that thread also uses RDMA adapters:
 * the kernel takes their commands only from a thread whose credentials are those it opened them with, and a
 * change is one also when it was undone. To be called before the first operation, of a provider with workers.
 */
void rr_posix_apart(struct rr_vfs *vfs);

#endif
