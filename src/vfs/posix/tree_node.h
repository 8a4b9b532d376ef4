/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_NODE_H
#define RR_VFS_POSIX_TREE_NODE_H

#include "base/list.h"
#include "base/map.h"
#include "vfs/posix/handle.h"

/*
 * A tree keeps its knowledge of objects in nodes, in a bounded cache. A node is found by the identity of its
 * object, and by its name in its directory; the names up to the export's root are its path. Other programs
 * may outdate this knowledge at any time by renaming and removing: code that uses a path checks whether it
 * still leads to the object.
 *
 * The cache owns its nodes and the descriptors in them. A node that is held is not freed, and its descriptors
 * stay open. Nodes that have no children here are freed, the least recently used first, when there are too
 * many; descriptors are closed in the same order.
 */

enum { RR_NODES_MAX = 65536, RR_NODES_RETIRED = 64 };

/* How long a descriptor stays open without being used, in ns. */
#define RR_NODE_IDLE (10 * RR_SECOND)

enum { RR_NODE_READ, RR_NODE_WRITE, RR_NODE_DATA }; /* descriptors for data */

struct rr_tree_root;
struct rr_seen;

struct rr_node {
	struct rr_map_link by_id, by_name;
	struct rr_list idle; /* in rr_nodes.idle, while the node has no children */
	struct rr_list open; /* in rr_nodes.open, while the node has descriptors */
	const struct rr_tree_root *root;
	struct rr_node
		*parent; /* NULL: the place of the node is not known, or the node is the export's root */
	char *name;      /* in parent */
	uint32_t refs, children;
	uint64_t verified;         /* when the path was last seen to lead to the object, in ns */
	int path_fd;               /* O_PATH, or -1 */
	int data_fd[RR_NODE_DATA]; /* or -1 */
	bool readable;             /* data_fd[RR_NODE_WRITE] is O_RDWR, not O_WRONLY */
	bool gone;                 /* the object had no name left, and will not come back */
	uint8_t hint;              /* of name */
	struct rr_handle_id id;
	struct rr_vfs_handle handle; /* length 0: not made yet. It is kept when the object is renamed, as
					clients compare handles. */
};

struct rr_retired {
	uint32_t count;
	int fds[RR_NODES_RETIRED];
};

struct rr_nodes {
	const struct rr_env *env;
	const struct rr_handle_keys *keys;
	struct rr_seen *seen; /* keeps the places of nodes that are freed; may be NULL */
	struct rr_map by_id, by_name;
	struct rr_list idle, open;     /* the least recently used first */
	uint32_t count, max;           /* nodes */
	uint32_t open_count, open_max; /* descriptors */
	/* Descriptors for data that are not used any more and are to be closed: closing may wait for work
	 * that a file system does then. A thread that may wait closes those of local file systems (near); the
	 * thread that tidies up closes those of other file systems (far), which may hang. */
	struct rr_retired near, far;
};

/* Prepares the cache. keys must live as long as nodes. Errors: NOMEM. */
int rr_nodes_init(struct rr_nodes *nodes, const struct rr_env *env, const struct rr_handle_keys *keys,
	uint32_t open_max);
void rr_nodes_free(struct rr_nodes *nodes);

/* These two functions return a node, by its object's identity or by its name in parent; NULL where there is
 * no such node. */
struct rr_node *rr_nodes_find(const struct rr_nodes *nodes, const struct rr_handle_id *id);
struct rr_node *rr_nodes_child(const struct rr_nodes *nodes, const struct rr_node *parent, const char *name);

/* Makes a node without a place; this may free other nodes that are not held. Returns NULL if there is no
 * memory. */
struct rr_node *rr_nodes_add(
	struct rr_nodes *nodes, const struct rr_tree_root *root, const struct rr_handle_id *id);

/* Notes that node is now called name in parent, and that no other node has this name there any more. Returns
 * 0, or -RPCRDMA_ERR_NOMEM, after which node has no place. */
int rr_nodes_place(struct rr_nodes *nodes, struct rr_node *node, struct rr_node *parent, const char *name);

/* Forgets the place of node. The descriptors of node are closed as soon as node is not held. */
void rr_nodes_unplace(struct rr_nodes *nodes, struct rr_node *node);

/* These two functions take and give back a reference to node. Holding a node marks it as the most recently
 * used. */
void rr_nodes_hold(struct rr_nodes *nodes, struct rr_node *node);
void rr_nodes_release(struct rr_nodes *nodes, struct rr_node *node);

/* Puts the descriptor fd into a slot of node, which owns fd from then on. A descriptor that was in the slot
 * is closed. fd -1 only closes. */
void rr_nodes_set_fd(struct rr_nodes *nodes, struct rr_node *node, int *slot, int fd);
void rr_nodes_close(struct rr_nodes *nodes, struct rr_node *node);

/* Closes descriptors of nodes that are not held, until at most open_max are open. Returns false where this
 * function closed no descriptor. */
bool rr_nodes_trim(struct rr_nodes *nodes, uint32_t open_max);

/* Moves the descriptors of a list into taken. rr_retired_close() then closes them. */
void rr_retired_take(struct rr_retired *list, struct rr_retired *taken);
void rr_retired_close(struct rr_retired *taken);

/* Closes the descriptors of nodes that were not verified, and so not used, for RR_NODE_IDLE. */
void rr_nodes_tidy(struct rr_nodes *nodes, uint64_t now);

/* Fills in the depth and the hints of node's path, as far as the path is known. */
void rr_nodes_where(const struct rr_nodes *nodes, const struct rr_node *node, struct rr_handle_place *place);

/* Returns the length of node's path below its export's root, without a final zero; this is 0 for the root.
 * Returns a negative number if the path is not known. */
int64_t rr_node_path_length(const struct rr_node *node);

/* Writes node's path below its export's root, which has this length, and a zero behind the path. */
void rr_node_path(const struct rr_node *node, char *path, size_t length);

#endif
