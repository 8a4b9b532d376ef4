/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_TREE_SEARCH_H
#define RR_NFS_TREE_SEARCH_H

#include "base/env.h"
#include "nfs/handle.h"

/*
 * Finding an object by its handle alone: first only along directories whose
 * names have the hints' hashes, looking at the inode number of every entry
 * there (so that also what was renamed in its directory is found); then in the
 * whole export, within a bound.
 *
 * A client may hold thousands of handles of what somebody else removed. So
 * that not each of them costs a walk through the whole export, the inode
 * numbers that a vain walk saw are remembered for ten times as long as the
 * walk took, and at least a second: what is not among them is not searched
 * for. (A Bloom filter: it may claim to have seen what it did not, and then
 * there is a walk.)
 */
struct rr_tree;
struct rr_tree_root;

enum { RR_SEARCH_MAX = 1000000, RR_SEARCH_BITS = 1 << 23 };

struct rr_search_memory {
	uint64_t *seen;                  /* RR_SEARCH_BITS; NULL: none yet */
	const struct rr_tree_root *root; /* NULL: seen says nothing */
	uint64_t until;
};

/* Its path below the root, to be freed with rr_free(); NULL where it was not found. The thread must act as
 * the server itself. */
char *rr_tree_search(struct rr_tree *tree, const struct rr_tree_root *root, const struct rr_handle_id *id,
	const struct rr_handle_place *place);

void rr_tree_search_free(struct rr_tree *tree);

#endif
