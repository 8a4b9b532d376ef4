/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_TREE_PRIVATE_H
#define RR_VFS_POSIX_TREE_TREE_PRIVATE_H

#include <limits.h>
#include <pthread.h>

#include "base/log_limit.h"
#include "vfs/posix/identity.h"
#include "vfs/posix/tree/node.h"
#include "vfs/posix/tree/search.h"
#include "vfs/posix/tree/seen.h"

/* The files of the tree share these declarations. No other code includes this header, except tests. */

/* The root directory of an export, and what is known of the file system that it lies in. */
struct rr_tree_root {
	uint32_t id; /* of the export, as rr_handle_id.export */
	const struct rr_tree_export *export;
	struct rr_node *node; /* held, with path_fd open */
	uint64_t device;      /* the device number of the file system: major << 32 | minor */
	uint64_t fsid;        /* of that file system, as clients see it */
	int mount_fd;         /* for open_by_handle_at(2); -1: kernel handles cannot be used here */
	bool local; /* its file system keeps attributes of open objects in memory: asking for them never waits
		     */
	bool memory; /* the whole file system lies in memory */
};

/*
 * The core is the knowledge that trees share which were made by rr_tree_beside(), under one lock. The lock is
 * never held over a system call that may wait: rr_tree_out() releases it for that time. So after such a call
 * a node may only be used if it was held meanwhile, or after it was looked up again.
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
	struct rr_log_limit search_log, open_log;
};

struct rr_tree {
	const struct rr_env *env;
	struct rr_tree_core *core;
	struct rr_identity identity; /* of the thread */
	uint32_t depth;              /* nested calls of rr_tree_enter() */
	bool locked;                 /* the thread has the core's lock now */
	bool hurries;                /* steps that may wait are not done (rr_tree_hurry()) */
	bool memory; /* with hurries: all objects lie in a file system in memory, where opening never waits */
	bool waits;  /* while the tree hurried, a step was not done because it would have waited */
	bool stays;  /* only file systems that cannot hang are used (rr_tree_stay()) */
	bool (*cross)(void *ctx, uint64_t place); /* as in rr_tree_on_crossing() */
	void *cross_ctx;
	bool keeps; /* rr_tree_leave() closes no descriptors: other threads do that */
};

/* Takes the core's lock, before code that uses the core. Calls may be nested: only the outermost one takes
 * the lock. */
void rr_tree_enter(struct rr_tree *tree);
/* Ends what rr_tree_enter() began. The outermost call releases the lock, and also closes descriptors for data
 * that nodes gave up. */
void rr_tree_leave(struct rr_tree *tree);
/* Is called between rr_tree_enter() and rr_tree_leave(), before a system call that may wait: releases the
 * lock, except where the tree hurries and therefore waits for nothing. Returns whether the lock was released:
 * the argument for rr_tree_in(). */
bool rr_tree_out(struct rr_tree *tree);
/* Is called after that system call: takes the lock again where rr_tree_out() has released it. Preserves
 * errno. */
void rr_tree_in(struct rr_tree *tree, bool was_locked);

/* Tells whether a step that may wait is allowed. Where the tree hurries, it is not: the function returns
 * false, sets errno to EAGAIN, and notes in tree->waits that the step was not done. */
bool rr_tree_may_wait(struct rr_tree *tree);

/* Tells whether a file may be opened now: true in a file system in memory, where opening never waits, else as
 * rr_tree_may_wait(). */
bool rr_tree_may_open(struct rr_tree *tree);

/* For so long after a path led to an object, it is believed to lead there still, without a check. */
#define RR_TREE_BELIEVED RR_SECOND

/* At most so many names are walked for one handle by a thread that must not wait, however deep the object
 * lies. */
enum { RR_TREE_NEAR = 32 };

/* Opens path below directory with flags (O_CLOEXEC and O_NOFOLLOW are added), never outside and never through
 * a symbolic link; path may be longer than PATH_MAX; an empty path stands for directory itself. Returns a
 * descriptor, or -1 with errno. */
int rr_tree_beneath(struct rr_tree *tree, int directory, const char *path, uint64_t flags);

/* Opens the object of fd, which may be an O_PATH descriptor, again with these flags. Returns a new
 * descriptor, or -1 with errno. */
int rr_tree_reopen(struct rr_tree *tree, int fd, int flags);

/* Opens the file of fd again with these flags, whatever the file's mode is. The file must belong to the user
 * and the group of the process. Returns a new descriptor, or -1 with errno, for example where this system
 * allows no user namespaces. */
int rr_tree_open_own(struct rr_tree *tree, int fd, int flags);

/* Does statx(2) of a descriptor of an object below root. Below a local root, asks cross() first where the
 * object lies in another file system. Returns 0 or an errno: EXDEV where the tree is not to use that other
 * file system (rr_tree_stay()); EAGAIN where cross() forbids it now, or the tree must not wait. */
int rr_tree_stat(struct rr_tree *tree, const struct rr_tree_root *root, int fd, struct statx *st);
/* Does statx(2) of the object with this name, which rr_vfs_name() has checked, in a directory below root. A
 * symbolic link is not followed. The kernel checks whether the identity in force may search the directory.
 * Returns 0 or an errno: EXDEV where root is not local, or the object lies in another file system, so that it
 * must be opened before it is asked for its attributes; EAGAIN where the tree must not wait. */
int rr_tree_stat_in(struct rr_tree *tree, const struct rr_tree_root *root, int directory, const char *name,
	struct statx *st);

/* Tells whether a file system of this type, a number as statfs(2) has it, is known to be local. */
bool rr_tree_magic_is_local(long magic);

/* Returns the identity of the object that st describes. */
struct rr_handle_id rr_tree_id(
	const struct rr_tree *tree, const struct rr_tree_root *root, const struct statx *st);

/* Returns the node of an object that was just found as name in parent; makes the node where there is none.
 * Notes name and parent as the node's place. Takes fd, an O_PATH descriptor of the object, or -1: the node
 * keeps it, or it is closed. The node is not held. Returns NULL if there is no memory. parent must be held.
 */
struct rr_node *rr_tree_intern(
	struct rr_tree *tree, struct rr_node *parent, const char *name, int fd, const struct statx *st);

/* Returns the time at which the path of a directory was last seen to lead to the directory. An object found
 * in the directory gets this time as its node's "verified", so that its path is not believed for longer than
 * the directory's path. */
uint64_t rr_tree_believed(const struct rr_tree *tree, const struct rr_node *directory);

/* Fills in object from node, and from its attributes st; takes a reference to node. object->fd is -1 where
 * the node has no path_fd. */
void rr_tree_object(
	struct rr_tree *tree, struct rr_node *node, const struct statx *st, struct rr_object *object);

/* Tells whether the path of node was seen within the last second (RR_TREE_BELIEVED) to lead to its object.
 * This is always so for the root of an export. */
bool rr_tree_is_believed(const struct rr_tree *tree, const struct rr_node *node);

/* Tells whether the same step may succeed later, after it failed with this errno: for want of descriptors or
 * memory, or because it would have waited. */
bool rr_tree_is_passing(int error);

/* Opens the object of node, which is held, at the path that the cache knows. Notes the time at which the path
 * was last seen to lead there, and keeps the descriptor where the node has none. Gets the attributes into
 * *st. Returns 0 or an errno: ENOENT where the path is not known or leads to another object; EAGAIN where the
 * tree hurries, and the nearest directory from which the path may begin is more than RR_TREE_NEAR names away.
 */
int rr_tree_follow_known(struct rr_tree *tree, struct rr_node *node, struct statx *st);

/* Walks path from the root of the export of node, and notes the place of each object on the way in its node.
 * The function writes zeros over the slashes in path. Returns 0 where the path leads to node, EAGAIN where
 * that could not be seen now (rr_tree_is_passing()), and else ENOENT. Stores in *st the attributes of the
 * last object that was found on the way, or zeros if none was found. */
int rr_tree_follow(struct rr_tree *tree, struct rr_node *node, char *path, struct statx *st);

/* Tries to open the root by its own kernel handle. Where that succeeds, keeps fd, a descriptor of the root,
 * in root->mount_fd for open_by_handle_at(2); else closes fd, and root->mount_fd is -1. */
void rr_tree_kernel_begin(struct rr_tree_root *root, int fd);

/* Gets the kernel's handle of the object that has this name in the directory of fd, or of the object of fd
 * where the name is empty. A symbolic link is not followed. Returns false, and sets kernel->length to 0,
 * where kernel handles cannot be used below this root, or the handle is too long. */
bool rr_tree_kernel_name(
	const struct rr_tree_root *root, int fd, const char *name, struct rr_handle_kernel *kernel);

/* Makes the handle of node, with this kernel handle of its object (length 0: none), unless it has a handle.
 * The caller holds the lock. */
void rr_tree_make_handle(struct rr_tree *tree, struct rr_node *node, const struct rr_handle_kernel *kernel);

/* Opens the object of node, which is held, by its kernel handle, and writes into "below" the path below the
 * export's root at which the kernel knows the object. Returns 0, ESTALE if the object is gone, ENOENT if the
 * path is not known, or another errno (ENOMEM, EMFILE, ENFILE), after which a later call may succeed. */
int rr_tree_kernel_find(struct rr_tree *tree, const struct rr_node *node,
	const struct rr_handle_kernel *kernel, char below[PATH_MAX]);

/* Finds the object of node, as rr_tree_resolve() finds the object of a handle, and may wait for that. The
 * identity in force is a caller's or the server's own. rr_object_put() gives the object back. */
enum rr_vfs_status rr_tree_reach(struct rr_tree *tree, struct rr_node *node, struct rr_object *object);

#endif
