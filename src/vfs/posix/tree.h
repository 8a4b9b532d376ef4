/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_TREE_H
#define RR_VFS_POSIX_TREE_H

#include <sys/stat.h>

#include "base/env.h"
#include "base/text.h"
#include "vfs/key.h"
#include "vfs/system.h"
#include "vfs/vfs.h"

/*
 * The directory trees that a server exports: file handles that stay valid
 * over a restart and lead nowhere outside, objects behind them, and the
 * caller's identity.
 *
 * A file handle names an object by its inode number and birth time, with one
 * octet of a keyed hash for each component of its path, and carries a keyed
 * check over the whole, so that none can be forged. Where the process may use
 * the kernel's own handle (CAP_DAC_READ_SEARCH), that is in it, too. Resolving it
 * needs no table that would have to survive: a cache of paths answers nearly
 * always; else the kernel; else the tree is searched, in slices, along the hashes,
 * then (the object was renamed before a restart) whole, within a bound. Every path is walked with
 * openat2(2) RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS.
 *
 * One tree belongs to one thread; several trees with the same exports and key
 * understand each other's handles. Trees made by rr_tree_beside() share all
 * that they know, for threads that work on the same calls.
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
	uint32_t open_max; /* descriptors kept open; 0: a default from RLIMIT_NOFILE */
	uint32_t workers;  /* threads of a provider for operations that may wait; 0: the loop's thread does
			      all, and waits */
};

struct rr_tree;

/* An object that a handle was resolved to. It is valid until rr_object_put(). */
struct rr_object {
	int fd; /* O_PATH */
	struct statx st;
	const struct rr_tree_export *export;
	uint64_t fsid;  /* of its file system, as clients see it: the same after restarts */
	bool local;     /* its file system is local: attributes of open objects are in memory */
	bool memory;    /* the whole file system lies in memory */
	uint64_t place; /* its file system as a number in handles: see rr_tree_place() */
	void *node;     /* the tree's node; NULL: the object belongs to an open, not to the tree */
};

/* Opens the trees. Errors: SYSTEM with a text that names the directory and why (missing, no directory, no
 * permission), NOMEM, INVAL (two exports have the same name). */
int rr_tree_new(const struct rr_env *env, const struct rr_tree_config *config, struct rr_tree **tree,
	struct rr_text *text);
void rr_tree_free(struct rr_tree *tree);

/* Makes a tree for another thread that shares all knowledge of "tree". Both are freed, in any order. An
 * object of one tree may be used with the others. Errors: NOMEM. */
int rr_tree_beside(struct rr_tree *tree, struct rr_tree **beside);

/* These two functions enclose work that must not wait for a disk, another machine or another thread: a step
 * that would wait is not done, and fails. rr_tree_hurry() returns false where another thread is at work, so
 * that nothing can be done now. memory is true where all objects lie in file systems in memory
 * (rr_tree_in_memory()); such objects may be changed. rr_tree_hurried() returns false if a step failed
 * because it would have waited, else true. */
bool rr_tree_hurry(struct rr_tree *tree, bool memory);
bool rr_tree_hurried(struct rr_tree *tree);

/* Returns the configuration with the tree's own copies of the exports. */
const struct rr_tree_config *rr_tree_config(const struct rr_tree *tree);

/* Sets cross(), which is called before a file system other than that of an export is used, with the number of
 * that file system as in struct rr_tree_place. cross() returns false where that file system must not be used
 * now. Where cross is NULL, every file system may be used. */
void rr_tree_on_crossing(struct rr_tree *tree, bool (*cross)(void *ctx, uint64_t place), void *ctx);

/* Where stays is true, makes the tree use no file systems other than those of the exports from now on. Where
 * stays is false, the tree may use other file systems again. */
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
 * export's root is the root. Also notes the name in the tree, so it is called after a link was made, too.
 * Errors: RR_VFS_NOENT, NOTDIR, ACCESS, NAME_TOO_LONG; BAD_CHAR for an empty name and for a name with a '/'
 * or a zero octet (RFC 1813, 3.2). */
enum rr_vfs_status rr_tree_lookup(struct rr_tree *tree, const struct rr_object *directory,
	struct rpcrdma_bytes name, struct rr_object *object);

/* The place that a handle says its object has: the number of its file system, and its number there. Nothing
 * of it was checked. */
struct rr_tree_place {
	uint64_t place, number;
};
struct rr_tree_place rr_tree_place(struct rpcrdma_bytes handle);

/* Tells whether place is the file system of an export, and lies in memory as a whole. */
bool rr_tree_in_memory(const struct rr_tree *tree, uint64_t place);

/* Writes the handle of an object. */
void rr_tree_handle(struct rr_tree *tree, const struct rr_object *object, struct rr_vfs_handle *handle);

/* Gets the present attributes of the object into object->st. */
enum rr_vfs_status rr_object_stat(struct rr_object *object);

/* Stores in *fd a descriptor for the data of a regular file or a directory. The tree keeps the descriptor
 * open in a bounded cache: the caller does not close it, and it is valid until the next call into the tree.
 * access is O_RDONLY (also for a directory), O_WRONLY or O_RDWR. The descriptor is opened with the identity
 * that is in force. The permission of a caller with its own identity is checked at each call, also where the
 * descriptor is in the cache. */
enum rr_vfs_status rr_tree_open(struct rr_tree *tree, struct rr_object *object, int access, int *fd);

/* Opens a descriptor as rr_tree_open() does, but gives it to the caller, who closes it: for locks, or to list
 * a directory. */
enum rr_vfs_status rr_tree_open_apart(struct rr_tree *tree, struct rr_object *object, int access, int *fd);

/* Opens a directory on the file system of object, for syncfs(2): object itself, or the nearest directory
 * above it that may be read. Stores the descriptor in *fd, as rr_tree_open() does. Returns an error where
 * there is no such directory. */
enum rr_vfs_status rr_tree_open_near(struct rr_tree *tree, const struct rr_object *object, int *fd);

/* Gives back an object that lookup, peek or resolve found. */
void rr_object_put(struct rr_tree *tree, struct rr_object *object);

/* Finds the object that has this name in directory, before the name is removed or changed. object->node is
 * NULL where the object is not found. Where the tree knows the object by another name (of a hard link), the
 * tree keeps that other name. rr_object_put() gives the object back. */
void rr_tree_peek(struct rr_tree *tree, const struct rr_object *directory, struct rpcrdma_bytes name,
	struct rr_object *object);

/* Notes that a name was removed: object, which rr_tree_peek() found, is not at name in directory any more.
 * Where that was its last name, its handle is stale from now on. */
void rr_tree_removed(struct rr_tree *tree, const struct rr_object *object, const struct rr_object *directory,
	const char *name);

/* Notes a renaming: the object "moved" is now at name in directory, and the object "replaced" is not there
 * any more. rr_tree_peek() found both. */
void rr_tree_renamed(struct rr_tree *tree, const struct rr_object *moved, const struct rr_object *replaced,
	const struct rr_object *directory, const char *name);

/* Continues work that calls began and did not wait for, for some milliseconds. Returns whether there is more
 * of it to do. This function is to be called between calls while rr_tree_has_work() is true. */
bool rr_tree_work(struct rr_tree *tree);
bool rr_tree_has_work(const struct rr_tree *tree);

/* Closes descriptors that were not used for ten seconds, as an open descriptor keeps the blocks of a removed
 * file. Other functions do that, too; a program that makes no calls has to call this now and then. */
void rr_tree_tidy(struct rr_tree *tree);

/* Returns how many descriptors the tree has open. */
uint32_t rr_tree_descriptors(const struct rr_tree *tree);

/* Tells whether the tree has descriptors open besides those of the exports' roots. */
bool rr_tree_is_warm(const struct rr_tree *tree);

/* Takes on the caller's identity for this thread, where the process is root: by setfsuid, setfsgid and
 * setgroups as plain system calls, so that only this thread changes, and with the capabilities that go with
 * the user. Does nothing where the process is not root. rr_tree_as_self() makes the thread act as the server
 * itself again. Makes few system calls where the caller is that of the last call. Errors: SYSTEM, NOMEM. */
int rr_tree_as(struct rr_tree *tree, const struct rr_vfs_caller *caller);
void rr_tree_as_self(struct rr_tree *tree);

/* Tells whether rr_tree_as() has an effect: the process is root. */
bool rr_tree_acts_as_callers(const struct rr_tree *tree);

#endif
