/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs go from the loop's list to the thread's, as a batch, when the thread has
 * none; and back, all at once, when they are stored. Only the two lists in
 * between are shared. The loop owns the jobs in "arriving" and "stored", the
 * thread those of its batch.
 */
#include "vfs/posix/store_batch.h"

#include <errno.h>
#include <pthread.h>
#include <rpcrdma/error.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct rr_storer {
	const struct rr_env *env;
	struct rr_loop *loop;
	struct rr_watch watch; /* of an eventfd: something was stored */
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wanted;
	struct rr_list arriving, stored;
	uint32_t count;  /* arriving */
	uint32_t enough; /* so many are worth waking the thread for */
	bool ends;
	uint64_t batches;
};

/* How a batch went. */
struct batch {
	struct rr_list jobs;
	uint32_t count;
	uint64_t took; /* ns */
};

/* The most that is waited for more jobs. */
#define GATHER_MAX (5 * RR_MILLISECOND)

static void
storer_move(struct rr_list *from, struct rr_list *to, uint32_t most)
{
	struct rr_list *link;

	while (most-- > 0 && (link = rr_list_pop(from)))
		rr_list_append(to, link);
}

static uint64_t
storer_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * RR_SECOND + (uint64_t)now.tv_nsec;
}

/*
 * Those whose jobs were stored by the last batch are likely to come with the next ones, one after the other:
 * what would be begun with the first of these keeps the others waiting. So it is waited until there are as
 * many again, but only for a quarter of the time that storing takes.
 */
static void
storer_gather(struct rr_storer *storer, const struct batch *last)
{
	uint64_t until = storer_now() + (last->took / 4 < GATHER_MAX ? last->took / 4 : GATHER_MAX);
	const struct timespec deadline = { (time_t)(until / RR_SECOND), (long)(until % RR_SECOND) };

	storer->enough = last->count;
	while (storer->count < storer->enough && !storer->ends)
		if (pthread_cond_timedwait(&storer->wanted, &storer->lock, &deadline) != 0)
			break;
	storer->enough = 1;
}

/* Takes what is to be stored next; false: nothing will be. */
static bool
storer_take(struct rr_storer *storer, struct batch *batch)
{
	while (storer->count == 0 && !storer->ends)
		pthread_cond_wait(&storer->wanted, &storer->lock);
	storer_gather(storer, batch);
	batch->count = storer->count < RR_STORE_BATCH ? storer->count : RR_STORE_BATCH;
	storer->count -= batch->count;
	storer_move(&storer->arriving, &batch->jobs, batch->count);
	storer->batches += batch->count > 0;
	return batch->count > 0;
}

static void *
storer_run(void *argument)
{
	struct rr_storer *storer = argument;
	const uint64_t one = 1;
	struct batch batch = { 0 };

	rr_list_init(&batch.jobs);
	pthread_mutex_lock(&storer->lock);
	while (storer_take(storer, &batch)) {
		uint64_t start = storer_now();

		pthread_mutex_unlock(&storer->lock);
		rr_store_batch(&batch.jobs);
		batch.took = storer_now() - start;
		pthread_mutex_lock(&storer->lock);
		storer_move(&batch.jobs, &storer->stored, batch.count);
		/* It fails only where the loop has been told 2^64 times already. */
		if (write(storer->watch.fd, &one, sizeof(one)) < 0)
			continue;
	}
	pthread_mutex_unlock(&storer->lock);
	return NULL;
}

/* In the loop's thread: what was stored is done. */
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

static void
storer_ready(struct rr_watch *watch, unsigned events)
{
	uint64_t count;

	(void)events;
	if (read(watch->fd, &count, sizeof(count)) == sizeof(count))
		storer_finish(rr_container(watch, struct rr_storer, watch));
}

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
	new->enough = 1;
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
	if (++storer->count >= storer->enough)
		pthread_cond_signal(&storer->wanted);
	pthread_mutex_unlock(&storer->lock);
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
