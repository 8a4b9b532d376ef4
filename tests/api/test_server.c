/* SPDX-License-Identifier: BSD-3-Clause */
/* The server: what handlers answer, the memory they have, and the server's end. */
#include "world.h"

#include <string.h>

static int
answer(struct world *world, int with)
{
	uint32_t number = 1, result = 0;

	world->answer = with;
	return world_call(world->client, CALC_ANSWER, &number, &result, NULL, 0);
}

static void
what_a_handler_says_is_what_the_client_hears(void **state)
{
	struct world *world = *state;

	assert_int_equal(answer(world, RPCRDMA_HANDLED), 0);
	assert_int_equal(answer(world, RPCRDMA_HANDLE_SYSTEM_ERR), -RPCRDMA_ERR_RPC_SYSTEM);
	assert_int_equal(answer(world, RPCRDMA_HANDLE_GARBAGE_ARGS), -RPCRDMA_ERR_GARBAGE_ARGS);
	assert_int_equal(answer(world, RPCRDMA_HANDLE_PROC_UNAVAIL), -RPCRDMA_ERR_PROC_UNAVAIL);
	assert_int_equal(answer(world, RPCRDMA_HANDLE_TOO_WEAK), -RPCRDMA_ERR_RPC_DENIED);
	assert_int_equal(answer(world, 1000), -RPCRDMA_ERR_RPC_SYSTEM);
	/* Nothing is out that could come back: waiting would not help. */
	assert_int_equal(answer(world, RPCRDMA_HANDLE_LATER), -RPCRDMA_ERR_RPC_SYSTEM);
}

static void
what_nobody_handles_is_unavailable(void **state)
{
	struct world *world = *state;

	assert_int_equal(
		world_call(world->client, CALC_UNHANDLED, NULL, NULL, NULL, 0), -RPCRDMA_ERR_PROC_UNAVAIL);
	/* RFC 5531, 12.1: "By convention, procedure 0 of any RPC protocol should have the same semantics" */
	assert_int_equal(world_call(world->client, CALC_NULL, NULL, NULL, NULL, 0), 0);
}

static void
results_are_allocated_within_the_arena(void **state)
{
	struct world *world = *state;
	uint32_t count = 100;
	numbers result;
	uint8_t keep[1024];

	assert_int_equal(world_call(world->client, CALC_COUNT, &count, &result, keep, sizeof(keep)), 0);
	assert_int_equal(result.count, 100);
	count = 1 << 20; /* more than the arena has: the handler says SYSTEM_ERR */
	assert_int_equal(world_call(world->client, CALC_COUNT, &count, &result, keep, sizeof(keep)),
		-RPCRDMA_ERR_RPC_SYSTEM);
}

static void
a_port_in_use_is_named(void **state)
{
	struct world *world = *state;

	assert_int_equal(
		rpcrdma_server_listen(world->server, RPCRDMA_TRANSPORT_TCP, "127.0.0.1", &world->rdma_port),
		-RPCRDMA_ERR_SYSTEM);
	assert_non_null(strstr(rpcrdma_server_error(world->server), "127.0.0.1"));
	assert_int_equal(
		rpcrdma_server_listen(world->server, (enum rpcrdma_transport)9, NULL, &world->rdma_port),
		-RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_server_listen(world->server, RPCRDMA_TRANSPORT_TCP, "[", &world->rdma_port),
		-RPCRDMA_ERR_ADDRESS);
}

static void
shutting_down_ends_in_idle(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_call(world->client, CALC_NULL, NULL, NULL, NULL, 0), 0);
	assert_int_equal(rpcrdma_server_connections(world->server), 1);
	assert_false(rpcrdma_server_idle(world->server));
	rpcrdma_server_shutdown(world->server);
	world_until(world, rpcrdma_server_idle(world->server));
	assert_int_equal(rpcrdma_server_connections(world->server), 0);
}

static void
a_wrong_config_is_refused(void **state)
{
	struct world *world = *state;
	static rpcrdma_handler *const none[7];
	static const struct rpcrdma_service good = { &CALC_V1_program, none, NULL }, bare = { 0 };
	struct rpcrdma_server *server = NULL;
	const struct rpcrdma_server_config bad[] = {
		{ .size = 0, .services = &good, .service_count = 1 },
		{ .size = sizeof(bad[0]) },
		{ .size = sizeof(bad[0]), .service_count = 1 },
		{ .size = sizeof(bad[0]), .services = &bare, .service_count = 1 },
		{ .size = sizeof(bad[0]), .services = &good, .service_count = 1, .arena_size = UINT32_MAX },
		{ .size = sizeof(bad[0]), .services = &good, .service_count = 1, .reply_max = UINT32_MAX },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(rpcrdma_server_new(world->engine, &bad[i], &server), -RPCRDMA_ERR_INVAL);
		assert_true(strlen(rpcrdma_engine_error(world->engine)) > 10);
	}
	assert_null(server);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(what_a_handler_says_is_what_the_client_hears),
		T(what_nobody_handles_is_unavailable),
		T(results_are_allocated_within_the_arena),
		T(a_port_in_use_is_named),
		T(shutting_down_ends_in_idle),
		T(a_wrong_config_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
