/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_IDENTITY_H
#define RR_VFS_POSIX_IDENTITY_H

#include <sys/types.h>

#include "base/env.h"
#include "vfs/vfs.h"

/*
 * An identity is the user and the groups with which a thread works with files.
 *
 * glibc's setgroups(3) and its kin change every thread of the process, so the system calls are made here
 * directly. With a file-system uid other than 0 Linux takes the capabilities that override permissions out of
 * the thread's effective set, and gives them back with uid 0.
 *
 * A thread keeps the groups of its last caller while it acts as itself: they mean nothing then, and the same
 * caller is likely to come next. rr_identity_free() restores what the thread began with.
 */
struct rr_identity {
	bool root;        /* the process is root, and so may change its identity */
	bool in_force;    /* a caller's identity is in force now */
	bool taken;       /* a caller's identity was taken once, and the following members are set */
	uint32_t acts_as; /* the thread's uid for files now */
	uint32_t uid, gid, gid_count,
		gids[RR_VFS_GROUPS]; /* of the last caller; gid_count greater than the array: not noted */
	const struct rr_env *env;
	gid_t *own_gids; /* the groups that the thread began with */
	int own_gid_count;
	bool own_reserves; /* the thread began with CAP_SYS_RESOURCE */
};

/* Prepares the identity of a thread. rr_identity_free() restores what the thread began with. */
void rr_identity_init(struct rr_identity *identity, const struct rr_env *env);
void rr_identity_free(struct rr_identity *identity);

/* rr_identity_take() takes on the caller's identity and returns 0 or a negative error, as rr_tree_as() does;
 * rr_identity_drop() gives the identity up, as rr_tree_as_self() does. After a failure the thread acts as
 * itself. */
int rr_identity_take(struct rr_identity *identity, const struct rr_vfs_caller *caller);
void rr_identity_drop(struct rr_identity *identity);

/* Between these two functions, which are called amid the work for a caller, the thread acts as the server
 * itself. rr_identity_resume() returns false where the caller's identity could not be taken on again: the
 * thread then acts as itself and must do no more for that caller. */
void rr_identity_suspend(struct rr_identity *identity);
bool rr_identity_resume(struct rr_identity *identity);

#endif
