/* SPDX-License-Identifier: BSD-3-Clause */
/* This file reads data by io_uring (liburing), so that no thread waits for the disk meanwhile. ring_absent.c
 * replaces it where liburing was not found at compile time. */
#include "vfs/posix/ring.h"

#include <errno.h>
#include <liburing.h>
#include <rpcrdma/error.h>

/* The time after which reads that the kernel had no memory for are given to it again. */
#define RING_AGAIN RR_MILLISECOND

struct rr_ring {
	const struct rr_env *env;
	struct rr_loop *loop;
	struct io_uring uring;
	struct rr_watch watch;    /* of the ring's descriptor: readable while there are results */
	struct rr_task hand;      /* gives the kernel the reads that began in this turn of the loop */
	struct rr_timer again;    /* does the same once more, after the kernel has refused the reads */
	uint32_t under_way, most; /* reads: now, and at most */
};

/* Gives the kernel the reads that began since the last time. Where the kernel refuses them, or takes only the
 * first ones, tries again later. */
static void
ring_hand_over(struct rr_ring *ring)
{
	if (io_uring_submit(&ring->uring) < 0 || io_uring_sq_ready(&ring->uring) > 0)
		rr_loop_arm(ring->loop, &ring->again, RING_AGAIN);
}

/* Is called at the end of a turn of the loop in which reads began. */
static void
ring_hand(struct rr_task *task)
{
	ring_hand_over(rr_container(task, struct rr_ring, hand));
}

/* Is called by the timer RING_AGAIN after the kernel refused reads. */
static void
ring_hand_again(struct rr_timer *timer)
{
	ring_hand_over(rr_container(timer, struct rr_ring, again));
}

/* Takes the results of the reads that the kernel has ended, and calls done() of each of these reads. */
static void
ring_take(struct rr_ring *ring)
{
	struct io_uring_cqe *result;

	while (io_uring_peek_cqe(&ring->uring, &result) == 0) {
		struct rr_ring_read *read = io_uring_cqe_get_data(result);

		read->result = result->res;
		io_uring_cqe_seen(&ring->uring, result);
		ring->under_way--;
		read->done(read);
	}
}

/* The loop calls this function while there are results of reads. */
static void
ring_ready(struct rr_watch *watch, unsigned events)
{
	(void)events;
	ring_take(rr_container(watch, struct rr_ring, watch));
}

/* Translates a negative errno of liburing into an error of this library. ENOSYS and EPERM mean that this
 * system has no io_uring, or forbids it to this process. */
static int
ring_error(int error)
{
	if (error == -ENOMEM)
		return -RPCRDMA_ERR_NOMEM;
	return error == -ENOSYS || error == -EPERM ? -RPCRDMA_ERR_NOTSUP : -RPCRDMA_ERR_SYSTEM;
}

int
rr_ring_new(const struct rr_env *env, struct rr_loop *loop, uint32_t most, struct rr_ring **ring)
{
	struct rr_ring *new = rr_alloc(env, sizeof(*new));
	int error;

	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->env = env;
	new->loop = loop;
	new->most = most;
	new->watch.ready = ring_ready;
	rr_task_init(&new->hand, ring_hand);
	rr_timer_init(&new->again, ring_hand_again);
	error = io_uring_queue_init(most, &new->uring, IORING_SETUP_CLAMP);
	if (error < 0) {
		rr_free(env, new);
		return ring_error(error);
	}
	error = rr_loop_watch(loop, &new->watch, new->uring.ring_fd, RR_READABLE);
	if (error < 0) {
		io_uring_queue_exit(&new->uring);
		rr_free(env, new);
		return error;
	}
	*ring = new;
	return 0;
}

void
rr_ring_free(struct rr_ring *ring)
{
	if (!ring)
		return;
	while (ring->under_way > 0) {
		io_uring_submit_and_wait(&ring->uring, 1);
		ring_take(ring);
	}
	rr_task_cancel(&ring->hand);
	rr_loop_disarm(ring->loop, &ring->again);
	rr_loop_unwatch(ring->loop, &ring->watch);
	io_uring_queue_exit(&ring->uring);
	rr_free(ring->env, ring);
}

bool
rr_ring_begin(struct rr_ring *ring, struct rr_ring_read *read)
{
	struct io_uring_sqe *entry = ring->under_way < ring->most ? io_uring_get_sqe(&ring->uring) : NULL;

	if (!entry)
		return false;
	io_uring_prep_read(entry, read->fd, read->data, read->size, read->offset);
	io_uring_sqe_set_data(entry, read);
	ring->under_way++;
	rr_loop_defer(ring->loop, &ring->hand); /* the kernel gets the entry at the end of this turn */
	return true;
}
