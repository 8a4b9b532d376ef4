/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_CREW_H
#define RR_VFS_CREW_H

#include "base/loop.h"
#include "vfs/crew_queue.h"

/* A crew is a set of threads that do jobs which may wait, so that the thread of a loop never waits. The crew
 * begins a thread when there is more to do than there are threads, up to a bound. Each thread does one job at
 * a time, in the order that crew_queue.h describes. */
struct rr_crew;

struct rr_crew_config {
	uint32_t max; /* at most, threads */
	/* enlist() makes what a thread needs for itself, and discharge() frees that, both in the loop's
	 * thread. enlist() returns NULL where there is no memory. Both functions may be NULL: a thread then
	 * needs nothing. */
	void *(*enlist)(void *ctx);
	void (*discharge)(void *ctx, void *member);
	void *ctx;
};

/* Makes a crew that calls done() of ended jobs in the thread of loop. The crew's threads block all signals:
 * the other threads of the process receive the signals. Errors: NOMEM, SYSTEM. */
int rr_crew_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_crew_config *config,
	struct rr_crew **crew);

/* Waits for all jobs, calls done() for each, and ends the threads. crew may be NULL. */
void rr_crew_free(struct rr_crew *crew);

/* Hands the job to the crew, which calls its run() in a thread. The crew owns the job until done() is
 * called. */
void rr_crew_add(struct rr_crew *crew, struct rr_crew_job *job);

/* Notes that the job works in another place (file system) from now on. The job's run() calls this function,
 * in a thread of the crew. Returns false where that place has no room: the job then still counts for its old
 * place. */
bool rr_crew_move(struct rr_crew *crew, const struct rr_crew_job *job, uint64_t place);

/* Cancels a job that no thread has begun: run() is not called, and done() is called soon. For a job at work
 * this does nothing. */
void rr_crew_cancel(struct rr_crew *crew, struct rr_crew_job *job);

#endif
