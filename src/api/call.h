/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_API_CALL_H
#define RR_API_CALL_H

#include <rpcrdma/client.h>

#include "api/services.h"

/*
 * The public client and its calls. A call is in its client's list from the start to the end, then goes back
 * to the engine's cache, when its done() returned: a done() which frees the client leaves the call in place.
 */
struct rpcrdma_client {
	struct rpcrdma_engine *engine;
	struct rr_client *client;
	struct rr_api_services *callbacks; /* NULL: there are none */
	struct rr_list calls;
	struct rr_text text; /* of what failed here */
	const char *error;   /* text, or that of the inner client */
};

struct rpcrdma_call {
	struct rr_call base;
	struct rpcrdma_client *client;
	struct rr_list link; /* in its client's calls */
	bool ended;          /* done() is under way, or was */
	void (*done)(void *ctx, struct rpcrdma_call *call, int error);
	void *ctx;
};

/* The call's memory may be used again. */
void rr_api_call_put(struct rpcrdma_engine *engine, struct rpcrdma_call *call);

#endif
