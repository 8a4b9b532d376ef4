/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_API_SERVICES_H
#define RR_API_SERVICES_H

#include <rpcrdma/server.h>

#include "carrier/engine.h"
#include "rpc/server.h"

/* A service of the public, and what its handlers are given. */
struct rr_api_service {
	struct rpcrdma_service service;
	struct rpcrdma_engine *engine;
};

/* Services of the public, and the rr_server that they are served by: one handler for all procedures, which
 * finds the caller's. */
struct rr_api_services {
	struct rpcrdma_engine *engine;
	struct rr_server *server;
	rr_procedure_handler **handlers; /* of all services, one after the other */
	struct rr_api_service services[];
};

/* Errors, with their text on the engine: INVAL (a service lacks something), NOMEM. */
int rr_api_services_new(struct rpcrdma_engine *engine, const struct rpcrdma_service *services, uint32_t count,
	const struct rr_server_config *config, struct rr_api_services **result);

/* No handler is called any more, even where replies are under way. services may be NULL. */
void rr_api_services_free(struct rr_api_services *services);

/* A request as the public handler sees it: at the beginning of the inner request's arena. */
struct rpcrdma_request {
	struct rr_request *inner;
	struct rpcrdma_engine *engine;
	bool kept, ended;
	void (*lost)(void *ctx, struct rpcrdma_request *request);
	void *lost_ctx;
};

/* What the inner server is to have room for in its arenas, beside what the caller wants. */
enum { RR_API_REQUEST_ARENA = sizeof(struct rpcrdma_request) + _Alignof(max_align_t) };

/* Calls the public handler of the request's procedure: ctx is a struct rr_api_service. */
enum rr_handled rr_api_handle(void *ctx, struct rr_request *request, const void *args, void *result);

/* The same answer as the inner server has it; SYSTEM_ERR for what is no such answer. */
enum rr_handled rr_api_handled(enum rpcrdma_handled handled);

/* The handler of the request has said that it keeps it. */
void rr_api_request_keep(struct rpcrdma_request *request);

#endif
