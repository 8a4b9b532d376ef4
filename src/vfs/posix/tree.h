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
	const char *path; /* the directory */
	const char *name; /* what clients mount: begins with '/' */
};

struct rr_tree_config {
	const struct rr_tree_export *exports;
	uint32_t export_count;
	uint8_t key[RR_VFS_KEY];
	bool read_only;
	uint32_t open_max; /* descriptors kept open; 0: a default from RLIMIT_NOFILE */
	uint32_t workers;  /* threads of a provider for what may wait; 0: the loop's does all, and waits */
};

struct rr_tree;

/* An object that a handle was resolved to. Valid until rr_object_put(). */
struct rr_object {
	int fd; /* O_PATH */
	struct statx st;
	const struct rr_tree_export *export;
	uint64_t fsid;  /* of its file system, as exported: the same after restarts */
	bool local;     /* its file system has attributes of what is open in memory */
	bool memory;    /* and all else */
	uint64_t place; /* another number of its file system, as handles have it: see rr_tree_place() */
	void *node;     /* the tree's; NULL: of an open, not the tree's at all */
};

/*
 * Opens the trees. Errors: SYSTEM with a text that names the directory and why (missing, no directory, no
 * permission), NOMEM, INVAL (two exports of one name).
 */
int rr_tree_new(const struct rr_env *env, const struct rr_tree_config *config, struct rr_tree **tree,
	struct rr_text *text);
void rr_tree_free(struct rr_tree *tree);

/* A tree for another thread that knows what tree knows, and learns with it. To be freed, in any order. An
 * object of one may be used with the others. -RPCRDMA_ERR_NOMEM. */
int rr_tree_beside(struct rr_tree *tree, struct rr_tree **beside);

/*
 * From here to rr_tree_hurried() nothing is done that may wait: for a disk, another machine, another thread.
 * What would is not done, and fails. False: another thread is at work, nothing can be done now.
 * memory: all objects lie where rr_tree_in_memory() says so, and may be changed. rr_tree_hurried(): whether
 * nothing failed for that reason.
 */
bool rr_tree_hurry(struct rr_tree *tree, bool memory);
bool rr_tree_hurried(struct rr_tree *tree);

const struct rr_tree_config *rr_tree_config(const struct rr_tree *tree);

/* cross() is called before another file system than that of an export is asked for anything: with its number
 * as in struct rr_tree_place. False: not now. NULL: it may be. */
void rr_tree_on_crossing(struct rr_tree *tree, bool (*cross)(void *ctx, uint64_t place), void *ctx);

/* From now on, or no longer: no other file system is asked for anything. */
void rr_tree_stay(struct rr_tree *tree, bool stays);

/* The handle of the root of an export, by its number. */
void rr_tree_root(struct rr_tree *tree, uint32_t number, struct rr_vfs_handle *handle);

/* The number of the export that a handle names, forged or not; export_count: no export of the tree. */
uint32_t rr_tree_export_of(const struct rr_tree *tree, struct rpcrdma_bytes handle);

/* RR_VFS_BAD_HANDLE: not one of ours (the check fails). RR_VFS_STALE: what it named is gone. */
enum rr_vfs_status rr_tree_resolve(
	struct rr_tree *tree, struct rpcrdma_bytes handle, struct rr_object *object);

/* Finds name in directory, without following a symbolic link. "." and ".." are answered; ".." of an export's
 * root is the root. RR_VFS_NOENT, NAMETOOLONG, NOTDIR, ACCES (also for no name, a '/' or a zero octet: RFC
 * 1813, 3.2). To be called after a LINK, too, so that the tree knows the new name. */
enum rr_vfs_status rr_tree_lookup(struct rr_tree *tree, const struct rr_object *directory,
	struct rpcrdma_bytes name, struct rr_object *object);

/* What a handle says of where its object lies, if it is one: its file system, and its number there. Nothing
 * is checked. */
struct rr_tree_place {
	uint64_t place, number;
};
struct rr_tree_place rr_tree_place(struct rpcrdma_bytes handle);

/* Whether that is the file system of an export, and lies in memory as a whole. */
bool rr_tree_in_memory(const struct rr_tree *tree, uint64_t place);

/* The handle of an object. */
void rr_tree_handle(struct rr_tree *tree, const struct rr_object *object, struct rr_vfs_handle *handle);

/* A fresh statx of the object. */
enum rr_vfs_status rr_object_stat(struct rr_object *object);

/*
 * A descriptor for the data of a regular file (O_RDONLY or O_RDWR) or a directory (O_RDONLY), kept open by
 * the tree in a bounded cache: not the caller's to close, valid until the next call into the tree. It is
 * opened with the identity that is in force. access: O_RDONLY, O_WRONLY or O_RDWR. A caller with its own
 * identity is checked at each call, also where the descriptor is in the cache.
 */
enum rr_vfs_status rr_tree_open(struct rr_tree *tree, struct rr_object *object, int access, int *fd);

/* As rr_tree_open(), a descriptor of one's own: for locks, or to list a directory. To be closed. */
enum rr_vfs_status rr_tree_open_apart(struct rr_tree *tree, struct rr_object *object, int access, int *fd);

/* Likewise a descriptor of some directory on the same file system as object: for syncfs(2). RR_VFS_IO: there
 * is none that may be read. */
enum rr_vfs_status rr_tree_open_near(struct rr_tree *tree, const struct rr_object *object, int *fd);

/* Gives back what lookup, mount or resolve opened. */
void rr_object_put(struct rr_tree *tree, struct rr_object *object);

/*
 * The object that name in directory leads to, before that name is removed or changed; an object without a
 * node where it is not known. Where the tree knows the object by another name (of a hard link), it keeps that
 * one. To be put.
 */
void rr_tree_peek(struct rr_tree *tree, const struct rr_object *directory, struct rpcrdma_bytes name,
	struct rr_object *object);

/* After a removal: object, which was found by rr_tree_peek(), is not at name in directory any more. Where
 * that was its last name, its handle is stale from now on. */
void rr_tree_removed(struct rr_tree *tree, const struct rr_object *object, const struct rr_object *directory,
	const char *name);

/* After a renaming: moved is now at name in directory, and replaced is not. Both were found by
 * rr_tree_peek(). */
void rr_tree_renamed(struct rr_tree *tree, const struct rr_object *moved, const struct rr_object *replaced,
	const struct rr_object *directory, const char *name);

/* Goes on with what calls began and did not wait for, for some milliseconds: whether there is more. To be
 * called while rr_tree_has_work(), between calls. */
bool rr_tree_work(struct rr_tree *tree);
bool rr_tree_has_work(const struct rr_tree *tree);

/* Closes descriptors that nobody used for ten seconds: an open one keeps the blocks of a removed file. Also
 * done by the other calls; where none come, somebody calls this now and then. */
void rr_tree_tidy(struct rr_tree *tree);

/* Descriptors that it has open, all together. */
uint32_t rr_tree_descriptors(const struct rr_tree *tree);

/* Whether it has descriptors open besides those of the exports' roots. */
bool rr_tree_is_warm(const struct rr_tree *tree);

/*
 * Takes on the caller's identity for this thread, where the process is root (setfsuid, setfsgid, setgroups as
 * plain system calls, so that only this thread changes, and the capabilities that go with it); nothing
 * otherwise. Undone by rr_tree_as_self(), which every handler calls before it
 * returns. Cheap where nothing changes.
 */
int rr_tree_as(struct rr_tree *tree, const struct rr_vfs_caller *caller);
void rr_tree_as_self(struct rr_tree *tree);

/* Whether rr_tree_as() changes anything: the process is root. */
bool rr_tree_acts_as_callers(const struct rr_tree *tree);

#endif
