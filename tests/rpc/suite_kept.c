/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that are lost while no call waits for them: they are made again only if the server may call. */
#include "rpc/client_private.h"
#include "suite.h"

/* Replaces the world's client by a client that serves the calls of the server, and waits until it is
 * connected. */
static struct rpcrdma_server *
serve_back(struct world *world, uint64_t retry)
{
	struct rpcrdma_server *callbacks = world_new_server(world);
	struct rr_client_config config;

	rr_client_free(world->client);
	world_settle(world);
	world_client_config(world, &config);
	config.callbacks = callbacks;
	config.retry = retry;
	world->client = world_connect(world, &config);
	world_warm_up(world);
	assert_int_equal(rr_server_connections(world->server), 1);
	return callbacks;
}

static void
end(struct world *world, struct rpcrdma_server *callbacks)
{
	rr_client_free(world->client);
	world->client = NULL;
	rr_server_free(callbacks);
}

static void
lose_server(struct world *world)
{
	world_kill_server(world);
	world_settle(world);
}

/* RFC 8167, 5.4: "forward-direction Requesters SHOULD maintain a transport connection as long as there is the
 * possibility that the connection peer can send reverse-direction requests." */
static void
a_client_that_serves_connects_again_without_a_call(void **state)
{
	struct world *world = *state;
	struct rpcrdma_server *callbacks = serve_back(world, 10 * RR_SECOND);

	for (uint32_t times = 1; times <= 8; times++) {
		lose_server(world);
		world_start_server(world);
		world_pass_until(world, rr_server_connections(world->server) == 1);
		world_pass_until(world, world->client->state == RR_CLIENT_UP);
		assert_int_equal(rr_client_reconnects(world->client), times);
	}
	assert_int_equal(world->handled, 0);
	end(world, callbacks);
}

/* RFC 8167, 5.4: the server "is forced to wait for the ONC RPC client to re-establish a transport
 * connection": this holds however long it was away, and there are pauses between the attempts. */
static void
a_server_that_is_away_is_sought_with_pauses_until_it_is_back(void **state)
{
	struct world *world = *state;
	struct rpcrdma_server *callbacks = serve_back(world, 10 * RR_SECOND);
	const struct rr_timer *backoff = &world->client->backoff;
	uint64_t delay = 50 * RR_MILLISECOND, since = world->stage.now;

	lose_server(world);
	for (int attempts = 0; attempts < 30; attempts++) {
		uint64_t at;

		world_until(world, world->client->state == RR_CLIENT_BACKOFF);
		at = backoff->at;
		assert_in_range(at - world->stage.now, delay / 2, delay);
		world->stage.now = at - 1;
		world_settle(world);
		assert_int_equal(world->client->state, RR_CLIENT_BACKOFF);
		assert_int_equal(backoff->at, at);
		world->stage.now = at;
		world_settle(world);
		delay = delay * 2 < 2 * RR_SECOND ? delay * 2 : 2 * RR_SECOND;
	}
	assert_true(world->stage.now > since + 2 * world->client->config.retry);
	world_start_server(world);
	world_pass_until(world, rr_server_connections(world->server) == 1);
	assert_true(world->stage.now <= backoff->at + 2 * RR_SECOND);
	world_warm_up(world);
	end(world, callbacks);
}

/* The time counts from when the first call began to wait: the loss, and a call that was cancelled since
 * then, do not shorten it, and calls that begin later do not add to it. */
static void
calls_wait_as_long_as_the_first_of_them_may(void **state)
{
	struct world *world = *state;
	struct rpcrdma_server *callbacks = serve_back(world, 10 * RR_SECOND);
	struct call *given_up = call_new(ECHO_NULL), *call = call_new(ECHO_NULL),
		    *later = call_new(ECHO_NULL);
	uint64_t since;

	lose_server(world);
	world_pass(world, 5 * RR_SECOND);
	call_start(world, given_up);
	rr_client_cancel(world->client, &given_up->base);
	world_pass(world, 4 * RR_SECOND);
	call_start(world, call);
	since = world->stage.now;
	world_pass(world, 9 * RR_SECOND);
	call_start(world, later);
	world_settle(world);
	assert_false(call->done);
	world_pass_until(world, call->done && later->done);
	assert_in_range(world->stage.now - since, 10 * RR_SECOND, 11 * RR_SECOND);
	assert_true(call->error == -RPCRDMA_ERR_REFUSED || call->error == -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(given_up->times, 0);
	end(world, callbacks);
	call_free(given_up);
	call_free(call);
	call_free(later);
}

static void
nothing_is_left_of_a_client_freed_between_attempts(void **state)
{
	struct world *world = *state;
	struct rpcrdma_server *callbacks = serve_back(world, 10 * RR_SECOND);

	lose_server(world);
	assert_int_equal(world->client->state, RR_CLIENT_BACKOFF);
	end(world, callbacks);
	assert_int_equal(world_memory(world), 0);
	assert_true(rr_loop_due(world->stage.engine->loop) < 0);
	world_start_server(world);
	world_pass(world, 100 * RR_SECOND);
	assert_int_equal(rr_server_connections(world->server), 0);
}

static void
nothing_is_left_of_a_client_freed_during_an_attempt(void **state)
{
	struct world *world = *state;
	struct rpcrdma_server *callbacks = serve_back(world, 10 * RR_SECOND);

	lose_server(world);
	world_start_server(world);
	/* The event is made here, and not by the clock: the loop provider connects within the turn in
	 * which an attempt begins. */
	rr_client_event(world->client, RR_CLIENT_AGAIN);
	assert_int_equal(world->client->state, RR_CLIENT_RETRYING);
	end(world, callbacks);
	world_settle(world);
	world_pass(world, 100 * RR_SECOND);
	assert_int_equal(rr_server_connections(world->server), 0);
	lose_server(world);
	assert_int_equal(world_memory(world), 0);
	assert_true(rr_loop_due(world->stage.engine->loop) < 0);
}

static void
without_retry_it_does_not_connect_again(void **state)
{
	struct world *world = *state;
	struct rpcrdma_server *callbacks = serve_back(world, 0);

	lose_server(world);
	assert_int_equal(world->client->state, RR_CLIENT_FAILED);
	world_start_server(world);
	world_pass(world, 100 * RR_SECOND);
	assert_int_equal(rr_server_connections(world->server), 0);
	end(world, callbacks);
}

static void
a_client_that_serves_nothing_waits_for_a_call(void **state)
{
	struct world *world = *state;

	world_warm_up(world);
	lose_server(world);
	assert_int_equal(world->client->state, RR_CLIENT_IDLE);
	assert_true(rr_loop_due(world->stage.engine->loop) < 0);
	world_start_server(world);
	world_pass(world, 100 * RR_SECOND);
	assert_int_equal(rr_server_connections(world->server), 0);
	assert_int_equal(rr_client_reconnects(world->client), 0);
	world_warm_up(world);
	assert_int_equal(rr_client_reconnects(world->client), 1);
}

/* The last call was cancelled while there was no connection. */
static void
what_nobody_waits_for_any_more_is_not_given_up(void **state)
{
	struct world *world = *state;
	struct call *call = call_unanswered();

	call_start(world, call);
	world_settle(world);
	lose_server(world);
	rr_client_cancel(world->client, &call->base);
	for (int seconds = 0; seconds < 12; seconds++) {
		world_pass(world, RR_SECOND);
	}
	assert_int_equal(world->client->state, RR_CLIENT_IDLE);
	world_start_server(world);
	world_pass(world, 100 * RR_SECOND);
	assert_int_equal(rr_server_connections(world->server), 0);
	world_warm_up(world);
	call_free(call);
}

int
suite_kept(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(a_client_that_serves_connects_again_without_a_call),
		suite_test(a_server_that_is_away_is_sought_with_pauses_until_it_is_back),
		suite_test(calls_wait_as_long_as_the_first_of_them_may),
		suite_test(nothing_is_left_of_a_client_freed_between_attempts),
		suite_test(nothing_is_left_of_a_client_freed_during_an_attempt),
		suite_test(without_retry_it_does_not_connect_again),
		suite_test(a_client_that_serves_nothing_waits_for_a_call),
		suite_test(what_nobody_waits_for_any_more_is_not_given_up),
	};

	return cmocka_run_group_tests_name("kept", tests, NULL, NULL);
}
