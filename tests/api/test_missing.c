/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers that are NULL, and handles that are freed in another order than they were made in. */
#include "world.h"

#include <string.h>

static void
a_handle_that_is_missing_is_an_error(void **state)
{
	struct world *world = *state;
	struct rpcrdma_engine_config sizes = { .size = sizeof(sizes) };
	struct rpcrdma_client_config config = { .size = sizeof(config), .port = world->rdma_port };
	struct rpcrdma_call_config call = world_call_config(CALC_NULL, NULL, NULL);
	struct rpcrdma_negotiated negotiated = { .size = sizeof(negotiated) };
	struct rpcrdma_counters counters = { .size = sizeof(counters) };
	struct rpcrdma_client *client = NULL;
	struct rpcrdma_server *server = NULL;
	uint16_t port = 0;

	assert_int_equal(rpcrdma_engine_new(&sizes, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_engine_new(NULL, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_engine_turn(NULL, 0), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_engine_fd(NULL), -RPCRDMA_ERR_INVAL);
	assert_true(rpcrdma_engine_due(NULL) < 0);
	assert_int_equal(rpcrdma_client_new(NULL, &config, &client), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_new(world->engine, &config, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_connect(NULL, &config, &client), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_connect(world->engine, &config, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_call(NULL, &call, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_call_and_wait(NULL, &call), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_negotiated(NULL, &negotiated), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_negotiated(world->client, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_counters(NULL, &counters), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_counters(world->client, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_latency(NULL, NULL, 0, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_request_client(NULL, &config, &client), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_server_new(NULL, NULL, &server), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_server_listen(NULL, RPCRDMA_TRANSPORT_TCP, NULL, &port), -RPCRDMA_ERR_INVAL);
	assert_int_equal(
		rpcrdma_server_listen(world->server, RPCRDMA_TRANSPORT_TCP, NULL, NULL), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_server_counters(NULL, &counters), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_server_latency(NULL, NULL, 0, NULL), -RPCRDMA_ERR_INVAL);
}

static void
what_returns_no_error_does_nothing_without_its_handle(void **state)
{
	(void)state;
	rpcrdma_engine_free(NULL);
	rpcrdma_engine_wake(NULL);
	rpcrdma_client_free(NULL);
	rpcrdma_call_cancel(NULL);
	rpcrdma_server_free(NULL);
	rpcrdma_server_shutdown(NULL);
	rpcrdma_server_each_connection(NULL, NULL, NULL);
	assert_true(rpcrdma_server_idle(NULL));
	assert_int_equal(rpcrdma_server_connections(NULL), 0);
	assert_int_equal(rpcrdma_call_placed(NULL), 0);
	assert_int_equal(rpcrdma_call_pulled(NULL), 0);
	assert_non_null(strstr(rpcrdma_engine_error(NULL), "no engine"));
	assert_non_null(strstr(rpcrdma_client_error(NULL), "no client"));
	assert_non_null(strstr(rpcrdma_server_error(NULL), "no server"));
}

static void
a_configuration_that_is_missing_is_named(void **state)
{
	struct world *world = *state;
	struct rpcrdma_client *client;
	struct rpcrdma_server *server;

	assert_int_equal(rpcrdma_client_connect(world->engine, NULL, &client), -RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(rpcrdma_engine_error(world->engine), "rpcrdma_client_config"));
	assert_int_equal(rpcrdma_client_new(world->engine, NULL, &client), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_server_new(world->engine, NULL, &server), -RPCRDMA_ERR_INVAL);
	assert_int_equal(rpcrdma_client_call(world->client, NULL, NULL), -RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(rpcrdma_client_error(world->client), "rpcrdma_call_config"));
	assert_int_equal(rpcrdma_client_call_and_wait(world->client, NULL), -RPCRDMA_ERR_INVAL);
}

/* No handler is called for them. */
static void
octets_that_are_missing_are_refused_here(void **state)
{
	struct world *world = *state;
	const blob nothing = { 1, { NULL, 10 } }, good = { 1, { "0123456789", 10 } };
	uint8_t keep[4096], arena[512];
	blob result;
	struct rpcrdma_call_config call = world_call_config(CALC_BLOB, &good, &result);
	const struct rpcrdma_sink sink = { NULL, BLOB_MAX };

	assert_int_equal(world_call(world->client, CALC_BLOB, &nothing, &result, keep, sizeof(keep)),
		-RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(rpcrdma_client_error(world->client), "NULL"));
	assert_int_equal(world->handled, 0);
	call.sinks = &sink;
	call.sink_count = 1;
	call.arena = arena;
	call.arena_size = sizeof(arena);
	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &call), -RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(rpcrdma_client_error(world->client), "NULL"));
	call.sinks = NULL;
	assert_int_equal(rpcrdma_client_call_and_wait(world->client, &call), -RPCRDMA_ERR_INVAL);
	assert_non_null(strstr(rpcrdma_client_error(world->client), "NULL"));
	assert_int_equal(world_call(world->client, CALC_BLOB, &good, &result, keep, sizeof(keep)), 0);
}

/* The engine ends with the last of its users; a call under way is never done. */
static void
an_engine_may_be_freed_before_its_clients_and_servers(void **state)
{
	struct world *world = *state;
	struct rpcrdma_call_config config = world_call_config(CALC_NULL, NULL, NULL);
	struct rpcrdma_call *call;

	assert_int_equal(rpcrdma_client_call(world->client, &config, &call), 0);
	rpcrdma_engine_free(world->engine);
	world->engine = NULL;
	rpcrdma_client_free(world->client);
	world->client = NULL;
	rpcrdma_server_free(world->server);
	world->server = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_handle_that_is_missing_is_an_error, world_setup, world_teardown),
		cmocka_unit_test(what_returns_no_error_does_nothing_without_its_handle),
		cmocka_unit_test_setup_teardown(
			a_configuration_that_is_missing_is_named, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(
			octets_that_are_missing_are_refused_here, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(
			an_engine_may_be_freed_before_its_clients_and_servers, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
