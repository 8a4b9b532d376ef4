/* SPDX-License-Identifier: BSD-3-Clause */
/* A client over several connections. */
#include "rpc/client_private.h"
#include "suite.h"

#include <string.h>

enum { CONNECTIONS = 4, CALLS = 40 };

/* Connects the client again, with this many connections. */
static void
connect_several(struct world *world, uint32_t connections)
{
	struct rr_client_config config;

	rr_client_free(world->client);
	world_client_config(world, &config);
	config.connections = connections;
	world->client = world_connect(world, &config);
}

/* Makes calls until each connection has its credits: over RDMA, a connection carries one call at a time
 * before its first answer. */
static void
warm_up(struct world *world)
{
	for (uint32_t i = 0; i <= world->client->more_count; i++)
		world_until(
			world, (i == 0 ? world->client : world->client->more[i - 1])->state == RR_CLIENT_UP);
	for (int round = 0; round < 2; round++) {
		struct call *calls[CONNECTIONS];

		for (int i = 0; i < CONNECTIONS; i++) {
			calls[i] = call_new(ECHO_NULL);
			call_start(world, calls[i]);
		}
		for (int i = 0; i < CONNECTIONS; i++) {
			assert_int_equal(call_wait(world, calls[i]), 0);
			call_free(calls[i]);
		}
	}
}

static struct call *
tally_new(void)
{
	struct call *call = call_new(ECHO_TALLY);

	call->args.number = 1;
	return call;
}

static void
calls_are_spread_evenly_over_the_connections(void **state)
{
	struct world *world = *state;
	struct call *calls[CALLS];

	connect_several(world, CONNECTIONS);
	warm_up(world);
	assert_int_equal(world->server->connection_count, CONNECTIONS);
	world_hold(world);
	for (int i = 0; i < CALLS; i++) {
		calls[i] = call_new(ECHO_LATER);
		call_start(world, calls[i]);
	}
	assert_int_equal(world->client->load, CALLS / CONNECTIONS);
	for (int i = 0; i < CONNECTIONS - 1; i++)
		assert_int_equal(world->client->more[i]->load, CALLS / CONNECTIONS);
	/* A call that is cancelled leaves its place to the next call. */
	rr_client_cancel(world->client, &calls[2]->base);
	call_start(world, calls[2]);
	assert_int_equal(world->client->load, CALLS / CONNECTIONS);
	world_let_go(world);
	for (int i = 0; i < CALLS; i++) {
		assert_int_equal(call_wait(world, calls[i]), 0);
		call_free(calls[i]);
	}
	assert_int_equal(world->client->load, 0);
	for (int i = 0; i < CONNECTIONS - 1; i++)
		assert_int_equal(world->client->more[i]->load, 0);
}

/* Cuts the connection of the call that came last: the call was executed, and its answer is lost. */
static void
cut_one(struct rr_task *task)
{
	struct world *world = rr_container(task, struct world, strike);
	struct rr_party *last = NULL;

	rr_list_for_each (link, &world->stage.engine->shares.parties) {
		struct rr_party *party = rr_container(link, struct rr_party, link);

		if (party->accepted && (!last || party->order > last->order))
			last = party;
	}
	assert_non_null(last);
	last->ops->cut(last->ctx, "the test cuts one connection");
}

/* Each call is executed once although its connection is lost: the call is sent again on the connection
 * that replaces the lost connection, with the same XID. The other connections are not affected. */
static void
a_lost_connection_is_made_again_by_itself_and_repeats_its_own_calls(void **state)
{
	struct world *world = *state;
	struct rpcrdma_client *over[CALLS];
	struct call *calls[CALLS];
	uint32_t xids[CALLS];

	connect_several(world, CONNECTIONS);
	warm_up(world);
	rr_task_init(&world->strike, cut_one);
	world->striking = true;
	for (int i = 0; i < CALLS; i++) {
		calls[i] = tally_new();
		call_start(world, calls[i]);
		over[i] = calls[i]->base.client;
		xids[i] = calls[i]->base.transaction.xid;
		for (int j = 0; j < i; j++)
			assert_true(xids[i] != xids[j]);
	}
	for (int i = 0; i < CALLS; i++) {
		world_pass_until(world, calls[i]->done);
		assert_int_equal(calls[i]->error, 0);
		assert_int_equal(calls[i]->times, 1);
		assert_ptr_equal(calls[i]->base.client, over[i]);
		assert_int_equal(calls[i]->base.transaction.xid, xids[i]);
		call_free(calls[i]);
	}
	assert_int_equal(world->tally, CALLS);
	assert_true(rr_drc_hits(world->drc) > 0);
	assert_int_equal(rr_client_reconnects(world->client), 1);
	assert_int_equal(world->server->connection_count, CONNECTIONS);
}

/* If the server refuses a further connection, the client goes on without it. Only the first connection
 * decides whether there is a client. */
static void
what_cannot_be_connected_is_done_without(void **state)
{
	struct world *world = *state;

	connect_several(world, 2);
	world_until(world, world->client->more[0]->state != RR_CLIENT_FIRST);
	rr_client_disconnect(world->client->more[0]);
	world->client->more[0]->state = RR_CLIENT_FAILED;
	for (int i = 0; i < 3; i++) {
		struct call *call = tally_new();

		assert_int_equal(call_run(world, call), 0);
		assert_ptr_equal(call->base.client, world->client);
		call_free(call);
	}
}

/* The text of a failure is that of the connection that failed. */
static void
the_reason_of_a_failure_is_that_of_the_connection(void **state)
{
	struct world *world = *state;
	struct call *first = call_unanswered(), *second = call_unanswered();

	connect_several(world, 2);
	world_until(
		world, world->client->state == RR_CLIENT_UP && world->client->more[0]->state == RR_CLIENT_UP);
	call_start(world, first);
	second->base.timeout = RR_SECOND;
	call_start(world, second);
	assert_ptr_equal(second->base.client, world->client->more[0]);
	world_pass_until(world, second->done);
	assert_int_equal(second->error, -RPCRDMA_ERR_TIMEDOUT);
	assert_non_null(strstr(rr_client_error(world->client), "no answer to "));
	/* Freeing the client ends the calls of all its connections. */
	rr_client_free(world->client);
	world->client = NULL;
	assert_false(first->done);
	call_free(first);
	call_free(second);
}

int
suite_spread(void)
{
	const struct CMUnitTest tests[] = {
		suite_test(calls_are_spread_evenly_over_the_connections),
		suite_test(a_lost_connection_is_made_again_by_itself_and_repeats_its_own_calls),
		suite_test(what_cannot_be_connected_is_done_without),
		suite_test(the_reason_of_a_failure_is_that_of_the_connection),
	};

	return cmocka_run_group_tests_name("spread", tests, NULL, NULL);
}
