/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_NODE_H
#define RR_VFS_POSIX_TREE_NODE_H

#include "base/list.h"
#include "base/map.h"
#include "vfs/posix/handle.h"

/*
 * What a tree knows of objects: a bounded cache. A node is found by what
 * identifies its object, and by its name in its directory; the names up to
 * the export's root are its path. All of it is knowledge that others may
 * outdate at any time by renaming and removing: whoever uses a path looks
 * whether it still leads to the object.
 *
 * Who owns what: the cache owns its nodes and the descriptors in them. A node
 * that is held is neither freed nor are its descriptors closed. Nodes that
 * have no children here are freed, the least recently used first, when there
 * are too many; descriptors are closed in the same order.
 */

enum { RR_NODES_MAX = 65536, RR_NODES_RETIRED = 64 };

/* How long a descriptor stays open without being used, in ns. */
#define RR_NODE_IDLE (10 * RR_SECOND)

enum { RR_NODE_READ, RR_NODE_WRITE, RR_NODE_DATA }; /* descriptors for data */

struct rr_tree_root;
struct rr_seen;

struct rr_node {
	struct rr_map_link by_id, by_name;
	struct rr_list idle; /* in the cache's idle, while it has no children */
	struct rr_list open; /* in the cache's open, while it has descriptors */
	const struct rr_tree_root *root;
	struct rr_node *parent; /* NULL: where it is is not known, or it is the export's root */
	char *name;             /* in parent */
	uint32_t refs, children;
	uint64_t verified;         /* when its path was last seen to lead to it, in ns */
	int path_fd;               /* O_PATH, or -1 */
	int data_fd[RR_NODE_DATA]; /* or -1 */
	bool readable;             /* data_fd[RR_NODE_WRITE] is O_RDWR, not O_WRONLY */
	bool gone;                 /* it had no link left: it will not come back */
	uint8_t hint;              /* of name */
	struct rr_handle_id id;
	struct rr_vfs_handle
		handle; /* length 0: not made yet. Kept when the object is renamed: clients compare handles */
};

struct rr_retired {
	uint32_t count;
	int fds[RR_NODES_RETIRED];
};

struct rr_nodes {
	const struct rr_env *env;
	const struct rr_handle_keys *keys;
	struct rr_seen *seen; /* where nodes that go leave their place; may be NULL */
	struct rr_map by_id, by_name;
	struct rr_list idle, open;     /* the least recently used first */
	uint32_t count, max;           /* nodes */
	uint32_t open_count, open_max; /* descriptors */
	/* Descriptors for data that nobody uses any more: closing them may wait, for what a file system
	 * does when a file is closed. A thread that may wait closes those of local file systems; the
	 * thread that tidies up closes those of other file systems, which may hang. */
	struct rr_retired near, far;
};

/* keys must live as long as nodes. */
int rr_nodes_init(struct rr_nodes *nodes, const struct rr_env *env, const struct rr_handle_keys *keys,
	uint32_t open_max);
void rr_nodes_free(struct rr_nodes *nodes);

/* NULL where there is none. */
struct rr_node *rr_nodes_find(const struct rr_nodes *nodes, const struct rr_handle_id *id);
struct rr_node *rr_nodes_child(const struct rr_nodes *nodes, const struct rr_node *parent, const char *name);

/* A new node without a place; may free others that are not held. NULL: no memory. */
struct rr_node *rr_nodes_add(
	struct rr_nodes *nodes, const struct rr_tree_root *root, const struct rr_handle_id *id);

/* node is now called name in parent, and nothing else is. -RPCRDMA_ERR_NOMEM: it has no place. */
int rr_nodes_place(struct rr_nodes *nodes, struct rr_node *node, struct rr_node *parent, const char *name);

/* The place of node is not known any more; its descriptors are closed as soon as it is not held. */
void rr_nodes_unplace(struct rr_nodes *nodes, struct rr_node *node);

/* Node is in use; marks it as the most recently used. */
void rr_nodes_hold(struct rr_nodes *nodes, struct rr_node *node);
void rr_nodes_release(struct rr_nodes *nodes, struct rr_node *node);

/* Puts a descriptor into one of node's slots, which it then belongs to; what was there is closed. -1: only
 * that. */
void rr_nodes_set_fd(struct rr_nodes *nodes, struct rr_node *node, int *slot, int fd);
void rr_nodes_close(struct rr_nodes *nodes, struct rr_node *node);

/* Closes descriptors of nodes that are not held, until at most open_max are open. False where none was
 * closed. */
bool rr_nodes_trim(struct rr_nodes *nodes, uint32_t open_max);

/* Takes out of a list what is in it. */
void rr_retired_take(struct rr_retired *list, struct rr_retired *taken);
void rr_retired_close(struct rr_retired *taken);

/* Closes those of nodes that were not verified, hence not used, for RR_NODE_IDLE. */
void rr_nodes_tidy(struct rr_nodes *nodes, uint64_t now);

/* Depth and hints of node's path, as far as it is known. */
void rr_nodes_where(const struct rr_nodes *nodes, const struct rr_node *node, struct rr_handle_place *place);

/* Octets of node's path below its export's root, without a final zero: 0 for the root. Negative: not known.
 */
int64_t rr_node_path_length(const struct rr_node *node);

/* Writes them, and a zero. */
void rr_node_path(const struct rr_node *node, char *path, size_t length);

#endif
