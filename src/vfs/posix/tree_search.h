/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_SEARCH_H
#define RR_VFS_POSIX_TREE_SEARCH_H

#include <stdatomic.h>

#include "base/env.h"
#include "base/list.h"
#include "vfs/posix/handle.h"

/*
 * A search finds an object by its handle alone: first only along directories whose names have the hints'
 * hashes, by the inode number of every entry there (so that an object that was renamed in its directory is
 * found, too); then in the whole export, within a bound.
 *
 * A search is done in slices that are short enough for other calls to wait: one slice when a call wants the
 * object, the others from the loop's timer. The call is answered RR_VFS_BUSY, and the client sends it again.
 * There is one search at a time in a tree. It keeps one directory open, and goes down and up by the
 * directory's own entries, so that its depth costs nothing. Every entry that it reads is noted
 * (vfs/posix/tree_seen.h), and the directory in which it finds the object is read to its end: so a client
 * that comes with the handles of all entries of a directory has it read once.
 *
 * A client may hold thousands of handles of objects that another client removed. So that not each of them
 * costs a walk through the whole export, the inode numbers that a vain walk saw are remembered for ten times
 * as long as the walk took, and at least a second: objects with other numbers are not searched for. (This is
 * a Bloom filter: it may say of a number that it was seen although it was not, and then there is a walk.)
 * Objects that were searched for in vain are remembered for the same time.
 */
struct rr_tree;
struct rr_tree_root;
struct rr_node;
struct statx;

enum { RR_SEARCH_MAX = 1000000, RR_SEARCH_BITS = 1 << 23, RR_SEARCH_VAIN = 4096 };

/* The length of a slice, from a call and from the timer. */
#define RR_SEARCH_CALL  (20 * RR_MILLISECOND)
#define RR_SEARCH_TIMER (5 * RR_MILLISECOND)

/* The inode numbers that the last vain walk through an export saw. */
struct rr_search_memory {
	uint64_t *seen; /* RR_SEARCH_BITS bits; NULL: there was no walk yet */
	uint64_t until; /* the time from which seen is not used */
	uint64_t birth; /* objects born at this time or later may have been made behind the walk */
};

/* An object that was searched for in vain, by a hash of its identity, until a time. */
struct rr_search_vain {
	uint64_t hash, until;
};

struct rr_search {
	struct rr_search_memory *memories; /* for each export */
	struct rr_search_vain *vain;       /* RR_SEARCH_VAIN */
	uint64_t entries;                  /* entries looked at so far, by all searches */
	uint32_t entries_max;              /* most entries of one search */
	uint32_t steps_max; /* most steps of one slice: directories opened, and buffers of entries read */

	bool running;     /* a thread is doing a slice */
	_Atomic bool due; /* there is a search under way, for threads without the lock */

	/* These belong to the search under way; root NULL: there is none. */
	const struct rr_tree_root *root;
	struct rr_handle_id id;
	struct rr_handle_place hints;
	bool hinted;   /* true: only along the hints; false: everywhere */
	bool found;    /* the object was found; its directory is still read to its end */
	bool complete; /* no directory was passed over */
	bool reading;  /* the innermost directory has more entries */
	int fd;        /* of the innermost directory */
	struct rr_list frames;
	size_t pending; /* memory of the names of directories that are still to be read, in octets */
	uint32_t left;  /* entries that may still be read */
	uint64_t took;
	uint64_t began; /* ns since 1970 */
};

/* Prepares the core for searches. Errors: NOMEM. rr_search_end() frees their memory. */
int rr_search_init(struct rr_tree *tree);
void rr_search_end(struct rr_tree *tree);

/* Looks for the object of node, and gives the node its place. Returns 0, ESTALE if the object is not there,
 * EAGAIN if that is not known yet, or another errno. The thread must act as the server itself. */
int rr_tree_search(
	struct rr_tree *tree, struct rr_node *node, const struct rr_handle_place *place, struct statx *st);

/* Notes that an object with this inode number is in the export. */
void rr_search_note(struct rr_tree *tree, const struct rr_tree_root *root, uint64_t inode);

#endif
