/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_STORE_STORER_H
#define RR_VFS_POSIX_STORE_STORER_H

#include <stdbool.h>

#include "base/list.h"
#include "base/loop.h"
#include "vfs/posix/store/store.h"

/* A storer is a thread that brings to stable storage the changes of operations (fsync(2) and its like), while
 * the thread of the loop serves other calls. Jobs that come while the storer works are stored together as the
 * next batch: a file or directory that several jobs changed is stored once, or the whole file system is
 * stored where that takes less time. So the more calls wait, the less each call costs. */
struct rr_storer;

/* A job of a storer: the objects that one operation has changed. It belongs to the storer from
 * rr_storer_add() until done(), which is called in the loop's thread, with stores empty. */
struct rr_store_job {
	struct rr_stores stores;
	int error; /* out: 0, or the errno with which storing failed */
	void (*done)(struct rr_store_job *job);
	struct rr_list link; /* private */
};

/* Makes a storer and begins its thread. Errors: NOMEM, SYSTEM. */
int rr_storer_new(const struct rr_env *env, struct rr_loop *loop, struct rr_storer **storer);

/* Stores the jobs that are left, calls done() for each, and ends the thread. storer may be NULL. */
void rr_storer_free(struct rr_storer *storer);

/* Hands a job, with its stores and done set, to the storer. May be called in any thread. */
void rr_storer_add(struct rr_storer *storer, struct rr_store_job *job);

/* Tells whether the storer has no job, and its last batch was of one job, so that a job which comes now is
 * likely to be stored alone. May be called in any thread. */
bool rr_storer_is_idle(struct rr_storer *storer);

/* Returns how many batches were stored so far. */
uint64_t rr_storer_batches(struct rr_storer *storer);

#endif
