/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_PRIVATE_H
#define RR_VFS_POSIX_TREE_PRIVATE_H

#include <limits.h>
#include <pthread.h>

#include "vfs/posix/identity.h"
#include "vfs/posix/tree_node.h"
#include "vfs/posix/tree_search.h"
#include "vfs/posix/tree_seen.h"

/*
 * What the files of the tree share. Nobody else includes this, except tests.
 */

struct rr_tree_root {
	uint32_t id; /* struct rr_handle_id */
	const struct rr_tree_export *export;
	struct rr_node *node; /* held */
	uint64_t device;
	uint64_t fsid; /* of what lies on device */
	int mount_fd;  /* for open_by_handle_at(2); -1: kernel handles are of no use here */
	bool local;    /* its file system keeps what is open in memory: asking for attributes never waits */
	bool memory;   /* and all of it */
};

/*
 * What all threads of a tree know, under one lock. The lock is never held over a system call that may wait:
 * rr_tree_out() gives it back for that time. So whatever is used behind such a call has to be held (a node)
 * or looked up again.
 */
struct rr_tree_core {
	pthread_mutex_t lock;
	uint32_t trees;               /* that use it */
	struct rr_tree_config config; /* exports: copies, without slashes at their names' ends */
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
	uint32_t depth;              /* functions of the tree that are at work */
	bool locked;
	bool hurries; /* nothing is done that may wait */
	bool memory;  /* what it hurries with lies in a file system that is all memory: opening never waits */
	bool waits;   /* something was not done for that reason */
	bool stays;   /* other file systems than that of the root are not asked for anything */
	bool (*cross)(void *ctx, uint64_t place); /* as in rr_tree_on_crossing() */
	void *cross_ctx;
	bool keeps; /* leaves it to others to close descriptors */
};

/* Around what uses the core; and, between these, around system calls that may wait. rr_tree_out() returns
 * what rr_tree_in() takes. */
void rr_tree_enter(struct rr_tree *tree);
void rr_tree_leave(struct rr_tree *tree);
bool rr_tree_out(struct rr_tree *tree);
void rr_tree_in(struct rr_tree *tree, bool was_locked);

/* Asks whether a step that may wait is allowed: false, with errno, where the tree hurries. */
bool rr_tree_may_wait(struct rr_tree *tree);

/* The same of opening a file. */
bool rr_tree_may_open(struct rr_tree *tree);

/* How long a path that led to an object is believed to do so still. */
#define RR_TREE_BELIEVED RR_SECOND

/* Opens path below directory with flags (O_CLOEXEC and O_NOFOLLOW are added), never outside and never through
 * a symbolic link; path may be longer than PATH_MAX, and empty for directory itself. -1 with errno. */
int rr_tree_beneath(struct rr_tree *tree, int directory, const char *path, uint64_t flags);

/* Opens anew what fd, perhaps O_PATH, refers to. -1 with errno. */
int rr_tree_reopen(struct rr_tree *tree, int fd, int flags);

/* Opens anew what fd refers to, a file of the process's own user and group, whatever its mode. -1 with errno:
 * this system allows no user namespaces, say. */
int rr_tree_open_own(struct rr_tree *tree, int fd, int flags);

/* statx(2) of a descriptor of what lies below root: 0 or errno. EXDEV, EAGAIN: it lies on another file
 * system, which is not to be asked, or not now. */
int rr_tree_stat(struct rr_tree *tree, const struct rr_tree_root *root, int fd, struct statx *st);

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

/* Walks path (which it cuts) from the root, and learns the nodes on it. True where it leads to node; st is of
 * what it leads to, or zero. */
bool rr_tree_follow(struct rr_tree *tree, struct rr_node *node, char *path, struct statx *st);

/* tree_kernel.c: takes fd, of the root, over, and keeps it if the process may open objects by handles of the
 * kernel. */
void rr_tree_kernel_begin(struct rr_tree_root *root, int fd);

/* The kernel's handle of what fd refers to. False: there is none that could be used, or it is too long. */
bool rr_tree_kernel_name(const struct rr_tree_root *root, int fd, struct rr_handle_kernel *kernel);

/* The path below the root at which the kernel knows the object of node, which is held. ESTALE: it is gone.
 * ENOENT: not known. Other errors pass. */
int rr_tree_kernel_find(struct rr_tree *tree, const struct rr_node *node,
	const struct rr_handle_kernel *kernel, char below[PATH_MAX]);

/* As rr_tree_resolve(), of a node; with the identity that is in force, or the server's own. */
enum rr_vfs_status rr_tree_reach(struct rr_tree *tree, struct rr_node *node, struct rr_object *object);

#endif
