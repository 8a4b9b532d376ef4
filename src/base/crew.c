/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of a crew share its queue under one lock, which is never held over a system call that may wait.
 * A job is first in the queue; then a member (a thread) does it; then it is in the list "ended", from where
 * the loop's thread takes all jobs at once. A thread that begins a job wakes one other thread where a further
 * job could begin, and only one thread is being woken at a time. So many jobs that come at once need few
 * system calls, and hardly any thread is woken that finds nothing to do. */
#include "base/crew.h"

#include <errno.h>
#include <pthread.h>
#include <rpcrdma/error.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A thread of the crew. */
struct crew_member {
	struct rr_crew *crew;
	void *member; /* made by config.enlist() */
	pthread_t thread;
	struct rr_crew_slot slot; /* of the job that the thread does */
};

struct rr_crew {
	const struct rr_env *env;
	struct rr_loop *loop;
	struct rr_crew_config config;
	struct rr_watch watch; /* of an eventfd, which is signalled when "ended" is no longer empty */
	pthread_mutex_t lock;  /* protects the members that follow */
	pthread_cond_t wanted; /* idle threads wait for this condition */
	struct rr_crew_queue queue;
	struct rr_list ended;         /* jobs whose done() is to be called */
	uint32_t idle;                /* threads that wait for a job */
	bool waking;                  /* a signal is on its way to an idle thread, which will look for jobs */
	uint32_t count;               /* threads; used by the loop's thread only, without the lock */
	bool ends;                    /* rr_crew_free() was called: threads end when the queue is empty */
	struct crew_member members[]; /* config.max of them; the first "count" have threads */
};

/* Tells whether an idle thread is to be woken: a job may begin, and no idle thread is being woken already. If
 * so, notes in crew->waking that a thread is being woken. The caller holds the lock. After it has released
 * the lock, the caller wakes the thread by the condition "wanted". */
static bool
crew_wakes(struct rr_crew *crew)
{
	bool wakes = crew->idle > 0 && !crew->waking && rr_crew_queue_next(&crew->queue);

	crew->waking |= wakes;
	return wakes;
}

/* Appends the job to the list of ended jobs, and wakes the loop where the list was empty. The loop's thread
 * empties the list. The caller holds the lock, which is released while the loop is woken: otherwise the
 * loop's thread, which may run at once, would begin with waiting for it. */
static void
crew_has_ended(struct rr_crew *crew, struct rr_crew_job *job)
{
	bool was_empty = rr_list_empty(&crew->ended);

	rr_list_append(&crew->ended, &job->link);
	if (!was_empty)
		return;
	pthread_mutex_unlock(&crew->lock);
	eventfd_write(crew->watch.fd, 1);
	pthread_mutex_lock(&crew->lock);
}

/* Takes the job out of the queue and runs it in the calling thread, which is that of member. Before that,
 * wakes another thread where a further job may begin. A job whose run() returns true goes into the list of
 * ended jobs; a job whose run() returns false may be freed already and is not touched. The caller holds the
 * lock, which is released while the job runs. */
static void
crew_work(struct rr_crew *crew, struct rr_crew_job *job, struct crew_member *member)
{
	uint64_t began = rr_now(crew->env);
	bool has_ended, wake;

	rr_crew_queue_begin(&crew->queue, job, &member->slot);
	wake = crew_wakes(crew);
	pthread_mutex_unlock(&crew->lock);
	if (wake)
		pthread_cond_signal(&crew->wanted);
	has_ended = job->run(job, member->member);
	pthread_mutex_lock(&crew->lock);
	rr_crew_queue_end(&crew->queue, &member->slot, rr_now(crew->env) - began);
	if (has_ended)
		crew_has_ended(crew, job);
}

/* Has the system schedule the calling thread as one that computes (sched(7), SCHED_BATCH): a thread that is
 * woken then takes no processor from a thread that runs. Otherwise the threads of a crew and the loop's take
 * one processor from each other for each job of some microseconds, and Linux keeps others off it for seconds,
 * its own threads for the disk among them. Without that policy the crew works, too: an error has no effect.
 */
static void
crew_is_batch(void)
{
	const struct sched_param param = { .sched_priority = 0 };

	sched_setscheduler(0, SCHED_BATCH, &param);
}

/* The main function of a thread: does jobs until the crew ends and the queue is empty. While no job may
 * begin, waits as an idle thread; when it wakes, another idle thread may be woken (crew->waking). */
static void *
crew_run(void *argument)
{
	struct crew_member *member = argument;
	struct rr_crew *crew = member->crew;

	crew_is_batch();
	pthread_mutex_lock(&crew->lock);
	while (!crew->ends || crew->queue.count > 0) {
		struct rr_crew_job *job = rr_crew_queue_next(&crew->queue);

		if (job) {
			crew_work(crew, job, member);
			continue;
		}
		crew->idle++;
		pthread_cond_wait(&crew->wanted, &crew->lock);
		crew->idle--;
		crew->waking = false;
	}
	/* Idle threads may have waited for a job that could not begin before the last job ended, which is now
	 * done: this wakes them, so that they end, too. */
	pthread_cond_broadcast(&crew->wanted);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* Calls done() of each job that has ended, without holding the lock. This function runs in the loop's
 * thread. */
static void
crew_finish(struct rr_crew *crew)
{
	struct rr_list ended, *link;

	rr_list_init(&ended);
	pthread_mutex_lock(&crew->lock);
	while ((link = rr_list_pop(&crew->ended)))
		rr_list_append(&ended, link);
	pthread_mutex_unlock(&crew->lock);
	while ((link = rr_list_pop(&ended))) {
		struct rr_crew_job *job = rr_container(link, struct rr_crew_job, link);

		job->done(job);
	}
}

/* Resets the eventfd that woke the loop, and calls done() of each job that has ended. The loop calls this
 * function. */
static void
crew_ready(struct rr_watch *watch, unsigned events)
{
	eventfd_t count;

	(void)events;
	eventfd_read(watch->fd, &count);
	crew_finish(rr_container(watch, struct rr_crew, watch));
}

/* Lets the owner of the crew free the memory of a thread that has ended, or could not be begun. */
static void
crew_discharge(const struct rr_crew *crew, struct crew_member *member)
{
	if (crew->config.discharge)
		crew->config.discharge(crew->config.ctx, member->member);
}

/* Begins another thread of the crew, with all signals blocked, because the other threads of the process
 * receive the signals. Where enlist() or pthread_create() fails, no thread is added, and the present threads
 * do all jobs. */
static void
crew_grow(struct rr_crew *crew)
{
	struct crew_member *member = &crew->members[crew->count];
	sigset_t all, before;

	member->crew = crew;
	member->member = crew->config.enlist ? crew->config.enlist(crew->config.ctx) : NULL;
	if (crew->config.enlist && !member->member)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&member->thread, NULL, crew_run, member) == 0)
		crew->count++;
	else
		crew_discharge(crew, member);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Returns how many processors the calling thread may use; 1 if the system does not say. */
static uint32_t
crew_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

int
rr_crew_new(const struct rr_env *env, struct rr_loop *loop, const struct rr_crew_config *config,
	struct rr_crew **crew)
{
	struct rr_crew *new = rr_alloc(env, sizeof(*new) + config->max * sizeof(new->members[0]));
	int fd, error;

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->env = env;
	new->loop = loop;
	new->config = *config;
	new->watch.ready = crew_ready;
	error = rr_crew_queue_init(&new->queue, env, config->max, crew_processors());
	rr_list_init(&new->ended);
	pthread_mutex_init(&new->lock, NULL);
	pthread_cond_init(&new->wanted, NULL);
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!error && fd >= 0 && rr_loop_watch(loop, &new->watch, fd, RR_READABLE) == 0)
		crew_grow(new);
	if (new->count > 0) {
		*crew = new;
		return 0;
	}
	/* rr_crew_free() closes watch.fd unless it is negative. Without rr_loop_watch() it is not set yet. */
	new->watch.fd = fd;
	rr_crew_free(new);
	return error ? error : -RPCRDMA_ERR_SYSTEM;
}

void
rr_crew_free(struct rr_crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->ends = true;
	pthread_cond_broadcast(&crew->wanted);
	pthread_mutex_unlock(&crew->lock);
	for (uint32_t i = 0; i < crew->count; i++) {
		pthread_join(crew->members[i].thread, NULL);
		crew_discharge(crew, &crew->members[i]);
	}
	crew_finish(crew);
	rr_loop_unwatch(crew->loop, &crew->watch);
	if (crew->watch.fd >= 0)
		close(crew->watch.fd);
	rr_crew_queue_free(&crew->queue);
	pthread_cond_destroy(&crew->wanted);
	pthread_mutex_destroy(&crew->lock);
	rr_free(crew->env, crew);
}

void
rr_crew_add(struct rr_crew *crew, struct rr_crew_job *job)
{
	bool wake, grow;

	job->cancelled = false;
	pthread_mutex_lock(&crew->lock);
	rr_crew_queue_add(&crew->queue, job);
	/* Another thread is wanted where more jobs may begin than threads are idle. */
	grow = crew->idle < crew->queue.ready && crew->count < crew->config.max &&
	       rr_crew_queue_next(&crew->queue);
	wake = crew_wakes(crew);
	pthread_mutex_unlock(&crew->lock);
	/* The signal is sent without the lock, as the woken thread would wait for the lock at once. */
	if (wake)
		pthread_cond_signal(&crew->wanted);
	if (grow)
		crew_grow(crew);
}

bool
rr_crew_is_alone(struct rr_crew *crew)
{
	bool alone;

	pthread_mutex_lock(&crew->lock);
	alone = crew->queue.busy == 1 && crew->queue.count == 0;
	pthread_mutex_unlock(&crew->lock);
	return alone;
}

bool
rr_crew_move(struct rr_crew *crew, const struct rr_crew_job *job, uint64_t place)
{
	bool has_room = false, wake;

	pthread_mutex_lock(&crew->lock);
	for (uint32_t i = 0; i < crew->config.max; i++)
		if (crew->members[i].slot.job == job)
			has_room = rr_crew_queue_move(&crew->queue, &crew->members[i].slot, place);
	/* The place that the job leaves may have room for another job now. */
	wake = has_room && crew_wakes(crew);
	pthread_mutex_unlock(&crew->lock);
	if (wake)
		pthread_cond_signal(&crew->wanted);
	return has_room;
}

void
rr_crew_cancel(struct rr_crew *crew, struct rr_crew_job *job)
{
	pthread_mutex_lock(&crew->lock);
	if (job->waits) {
		rr_crew_queue_withdraw(&crew->queue, job);
		job->cancelled = true;
		crew_has_ended(crew, job);
		/* Several jobs that waited for the cancelled job may begin now, so all idle threads are
		 * woken. */
		pthread_cond_broadcast(&crew->wanted);
	}
	pthread_mutex_unlock(&crew->lock);
}
