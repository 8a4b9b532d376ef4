/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A task is in the queue until a thread takes it, then with that thread, then in the list of those that have
 * ended, which the loop takes as a whole. Both lists belong to whoever has the lock. The descriptor of an
 * event wakes the loop; it is written when the list of those that have ended was empty.
 */
#include "vfs/threads.h"

#include <errno.h>
#include <pthread.h>
#include <rpcrdma/error.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct rr_vfs_threads {
	const struct rr_env *env;
	struct rr_loop *loop;
	struct rr_watch watch;
	pthread_mutex_t lock;
	pthread_cond_t given;
	struct rr_list queue, ended;
	bool ends;
	uint32_t count; /* of those that run */
	pthread_t threads[];
};

/* The next task; NULL: the thread is to end. */
static struct rr_vfs_task *
threads_take(struct rr_vfs_threads *threads)
{
	struct rr_list *link;

	pthread_mutex_lock(&threads->lock);
	while (!threads->ends && rr_list_empty(&threads->queue))
		pthread_cond_wait(&threads->given, &threads->lock);
	link = rr_list_pop(&threads->queue);
	pthread_mutex_unlock(&threads->lock);
	return link ? rr_container(link, struct rr_vfs_task, link) : NULL;
}

static void
threads_hand_back(struct rr_vfs_threads *threads, struct rr_vfs_task *task)
{
	const uint64_t one = 1;
	bool first;

	pthread_mutex_lock(&threads->lock);
	first = rr_list_empty(&threads->ended);
	rr_list_append(&threads->ended, &task->link);
	/* Inside the lock: whoever frees this waits for the lock, and for this thread. An event that is
	 * counted already need not be counted again. */
	while (first && write(threads->watch.fd, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
	pthread_mutex_unlock(&threads->lock);
}

static void *
threads_run(void *ctx)
{
	struct rr_vfs_threads *threads = ctx;
	struct rr_vfs_task *task;

	while ((task = threads_take(threads)) != NULL) {
		task->run(task);
		threads_hand_back(threads, task);
	}
	return NULL;
}

/* done() may give tasks, and free the threads where the last one has ended. */
static void
threads_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_vfs_threads *threads = rr_container(watch, struct rr_vfs_threads, watch);
	struct rr_list ended, *link;
	uint64_t count;

	(void)events;
	rr_list_init(&ended);
	pthread_mutex_lock(&threads->lock);
	if (read(watch->fd, &count, sizeof(count)) < 0)
		count = 0;
	while ((link = rr_list_pop(&threads->ended)) != NULL)
		rr_list_append(&ended, link);
	pthread_mutex_unlock(&threads->lock);
	while ((link = rr_list_pop(&ended)) != NULL) {
		struct rr_vfs_task *task = rr_container(link, struct rr_vfs_task, link);

		task->done(task);
	}
}

/* With all signals blocked, as threads inherit that. */
static int
threads_begin(struct rr_vfs_threads *threads, uint32_t count)
{
	sigset_t all, before;
	int error = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (error == 0 && threads->count < count) {
		error = pthread_create(&threads->threads[threads->count], NULL, threads_run, threads);
		threads->count += error == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

int
rr_vfs_threads_new(struct rr_loop *loop, uint32_t count, struct rr_vfs_threads **made, struct rr_text *text)
{
	const struct rr_env *env = rr_loop_env(loop);
	struct rr_vfs_threads *threads = rr_alloc(env, sizeof(*threads) + count * sizeof(pthread_t));
	int fd, error;

	if (!threads)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for threads");
	threads->env = env;
	threads->loop = loop;
	threads->watch.ready = threads_ready;
	rr_list_init(&threads->queue);
	rr_list_init(&threads->ended);
	pthread_mutex_init(&threads->lock, NULL);
	pthread_cond_init(&threads->given, NULL);
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = fd < 0 ? errno : 0;
	threads->watch.fd = -1;
	if (!error && rr_loop_watch(loop, &threads->watch, fd, RR_READABLE) < 0) {
		error = errno;
		close(fd);
		threads->watch.fd = -1;
	}
	if (!error)
		error = threads_begin(threads, count);
	if (error) {
		rr_vfs_threads_free(threads);
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "no threads to be had: %s", strerror(error));
	}
	*made = threads;
	return 0;
}

void
rr_vfs_threads_give(struct rr_vfs_threads *threads, struct rr_vfs_task *task)
{
	pthread_mutex_lock(&threads->lock);
	rr_list_append(&threads->queue, &task->link);
	pthread_cond_signal(&threads->given);
	pthread_mutex_unlock(&threads->lock);
}

bool
rr_vfs_threads_withdraw(struct rr_vfs_threads *threads, struct rr_vfs_task *task)
{
	bool found = false;

	pthread_mutex_lock(&threads->lock);
	rr_list_for_each (link, &threads->queue)
		found |= link == &task->link;
	if (found)
		rr_list_remove(&task->link);
	pthread_mutex_unlock(&threads->lock);
	return found;
}

void
rr_vfs_threads_free(struct rr_vfs_threads *threads)
{
	if (!threads)
		return;
	pthread_mutex_lock(&threads->lock);
	threads->ends = true;
	pthread_cond_broadcast(&threads->given);
	pthread_mutex_unlock(&threads->lock);
	for (uint32_t i = 0; i < threads->count; i++)
		pthread_join(threads->threads[i], NULL);
	if (threads->watch.fd >= 0) {
		rr_loop_unwatch(threads->loop, &threads->watch);
		close(threads->watch.fd);
	}
	pthread_cond_destroy(&threads->given);
	pthread_mutex_destroy(&threads->lock);
	rr_free(threads->env, threads);
}
