/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that end in good order. */
#include "suite.h"

#include "raw.h"
#include "wire/rpc.h"

static void
a_requester_shuts_down_when_nothing_is_outstanding(void **state)
{
	struct world *world = world_new(NULL);
	struct call *first = call_new(world, 1, 40), *second = call_new(world, 2, 40), *late;

	(void)state;
	call_start(world, first);
	call_start(world, second);
	world_until(world, world->call_count == 1);
	rr_carrier_shutdown(world->client);
	late = call_begin(world, 3, 40);
	world_settle(world);
	assert_int_equal(late->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_false(world->client_closed);
	answer_small(world, world_next_call(world));
	world_until(world, world->call_count == 1); /* the second call was waiting for a credit */
	answer_small(world, world_next_call(world));
	world_until(world, world->client_closed && world->server_closed);
	assert_true(first->done && second->done);
	assert_int_equal(first->error | second->error, 0);
	assert_int_equal(world->client_error, 0);
	world_free(world);
}

static void
a_responder_answers_what_it_has_and_leaves(void **state)
{
	struct world *world = world_new(NULL);
	struct call *first = call_new(world, 1, 40), *second;

	(void)state;
	call_add_item(world, first, 40, 500000);
	call_start(world, first);
	world_until(world, world->call_count == 1);
	rr_carrier_shutdown(world->server);
	rr_carrier_shutdown(world->server);
	world_settle(world);
	assert_false(world->server_closed);
	answer_small(world, world_next_call(world));
	second = call_begin(world, 2, 40);
	world_until(world, world->server_closed && world->client_closed);
	assert_int_equal(first->error, 0);
	assert_int_equal(second->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(world->arrived, 1);
	world_free(world);
}

static void
calls_that_arrive_after_a_shutdown_are_dropped(void **state)
{
	struct raw *raw = raw_requester(NULL);
	struct world *world = raw->world;

	(void)state;
	SEND(raw, 1, 1, 16, RR_RDMA_MSG, 0, 0, 0, 1, RR_CALL, 2);
	world_until(world, world->call_count == 1);
	rr_carrier_shutdown(world->server);
	SEND(raw, 2, 1, 16, RR_RDMA_MSG, 0, 0, 0, 2, RR_CALL, 2);
	world_settle(world);
	assert_int_equal(world->arrived, 1);
	answer_small(world, world_next_call(world));
	assert_int_equal(word(raw_next(raw), 0), 1);
	world_until(world, world->server_closed && raw->disconnected);
	assert_int_equal(raw->message_count, 0);
	raw_end(raw);
}

static void
dropped_exchanges_do_not_hold_up_a_shutdown(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call = call_arrived(world, 1, 40);

	(void)state;
	rr_carrier_shutdown(world->server);
	world_settle(world);
	rr_exchange_drop(world_next_call(world));
	assert_false(world->server_closed);
	world_until(world, world->server_closed && world->client_closed);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	world_free(world);
}

static void
idle_connections_shut_down_at_once(void **state)
{
	struct world *world = world_new(NULL);

	(void)state;
	rr_carrier_shutdown(world->client);
	assert_false(world->client_closed);
	world_until(world, world->client_closed && world->server_closed);
	world_free(world);
	/* The connection is shut down before it is up. */
	world = world_listening(NULL);
	world_connect(world);
	rr_carrier_shutdown(world->client);
	world_until(world, world->client_closed);
	world_free(world);
}

static void
a_cancel_ends_a_shutdown_that_waited_for_it(void **state)
{
	struct world *world = world_new(NULL);
	struct call *call = call_arrived(world, 1, 40);

	(void)state;
	rr_carrier_shutdown(world->client);
	world_settle(world);
	assert_false(world->client_closed);
	rr_carrier_cancel(world->client, &call->transaction);
	world_until(world, world->client_closed);
	world_free(world);
}

int
suite_shutdown(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_requester_shuts_down_when_nothing_is_outstanding),
		cmocka_unit_test(a_responder_answers_what_it_has_and_leaves),
		cmocka_unit_test(calls_that_arrive_after_a_shutdown_are_dropped),
		cmocka_unit_test(dropped_exchanges_do_not_hold_up_a_shutdown),
		cmocka_unit_test(idle_connections_shut_down_at_once),
		cmocka_unit_test(a_cancel_ends_a_shutdown_that_waited_for_it),
	};

	return cmocka_run_group_tests_name("shutdown", tests, NULL, NULL);
}
