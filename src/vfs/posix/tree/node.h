/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_NODE_H
#define RR_VFS_POSIX_TREE_NODE_H

#include "base/crew_queue.h"
#include "base/list.h"
#include "base/map.h"
#include "vfs/posix/handle.h"

/*
 * A tree keeps its knowledge of objects in nodes, in a bounded cache. A node is found by the identity of its
 * object, and by its place: its name, and its parent, which is the node of its directory. The names from the
 * export's root down to the node are its path. Other programs may outdate this knowledge at any time by
 * renaming and removing: code that uses a path checks whether the path still leads to the object.
 *
 * The cache owns its nodes and the descriptors in them. A node is held while somebody has a reference to it:
 * it is then not freed, and its descriptors stay open. When there are too many nodes, those are freed that
 * are not held and have no children in the cache, the least recently used first. When there are too many
 * descriptors, those of nodes that are not held are closed in the same order.
 */

enum { RR_NODES_MAX = 65536, RR_NODES_RETIRED = 64 }; /* bounds of the cache, and of one struct rr_retired */

/* How long a descriptor stays open without being used, in ns: it keeps the blocks of a file that a local
 * program removes, and its file system from being unmounted. A file that is open for writing cannot be
 * executed (ETXTBSY), so a descriptor for writing stays for RR_NODE_WRITE_IDLE after its last use for that.
 */
#define RR_NODE_IDLE       (2 * RR_SECOND)
#define RR_NODE_WRITE_IDLE (500 * RR_MILLISECOND)

/* Indices of descriptors for data, by what they are used for, and their number. */
enum { RR_NODE_READ, RR_NODE_WRITE, RR_NODE_DATA };

struct rr_tree_root;
struct rr_seen;

struct rr_node {
	struct rr_map_link by_id, by_name;
	struct rr_list idle;    /* in rr_nodes.idle, while the node has no children */
	struct rr_list open;    /* in rr_nodes.open, while the node has descriptors */
	struct rr_list writing; /* in rr_nodes.writing, while the node has a descriptor for writing */
	const struct rr_tree_root *root;
	/* NULL: the place of the node is not known, or the node is the export's root */
	struct rr_node *parent;
	char *name; /* in parent; the node's own memory */
	/* References: the node is held while there are any. And the number of nodes whose parent it is. */
	uint32_t refs, children;
	uint64_t verified;         /* the time (rr_now()) when the path was last seen to lead to the object */
	uint64_t wrote;            /* the time of the last use of the descriptor for writing */
	uint64_t noted;            /* the time at which the place was noted in rr_nodes.seen, or 0 */
	int path_fd;               /* O_PATH, or -1 */
	int data_fd[RR_NODE_DATA]; /* or -1 */
	bool readable;             /* data_fd[RR_NODE_WRITE] is O_RDWR, not O_WRONLY */
	bool gone;                 /* the object had no name left, and will not come back */
	uint8_t hint;              /* of name, as in handle.h */
	struct rr_handle_id id;
	/* The handle that clients have; length 0: none was made yet. It stays as it is when the object is
	 * renamed, although the hints in it are then outdated, because clients compare handles. */
	struct rr_vfs_handle handle;
};

/* Descriptors that no node has any more and that are still to be closed. */
struct rr_retired {
	uint32_t count;
	int fds[RR_NODES_RETIRED];
};

/* A descriptor that no node has any more, in a file system that may not answer when it is closed. */
struct rr_far_fd {
	struct rr_list link;
	const struct rr_env *env;
	struct rr_crew_job job; /* for those who close it; its place stands for the file system */
	int fd;
};

struct rr_nodes {
	const struct rr_env *env;
	const struct rr_handle_keys *keys;
	struct rr_seen *seen; /* gets the places of nodes that are freed (seen.h); may be NULL */
	struct rr_map by_id, by_name;
	/* idle: the nodes without children, held or not; open: the nodes with descriptors; writing: the nodes
	 * with a descriptor for writing. The least recently used are first, in "writing" those that were
	 * least recently written to. */
	struct rr_list idle, open, writing;
	uint32_t count, max;         /* of nodes */
	_Atomic uint32_t open_count; /* of the nodes' descriptors; threads without the lock read this */
	uint32_t open_max;           /* of the nodes' descriptors */
	/* Number of nodes in "writing"; threads without the lock read this. */
	_Atomic uint32_t writing_count;
	/* Descriptors for data that were taken out of nodes. They are closed later and without the lock,
	 * because close(2) may wait for the file system. Those in local file systems (near) are closed by
	 * rr_tree_leave(), in any thread that may wait. Those in other file systems (far, of struct
	 * rr_far_fd), which may hang, are given to those who ask for them (rr_tree_take_far()). */
	struct rr_retired near;
	struct rr_list far;
	_Atomic bool has_far; /* "far" is not empty; threads without the lock read this */
};

/* Prepares the cache, for about open_max open descriptors. keys must live as long as nodes. Errors: NOMEM. */
int rr_nodes_init(struct rr_nodes *nodes, const struct rr_env *env, const struct rr_handle_keys *keys,
	uint32_t open_max);
void rr_nodes_free(struct rr_nodes *nodes);

/* Returns the node of the object with this identity, or NULL if the cache has none. */
struct rr_node *rr_nodes_find(const struct rr_nodes *nodes, const struct rr_handle_id *id);
/* Returns the node that the cache knows as name in parent, or NULL if there is none. */
struct rr_node *rr_nodes_child(const struct rr_nodes *nodes, const struct rr_node *parent, const char *name);

/* Makes a node for the object with this identity, which must not have one yet. The node has no place, and is
 * not held. This may free other nodes that are not held. Returns NULL if there is no memory. */
struct rr_node *rr_nodes_add(
	struct rr_nodes *nodes, const struct rr_tree_root *root, const struct rr_handle_id *id);

/* Notes that node is now called name in parent. Another node that had this name there loses its place.
 * Returns 0, or -RPCRDMA_ERR_NOMEM, after which node has no place. The place of a root does not change. */
int rr_nodes_place(struct rr_nodes *nodes, struct rr_node *node, struct rr_node *parent, const char *name);

/* Forgets the place of node. The descriptors of node are closed now, or as soon as node is not held. */
void rr_nodes_unplace(struct rr_nodes *nodes, struct rr_node *node);

/* Takes a reference to node, and marks it as the most recently used. */
void rr_nodes_hold(struct rr_nodes *nodes, struct rr_node *node);
/* Gives a reference to node back. With the last reference, closes the descriptors of a node without a place.
 * Where too many descriptors are open, also closes some of other nodes (rr_nodes_trim()). */
void rr_nodes_release(struct rr_nodes *nodes, struct rr_node *node);

/* Puts the descriptor fd into a slot of node (path_fd, or a member of data_fd), which owns fd from then on. A
 * descriptor that was in the slot is given up: an O_PATH descriptor is closed, and a descriptor for data goes
 * into nodes->near or nodes->far. fd -1 leaves the slot empty. */
void rr_nodes_set_fd(struct rr_nodes *nodes, struct rr_node *node, int *slot, int fd);

/* Notes that the descriptor for writing of node, which has one, is used now. */
void rr_nodes_wrote(struct rr_nodes *nodes, struct rr_node *node);

/* Gives up all descriptors of node, as rr_nodes_set_fd() does. Notes before that whether the object is gone.
 */
void rr_nodes_close(struct rr_nodes *nodes, struct rr_node *node);

/* Gives up descriptors of nodes that are not held, until nodes have at most open_max. Returns false where
 * this function gave up no descriptor. */
bool rr_nodes_trim(struct rr_nodes *nodes, uint32_t open_max);

/* Moves the descriptors of a list into taken, so that they can be closed without the lock. */
void rr_retired_take(struct rr_retired *list, struct rr_retired *taken);
/* Closes the descriptors that rr_retired_take() has moved into taken. This may wait for their file systems.
 */
void rr_retired_close(struct rr_retired *taken);
/* Closes the descriptors (struct rr_far_fd) in the list, and frees the entries. This may wait for the file
 * systems of the descriptors. */
void rr_far_close(struct rr_list *list);

/* Returns the number that stands for the file system of the node's object (rr_tree_place.place). */
uint64_t rr_node_place(const struct rr_node *node);

/* Gives up the descriptors of nodes that are not held and whose path was not verified for RR_NODE_IDLE, which
 * means that they were not used; and the descriptors for writing that were not used for RR_NODE_WRITE_IDLE.
 */
void rr_nodes_tidy(struct rr_nodes *nodes, uint64_t now);

/* Fills in the depth and the hints of node's path, for a handle. Where the cache knows the path only up to a
 * directory whose place is not known, the depth and the hints of the part above come from that directory's
 * own handle. The same holds for a directory far above that has a handle. There is no kernel handle in
 * *place afterwards. */
void rr_nodes_where(const struct rr_nodes *nodes, const struct rr_node *node, struct rr_handle_place *place);

/* Returns the length of the path from the directory "from", which must be above node, down to node, without a
 * final zero. This is 0 if both are the same. */
size_t rr_node_path_length(const struct rr_node *node, const struct rr_node *from);

/* Writes that path, which has this length, and a zero behind it. */
void rr_node_path(const struct rr_node *node, const struct rr_node *from, char *path, size_t length);

#endif
