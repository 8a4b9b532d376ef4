/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_POST_H
#define RR_CARRIER_POST_H

#include <pthread.h>
#include <stdbool.h>

struct rpcrdma_post;

/* The functions that threads have posted to run in the loop of an engine: rpcrdma_engine_post(). The
 * structures of the list belong to the callers of that function. */
struct rr_posts {
	pthread_mutex_t lock; /* for what follows, and for the structures in the list */
	struct rpcrdma_post *first, *last;
	bool ended; /* no more functions are accepted */
};

/* rr_posts_init() initialises posts, which must be zeroed before. rr_posts_destroy() ends posts that are
 * empty. */
void rr_posts_init(struct rr_posts *posts);
void rr_posts_destroy(struct rr_posts *posts);

/* Runs the functions that have been posted until now. */
void rr_posts_run(struct rr_posts *posts);

/* Runs the functions that have been posted, and refuses all that are posted later. */
void rr_posts_end(struct rr_posts *posts);

#endif
