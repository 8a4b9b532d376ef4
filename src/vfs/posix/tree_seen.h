/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_SEEN_H
#define RR_VFS_POSIX_TREE_SEEN_H

#include "base/list.h"
#include "base/map.h"
#include "vfs/posix/handle.h"

/*
 * This remembers where objects were seen, besides those that have a node: each entry of every directory that
 * a search read, and the places of nodes that were freed. A handle that is not known is looked for here
 * first, so that a client that comes back with a thousand handles of one directory has it read once.
 *
 * An object is known by export, device and inode number, and so is its directory; no entry points to another,
 * and the oldest entries are dropped when there are too many octets. An entry may be outdated: code that
 * follows a path checks the object at its end.
 */
struct rr_seen {
	const struct rr_env *env;
	struct rr_map map;
	struct rr_list ages; /* the oldest first */
	size_t octets, octets_max;
};

enum { RR_SEEN_OCTETS = 16 << 20 };

/* Prepares the memory of sightings. Errors: NOMEM. */
int rr_seen_init(struct rr_seen *seen, const struct rr_env *env);
void rr_seen_free(struct rr_seen *seen);

/* Returns the key of an object: a hash of its export, device and inode number. */
uint64_t rr_seen_key(const struct rr_handle_id *id);

/* Notes that the object with this key has this name in the directory whose key is parent. Does nothing where
 * there is no memory. */
void rr_seen_note(struct rr_seen *seen, uint64_t key, uint64_t parent, const char *name);

/* Returns the path from the object whose key is root down to the object whose key is key. The caller frees
 * the path by rr_free(). Returns NULL if the path is not known, or there is no memory. */
char *rr_seen_path(const struct rr_seen *seen, uint64_t key, uint64_t root);

#endif
