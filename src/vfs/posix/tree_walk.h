/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_WALK_H
#define RR_VFS_POSIX_TREE_WALK_H

#include <stdbool.h>

/*
 * The walk of a search (vfs/posix/tree_search.h) through directories, one step at a
 * time. A frame stands for each directory from the export's root down to the
 * one that is open; it holds the names of those in it that are still to be read.
 */
struct rr_tree;

/* From the root, along the hints or everywhere. */
void rr_tree_walk_begin(struct rr_tree *tree);

/* Reads some entries, or goes to another directory. False: the walk is at its end, or the object was found
 * and its directory read. */
bool rr_tree_walk_step(struct rr_tree *tree);

/* There is no search any more. */
void rr_tree_walk_end(struct rr_tree *tree);

#endif
