/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "carrier/rdma/core/room.h"
#include "raw.h"
#include "wire/rpc.h"

/* Good messages with one bit wrong, or cut short: at most their own connection suffers, and no memory
 * leaks. */

enum { XID = 5, DATA = 600 };

/* Returns the distance of the bits that are flipped. The loop provider has every bit flipped; for the
 * slower providers, which go through the kernel, every thirteenth bit is enough. */
static uint32_t
step(const struct world *world)
{
	return strcmp(rr_fabric_name(rr_room_in(world->stage.engine)->fabric), "loop") == 0 ? 1 : 13;
}

/* The memory that a raw requester offers. */
struct offers {
	uint8_t data[DATA], sink[DATA], reply[8000];
	struct rr_region a, b, write, chunk;
};

/* Registers all memory that the calls below name: two parts of a read chunk, a write chunk and a reply
 * chunk. */
static void
offer(struct raw *raw, struct offers *offers)
{
	offers->a = raw_register(raw, offers->data, 301, RR_REMOTE_READ);
	offers->b = raw_register(raw, offers->data + 301, DATA - 301, RR_REMOTE_READ);
	offers->write = raw_register(raw, offers->sink, DATA, RR_REMOTE_WRITE);
	offers->chunk = raw_register(raw, offers->reply, sizeof(offers->reply), RR_REMOTE_WRITE);
	rr_put_be32(offers->data, XID);
	rr_put_be32(offers->data + 4, RR_CALL);
}

static uint32_t
put_words(uint8_t *to, const uint32_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		rr_put_be32(to + (size_t)i * 4, words[i]);
	return count * 4;
}

static uint32_t
call_with_all_chunks(const struct offers *offers, uint8_t *to)
{
	return put_words(
		to, WORDS(XID, 1, 16, RR_RDMA_MSG, 1, 12, SEGMENT(offers->a), 1, 12, SEGMENT(offers->b), 0, 1,
			    1, SEGMENT(offers->write), 0, 1, 1, SEGMENT(offers->chunk), XID, RR_CALL, 2, 3));
}

static uint32_t
long_call(const struct offers *offers, uint8_t *to)
{
	return put_words(to, WORDS(XID, 1, 16, RR_RDMA_NOMSG, 1, 0, SEGMENT(offers->a), 1, 0,
				     SEGMENT(offers->b), 0, 0, 0));
}

/* Answers with a result, and with a reply that is too large for inline. */
static void
answer_large(struct world *world, struct rr_exchange *exchange)
{
	struct reply *reply = reply_new(world, exchange->xid, 5000);

	reply_add_item(world, reply, 24, 200);
	reply_send(world, exchange, reply);
}

/* ---- Connections that the test does not follow ---- */

/* Closes the host's side of a connection that has ended. */
static void
host_closed(void *ctx, int error, const char *text)
{
	struct rr_carrier **host = ctx;

	(void)error;
	assert_non_null(text);
	rr_carrier_close(*host);
	*host = NULL;
}

static struct world *host_world;
static struct rr_carrier *hosts[8];

static void
host_call(void *ctx, struct rr_exchange *exchange)
{
	(void)ctx;
	host_world->arrived++;
	answer_large(host_world, exchange);
}

static const struct rr_carrier_events host_events = { .closed = host_closed, .call = host_call };

/* Keeps the host's side of a new connection in a free place of hosts. */
static void
host_accepted(void *ctx, struct rr_carrier *carrier)
{
	int i = 0;

	(void)ctx;
	while (hosts[i])
		assert_true(++i < 8);
	hosts[i] = carrier;
	rr_carrier_attach(carrier, &host_events, &hosts[i]);
}

/* Makes a world whose acceptor takes any number of connections, with a good client of its own. */
static struct world *
begin(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct world *world = world_listening(NULL);
	struct rr_text text;

	host_world = world;
	rr_acceptor_close(world->acceptor);
	assert_int_equal(rr_carrier_listen(world->stage.engine,
				 &(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (void *)&any, sizeof(any) },
				 host_accepted, world, &world->acceptor, &text),
		0);
	assert_int_equal(rr_acceptor_address(world->acceptor, &world->address), 0);
	world->server_connected = true;
	world_connect(world);
	world_until(world, world->client_connected);
	return world;
}

/* Closes all connections of the host, and frees the world. */
static void
end(struct world *world)
{
	for (int i = 0; i < 8; i++) {
		if (hosts[i])
			rr_carrier_close(hosts[i]);
		hosts[i] = NULL;
	}
	world_free(world);
}

/* Checks that another client's call is still answered, and that its connection stays. */
static void
the_good_client_is_served(struct world *world, uint32_t xid)
{
	struct call *call = call_new(world, xid, 40);

	call->transaction.reply_max = 6000;
	call_start(world, call);
	call_answered(call);
	assert_false(world->client_closed);
	world_settle(world);
	world_forget(world);
}

/* ---- Calls ---- */

/* Sends the message that make() writes, with one bit changed or cut to its first octets. Connects again if
 * the peer then ended the connection. */
static void
send_mutation(struct raw *raw, struct offers *offers, uint32_t (*make)(const struct offers *, uint8_t *),
	uint32_t bit, uint32_t cut)
{
	uint8_t message[256];
	uint32_t length = make(offers, message);

	if (bit < length * 8)
		message[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	raw_send(raw, message, cut < length ? cut : length);
	world_settle(raw->world);
	raw->message_count = 0;
	if (raw->disconnected) {
		raw_connect(raw);
		offer(raw, offers);
	}
}

/* Changes each bit of the call, and cuts it at each octet: the host must bear all of that. At the end the
 * unchanged call is answered. */
static void
mutate_calls(uint32_t (*make)(const struct offers *, uint8_t *))
{
	struct world *world = begin();
	struct raw *raw = raw_new(world);
	struct offers *offers = calloc(1, sizeof(*offers));
	uint8_t message[256];
	uint32_t length;

	assert_non_null(offers);
	raw->private_data[5] =
		0; /* without R in the private data, so that the same handles serve many calls */
	raw_connect(raw);
	offer(raw, offers);
	length = make(offers, message);
	for (uint32_t bit = 0; bit < length * 8; bit += step(world)) {
		send_mutation(raw, offers, make, bit, length);
		if (bit / step(world) % 64 == 63)
			the_good_client_is_served(world, bit);
	}
	for (uint32_t cut = 0; cut < length; cut += step(world))
		send_mutation(raw, offers, make, UINT32_MAX, cut);
	the_good_client_is_served(world, 1);
	/* The unchanged message is answered. */
	raw_connect(raw);
	offer(raw, offers);
	make(offers, message);
	raw_send(raw, message, length);
	raw_next(raw);
	raw_free(raw);
	end(world);
	free(offers);
}

static void
row_B4_mutated_calls_cost_at_most_their_connection(void **state)
{
	(void)state;
	mutate_calls(call_with_all_chunks);
	mutate_calls(long_call);
}

/* ---- Replies ---- */

/* Makes a call with a Write chunk (even turns) or a Reply chunk, and a good reply to the call. */
static struct call *
call_and_reply(struct raw *raw, uint32_t turn, uint8_t *reply, uint32_t *length)
{
	struct call *call = call_new(raw->world, XID, 40);
	struct raw_header header;

	if (turn % 2 == 0)
		call_add_sink(raw->world, call, 5000);
	else
		call->transaction.reply_max = 5000;
	call_start(raw->world, call);
	raw_parse(raw_next(raw), &header);
	header.segments[0].length = turn % 2 == 0 ? 100 : 0;
	if (turn % 2 == 0)
		*length = put_words(reply, WORDS(XID, 1, 16, RR_RDMA_MSG, 0, 1, 1,
						   SEGMENT(header.segments[0]), 0, 0, XID, RR_REPLY, 0));
	else
		*length = put_words(reply, WORDS(XID, 1, 16, RR_RDMA_MSG, 0, 0, 1, 1,
						   SEGMENT(header.segments[0]), XID, RR_REPLY, 0));
	return call;
}

/* Ends the call, however its changed reply was taken, and checks that no memory is left in use. */
static void
settle_reply(struct raw *raw, struct call *call)
{
	struct world *world = raw->world;

	world_settle(world);
	if (!call->done)
		rr_carrier_cancel(world->client, &call->transaction);
	/* A call that is cancelled keeps its XID until a reply comes: only a new connection does not know
	 * the XID. */
	if (!call->done || world->client_closed) {
		world_close_client(world);
		world_settle(world);
		world_connect(world);
		world_until(world, world->client_connected && raw->established);
	}
	world_settle(world);
	assert_int_equal(
		rr_pool_used(world->stage.engine->pool) + rr_pool_used(world->stage.engine->arrivals), 0);
	raw->message_count = 0; /* a reply that became a call was answered by the client */
	world_forget(world);
}

static void
row_B4_mutated_replies_cost_at_most_their_connection(void **state)
{
	struct raw *raw = raw_responder(NULL);

	(void)state;
	for (uint32_t kind = 0; kind < 2; kind++) {
		for (uint32_t bit = 0, length = 1; bit < length * 9; bit += step(raw->world)) {
			uint8_t reply[256], good[256];
			struct call *call = call_and_reply(raw, kind, reply, &length);

			memcpy(good, reply, sizeof(good));

			if (bit < length * 8)
				reply[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
			raw_send(raw, reply, bit < length * 8 ? length : bit - length * 8);
			world_settle(raw->world);
			/* RFC 8166, 4.5: a bad reply is discarded, and the good reply that follows counts. */
			if (!raw->world->client_closed)
				raw_send(raw, good, length);
			world_settle(raw->world);
			assert_true(call->done || raw->world->client_closed);
			settle_reply(raw, call);
		}
	}
	raw_end_client(raw);
}

/* ---- Failures of the layers below ---- */

/* The number of the operation that fails, and how many operations the scenario has made. */
static uint32_t fail_at, passed;

static bool
fails(void)
{
	return ++passed == fail_at;
}

/* Allocates memory, until it is the turn of an allocation to fail. */
static void *
failing_realloc(void *ctx, void *old, size_t size)
{
	(void)ctx;
	if (size == 0) {
		free(old);
		return NULL;
	}
	return fails() ? NULL : realloc(old, size);
}

static struct rr_fabric_ops failing_ops;
static const struct rr_fabric_ops *real_ops;

static int
failing_connect(struct rr_fabric *fabric, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	if (fails())
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "the test says no");
	return real_ops->connect(fabric, how, endpoint, text);
}

static int
failing_accept(struct rr_endpoint *endpoint, const void *data, size_t size)
{
	return fails() ? -RPCRDMA_ERR_NOMEM : real_ops->accept(endpoint, data, size);
}

static int
failing_post(struct rr_endpoint *endpoint, const struct rr_work *work)
{
	return fails() ? -RPCRDMA_ERR_NOMEM : real_ops->post(endpoint, work);
}

static int
failing_register(
	struct rr_endpoint *endpoint, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	return fails() ? -RPCRDMA_ERR_LIMIT
		       : real_ops->register_region(endpoint, addr, length, access, region);
}

/* Makes a provider whose functions fail when it is their turn. */
static int
make_failing(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	int error = provider(loop, config, fabric);

	if (error)
		return error;
	real_ops = override(*fabric, &failing_ops);
	failing_ops.connect = failing_connect;
	failing_ops.accept = failing_accept;
	failing_ops.post = failing_post;
	failing_ops.register_region = failing_register;
	return 0;
}

struct scenario {
	struct world *world;
	struct rr_carrier *client;
	bool closed;
	uint32_t done, good;
};

static void
scenario_closed(void *ctx, int error, const char *text)
{
	(void)error;
	(void)text;
	((struct scenario *)ctx)->closed = true;
}

static void
scenario_done(struct rr_transaction *transaction, int error)
{
	struct scenario *scenario = transaction->ctx;

	scenario->done++;
	scenario->good += error == 0;
}

static const struct rr_carrier_events scenario_events = { .closed = scenario_closed };

/* Makes calls of all kinds over one connection. Each must end, well or badly. True: all went well. */
static bool
run_calls(struct scenario *scenario)
{
	struct world *world = scenario->world;

	for (uint32_t i = 0; i < 4; i++) {
		struct call *call = call_new(world, i, i == 3 ? 6000 : 40);

		if (i == 1)
			call_add_item(world, call, 40, 6000);
		if (i == 2)
			call_add_sink(world, call, 6000);
		call->transaction.reply_max = 5300;
		call->transaction.done = scenario_done;
		call->transaction.ctx = scenario;
		rr_carrier_call(scenario->client, &call->transaction);
	}
	turn_until(scenario->done == 4, world_turn(world));
	assert_true(scenario->good == 4 || scenario->closed || passed >= fail_at);
	return scenario->good == 4;
}

/* Makes an engine, connects, makes the calls and frees all of it. Returns whether everything succeeded; no
 * memory may be left in use in either case. */
static bool
run_scenario(rr_fabric_new *make, struct rr_env *env)
{
	struct sockaddr_in any = stage_loopback();
	struct world world = { 0 };
	struct scenario scenario = { .world = &world };
	struct rr_text text;
	bool good = false;

	host_world = &world;
	if (rr_engine_new_on(env, &rr_engine_config_default, make, &world.stage.engine))
		return false;
	world.stage.loop = world.stage.engine->loop;
	if (!rr_carrier_listen(world.stage.engine,
		    &(struct rr_carrier_place){ RR_TRANSPORT_AUTO, (void *)&any, sizeof(any) }, host_accepted,
		    &world, &world.acceptor, &text) &&
		!rr_acceptor_address(world.acceptor, &world.address) &&
		!rr_carrier_connect(world.stage.engine,
			&(struct rr_carrier_place){
				RR_TRANSPORT_AUTO, (void *)&world.address, sizeof(world.address) },
			&scenario_events, &scenario, &scenario.client, &text)) {
		good = run_calls(&scenario);
		rr_carrier_close(scenario.client);
	}
	world_settle(&world);
	for (int i = 0; i < 8; i++) {
		if (hosts[i])
			rr_carrier_close(hosts[i]);
		hosts[i] = NULL;
	}
	if (world.acceptor)
		rr_acceptor_close(world.acceptor);
	world_settle(&world);
	assert_int_equal(
		rr_pool_used(world.stage.engine->pool) + rr_pool_used(world.stage.engine->arrivals), 0);
	rpcrdma_engine_free(world.stage.engine);
	world_forget(&world);
	return good;
}

/* Runs the scenario again and again; each time the next of the functions that can fail does so, until none
 * is left. */
static void
fail_each(rr_fabric_new *make, struct rr_env *env)
{
	bool good = false;

	for (fail_at = 1; !good || passed >= fail_at; fail_at++) {
		passed = 0;
		good = run_scenario(make, env);
		assert_true(fail_at < 1000);
	}
	assert_true(fail_at > 8);
}

static void
every_allocation_may_fail(void **state)
{
	struct rr_env env = rr_env_system;

	(void)state;
	env.realloc = failing_realloc;
	env.log = NULL;
	fail_each(provider, &env);
}

static void
every_operation_of_the_fabric_may_fail(void **state)
{
	struct rr_env env = rr_env_system;

	(void)state;
	env.log = NULL;
	fail_each(make_failing, &env);
}

int
suite_hostile(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_B4_mutated_calls_cost_at_most_their_connection),
		cmocka_unit_test(row_B4_mutated_replies_cost_at_most_their_connection),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(every_operation_of_the_fabric_may_fail),
	};

	return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
