/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blob_server [PORT [TCP-PORT]]: keeps a blob for its clients, on the loopback, until SIGINT or SIGTERM ends
 * it. Prints the ports.
 */
#include <rpcrdma/server.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob.h"

struct store {
	uint8_t *data; /* BLOB_MAX octets */
	uint32_t length;
};

static struct rpcrdma_engine *engine;
static volatile sig_atomic_t told_to_end;

/* Stores the blob. The data of the call lies in memory of the library, which has fetched it from the
 * client. */
static enum rpcrdma_handled
put(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct store *store = ctx;
	const put_args *put = args;

	(void)request;
	store->length = put->data.length;
	if (store->length > 0)
		memcpy(store->data, put->data.data, store->length);
	*(uint32_t *)result = store->length;
	return RPCRDMA_HANDLED;
}

/* Returns the blob. The data must stay until it was sent, and another put may come before that, so a copy is
 * sent. */
static enum rpcrdma_handled
get(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	const struct store *store = ctx;
	void *copy;

	(void)args;
	if (store->length == 0)
		return RPCRDMA_HANDLED;
	if (store->length > rpcrdma_request_item_room(request))
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	copy = rpcrdma_request_payload(request, store->length);
	if (!copy)
		return RPCRDMA_HANDLE_LATER;
	memcpy(copy, store->data, store->length);
	((get_result *)result)->data = (struct rpcrdma_bytes){ copy, store->length };
	return RPCRDMA_HANDLED;
}

static rpcrdma_handler *const handlers[] = {
	[BLOB_NULL] = NULL, /* the library answers it */
	[BLOB_PUT] = put,
	[BLOB_GET] = get,
};

static void
end(int signal)
{
	(void)signal;
	told_to_end = 1;
	rpcrdma_engine_wake(engine);
}

static int
listen_at(struct rpcrdma_server *server, uint16_t port, uint16_t tcp_port)
{
	if (rpcrdma_server_listen(server, RPCRDMA_TRANSPORT_RDMA, NULL, &port) < 0 ||
		rpcrdma_server_listen(server, RPCRDMA_TRANSPORT_TCP, NULL, &tcp_port) < 0) {
		fprintf(stderr, "blob_server: %s\n", rpcrdma_server_error(server));
		return -1;
	}
	printf("%u %u\n", port, tcp_port);
	fflush(stdout);
	return 0;
}

static void
run(struct rpcrdma_server *server)
{
	while (!told_to_end && rpcrdma_engine_turn(engine, -1) >= 0)
		;
	rpcrdma_server_shutdown(server);
	while (!rpcrdma_server_idle(server) && rpcrdma_engine_turn(engine, -1) >= 0)
		;
}

static int
serve(struct store *store, uint16_t port, uint16_t tcp_port)
{
	const struct rpcrdma_service service = {
		.program = &BLOB_V1_program, .handlers = handlers, .ctx = store
	};
	const struct rpcrdma_server_config config = {
		.size = sizeof(config),
		.services = &service,
		.service_count = 1,
	};
	struct rpcrdma_server *server;
	int status = EXIT_FAILURE;

	if (rpcrdma_server_new(engine, &config, &server) < 0) {
		fprintf(stderr, "blob_server: %s\n", rpcrdma_engine_error(engine));
		return status;
	}
	if (listen_at(server, port, tcp_port) == 0) {
		run(server);
		status = EXIT_SUCCESS;
	}
	rpcrdma_server_free(server);
	return status;
}

int
main(int argc, char **argv)
{
	const struct rpcrdma_engine_config config = { .size = sizeof(config),
		.message_max = BLOB_MAX + 65536 };
	struct store store = { .data = malloc(BLOB_MAX) };
	int error, status;

	if (!store.data)
		return EXIT_FAILURE;
	error = rpcrdma_engine_new(&config, &engine);
	if (error < 0) {
		fprintf(stderr, "blob_server: %s\n", rpcrdma_strerror(error));
		free(store.data);
		return EXIT_FAILURE;
	}
	signal(SIGINT, end);
	signal(SIGTERM, end);
	status = serve(
		&store, (uint16_t)(argc > 1 ? atoi(argv[1]) : 0), (uint16_t)(argc > 2 ? atoi(argv[2]) : 0));
	rpcrdma_engine_free(engine);
	free(store.data);
	return status;
}
