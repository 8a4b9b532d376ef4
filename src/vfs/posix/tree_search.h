/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_SEARCH_H
#define RR_VFS_POSIX_TREE_SEARCH_H

#include <stdatomic.h>

#include "base/env.h"
#include "base/list.h"
#include "vfs/posix/handle.h"

/*
 * Finding an object by its handle alone: first only along directories whose
 * names have the hints' hashes, looking at the inode number of every entry
 * there (so that also what was renamed in its directory is found); then in the
 * whole export, within a bound.
 *
 * A search is work in slices, of a time that others can wait for: one when a
 * call wants the object, the others from the loop's timer; the call is answered
 * RR_VFS_BUSY, and comes again. There is one search at a time in a tree. It
 * keeps one directory open, and goes down and up by the directory's own entries,
 * so that its depth costs nothing. All that it reads is noted (vfs/posix/tree_seen.h),
 * and the directory in which it finds what it wants is read to its end: a client
 * that comes with the handles of all that is in it has it read once.
 *
 * A client may hold thousands of handles of what somebody else removed. So
 * that not each of them costs a walk through the whole export, the inode
 * numbers that a vain walk saw are remembered for ten times as long as the
 * walk took, and at least a second: what is not among them is not searched
 * for. (A Bloom filter: it may claim to have seen what it did not, and then
 * there is a walk.) For the same time it is remembered which objects were
 * searched for in vain.
 */
struct rr_tree;
struct rr_tree_root;
struct rr_node;
struct statx;

enum { RR_SEARCH_MAX = 1000000, RR_SEARCH_BITS = 1 << 23, RR_SEARCH_VAIN = 4096 };

/* How long a slice is: of a call, and of the timer. */
#define RR_SEARCH_CALL  (20 * RR_MILLISECOND)
#define RR_SEARCH_TIMER (5 * RR_MILLISECOND)

/* What the last vain walk through an export saw. */
struct rr_search_memory {
	uint64_t *seen; /* RR_SEARCH_BITS; NULL: no walk yet */
	uint64_t until; /* seen says nothing from then on */
	uint64_t birth; /* of objects that may have been made after the walk passed, and later ones */
};

/* An object that was searched for in vain. */
struct rr_search_vain {
	uint64_t hash, until;
};

struct rr_search {
	struct rr_search_memory *memories; /* by export */
	struct rr_search_vain *vain;       /* RR_SEARCH_VAIN */
	uint64_t entries;                  /* looked at so far, by all searches */
	uint32_t entries_max;              /* of one search */
	uint32_t steps_max;                /* of one slice: directories opened, and buffers of entries read */

	bool running;     /* a thread is at it */
	_Atomic bool due; /* as root below; for those who only want to know whether there is work */

	/* The search under way; root NULL: there is none. */
	const struct rr_tree_root *root;
	struct rr_handle_id id;
	struct rr_handle_place hints;
	bool hinted;   /* along the hints; else everywhere */
	bool found;    /* only the directory is still read to its end */
	bool complete; /* nothing was passed over */
	bool reading;  /* the innermost directory has more entries */
	int fd;        /* of the innermost directory */
	struct rr_list frames;
	size_t pending; /* octets of names of directories that are still to be read */
	uint32_t left;  /* entries that may still be looked at */
	uint64_t took;
	uint64_t began; /* ns since 1970 */
};

/* -RPCRDMA_ERR_NOMEM. */
int rr_search_init(struct rr_tree *tree);
void rr_search_end(struct rr_tree *tree);

/* Looks for the object of node, and gives it its place. 0, ESTALE: it is not there; EAGAIN: not yet known; or
 * another errno. The thread must act as the server itself. */
int rr_tree_search(
	struct rr_tree *tree, struct rr_node *node, const struct rr_handle_place *place, struct statx *st);

/* An object with this inode number is in the export. */
void rr_search_note(struct rr_tree *tree, const struct rr_tree_root *root, uint64_t inode);

#endif
