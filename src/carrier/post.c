/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs in the loop the functions that threads posted. The structures in the list belong to the threads that
 * posted them. The lock guards the list and the structures in it; it is taken when a function is posted, and
 * when the loop takes the functions out of the list, after the eventfd of the engine woke the loop. */
#include "carrier/post.h"

#include "carrier/engine.h"

void
rr_posts_init(struct rr_posts *posts)
{
	pthread_mutex_init(&posts->lock, NULL);
}

void
rr_posts_destroy(struct rr_posts *posts)
{
	pthread_mutex_destroy(&posts->lock);
}

/* Empties the list of posted structures and returns the first of them, to which the others are linked. If
 * ends is true, the list accepts no more structures from now on. */
static struct rpcrdma_post *
post_take_all(struct rr_posts *posts, bool ends)
{
	struct rpcrdma_post *first;

	pthread_mutex_lock(&posts->lock);
	first = posts->first;
	posts->first = posts->last = NULL;
	posts->ended |= ends;
	pthread_mutex_unlock(&posts->lock);
	return first;
}

/* Returns a copy of the structure, and marks the structure itself as not posted: from that moment on its
 * memory belongs to the thread that posted it. So that thread may post it again, or free it, before its
 * function runs. */
static struct rpcrdma_post
post_release(struct rr_posts *posts, struct rpcrdma_post *post)
{
	struct rpcrdma_post copy;

	pthread_mutex_lock(&posts->lock);
	copy = *post;
	post->posted = false;
	pthread_mutex_unlock(&posts->lock);
	return copy;
}

/* Runs all functions that have been posted, in the order in which they were posted. Functions that are posted
 * meanwhile run later. If ends is true, the list accepts no more functions from now on. */
static void
post_run_all(struct rr_posts *posts, bool ends)
{
	struct rpcrdma_post *next = post_take_all(posts, ends);

	while (next) {
		const struct rpcrdma_post post = post_release(posts, next);

		next = post.next;
		post.run(post.ctx);
	}
}

void
rr_posts_run(struct rr_posts *posts)
{
	post_run_all(posts, false);
}

void
rr_posts_end(struct rr_posts *posts)
{
	post_run_all(posts, true);
}

/* Appends the structure to the list. A structure that is in the list already stays in its place. */
static void
post_append(struct rr_posts *posts, struct rpcrdma_post *post)
{
	if (post->posted)
		return;
	post->next = NULL;
	post->posted = true;
	if (posts->first)
		posts->last->next = post;
	else
		posts->first = post;
	posts->last = post;
}

int
rpcrdma_engine_post(struct rpcrdma_engine *engine, struct rpcrdma_post *post)
{
	struct rr_posts *posts = engine ? &engine->posts : NULL;
	bool ended;

	if (!posts || !post || !post->run)
		return -RPCRDMA_ERR_INVAL;
	pthread_mutex_lock(&posts->lock);
	ended = posts->ended;
	if (!ended) {
		post_append(posts, post);
		/* The engine is woken while the lock is still held: without the lock, the function could run
		 * and the engine be freed before this call. */
		rpcrdma_engine_wake(engine);
	}
	pthread_mutex_unlock(&posts->lock);
	return ended ? -RPCRDMA_ERR_CANCELLED : 0;
}
