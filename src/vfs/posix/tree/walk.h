/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_WALK_H
#define RR_VFS_POSIX_TREE_WALK_H

#include <stdbool.h>

/*
 * The walk of a search (search.h) through directories, one step at a time. Only the innermost directory
 * is open. It and each directory above it, up to the export's root, has a frame, which holds the names of
 * those of its directories that are still to be read. The state of the walk is in struct rr_search. The
 * caller of these functions holds the lock; rr_tree_walk_begin() and rr_tree_walk_step() may release it for a
 * time.
 */
struct rr_tree;

/* Begins a walk from the root of the export: along the hints where search->hinted is true, else everywhere.
 * Drops what an earlier walk of the search held. */
void rr_tree_walk_begin(struct rr_tree *tree);

/* Does a step: reads some entries, or goes to another directory. Returns false, without a step, where none is
 * left to do: the walk is at its end, the bound of entries is reached, or the object was found and its
 * directory was read to the end. */
bool rr_tree_walk_step(struct rr_tree *tree);

/* Ends the search: frees what the walk holds, and notes that no search is under way. */
void rr_tree_walk_end(struct rr_tree *tree);

#endif
