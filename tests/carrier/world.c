/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include "../fence.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "carrier/rdma/core/connection.h"
#include "carrier/rdma/core/room.h"
#include "invariant.h"
#include "wire/rpc.h"

rr_fabric_new *provider;
enum rr_versions world_versions = RR_VERSIONS_1;

const struct rr_fabric_ops *
override(struct rr_fabric *fabric, struct rr_fabric_ops *own)
{
	const struct rr_fabric_ops *real = fabric->ops;

	*own = *real;
	fabric->ops = own;
	return real;
}

int
world_speak_both(void **state)
{
	(void)state;
	world_versions = RR_VERSIONS_AUTO;
	return 0;
}

int
world_speak_version_1(void **state)
{
	(void)state;
	world_versions = RR_VERSIONS_1;
	return 0;
}

/* ---- The owner of the connections ---- */

static void
client_connected(void *ctx)
{
	((struct world *)ctx)->client_connected = true;
}

/* Keeps why the client's connection ended; that is reported once. */
static void
client_closed(void *ctx, int error, const char *text)
{
	struct world *world = ctx;

	assert_false(world->client_closed);
	world->client_closed = true;
	world->client_error = error;
	strncpy(world->client_text, text, sizeof(world->client_text) - 1);
}

static void
server_connected(void *ctx)
{
	((struct world *)ctx)->server_connected = true;
}

/* Keeps why the server's connection ended; that is reported once. */
static void
server_closed(void *ctx, int error, const char *text)
{
	struct world *world = ctx;

	assert_false(world->server_closed);
	world->server_closed = true;
	world->server_error = error;
	strncpy(world->server_text, text, sizeof(world->server_text) - 1);
}

/* Keeps a call that arrived, or answers it at once if the test set an answer. */
static void
server_call(void *ctx, struct rr_exchange *exchange)
{
	struct world *world = ctx;

	world->arrived++;
	if (world->answer) {
		world->answer(world, exchange);
		return;
	}
	assert_true(world->call_count < WORLD_CALLS);
	world->calls[world->call_count++] = exchange;
}

static const struct rr_carrier_events client_events = { .connected = client_connected,
	.closed = client_closed };
static const struct rr_carrier_events hearing_client_events = {
	.connected = client_connected, .closed = client_closed, .call = server_call
};
static const struct rr_carrier_events server_events = {
	.connected = server_connected, .closed = server_closed, .call = server_call
};

/* Takes a new connection in place of the one before it. */
static void
accepted(void *ctx, struct rr_carrier *carrier)
{
	struct world *world = ctx;

	if (world->server)
		rr_carrier_close(world->server);
	world->server_connected = world->server_closed = false;
	world->server = carrier;
	rr_carrier_attach(carrier, &server_events, world);
}

/* ---- The world ---- */

struct world *
world_listening_on(const struct rr_engine_config *config, rr_fabric_new *make)
{
	struct sockaddr_in any = stage_loopback();
	struct rr_engine_config own = config ? *config : rr_engine_config_default;
	struct world *world = calloc(1, sizeof(*world));
	struct rr_text text;

	assert_non_null(world);
	own.versions = world_versions;
	stage_init(&world->stage);
	stage_engine(&world->stage, &own, make);
	assert_int_equal(rr_carrier_listen(world->stage.engine,
				 &(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (void *)&any, sizeof(any) },
				 accepted, world, &world->acceptor, &text),
		0);
	assert_int_equal(rr_acceptor_address(world->acceptor, &world->address), 0);
	return world;
}

void
world_connect(struct world *world)
{
	struct rr_text text;

	world->client_connected = world->client_closed = false;
	assert_int_equal(
		rr_carrier_connect(world->stage.engine,
			&(struct rr_carrier_place){
				RR_TRANSPORT_AUTO, (void *)&world->address, sizeof(world->address) },
			world->hears ? &hearing_client_events : &client_events, world, &world->client, &text),
		0);
}

void
world_hear(struct world *world)
{
	rr_carrier_attach(world->client, &hearing_client_events, world);
}

struct world *
world_listening(const struct rr_engine_config *config)
{
	return world_listening_on(config, provider);
}

/* Makes a world whose client and server are connected. */
static struct world *
connected_world(const struct rr_engine_config *config, bool hears)
{
	struct world *world = world_listening(config);

	world->hears = hears;
	world_connect(world);
	world_until(world, world->client_connected && world->server_connected);
	return world;
}

struct world *
world_new(const struct rr_engine_config *config)
{
	return connected_world(config, false);
}

struct world *
world_new_hearing(const struct rr_engine_config *config)
{
	return connected_world(config, true);
}

static void
close_carrier(struct rr_carrier **carrier)
{
	if (*carrier)
		rr_carrier_close(*carrier);
	*carrier = NULL;
}

void
world_close_client(struct world *world)
{
	close_carrier(&world->client);
}

void
world_close_server(struct world *world)
{
	close_carrier(&world->server);
}

void
world_free(struct world *world)
{
	world_close_client(world);
	world_close_server(world);
	for (uint32_t i = 0; i < world->call_count; i++)
		rr_exchange_drop(world->calls[i]);
	if (world->acceptor)
		rr_acceptor_close(world->acceptor);
	world_settle(world);
	assert_int_equal(
		rr_pool_used(world->stage.engine->pool) + rr_pool_used(world->stage.engine->arrivals), 0);
	assert_int_equal(rr_shares_accepted(&world->stage.engine->shares), 0);
	stage_end(&world->stage);
	world_forget(world);
	free(world);
}

struct rpcrdma_negotiated
world_negotiated(const struct rr_carrier *carrier)
{
	struct rpcrdma_negotiated result;

	rr_carrier_negotiated(carrier, &result);
	return result;
}

/* Returns how long a turn waits for events: only messages that go through the kernel take a while to
 * arrive. */
static int64_t
patience(const struct world *world)
{
	return strcmp(rr_fabric_name(rr_room_in(world->stage.engine)->fabric), "loop") == 0 ? 0
											    : RR_MILLISECOND;
}

static void
check(const struct rr_carrier *carrier)
{
	const char *broken = carrier ? invariant_broken(carrier) : NULL;

	if (broken)
		fail_msg("broken: %s", broken);
}

/* Makes a turn of the loop, and checks all that must hold after it. */
static int
turn(struct world *world)
{
	int ran = rr_loop_turn(world->stage.engine->loop, patience(world));

	assert_true(ran >= 0);
	check(world->client);
	check(world->server);
	return ran;
}

void
world_turn(struct world *world)
{
	turn(world);
}

void
world_stuff(struct rr_carrier *carrier, bool full)
{
	struct rr_connection *connection = rr_connection_of(carrier);

	connection->posted = full ? rr_fabric_config(connection->fabric)->work_max : 0;
}

void
world_settle(struct world *world)
{
	settle_turns(turn(world));
}

void
world_pass(struct world *world, uint64_t time)
{
	world->stage.now += time;
	world_settle(world);
}

struct memory {
	struct memory *next;
	max_align_t data[];
};

void *
world_memory(struct world *world, size_t size)
{
	struct memory *memory = calloc(1, sizeof(*memory) + size);

	assert_non_null(memory);
	memory->next = world->memory;
	world->memory = memory;
	return memory->data;
}

void
world_forget(struct world *world)
{
	struct memory *memory;

	while ((memory = world->memory)) {
		world->memory = memory->next;
		free(memory);
	}
}

void
fill(void *memory, size_t size, unsigned seed)
{
	uint8_t *to = memory;

	for (size_t i = 0; i < size; i++) {
		seed = seed * 1664525 + 1013904223;
		to[i] = (uint8_t)(seed >> 24);
	}
}

/* ---- Calls and replies ---- */

/* Makes the stream of a call or reply: its XID and type, and then octets that depend on them. */
static void *
stream_new(struct world *world, uint32_t xid, uint32_t type, uint32_t length)
{
	uint8_t *stream = world_memory(world, length);

	fill(stream, length, xid + type);
	if (length >= 8) {
		rr_put_be32(stream, xid);
		rr_put_be32(stream + 4, type);
	}
	return stream;
}

/* Keeps how the call ended, and a copy of its reply. */
static void
done(struct rr_transaction *transaction, int error)
{
	struct call *call = rr_container(transaction, struct call, transaction);

	assert_false(call->done);
	call->done = true;
	call->error = error;
	if (!error)
		call->reply = flatten(transaction->ctx, &transaction->reply, NULL);
}

struct call *
call_new(struct world *world, uint32_t xid, uint32_t stream)
{
	struct call *call = world_memory(world, sizeof(*call));

	call->transaction = (struct rr_transaction){
		.xid = xid,
		.call = { .stream = stream_new(world, xid, 0, stream),
			.length = stream,
			.items = call->items },
		.reply_max = 100,
		.done = done,
		.ctx = world,
	};
	return call;
}

static void
add_item(struct world *world, struct rpcrdma_message *message, struct rpcrdma_item *items, uint32_t offset,
	uint32_t length)
{
	uint8_t *data = world_memory(world, length);

	fill(data, length, length + offset);
	items[message->item_count++] = (struct rpcrdma_item){ data, length, offset };
	message->items = items;
}

void
call_add_item(struct world *world, struct call *call, uint32_t offset, uint32_t length)
{
	add_item(world, &call->transaction.call, call->items, offset, length);
}

void
call_add_sink(struct world *world, struct call *call, uint32_t length)
{
	struct rr_transaction *transaction = &call->transaction;

	transaction->sinks[transaction->sink_count++] =
		(struct rpcrdma_sink){ world_memory(world, length), length };
}

void
call_start(struct world *world, struct call *call)
{
	rr_carrier_call(world->client, &call->transaction);
}

struct call *
call_begin(struct world *world, uint32_t xid, uint32_t stream)
{
	struct call *call = call_new(world, xid, stream);

	call_start(world, call);
	return call;
}

struct call *
call_arrived(struct world *world, uint32_t xid, uint32_t stream)
{
	struct call *call = call_begin(world, xid, stream);

	world_until(world, world->call_count == 1);
	return call;
}

void
call_ended(const struct call *call, int error)
{
	struct world *world = call->transaction.ctx;

	world_until(world, call->done);
	assert_int_equal(call->error, error);
}

void
call_answered(const struct call *call)
{
	call_ended(call, 0);
}

struct reply *
reply_new(struct world *world, uint32_t xid, uint32_t stream)
{
	struct reply *reply = world_memory(world, sizeof(*reply));

	reply->message =
		(struct rpcrdma_message){ .stream = stream_new(world, xid, 1, stream), .length = stream };
	return reply;
}

void
reply_add_item(struct world *world, struct reply *reply, uint32_t offset, uint32_t length)
{
	add_item(world, &reply->message, reply->items, offset, length);
}

static void
sent(void *arg)
{
	((struct world *)arg)->sent++;
}

void
reply_send(struct world *world, struct rr_exchange *exchange, struct reply *reply)
{
	rr_exchange_reply(exchange, &reply->message, sent, world);
}

void
answer_small(struct world *world, struct rr_exchange *exchange)
{
	reply_send(world, exchange, reply_new(world, exchange->xid, 24));
}

void
answer_with_size(struct world *world, struct rr_exchange *exchange)
{
	reply_send(world, exchange, reply_new(world, exchange->xid, world->reply_size));
}

void
assert_reply_octets(const struct rpcrdma_message *reply, uint32_t xid, uint32_t length)
{
	uint8_t *expected = malloc(length);

	assert_non_null(expected);
	fill(expected, length, xid + 1);
	rr_put_be32(expected, xid);
	rr_put_be32(expected + 4, RR_REPLY);
	assert_int_equal(reply->length, length);
	assert_memory_equal(reply->stream, expected, length);
	free(expected);
}

struct rr_exchange *
world_next_call(struct world *world)
{
	struct rr_exchange *exchange = world->calls[0];

	assert_true(world->call_count > 0);
	world->call_count--;
	memmove(world->calls, world->calls + 1, world->call_count * sizeof(exchange));
	return exchange;
}

struct rr_exchange *
world_one_call(struct world *world)
{
	world_until(world, world->call_count == 1);
	return world_next_call(world);
}

static uint32_t
offset_of(const struct rpcrdma_message *message, uint32_t i, const struct rpcrdma_message *like)
{
	if (message->items[i].offset != RPCRDMA_ITEM_NEXT)
		return message->items[i].offset;
	return like ? like->items[i].offset : message->length;
}

struct rpcrdma_message
flatten(struct world *world, const struct rpcrdma_message *message, const struct rpcrdma_message *like)
{
	size_t size = message->length, at = 0, used = 0;
	uint8_t *flat;

	for (uint32_t i = 0; i < message->item_count; i++)
		size += message->items[i].length + rr_pad(message->items[i].length);
	flat = world_memory(world, size);
	for (uint32_t i = 0; i < message->item_count; i++) {
		const struct rpcrdma_item *item = &message->items[i];
		uint32_t offset = offset_of(message, i, like);

		memcpy(flat + used, (const uint8_t *)message->stream + at, offset - at);
		used += offset - at;
		at = offset;
		memcpy(flat + used, item->data, item->length);
		used += item->length + rr_pad(item->length);
	}
	memcpy(flat + used, (const uint8_t *)message->stream + at, message->length - at);
	return (struct rpcrdma_message){ .stream = flat, .length = (uint32_t)size };
}

void
assert_same_message(const struct rpcrdma_message *a, const struct rpcrdma_message *b)
{
	assert_int_equal(a->length, b->length);
	assert_memory_equal(a->stream, b->stream, a->length);
}
