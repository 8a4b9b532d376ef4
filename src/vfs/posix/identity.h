/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_IDENTITY_H
#define RR_VFS_POSIX_IDENTITY_H

#include <sys/types.h>

#include "base/env.h"
#include "vfs/vfs.h"

/*
 * An identity is the user and the groups with which a thread works with files.
 *
 * glibc's setgroups(3) and functions like it change every thread of the process, so the system calls are made
 * here directly. When the uid for files (setfsuid(2)) becomes other than 0, Linux takes the capabilities that
 * override permissions out of the thread's effective set; when it becomes 0 again, the thread gets them back.
 *
 * A thread with uid 0 for files acts as the server itself, and its groups have no effect. So it keeps the
 * groups of its last caller, because the same caller is likely to come next. rr_identity_free() restores the
 * groups and capabilities that the thread began with.
 */
struct rr_identity {
	bool root;        /* the process is root, and so may change its identity */
	bool in_force;    /* between rr_identity_take() and rr_identity_drop(), also while suspended */
	bool taken;       /* the thread has the gid and the groups that are noted below */
	uint32_t acts_as; /* the thread's uid for files now */
	/* Those of the last caller. Where gid_count is greater than RR_VFS_GROUPS, gids is not set. */
	uint32_t uid, gid, gid_count, gids[RR_VFS_GROUPS];
	const struct rr_env *env;
	gid_t *own_gids; /* the groups that the thread began with */
	int own_gid_count;
	uint32_t own_gid;  /* the effective group before rr_identity_pose() */
	bool own_reserves; /* the thread began with CAP_SYS_RESOURCE */
};

/* Prepares the identity of a thread. rr_identity_free() restores what the thread began with. */
void rr_identity_init(struct rr_identity *identity, const struct rr_env *env);
void rr_identity_free(struct rr_identity *identity);

/* Makes the thread work with files as the caller, until rr_identity_drop(). Does nothing where the process is
 * not root. Errors: SYSTEM, NOMEM; the thread then acts as the server itself. */
int rr_identity_take(struct rr_identity *identity, const struct rr_vfs_caller *caller);
/* Ends the work for a caller: the thread acts as the server itself again. */
void rr_identity_drop(struct rr_identity *identity);

/* Amid the work for a caller, makes the thread act as the server itself until rr_identity_resume(). */
void rr_identity_suspend(struct rr_identity *identity);
/* Makes the thread act as the caller again after rr_identity_suspend(). Returns false where that fails: the
 * thread then acts as the server itself, and must do no more for that caller. */
bool rr_identity_resume(struct rr_identity *identity);

/* Makes the thread, which acts as the server itself, have this effective user, or this effective group, until
 * rr_identity_unpose(), which is to be called in any case. Does nothing where the process is not root.
 * Returns false, with errno, where the system refuses. */
bool rr_identity_pose(struct rr_identity *identity, bool group, uint32_t id);
void rr_identity_unpose(struct rr_identity *identity);

#endif
