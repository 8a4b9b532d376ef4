/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_SEARCH_H
#define RR_VFS_POSIX_TREE_SEARCH_H

#include <stdatomic.h>

#include "base/env.h"
#include "base/list.h"
#include "vfs/posix/handle.h"

/*
 * A search finds an object by its handle alone, by up to two walks through directories (walk.h). The
 * first walk goes along the hints of the handle (handle.h): it enters only directories whose names have these
 * hashes. It compares the inode number of every entry there, so that it also finds an object that was renamed
 * in its directory. The second walk goes through the whole export, within a bound.
 *
 * A search is done in slices that are so short that other calls can wait for one: the first slice when a call
 * wants the object, the others from the loop's timer. Until the object is found, the call is answered by
 * RR_VFS_BUSY, and the client sends it again. There is one search at a time in a tree. It keeps one directory
 * open, and reaches the next one by a name in it or by "..", so that deep trees need no more descriptors.
 * Every entry that it reads is noted (seen.h), and the directory in which it finds the object is read to
 * its end. So a client that comes with the handles of all objects in a directory makes the server read that
 * directory once.
 *
 * A client may hold thousands of handles of objects that another client removed. So that not each of them
 * costs a walk through the whole export, a walk in vain leaves a memory: the inode numbers that it saw. For
 * ten times as long as the walk took, and at least a second, objects with other inode numbers are taken for
 * gone and are not searched for. (The memory is a Bloom filter: it may say of a number that it was seen
 * although it was not, and then there is a walk.) Each object that was searched for in vain is remembered for
 * the same time, too.
 */
struct rr_tree;
struct rr_tree_root;
struct rr_node;
struct statx;

/* The bound of a search, in entries; bits of a Bloom filter; objects that are remembered as searched for in
 * vain. */
enum { RR_SEARCH_MAX = 1000000, RR_SEARCH_BITS = 1 << 23, RR_SEARCH_VAIN = 4096 };

/* The greatest length of a slice, from a call and from the timer. */
#define RR_SEARCH_CALL  (20 * RR_MILLISECOND)
#define RR_SEARCH_TIMER (5 * RR_MILLISECOND)

/* The record of the last walk through a whole export that did not find its object: the inode numbers that the
 * walk saw, and those of objects found since then. */
struct rr_search_memory {
	uint64_t *seen; /* a Bloom filter of RR_SEARCH_BITS bits; NULL: there was no walk yet */
	uint64_t until; /* seen is used until this time (rr_now()) */
	uint64_t birth; /* when the walk began, in ns since 1970: objects born since then may have been made
			   in directories that the walk had already left */
};

/* An object that was searched for in vain: a hash of its identity, and the time (rr_now()) until which the
 * object is taken for gone. */
struct rr_search_vain {
	uint64_t hash, until;
};

struct rr_search {
	struct rr_search_memory *memories; /* for each export */
	struct rr_search_vain *vain;       /* an array of RR_SEARCH_VAIN, by the hash */
	uint64_t entries;                  /* entries looked at so far, by all searches */
	uint32_t entries_max;              /* a search looks at no more entries than this */
	uint32_t steps_max; /* a slice has no more steps than this: directories opened, and buffers of entries
			       read */

	bool running;     /* a thread is doing a slice, perhaps without the lock at the moment */
	_Atomic bool due; /* a search is under way (root is not NULL); threads without the lock read this */

	/* These describe the search under way; root NULL: there is none. */
	const struct rr_tree_root *root;
	struct rr_handle_id id;
	struct rr_handle_place hints;
	bool hinted;   /* true: this is the walk along the hints; false: the walk through the whole export */
	bool found;    /* the object was found; its directory is still read to its end */
	bool complete; /* the walk has left out no directory that it should have read */
	bool hindered; /* the walk has left out an entry for want of descriptors, memory or the like: the next
			  walk may find the object */
	bool reading;  /* the innermost directory may have more entries to read */
	int fd;        /* of the innermost directory, or -1 */
	struct rr_list frames; /* of walk.c: the directories from the innermost one up to the root */
	size_t pending;        /* memory of the names of directories that are still to be read, in octets */
	uint32_t left;         /* entries that the search may still look at */
	uint64_t took;         /* time of its slices so far, in ns */
	uint64_t began;        /* ns since 1970 */
};

/* Prepares the core for searches. Errors: NOMEM. */
int rr_search_init(struct rr_tree *tree);
/* Ends a search under way, and frees the memory for searches. Does nothing where rr_search_init() was not
 * called. */
void rr_search_end(struct rr_tree *tree);

/* Looks for the object of node where it was seen before, else does a slice of a search for it. place has the
 * depth and the hints of the object's handle. If the object is found, gives the node its place, and stores
 * the attributes in *st. Returns 0; ESTALE if the object is not in the export, or the search reached its
 * bound; EAGAIN if the search is not over, or was hindered; or another errno. The thread must act as the
 * server itself. */
int rr_tree_search(
	struct rr_tree *tree, struct rr_node *node, const struct rr_handle_place *place, struct statx *st);

/* Notes in the export's struct rr_search_memory that an object with this inode number is in the export, so
 * that a later search for it is not taken to be in vain. Does nothing where there is no such record yet. */
void rr_search_note(struct rr_tree *tree, const struct rr_tree_root *root, uint64_t inode);

#endif
