/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine: its configuration, and folding it into a loop of the caller's. */
#include "world.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
an_engine_needs_no_config(void **state)
{
	struct rpcrdma_engine *engine = NULL;
	const struct rpcrdma_engine_config config = { .size = sizeof(config) };

	(void)state;
	assert_int_equal(rpcrdma_engine_new(NULL, &engine), 0);
	assert_int_equal(rpcrdma_engine_turn(engine, 0), 0);
	assert_string_equal(rpcrdma_engine_error(engine), "");
	rpcrdma_engine_free(engine);
	assert_int_equal(rpcrdma_engine_new(&config, &engine), 0);
	rpcrdma_engine_free(engine);
	rpcrdma_engine_free(NULL);
}

static void
a_wrong_config_is_refused(void **state)
{
	struct rpcrdma_engine *engine = NULL;
	const struct rpcrdma_engine_config bad[] = {
		{ .size = 0 },
		{ .size = sizeof(bad[0]) - 1 },
		{ .size = sizeof(bad[0]), .inline_send = 1000 },
		{ .size = sizeof(bad[0]), .inline_receive = 262144 + 1024 },
		{ .size = sizeof(bad[0]), .credits = 16385 },
		{ .size = sizeof(bad[0]), .message_max = 1 },
		{ .size = sizeof(bad[0]), .reply_chunks = RPCRDMA_REPLY_CHUNKS_NEVER + 1 },
		{ .size = sizeof(bad[0]), .provided_max = 4097 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(rpcrdma_engine_new(&bad[i], &engine), -RPCRDMA_ERR_INVAL);
	assert_null(engine);
}

static void
a_later_config_is_taken_unless_it_asks_for_more(void **state)
{
	struct rpcrdma_engine *engine = NULL;
	struct {
		struct rpcrdma_engine_config config;
		uint64_t later;
	} config = { .config.size = sizeof(config) };

	(void)state;
	assert_int_equal(rpcrdma_engine_new(&config.config, &engine), 0);
	rpcrdma_engine_free(engine);
	config.later = 1;
	assert_int_equal(rpcrdma_engine_new(&config.config, &engine), -RPCRDMA_ERR_NOTSUP);
}

static void
sum_done(void *ctx, struct rpcrdma_call *call, int error)
{
	(void)call;
	assert_int_equal(error, 0);
	*(bool *)ctx = true;
}

/* Waits as another event loop would, then lets the engine do what is to be done. */
static void
poll_once(struct rpcrdma_engine *engine)
{
	struct pollfd fd = { rpcrdma_engine_fd(engine), POLLIN, 0 };
	int64_t due = rpcrdma_engine_due(engine);

	/* Rounded up to milliseconds; the limit is for a test that fails. */
	due = due < 0 || due > 5000000000 ? 5000 : (due + 999999) / 1000000;
	assert_true(poll(&fd, 1, (int)due) >= 0);
	assert_true(rpcrdma_engine_turn(engine, 0) >= 0);
}

static void
the_descriptor_folds_into_poll(void **state)
{
	struct world *world = *state;
	uint32_t values[] = { 40, 2 }, sum = 0;
	const numbers args = { 2, values };
	bool over = false;
	struct rpcrdma_call_config config = world_call_config(CALC_SUM, &args, &sum);

	config.done = sum_done;
	config.ctx = &over;
	assert_int_equal(rpcrdma_client_call(world->client, &config, NULL), 0);
	assert_int_equal(rpcrdma_engine_due(world->engine), 0);
	for (int i = 0; i < 100 && !over; i++)
		poll_once(world->engine);
	assert_true(over);
	assert_int_equal(sum, 42);
}

/* Whether the file begins as pcapng does, and how large it is. */
static long
capture_size(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint32_t block = 0;
	long size;

	assert_non_null(file);
	assert_int_equal(fread(&block, 4, 1, file), 1);
	assert_int_equal(block, 0x0a0d0d0a);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	fclose(file);
	return size;
}

/* A client on an engine of its own calls once. */
static void
call_from(struct world *world, struct rpcrdma_engine *engine)
{
	const struct rpcrdma_client_config server = { .size = sizeof(server), .port = world->rdma_port };
	uint32_t values[] = { 40, 2 }, sum = 0;
	const numbers args = { 2, values };
	struct rpcrdma_call_config config = world_call_config(CALC_SUM, &args, &sum);
	struct rpcrdma_client *client = NULL;
	bool over = false;

	config.done = sum_done;
	config.ctx = &over;
	assert_int_equal(rpcrdma_client_new(engine, &server, &client), 0);
	assert_int_equal(rpcrdma_client_call(client, &config, NULL), 0);
	for (int i = 0; i < 100000 && !over; i++) {
		assert_true(rpcrdma_engine_turn(engine, 1000000) >= 0);
		assert_true(rpcrdma_engine_turn(world->engine, 1000000) >= 0);
	}
	assert_true(over);
	assert_int_equal(sum, 42);
	rpcrdma_client_free(client);
}

static void
a_capture_and_a_flight_recorder_are_kept(void **state)
{
	char capture[] = "/tmp/rpcrdma-capture-XXXXXX", flight[] = "/tmp/rpcrdma-flight-XXXXXX";
	struct rpcrdma_engine_config config = {
		.size = sizeof(config), .capture = capture, .flight = flight
	};
	struct rpcrdma_engine *engine = NULL;

	close(mkstemp(capture));
	close(mkstemp(flight));
	assert_int_equal(rpcrdma_engine_new(&config, &engine), 0);
	unlink(flight);
	call_from(*state, engine);
	assert_int_equal(access(flight, F_OK), -1); /* nothing went wrong */
	assert_int_equal(rpcrdma_engine_write_flight(engine), 0);
	assert_in_range(capture_size(flight), 500, 10000);
	rpcrdma_engine_free(engine);
	assert_in_range(capture_size(capture), 500, 10000);
	unlink(capture);
	unlink(flight);
}

static void
a_capture_that_cannot_be_is_an_error(void **state)
{
	const struct rpcrdma_engine_config config = { .size = sizeof(config),
		.capture = "/nonexistent/capture" };
	struct rpcrdma_engine *engine = NULL;

	(void)state;
	assert_int_equal(rpcrdma_engine_new(&config, &engine), -RPCRDMA_ERR_SYSTEM);
	assert_null(engine);
	assert_int_equal(rpcrdma_engine_write_flight(NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_engine_new(NULL, &engine), 0);
	assert_int_equal(rpcrdma_engine_write_flight(engine), -RPCRDMA_ERR_INVAL);
	rpcrdma_engine_free(engine);
}

static void *
wake(void *engine)
{
	rpcrdma_engine_wake(engine);
	return NULL;
}

static void
another_thread_ends_the_wait(void **state)
{
	struct rpcrdma_engine *engine = NULL;
	pthread_t thread;

	(void)state;
	assert_int_equal(rpcrdma_engine_new(NULL, &engine), 0);
	assert_int_equal(pthread_create(&thread, NULL, wake, engine), 0);
	assert_int_equal(rpcrdma_engine_turn(engine, -1), 1);
	pthread_join(thread, NULL);
	/* Two before a turn are one. */
	rpcrdma_engine_wake(engine);
	rpcrdma_engine_wake(engine);
	assert_int_equal(rpcrdma_engine_turn(engine, -1), 1);
	assert_int_equal(rpcrdma_engine_turn(engine, 0), 0);
	rpcrdma_engine_free(engine);
}

static void
turn_inside(struct world *world)
{
	struct rpcrdma_client *client;
	const struct rpcrdma_client_config config = { .size = sizeof(config), .port = world->rdma_port };

	assert_int_equal(rpcrdma_client_connect(world->engine, &config, &client), -RPCRDMA_ERR_INVAL);
	world->inside_error = rpcrdma_engine_turn(world->engine, 0);
}

static void
a_turn_inside_a_callback_is_refused(void **state)
{
	struct world *world = *state;
	uint32_t number = 1, result = 0;

	world->inside = turn_inside;
	assert_int_equal(world_call(world->client, CALC_ANSWER, &number, &result, NULL, 0), 0);
	assert_int_equal(result, 2);
	assert_int_equal(world->inside_error, -RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(rpcrdma_engine_error(world->engine), "rpcrdma_engine_turn"));
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_needs_no_config),
		cmocka_unit_test(a_wrong_config_is_refused),
		cmocka_unit_test(a_later_config_is_taken_unless_it_asks_for_more),
		cmocka_unit_test(a_capture_that_cannot_be_is_an_error),
		T(a_capture_and_a_flight_recorder_are_kept),
		T(the_descriptor_folds_into_poll),
		cmocka_unit_test(another_thread_ends_the_wait),
		T(a_turn_inside_a_callback_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
