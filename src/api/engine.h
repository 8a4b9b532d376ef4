/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_API_ENGINE_H
#define RR_API_ENGINE_H

#include <rpcrdma/engine.h>

#include "carrier/carrier.h"

/* The public engine: an rr_engine with what it needs from outside. */
struct rpcrdma_engine {
	struct rr_env env;
	struct rr_engine *engine;
	struct rr_text text;
	struct rr_watch wake; /* an eventfd */
	struct rr_posts *posts;
	bool turning;         /* callbacks may be under way */
	struct rr_list calls; /* struct rpcrdma_call, kept for reuse */
	uint32_t users;       /* clients, servers, timers and kept requests on it */
	bool freed;           /* by its caller, while it had users: the last of them ends it */
	void (*log)(void *ctx, const char *line);
	void *log_ctx;
};

/* A client, a server, a timer or a request that is kept begins and ends to use the engine. */
void rr_api_engine_use(struct rpcrdma_engine *engine);
void rr_api_engine_leave(struct rpcrdma_engine *engine);

/* -RPCRDMA_ERR_INVAL, with a text, inside a callback, where nothing may wait. */
int rr_api_may_wait(const struct rpcrdma_engine *engine, const char *function, struct rr_text *text);

/* ---- post.c: functions that other threads post ---- */

struct rr_posts;

/* NULL: no memory. */
struct rr_posts *rr_posts_new(const struct rr_env *env);
/* posts may be NULL. */
void rr_posts_free(struct rr_posts *posts);
/* Runs what has been posted until now. */
void rr_posts_run(struct rr_posts *posts);
/* Runs what has been posted, and takes no more. */
void rr_posts_end(struct rr_posts *posts);

/* The provider of a transport that is RDMA; AUTO for TCP, too. -RPCRDMA_ERR_INVAL, with a text: there is no
 * such transport. */
int rr_api_transport(enum rpcrdma_transport transport, enum rr_transport *inner, struct rr_text *text);

#endif
