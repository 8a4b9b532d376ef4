/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_TREE_INNER_H
#define RR_NFS_TREE_INNER_H

#include "nfs/identity.h"
#include "nfs/tree_node.h"
#include "nfs/tree_search.h"

/*
 * What the files of the tree share. Nobody else includes this, except tests.
 */

struct rr_tree_root {
	uint32_t id; /* struct rr_handle_id */
	const struct rr_export *export;
	struct rr_node *node; /* held */
	uint64_t device;
};

struct rr_tree {
	const struct rr_env *env;
	struct rr_tree_config config; /* exports: copies, without slashes at their names' ends */
	struct rr_export *exports;
	struct rr_tree_root *roots; /* of the exports */
	struct rr_handle_keys keys;
	struct rr_nodes nodes;
	struct rr_identity identity;
	struct rr_search_memory searched;
	uint32_t search_max; /* directory entries that one search may look at */
};

/* How long a path that led to an object is believed to do so still. */
#define RR_TREE_BELIEVED RR_SECOND

/* Opens path below directory with flags (O_CLOEXEC and O_NOFOLLOW are added), never outside and never through
 * a symbolic link; path may be longer than PATH_MAX, and empty for directory itself. -1 with errno. */
int rr_tree_beneath(struct rr_tree *tree, int directory, const char *path, uint64_t flags);

/* Opens anew what fd, perhaps O_PATH, refers to. -1 with errno. */
int rr_tree_reopen(struct rr_tree *tree, int fd, int flags);

/* statx(2) of a descriptor: 0 or errno. */
int rr_tree_stat(int fd, struct statx *st);

struct rr_handle_id rr_tree_id(
	const struct rr_tree *tree, const struct rr_tree_root *root, const struct statx *st);

/* The node of an object that was just found as name in parent; takes fd over, also where it fails (NULL). */
struct rr_node *rr_tree_intern(
	struct rr_tree *tree, struct rr_node *parent, const char *name, int fd, const struct statx *st);

/* When the path of a directory was last seen to lead to it: a child that is found in the directory is not
 * believed for longer than the directory itself. */
uint64_t rr_tree_believed(const struct rr_tree *tree, const struct rr_node *directory);

/* Fills object, and holds node, which must have its path_fd. */
void rr_tree_object(
	struct rr_tree *tree, struct rr_node *node, const struct statx *st, struct rr_object *object);

/* As rr_tree_resolve(), of a node; with the identity that is in force, or the server's own. */
nfsstat3 rr_tree_reach(struct rr_tree *tree, struct rr_node *node, struct rr_object *object);

#endif
