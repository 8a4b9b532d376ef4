/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <string.h>

/* This requester and this responder, with messages of all sizes: the message that arrives is the message
 * that was sent, and it travels as planned. */

struct shape {
	uint32_t stream, item, item_offset;    /* call */
	uint32_t reply, result, result_offset; /* reply */
	uint32_t reply_max, sink;
};

/* Makes a call of this shape and answers it: both messages must arrive as they were sent. */
static void
run(struct world *world, uint32_t xid, const struct shape *shape)
{
	struct call *call = call_new(world, xid, shape->stream);
	struct rr_exchange *exchange;
	struct rpcrdma_message sent, got, reply_got;
	struct reply *reply;

	if (shape->item_offset > 0)
		call_add_item(world, call, shape->item_offset, shape->item);
	if (shape->sink > 0)
		call_add_sink(world, call, shape->sink);
	call->transaction.reply_max = shape->reply_max;
	call_start(world, call);
	world_until(world, world->call_count == 1 || call->done);
	assert_int_equal(call->error, 0);
	exchange = world_next_call(world);
	assert_int_equal(exchange->xid, xid);
	sent = flatten(world, &call->transaction.call, NULL);
	got = flatten(world, &exchange->call, NULL);
	assert_same_message(&got, &sent);

	reply = reply_new(world, xid, shape->reply);
	if (shape->result_offset > 0)
		reply_add_item(world, reply, shape->result_offset, shape->result);
	reply_send(world, exchange, reply);
	call_answered(call);
	sent = flatten(world, &reply->message, NULL);
	if (call->transaction.reply.item_count > 0) {
		/* The reply itself is freed by now: its results lie in the sinks, and its copy has them at
		 * the end. */
		assert_int_equal(call->transaction.reply.item_count, 1);
		assert_ptr_equal(call->transaction.reply_items[0].data, call->transaction.sinks[0].data);
		assert_int_equal(call->transaction.reply_items[0].length, shape->result);
		assert_memory_equal(call->transaction.sinks[0].data, reply->items[0].data, shape->result);
		assert_int_equal(call->reply.length, sent.length);
		assert_memory_equal(call->reply.stream, sent.stream, shape->result_offset);
	} else {
		reply_got = call->reply;
		assert_same_message(&reply_got, &sent);
	}
	world_settle(world);
	world_forget(world);
}

static void
row_A6_small_messages_go_inline(void **state)
{
	struct world *world = world_new(NULL);
	const struct shape shape = { .stream = 40, .reply = 24, .reply_max = 24 };

	(void)state;
	run(world, 1, &shape);
	assert_int_equal(world->client->counters.inline_messages, 2);
	assert_int_equal(world->server->counters.inline_messages, 2);
	assert_int_equal(world->client->counters.octets_inline, 64);
	assert_int_equal(world->client->counters.registrations, 0);
	world_free(world);
}

static void
row_B5_all_lengths_of_arguments_arrive(void **state)
{
	static const uint32_t lengths[] = { 0, 1, 2, 3, 4, 5, 3996, 3997, 3998, 3999, 4000, 4001, 4095, 4096,
		65537, 131070, 1048576 };
	struct world *world = world_new(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct shape shape = {
			.stream = 72, .item = lengths[i], .item_offset = 64, .reply = 24, .reply_max = 24
		};

		run(world, (uint32_t)i + 1, &shape);
		shape.item_offset = shape.stream;
		run(world, (uint32_t)i + 1001, &shape);
	}
	assert_true(world->client->counters.read_chunks > 0);
	assert_int_equal(world->client->counters.read_chunks, world->server->counters.read_chunks);
	assert_int_equal(world->client->counters.octets_rdma_read, world->server->counters.octets_rdma_read);
	assert_int_equal(world->client->counters.long_calls, 0);
	world_free(world);
}

static void
row_B5_all_lengths_of_results_arrive(void **state)
{
	static const uint32_t lengths[] = { 0, 1, 2, 3, 4, 5, 4095, 4096, 4097, 65537, 1048576 };
	struct world *world = world_new(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct shape shape = { .stream = 64,
			.reply = 40,
			.result = lengths[i],
			.result_offset = 32,
			.reply_max = 100,
			.sink = 1048576 };

		run(world, (uint32_t)i + 1, &shape);
	}
	assert_int_equal(world->client->counters.write_chunks, 10); /* one result was empty */
	assert_int_equal(world->server->counters.write_chunks, 10);
	assert_int_equal(world->client->counters.long_replies, 0);
	assert_int_equal(
		world->client->counters.octets_rdma_write, world->server->counters.octets_rdma_write);
	assert_int_equal(world->client->counters.invalidations + world->client->counters.remote_invalidations,
		world->client->counters.registrations);
	world_free(world);
}

static void
row_A14_long_calls_and_long_replies_arrive(void **state)
{
	static const uint32_t lengths[] = { 4064, 4068, 4072, 5000, 65536, 1048576 };
	struct world *world = world_new(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct shape shape = { .stream = lengths[i], .reply = lengths[i], .reply_max = lengths[i] };

		run(world, (uint32_t)i + 1, &shape);
		shape.reply = 100; /* fits inline although a Reply chunk was offered */
		run(world, (uint32_t)i + 1001, &shape);
	}
	/* 4096 octets less 28 octets of header go inline. */
	assert_int_equal(world->client->counters.long_calls, 8);
	assert_int_equal(world->server->counters.long_calls, 8);
	assert_int_equal(world->client->counters.long_replies, 4);
	assert_int_equal(world->server->counters.long_replies, 4);
	world_free(world);
}

static void
a_long_call_carries_its_items(void **state)
{
	struct world *world = world_new(NULL);

	(void)state;
	for (uint32_t length = 5000; length < 5008; length++) {
		struct shape shape = {
			.stream = 6000, .item = length, .item_offset = 3000, .reply = 24, .reply_max = 24
		};

		run(world, length, &shape);
	}
	assert_int_equal(world->client->counters.long_calls, 8);
	assert_int_equal(world->client->counters.read_chunks, 0);
	world_free(world);
}

static void
a_result_and_a_large_rest_share_a_reply_chunk(void **state)
{
	struct world *world = world_new(NULL);

	(void)state;
	for (uint32_t length = 8000; length < 8004; length++) {
		struct shape shape = { .stream = 64,
			.reply = 6000,
			.result = length,
			.result_offset = 48,
			.reply_max = 6000,
			.sink = 8192 };

		run(world, length, &shape);
	}
	assert_int_equal(world->client->counters.long_replies, 4);
	assert_int_equal(world->client->counters.write_chunks, 0);
	world_free(world);
}

static void
several_items_in_one_call(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call = call_new(world, 7, 100);
	struct rpcrdma_message sent, got;
	struct rr_exchange *exchange;

	(void)state;
	call_add_item(world, call, 20, 301);
	call_add_item(world, call, 20, 5002);
	call_add_item(world, call, 60, 2);
	call_add_item(world, call, 100, 800);
	call_start(world, call);
	exchange = world_one_call(world);
	sent = flatten(world, &call->transaction.call, NULL);
	got = flatten(world, &exchange->call, NULL);
	assert_same_message(&got, &sent);
	assert_int_equal(exchange->call.item_count, 1);
	assert_int_equal(exchange->call.items[0].offset, 20 + 304);
	answer_small(world, exchange);
	world_until(world, call->done);
	world_free(world);
}

/* RFC 8166, 3.3.3: "Receiver implementations MUST support inline thresholds of 1024 bytes". */
static void
thresholds_of_1024_are_kept(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;

	(void)state;
	config.inline_send = config.inline_receive = 1024;
	world = world_new(&config);
	for (uint32_t length = 992; length <= 1000; length += 4) {
		struct shape shape = { .stream = length, .reply = length, .reply_max = length };

		run(world, length, &shape);
	}
	assert_int_equal(world->client->counters.long_calls, 1);
	assert_int_equal(world->client->counters.long_replies, 1);
	world_free(world);
}

static void
many_calls_at_a_time_and_their_replies_in_any_order(void **state)
{
	struct world *world = world_new(NULL);
	struct call *calls[50];

	(void)state;
	for (uint32_t i = 0; i < 50; i++) {
		calls[i] = call_begin(world, i + 1, 40 + i * 4);
	}
	world_until(world, world->call_count == 1);
	world_settle(world);
	assert_int_equal(world->call_count, 1); /* only one call until the first reply */
	answer_small(world, world_next_call(world));
	world_until(world, world->call_count == 49);
	while (world->call_count > 0) {
		uint32_t last = --world->call_count;

		answer_small(world, world->calls[last]);
	}
	for (uint32_t i = 0; i < 50; i++)
		world_until(world, calls[i]->done && calls[i]->error == 0);
	assert_int_equal(world->sent, 50);
	world_free(world);
}

static void
what_was_negotiated_is_told(void **state)
{
	struct world *world = world_new(NULL);
	struct rpcrdma_negotiated client, server;
	struct call *call = call_new(world, 1, 40);

	(void)state;
	world->answer = answer_small;
	call_start(world, call);
	world_until(world, call->done);
	rr_carrier_negotiated(world->client, &client);
	rr_carrier_negotiated(world->server, &server);
	assert_int_equal(client.version, 1);
	assert_true(client.private_data && server.private_data);
	assert_int_equal(client.inline_call, 4096);
	assert_int_equal(client.inline_reply, 4096);
	assert_int_equal(client.credits_asked, 64);
	assert_int_equal(client.credits_granted, 64);
	assert_int_equal(server.credits_granted, 64);
	assert_int_equal(client.remote_invalidation, server.remote_invalidation);
	world_free(world);
}

int
suite_pair(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_A6_small_messages_go_inline),
		cmocka_unit_test(row_B5_all_lengths_of_arguments_arrive),
		cmocka_unit_test(row_B5_all_lengths_of_results_arrive),
		cmocka_unit_test(row_A14_long_calls_and_long_replies_arrive),
		cmocka_unit_test(a_long_call_carries_its_items),
		cmocka_unit_test(a_result_and_a_large_rest_share_a_reply_chunk),
		cmocka_unit_test(several_items_in_one_call),
		cmocka_unit_test(thresholds_of_1024_are_kept),
		cmocka_unit_test(many_calls_at_a_time_and_their_replies_in_any_order),
		cmocka_unit_test(what_was_negotiated_is_told),
	};

	return cmocka_run_group_tests_name("pair", tests, NULL, NULL);
}
