/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUSE_LOCK_H
#define RR_FUSE_LOCK_H

#include "base/list.h"
#include "vfs/vfs.h"

/*
 * The owners of locks of a node, as the kernel numbers them: a process for fcntl(2), an open file for
 * flock(2) and locks of open file descriptions. Each has an open of the storage of its own, which the server
 * sees as a lock-owner.
 */
struct rr_fuse;
struct rr_fuse_node;

struct rr_fuse_owner {
	struct rr_list of_node;
	uint64_t number;
	bool flock;
	uint32_t access;
	struct rr_vfs_open *open;
};

/* Ends the owner's locks of the node, if it has any: its process has closed the file. */
void rr_fuse_unlock_owner(struct rr_fuse_node *node, uint64_t number, bool flock);
/* Ends all owners of the node. */
void rr_fuse_unlock_all(struct rr_fuse_node *node);

#endif
