/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that their handlers keep, and answer in a later turn. */
#include "suite.h"

static struct call *
tally_new(uint32_t number)
{
	struct call *call = call_new(ECHO_TALLY);

	call->args.number = number;
	return call;
}

struct answer {
	struct rr_timer timer;
	struct world *world;
};

static void
answer_now(struct rr_timer *timer)
{
	world_answer_kept(rr_container(timer, struct answer, timer)->world);
}

static void
a_handler_answers_from_a_timer(void **state)
{
	struct world *world = *state;
	struct answer answer = { .world = world };
	struct call *call = tally_new(5), *other = call_new(ECHO_LATER);

	world_warm_up(world);
	world->keeping = true;
	rr_timer_init(&answer.timer, answer_now);
	rr_loop_arm(world->stage.engine->loop, &answer.timer, RR_SECOND);
	call_start(world, call);
	world_until(world, world->kept_count == 1);
	/* Other calls are served meanwhile. */
	other->args.number = 3;
	assert_int_equal(call_run(world, other), 0);
	world_settle(world);
	assert_false(call->done);
	world_pass(world, RR_SECOND);
	world_until(world, call->done);
	assert_int_equal(call->error, 0);
	assert_int_equal(call->result.number, 5);
	call_free(call);
	call_free(other);
}

/* Has a client of its own make a call whose request is kept, and frees the client. */
static void
call_and_go(struct world *world)
{
	struct rr_client_config config;
	struct rpcrdma_client *client;
	struct call *call = tally_new(7);

	world_client_config(world, &config);
	client = world_connect(world, &config);
	rr_client_call(client, &call->base);
	world_until(world, world->kept_count == 1);
	rr_client_free(client);
	call_free(call);
}

/* Makes a connection without a call under way, and closes it. */
static void
come_and_go(struct world *world)
{
	uint32_t before = rr_server_connections(world->server);
	struct call *call = call_new(ECHO_NULL);
	struct rr_client_config config;
	struct rpcrdma_client *client;

	world_client_config(world, &config);
	client = world_connect(world, &config);
	rr_client_call(client, &call->base);
	world_until(world, call->done);
	assert_int_equal(rr_server_connections(world->server), before + 1);
	rr_client_free(client);
	world_until(world, rr_server_connections(world->server) == before);
	call_free(call);
}

static void
a_handler_hears_that_the_connection_is_lost(void **state)
{
	struct world *world = *state;
	struct call *call;

	world->keeping = world->forgoing = true;
	call_and_go(world);
	world_until(world, world->lost == 1);
	assert_int_equal(world->kept_count, 0);
	world->keeping = false;
	call = tally_new(1);
	assert_int_equal(call_run(world, call), 0);
	assert_int_equal(world->tally, 1);
	call_free(call);
}

/* The handler is called once for the loss, even if other connections are lost while it keeps its request. */
static void
an_answer_to_a_lost_connection_goes_nowhere(void **state)
{
	struct world *world = *state;

	world->keeping = true;
	call_and_go(world);
	world_until(world, world->lost == 1);
	assert_int_equal(world->kept_count, 1);
	come_and_go(world);
	assert_int_equal(world->lost, 1);
	world_answer_kept(world);
	assert_int_equal(world->tally, 7);
	assert_int_equal(world->lost, 1);
}

/* The handler answers although the server is gone: the rest of the server is freed then. */
static void
a_request_may_outlive_its_server(void **state)
{
	struct world *world = *state;

	world->keeping = true;
	call_and_go(world);
	world_kill_server(world);
	assert_int_equal(world->kept_count, 1);
	world_answer_kept(world);
	world_start_server(world);
}

int
suite_later(void)
{
	static const struct CMUnitTest tests[] = {
		suite_test(a_handler_answers_from_a_timer),
		suite_test(a_handler_hears_that_the_connection_is_lost),
		suite_test(an_answer_to_a_lost_connection_goes_nowhere),
		suite_test(a_request_may_outlive_its_server),
	};

	return cmocka_run_group_tests_name("requests answered later", tests, NULL, NULL);
}
