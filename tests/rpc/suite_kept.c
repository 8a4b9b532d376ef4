/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that are lost while no call waits for them: they are made again only if the server may call.
 * And calls of the server that wait for memory when their connection is lost. */
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

/* ---- Calls of the server that wait for memory ---- */

/* Returns a client that calls the peer of the client in the reverse direction, over the connection that the
 * client has now. */
static struct rpcrdma_client *
call_back(struct world *world, struct rpcrdma_client *client)
{
	struct call *call = call_new(ECHO_TALLY);
	struct rr_client_config config;
	struct rpcrdma_client *back;
	struct rr_text why;

	world->keeping = true;
	rr_client_call(client, &call->base);
	world_until(world, world->kept_count == 1);
	world->keeping = false;
	world_client_config(world, &config);
	assert_int_equal(rr_request_client(world->kept[0], &config, &back, &why), 0);
	world_answer_kept(world);
	assert_int_equal(call_wait(world, call), 0);
	call_free(call);
	return back;
}

/* Takes all memory for results, until world_let_go(). */
static void
take_all(struct world *world)
{
	const struct rpcrdma_engine *engine = world->stage.engine;

	world->hostage = rr_pool_get(engine->results, NULL, rr_engine_pool_max(&engine->config));
	assert_non_null(world->hostage);
}

/* Begins a call in the reverse direction whose reply needs that many octets of memory. The call must wait for
 * them. */
static struct call *
fetch_back_in_vain(struct world *world, struct rpcrdma_client *back, uint32_t length)
{
	struct call *call = fetch_new(length);
	uint32_t handled = world->handled;

	/* Replies in the reverse direction have no chunks: the result comes in the stream. */
	call->base.sink_count = 0;
	call->base.reply_max = 1000;
	rr_client_call(back, &call->base);
	world_settle(world);
	assert_true(rr_pool_is_wanted(world->stage.engine->results));
	assert_int_equal(world->handled, handled);
	assert_false(call->done);
	return call;
}

static void
assert_lost(struct call *call)
{
	assert_int_equal(call->times, 1);
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	call_free(call);
}

/* A call of the server that has to wait for memory is served when there is memory again. */
static void
serve_a_call_that_waits(struct world *world)
{
	struct rpcrdma_client *back = call_back(world, world->client);
	struct call *call;

	take_all(world);
	call = fetch_back_in_vain(world, back, 500);
	world_let_go(world);
	world_until(world, call->done);
	assert_blob(call);
	call_free(call);
	rr_client_free(back);
}

static void
a_call_that_is_lost_while_it_waits_for_memory_holds_up_no_later_one(void **state)
{
	struct world *world = *state;
	struct rpcrdma_server *callbacks = serve_back(world, 10 * RR_SECOND);

	for (int times = 0; times < 3; times++) {
		struct rpcrdma_client *back = call_back(world, world->client);
		struct call *call;

		take_all(world);
		call = fetch_back_in_vain(world, back, 500);
		lose_server(world);
		assert_lost(call);
		rr_client_free(back);
		assert_false(rr_pool_is_wanted(world->stage.engine->results));
		world_let_go(world);
		world_start_server(world);
		world_pass_until(world, world->client->state == RR_CLIENT_UP);
		serve_a_call_that_waits(world);
	}
	end(world, callbacks);
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
}

/* The services outlive the client, and serve the calls to another one. */
static void
a_call_to_a_client_that_is_freed_holds_up_none_to_the_next_client(void **state)
{
	struct world *world = *state;
	struct rpcrdma_server *callbacks = serve_back(world, 10 * RR_SECOND);
	struct rpcrdma_client *back = call_back(world, world->client);
	struct rr_client_config config;
	struct call *call;

	take_all(world);
	call = fetch_back_in_vain(world, back, 500);
	rr_client_free(world->client);
	world_settle(world);
	assert_lost(call);
	rr_client_free(back);
	assert_false(rr_pool_is_wanted(world->stage.engine->results));
	world_let_go(world);
	world_client_config(world, &config);
	config.callbacks = callbacks;
	world->client = world_connect(world, &config);
	serve_a_call_that_waits(world);
	end(world, callbacks);
}

static void
nothing_is_left_of_services_freed_after_a_client_to_which_a_call_waits(void **state)
{
	struct world *world = *state;
	struct rpcrdma_server *callbacks = serve_back(world, 10 * RR_SECOND);
	struct rpcrdma_client *back = call_back(world, world->client);
	struct call *call;

	take_all(world);
	call = fetch_back_in_vain(world, back, 500);
	end(world, callbacks);
	world_settle(world);
	assert_lost(call);
	rr_client_free(back);
	world_let_go(world);
	world_settle(world);
	assert_int_equal(world_memory(world), 0);
}

/* Two clients with the same services, and a call to each of them. */
struct two {
	struct rpcrdma_server *callbacks;
	struct rpcrdma_client *clients[2], *backs[2];
	struct call *calls[2];
};

static void
two_connect(struct world *world, struct two *two)
{
	struct rr_client_config config;

	two->callbacks = serve_back(world, 10 * RR_SECOND);
	two->clients[0] = world->client;
	world_client_config(world, &config);
	config.callbacks = two->callbacks;
	two->clients[1] = world_connect(world, &config);
	for (int i = 0; i < 2; i++)
		two->backs[i] = call_back(world, two->clients[i]);
}

/* Has a call to each client wait for that many octets of memory. */
static void
two_wait(struct world *world, struct two *two, uint32_t first, uint32_t second)
{
	two->calls[0] = fetch_back_in_vain(world, two->backs[0], first);
	two->calls[1] = fetch_back_in_vain(world, two->backs[1], second);
}

/* Frees one of the clients, whose call is then lost. */
static void
two_lose(struct world *world, struct two *two, int which)
{
	rr_client_free(two->clients[which]);
	if (world->client == two->clients[which])
		world->client = NULL;
	two->clients[which] = NULL;
	world_settle(world);
	assert_lost(two->calls[which]);
	rr_client_free(two->backs[which]);
}

/* Waits for the call to the client that is left, and frees all. */
static void
two_end(struct world *world, struct two *two, int which)
{
	world_until(world, two->calls[which]->done);
	assert_blob(two->calls[which]);
	call_free(two->calls[which]);
	rr_client_free(two->backs[which]);
	rr_client_free(two->clients[which]);
	world->client = NULL;
	rr_server_free(two->callbacks);
	world_settle(world);
}

static void
a_call_waits_on_when_the_connection_of_the_call_before_it_is_lost(void **state)
{
	struct world *world = *state;
	struct two two;

	two_connect(world, &two);
	take_all(world);
	two_wait(world, &two, 500, 500);
	two_lose(world, &two, 0);
	assert_false(two.calls[1]->done);
	assert_true(rr_pool_is_wanted(world->stage.engine->results));
	world_let_go(world);
	two_end(world, &two, 1);
}

static void
a_call_waits_on_when_the_connection_of_the_call_behind_it_is_lost(void **state)
{
	struct world *world = *state;
	struct two two;

	two_connect(world, &two);
	take_all(world);
	two_wait(world, &two, 500, 500);
	two_lose(world, &two, 1);
	assert_false(two.calls[0]->done);
	assert_true(rr_pool_is_wanted(world->stage.engine->results));
	world_let_go(world);
	two_end(world, &two, 0);
}

/* There is memory enough for the second call, which does not overtake the first one, and nobody gives any
 * back. */
static void
a_call_is_served_at_once_when_the_larger_one_before_it_is_lost(void **state)
{
	static const size_t sizes[] = { 28 << 20, 3584 << 10, 448 << 10, 56 << 10 };
	struct world *world = *state;
	struct rr_pool *results = world->stage.engine->results;
	void *hostages[4];
	struct two two;

	two_connect(world, &two);
	for (int i = 0; i < 4; i++)
		hostages[i] = rr_pool_get(results, NULL, sizes[i]);
	assert_int_equal(rr_pool_used(results), rr_engine_pool_max(&world->stage.engine->config) - 8192);
	two_wait(world, &two, 16000, 500);
	two_lose(world, &two, 0);
	two_end(world, &two, 1);
	for (int i = 0; i < 4; i++)
		rr_pool_put(results, hostages[i]);
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
		suite_test(a_call_that_is_lost_while_it_waits_for_memory_holds_up_no_later_one),
		suite_test(a_call_to_a_client_that_is_freed_holds_up_none_to_the_next_client),
		suite_test(nothing_is_left_of_services_freed_after_a_client_to_which_a_call_waits),
		suite_test(a_call_waits_on_when_the_connection_of_the_call_before_it_is_lost),
		suite_test(a_call_waits_on_when_the_connection_of_the_call_behind_it_is_lost),
		suite_test(a_call_is_served_at_once_when_the_larger_one_before_it_is_lost),
	};

	return cmocka_run_group_tests_name("kept", tests, NULL, NULL);
}
