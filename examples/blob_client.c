/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blob_client rdma|tcp PORT: puts 4 MiB to the blob_server of this machine, gets them back, compares, and
 * prints how they travelled.
 */
#include <inttypes.h>
#include <rpcrdma/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob.h"

/* Octets of a whole reply: over TCP the data comes inside the reply, with some octets beside it. */
enum { KEEP = BLOB_MAX + 4096 };

static int
fail(const char *text)
{
	fprintf(stderr, "blob_client: %s\n", text);
	return -1;
}

static int
put(struct rpcrdma_client *client, const uint8_t *data)
{
	const put_args args = { { data, BLOB_MAX } };
	uint32_t stored = 0;

	if (BLOB_V1_call_BLOB_PUT(client, &args, &stored, NULL) < 0)
		return fail(rpcrdma_client_error(client));
	return stored == BLOB_MAX ? 0 : fail("the server stored something else");
}

/* Gets the blob. sink has BLOB_MAX octets, and keep has KEEP; the result says in which of them the data
 * is. */
static int
get(struct rpcrdma_client *client, const uint8_t *expected, void *sink, void *keep)
{
	const struct rpcrdma_sink sinks[] = { { sink, BLOB_MAX } };
	get_result result;
	const struct rpcrdma_call_config call = {
		.size = sizeof(call),
		.sinks = sinks,
		.sink_count = 1,
		.keep = keep,
		.keep_size = KEEP,
	};

	if (BLOB_V1_call_BLOB_GET(client, &result, &call) < 0)
		return fail(rpcrdma_client_error(client));
	if (result.data.length != BLOB_MAX || memcmp(result.data.data, expected, BLOB_MAX) != 0)
		return fail("what came back is not what was put");
	printf("%s\n", result.data.data == sink ? "placed" : "received");
	return 0;
}

static int
put_and_get(struct rpcrdma_client *client)
{
	struct rpcrdma_counters counters = { .size = sizeof(counters) };
	uint8_t *data = malloc(BLOB_MAX), *sink = malloc(BLOB_MAX), *keep = malloc(KEEP);
	int error = data && sink && keep ? 0 : fail("out of memory");

	for (uint32_t i = 0; error == 0 && i < BLOB_MAX; i++)
		data[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
	if (error == 0)
		error = put(client, data);
	if (error == 0)
		error = get(client, data, sink, keep);
	if (error == 0)
		error = rpcrdma_client_counters(client, &counters);
	if (error == 0)
		printf("by RDMA Read %" PRIu64 ", by RDMA Write %" PRIu64 "\n", counters.octets_rdma_read,
			counters.octets_rdma_write);
	free(data);
	free(sink);
	free(keep);
	return error;
}

int
main(int argc, char **argv)
{
	const struct rpcrdma_engine_config engine_config = {
		.size = sizeof(engine_config),
		.message_max = BLOB_MAX + 65536,
	};
	struct rpcrdma_client_config config = { .size = sizeof(config) };
	struct rpcrdma_engine *engine;
	struct rpcrdma_client *client;
	int error;

	if (argc != 3) {
		fprintf(stderr, "usage: blob_client rdma|tcp PORT\n");
		return 2;
	}
	config.transport = strcmp(argv[1], "tcp") == 0 ? RPCRDMA_TRANSPORT_TCP : RPCRDMA_TRANSPORT_RDMA;
	config.port = (uint16_t)atoi(argv[2]);
	error = rpcrdma_engine_new(&engine_config, &engine);
	if (error < 0) {
		fail(rpcrdma_strerror(error));
		return EXIT_FAILURE;
	}
	error = rpcrdma_client_connect(engine, &config, &client);
	if (error < 0) {
		fail(rpcrdma_engine_error(engine));
	} else {
		error = put_and_get(client);
		rpcrdma_client_free(client);
	}
	rpcrdma_engine_free(engine);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
