/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_ASKING_H
#define RR_TOOL_ASKING_H

#include <pthread.h>
#include <time.h>

#include "tool/measure.h"

/* A thread asks other threads, one after the other, to add their counters to a measure (measure.h). A thread
 * that answers too late finds that it is not asked any more. */
struct rr_asking {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct rr_measure *measure; /* the thread that is asked adds to it, while wanted is set */
	const void *wanted; /* stands for the thread that is asked; NULL: none is, or it has answered */
};

void rr_asking_init(struct rr_asking *asking);
void rr_asking_destroy(struct rr_asking *asking);

/* Asks a thread to add to the measure: writes `request` to the thread's eventfd `fd`, and waits until the
 * thread has answered, or until the time `limit` (CLOCK_REALTIME). `who` is any pointer that both sides use
 * for that thread. Returns false if the thread has not answered in time. */
bool rr_asking_ask(struct rr_asking *asking, struct rr_measure *measure, const void *who, int fd,
	uint64_t request, const struct timespec *limit);

/* Called by the thread `who` when it was asked: returns the measure to which the thread adds. A lock is then
 * held until the thread calls rr_asking_give(). Returns NULL, without the lock, if nobody waits for this
 * thread any more. */
struct rr_measure *rr_asking_take(struct rr_asking *asking, const void *who);
/* Called by that thread when it has added to the measure: ends the wait of the asking thread, and releases
 * the lock. */
void rr_asking_give(struct rr_asking *asking);

#endif
