/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_MOUNT_WALK_H
#define RR_SERVER_MOUNT_WALK_H

#include "server/nfs3/proc.h"

/* Paths in calls: the look-up of an export, and of the directories below it, in work->op.walk. */

/* Begins to look up a path, which stays the caller's. The root of an export is found by every caller that may
 * use the export. A directory below the root is looked up with the caller's identity, as by LOOKUP: a caller
 * that may not reach the directory gets no handle, and does not learn whether the directory exists. */
enum rr_vfs_status rr_nfs_walk_begin(struct rr_nfs_work *work, struct rpcrdma_bytes path);

/* Goes on after a component was looked up with this status. Returns RR_VFS_PENDING while the look-up of
 * another one is under way. RR_VFS_OK: walk.lookup has the handle and the attributes. */
enum rr_vfs_status rr_nfs_walk_on(struct rr_nfs_work *work, enum rr_vfs_status status);

#endif
