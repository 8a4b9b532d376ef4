/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_POSIX_CREW_H
#define RR_VFS_POSIX_CREW_H

#include "base/list.h"
#include "base/loop.h"

/*
 * Threads for what may wait, so that the thread of a loop never does. They are begun when there is more to do
 * than there are threads, up to a bound, and each does one job at a time.
 *
 * A job has a place: a file system. A place may keep as many threads busy as are free: what hangs in one
 * place leaves threads to the others. Jobs with a key in common are done one after the other, in the order in
 * which they came, unless both say that they share it.
 */
struct rr_crew;

enum { RR_CREW_KEYS = 2 };

/* The caller's, untouched by it from rr_crew_add() until done(). */
struct rr_crew_job {
	uint64_t place;
	uint64_t keys[RR_CREW_KEYS]; /* 0: no key */
	bool shares;
	/* In a thread of the crew; member is what the crew's enlist() made for that thread. Returns false
	 * where the job has become somebody else's: done() does not come then. */
	bool (*run)(struct rr_crew_job *job, void *member);
	void (*done)(struct rr_crew_job *job); /* from the loop */
	bool cancelled;                        /* it was not run */
	struct rr_list link;                   /* private, as all below */
};

struct rr_crew_config {
	uint32_t max; /* threads */
	/* What a thread needs for itself, made and freed in the loop's thread. NULL: no memory. */
	void *(*enlist)(void *ctx);
	void (*discharge)(void *ctx, void *member);
	void *ctx;
};

/* Errors: NOMEM, SYSTEM. */
int rr_crew_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_crew_config *config,
	struct rr_crew **crew);

/* Waits for all jobs, and calls done() for them. crew may be NULL. */
void rr_crew_free(struct rr_crew *crew);

void rr_crew_add(struct rr_crew *crew, struct rr_crew_job *job);

/* From a job's run(): it works in another place from now on. False: that place has no room. */
bool rr_crew_move(struct rr_crew *crew, const struct rr_crew_job *job, uint64_t place);

/* A job that was not begun will not be, and done() comes soon. */
void rr_crew_cancel(struct rr_crew *crew, struct rr_crew_job *job);

#endif
