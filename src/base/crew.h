/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CREW_H
#define RR_BASE_CREW_H

#include "base/crew_queue.h"
#include "base/loop.h"

/* A crew is a set of threads that do jobs which may wait, so that the thread of a loop never waits. The crew
 * begins a thread when there is more to do than there are threads, up to a bound. Each thread does one job at
 * a time, in the order that crew_queue.h describes. */
struct rr_crew;

struct rr_crew_config {
	uint32_t max; /* the crew begins at most so many threads; greater than 0 */
	/* enlist() is called before a thread begins and returns a pointer that is passed to run() of each job
	 * of that thread, for memory that the thread needs for itself; NULL: there is no memory. discharge()
	 * frees that memory after the thread has ended. Both are called in the loop's thread. Both may be
	 * NULL: run() then gets NULL. */
	void *(*enlist)(void *ctx);
	void (*discharge)(void *ctx, void *member);
	void *ctx;
};

/* Makes a crew, with its first thread. The crew calls done() of ended jobs in the thread of loop. The crew's
 * threads block all signals: the other threads of the process receive the signals. Errors: NOMEM, SYSTEM. */
int rr_crew_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_crew_config *config,
	struct rr_crew **crew);

/* Waits for all jobs, calls done() for each, and ends the threads. crew may be NULL. */
void rr_crew_free(struct rr_crew *crew);

/* Hands the job to the crew, which calls its run() in a thread. The crew owns the job until done() is called,
 * or until run() returns false. This function is called in the loop's thread. */
void rr_crew_add(struct rr_crew *crew, struct rr_crew_job *job);

/* Tells whether the job that calls this function, in a thread of the crew, is the only one that the crew has.
 */
bool rr_crew_is_alone(struct rr_crew *crew);

/* Notes that the job works in another place (file system) from now on. The job's run() calls this function,
 * in a thread of the crew. Returns false where that place has no room: the job then still counts for its old
 * place. */
bool rr_crew_move(struct rr_crew *crew, const struct rr_crew_job *job, uint64_t place);

/* Cancels a job that no thread has begun: sets job->cancelled, and the loop calls done() without a call of
 * run(). For a job at work this does nothing. */
void rr_crew_cancel(struct rr_crew *crew, struct rr_crew_job *job);

#endif
