/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <stdlib.h>
#include <string.h>

static enum rpcrdma_handled
handle_sum(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;
	const numbers *summands = args;
	uint32_t *sum = result;

	(void)request;
	world->handled++;
	for (uint32_t i = 0; i < summands->count; i++)
		*sum += summands->values[i];
	return RPCRDMA_HANDLED;
}

static enum rpcrdma_handled
handle_count(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;
	numbers *counted = result;

	world->handled++;
	counted->count = *(const uint32_t *)args;
	counted->values = rpcrdma_request_alloc(request, counted->count * sizeof(*counted->values));
	if (!counted->values)
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	for (uint32_t i = 0; i < counted->count; i++)
		counted->values[i] = i;
	return RPCRDMA_HANDLED;
}

/* Gives the octets back in payload memory, each one more. */
static enum rpcrdma_handled
handle_blob(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;
	const blob *in = args;
	blob *out = result;
	uint8_t *data;

	if (in->data.length > rpcrdma_request_item_room(request))
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	data = rpcrdma_request_payload(request, in->data.length);
	if (!data)
		return RPCRDMA_HANDLE_LATER;
	world->handled++;
	for (uint32_t i = 0; i < in->data.length; i++)
		data[i] = (uint8_t)(((const uint8_t *)in->data.data)[i] + 1);
	*out = (blob){ in->number + 1, { data, in->data.length } };
	return RPCRDMA_HANDLED;
}

static struct rpcrdma_bytes
keep_text(struct rpcrdma_request *request, const char *text)
{
	uint32_t length = (uint32_t)strlen(text);
	char *kept = rpcrdma_request_alloc(request, length + 1);

	assert_non_null(kept);
	memcpy(kept, text, length);
	return (struct rpcrdma_bytes){ kept, length };
}

static enum rpcrdma_handled
handle_who(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;
	struct rpcrdma_auth_sys sys;
	caller *who = result;

	(void)args;
	world->handled++;
	assert_int_equal(rpcrdma_request_procedure(request), CALC_WHO);
	assert_true(rpcrdma_request_stream_room(request) > 0);
	who->flavor = rpcrdma_request_auth_sys(request, &sys);
	who->uid = sys.uid;
	who->gid = sys.gid;
	who->gids.count = sys.gid_count;
	who->gids.values = rpcrdma_request_alloc(request, sizeof(sys.gids));
	assert_non_null(who->gids.values);
	memcpy(who->gids.values, sys.gids, sizeof(sys.gids));
	who->machine = keep_text(request, sys.machine);
	who->peer = keep_text(request, rpcrdma_request_peer(request));
	return RPCRDMA_HANDLED;
}

static enum rpcrdma_handled
handle_answer(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;

	world->handled++;
	world->request = request;
	if (world->inside)
		world->inside(world);
	*(uint32_t *)result = *(const uint32_t *)args + 1;
	return (enum rpcrdma_handled)world->answer;
}

static rpcrdma_handler *const handlers[] = {
	[CALC_SUM] = handle_sum,
	[CALC_COUNT] = handle_count,
	[CALC_BLOB] = handle_blob,
	[CALC_WHO] = handle_who,
	[CALC_ANSWER] = handle_answer,
	[CALC_UNHANDLED] = NULL,
};

struct rpcrdma_service
world_service(struct world *world)
{
	return (struct rpcrdma_service){ &CALC_V1_program, handlers, world, world->once };
}

struct rpcrdma_client *
world_connect(struct world *world, enum rpcrdma_transport transport, struct rpcrdma_client_config config)
{
	struct rpcrdma_client *client = NULL;

	config.size = sizeof(config);
	config.transport = transport;
	config.port = transport == RPCRDMA_TRANSPORT_TCP ? world->tcp_port : world->rdma_port;
	assert_int_equal(rpcrdma_client_connect(world->engine, &config, &client), 0);
	return client;
}

struct rpcrdma_call_config
world_call_config(uint32_t procedure, const void *args, void *result)
{
	return (struct rpcrdma_call_config){
		.size = sizeof(struct rpcrdma_call_config),
		.program = &CALC_V1_program,
		.procedure = procedure,
		.args = args,
		.result = result,
	};
}

int
world_call(struct rpcrdma_client *client, uint32_t procedure, const void *args, void *result, void *keep,
	uint32_t size)
{
	uint32_t memory[1024];
	struct rpcrdma_call_config config = world_call_config(procedure, args, result);

	config.keep = keep;
	config.keep_size = size;
	config.arena = memory;
	config.arena_size = sizeof(memory);
	return rpcrdma_client_call_and_wait(client, &config);
}

void
world_serve(struct world *world)
{
	const struct rpcrdma_service service = world_service(world);
	const struct rpcrdma_server_config config = {
		.size = sizeof(config),
		.services = &service,
		.service_count = 1,
		.call_max = world->call_max,
	};

	assert_int_equal(rpcrdma_server_new(world->engine, &config, &world->server), 0);
	assert_int_equal(
		rpcrdma_server_listen(world->server, RPCRDMA_TRANSPORT_RDMA, NULL, &world->rdma_port), 0);
	assert_int_equal(
		rpcrdma_server_listen(world->server, RPCRDMA_TRANSPORT_TCP, "127.0.0.1", &world->tcp_port),
		0);
}

void
world_setup_over(void **state, enum rpcrdma_transport transport, uint32_t version)
{
	const struct rpcrdma_engine_config config = { .size = sizeof(config), .rpcrdma_version = version };
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_int_equal(rpcrdma_engine_new(&config, &world->engine), 0);
	world_serve(world);
	world->transport = transport;
	world->client = world_connect(world, transport, (struct rpcrdma_client_config){ 0 });
	*state = world;
}

int
world_setup(void **state)
{
	world_setup_over(state, RPCRDMA_TRANSPORT_RDMA, 0);
	return 0;
}

int
world_teardown(void **state)
{
	struct world *world = *state;

	rpcrdma_client_free(world->client);
	rpcrdma_server_free(world->server);
	rpcrdma_engine_free(world->engine);
	free(world);
	return 0;
}
