/* SPDX-License-Identifier: BSD-3-Clause */
/* A job is first in the list "arriving". When the storer's thread has no batch, it takes jobs from there as
 * its next batch. When the batch is stored, all its jobs go into the list "stored", from where the loop's
 * thread takes them and calls done(). The two lists are shared, under the lock; the batch is used by the
 * storer's thread alone. */
#include "vfs/posix/store/batch.h"

#include <errno.h>
#include <pthread.h>
#include <rpcrdma/error.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/checked.h"

struct rr_storer {
	const struct rr_env *env;
	struct rr_loop *loop;
	struct rr_watch watch; /* of an eventfd, which is signalled when jobs were stored */
	pthread_t thread;
	pthread_mutex_t lock;  /* protects the members that follow */
	pthread_cond_t wanted; /* the storer's thread waits for jobs by this condition */
	struct rr_list arriving, stored;
	uint32_t count;            /* jobs in "arriving" */
	bool gathers;              /* the thread waits for further jobs of the next batch (storer_gather()) */
	bool works;                /* the thread stores a batch */
	bool ends;                 /* rr_storer_free() was called */
	uint64_t batches;          /* how many were taken so far */
	struct rr_store_pace pace; /* changed by the storer's thread only, with the lock or in a batch */
};

/* Moves at most "most" jobs from the beginning of one list to the end of another. */
static void
storer_move(struct rr_list *from, struct rr_list *to, uint32_t most)
{
	struct rr_list *link;

	while (most-- > 0 && (link = rr_list_pop(from)))
		rr_list_append(to, link);
}

/* Waits until the next batch has as many jobs as the pace expects, but no longer than the pace allows,
 * because a job that misses a batch waits until that batch is stored. The caller holds the lock, which is
 * released while the thread waits. */
static void
storer_gather(struct rr_storer *storer)
{
	const struct rr_store_pace *pace = &storer->pace;
	/* This is the system's clock even where storer->env has another one (in tests), because
	 * pthread_cond_timedwait(3) goes by the system's clock. */
	uint64_t until = rr_now(&rr_env_system) + rr_store_pace_patience(pace);
	const struct timespec deadline = { (time_t)(until / RR_SECOND), (long)(until % RR_SECOND) };

	storer->gathers = true;
	while (!rr_store_pace_is_enough(pace, storer->count) && !storer->ends)
		if (pthread_cond_timedwait(&storer->wanted, &storer->lock, &deadline) != 0)
			break;
	storer->gathers = false;
}

/* Waits for jobs and moves the next batch of them into "jobs". Returns how many jobs the batch has, or 0
 * where the storer ends and no job is left. The caller holds the lock, which is released while the thread
 * waits. */
static uint32_t
storer_take(struct rr_storer *storer, struct rr_list *jobs)
{
	uint32_t count;

	while (storer->count == 0 && !storer->ends)
		pthread_cond_wait(&storer->wanted, &storer->lock);
	storer_gather(storer);
	count = (uint32_t)rr_min(storer->count, RR_STORE_BATCH);
	storer->count -= count;
	storer_move(&storer->arriving, jobs, count);
	storer->batches += count > 0;
	storer->works = count > 0;
	return count;
}

/* The main function of the storer's thread: stores batches of jobs, and wakes the loop after each batch,
 * until the storer ends and no job is left. */
static void *
storer_run(void *argument)
{
	struct rr_storer *storer = argument;
	const uint64_t one = 1;
	struct rr_list jobs;
	uint32_t count;

	rr_list_init(&jobs);
	pthread_mutex_lock(&storer->lock);
	while ((count = storer_take(storer, &jobs)) > 0) {
		uint64_t start = rr_now(storer->env);

		pthread_mutex_unlock(&storer->lock);
		rr_store_batch(&jobs, &storer->pace, storer->env);
		pthread_mutex_lock(&storer->lock);
		storer->works = false;
		rr_store_pace_end(&storer->pace, count, storer->count, rr_now(storer->env) - start);
		storer_move(&jobs, &storer->stored, count);
		/* This write fails only where the loop was woken 2^64 times already. */
		if (write(storer->watch.fd, &one, sizeof(one)) < 0)
			continue;
	}
	pthread_mutex_unlock(&storer->lock);
	return NULL;
}

/* Calls done() of each job that is stored, without holding the lock. This function runs in the loop's
 * thread. */
static void
storer_finish(struct rr_storer *storer)
{
	struct rr_list stored, *link;

	rr_list_init(&stored);
	pthread_mutex_lock(&storer->lock);
	storer_move(&storer->stored, &stored, UINT32_MAX);
	pthread_mutex_unlock(&storer->lock);
	while ((link = rr_list_pop(&stored))) {
		struct rr_store_job *job = rr_container(link, struct rr_store_job, link);

		job->done(job);
	}
}

/* Resets the eventfd that woke the loop, and calls done() of each job that is stored. The loop calls this
 * function. */
static void
storer_ready(struct rr_watch *watch, unsigned events)
{
	uint64_t count;

	(void)events;
	if (read(watch->fd, &count, sizeof(count)) == sizeof(count))
		storer_finish(rr_container(watch, struct rr_storer, watch));
}

/* Begins the storer's thread, with all signals blocked, as other threads receive the signals. Returns 0, or
 * SYSTEM with errno. */
static int
storer_start(struct rr_storer *storer)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&storer->thread, NULL, storer_run, storer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return error ? -RPCRDMA_ERR_SYSTEM : 0;
}

/* Frees a storer whose thread has ended or was not begun, and closes its eventfd: fd, or -1 where there is
 * none. */
static void
storer_destroy(struct rr_storer *storer, int fd)
{
	if (fd >= 0)
		close(fd);
	pthread_cond_destroy(&storer->wanted);
	pthread_mutex_destroy(&storer->lock);
	rr_free(storer->env, storer);
}

int
rr_storer_new(const struct rr_env *env, struct rr_loop *loop, struct rr_storer **storer)
{
	struct rr_storer *new = rr_alloc(env, sizeof(*new));
	int fd, error = -RPCRDMA_ERR_SYSTEM;
	pthread_condattr_t attributes;

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->env = env;
	new->loop = loop;
	new->watch.ready = storer_ready;
	rr_list_init(&new->arriving);
	rr_list_init(&new->stored);
	pthread_mutex_init(&new->lock, NULL);
	rr_store_pace_init(&new->pace);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&new->wanted, &attributes);
	pthread_condattr_destroy(&attributes);
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd >= 0)
		error = rr_loop_watch(loop, &new->watch, fd, RR_READABLE);
	if (error == 0 && (error = storer_start(new)) < 0)
		rr_loop_unwatch(loop, &new->watch);
	if (error < 0) {
		storer_destroy(new, fd);
		return error;
	}
	*storer = new;
	return 0;
}

void
rr_storer_free(struct rr_storer *storer)
{
	if (!storer)
		return;
	pthread_mutex_lock(&storer->lock);
	storer->ends = true;
	pthread_cond_signal(&storer->wanted);
	pthread_mutex_unlock(&storer->lock);
	pthread_join(storer->thread, NULL);
	rr_loop_unwatch(storer->loop, &storer->watch);
	storer_finish(storer);
	storer_destroy(storer, storer->watch.fd);
}

void
rr_storer_add(struct rr_storer *storer, struct rr_store_job *job)
{
	job->error = 0;
	rr_list_init(&job->link);
	pthread_mutex_lock(&storer->lock);
	rr_list_append(&storer->arriving, &job->link);
	storer->count++;
	/* The thread is woken when it can go on: while it gathers, by the last job that it expects; else by
	 * the first job that arrives. */
	if (storer->gathers ? rr_store_pace_is_enough(&storer->pace, storer->count) : storer->count == 1)
		pthread_cond_signal(&storer->wanted);
	pthread_mutex_unlock(&storer->lock);
}

bool
rr_storer_is_idle(struct rr_storer *storer)
{
	bool idle;

	pthread_mutex_lock(&storer->lock);
	idle = storer->count == 0 && !storer->works && rr_store_pace_is_enough(&storer->pace, 1);
	pthread_mutex_unlock(&storer->lock);
	return idle;
}

uint64_t
rr_storer_batches(struct rr_storer *storer)
{
	uint64_t batches;

	pthread_mutex_lock(&storer->lock);
	batches = storer->batches;
	pthread_mutex_unlock(&storer->lock);
	return batches;
}
