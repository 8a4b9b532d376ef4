/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_IDMAP_GROUPS_H
#define RR_VFS_IDMAP_GROUPS_H

#include "rpc/server.h"
#include "vfs/idmap/idmap.h"

/* Gives a caller with AUTH_SYS the groups that the directory has for its user, instead of those of its
 * credential, of which there are at most 16: "--manage-gids". A user that the directory does not know, and
 * root, have no groups; the caller's own group stays. The groups lie at the end of the request's arena.
 * RR_IDMAP_FOUND: the caller is complete, changed or not. RR_IDMAP_WAIT: waiter will be woken, to call this
 * function again. RR_IDMAP_BUSY: the client is to come again later. idmap may be NULL. */
enum rr_idmap_status rr_idmap_groups(
	struct rr_idmap *idmap, struct rpcrdma_request *request, struct rr_idmap_waiter *waiter);

#endif
