/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_SEEN_H
#define RR_VFS_POSIX_TREE_SEEN_H

#include "base/list.h"
#include "base/map.h"
#include "vfs/posix/handle.h"

/*
 * Where objects were seen, beside those that have a node: each entry of every directory that a search read,
 * and what nodes knew when they had to go. A handle that is not known is looked for here first, so that a
 * client that comes back with a thousand handles of one directory has it read once.
 *
 * An object is known by export, device and inode number, and so is its directory: nothing points to anything,
 * and the oldest go when there are too many octets. All of it may be outdated: who follows a path looks what
 * it led to.
 */
struct rr_seen {
	const struct rr_env *env;
	struct rr_map map;
	struct rr_list ages; /* the oldest first */
	size_t octets, octets_max;
};

enum { RR_SEEN_OCTETS = 16 << 20 };

/* -RPCRDMA_ERR_NOMEM. */
int rr_seen_init(struct rr_seen *seen, const struct rr_env *env);
void rr_seen_free(struct rr_seen *seen);

uint64_t rr_seen_key(const struct rr_handle_id *id);

/* The object of key has this name in the directory of parent. Does nothing where there is no memory. */
void rr_seen_note(struct rr_seen *seen, uint64_t key, uint64_t parent, const char *name);

/* The path of the object below that of root, to be freed with rr_free(); NULL: not known. */
char *rr_seen_path(const struct rr_seen *seen, uint64_t key, uint64_t root);

#endif
