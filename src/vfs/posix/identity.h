/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_IDENTITY_H
#define RR_VFS_POSIX_IDENTITY_H

#include <sys/types.h>

#include "base/env.h"
#include "vfs/vfs.h"

/*
 * On whose behalf this thread works with files.
 *
 * glibc's setgroups(3) and its kin change every thread of the process, so the
 * system calls are made here directly. With a file-system uid other than 0
 * Linux takes the capabilities that override permissions out of the thread's
 * effective set, and gives them back with uid 0.
 *
 * A thread keeps the groups of its last caller while it acts as itself: they
 * mean nothing then, and the same caller is likely to come next.
 * rr_identity_free() restores what the thread began with.
 */
struct rr_identity {
	bool root;        /* of a process that may change its identity */
	bool in_force;    /* a caller's identity, now */
	bool taken;       /* at least once: what follows is set */
	uint32_t acts_as; /* the thread's uid for files, now */
	uint32_t uid, gid, gid_count,
		gids[RR_VFS_GROUPS]; /* of the last caller; gid_count greater: of nobody */
	const struct rr_env *env;
	gid_t *own_gids; /* those the thread began with */
	int own_gid_count;
	bool own_reserves; /* it began with CAP_SYS_RESOURCE */
};

void rr_identity_init(struct rr_identity *identity, const struct rr_env *env);
void rr_identity_free(struct rr_identity *identity);

/* As rr_tree_as(): after a failure the thread acts as itself. */
int rr_identity_take(struct rr_identity *identity, const struct rr_vfs_caller *caller);
void rr_identity_drop(struct rr_identity *identity);

/* For a few calls as the server itself in the midst of a caller's work. False: the caller's identity could
 * not be taken on again; the thread is left as itself and must do no more for that caller. */
void rr_identity_suspend(struct rr_identity *identity);
bool rr_identity_resume(struct rr_identity *identity);

#endif
