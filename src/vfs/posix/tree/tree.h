/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_TREE_H
#define RR_VFS_POSIX_TREE_TREE_H

#include <sys/stat.h>

#include "base/env.h"
#include "base/text.h"
#include "vfs/key.h"
#include "vfs/system.h"
#include "vfs/vfs.h"

/*
 * The directory trees that a server exports. This module makes file handles, finds the objects that they
 * name, and acts with the identity of a caller.
 *
 * A file handle (handle.h) names an object by its inode number and birth time. It also contains one octet of
 * a keyed hash for each component of the object's path, the kernel's own handle where the process may use
 * that (CAP_DAC_READ_SEARCH), and a keyed check of all octets, so that no handle can be forged. Handles stay
 * valid over a restart of the server, although no table of them is stored. The object of a handle is found in
 * one of these ways:
 *   1. A cache of paths (node.h) knows it. This is so nearly always.
 *   2. The kernel's handle leads to it (kernel.c).
 *   3. It was seen at some path before (seen.h).
 *   4. A search finds it, in slices: first along the hashes of its path, then, as it may have been renamed
 *      before a restart, in the whole export, within a bound (search.h).
 * Every path is walked with openat2(2) RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS, so that
 * it leads nowhere outside of the export.
 *
 * One tree belongs to one thread. Trees with the same exports and key understand each other's handles. Trees
 * made by rr_tree_beside() also share the cache and all else that they know, for several threads of one
 * provider.
 *
 * The word "place" has two meanings here. The place of a node or of an object is its directory and its name
 * there. Where "place" is a number (rr_object.place, cross(), rr_tree_in_memory()), it stands for a file
 * system: the fields export and device of a handle.
 */

struct rr_tree_export {
	const char *path; /* the directory on this machine */
	const char *name; /* the path that clients mount: begins with '/' */
};

struct rr_tree_config {
	const struct rr_tree_export *exports;
	uint32_t export_count;
	uint8_t key[RR_VFS_KEY];
	bool read_only;
	uint32_t open_max; /* at most so many descriptors are kept open; 0: a default from RLIMIT_NOFILE */
	uint32_t workers; /* at most so many threads of a provider for operations that may wait; 0: the loop's
			     thread does all operations, and waits */
};

struct rr_tree;

/* An object that a handle was resolved to. It is valid until rr_object_put(). */
struct rr_object {
	int fd; /* O_PATH; -1: not open (rr_tree_entry()) */
	struct statx st;
	const struct rr_tree_export *export;
	uint64_t fsid;  /* of its file system, as clients see it: the same after restarts */
	bool local;     /* its file system is local: attributes of open objects are in memory */
	bool memory;    /* its whole file system lies in memory */
	uint64_t place; /* stands for its file system, as rr_tree_place.place */
	void *node; /* the tree's node, which is held; NULL: the object belongs to an open, not to the tree */
};

/* Opens the trees. Errors: SYSTEM with a text that names the directory and why (missing, no directory, no
 * permission), NOMEM, INVAL (two exports have the same name, or a name does not begin with '/'). */
int rr_tree_new(const struct rr_env *env, const struct rr_tree_config *config, struct rr_tree **tree,
	struct rr_text *text);
/* Frees the tree; the last of several trees that share their knowledge also frees that. tree may be NULL. */
void rr_tree_free(struct rr_tree *tree);

/* Makes a tree for another thread that shares all knowledge of "tree". Each of the two is to be freed, in any
 * order. An object that one of them found may be used with the other. Errors: NOMEM. */
int rr_tree_beside(struct rr_tree *tree, struct rr_tree **beside);

/* Is called before work that must not wait for a disk, another machine or another thread. Until
 * rr_tree_hurried() the tree hurries: a step that would wait is not done, and fails, and the tree's lock is
 * held all the time. memory is true where all objects of the work lie in file systems in memory
 * (rr_tree_in_memory()), where opening a file never waits. Returns false where another thread has the lock:
 * the work must not be begun, and rr_tree_hurried() is not to be called. */
bool rr_tree_hurry(struct rr_tree *tree, bool memory);
/* Is called after that work: releases the lock, and the tree hurries no more. Returns false if a step of the
 * work failed because it would have waited, else true. */
bool rr_tree_hurried(struct rr_tree *tree);

/* Returns the configuration with the tree's own copies of the exports. */
const struct rr_tree_config *rr_tree_config(const struct rr_tree *tree);

/* Sets cross(), which is called before an object is used that lies in a file system mounted below that of the
 * export's root. Its argument place stands for that file system, as rr_tree_place.place. cross() returns
 * false where that file system must not be used now. Where cross is NULL, every file system may be used. */
void rr_tree_on_crossing(struct rr_tree *tree, bool (*cross)(void *ctx, uint64_t place), void *ctx);

/* If stays is true, the tree uses from now on only file systems that cannot hang: those of the exports'
 * roots, and local ones mounted below them. Operations on objects in others fail. Where stays is false, the
 * tree may use all file systems. */
void rr_tree_stay(struct rr_tree *tree, bool stays);

/* Writes the handle of the root of an export, by its number. */
void rr_tree_root(struct rr_tree *tree, uint32_t number, struct rr_vfs_handle *handle);

/* Returns the number of the export that a handle names, whether it is forged or not, or export_count where it
 * names no export of the tree. */
uint32_t rr_tree_export_of(const struct rr_tree *tree, struct rpcrdma_bytes handle);

/* Finds the object of a handle. Returns RR_VFS_BAD_HANDLE if the check of the handle fails, and RR_VFS_STALE
 * if the object is gone. */
enum rr_vfs_status rr_tree_resolve(
	struct rr_tree *tree, struct rpcrdma_bytes handle, struct rr_object *object);

/* Finds name in directory, without following a symbolic link. "." and ".." are found, too; ".." of an
 * export's root is the root. Also notes name and directory in the tree's cache as the place of the
 * object, so a new object is found in this way after it was made. rr_object_put() gives the object back.
 * Errors: RR_VFS_NOENT, NOTDIR, ACCESS, NAME_TOO_LONG; BAD_CHAR for an empty name and for a name with a '/'
 * or a zero octet (RFC 1813, 3.2). */
enum rr_vfs_status rr_tree_lookup(struct rr_tree *tree, const struct rr_object *directory,
	struct rpcrdma_bytes name, struct rr_object *object);

/* Finds name in directory as rr_tree_lookup() does, for a listing: does not open the object where that can be
 * avoided, so that object->fd may be -1. The object is good for its attributes and its handle
 * (rr_tree_handle()) alone. The errors are those of rr_tree_lookup(). */
enum rr_vfs_status rr_tree_entry(struct rr_tree *tree, const struct rr_object *directory,
	struct rpcrdma_bytes name, struct rr_object *object);

/* Two numbers from a handle: place stands for the file system of the object (the fields export and device of
 * the handle), and number is the object's inode number. rr_tree_place() reads them from a handle that may be
 * forged: it checks nothing, and returns zeros for a handle that is too short. */
struct rr_tree_place {
	uint64_t place, number;
};
struct rr_tree_place rr_tree_place(struct rpcrdma_bytes handle);

/* Tells whether this server made the handle, for one of the tree's exports. Its object may be gone. */
bool rr_tree_is_genuine(const struct rr_tree *tree, struct rpcrdma_bytes handle);

/* Tells whether place stands for the file system of an export's root, and that file system lies in memory as
 * a whole. */
bool rr_tree_in_memory(const struct rr_tree *tree, uint64_t place);

/* Writes the handle of an object: the one that clients know already, if there is one, else a new one. */
void rr_tree_handle(struct rr_tree *tree, const struct rr_object *object, struct rr_vfs_handle *handle);

/* Gets the present attributes of the object into object->st. */
enum rr_vfs_status rr_object_stat(struct rr_object *object);

/* Stores in *fd a descriptor for the data of a regular file or a directory. The tree keeps the descriptor
 * open in a bounded cache: the caller of this function does not close it, and may use it until it gives the
 * object back. access is O_RDONLY (also for a directory), O_WRONLY or O_RDWR. The descriptor is opened with
 * the identity that is in force. Where that is the identity of a caller, the caller's permission is checked
 * at each call, also where the descriptor is in the cache. */
enum rr_vfs_status rr_tree_open(struct rr_tree *tree, struct rr_object *object, int access, int *fd);

/* Opens a descriptor as rr_tree_open() does, but gives it to the caller, who closes it: for locks, or to list
 * a directory. */
enum rr_vfs_status rr_tree_open_apart(struct rr_tree *tree, struct rr_object *object, int access, int *fd);

/* Opens a directory on the file system of object, for syncfs(2): object itself, or the nearest directory
 * above it that may be read. Stores the descriptor in *fd. It belongs to the tree's cache: another thread
 * may close it as soon as the tree's lock is released. Returns an error where there is no such directory. */
enum rr_vfs_status rr_tree_open_near(struct rr_tree *tree, const struct rr_object *object, int *fd);

/* Fills in "again" with an object that lookup, peek or resolve found, for a second user, who gives it back by
 * another rr_object_put(). */
void rr_object_again(struct rr_tree *tree, const struct rr_object *object, struct rr_object *again);

/* Gives back an object that lookup, peek or resolve found. */
void rr_object_put(struct rr_tree *tree, struct rr_object *object);

/* Finds the object that has this name in directory, before the name is removed or changed. object->node is
 * NULL where the object is not found. Where the cache knows the object by another name (of a hard link), the
 * cache keeps that other name, unlike after rr_tree_lookup(). rr_object_put() gives the object back. */
void rr_tree_peek(struct rr_tree *tree, const struct rr_object *directory, struct rpcrdma_bytes name,
	struct rr_object *object);

/* Is called after a name was removed: notes that object, which rr_tree_peek() found, is not at name in
 * directory any more. Where that was its last name, its handle is stale from now on. */
void rr_tree_removed(struct rr_tree *tree, const struct rr_object *object, const struct rr_object *directory,
	const char *name);

/* Tells whether something may be renamed into directory now. Noting where a directory moved to
 * (rr_tree_renamed()) looks at all directories above its new place: so this is false while the tree hurries
 * and "directory" lies deep. */
bool rr_tree_may_move_to(struct rr_tree *tree, const struct rr_object *directory);

/* Is called after a renaming: notes that the object "moved" is now at name in directory, and that the object
 * "replaced" is not there any more. rr_tree_peek() found both before the renaming; the node of either may be
 * NULL. */
void rr_tree_renamed(struct rr_tree *tree, const struct rr_object *moved, const struct rr_object *replaced,
	const struct rr_object *directory, const char *name);

/* Continues a search for an object (search.h) that a call began and did not wait for, for some
 * milliseconds. Returns whether there is more of it to do. This function is to be called between calls while
 * rr_tree_has_work() is true. */
bool rr_tree_work(struct rr_tree *tree);
/* Tells whether a search is under way. It does not take the lock, so any thread may ask at any time. */
bool rr_tree_has_work(const struct rr_tree *tree);

/* Closes descriptors that were not used for RR_NODE_IDLE, or not for writing for RR_NODE_WRITE_IDLE
 * (node.h). rr_tree_resolve() does so, too; a program that makes no calls has to call this function now
 * and then. */
void rr_tree_tidy(struct rr_tree *tree);

/* Tells whether rr_tree_take_far() has anything to take. It does not take the lock. */
bool rr_tree_has_far(const struct rr_tree *tree);
/* Appends to the list the descriptors (struct rr_far_fd in node.h) that the tree has given up and that
 * lie in file systems which may not answer. The caller closes them, and frees the entries. */
void rr_tree_take_far(struct rr_tree *tree, struct rr_list *list);

/* Returns how many descriptors the tree has open. */
uint32_t rr_tree_descriptors(const struct rr_tree *tree);

/* Tells whether the tree has descriptors for writing open. It does not take the lock. */
bool rr_tree_writes(const struct rr_tree *tree);

/* Tells whether the tree has descriptors open besides those of the exports' roots. */
bool rr_tree_is_warm(const struct rr_tree *tree);

/* Takes on the caller's identity for this thread, where the process is root: by setfsuid, setfsgid and
 * setgroups as plain system calls, so that only this thread changes (identity.h). Does nothing where the
 * process is not root. Makes few system calls where the caller is that of the last call. Errors: SYSTEM,
 * NOMEM; the thread then acts as the server itself. */
int rr_tree_as(struct rr_tree *tree, const struct rr_vfs_caller *caller);
/* Makes the thread act as the server itself again. */
void rr_tree_as_self(struct rr_tree *tree);

/* Tells whether rr_tree_as() has an effect: the process is root. */
bool rr_tree_acts_as_callers(const struct rr_tree *tree);

#endif
