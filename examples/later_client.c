/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * later_client rdma|tcp PORT: makes a call of each procedure of the later_server of this machine, all at the
 * same time, and prints the answers in the order in which they come.
 */
#include <rpcrdma/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "later.h"

enum { CALLS = 3 };

struct question {
	const char *name;
	uint32_t procedure, number, answer;
	int *left; /* calls that are under way */
	int *error;
};

static int
fail(const char *text)
{
	fprintf(stderr, "later_client: %s\n", text);
	return -1;
}

static void
answered(void *ctx, struct rpcrdma_call *call, int error)
{
	struct question *question = ctx;

	(void)call;
	--*question->left;
	if (error < 0)
		*question->error = error;
	printf("%s %u: %s %u\n", question->name, question->number, rpcrdma_strerror(error), question->answer);
}

static int
ask(struct rpcrdma_client *client, struct question *question)
{
	const struct rpcrdma_call_config call = {
		.size = sizeof(call),
		.program = &LATER_V1_program,
		.procedure = question->procedure,
		.args = &question->number,
		.result = &question->answer,
		.done = answered,
		.ctx = question,
	};

	if (rpcrdma_client_call(client, &call, NULL) < 0)
		return fail(rpcrdma_client_error(client));
	++*question->left;
	return 0;
}

/* Makes a NULL call first: before its first reply, a connection has a single credit, which a call that is
 * answered later would hold. */
static int
ask_nothing(struct rpcrdma_client *client)
{
	return LATER_V1_call_LATER_NULL(client, NULL) < 0 ? fail(rpcrdma_client_error(client)) : 0;
}

static int
ask_all(struct rpcrdma_engine *engine, struct rpcrdma_client *client)
{
	int left = 0, error = ask_nothing(client);
	struct question questions[CALLS] = {
		{ "wait", LATER_WAIT, 1000, 0, &left, &error },
		{ "ask", LATER_ASK, 1000, 0, &left, &error },
		{ "count", LATER_COUNT, 100, 0, &left, &error },
	};

	for (int i = 0; i < CALLS && error == 0; i++)
		error = ask(client, &questions[i]);
	while (left > 0 && rpcrdma_engine_turn(engine, -1) >= 0)
		;
	return error;
}

int
main(int argc, char **argv)
{
	struct rpcrdma_client_config config = { .size = sizeof(config) };
	struct rpcrdma_engine *engine;
	struct rpcrdma_client *client;
	int error;

	if (argc != 3) {
		fprintf(stderr, "usage: later_client rdma|tcp PORT\n");
		return 2;
	}
	config.transport = strcmp(argv[1], "tcp") == 0 ? RPCRDMA_TRANSPORT_TCP : RPCRDMA_TRANSPORT_RDMA;
	config.port = (uint16_t)atoi(argv[2]);
	error = rpcrdma_engine_new(NULL, &engine);
	if (error < 0) {
		fail(rpcrdma_strerror(error));
		return EXIT_FAILURE;
	}
	error = rpcrdma_client_connect(engine, &config, &client);
	if (error < 0) {
		fail(rpcrdma_engine_error(engine));
	} else {
		error = ask_all(engine, client);
		rpcrdma_client_free(client);
	}
	rpcrdma_engine_free(engine);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
