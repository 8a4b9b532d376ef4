/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * echo tcp|iwarp VERSION OCTETS DEPTH CALLS: makes CALLS calls of OCTETS octets to a server in the same
 * process, DEPTH calls at a time. VERSION is that of RPC-over-RDMA, or 0 over TCP. Client and server have an
 * engine each, and take turns in one thread, so that a run is the same on any machine. Before the counted
 * calls, others warm up the connection, by turns that are not counted: bench/instructions counts the
 * instructions of client_turn(), gateway_turn() and server_turn(). The program bench-gateway has a gateway
 * between client and server.
 */
#include <err.h>
#include <rpcrdma/client.h>
#include <rpcrdma/server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "between.h"
#include "echo.h"
#include "still.h"

enum { OCTETS_MAX = 65536, DEPTH_MAX = 128 };

struct echo {
	struct rpcrdma_engine *client_engine, *server_engine;
	struct between *between; /* the part between client and server; NULL: there is none */
	struct rpcrdma_client *client;
	struct rpcrdma_server *server;
	echo_data sent, received;
	uint32_t left, under_way; /* calls that are not begun; calls that are under way */
	uint32_t depth;
	bool counted; /* the turns are: octets are not compared, which is no work of the library */
};

void client_turn(struct echo *echo);
void gateway_turn(struct echo *echo);
void server_turn(struct echo *echo);

static enum rpcrdma_handled
echo_handle(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	(void)ctx;
	(void)request;
	memcpy(result, args, sizeof(echo_data));
	return RPCRDMA_HANDLED;
}

static void echo_call(struct echo *echo);

static void
echo_done(void *ctx, struct rpcrdma_call *call, int error)
{
	struct echo *echo = ctx;

	(void)call;
	if (error < 0)
		errx(1, "%s", rpcrdma_client_error(echo->client));
	if (echo->received.length != echo->sent.length ||
		(!echo->counted && memcmp(echo->received.data, echo->sent.data, echo->sent.length) != 0))
		errx(1, "what came back is not what was sent");
	echo->under_way--;
	echo_call(echo);
}

static void
echo_call(struct echo *echo)
{
	const struct rpcrdma_call_config config = {
		.size = sizeof(config),
		.program = &ECHO_V1_program,
		.procedure = ECHO_ECHO,
		.args = &echo->sent,
		.result = &echo->received,
		.reply_max = echo->sent.length + 8,
		.done = echo_done,
		.ctx = echo,
	};

	if (echo->left == 0)
		return;
	echo->left--;
	echo->under_way++;
	if (rpcrdma_client_call(echo->client, &config, NULL) < 0)
		errx(1, "%s", rpcrdma_client_error(echo->client));
}

static void
echo_client_turn(struct echo *echo)
{
	while (echo->left > 0 && echo->under_way < echo->depth)
		echo_call(echo);
	if (rpcrdma_engine_turn(echo->client_engine, 0) < 0)
		errx(1, "%s", rpcrdma_engine_error(echo->client_engine));
}

static void
echo_gateway_turn(struct echo *echo)
{
	between_turn(echo->between);
}

static void
echo_server_turn(struct echo *echo)
{
	if (rpcrdma_engine_turn(echo->server_engine, 0) < 0)
		errx(1, "%s", rpcrdma_engine_error(echo->server_engine));
}

__attribute__((noinline)) void
client_turn(struct echo *echo)
{
	echo_client_turn(echo);
}

__attribute__((noinline)) void
gateway_turn(struct echo *echo)
{
	echo_gateway_turn(echo);
}

__attribute__((noinline)) void
server_turn(struct echo *echo)
{
	echo_server_turn(echo);
}

/* Makes the calls, by turns that are counted or not. */
static void
echo_run(struct echo *echo, uint32_t calls, bool counted)
{
	echo->left = calls;
	echo->counted = counted;
	while (echo->left > 0 || echo->under_way > 0) {
		(counted ? client_turn : echo_client_turn)(echo);
		(counted ? gateway_turn : echo_gateway_turn)(echo);
		(counted ? server_turn : echo_server_turn)(echo);
		(counted ? gateway_turn : echo_gateway_turn)(echo);
	}
}

static void
echo_serve(struct echo *echo, enum rpcrdma_transport transport, uint16_t *port)
{
	static rpcrdma_handler *const handlers[] = { [ECHO_ECHO] = echo_handle };
	const struct rpcrdma_service service = { &ECHO_V1_program, handlers, NULL };
	const struct rpcrdma_server_config config = {
		.size = sizeof(config),
		.services = &service,
		.service_count = 1,
	};

	if (rpcrdma_server_new(echo->server_engine, &config, &echo->server) < 0 ||
		rpcrdma_server_listen(echo->server, transport, NULL, port) < 0)
		errx(1, "the server: %s", rpcrdma_engine_error(echo->server_engine));
}

static void
echo_start(struct echo *echo, enum rpcrdma_transport transport, uint32_t version)
{
	const struct rpcrdma_engine_config engine = {
		.size = sizeof(engine),
		.credits = 256,
		.rpcrdma_version = version,
	};
	struct rpcrdma_client_config config = {
		.size = sizeof(config),
		.transport = transport,
		.auth_none = true,
	};

	if (rpcrdma_engine_new(&engine, &echo->client_engine) < 0 ||
		rpcrdma_engine_new(&engine, &echo->server_engine) < 0)
		errx(1, "no engine");
	echo_serve(echo, transport, &config.port);
	echo->between = between_begin(&engine, &config);
	if (rpcrdma_client_new(echo->client_engine, &config, &echo->client) < 0)
		errx(1, "the client: %s", rpcrdma_engine_error(echo->client_engine));
}

int
main(int argc, char **argv)
{
	static uint8_t octets[OCTETS_MAX];
	struct echo echo = { .sent = { octets, 0 } };
	uint32_t calls;
	bool tcp;

	if (argc != 6)
		errx(2, "usage: echo tcp|iwarp VERSION OCTETS DEPTH CALLS");
	still_begin();
	tcp = strcmp(argv[1], "tcp") == 0;
	echo.sent.length = (uint32_t)atoi(argv[3]);
	echo.depth = (uint32_t)atoi(argv[4]);
	calls = (uint32_t)atoi(argv[5]);
	if (echo.sent.length > OCTETS_MAX || echo.depth == 0 || echo.depth > DEPTH_MAX)
		errx(2, "at most %d octets, and 1 to %d calls at a time", OCTETS_MAX, DEPTH_MAX);
	for (uint32_t i = 0; i < echo.sent.length; i++)
		octets[i] = (uint8_t)i;
	echo_start(&echo, tcp ? RPCRDMA_TRANSPORT_TCP : RPCRDMA_TRANSPORT_IWARP, (uint32_t)atoi(argv[2]));
	echo_run(&echo, 4 * echo.depth, false);
	echo_run(&echo, calls, true);
	echo_run(&echo, echo.depth, false);
	rpcrdma_client_free(echo.client);
	between_end(echo.between);
	rpcrdma_server_free(echo.server);
	rpcrdma_engine_free(echo.client_engine);
	rpcrdma_engine_free(echo.server_engine);
	return 0;
}
