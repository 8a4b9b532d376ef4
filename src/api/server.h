/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_API_SERVER_H
#define RR_API_SERVER_H

#include <rpcrdma/server.h>

#include "rpc/server.h"

/* A service of the public, and what its handlers are given. */
struct rr_api_service {
	struct rpcrdma_service service;
	struct rr_pool *pool; /* for payload memory: the engine's */
};

/* A request as the public handler sees it: lives while that runs. */
struct rpcrdma_request {
	struct rr_request *inner;
	struct rr_pool *pool;
};

/* Calls the public handler of the request's procedure: ctx is a struct rr_api_service. */
enum rr_handled rr_api_handle(void *ctx, struct rr_request *request, const void *args, void *result);

#endif
