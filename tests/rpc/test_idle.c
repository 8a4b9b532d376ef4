/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of idle connections for a server: memory that calls needed is shared, or given back. */
#include "carrier/rdma/core/trace.h"
#include "fabric/iwarp/iwarp.h"

#include "suite.h"

#include <malloc.h>

/* Calls at a time. Over RDMA there are as many as have their headers in one block of the trace, as all
 * connections share a bounded number of blocks (tests/carrier/test_trace.c). */
enum { CLIENTS = 16, BURST = 48, BURST_RDMA = RR_TRACE_BLOCK / 2 - 4, OCTETS_MAX = 8192 };

/* Clients on an engine of their own, so that only the server's memory is counted. */
struct crowd {
	struct world *world;
	struct stage stage;
	struct rpcrdma_client *clients[CLIENTS];
	struct call *calls[BURST];
	int burst; /* how many calls are made at a time */
};

static size_t octets; /* octets of memory that the server's engine has more than in the beginning */

/* Counts the octets that are allocated now. */
static void *
count_octets(void *ctx, void *old, size_t size)
{
	void *memory;

	octets -= malloc_usable_size(old);
	memory = rr_env_system.realloc(ctx, old, size);
	octets += malloc_usable_size(memory);
	return memory;
}

static bool
crowd_is_done(const struct crowd *crowd)
{
	for (int i = 0; i < crowd->burst; i++) {
		if (!crowd->calls[i]->done)
			return false;
	}
	return true;
}

/* Makes that many calls at a time, as a client does that is busy for a moment. */
static void
crowd_burst(struct crowd *crowd, struct rpcrdma_client *client)
{
	for (int i = 0; i < crowd->burst; i++) {
		crowd->calls[i]->done = false;
		rr_client_call(client, &crowd->calls[i]->base);
	}
	while (!crowd_is_done(crowd)) {
		stage_turn(&crowd->stage);
		world_turn(crowd->world);
	}
	for (int i = 0; i < crowd->burst; i++)
		assert_int_equal(crowd->calls[i]->error, 0);
}

/* Makes another client, and lets it make a burst of calls. */
static void
crowd_join(struct crowd *crowd, struct rpcrdma_client **client)
{
	struct rr_client_config config;
	struct rr_text why;

	world_client_config(crowd->world, &config);
	assert_int_equal(rr_client_new(crowd->stage.engine, &config, client, &why), 0);
	crowd_burst(crowd, *client);
}

static void
idle_connections_hold_next_to_nothing(void **state)
{
	struct crowd crowd = { .world = *state, .burst = world_provider ? BURST_RDMA : BURST };
	size_t before;

	stage_init(&crowd.stage);
	stage_engine(&crowd.stage, NULL, world_provider);
	for (int i = 0; i < BURST; i++) {
		crowd.calls[i] = call_new(ECHO_ECHO);
		crowd.calls[i]->args.echo = (text){ "idle", 4 };
	}
	crowd.world->stage.env.realloc = count_octets;
	/* The memory that all connections share is allocated with the first of them. */
	for (int i = 0; i < CLIENTS / 2; i++)
		crowd_join(&crowd, &crowd.clients[i]);
	before = octets;
	for (int i = CLIENTS / 2; i < CLIENTS; i++)
		crowd_join(&crowd, &crowd.clients[i]);
	assert_in_range((octets - before) / (CLIENTS / 2), 1, OCTETS_MAX);
	for (int i = 0; i < CLIENTS; i++)
		rr_client_free(crowd.clients[i]);
	for (int i = 0; i < BURST; i++)
		call_free(crowd.calls[i]);
	stage_end(&crowd.stage);
}

static int
run(rr_fabric_new *provider)
{
	const struct CMUnitTest tests[] = { suite_test(idle_connections_hold_next_to_nothing) };

	world_provider = provider;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int
main(void)
{
	return run(NULL) + run(rr_iwarp_fabric_new);
}
