/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include "rpc/server_private.h"

#include <stdlib.h>
#include <string.h>

rr_fabric_new *world_provider;
uint8_t world_octet;

static void
fill(uint8_t *data, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		data[i] = (uint8_t)(i * 31 + i / 251 + length);
}

/* ---- The echo program ---- */

/* Counts a call that is handled, and keeps what the tests ask about it. */
static void
note(struct world *world, const struct rpcrdma_request *request)
{
	uint8_t octet;

	world->xids[world->handled++ % 1024] = request->exchange->xid;
	world->stage.now += world->takes;
	world->item_room = request->item_room;
	world->caller = request->caller;
	if (request->caller.group_count > 0)
		memcpy(world->groups, request->caller.groups, request->caller.group_count * sizeof(uint32_t));
	world->caller.groups = world->groups;
	if (world->peer > 0 && world->heard == 0 && recv(world->peer, &octet, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
		world->heard = world->handled;
}

static enum rpcrdma_handled
echo(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	note(ctx, request);
	*(text *)result = *(const text *)args;
	return RPCRDMA_HANDLED;
}

/* Returns the world, which is the ctx of the service. */
static struct world *
world_of(const struct rpcrdma_request *request)
{
	return request->server->services[1].ctx;
}

/* Does the steps of a long call, and counts them in its result. Returns false if the call is to pause. */
static bool
take_steps(struct rpcrdma_request *request)
{
	struct world *world = world_of(request);
	uint32_t *done = request->result;
	bool fresh = true;

	for (; *done < world->steps; fresh = false) {
		if (world->pausing && !fresh && rr_request_is_long(request))
			return false;
		note(world, request);
		rr_loop_clock(world->stage.engine->loop);
		++*done;
	}
	return true;
}

static void
go_on(void *above, struct rpcrdma_request *request)
{
	(void)above;
	if (take_steps(request))
		rr_request_end(request, RPCRDMA_HANDLED);
	else
		rr_request_pause(request, go_on);
}

/* Adds up the numbers of the arguments. */
static enum rpcrdma_handled
sum(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;
	const numbers *in = args;

	if (world->steps > 0 && request->exchange->xid >= WORLD_LONG) {
		if (take_steps(request))
			return RPCRDMA_HANDLED;
		rr_request_pause(request, go_on);
		return RPCRDMA_HANDLE_KEPT;
	}
	note(world, request);
	for (uint32_t i = 0; i < in->count; i++)
		*(uint32_t *)result += in->values[i];
	return RPCRDMA_HANDLED;
}

/* Answers with the same data, which lies in the call's memory until the reply was sent. */
static enum rpcrdma_handled
echo_blob(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;
	const blob *in = args;

	if (world->held > 0)
		return RPCRDMA_HANDLE_LATER;
	note(world, request);
	*(blob *)result = (blob){ in->after, in->data, in->before };
	return RPCRDMA_HANDLED;
}

/* Answers with that many octets of pool memory. */
static enum rpcrdma_handled
fetch(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;
	uint32_t length = *(const uint32_t *)args;

	request->payload = rr_pool_get(world->stage.engine->results, request->party, length);
	if (!request->payload || world->held > 0)
		return RPCRDMA_HANDLE_LATER;
	note(world, request);
	fill(request->payload, length);
	*(blob *)result = (blob){ 2, { request->payload, length }, 1 };
	return RPCRDMA_HANDLED;
}

/* Answers with a copy of the data in pool memory: the call and the reply are large. */
static enum rpcrdma_handled
copy_blob(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;
	const blob *in = args;

	request->payload = rr_pool_get(world->stage.engine->results, request->party, in->data.length);
	if (!request->payload)
		return RPCRDMA_HANDLE_LATER;
	note(world, request);
	memcpy(request->payload, in->data.data, in->data.length);
	*(blob *)result = (blob){ in->after, { request->payload, in->data.length }, in->before };
	return RPCRDMA_HANDLED;
}

/* Returns as many numbers as the argument tells, from the memory of the request. */
static enum rpcrdma_handled
count(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	numbers *out = result;
	uint32_t size = *(const uint32_t *)args;

	note(ctx, request);
	if (size * sizeof(uint32_t) > (size_t)(request->arena.end - request->arena.next))
		return RPCRDMA_HANDLE_SYSTEM_ERR;
	out->count = size;
	out->values = (uint32_t *)(void *)request->arena.next;
	for (uint32_t i = 0; i < size; i++)
		out->values[i] = i;
	return RPCRDMA_HANDLED;
}

/* Puts the call off while the world is held, and then returns its argument. */
static enum rpcrdma_handled
later(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;

	if (world->held > 0)
		return RPCRDMA_HANDLE_LATER;
	note(world, request);
	*(uint32_t *)result = *(const uint32_t *)args;
	return RPCRDMA_HANDLED;
}

/* Fails as the argument tells. */
static enum rpcrdma_handled
fail_as_told(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	static uint8_t octets[TEXT_MAX + 1];

	note(ctx, request);
	switch (*(const outcome *)args) {
	case OUTCOME_SYSTEM_ERR: return RPCRDMA_HANDLE_SYSTEM_ERR;
	case OUTCOME_GARBAGE_ARGS: return RPCRDMA_HANDLE_GARBAGE_ARGS;
	case OUTCOME_PROC_UNAVAIL: return RPCRDMA_HANDLE_PROC_UNAVAIL;
	case OUTCOME_TOO_WEAK: return RPCRDMA_HANDLE_TOO_WEAK;
	case OUTCOME_DROP: return RPCRDMA_HANDLE_DROP;
	case OUTCOME_BAD_RESULT: *(text *)result = (text){ octets, sizeof(octets) }; break;
	}
	return RPCRDMA_HANDLED;
}

/* Counts a kept call whose connection ended; when the test wants that, the server forgoes it. */
static void
lose(void *above, struct rpcrdma_request *request)
{
	struct world *world = world_of(request);

	(void)above;
	world->lost++;
	if (!world->forgoing)
		return;
	world->kept_count--;
	rr_request_end(request, RPCRDMA_HANDLE_DROP);
}

void
world_answer_kept(struct world *world)
{
	while (world->kept_count > 0) {
		struct rpcrdma_request *request = world->kept[--world->kept_count];

		*(uint32_t *)request->result = world->tally += *(const uint32_t *)request->args;
		rr_request_end(request, RPCRDMA_HANDLED);
	}
}

/* Gives another answer each time that it is executed. */
static enum rpcrdma_handled
tally(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;

	if (world->held > 0)
		return RPCRDMA_HANDLE_LATER;
	note(world, request);
	if (world->keeping) {
		world->kept[world->kept_count++] = request;
		request->lost = lose;
		return RPCRDMA_HANDLE_KEPT;
	}
	if (world->striking)
		rr_loop_defer(world->stage.engine->loop, &world->strike);
	world->striking = false;
	*(uint32_t *)result = world->tally += *(const uint32_t *)args;
	return RPCRDMA_HANDLED;
}

/* Gives another answer each time that it is executed, to a call with data. */
static enum rpcrdma_handled
store(void *ctx, struct rpcrdma_request *request, const void *args, void *result)
{
	struct world *world = ctx;
	const blob *in = args;

	note(world, request);
	*(uint32_t *)result = world->tally += in->data.length;
	return RPCRDMA_HANDLED;
}

/* Restarts the server before the reply is sent: replies of a turn are sent in later tasks. */
static void
strike(struct rr_task *task)
{
	struct world *world = rr_container(task, struct world, strike);

	world_kill_server(world);
	world_start_server(world);
}

static rpcrdma_handler *const handlers_v2[] = { NULL };
static rpcrdma_handler *const handlers_v3[] = {
	[ECHO_ECHO] = echo,
	[ECHO_SUM] = sum,
	[ECHO_BLOB] = echo_blob,
	[ECHO_COUNT] = count,
	[ECHO_LATER] = later,
	[ECHO_FAIL] = fail_as_told,
	[ECHO_UNHANDLED] = NULL,
	[ECHO_FETCH] = fetch,
	[ECHO_COPY] = copy_blob,
	[ECHO_TALLY] = tally,
	[ECHO_STORE] = store,
};

static const bool once_v3[ECHO_STORE + 1] = { [ECHO_TALLY] = true, [ECHO_STORE] = true };

/* ---- The world ---- */

struct rpcrdma_server *
world_new_server(struct world *world)
{
	const struct rr_service services[] = {
		{ &ECHO_V2_program, handlers_v2, world },
		{ &ECHO_V3_program, handlers_v3, world, once_v3 },
	};
	struct rpcrdma_server *server;

	world->server_config.drc = world->drc;
	assert_int_equal(rr_server_new(world->stage.engine, &world->server_config, services, 2, &server), 0);
	return server;
}

void
world_start_server(struct world *world)
{
	struct sockaddr *address = (struct sockaddr *)&world->address;
	struct rr_text why = { "" };
	int error;

	world->server = world_new_server(world);
	if (world_provider)
		error = rr_server_listen(
			world->server, RR_TRANSPORT_AUTO, address, sizeof(world->address), NULL, &why);
	else
		error = rr_server_listen(
			world->server, RR_TRANSPORT_TCP, address, sizeof(world->address), NULL, &why);
	if (error)
		fail_msg("%s", why.text);
	assert_int_not_equal(world->address.sin_port, 0);
}

void
world_kill_server(struct world *world)
{
	rr_server_free(world->server);
	world->server = NULL;
}

void
world_client_config(const struct world *world, struct rr_client_config *config)
{
	*config = (struct rr_client_config){
		.transport = world_provider ? RR_TRANSPORT_AUTO : RR_TRANSPORT_TCP,
		.address_size = sizeof(world->address),
		.user = { .uid = 1000, .gid = 100, .gid_count = 2, .gids = { 100, 27 }, .machine = "here" },
		.retry = 10 * RR_SECOND,
	};
	memcpy(&config->address, &world->address, sizeof(world->address));
}

struct rpcrdma_client *
world_connect(struct world *world, const struct rr_client_config *config)
{
	struct rpcrdma_client *client;
	struct rr_text why;

	assert_int_equal(rr_client_new(world->stage.engine, config, &client, &why), 0);
	return client;
}

struct world *
world_new(const struct rr_engine_config *config)
{
	struct world *world = calloc(1, sizeof(*world));
	struct rr_client_config client;

	assert_non_null(world);
	stage_init(&world->stage);
	world->stage.octet = world_octet;
	stage_engine(&world->stage, config, world_provider);
	world->address = stage_loopback();
	world->server_config = rr_server_config_default;
	world->drc = rr_drc_new(&world->stage.env, &rr_drc_config_default);
	assert_non_null(world->drc);
	rr_task_init(&world->strike, strike);
	world_start_server(world);
	world_client_config(world, &client);
	world->client = world_connect(world, &client);
	return world;
}

void
world_free(struct world *world)
{
	rr_client_free(world->client);
	rr_server_free(world->server);
	rr_pool_put(world->stage.engine->results, world->hostage);
	rr_drc_free(world->drc);
	stage_end(&world->stage);
	free(world);
}

int
world_setup(void **state)
{
	*state = world_new(NULL);
	return 0;
}

int
world_teardown(void **state)
{
	world_free(*state);
	return 0;
}

size_t
world_memory(const struct world *world)
{
	return rr_pool_used(world->stage.engine->arrivals) + rr_pool_used(world->stage.engine->results) +
	       rr_pool_used(world->stage.engine->pool);
}

void
world_turn(struct world *world)
{
	stage_turn(&world->stage);
}

void
world_settle(struct world *world)
{
	stage_settle(&world->stage);
}

void
world_pass(struct world *world, uint64_t time)
{
	stage_pass(&world->stage, time);
}

void
world_hold(struct world *world)
{
	world->hostage = rr_pool_get(world->stage.engine->results, NULL, 4096);
	assert_non_null(world->hostage);
	world->held = 1;
}

void
world_let_go(struct world *world)
{
	world->held = 0;
	rr_pool_put(world->stage.engine->results, world->hostage);
	world->hostage = NULL;
}

/* ---- Calls ---- */

static void
done(struct rr_call *base, int error)
{
	struct call *call = rr_container(base, struct call, base);

	call->done = true;
	call->times++;
	call->error = error;
}

struct call *
call_new(uint32_t procedure)
{
	struct call *call = calloc(1, sizeof(*call));

	assert_non_null(call);
	call->base.program = &ECHO_V3_program;
	call->base.proc = procedure;
	call->base.args = &call->args;
	call->base.result = &call->result;
	call->base.reply_max = procedure == ECHO_COUNT ? 65536 : 0;
	call->base.arena = rpcrdma_arena(call->arena, sizeof(call->arena));
	call->base.keep_size = 4096;
	call->base.keep = call->keep = malloc(call->base.keep_size);
	call->base.done = done;
	return call;
}

struct call *
call_unanswered(void)
{
	struct call *call = call_new(ECHO_FAIL);

	call->args.fail = OUTCOME_DROP;
	return call;
}

void
call_free(struct call *call)
{
	free(call->data);
	free(call->sink);
	free(call->keep);
	free(call);
}

void
call_start(struct world *world, struct call *call)
{
	rr_client_call(world->client, &call->base);
}

int
call_wait(struct world *world, const struct call *call)
{
	world_until(world, call->done);
	return call->error;
}

int
call_run(struct world *world, struct call *call)
{
	call_start(world, call);
	return call_wait(world, call);
}

void
world_warm_up(struct world *world)
{
	struct call *call = call_new(ECHO_NULL);

	assert_int_equal(call_run(world, call), 0);
	call_free(call);
}

/* Prepares a call for a blob of this length, with or without a sink for it. */
static void
expect_blob(struct call *call, uint32_t length, bool with_sink)
{
	call->length = length;
	call->data = malloc(length + 1);
	fill(call->data, length);
	call->sink = malloc(length + 1);
	if (with_sink) {
		call->base.sink_count = 1;
		call->base.sinks[0] = (struct rpcrdma_sink){ call->sink, length };
	} else {
		call->base.reply_max = length + 64;
	}
	call->base.keep_size = length + 4096;
	free(call->keep);
	call->base.keep = call->keep = malloc(call->base.keep_size);
}

struct call *
blob_new(uint32_t length, bool with_sink)
{
	struct call *call = call_new(ECHO_BLOB);

	expect_blob(call, length, with_sink);
	call->args.blob = (blob){ 1, { call->data, length }, 2 };
	return call;
}

struct call *
fetch_new(uint32_t length)
{
	struct call *call = call_new(ECHO_FETCH);

	expect_blob(call, length, true);
	call->args.number = length;
	return call;
}

void
assert_blob(const struct call *call)
{
	assert_int_equal(call->error, 0);
	assert_int_equal(call->result.blob.before, 2);
	assert_int_equal(call->result.blob.after, 1);
	assert_int_equal(call->result.blob.data.length, call->length);
	assert_memory_equal(call->result.blob.data.data, call->data, call->length);
}
