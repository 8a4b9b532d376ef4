/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_SHARED_H
#define RR_VFS_POSIX_SHARED_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/env.h"
#include "base/list.h"
#include "base/log_limit.h"
#include "vfs/posix/change.h"
#include "vfs/reserve.h"

/*
 * The providers of all threads of a process share this structure: the write verifier, the share
 * reservations of opens (reserve.h), the counts of changes (change.h), and locks. A thread that changes an
 * object takes the object's lock, gets the attributes, makes the change, and gets the attributes again: so no
 * other thread of the server changes the object in between.
 *
 * Each file system has locks of its own, because a lock may be held for long in a file system that hangs. A
 * hash of an object's inode number chooses its lock among them; two objects of a file system may have the
 * same lock. A lock is held for one change and the two statx(2) around it, never while data or metadata is
 * brought to stable storage.
 */

/* RR_POSIX_LOCKS: locks of a file system. RR_POSIX_DEVICES: file systems that have locks of their own; all
 * others share one more set of locks. */
enum { RR_POSIX_LOCKS = 64, RR_POSIX_DEVICES = 15 };

struct rr_posix_shared {
	const struct rr_env *env;
	/* RFC 1813, 3.3.7: the verifier differs at each start of the process, and changes where data could
	 * not be stored. */
	_Atomic uint64_t verifier;
	/* The number of each one's file system; 0: nobody's yet. */
	_Atomic uint64_t devices[RR_POSIX_DEVICES];
	pthread_mutex_t locks[(RR_POSIX_DEVICES + 1) * RR_POSIX_LOCKS];
	struct rr_changes changes;
	struct rr_reserve reserve;      /* share reservations of opens */
	pthread_mutex_t leases_lock;    /* protects all leases, and the lists of leases */
	uint32_t lease_count;           /* leases that clients have now */
	_Atomic uint32_t open_count;    /* opens whose file is not closed yet */
	struct rr_log_limit stored_log; /* of errors of storage */
};

/* Makes the structure that providers share, with the first write verifier. Errors: NOMEM. */
int rr_posix_shared_new(const struct rr_env *env, uint64_t verifier, struct rr_posix_shared **shared);

/* Frees shared, which no provider may use any more. shared may be NULL. */
void rr_posix_shared_free(struct rr_posix_shared *shared);

/* Takes the locks of one object or of two, in an order that is the same in all threads, so that two threads
 * never wait for each other. "two" may be NULL, and may be the same object as "one". */
void rr_posix_lock(struct rr_posix_shared *shared, const struct statx *one, const struct statx *two);
/* Releases the locks that rr_posix_lock() has taken with the same arguments. */
void rr_posix_unlock(struct rr_posix_shared *shared, const struct statx *one, const struct statx *two);

#endif
