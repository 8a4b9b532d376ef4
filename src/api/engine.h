/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_API_ENGINE_H
#define RR_API_ENGINE_H

#include <rpcrdma/engine.h>

#include "transport/carrier.h"

/* The public engine: an rr_engine with what it needs from outside. */
struct rpcrdma_engine {
	struct rr_env env;
	struct rr_engine *engine;
	struct rr_text text;
	struct rr_watch wake; /* an eventfd */
	bool turning;         /* callbacks may be under way */
	struct rr_list calls; /* struct rpcrdma_call, kept for reuse */
	uint32_t users;       /* clients and servers on it */
	bool freed;           /* by its caller, while it had users: the last of them ends it */
	void (*log)(void *ctx, const char *line);
	void *log_ctx;
};

/* A client or a server begins and ends to use the engine. */
void rr_api_engine_use(struct rpcrdma_engine *engine);
void rr_api_engine_leave(struct rpcrdma_engine *engine);

/* -RPCRDMA_ERR_INVAL, with a text, inside a callback, where nothing may wait. */
int rr_api_may_wait(const struct rpcrdma_engine *engine, const char *function, struct rr_text *text);

/* The provider of a transport that is RDMA; AUTO for TCP, too. -RPCRDMA_ERR_INVAL, with a text: there is no
 * such transport. */
int rr_api_provider(enum rpcrdma_transport transport, enum rr_provider *provider, struct rr_text *text);

#endif
