/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that wait for memory, and the memory that is in use at the end. */
#include "suite.h"

#include <string.h>

#include "carrier/carrier.h"

static void
a_call_put_off_is_handled_when_memory_comes_back(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_LATER), *other = call_new(ECHO_ECHO);

	call->args.number = 11;
	world_warm_up(world);
	world_hold(world);
	call_start(world, call);
	world_settle(world);
	assert_false(call->done);
	assert_int_equal(call_run(world, other), 0); /* other calls go on meanwhile */
	assert_false(call->done);
	world_let_go(world);
	assert_int_equal(call_wait(world, call), 0);
	assert_int_equal(call->result.number, 11);
	call_free(call);
	call_free(other);
}

static void
a_call_put_off_while_no_memory_is_out_fails(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_LATER);

	world->held = 1;
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_RPC_SYSTEM);
	call_free(call);
}

static void
calls_put_off_are_dropped_with_their_connection(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_LATER);

	world_hold(world);
	call_start(world, call);
	world_settle(world);
	rr_client_free(world->client);
	world->client = NULL;
	world_settle(world);
	assert_int_equal(rr_server_connections(world->server), 0);
	world_let_go(world);
	world_settle(world);
	assert_int_equal(world->handled, 0);
	call_free(call);
}

static void
a_server_is_freed_with_calls_put_off(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_LATER);

	world_hold(world);
	call_start(world, call);
	world_settle(world);
	world_kill_server(world);
	world_settle(world);
	world_let_go(world);
	world_settle(world);
	assert_false(call->done);
	rr_client_free(world->client);
	world->client = NULL;
	call_free(call);
}

/* Calls that take long are served over several turns of the loop, so that other connections get their
 * turns. New calls come meanwhile, also when all calls that were served before are answered: this is no
 * error. */
static void
calls_that_take_long_cost_no_connection(void **state)
{
	enum { CALLS = 48, ROUNDS = 4 };
	struct world *world = *state;
	struct call *calls[CALLS];
	uint32_t before;

	world_warm_up(world);
	before = world->handled;
	world->takes = RR_MILLISECOND;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < CALLS; i++) {
			calls[i] = call_new(ECHO_ECHO);
			call_start(world, calls[i]);
			if (i == CALLS / 2)
				world_turn(world);
		}
		for (int i = 0; i < CALLS; i++) {
			assert_int_equal(call_wait(world, calls[i]), 0);
			call_free(calls[i]);
		}
	}
	/* A call whose connection was lost would have been sent, and handled, twice. */
	assert_int_equal(world->handled - before, CALLS * ROUNDS);
}

/* A connection with many calls does not keep the others waiting until all of them are served. */
static void
calls_of_others_are_served_between_those_of_a_busy_connection(void **state)
{
	enum { CALLS = 48, IN_A_TURN = 16 };
	struct world *world = *state;
	struct call *calls[CALLS], *other = call_new(ECHO_TALLY);
	struct rr_client_config config;
	struct rpcrdma_client *client;
	uint32_t before;

	world_client_config(world, &config);
	client = world_connect(world, &config);
	other->args.number = 1;
	rr_client_call(client, &other->base);
	world_until(world, other->done);
	other->done = false;
	world_warm_up(world);
	before = world->handled;
	world->takes = RR_MILLISECOND;
	for (int i = 0; i < CALLS; i++) {
		calls[i] = call_new(ECHO_ECHO);
		call_start(world, calls[i]);
	}
	rr_client_call(client, &other->base);
	world_until(world, world->tally == 2);
	assert_in_range(world->handled - before, 1, 2 * IN_A_TURN + 1);
	world_until(world, other->done);
	for (int i = 0; i < CALLS; i++) {
		assert_int_equal(call_wait(world, calls[i]), 0);
		call_free(calls[i]);
	}
	rr_client_free(client);
	call_free(other);
}

/* Requests that are kept hold blocks, as do replies that a client does not take. */
static void
a_connection_has_a_block_whatever_others_hold(void **state)
{
	enum { OTHERS = 2 };
	struct world *world = *state;
	struct call *kept[OTHERS], *call = call_new(ECHO_ECHO);
	struct rpcrdma_client *clients[OTHERS], *client;
	struct rr_client_config config;

	world_kill_server(world);
	world->server_config.call_max = OTHERS;
	world_start_server(world);
	world_client_config(world, &config);
	world->keeping = true;
	for (uint32_t i = 0; i < OTHERS; i++) {
		clients[i] = world_connect(world, &config);
		kept[i] = call_new(ECHO_TALLY);
		kept[i]->args.number = i;
		rr_client_call(clients[i], &kept[i]->base);
		world_until(world, world->kept_count == i + 1);
	}
	client = world_connect(world, &config);
	rr_client_call(client, &call->base);
	world_until(world, call->done);
	assert_int_equal(call->error, 0);
	rr_client_free(client);
	world_answer_kept(world);
	for (uint32_t i = 0; i < OTHERS; i++) {
		world_until(world, kept[i]->done);
		assert_int_equal(kept[i]->error, 0);
		call_free(kept[i]);
		rr_client_free(clients[i]);
	}
	call_free(call);
}

/* Many large calls compete for little memory: they are slow, but all of them end. */
static void
large_calls_share_little_memory(void **state)
{
	enum { CALLS = 40 };
	struct rr_engine_config config = rr_engine_config_default;
	struct call *calls[CALLS];
	struct world *world;

	(void)state;
	config.memory_max = 4 << 20;
	world = world_new(&config);
	for (uint32_t i = 0; i < CALLS; i++) {
		calls[i] = i % 2 ? fetch_new(200000 + i) : blob_new(i % 3 ? 300000 + i : 700 + i, true);
		if (i % 4 == 0)
			calls[i]->base.proc = ECHO_COPY;
		call_start(world, calls[i]);
	}
	for (uint32_t i = 0; i < CALLS; i++) {
		world_until(world, calls[i]->done);
		assert_blob(calls[i]);
		call_free(calls[i]);
	}
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
	assert_true(rr_pool_peak(world->stage.engine->arrivals) <= config.memory_max / 2);
	assert_true(rr_pool_peak(world->stage.engine->results) <= config.memory_max / 2);
	assert_true(rr_pool_peak(world->stage.engine->pool) <= config.memory_max / 2);
	world_free(world);
}

/* Any number of results wait until the client reads them: the client must have memory to read them. */
static void
replies_find_memory_while_results_hold_all_of_theirs(void **state)
{
	struct world *world = *state;
	struct call *call = blob_new(300000, true);

	world->hostage =
		rr_pool_get(world->stage.engine->results, NULL, world->stage.engine->config.memory_max / 2);
	assert_non_null(world->hostage);
	assert_int_equal(call_run(world, call), 0);
	assert_blob(call);
	call_free(call);
}

/* There are more replies than the server has blocks: the rest of the calls waits for its turn. */
static void
more_calls_than_blocks_are_all_answered(void **state)
{
	enum { CLIENTS = 6, CALLS = 60 };
	struct world *world = *state;
	struct rpcrdma_client *clients[CLIENTS];
	struct rr_client_config config;
	struct call *calls[CLIENTS][CALLS];

	world_client_config(world, &config);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		clients[i] = world_connect(world, &config);
		for (uint32_t j = 0; j < CALLS; j++) {
			calls[i][j] = j % 2 ? blob_new(5000, true) : fetch_new(5000);
			rr_client_call(clients[i], &calls[i][j]->base);
		}
	}
	for (uint32_t i = 0; i < CLIENTS; i++) {
		for (uint32_t j = 0; j < CALLS; j++) {
			world_until(world, calls[i][j]->done);
			assert_blob(calls[i][j]);
			call_free(calls[i][j]);
		}
		rr_client_free(clients[i]);
	}
}

/* Returns the carrier of a peer that connects and sends no messages. */
static struct rr_carrier *
connect_silently(struct world *world)
{
	static const struct rr_carrier_events events;
	const struct sockaddr *address = (const void *)&world->address;
	struct rr_carrier *carrier = NULL;
	struct rr_text why;
	int error;

	error = world_provider ? rr_carrier_connect(world->stage.engine,
					 &(struct rr_carrier_place){
						 RR_TRANSPORT_AUTO, address, sizeof(world->address) },
					 &events, NULL, &carrier, &why)
			       : rr_carrier_connect(world->stage.engine,
					 &(struct rr_carrier_place){
						 RR_TRANSPORT_TCP, address, sizeof(world->address) },
					 &events, NULL, &carrier, &why);
	assert_int_equal(error, 0);
	return carrier;
}

/* Idle connections do not keep a new connection out, and a connection that calls is not cut off for it. */
static void
connections_are_bounded(void **state)
{
	enum { SILENT = 12, MAX = 4 };
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_carrier *silent[SILENT];
	struct rr_client_config client_config;
	struct world *world;
	struct call *call = call_new(ECHO_NULL), *later = call_new(ECHO_NULL);
	struct rpcrdma_client *client;

	(void)state;
	config.connection_max = MAX;
	world = world_new(&config);
	assert_int_equal(call_run(world, call), 0);
	for (int i = 0; i < SILENT; i++) {
		silent[i] = connect_silently(world);
		world_settle(world);
		assert_int_equal(rr_server_connections(world->server), i < MAX - 1 ? i + 2 : MAX);
	}
	world_client_config(world, &client_config);
	client = world_connect(world, &client_config);
	rr_client_call(client, &later->base);
	world_until(world, later->done);
	assert_int_equal(later->error, 0);
	assert_int_equal(rr_server_connections(world->server), MAX);
	call->done = false;
	assert_int_equal(call_run(world, call), 0);
	assert_int_equal(rr_client_reconnects(world->client), 0);
	for (int i = 0; i < SILENT; i++)
		rr_carrier_close(silent[i]);
	rr_client_free(client);
	call_free(call);
	call_free(later);
	world_free(world);
}

/* Makes a client, and a call of each kind. Whatever fails, all calls must end, and no memory may be left
 * in use. */
static void
run_scenario(struct world *world)
{
	struct call *calls[] = { call_new(ECHO_NULL), blob_new(20000, true), fetch_new(9000),
		call_new(ECHO_COUNT) };
	struct rr_client_config config;
	struct rpcrdma_client *client;
	struct rr_text why;

	world_client_config(world, &config);
	config.retry = RR_SECOND;
	if (rr_client_new(world->stage.engine, &config, &client, &why) < 0)
		client = NULL;
	for (int i = 0; i < 4 && client; i++) {
		calls[i]->base.timeout =
			5 * RR_SECOND; /* client and server may each wait for memory that the other has */
		rr_client_call(client, &calls[i]->base);
	}
	for (int i = 0; i < 4 && client; i++) {
		for (int steps = 0; !calls[i]->done; steps++) {
			assert_true(steps < 1000);
			world_turn(world);
			world->stage.now += 50 * RR_MILLISECOND;
		}
		assert_int_equal(calls[i]->times, 1);
	}
	rr_client_free(client);
	for (int i = 0; i < 4; i++)
		call_free(calls[i]);
}

static void
no_failing_allocation_does_harm(void **state)
{
	uint32_t fail_at = 1;
	bool failed;

	(void)state;
	do {
		struct world *world = world_new(NULL);

		world_warm_up(world);
		world_settle(world);
		world->stage.allocations = 0;
		world->stage.fail_at = fail_at++;
		run_scenario(world);
		failed = world->stage.allocations >= world->stage.fail_at;
		world->stage.fail_at = 0;
		world_settle(world);
		assert_int_equal(world_memory(world), 0);
		world_free(world);
	} while (failed);
	assert_true(fail_at > 10);
}

/* RFC 8166, 4.5.4: if there is no memory to make a reply, "the Responder MUST close the connection to
 * signal to the Requester that a reply was lost": the call is made again, on another connection. */
static void
a_call_that_finds_no_memory_is_not_left_without_answer(void **state)
{
	uint32_t fail_at = 1;
	bool failed;

	(void)state;
	do {
		struct call *call = call_new(ECHO_ECHO);
		struct world *world = world_new(NULL);
		struct rr_client_config config;
		struct rpcrdma_client *client = world->client;

		world_client_config(world, &config);
		config.retry = 10 * RR_SECOND;
		world->client = world_connect(world, &config);
		call->base.timeout = 5 * RR_SECOND;
		world->stage.allocations = 0;
		world->stage.fail_at = fail_at++;
		call_start(world, call);
		for (int steps = 0; !call->done; steps++) {
			assert_true(steps < 1000);
			world_turn(world);
			world->stage.now += 10 * RR_MILLISECOND;
		}
		assert_int_not_equal(call->error, -RPCRDMA_ERR_TIMEDOUT);
		failed = world->stage.allocations >= world->stage.fail_at;
		world->stage.fail_at = 0;
		rr_client_free(client);
		call_free(call);
		world_settle(world);
		world_free(world);
	} while (failed);
	assert_true(fail_at > 3);
}

int
suite_memory(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(a_call_put_off_is_handled_when_memory_comes_back),
		suite_test(a_call_put_off_while_no_memory_is_out_fails),
		suite_test(calls_put_off_are_dropped_with_their_connection),
		suite_test(a_server_is_freed_with_calls_put_off),
		suite_test(calls_that_take_long_cost_no_connection),
		suite_test(calls_of_others_are_served_between_those_of_a_busy_connection),
		suite_test(a_connection_has_a_block_whatever_others_hold),
		cmocka_unit_test(large_calls_share_little_memory),
		suite_test(replies_find_memory_while_results_hold_all_of_theirs),
		suite_test(more_calls_than_blocks_are_all_answered),
		cmocka_unit_test(connections_are_bounded),
		cmocka_unit_test(no_failing_allocation_does_harm),
		cmocka_unit_test(a_call_that_finds_no_memory_is_not_left_without_answer),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
