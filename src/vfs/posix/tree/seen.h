/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_SEEN_H
#define RR_VFS_POSIX_TREE_SEEN_H

#include "base/list.h"
#include "base/map.h"
#include "vfs/posix/handle.h"

/*
 * This table remembers where objects were seen that may have no node (node.h): each entry of every
 * directory that a search read, and the places of nodes that were freed. A record of this table is a
 * sighting: an object had this name in this directory. Before the object of a handle is searched for, it is
 * looked up here. So a client that comes back with a thousand handles of objects in one directory makes the
 * server read that directory once.
 *
 * A key stands for an object and for its directory: a hash of export, device and inode number. Sightings do
 * not point to each other, so any of them may be dropped: the oldest ones are, when there are too many
 * octets. A sighting may be outdated: code that follows a path checks the object at its end.
 */
struct rr_seen {
	const struct rr_env *env;
	struct rr_map map;         /* sightings, by key */
	struct rr_list ages;       /* the same, the oldest first */
	size_t octets, octets_max; /* memory of all sightings: now, and at most */
};

enum { RR_SEEN_OCTETS = 16 << 20 };

/* Prepares an empty table. Errors: NOMEM. */
int rr_seen_init(struct rr_seen *seen, const struct rr_env *env);
/* Frees all sightings and the table. */
void rr_seen_free(struct rr_seen *seen);

/* Returns the key of an object: a hash of its export, device and inode number. */
uint64_t rr_seen_key(const struct rr_handle_id *id);

/* Notes that the object with this key has this name in the directory whose key is parent, instead of what was
 * noted of the object before. Where the table is full, the oldest sightings are forgotten. Where there is no
 * memory, nothing is noted. */
void rr_seen_note(struct rr_seen *seen, uint64_t key, uint64_t parent, const char *name);

/* Returns the path from the directory whose key is root down to the object whose key is key. The caller frees
 * the path by rr_free(). Returns NULL if the path is not known or is empty, or there is no memory. */
char *rr_seen_path(const struct rr_seen *seen, uint64_t key, uint64_t root);

#endif
