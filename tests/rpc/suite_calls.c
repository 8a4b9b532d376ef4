/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that succeed. */
#include "suite.h"

#include <string.h>

#include "rpc/client_private.h"

static void
a_null_call_returns(void **state)
{
	struct call *call = call_new(ECHO_NULL);

	assert_int_equal(call_run(*state, call), 0);
	call_free(call);
}

static void
an_echo_brings_back_what_was_sent(void **state)
{
	struct call *call = call_new(ECHO_ECHO);

	call->args.echo = (text){ "seventeen octets!", 17 };
	assert_int_equal(call_run(*state, call), 0);
	assert_int_equal(call->result.echo.length, 17);
	assert_memory_equal(call->result.echo.data, "seventeen octets!", 17);
	call_free(call);
}

static void
both_sides_know_how_long_each_procedure_took(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_ECHO), *later = call_new(ECHO_LATER);
	const struct rpcrdma_latency *latency;

	assert_int_equal(call_run(world, call), 0);
	world->held = 1;
	assert_int_equal(call_run(world, later), -RPCRDMA_ERR_RPC_SYSTEM);
	latency = rr_client_latency(world->client, call->base.program, ECHO_ECHO);
	assert_int_equal(latency->calls, 1);
	assert_int_equal(latency->errors, 0);
	assert_int_equal(latency->buckets[0], 1); /* the clock stands still */
	latency = rr_server_latency(world->server, 1, ECHO_ECHO);
	assert_int_equal(latency->calls, 1);
	latency = rr_client_latency(world->client, call->base.program, ECHO_LATER);
	assert_int_equal(latency->errors, 1);
	latency = rr_server_latency(world->server, 1, ECHO_LATER);
	assert_int_equal(latency->calls, 1);
	assert_int_equal(latency->errors, 1);
	assert_null(rr_server_latency(world->server, 1, call->base.program->procedure_count));
	assert_null(rr_server_latency(world->server, 2, 0));
	world->held = 0;
	call_free(call);
	call_free(later);
}

static void
arrays_come_from_the_arenas_of_both_sides(void **state)
{
	struct call *sum = call_new(ECHO_SUM), *count = call_new(ECHO_COUNT);
	uint32_t values[] = { 1, 2, 39 };

	sum->args.sum = (numbers){ .count = 3, .values = values };
	assert_int_equal(call_run(*state, sum), 0);
	assert_int_equal(sum->result.number, 42);
	count->args.number = 500;
	assert_int_equal(call_run(*state, count), 0);
	assert_int_equal(count->result.count.count, 500);
	assert_int_equal(count->result.count.values[499], 499);
	call_free(sum);
	call_free(count);
}

static void
the_server_sees_the_credential(void **state)
{
	struct world *world = *state;
	struct rr_client_config config;
	struct call *call = call_new(ECHO_ECHO);

	assert_int_equal(call_run(world, call), 0);
	assert_int_equal(world->caller.flavor, RR_AUTH_SYS);
	assert_true(world->caller.named);
	assert_int_equal(world->caller.uid, 1000);
	assert_int_equal(world->caller.gid, 100);
	assert_int_equal(world->caller.group_count, 2);
	assert_int_equal(world->caller.groups[1], 27);
	assert_null(world->caller.principal);
	rr_client_free(world->client);
	world_client_config(world, &config);
	config.auth = &rr_auth_none;
	world->client = world_connect(world, &config);
	call->done = false;
	assert_int_equal(call_run(world, call), 0);
	assert_int_equal(world->caller.flavor, RR_AUTH_NONE);
	assert_false(world->caller.named);
	assert_int_equal(world->caller.uid, 0);
	assert_int_equal(world->caller.group_count, 0);
	call_free(call);
}

/* Lengths around all bounds: padding, small records, staging, inline thresholds, a megabyte. */
static const uint32_t lengths[] = { 0, 1, 2, 3, 4, 5, 900, 1023, 1024, 1025, 3999, 4096, 8187, 8188, 8189,
	8192, 8193, 65535, 65537, (1 << 20) - 1, 1 << 20 };

static void
blobs_of_all_lengths_go_both_ways(void **state)
{
	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct call *call = blob_new(lengths[i], true);

		call_run(*state, call);
		assert_blob(call);
		call_free(call);
	}
}

static void
blobs_come_back_without_a_sink(void **state)
{
	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct call *call = blob_new(lengths[i], false);

		call_run(*state, call);
		assert_blob(call);
		call_free(call);
	}
}

static void
blobs_of_all_lengths_are_fetched(void **state)
{
	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct call *call = fetch_new(lengths[i]);

		call_run(*state, call);
		assert_blob(call);
		call_free(call);
	}
}

static void
large_replies_that_are_not_marked_arrive(void **state)
{
	struct call *call = call_new(ECHO_COUNT);
	static uint8_t arena[65536], keep[65536];

	call->args.number = 12000;
	call->base.arena = rpcrdma_arena(arena, sizeof(arena));
	call->base.keep = keep;
	call->base.keep_size = sizeof(keep);
	assert_int_equal(call_run(*state, call), 0);
	assert_int_equal(call->result.count.count, 12000);
	assert_int_equal(call->result.count.values[11999], 11999);
	call_free(call);
}

/* Runs ECHO_COUNT with that number; reply_max: octets of the result at most. */
static void
count_to(struct world *world, uint32_t number, uint32_t reply_max)
{
	static uint8_t arena[65536], keep[65536];
	struct call *call = call_new(ECHO_COUNT);

	call->args.number = number;
	call->base.reply_max = reply_max;
	call->base.arena = rpcrdma_arena(arena, sizeof(arena));
	call->base.keep = keep;
	call->base.keep_size = sizeof(keep);
	assert_int_equal(call_run(world, call), 0);
	assert_int_equal(call->result.count.count, number);
	for (uint32_t i = 0; i < number; i++)
		assert_int_equal(call->result.count.values[i], i);
	call_free(call);
}

/* A server first writes a result into memory of the size of the result before, which may be too small, too
 * large, or right. */
static void
replies_arrive_whatever_size_the_one_before_had(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 500, 501, 506, 507, 3000, 6000, 6000, 6001, 5999, 12000,
		12000, 1, 12000, 6000, 600, 0, 0, 5000 };
	enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
	struct world *world = *state;
	size_t before;

	count_to(world, 1, 50000);
	before = world_memory(world);
	for (uint32_t i = 0; i < COUNT; i++)
		for (uint32_t j = 0; j < COUNT; j++) {
			count_to(world, sizes[i], 50000);
			count_to(world, sizes[j], 50000);
		}
	world_settle(world);
	assert_int_equal(world_memory(world), before);
}

/* In version 2 the responder chooses how a reply travels that may be small. If the last reply of the
 * procedure took most of its maximum, the client offers a Reply chunk for the next reply, which need not be
 * pulled. */
static void
a_large_reply_has_the_next_one_offered_a_reply_chunk(void **state)
{
	static const uint32_t provided[] = { 1, 1, 1, 1, 2 }, in_chunk[] = { 0, 1, 1, 1, 1 };
	static const uint32_t sizes[] = { 3000, 3000, 10, 10, 3000 };
	struct rpcrdma_counters counters;
	struct world *world = *state;

	if (!world_provider)
		return;
	world_warm_up(world);
	for (int i = 0; i < 5; i++) {
		count_to(world, sizes[i], 12100);
		rr_client_counters(world->client, &counters);
		assert_int_equal(counters.provided_replies, provided[i]);
		assert_int_equal(counters.long_replies, in_chunk[i]);
	}
}

static void
many_calls_are_outstanding(void **state)
{
	enum { CALLS = 256 };
	struct call *calls[CALLS];
	struct rpcrdma_counters client, server;
	struct world *world = *state;

	for (uint32_t i = 0; i < CALLS; i++) {
		calls[i] = i % 4 ? call_new(ECHO_LATER) : blob_new(i * 100, true);
		if (i % 4)
			calls[i]->args.number = i;
		call_start(world, calls[i]);
	}
	for (uint32_t i = 0; i < CALLS; i++) {
		world_until(world, calls[i]->done);
		assert_int_equal(calls[i]->error, 0);
		if (i % 4)
			assert_int_equal(calls[i]->result.number, i);
		else
			assert_blob(calls[i]);
	}
	world_settle(world);
	for (uint32_t i = 0; i < CALLS; i++) {
		assert_int_equal(calls[i]->times, 1);
		call_free(calls[i]);
	}
	rr_client_counters(world->client, &client);
	rr_server_counters(world->server, &server);
	assert_int_equal(client.calls, CALLS);
	assert_int_equal(client.replies, CALLS);
	assert_int_equal(server.calls, CALLS);
	assert_int_equal(server.replies, CALLS);
	assert_int_equal(world_memory(world), 0);
}

static bool
not_yet(void *ctx)
{
	(void)ctx;
	return false;
}

static bool
at_once(void *ctx)
{
	(void)ctx;
	return true;
}

static void
a_blocking_call_runs_the_loop(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_LATER);

	call->args.number = 7;
	assert_int_equal(rr_client_wait_connected(world->client, not_yet, NULL), 0);
	assert_int_equal(rr_client_call_and_wait(world->client, &call->base, not_yet, NULL), 0);
	assert_int_equal(call->result.number, 7);
	call->base.proc = ECHO_FAIL;
	call->args.fail = OUTCOME_DROP;
	assert_int_equal(
		rr_client_call_and_wait(world->client, &call->base, at_once, NULL), -RPCRDMA_ERR_CANCELLED);
	call_free(call);
}

static void
what_was_negotiated_can_be_asked(void **state)
{
	struct world *world = *state;
	struct rpcrdma_negotiated negotiated;

	assert_int_equal(rr_client_wait_connected(world->client, NULL, NULL), 0);
	rr_client_negotiated(world->client, &negotiated);
	assert_int_equal(negotiated.version, world_provider ? 2 : 0);
	assert_non_null(negotiated.fabric);
	world_settle(world);
	assert_int_equal(rr_server_connections(world->server), 1);
}

/* Calls that do not fit the usual buffer find one that a call before them used. */
static void
large_arguments_need_no_new_buffer_each_time(void **state)
{
	struct world *world = *state;
	uint32_t values[1100] = { 42 }, buffers = 0;

	for (uint32_t i = 0; i < 40; i++) {
		struct call *call = call_new(i % 3 ? ECHO_SUM : ECHO_NULL);

		if (i % 3)
			call->args.sum = (numbers){ .count = 1100, .values = values };
		assert_int_equal(call_run(world, call), 0);
		assert_int_equal(call->result.number, i % 3 ? 42 : 0);
		call_free(call);
	}
	rr_list_for_each (link, &world->client->buffers)
		buffers++;
	assert_in_range(buffers, 1, 2);
}

int
suite_calls(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(a_null_call_returns),
		suite_test(an_echo_brings_back_what_was_sent),
		suite_test(both_sides_know_how_long_each_procedure_took),
		suite_test(arrays_come_from_the_arenas_of_both_sides),
		suite_test(the_server_sees_the_credential),
		suite_test(blobs_of_all_lengths_go_both_ways),
		suite_test(blobs_of_all_lengths_are_fetched),
		suite_test(blobs_come_back_without_a_sink),
		suite_test(large_replies_that_are_not_marked_arrive),
		suite_test(replies_arrive_whatever_size_the_one_before_had),
		suite_test(a_large_reply_has_the_next_one_offered_a_reply_chunk),
		suite_test(large_arguments_need_no_new_buffer_each_time),
		suite_test(many_calls_are_outstanding),
		suite_test(a_blocking_call_runs_the_loop),
		suite_test(what_was_negotiated_can_be_asked),
	};

	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
