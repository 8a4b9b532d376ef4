/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_ASKING_H
#define RR_TOOL_ASKING_H

#include <pthread.h>
#include <time.h>

#include "tool/monitor/measure.h"

/* A thread asks other threads, all at once, to add their counters to a measure (measure.h). A thread that
 * answers too late finds that it is not asked any more. A thread has a number from 0 to 63. */
enum { RR_ASKING_MAX = 64 };

struct rr_asking {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	/* The threads that are asked add to it, while their bits of wanted are set. */
	struct rr_measure *measure;
	uint64_t wanted; /* the bit 1 << number of each thread that is asked and has not answered yet */
};

void rr_asking_init(struct rr_asking *asking);
void rr_asking_destroy(struct rr_asking *asking);

/* Begins to ask the threads 0 to count - 1, of which there may be RR_ASKING_MAX at most, to add to the
 * measure. Wakes none of them: the caller then has each of them call rr_asking_take(). */
void rr_asking_begin(struct rr_asking *asking, struct rr_measure *measure, uint32_t count);
/* Waits until all threads that are asked have answered, or until the time `limit` (CLOCK_REALTIME). Returns
 * the number of threads that have not answered, which are not asked any more. */
uint32_t rr_asking_end(struct rr_asking *asking, const struct timespec *limit);

/* Called by the thread with that number when it was asked: returns the measure to which the thread adds. A
 * lock is then held until the thread calls rr_asking_give(). Returns NULL, without the lock, if nobody waits
 * for this thread any more. */
struct rr_measure *rr_asking_take(struct rr_asking *asking, uint32_t number);
/* Called by the thread `number` after rr_asking_take(), when it has added to the measure: notes that it has
 * answered, wakes rr_asking_end() if it was the last, and releases the lock. */
void rr_asking_give(struct rr_asking *asking, uint32_t number);

#endif
