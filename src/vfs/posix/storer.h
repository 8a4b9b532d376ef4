/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_STORER_H
#define RR_VFS_POSIX_STORER_H

#include "base/list.h"
#include "base/loop.h"
#include "vfs/posix/store.h"

/*
 * A thread that brings to stable storage what calls have changed, for the thread of a loop, which serves
 * others meanwhile. Jobs that come while it works are one batch, stored together: a file or directory that
 * several of them changed once, or the file system as a whole where that takes less. So the more calls wait,
 * the less each costs.
 */
struct rr_storer;

/* The caller's, untouched by it from rr_storer_add() until done(), which comes from the loop. */
struct rr_store_job {
	struct rr_stores stores;
	int error; /* errno */
	void (*done)(struct rr_store_job *job);
	struct rr_list link; /* private */
};

/* Errors: NOMEM, SYSTEM. */
int rr_storer_new(const struct rr_env *env, struct rr_loop *loop, struct rr_storer **storer);

/* Stores what is left, and calls done() for it. storer may be NULL. */
void rr_storer_free(struct rr_storer *storer);

void rr_storer_add(struct rr_storer *storer, struct rr_store_job *job);

/* How many batches were stored so far. */
uint64_t rr_storer_batches(struct rr_storer *storer);

#endif
