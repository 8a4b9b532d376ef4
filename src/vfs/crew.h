/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_CREW_H
#define RR_VFS_CREW_H

#include "base/loop.h"
#include "vfs/crew_queue.h"

/*
 * Threads for what may wait, so that the thread of a loop never does. The crew begins a thread when there is
 * more to do than there are threads, up to a bound, and each thread does one job at a time, in the order that
 * crew_queue.h describes.
 */
struct rr_crew;

struct rr_crew_config {
	uint32_t max; /* threads */
	/* What a thread needs for itself, made and freed in the loop's thread. NULL as a result: no memory.
	 * Both may be NULL: a thread needs nothing. */
	void *(*enlist)(void *ctx);
	void (*discharge)(void *ctx, void *member);
	void *ctx;
};

/* Signals are left to the threads that there are. Errors: NOMEM, SYSTEM. */
int rr_crew_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_crew_config *config,
	struct rr_crew **crew);

/* Waits for all jobs, and calls done() for them. crew may be NULL. */
void rr_crew_free(struct rr_crew *crew);

/* The job is the crew's until done(). */
void rr_crew_add(struct rr_crew *crew, struct rr_crew_job *job);

/* From a job's run(), with the crew's name for its thread: the job works in another place from now on. False:
 * that place has no room. */
bool rr_crew_move(struct rr_crew *crew, const struct rr_crew_job *job, uint64_t place);

/* A job that was not begun will not be, and done() comes soon. */
void rr_crew_cancel(struct rr_crew *crew, struct rr_crew_job *job);

#endif
