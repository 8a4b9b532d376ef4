/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TESTS_API_WORLD_H
#define RR_TESTS_API_WORLD_H

#include "../test.h"

#include <rpcrdma/client.h>
#include <rpcrdma/server.h>

#include "calc.h"

/* One engine with a server of the calc program on the loopback, over RDMA (iWARP) and TCP, and a client. */
struct world {
	struct rpcrdma_engine *engine;
	struct rpcrdma_server *server;
	struct rpcrdma_client *client;
	uint16_t rdma_port, tcp_port;
	enum rpcrdma_transport transport; /* of the client */
	uint32_t call_max;                /* of the server that world_serve() makes, as what follows */
	const bool *once;

	uint32_t handled;               /* calls that came to a handler */
	int answer;                     /* of CALC_ANSWER: an enum rpcrdma_handled, or something else */
	void (*inside)(struct world *); /* called inside CALC_ANSWER, where it is set */
	int inside_error;
	struct rpcrdma_request *request; /* while inside() runs */
};

/* The calc program, handled in this world. */
struct rpcrdma_service world_service(struct world *world);

/* For cmocka: a world whose client uses RDMA. */
int world_setup(void **state);
int world_teardown(void **state);

/* A world whose client uses this transport; version: of RPC-over-RDMA, 0 where both are spoken. */
void world_setup_over(void **state, enum rpcrdma_transport transport, uint32_t version);

/* Makes the server; at the ports that it had, if there was one before. */
void world_serve(struct world *world);

/* Connects a client of its own; transport and port are set here. */
struct rpcrdma_client *world_connect(
	struct world *world, enum rpcrdma_transport transport, struct rpcrdma_client_config config);

/* What describes a call of procedure. */
struct rpcrdma_call_config world_call_config(uint32_t procedure, const void *args, void *result);

/* The same call, that is waited for. */
int world_call(struct rpcrdma_client *client, uint32_t procedure, const void *args, void *result, void *keep,
	uint32_t size);

/* Turns the engine until expression is true. */
#define world_until(world, expression)                                                                       \
	turn_until(expression, assert_true(rpcrdma_engine_turn((world)->engine, 1000000000) >= 0))

#endif
