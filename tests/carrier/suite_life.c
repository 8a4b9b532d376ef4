/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "raw.h"
#include "wire/rpc.h"

/* Connections that begin and end, in good order and otherwise. */

static void
calls_before_the_connection_is_up_wait_for_it(void **state)
{
	struct world *world = world_listening(NULL);
	struct call *call;

	(void)state;
	world->answer = answer_small;
	world_connect(world);
	call = call_begin(world, 1, 40);
	call_answered(call);
	world_free(world);
}

static void
where_nobody_listens_calls_fail_and_closed_says_why(void **state)
{
	struct world *world = world_listening(NULL);
	struct call *call;

	(void)state;
	rr_acceptor_close(world->acceptor);
	world->acceptor = NULL;
	world_connect(world);
	call = call_begin(world, 1, 40);
	world_until(world, world->client_closed);
	assert_true(call->done);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(world->client_error, -RPCRDMA_ERR_REFUSED);
	assert_non_null(strstr(world->client_text, "127.0.0.1:"));
	/* Later calls fail, too. */
	call = call_begin(world, 2, 40);
	assert_false(call->done);
	call_ended(call, -RPCRDMA_ERR_DISCONNECTED);
	world_free(world);
}

static void
row_B8_a_lost_connection_hands_back_all_transactions(void **state)
{
	struct world *world = world_new(NULL);
	struct call *calls[100];

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		calls[i] = call_new(world, i, i % 3 == 2 ? 6000 : 40);
		if (i % 3 == 0)
			call_add_sink(world, calls[i], 10000);
		if (i % 3 == 1)
			call_add_item(world, calls[i], 40, 10000);
		if (i % 7 == 0)
			calls[i]->transaction.reply_max = 10000;
		call_start(world, calls[i]);
	}
	answer_small(world, world_one_call(world));
	world_until(world, world->call_count == 64);
	world_close_server(world);
	for (uint32_t i = 0; i < 64; i++)
		assert_null(world->calls[i]->carrier);
	world_until(world, world->client_closed);
	assert_int_equal(world->client_error, -RPCRDMA_ERR_DISCONNECTED);
	for (uint32_t i = 1; i < 100; i++) {
		assert_true(calls[i]->done);
		assert_int_equal(calls[i]->error, -RPCRDMA_ERR_DISCONNECTED);
	}
	world_free(world);
}

static void
exchanges_outlive_their_carrier(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call = call_new(world, 1, 40);
	struct rr_exchange *exchange;

	(void)state;
	call_add_item(world, call, 40, 100000);
	call_start(world, call);
	exchange = world_one_call(world);
	world_close_client(world);
	world_until(world, world->server_closed);
	world_close_server(world);
	assert_null(exchange->carrier);
	assert_memory_equal(exchange->call.items[0].data, call->items[0].data, 100000);
	answer_small(world, exchange);
	assert_int_equal(world->sent, 0); /* sent() comes from the loop only */
	world_until(world, world->sent == 1);
	world_free(world);
}

static void
replies_under_way_are_sent_or_told(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call = call_new(world, 1, 40);
	struct reply *reply = reply_new(world, 1, 40);

	(void)state;
	call_add_sink(world, call, 1 << 20);
	call_start(world, call);
	world_until(world, world->call_count == 1);
	reply_add_item(world, reply, 40, 1 << 20);
	reply_send(world, world_next_call(world), reply);
	world_close_server(world);
	assert_int_equal(world->sent, 0);
	world_until(world, world->sent == 1);
	world_free(world);
}

static void
an_engine_that_ends_tells_of_replies_under_way(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call = call_new(world, 1, 40);
	struct reply *reply = reply_new(world, 1, 40);
	uint32_t *sent = &world->sent;

	(void)state;
	call_start(world, call);
	reply_send(world, world_one_call(world), reply);
	rr_carrier_close(world->server);
	rr_carrier_close(world->client);
	rr_acceptor_close(world->acceptor);
	rpcrdma_engine_free(world->stage.engine);
	assert_int_equal(*sent, 1);
	assert_false(call->done); /* the call is forgotten as if it were cancelled */
	world_forget(world);
	free(world);
}

/* ---- Inside callbacks ---- */

static void
done_that_closes(struct rr_transaction *transaction, int error)
{
	struct world *world = transaction->ctx;

	(void)error;
	assert_non_null(world->client);
	world_close_client(world);
}

static void
done_may_close_the_connection(void **state)
{
	for (int lost = 0; lost < 2; lost++) {
		struct world *world = world_new(NULL);

		(void)state;
		for (uint32_t i = 0; i < 5; i++) {
			struct call *call = call_new(world, i, 40);

			call->transaction.done = done_that_closes;
			call->transaction.reply_max = 10000;
			call_start(world, call);
		}
		world_until(world, world->call_count == 1);
		if (lost)
			world_close_server(world);
		else
			answer_small(world, world_next_call(world));
		world_until(world, !world->client);
		world_settle(world);
		assert_false(world->client_closed);
		world_free(world);
	}
}

/* Closes the server's connection before it answers the call: the exchange then has no carrier, and the
 * reply goes nowhere. */
static void
answer_by_closing(struct world *world, struct rr_exchange *exchange)
{
	struct rr_carrier *server = world->server;

	world->server = NULL;
	rr_carrier_close(server);
	assert_null(exchange->carrier);
	answer_small(world, exchange);
}

static void
a_call_may_close_the_connection(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call = call_new(world, 1, 40);

	(void)state;
	world->answer = answer_by_closing;
	call_add_item(world, call, 40, 5000);
	call_start(world, call);
	world_until(world, call->done && world->sent == 1);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	world_free(world);
}

static void
answer_by_dropping(struct world *world, struct rr_exchange *exchange)
{
	(void)world;
	rr_exchange_drop(exchange);
}

static void
more_calls_than_credits_can_be_dropped(void **state)
{
	struct world *world = world_new(NULL);
	struct raw *raw = raw_new(world);

	(void)state;
	world->answer = answer_by_dropping;
	raw_connect(raw);
	for (uint32_t i = 0; i < 200; i++) {
		SEND(raw, i, 1, 64, RR_RDMA_MSG, 0, 0, 0, i, RR_CALL, 2);
		if (i % 50 == 49)
			world_settle(world);
	}
	assert_int_equal(world->arrived, 200);
	assert_false(raw->disconnected);
	raw_end(raw);
}

/* ---- Refusals ---- */

static void
calls_that_are_wrong_are_refused(void **state)
{
	struct world *world = world_new(NULL);
	struct call *calls[4];

	(void)state;
	world->answer = answer_small;
	calls[0] = call_new(world, 1, 40);
	calls[0]->transaction.xid = 2; /* this is not the XID of the message */
	calls[1] = call_new(world, 3, 4);
	calls[2] = call_new(world, 4, 40);
	call_add_item(world, calls[2], 44, 8); /* the item lies behind the end of the stream */
	calls[3] = call_new(world, 5, 40);
	calls[3]->transaction.reply_max = UINT32_MAX;
	for (int i = 0; i < 4; i++)
		call_start(world, calls[i]);
	for (int i = 0; i < 4; i++) {
		world_until(world, calls[i]->done);
		assert_int_equal(calls[i]->error, i == 3 ? -RPCRDMA_ERR_LIMIT : -RPCRDMA_ERR_INVAL);
	}
	assert_int_equal(world->arrived, 0);
	calls[0] = call_begin(world, 6, 40);
	call_answered(calls[0]);
	world_free(world);
}

static void
an_xid_is_outstanding_once(void **state)
{
	struct world *world = world_new(NULL);
	struct call *warm = call_new(world, 1, 40), *one = call_new(world, 2, 40),
		    *two = call_new(world, 2, 40);

	(void)state;
	call_start(world, warm);
	answer_small(world, world_one_call(world));
	call_start(world, one);
	call_start(world, two);
	world_until(world, two->done && world->call_count == 1);
	assert_int_equal(two->error, -RPCRDMA_ERR_INVAL);
	answer_small(world, world_next_call(world));
	call_answered(one);
	world_free(world);
}

static void
connections_above_the_bound_are_declined(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;
	struct rr_carrier *first;
	struct rr_exchange *exchange;

	(void)state;
	config.connection_max = 1;
	world = world_new(&config);
	first = world->client;
	/* The connection is not cut off to make room: a call is under way on it. */
	call_begin(world, 1, 40);
	exchange = world_one_call(world);
	world_connect(world);
	world_until(world, world->client_closed);
	assert_int_equal(world->client_error, -RPCRDMA_ERR_REJECTED);
	assert_false(world->server_closed);
	answer_small(world, exchange);
	world_settle(world);
	rr_carrier_close(first);
	world_until(world, world->server_closed);
	world_close_server(world);
	rr_carrier_close(world->client);
	world_connect(world);
	world_until(world, world->client_connected);
	world_free(world);
}

static void
configurations_that_make_no_sense_are_refused(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} rows[] = {
		{ offsetof(struct rr_engine_config, inline_send), 0 },
		{ offsetof(struct rr_engine_config, inline_send), 1025 },
		{ offsetof(struct rr_engine_config, inline_receive), 263168 },
		{ offsetof(struct rr_engine_config, credits), 0 },
		{ offsetof(struct rr_engine_config, credits), 20000 },
		{ offsetof(struct rr_engine_config, message_max), 100 },
		{ offsetof(struct rr_engine_config, segment_max), 0 },
		{ offsetof(struct rr_engine_config, chunk_max), 0 },
		{ offsetof(struct rr_engine_config, chunk_max), 1025 },
		{ offsetof(struct rr_engine_config, connection_max), 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rr_engine_config config = rr_engine_config_default;
		struct rpcrdma_engine *engine;

		memcpy((char *)&config + rows[i].offset, &rows[i].value, sizeof(rows[i].value));
		assert_int_equal(
			rr_engine_new_on(&rr_env_system, &config, provider, &engine), -RPCRDMA_ERR_INVAL);
	}
}

/* ---- Memory ---- */

static void
calls_wait_for_a_reply_chunk(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct world *world;
	struct call *calls[6];

	(void)state;
	config.memory_max = 256 << 10;
	world = world_new(&config);
	for (uint32_t i = 0; i < 6; i++) {
		calls[i] = call_new(world, i, 40);
		calls[i]->transaction.reply_max = 16000;
		call_start(world, calls[i]);
	}
	answer_small(world, world_one_call(world));
	world_until(world, world->call_count == 3);
	world_settle(world);
	assert_int_equal(world->call_count, 3); /* there is no memory for more */
	rr_carrier_cancel(world->client, &calls[1]->transaction);
	world_until(world, world->call_count == 4); /* the memory of that call serves the next call */
	for (uint32_t i = 1; i < 6; i++) {
		world_until(world, world->call_count > 0);
		reply_send(
			world, world->calls[0], reply_new(world, world->calls[0]->xid, i == 1 ? 24 : 9000));
		world_next_call(world);
	}
	for (uint32_t i = 2; i < 6; i++)
		call_answered(calls[i]);
	assert_false(calls[1]->done);
	world_free(world);
}

static void
an_echo_needs_no_copy(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call = call_new(world, 1, 40);
	struct rr_exchange *exchange;
	struct reply *reply = reply_new(world, 1, 24);

	(void)state;
	call_add_item(world, call, 40, 70001);
	call_add_sink(world, call, 80000);
	call_start(world, call);
	exchange = world_one_call(world);
	reply->message.items = exchange->call.items;
	reply->message.item_count = 1;
	((struct rpcrdma_item *)(uintptr_t)exchange->call.items)->offset = 24;
	reply_send(world, exchange, reply);
	world_until(world, call->done);
	assert_memory_equal(call->transaction.sinks[0].data, call->items[0].data, 70001);
	world_free(world);
}

/* ---- The late first reply ---- */

static struct rr_fabric_ops counting_ops;
static int (*real_kick)(struct rr_endpoint *endpoint);
static int kicks;

static int
counting_kick(struct rr_endpoint *endpoint)
{
	kicks++;
	return real_kick(endpoint);
}

/* Makes a provider whose kicks are counted. */
static int
make_counting(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	int error = provider(loop, config, fabric);

	if (error)
		return error;
	real_kick = override(*fabric, &counting_ops)->kick;
	counting_ops.kick = counting_kick;
	return 0;
}

static void
a_late_first_reply_is_kicked_twice(void **state)
{
	struct world *world;
	struct call *call;

	(void)state;
	kicks = 0;
	world = world_listening_on(NULL, make_counting);
	world_connect(world);
	world_until(world, world->client_connected && world->server_connected);
	world_pass(world, 10 * RR_SECOND);
	assert_int_equal(kicks, 0); /* no message was sent yet */
	call = call_arrived(world, 1, 40);
	world_pass(world, 29 * RR_MILLISECOND);
	assert_int_equal(kicks, 0);
	world_pass(world, RR_MILLISECOND);
	assert_int_equal(kicks, 1);
	world_pass(world, 900 * RR_MILLISECOND);
	assert_int_equal(kicks, 2);
	world_pass(world, 100 * RR_SECOND);
	assert_int_equal(kicks, 2);
	answer_small(world, world_next_call(world));
	world_until(world, call->done);
	world_free(world);
}

static void
a_reply_in_time_is_not_kicked(void **state)
{
	struct world *world;
	struct call *call;

	(void)state;
	kicks = 0;
	world = world_listening_on(NULL, make_counting);
	world_connect(world);
	call = call_arrived(world, 1, 40);
	answer_small(world, world_next_call(world));
	world_until(world, call->done);
	call_begin(world, 2, 40);
	world_until(world, world->call_count == 1);
	world_pass(world, 10 * RR_SECOND);
	assert_int_equal(kicks, 0);
	world_free(world);
}

int
suite_life(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_before_the_connection_is_up_wait_for_it),
		cmocka_unit_test(where_nobody_listens_calls_fail_and_closed_says_why),
		cmocka_unit_test(row_B8_a_lost_connection_hands_back_all_transactions),
		cmocka_unit_test(exchanges_outlive_their_carrier),
		cmocka_unit_test(replies_under_way_are_sent_or_told),
		cmocka_unit_test(an_engine_that_ends_tells_of_replies_under_way),
		cmocka_unit_test(done_may_close_the_connection),
		cmocka_unit_test(a_call_may_close_the_connection),
		cmocka_unit_test(more_calls_than_credits_can_be_dropped),
		cmocka_unit_test(calls_that_are_wrong_are_refused),
		cmocka_unit_test(an_xid_is_outstanding_once),
		cmocka_unit_test(connections_above_the_bound_are_declined),
		cmocka_unit_test(configurations_that_make_no_sense_are_refused),
		cmocka_unit_test(calls_wait_for_a_reply_chunk),
		cmocka_unit_test(an_echo_needs_no_copy),
		cmocka_unit_test(a_late_first_reply_is_kicked_twice),
		cmocka_unit_test(a_reply_in_time_is_not_kicked),
	};

	return cmocka_run_group_tests_name("life", tests, NULL, NULL);
}
