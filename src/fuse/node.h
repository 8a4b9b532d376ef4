/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUSE_NODE_H
#define RR_FUSE_NODE_H

#include "base/map.h"
#include "fuse/behind.h"
#include "vfs/vfs.h"

/*
 * The nodes of a mount: objects that the kernel knows by a number, the nodeid. The kernel counts how often it
 * was told a node (FUSE_LOOKUP and the like), and takes from that count by FUSE_FORGET. A node is freed when
 * the kernel has forgotten it, no request holds it, and no file of it is open.
 *
 * A node is an object of the server (struct rr_vfs_id), not a name: renaming changes no node. An object whose
 * type has changed under its identity gets a new node, as the kernel makes an inode bad whose type changes.
 */
struct rr_fuse_node {
	struct rr_map_link by_number, by_id;
	struct rr_fuse *fuse;
	uint64_t number;
	struct rr_vfs_id id;
	enum rr_vfs_type type;
	struct rr_vfs_handle handle;
	uint64_t lookups; /* as the kernel counts */
	uint32_t holders; /* requests and files */
	uint64_t change;  /* of the attributes that the kernel was told last */
	uint64_t cached;  /* the change when the file was opened last: its pages are of that time or later */
	uint64_t period;  /* for how long it may keep them, in nanoseconds */
	struct rr_list files;
	struct rr_list owners; /* lock.h */
	struct rr_fuse_behind behind;
	/* The name that the file got when its last name was removed while it was open, and the directory of
	 * it; NULL: it has none. It goes with the last open. */
	struct rr_fuse_silly *silly;
};

struct rr_fuse_nodes {
	const struct rr_env *env;
	struct rr_map by_number, by_id;
	uint64_t last; /* number */
	uint64_t count;
};

int rr_fuse_nodes_init(struct rr_fuse_nodes *nodes, const struct rr_env *env);
/* Frees all nodes, whatever the kernel knows. No request and no file may hold one. */
void rr_fuse_nodes_end(struct rr_fuse_nodes *nodes);

/* Finds the node of the number; NULL: there is none. */
struct rr_fuse_node *rr_fuse_node_find(const struct rr_fuse_nodes *nodes, uint64_t number);
/* Finds the node of an object that the server has told; NULL: there is none. */
struct rr_fuse_node *rr_fuse_node_of(const struct rr_fuse_nodes *nodes, const struct rr_vfs_handle *handle,
	const struct rr_vfs_attributes *attributes);
/* The same, and makes the node where there is none. NULL: there is no memory. */
struct rr_fuse_node *rr_fuse_node_make(
	struct rr_fuse *fuse, const struct rr_vfs_handle *handle, const struct rr_vfs_attributes *attributes);

struct rr_fuse_node *rr_fuse_node_hold(struct rr_fuse_node *node);
void rr_fuse_node_release(struct rr_fuse_node *node); /* node may be NULL */
/* The kernel forgets what it was told so many times; it may not have been told as often. */
void rr_fuse_node_forget(struct rr_fuse_node *node, uint64_t lookups);

/* Names the node as an object of the storage. */
struct rr_vfs_object rr_fuse_node_object(const struct rr_fuse_node *node);

#endif
