/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_PRIVATE_H
#define RR_VFS_POSIX_TREE_PRIVATE_H

#include <limits.h>
#include <pthread.h>

#include "vfs/posix/identity.h"
#include "vfs/posix/tree_node.h"
#include "vfs/posix/tree_search.h"
#include "vfs/posix/tree_seen.h"

/* The files of the tree share these declarations. No other code includes this header, except tests. */

struct rr_tree_root {
	uint32_t id; /* struct rr_handle_id */
	const struct rr_tree_export *export;
	struct rr_node *node; /* held */
	uint64_t device;
	uint64_t fsid; /* of the file system on device */
	int mount_fd;  /* for open_by_handle_at(2); -1: kernel handles cannot be used here */
	bool local; /* its file system keeps attributes of open objects in memory: asking for them never waits
		     */
	bool memory; /* the whole file system lies in memory */
};

/*
 * The core is the knowledge that all threads of a tree share, under one lock. The lock is never held over a
 * system call that may wait: rr_tree_out() gives it back for that time. So after such a call a node may only
 * be used if it was held, or after it was looked up again.
 */
struct rr_tree_core {
	pthread_mutex_t lock;
	uint32_t trees;               /* trees that use the core */
	struct rr_tree_config config; /* exports: copies, without slashes at the ends of their names */
	struct rr_tree_export *exports;
	struct rr_tree_root *roots; /* of the exports */
	struct rr_handle_keys keys;
	struct rr_nodes nodes;
	struct rr_seen seen;
	struct rr_search search;
};

struct rr_tree {
	const struct rr_env *env;
	struct rr_tree_core *core;
	struct rr_identity identity; /* of the thread */
	uint32_t depth;              /* nested calls of rr_tree_enter() */
	bool locked;
	bool hurries; /* steps that may wait are not done */
	bool memory; /* with hurries: all objects lie in a file system in memory, where opening never waits */
	bool waits;  /* a step was not done because it would have waited */
	bool stays;  /* file systems other than that of the root are not used */
	bool (*cross)(void *ctx, uint64_t place); /* as in rr_tree_on_crossing() */
	void *cross_ctx;
	bool keeps; /* closing descriptors is left to other threads */
};

/* rr_tree_enter() and rr_tree_leave() enclose code that uses the core; inside these, rr_tree_out() and
 * rr_tree_in() enclose a system call that may wait. rr_tree_out() returns the argument for rr_tree_in(). */
void rr_tree_enter(struct rr_tree *tree);
void rr_tree_leave(struct rr_tree *tree);
bool rr_tree_out(struct rr_tree *tree);
void rr_tree_in(struct rr_tree *tree, bool was_locked);

/* Tells whether a step that may wait is allowed. Returns false, with errno EAGAIN, where the tree hurries. */
bool rr_tree_may_wait(struct rr_tree *tree);

/* Tells whether a file may be opened now. Opening may wait, except in a file system in memory. Returns false,
 * with errno EAGAIN, where the tree hurries and opening may wait. */
bool rr_tree_may_open(struct rr_tree *tree);

/* The time for which a path that led to an object is believed to do so still. */
#define RR_TREE_BELIEVED RR_SECOND

/* Opens path below directory with flags (O_CLOEXEC and O_NOFOLLOW are added), never outside and never through
 * a symbolic link; path may be longer than PATH_MAX; an empty path stands for directory itself. Returns a
 * descriptor, or -1 with errno. */
int rr_tree_beneath(struct rr_tree *tree, int directory, const char *path, uint64_t flags);

/* Opens the object of fd, which may be an O_PATH descriptor, again with these flags. Returns a new
 * descriptor, or -1 with errno. */
int rr_tree_reopen(struct rr_tree *tree, int fd, int flags);

/* Opens the file of fd, which belongs to the process's own user and group, again, whatever the file's mode
 * is. Returns a new descriptor, or -1 with errno, for example where this system allows no user namespaces. */
int rr_tree_open_own(struct rr_tree *tree, int fd, int flags);

/* Does statx(2) of a descriptor of an object below root. Returns 0 or an errno: EXDEV where the object lies
 * on another file system, which the tree is not to use; EAGAIN where the tree is not to use that file system
 * now, or must not wait. */
int rr_tree_stat(struct rr_tree *tree, const struct rr_tree_root *root, int fd, struct statx *st);

/* Returns the identity of the object that st describes. */
struct rr_handle_id rr_tree_id(
	const struct rr_tree *tree, const struct rr_tree_root *root, const struct statx *st);

/* Returns the node of an object that was just found as name in parent, or NULL if there is no memory. fd
 * belongs to the node, or is closed. */
struct rr_node *rr_tree_intern(
	struct rr_tree *tree, struct rr_node *parent, const char *name, int fd, const struct statx *st);

/* Returns the time at which the path of a directory was last seen to lead to the directory: a child that is
 * found in the directory is not believed for longer than the directory itself. */
uint64_t rr_tree_believed(const struct rr_tree *tree, const struct rr_node *directory);

/* Fills in object from node, whose path_fd must be open, and from its attributes st; takes a reference to
 * node. */
void rr_tree_object(
	struct rr_tree *tree, struct rr_node *node, const struct statx *st, struct rr_object *object);

/* Walks path (which this function cuts into names) from the root, and learns the nodes on the way. Returns
 * true where the path leads to node. Stores in *st the attributes of the object at the end of the path, or
 * zeros. */
bool rr_tree_follow(struct rr_tree *tree, struct rr_node *node, char *path, struct statx *st);

/* tree_kernel.c: keeps fd, a descriptor of the root, in root->mount_fd where the process may open objects by
 * kernel handles; else closes fd. */
void rr_tree_kernel_begin(struct rr_tree_root *root, int fd);

/* Gets the kernel's handle of the object of fd. Returns false where there is no usable handle, or the handle
 * is too long. */
bool rr_tree_kernel_name(const struct rr_tree_root *root, int fd, struct rr_handle_kernel *kernel);

/* Writes the path below the root at which the kernel knows the object of node, which is held. Returns 0,
 * ESTALE if the object is gone, ENOENT if the path is not known, or another errno, after which a later call
 * may succeed. */
int rr_tree_kernel_find(struct rr_tree *tree, const struct rr_node *node,
	const struct rr_handle_kernel *kernel, char below[PATH_MAX]);

/* Finds the object of node, as rr_tree_resolve() finds the object of a handle. The identity in force is a
 * caller's or the server's own. */
enum rr_vfs_status rr_tree_reach(struct rr_tree *tree, struct rr_node *node, struct rr_object *object);

#endif
