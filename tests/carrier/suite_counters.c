/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <string.h>

#include "raw.h"
#include "wire/rpc.h"

/* What a connection counts, and what it logs for people. */

static void
run(struct world *world, struct call *call)
{
	call_start(world, call);
	call_answered(call);
}

static void
row_A3_each_message_that_is_not_inline_has_its_reason(void **state)
{
	struct world *world = world_new(NULL);
	const struct rpcrdma_counters *counters = &world->client->counters;
	struct call *call;

	(void)state;
	world->answer = answer_small;
	run(world, call_new(world, 1, 40));
	for (uint32_t i = 0; i < RR_COUNTERS; i++)
		assert_true(strncmp(rr_counter_names[i], "why_", 4) || rr_counters_get(counters, i) == 0);
	call = call_new(world, 2, 40);
	call_add_item(world, call, 40, 10000);
	run(world, call);
	assert_int_equal(counters->why_arguments, 1);
	run(world, call_new(world, 3, 5000));
	assert_int_equal(counters->why_stream, 1);
	call = call_new(world, 4, 5000);
	call_add_item(world, call, 40, 10000);
	run(world, call);
	assert_int_equal(counters->why_rest, 1);
	call = call_new(world, 5, 40);
	call_add_sink(world, call, 10000);
	run(world, call);
	assert_int_equal(counters->why_sinks, 1);
	call = call_new(world, 6, 40);
	call->transaction.reply_max = 5000;
	run(world, call);
	assert_int_equal(counters->why_reply, 1);
	call = call_new(world, 7, 40);
	call_add_sink(world, call, 10000);
	call_add_sink(world, call, 10000);
	run(world, call);
	assert_int_equal(counters->why_many, 1);
	assert_int_equal(counters->why_arguments + counters->why_stream + counters->why_rest +
				 counters->why_sinks + counters->why_reply + counters->why_many,
		6);
	world_free(world);
}

static void
answer_with_an_item(struct world *world, struct rr_exchange *exchange)
{
	struct reply *reply = reply_new(world, exchange->xid, 40);

	reply_add_item(world, reply, 36, 10000);
	reply_send(world, exchange, reply);
}

static void
rdma_operations_are_counted_where_they_are_posted(void **state)
{
	struct world *world = world_new(NULL);
	const struct rpcrdma_counters *client, *server;
	struct call *call;

	(void)state;
	world->answer = answer_with_an_item;
	call = call_new(world, 1, 40);
	call_add_item(world, call, 40, 10000);
	call_add_sink(world, call, 10000);
	run(world, call);
	client = &world->client->counters;
	server = &world->server->counters;
	assert_int_equal(server->rdma_reads, 1);
	assert_int_equal(server->rdma_writes, 1);
	assert_int_equal(client->rdma_reads + client->rdma_writes, 0);
	world_free(world);
}

static void
the_time_without_a_credit_is_counted(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rpcrdma_negotiated negotiated;
	struct call *calls[3];
	struct world *world;

	(void)state;
	config.credits = 1;
	world = world_new(&config);
	for (uint32_t i = 0; i < 3; i++) {
		calls[i] = call_begin(world, i, 40);
	}
	world_until(world, world->call_count == 1);
	rr_carrier_negotiated(world->client, &negotiated);
	assert_int_equal(negotiated.credits_used, 1);
	for (uint32_t i = 0; i < 3; i++) {
		world->stage.now += 5 * RR_SECOND;
		answer_small(world, world_next_call(world));
		world_until(world, calls[i]->done && world->arrived == (i < 2 ? i + 2 : 3));
	}
	assert_int_equal(world->client->counters.credit_waits, 1);
	assert_int_equal(world->client->counters.credit_wait_ns, 10 * RR_SECOND);
	assert_int_equal(world->client->counters.memory_waits, 0);
	rr_carrier_negotiated(world->client, &negotiated);
	assert_int_equal(negotiated.credits_used, 0);
	assert_int_equal(negotiated.credits_min, 1);
	assert_int_equal(negotiated.credits_max, 1);
	rr_carrier_negotiated(world->server, &negotiated);
	assert_int_equal(negotiated.credits_min, 1);
	assert_int_equal(negotiated.credits_max, 1);
	world_free(world);
}

static void
the_time_without_memory_is_counted(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call = call_new(world, 1, 40);
	size_t all = world->stage.engine->config.memory_max / 2;
	void *hostage = rr_pool_get(world->stage.engine->pool, NULL, all);

	(void)state;
	assert_non_null(hostage);
	world->answer = answer_small;
	call->transaction.reply_max = 10000;
	call_start(world, call);
	world_settle(world);
	assert_false(call->done);
	world->stage.now += 3 * RR_SECOND;
	rr_pool_put(world->stage.engine->pool, hostage);
	world_until(world, call->done);
	assert_int_equal(world->client->counters.memory_waits, 1);
	assert_int_equal(world->client->counters.memory_wait_ns, 3 * RR_SECOND);
	assert_int_equal(world->client->counters.credit_waits, 0);
	world_free(world);
}

static void
errors_are_counted_by_kind(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;

	(void)state;
	SEND(raw, 1, 2, 8, RR_RDMA_MSG, 0, 0, 0, 1, RR_CALL, 0);
	raw_next(raw);
	SEND(raw, 2, 1, 8, RR_RDMA_MSGP, 0, 0, 0, 2, RR_CALL, 0);
	raw_next(raw);
	assert_int_equal(world->server->counters.errors_sent, 2);
	assert_int_equal(world->server->counters.err_vers_sent, 1);
	raw_end(raw);
}

static struct {
	uint32_t lines, sent, received;
} logged;

static void
count_lines(void *ctx, enum rr_log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	logged.lines++;
	logged.sent += strstr(line, "ms ago: sent XID 0x00000007 RDMA_MSG,") != NULL;
	logged.received += strstr(line, "ms ago: received XID 0x00000007 RDMA_MSG,") != NULL;
}

static void
errors_do_not_fill_the_log(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;

	(void)state;
	world->stage.env.log = count_lines;
	world->stage.env.log_level = RR_LOG_WARNING;
	memset(&logged, 0, sizeof(logged));
	for (uint32_t xid = 1; xid <= 1000; xid++) {
		SEND(raw, xid, 7, 8, RR_RDMA_MSG, 0, 0, 0, xid, RR_CALL, 0);
		raw_next(raw);
	}
	world->stage.env.log_level = RR_LOG_ERROR;
	assert_int_equal(world->server->counters.errors_sent, 1000);
	assert_int_equal(logged.lines, 10); /* the 1st, 2nd, 4th to 512th */
	raw_end(raw);
}

/* Handles that were not offered are invalidated: the connection ends, and its last headers are logged. */
static void
a_protocol_error_tells_the_last_headers(void **state)
{
	struct raw *raw = raw_responder(NULL);
	struct world *world = raw->world;
	struct call *call = call_new(world, 7, 40), *other = call_new(world, 8, 40);
	struct raw_header header;

	(void)state;
	call_add_sink(world, other, 10000);
	call_start(world, call);
	raw_next(raw);
	SEND(raw, 7, 1, 8, RR_RDMA_MSG, 0, 0, 0, 7, RR_REPLY, 7);
	world_until(world, call->done);
	call_start(world, other);
	raw_parse(raw_next(raw), &header);
	world->stage.env.log = count_lines;
	world->stage.env.log_level = RR_LOG_INFO;
	memset(&logged, 0, sizeof(logged));
	raw_send_words(
		raw, WORDS(99, 1, 8, RR_RDMA_MSG, 0, 0, 0, 99, RR_REPLY, 7), header.segments[0].handle);
	world_until(world, world->client_closed);
	world->stage.env.log_level = RR_LOG_ERROR;
	assert_int_equal(world->client_error, -RPCRDMA_ERR_PEER);
	assert_int_equal(logged.sent, 1);
	assert_int_equal(logged.received, 1);
	assert_in_range(logged.lines, 6, 8); /* the error, a heading, four messages */
	raw_end_client(raw);
}

int
suite_counters(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_A3_each_message_that_is_not_inline_has_its_reason),
		cmocka_unit_test(rdma_operations_are_counted_where_they_are_posted),
		cmocka_unit_test(the_time_without_a_credit_is_counted),
		cmocka_unit_test(the_time_without_memory_is_counted),
		cmocka_unit_test(errors_are_counted_by_kind),
		cmocka_unit_test(a_protocol_error_tells_the_last_headers),
		cmocka_unit_test(errors_do_not_fill_the_log),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
