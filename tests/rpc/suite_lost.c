/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that end, calls that are ended, and time that passes. */
#include "rpc/client_private.h"
#include "suite.h"

#include "fabric/filter/fault.h"

#include <string.h>

static void
nobody_listening_fails_every_call_with_the_reason(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_NULL);
	struct rr_client_config config;

	rr_client_free(world->client);
	world_client_config(world, &config);
	world_kill_server(world);
	world->client = world_connect(world, &config);
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_REFUSED);
	assert_int_equal(rr_client_wait_connected(world->client, NULL, NULL), -RPCRDMA_ERR_REFUSED);
	assert_non_null(strstr(rr_client_error(world->client), "127.0.0.1:"));
	call->done = false;
	assert_int_equal(call_run(world, call), -RPCRDMA_ERR_REFUSED); /* later calls fail, too */
	call_free(call);
}

/* Replaces the world's client by a client that fails its calls as soon as its connection is lost. */
static void
do_not_retry(struct world *world)
{
	struct rr_client_config config;

	rr_client_free(world->client);
	world_client_config(world, &config);
	config.retry = 0;
	world->client = world_connect(world, &config);
}

static void
calls_survive_a_restart_of_the_server(void **state)
{
	enum { CALLS = 20 };
	struct world *world = *state;
	struct call *calls[CALLS];
	uint32_t xids[CALLS];

	world_hold(world);
	for (uint32_t i = 0; i < CALLS; i++) {
		calls[i] = i % 2 ? call_new(ECHO_LATER) : blob_new(i * 4000, true);
		if (i % 2)
			calls[i]->args.number = i;
		call_start(world, calls[i]);
		xids[i] = calls[i]->base.transaction.xid;
	}
	world_settle(world);
	world_kill_server(world);
	world_settle(world);
	world_pass(world, RR_SECOND); /* in this time an attempt fails */
	world_start_server(world);
	world->held = 0;
	world_pass_until(world, calls[CALLS - 1]->done);
	world_settle(world);
	assert_int_equal(world->handled, CALLS);
	assert_int_equal(rr_client_reconnects(world->client), 1);
	for (uint32_t i = 0; i < CALLS; i++) {
		bool found = false;

		assert_int_equal(calls[i]->times, 1);
		assert_int_equal(calls[i]->error, 0);
		/* The call came to the new server with the same XID. */
		for (uint32_t j = 0; j < CALLS; j++)
			found |= world->xids[j] == xids[i];
		assert_true(found);
		if (i % 2 == 0)
			assert_blob(calls[i]);
		call_free(calls[i]);
	}
}

/* The delays double, and half of each delay is random, so that the clients of a server do not come back at
 * the same time. */
static void
reconnecting_backs_off_by_times_that_differ(void **state)
{
	enum { ATTEMPTS = 8 };
	struct world *world = *state;
	struct call *call = call_unanswered();
	uint64_t delay = 50 * RR_MILLISECOND, shares[ATTEMPTS];
	bool differ = false;

	call_start(world, call);
	world_settle(world);
	world_kill_server(world);
	world_settle(world);
	for (int i = 0; i < ATTEMPTS; i++) {
		const struct rr_timer *backoff = &world->client->backoff;
		uint64_t wait = backoff->at - world->stage.now;

		assert_int_equal(world->client->state, RR_CLIENT_BACKOFF);
		assert_in_range(wait, delay / 2, delay);
		shares[i] = wait * 1000 / delay;
		differ |= shares[i] != shares[0];
		delay = delay * 2 < 2 * RR_SECOND ? delay * 2 : 2 * RR_SECOND;
		world->stage.now = backoff->at;
		world_settle(world);
	}
	assert_true(differ);
	rr_client_cancel(world->client, &call->base);
	call_free(call);
}

static void
calls_fail_when_the_server_stays_away(void **state)
{
	struct world *world = *state;
	struct call *call = call_unanswered(), *late = call_new(ECHO_NULL);

	call_start(world, call);
	world_settle(world);
	world_kill_server(world);
	world_settle(world);
	world_pass(world, 9 * RR_SECOND);
	assert_false(call->done);
	world_pass_until(world, call->done);
	assert_true(call->error == -RPCRDMA_ERR_REFUSED || call->error == -RPCRDMA_ERR_DISCONNECTED);
	assert_true(world->stage.now <= RR_SECOND + 11 * RR_SECOND);
	assert_int_equal(call_run(world, late), call->error);
	call_free(call);
	call_free(late);
}

static void
without_retry_a_lost_connection_fails_its_calls(void **state)
{
	struct world *world = *state;
	struct call *before = call_new(ECHO_NULL), *call = call_unanswered();

	do_not_retry(world);
	assert_int_equal(call_run(world, before), 0);
	call_start(world, call);
	world_settle(world);
	world_kill_server(world);
	assert_int_equal(call_wait(world, call), -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(call->times, 1);
	call_free(call);
	call_free(before);
}

/* Row B13, connection loss: draft-cel-nfsv4-rpcrdma-version-two-00, 5.2: "A requester can assume the same
 * situation (no responder support for RPC-over-RDMA Version Two) if the initial negotiation message is
 * lost or dropped." Another connection is needed for that, which does not count as a retry. */
static void
row_B13_a_connection_lost_under_version_2_is_made_again_with_version_1(void **state)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_fault_script script;
	struct rpcrdma_negotiated negotiated;
	struct rr_text why;
	struct world *world;
	struct call *call = call_new(ECHO_NULL);

	(void)state;
	/* The first Send is the client's first message. */
	assert_int_equal(rr_fault_parse("drop send 1", &script, &why), 0);
	config.filter = rr_fault_filter;
	config.filter_ctx = &script;
	world = world_new(&config);
	do_not_retry(world);
	assert_int_equal(call_run(world, call), 0);
	rr_client_negotiated(world->client, &negotiated);
	assert_int_equal(negotiated.version, 1);
	call_free(call);
	world_free(world);
}

/* A server that agreed to version 2 is not called in version 1 just because a call was lost with its
 * connection. */
static void
a_connection_lost_after_version_2_was_agreed_is_made_again_with_version_2(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_LATER);
	struct rpcrdma_negotiated negotiated;

	world_hold(world);
	call_start(world, call);
	world_settle(world);
	world_kill_server(world);
	world_start_server(world);
	world->held = 0;
	world_pass_until(world, call->done);
	assert_int_equal(call->error, 0);
	assert_int_equal(rr_client_reconnects(world->client), 1);
	rr_client_negotiated(world->client, &negotiated);
	assert_int_equal(negotiated.version, 2);
	call_free(call);
}

static void
an_idle_client_connects_again_when_it_is_used(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_NULL);

	assert_int_equal(call_run(world, call), 0);
	world_kill_server(world);
	world_settle(world);
	world_pass(world, 100 * RR_SECOND);
	world_start_server(world);
	call->done = false;
	assert_int_equal(call_run(world, call), 0);
	assert_int_equal(rr_client_reconnects(world->client), 1);
	call_free(call);
}

/* The server goes down each time during the call. */
static void
a_call_that_kills_every_connection_fails_in_the_end(void **state)
{
	struct world *world = *state;
	struct call *call = call_unanswered();
	uint32_t deaths = 0, handled = world->handled;

	call_start(world, call);
	while (!call->done) {
		world_pass_until(world, call->done || world->handled > handled);
		if (call->done)
			break;
		deaths++;
		handled = world->handled;
		assert_true(deaths <= 5);
		world_kill_server(world);
		world_start_server(world);
		world_settle(world);
	}
	assert_int_equal(call->error, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(deaths, 5);
	assert_non_null(strstr(rr_client_error(world->client), "ECHO_FAIL"));
	/* Other calls are not affected. */
	call->base.proc = ECHO_NULL;
	call->done = false;
	call_start(world, call);
	world_pass_until(world, call->done);
	assert_int_equal(call->error, 0);
	call_free(call);
}

static void
a_call_without_answer_times_out(void **state)
{
	struct world *world = *state;
	struct call *call = call_unanswered(), *other = call_new(ECHO_NULL);

	world_warm_up(world);
	call->base.timeout = 5 * RR_SECOND;
	call_start(world, call);
	world_settle(world);
	world_pass(world, 5 * RR_SECOND - 1);
	assert_false(call->done);
	world->stage.now += 1;
	assert_int_equal(call_wait(world, call), -RPCRDMA_ERR_TIMEDOUT);
	assert_non_null(strstr(rr_client_error(world->client), "5000 ms"));
	assert_int_equal(call_run(world, other), 0);
	call_free(call);
	call_free(other);
}

/* A peer that is slow, but answers others, is waited for. */
static void
a_call_that_bounds_silence_times_out_after_the_last_answer(void **state)
{
	struct world *world = *state;
	struct call *call = call_unanswered(), *other = call_new(ECHO_NULL);

	world_warm_up(world);
	call->base.timeout = 5 * RR_SECOND;
	call->base.silence = true;
	call_start(world, call);
	world_settle(world);
	for (int i = 0; i < 3; i++) {
		world_pass(world, 3 * RR_SECOND);
		other->done = false;
		assert_int_equal(call_run(world, other), 0);
	}
	world_pass(world, 5 * RR_SECOND - 1);
	assert_false(call->done);
	world->stage.now += 1;
	assert_int_equal(call_wait(world, call), -RPCRDMA_ERR_TIMEDOUT);
	call_free(call);
	call_free(other);
}

/* The first call of a connection has its only credit, and is never answered. If it was cancelled, it would
 * keep the other calls from being sent without end. */
static void
a_first_call_without_answer_does_not_hold_up_the_others(void **state)
{
	struct world *world = *state;
	struct call *call = call_unanswered(), *other = call_new(ECHO_NULL);

	call->base.timeout = 5 * RR_SECOND;
	call_start(world, call);
	world_settle(world);
	world->stage.now += 5 * RR_SECOND;
	assert_int_equal(call_wait(world, call), -RPCRDMA_ERR_TIMEDOUT);
	call_start(world, other);
	world_settle(world);
	for (int i = 0; i < 40 && !other->done; i++) {
		world_pass(world, RR_SECOND);
	}
	assert_true(other->done);
	assert_int_equal(other->error, 0);
	call_free(call);
	call_free(other);
}

/* A deadline ends its call but not the connection, which also takes the answer that comes too late. */
static void
an_answer_that_comes_too_late_harms_nothing(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_LATER), *other = call_new(ECHO_LATER);

	world_warm_up(world);
	world_hold(world);
	call->args.number = 3;
	call->base.timeout = 5 * RR_SECOND;
	call_start(world, call);
	world_settle(world);
	world->stage.now += 5 * RR_SECOND;
	assert_int_equal(call_wait(world, call), -RPCRDMA_ERR_TIMEDOUT);
	world_let_go(world);
	world_settle(world);
	assert_int_equal(world->handled, 1); /* the call was answered */
	assert_int_equal(call->times, 1);
	other->args.number = 4;
	assert_int_equal(call_run(world, other), 0);
	assert_int_equal(other->result.number, 4);
	assert_int_equal(rr_client_reconnects(world->client), 0);
	call_free(call);
	call_free(other);
}

/* The call is cancelled at every stage of its way, also before it was sent. */
static void
a_cancelled_call_is_not_heard_of_again(void **state)
{
	enum { LENGTH = 1 << 20 };
	struct world *world = *state;
	struct call *other = call_new(ECHO_NULL);

	for (int turns = 0; turns < 8; turns++) {
		struct call *call = blob_new(LENGTH, true);

		world_warm_up(world);
		call_start(world, call);
		for (int i = 0; i < turns && !call->done; i++)
			world_turn(world);
		if (!call->done) {
			rr_client_cancel(world->client, &call->base);
			memset(call->sink, 0xaa, LENGTH);
			memset(call->data, 0xbb, LENGTH);
			world_settle(world);
			assert_int_equal(call->times, 0);
			for (uint32_t i = 0; i < LENGTH; i += 511)
				assert_int_equal(call->sink[i], 0xaa);
		}
		call_free(call);
		other->done = false;
		call_start(world, other);
		world_pass_until(world, other->done);
		assert_int_equal(other->error, 0);
	}
	call_free(other);
}

static void
a_client_is_freed_with_calls_in_every_place(void **state)
{
	struct world *world = *state;
	struct call *waiting = call_new(ECHO_NULL), *out = call_unanswered(), *ending = call_new(7);
	struct rr_client_config config;

	world_client_config(world, &config);
	call_start(world, waiting); /* there is no connection yet */
	rr_client_free(world->client);
	world->client = world_connect(world, &config);
	out->base.timeout = RR_SECOND;
	call_start(world, out);
	world_settle(world);
	call_start(world, ending);
	rr_client_free(world->client);
	world->client = NULL;
	world_pass(world, 2 * RR_SECOND);
	assert_int_equal(waiting->times + out->times + ending->times, 0);
	call_free(waiting);
	call_free(out);
	call_free(ending);
}

static struct world *freeing;

/* Frees the client while it tells that a call is done. */
static void
free_client(struct rr_call *base, int error)
{
	struct call *call = rr_container(base, struct call, base);

	call->times++;
	call->error = error;
	rr_client_free(freeing->client);
	freeing->client = NULL;
}

/* The client is freed inside the done() of a call that was answered, and of a call that never started. */
static void
a_client_may_be_freed_inside_done(void **state)
{
	static const uint32_t procedures[] = { ECHO_NULL, 7 };
	struct world *world = *state;
	struct rr_client_config config;

	freeing = world;
	world_client_config(world, &config);
	for (int i = 0; i < 2; i++) {
		struct call *call = call_new(procedures[i]), *other = call_new(procedures[i]);

		call->base.done = other->base.done = free_client;
		call_start(world, call);
		call_start(world, other);
		world_until(world, call->times + other->times > 0);
		world_settle(world);
		assert_int_equal(call->times + other->times, 1);
		world->client = world_connect(world, &config);
		call_free(call);
		call_free(other);
	}
}

static void
a_shutdown_answers_what_was_received(void **state)
{
	struct world *world = *state;
	struct call *call = call_new(ECHO_LATER), *large = blob_new(500000, true);

	call->args.number = 3;
	world_warm_up(world);
	world_hold(world);
	call_start(world,
		large); /* this call is first: once it waits for memory, no other large call is received */
	call_start(world, call);
	world_settle(world);
	rr_server_shutdown(world->server);
	world_settle(world);
	assert_false(call->done || large->done);
	assert_false(rr_server_idle(world->server));
	world_let_go(world);
	world_until(world, call->done && large->done);
	assert_int_equal(call->error, 0);
	assert_blob(large);
	assert_int_equal(rr_client_reconnects(world->client), 0);
	world_until(world, rr_server_idle(world->server));
	call_free(call);
	call_free(large);
}

static void
a_server_without_connections_is_idle_at_once(void **state)
{
	struct world *world = *state;

	rr_client_free(world->client);
	world->client = NULL;
	world_settle(world);
	assert_false(rr_server_idle(world->server));
	rr_server_shutdown(world->server);
	world_until(world, rr_server_idle(world->server));
}

static void
two_servers_cannot_listen_at_one_port(void **state)
{
	struct world *world = *state;
	struct rr_text why = { "" };
	struct sockaddr *address = (struct sockaddr *)&world->address;
	int error;

	if (world_provider)
		error = rr_server_listen(
			world->server, RR_TRANSPORT_AUTO, address, sizeof(world->address), NULL, &why);
	else
		error = rr_server_listen(
			world->server, RR_TRANSPORT_TCP, address, sizeof(world->address), NULL, &why);
	assert_int_equal(error, -RPCRDMA_ERR_SYSTEM);
	assert_true(strlen(why.text) > 0);
}

int
suite_lost(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(nobody_listening_fails_every_call_with_the_reason),
		suite_test(calls_survive_a_restart_of_the_server),
		suite_test(reconnecting_backs_off_by_times_that_differ),
		suite_test(calls_fail_when_the_server_stays_away),
		suite_test(without_retry_a_lost_connection_fails_its_calls),
		suite_test(an_idle_client_connects_again_when_it_is_used),
		suite_test(a_call_that_kills_every_connection_fails_in_the_end),
		suite_test(a_call_without_answer_times_out),
		suite_test(a_call_that_bounds_silence_times_out_after_the_last_answer),
		suite_test(a_first_call_without_answer_does_not_hold_up_the_others),
		suite_test(an_answer_that_comes_too_late_harms_nothing),
		suite_test(a_cancelled_call_is_not_heard_of_again),
		suite_test(a_client_is_freed_with_calls_in_every_place),
		suite_test(a_client_may_be_freed_inside_done),
		suite_test(a_shutdown_answers_what_was_received),
		suite_test(a_server_without_connections_is_idle_at_once),
		suite_test(two_servers_cannot_listen_at_one_port),
	};

	const struct CMUnitTest versions[] = {
		cmocka_unit_test(row_B13_a_connection_lost_under_version_2_is_made_again_with_version_1),
		suite_test(a_connection_lost_after_version_2_was_agreed_is_made_again_with_version_2),
	};

	/* TCP has no versions of RPC-over-RDMA. */
	return cmocka_run_group_tests_name("lost", tests, NULL, NULL) +
	       (world_provider ? cmocka_run_group_tests_name("lost versions", versions, NULL, NULL) : 0);
}
