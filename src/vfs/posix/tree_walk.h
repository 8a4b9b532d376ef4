/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_WALK_H
#define RR_VFS_POSIX_TREE_WALK_H

#include <stdbool.h>

/*
 * The walk of a search (vfs/posix/tree_search.h) through directories, one step at a time. A frame stands for
 * each directory from the export's root down to the one that is open; the frame holds the names of the
 * directories in it that are still to be read.
 */
struct rr_tree;

/* Begins a walk from the root of the export: along the hints where search->hinted is true, else
 * everywhere. */
void rr_tree_walk_begin(struct rr_tree *tree);

/* Does a step: reads some entries, or goes to another directory. Returns false where no step is left to do:
 * the walk is at its end, or the object was found and its directory was read to the end. */
bool rr_tree_walk_step(struct rr_tree *tree);

/* Ends the search: frees what the walk holds, and notes that no search is under way. */
void rr_tree_walk_end(struct rr_tree *tree);

#endif
