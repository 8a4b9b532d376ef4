/* SPDX-License-Identifier: BSD-3-Clause */
/* The second thread of hand.h. Semaphores pass the work to it and back. */
#include "base/hand.h"

#include <errno.h>
#include <pthread.h>
#include <rpcrdma/error.h>
#include <semaphore.h>
#include <signal.h>

/* A second thread. wanted is posted when there is work, done when the work is done. */
struct rr_hand {
	const struct rr_env *env;
	pthread_t thread;
	sem_t wanted, done;
	void (*work)(void *ctx); /* NULL: the thread is to end */
	void *ctx;
};

/* Waits until the semaphore is posted; a signal does not end the wait. */
static void
hand_await(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0 && errno == EINTR)
		;
}

/* The body of the second thread: each time that the first thread posts `wanted`, calls the function work, and
 * posts `done`. The thread ends when work is NULL. */
static void *
hand_run(void *argument)
{
	struct rr_hand *hand = argument;

	for (hand_await(&hand->wanted); hand->work; hand_await(&hand->wanted)) {
		hand->work(hand->ctx);
		sem_post(&hand->done);
	}
	return NULL;
}

static void
hand_destroy(struct rr_hand *hand)
{
	sem_destroy(&hand->wanted);
	sem_destroy(&hand->done);
	rr_free(hand->env, hand);
}

int
rr_hand_new(const struct rr_env *env, struct rr_hand **hand)
{
	struct rr_hand *new = rr_alloc(env, sizeof(*new));
	sigset_t all, before;
	int error;

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->env = env;
	sem_init(&new->wanted, 0, 0);
	sem_init(&new->done, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&new->thread, NULL, hand_run, new);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		hand_destroy(new);
		errno = error;
		return -RPCRDMA_ERR_SYSTEM;
	}
	*hand = new;
	return 0;
}

void
rr_hand_do(struct rr_hand *hand, void (*work)(void *ctx), void *ctx)
{
	hand->work = work;
	hand->ctx = ctx;
	sem_post(&hand->wanted);
	hand_await(&hand->done);
}

void
rr_hand_free(struct rr_hand *hand)
{
	if (!hand)
		return;
	hand->work = NULL;
	sem_post(&hand->wanted);
	pthread_join(hand->thread, NULL);
	hand_destroy(hand);
}
