/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_POST_H
#define RR_CARRIER_POST_H

#include <pthread.h>
#include <stdbool.h>

struct rpcrdma_post;

/* Functions that other threads have run in an engine's loop: see rpcrdma_engine_post(). */
struct rr_posts {
	pthread_mutex_t lock; /* of what follows, and of the structures in the list */
	struct rpcrdma_post *first, *last;
	bool ended;
};

void rr_posts_init(struct rr_posts *posts);
void rr_posts_destroy(struct rr_posts *posts);

/* Runs what has been posted until now. */
void rr_posts_run(struct rr_posts *posts);

/* Runs what has been posted, and takes no more. */
void rr_posts_end(struct rr_posts *posts);

#endif
