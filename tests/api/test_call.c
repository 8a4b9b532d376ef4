/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls: asynchronous and blocking, their results, their errors, their end. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

struct outcome {
	uint32_t times;
	int error;
	uint32_t placed, pulled;
	struct rpcrdma_client *to_free;
	struct rpcrdma_client *to_call;
	bool cancel;
	int nested;
};

static void
done(void *ctx, struct rpcrdma_call *call, int error)
{
	struct outcome *outcome = ctx;

	outcome->times++;
	outcome->error = error;
	outcome->placed = rpcrdma_call_placed(call);
	outcome->pulled = rpcrdma_call_pulled(call);
	if (outcome->cancel)
		rpcrdma_call_cancel(call);
	if (outcome->to_call)
		outcome->nested = world_call(outcome->to_call, CALC_NULL, NULL, NULL, NULL, 0);
	rpcrdma_client_free(outcome->to_free);
}

static struct rpcrdma_call_config
sum_config(struct outcome *outcome, const numbers *args, uint32_t *result)
{
	struct rpcrdma_call_config config = world_call_config(CALC_SUM, args, result);

	config.done = done;
	config.ctx = outcome;
	return config;
}

static uint32_t three[] = { 1, 10, 100 };
static const numbers summands = { 3, three };

static void
a_call_is_done_from_the_loop_and_once(void **state)
{
	struct world *world = *state;
	struct outcome outcome = { 0 };
	uint32_t sum = 0;
	struct rpcrdma_call_config config = sum_config(&outcome, &summands, &sum);

	assert_int_equal(rpcrdma_client_call(world->client, &config, NULL), 0);
	assert_int_equal(outcome.times, 0);
	world_until(world, outcome.times > 0);
	assert_int_equal(outcome.error, 0);
	assert_int_equal(sum, 111);
	assert_int_equal(outcome.placed, 0);
	assert_int_equal(outcome.pulled, 0);
	assert_int_equal(outcome.times, 1);
}

/* The codec cannot encode an array that is not there. */
static void
arguments_that_count_what_is_not_there_are_an_error(void **state)
{
	struct world *world = *state;
	const numbers missing = { 3, NULL };
	uint32_t sum = 0;

	assert_int_equal(world_call(world->client, CALC_SUM, &missing, &sum, NULL, 0), -RPCRDMA_ERR_INVAL);
	assert_int_equal(world_call(world->client, CALC_SUM, &summands, &sum, NULL, 0), 0);
	assert_int_equal(sum, 111);
}

static void
many_calls_are_under_way_together(void **state)
{
	enum { COUNT = 100 };
	static const uint32_t expected[] = { 0, 1, 11, 111 };
	struct world *world = *state;
	struct outcome outcome = { 0 };
	uint32_t sums[COUNT];
	numbers args[COUNT];

	for (int i = 0; i < COUNT; i++) {
		struct rpcrdma_call_config config = sum_config(&outcome, &args[i], &sums[i]);

		args[i] = (numbers){ (uint32_t)i % 4, three };
		assert_int_equal(rpcrdma_client_call(world->client, &config, NULL), 0);
	}
	world_until(world, outcome.times == COUNT);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(sums[i], expected[i % 4]);
}

static void
a_blocking_call_returns_when_it_is_done(void **state)
{
	struct world *world = *state;
	uint32_t sum = 0;

	assert_int_equal(world_call(world->client, CALC_SUM, &summands, &sum, NULL, 0), 0);
	assert_int_equal(sum, 111);
	assert_int_equal(world_call(world->client, CALC_NULL, NULL, NULL, NULL, 0), 0);
}

static void
a_blocking_call_tells_done_too(void **state)
{
	struct world *world = *state;
	struct outcome outcome = { 0 };
	uint32_t sum = 0;
	struct rpcrdma_call_config config = sum_config(&outcome, &summands, &sum);

	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), 0);
	assert_int_equal(outcome.times, 1);
}

static void
a_blocking_call_inside_a_callback_is_refused(void **state)
{
	struct world *world = *state;
	struct outcome outcome = { .to_call = world->client };
	uint32_t sum = 0;
	struct rpcrdma_call_config config = sum_config(&outcome, &summands, &sum);

	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), 0);
	assert_int_equal(outcome.nested, -RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(rpcrdma_client_error(world->client), "inside a callback"));
}

static void
arrays_of_a_result_lie_in_the_callers_arena(void **state)
{
	struct world *world = *state;
	struct outcome outcome = { 0 };
	uint32_t count = 5, memory[16];
	numbers result;
	struct rpcrdma_call_config config = sum_config(&outcome, NULL, NULL);

	config.procedure = CALC_COUNT;
	config.args = &count;
	config.result = &result;
	config.arena = memory;
	config.arena_size = sizeof(memory);
	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), 0);
	assert_int_equal(result.count, 5);
	assert_in_range((uintptr_t)result.values, (uintptr_t)memory, (uintptr_t)(memory + 11));
	assert_int_equal(result.values[4], 4);
	config.arena_size = 8;
	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), -RPCRDMA_ERR_XDR);
	assert_non_null(strstr(rpcrdma_client_error(world->client), "a larger arena than 8 octets"));
	config.arena = NULL;
	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), -RPCRDMA_ERR_XDR);
	assert_non_null(strstr(rpcrdma_client_error(world->client), "the call has no arena"));
}

static void
move_blob(struct rpcrdma_client *client, struct outcome *outcome, blob *result, uint8_t *sink)
{
	enum { LENGTH = BLOB_MAX };
	uint8_t *data = malloc(LENGTH), *keep = malloc(LENGTH + 4096);
	const struct rpcrdma_sink sinks[] = { { sink, LENGTH } };
	const blob args = { 7, { data, LENGTH } };
	struct rpcrdma_call_config config = sum_config(outcome, NULL, NULL);

	for (uint32_t i = 0; i < LENGTH; i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	config.procedure = CALC_BLOB;
	config.args = &args;
	config.result = result;
	config.sinks = sinks;
	config.sink_count = 1;
	config.keep = keep;
	config.keep_size = LENGTH + 4096;
	assert_int_equal(rpcrdma_client_call_and_wait(client, &config), 0);
	assert_int_equal(result->number, 8);
	assert_int_equal(result->data.length, LENGTH);
	for (uint32_t i = 0; i < LENGTH; i++)
		data[i]++;
	assert_memory_equal(result->data.data, data, LENGTH);
	free(data);
	free(keep);
}

static void
marked_data_goes_by_rdma_into_the_sink(void **state)
{
	struct world *world = *state;
	struct rpcrdma_counters counters = { .size = sizeof(counters) };
	struct outcome outcome = { 0 };
	uint8_t *sink = malloc(BLOB_MAX);
	blob result;

	move_blob(world->client, &outcome, &result, sink);
	assert_ptr_equal(result.data.data, sink);
	assert_int_equal(outcome.placed, BLOB_MAX);
	assert_int_equal(outcome.pulled, BLOB_MAX);
	assert_int_equal(rpcrdma_client_counters(world->client, &counters), 0);
	assert_int_equal(counters.calls, 1);
	assert_int_equal(counters.octets_rdma_write, BLOB_MAX);
	assert_int_equal(counters.octets_rdma_read, BLOB_MAX);
	free(sink);
}

static void
marked_data_over_tcp_is_kept(void **state)
{
	struct world *world = *state;
	struct rpcrdma_client *client =
		world_connect(world, RPCRDMA_TRANSPORT_TCP, (struct rpcrdma_client_config){ 0 });
	struct outcome outcome = { 0 };
	uint8_t *sink = malloc(BLOB_MAX);
	blob result;

	move_blob(client, &outcome, &result, sink);
	assert_int_equal(outcome.placed, 0);
	assert_int_equal(outcome.pulled, 0);
	free(sink);
	rpcrdma_client_free(client);
}

static void
a_reply_that_does_not_fit_keep_is_an_error(void **state)
{
	struct world *world = *state;
	uint8_t keep[16];
	uint32_t sum;

	assert_int_equal(
		world_call(world->client, CALC_SUM, &summands, &sum, keep, sizeof(keep)), -RPCRDMA_ERR_LIMIT);
	assert_non_null(strstr(rpcrdma_client_error(world->client), "CALC_SUM"));
}

static void
a_cancelled_call_is_never_done(void **state)
{
	struct world *world = *state;
	struct outcome outcome = { 0 };
	struct rpcrdma_call *call = NULL;
	uint32_t sum = 0;
	struct rpcrdma_call_config config = sum_config(&outcome, &summands, &sum);

	for (int turns = 0; turns < 3; turns++) {
		assert_int_equal(rpcrdma_client_call(world->client, &config, &call), 0);
		for (int i = 0; i < turns && outcome.times == 0; i++)
			assert_true(rpcrdma_engine_turn(world->engine, 0) >= 0);
		assert_int_equal(outcome.times, 0);
		rpcrdma_call_cancel(call);
		assert_int_equal(world_call(world->client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	}
	assert_int_equal(outcome.times, 0);
}

static void
cancelling_inside_done_does_nothing(void **state)
{
	struct world *world = *state;
	struct outcome outcome = { .cancel = true };
	uint32_t sum = 0;
	struct rpcrdma_call_config config = sum_config(&outcome, &summands, &sum);

	for (int i = 0; i < 2; i++)
		assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), 0);
	assert_int_equal(outcome.times, 2);
}

static void
done_may_free_the_client_with_calls_under_way(void **state)
{
	struct world *world = *state;
	struct outcome first = { .to_free = world->client }, others = { 0 };
	uint32_t sums[3];
	struct rpcrdma_call_config config = sum_config(&first, &summands, &sums[0]);

	assert_int_equal(rpcrdma_client_call(world->client, &config, NULL), 0);
	config.ctx = &others;
	for (int i = 1; i < 3; i++) {
		config.result = &sums[i];
		assert_int_equal(rpcrdma_client_call(world->client, &config, NULL), 0);
	}
	world->client = NULL;
	world_until(world, first.times > 0);
	while (rpcrdma_engine_turn(world->engine, 0) > 0)
		;
	assert_int_equal(others.times, 0);
}

static void
an_unanswered_call_times_out(void **state)
{
	struct world *world = *state;
	struct outcome outcome = { 0 };
	uint32_t number = 1, result;
	struct rpcrdma_call_config config = sum_config(&outcome, NULL, &result);

	world->answer = RPCRDMA_HANDLE_DROP;
	config.procedure = CALC_ANSWER;
	config.args = &number;
	config.timeout = 1000000;
	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), -RPCRDMA_ERR_TIMEDOUT);
	assert_non_null(strstr(rpcrdma_client_error(world->client), "CALC_ANSWER"));
}

static void
what_cannot_be_called_is_refused_at_once(void **state)
{
	struct world *world = *state;
	struct outcome outcome = { 0 };
	uint32_t sum;
	const struct rpcrdma_call_config good = sum_config(&outcome, &summands, &sum);
	struct rpcrdma_call_config bad[7];

	for (int i = 0; i < 7; i++)
		bad[i] = good;
	bad[0].program = NULL;
	bad[1].procedure = 7;
	bad[2].args = NULL;
	bad[3].result = NULL;
	bad[4].sink_count = 1;
	bad[5].sink_count = RPCRDMA_SINKS_MAX + 1;
	bad[6].size = 0;
	for (int i = 0; i < 7; i++) {
		assert_int_equal(rpcrdma_client_call(world->client, &bad[i], NULL), -RPCRDMA_ERR_INVAL);
		assert_true(strlen(rpcrdma_client_error(world->client)) > 10);
		assert_int_equal(rpcrdma_client_call_and_wait(world->client, &bad[i]), -RPCRDMA_ERR_INVAL);
	}
	assert_int_equal(world_call(world->client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	assert_int_equal(outcome.times, 0);
}

/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.3.1: "The requester knows the minimum and maximum size of the
 * reply is larger than the inline threshold. The requester provides a Reply chunk." */
static void
the_least_size_of_a_reply_decides_on_a_reply_chunk(void **state)
{
	struct world *world = *state;
	struct rpcrdma_counters counters = { .size = sizeof(counters) };
	uint32_t number = 7;
	struct rpcrdma_call_config config = world_call_config(CALC_ANSWER, &number, &number);

	world->answer = RPCRDMA_HANDLED;
	config.reply_max = 20000;
	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), 0);
	assert_int_equal(rpcrdma_client_counters(world->client, &counters), 0);
	assert_int_equal(counters.replies_left, 1);
	assert_int_equal(counters.why_reply, 0);
	config.reply_min = 16000;
	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &config), 0);
	assert_int_equal(rpcrdma_client_counters(world->client, &counters), 0);
	assert_int_equal(counters.replies_left, 1);
	assert_int_equal(counters.why_reply, 1);
}

static void
done_once(void *ctx, struct rpcrdma_call *call, int error)
{
	(void)call;
	assert_int_equal(error, 0);
	++*(int *)ctx;
}

static void
a_procedure_has_a_function_that_calls_it(void **state)
{
	struct world *world = *state;
	struct rpcrdma_call_config config = { .size = sizeof(config), .done = done_once };
	uint32_t values[] = { 1, 2, 3 }, sum = 0;
	const numbers mine = { 3, values };
	int (*const typed)(struct rpcrdma_client *, const numbers *, uint32_t *,
		const struct rpcrdma_call_config *) = CALC_V1_call_CALC_SUM;
	struct {
		int times;
	} done = { 0 };

	assert_int_equal(typed(world->client, &mine, &sum, NULL), 0);
	assert_int_equal(sum, 6);
	assert_int_equal(CALC_V1_call_CALC_NULL(world->client, NULL), 0);
	assert_int_equal(CALC_V1_call_CALC_UNHANDLED(world->client, NULL), -RPCRDMA_ERR_PROC_UNAVAIL);
	/* With a done() it is started only. What config says of another call does not count. */
	config.ctx = &done.times;
	config.procedure = CALC_UNHANDLED;
	assert_int_equal(CALC_V1_call_CALC_SUM(world->client, &mine, &sum, &config), 0);
	assert_int_equal(done.times, 0);
	world_until(world, done.times == 1);
	config.size = 1;
	assert_int_equal(CALC_V1_call_CALC_SUM(world->client, &mine, &sum, &config), -RPCRDMA_ERR_INVAL);
	assert_int_equal(CALC_V1_call_CALC_SUM(NULL, &mine, &sum, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(CALC_V1_call_CALC_SUM(world->client, NULL, &sum, NULL), -RPCRDMA_ERR_INVAL);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(a_call_is_done_from_the_loop_and_once),
		T(arguments_that_count_what_is_not_there_are_an_error),
		T(many_calls_are_under_way_together),
		T(a_blocking_call_returns_when_it_is_done),
		T(a_blocking_call_tells_done_too),
		T(a_blocking_call_inside_a_callback_is_refused),
		T(arrays_of_a_result_lie_in_the_callers_arena),
		T(marked_data_goes_by_rdma_into_the_sink),
		T(marked_data_over_tcp_is_kept),
		T(the_least_size_of_a_reply_decides_on_a_reply_chunk),
		T(a_reply_that_does_not_fit_keep_is_an_error),
		T(a_cancelled_call_is_never_done),
		T(cancelling_inside_done_does_nothing),
		T(done_may_free_the_client_with_calls_under_way),
		T(an_unanswered_call_times_out),
		T(what_cannot_be_called_is_refused_at_once),
		T(a_procedure_has_a_function_that_calls_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
