/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "suite.h"
#include "world.h"

static void
disconnecting_lets_what_was_posted_arrive(void **state)
{
	enum { SIZE = 3 << 20 };
	struct world *world = *state;
	uint8_t *from = filled(SIZE, 1), *to = calloc(1, SIZE);
	struct rr_region region;

	world_connect(world);
	assert_int_equal(rr_endpoint_register(world->server.endpoint, to, SIZE, RR_REMOTE_WRITE, &region), 0);
	assert_int_equal(
		side_post(&world->client, RR_WORK_WRITE, from, SIZE, region.handle, region.offset, 1), 0);
	assert_int_equal(side_send(&world->client, "bye", 3, 2), 0);
	rr_endpoint_disconnect(world->client.endpoint);
	rr_endpoint_disconnect(world->client.endpoint);
	assert_int_equal(side_send(&world->client, "late", 4, 3), -RPCRDMA_ERR_DISCONNECTED);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->client.completions, 2);
	assert_int_equal(world->client.completed[0].status, 0);
	assert_int_equal(world->client.completed[1].status, 0);
	assert_int_equal(world->client.status, 0);
	assert_int_equal(world->server.receives, 1);
	assert_int_equal(world->server.status, -RPCRDMA_ERR_DISCONNECTED);
	assert_memory_equal(from, to, SIZE);
	rr_endpoint_disconnect(world->client.endpoint);
	free(from);
	free(to);
}

static void
a_side_that_never_spoke_can_disconnect(void **state)
{
	struct world *world = *state;

	world_connect(world);
	assert_int_equal(side_send(&world->server, "x", 1, 1), 0);
	rr_endpoint_disconnect(world->client.endpoint);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->client.status, 0);
}

static void
what_is_outstanding_is_completed_before_the_end_is_told(void **state)
{
	enum { N = 100, SIZE = 1 << 20 };
	struct rr_fabric_config config = rr_fabric_config_default;
	struct world *world;
	uint8_t *data = filled(SIZE, 2);
	uint32_t cancelled = 0;

	(void)state;
	config.receive_max = 1;
	config.receive_size = SIZE;
	world = world_new(&config);
	world->server.keep_receives = true;
	world_connect(world);
	for (int i = 0; i < N; i++)
		assert_int_equal(side_send(&world->client, data, SIZE, 1), 0);
	world_until(world, world->server.receives == 1);
	world_settle(world);
	side_close(&world->server);
	world_until(world, world->client.disconnected);
	assert_int_equal(world->client.status, -RPCRDMA_ERR_DISCONNECTED);
	assert_int_equal(world->client.completions, N);
	for (int i = 0; i < N; i++) {
		assert_true(world->client.completed[i].status == 0 ||
			    world->client.completed[i].status == -RPCRDMA_ERR_CANCELLED);
		cancelled += world->client.completed[i].status != 0;
	}
	assert_true(cancelled > 0);
	assert_int_equal(side_send(&world->client, "x", 1, 1), -RPCRDMA_ERR_DISCONNECTED);
	rr_fabric_release(world->fabric, world->server.received[0].data);
	world_free(world);
	free(data);
}

static void
outstanding_reads_are_cancelled(void **state)
{
	enum { SIZE = 8 << 20, N = 50 };
	struct world *world = *state;
	uint8_t *from = filled(SIZE, 3), *to = malloc(SIZE);
	struct rr_region region;

	world_connect(world);
	assert_int_equal(
		rr_endpoint_register(world->server.endpoint, from, SIZE, RR_REMOTE_READ, &region), 0);
	for (int i = 0; i < N; i++)
		assert_int_equal(
			side_post(&world->client, RR_WORK_READ, to, SIZE, region.handle, region.offset, 1),
			0);
	assert_int_equal(side_send(&world->client, "x", 1, 2), 0);
	world_turn(world);
	side_close(&world->server);
	world_until(world, world->client.disconnected);
	assert_int_equal(world->client.completions, N + 1);
	free(from);
	free(to);
}

static void
closing_inside_any_handler_is_safe(void **state)
{
	static const enum rr_event_kind kinds[] = { RR_EVENT_ESTABLISHED, RR_EVENT_DISCONNECTED,
		RR_EVENT_COMPLETED, RR_EVENT_RECEIVED };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (int client = 0; client < 2; client++) {
			struct world *world = world_new(&rr_fabric_config_default);
			struct side *side = client ? &world->client : &world->server;
			struct side *other = client ? &world->server : &world->client;

			side->closes = true;
			side->close_on = kinds[i];
			world_dial(world, &world->client, NULL, 0);
			world_until(world, side->established && (other->established || !side->endpoint));
			for (int n = 0; n < 5 && side->endpoint && other->endpoint; n++) {
				assert_int_equal(side_send(&world->client, "x", 1, 1), 0);
				assert_int_equal(side_send(&world->server, "y", 1, 1), 0);
			}
			if (kinds[i] == RR_EVENT_DISCONNECTED)
				rr_endpoint_disconnect(other->endpoint);
			world_until(world, !side->endpoint && (!other->endpoint || other->disconnected));
			world_free(world);
		}
	}
}

static void
closing_with_work_in_flight_forgets_it(void **state)
{
	enum { SIZE = 16 << 20 };
	struct world *world = *state;
	uint8_t *from = filled(SIZE, 4), *to = malloc(SIZE);
	struct rr_region region;

	world_connect(world);
	assert_int_equal(rr_endpoint_register(world->server.endpoint, to, SIZE, RR_REMOTE_WRITE, &region), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(
			side_post(&world->client, RR_WORK_WRITE, from, SIZE, region.handle, region.offset, 1),
			0);
	for (int i = 0; i < 3; i++)
		world_turn(world);
	side_close(&world->client);
	free(from);
	world_until(world, world->server.disconnected);
	free(to);
}

/* Invalidates a region while large accesses to it are under way: afterwards, the memory is not touched any
 * more. */
static void
invalidation_in_the_middle_of_an_access(enum rr_work_kind kind, int turns)
{
	enum { SIZE = 16 << 20 };
	struct world *world = world_new(&rr_fabric_config_default);
	uint8_t *own = malloc(SIZE), *memory = malloc(SIZE);
	struct rr_region region;

	memset(own, 1, SIZE);
	memset(memory, 2, SIZE);
	world_connect(world);
	assert_int_equal(rr_endpoint_register(world->server.endpoint, memory, SIZE,
				 RR_REMOTE_WRITE | RR_REMOTE_READ, &region),
		0);
	assert_int_equal(side_post(&world->client, kind, own, SIZE, region.handle, region.offset, 1), 0);
	for (int i = 0; i < turns; i++)
		rr_loop_turn(world->stage.loop, 0);
	rr_endpoint_invalidate(world->server.endpoint, &region);
	free(memory);
	world_until(world, world->client.completions == 1);
	world_free(world);
	free(own);
}

static void
memory_is_not_touched_after_invalidation(void **state)
{
	/* An adapter can take seconds to notice that a request was cut short. */
	int step = world_is_adapter() ? 6 : 2;

	(void)state;
	for (int turns = 0; turns < 12; turns += step) {
		invalidation_in_the_middle_of_an_access(RR_WORK_WRITE, turns);
		invalidation_in_the_middle_of_an_access(RR_WORK_READ, turns);
	}
}

static void
a_region_can_be_invalidated_while_sends_wait(void **state)
{
	struct rr_fabric_config config = rr_fabric_config_default;
	struct world *world;
	struct rr_region region;
	uint8_t *memory = malloc(8);

	(void)state;
	config.receive_max = 1;
	world = world_new(&config);
	if (rr_fabric_limits(world->fabric)->receives_must_suffice) {
		world_free(world);
		free(memory);
		skip();
	}
	world->server.keep_receives = true;
	world_connect(world);
	for (int i = 0; i < 3; i++)
		assert_int_equal(side_send(&world->client, "x", 1, 0), 0);
	world_until(world, world->server.receives == 1);
	world_settle(world);
	assert_int_equal(
		rr_endpoint_register(world->client.endpoint, memory, 8, RR_REMOTE_WRITE, &region), 0);
	world_turn(world);
	rr_endpoint_invalidate(world->client.endpoint, &region);
	free(memory);
	/* An adapter cannot take back requests that wait in its queue, and ends the connection instead. */
	if (world_is_adapter())
		world_until(world, world->client.disconnected);
	else
		world_settle(world);
	assert_int_equal(world->client.disconnected, world_is_adapter());
	rr_fabric_release(world->fabric, world->server.received[0].data);
	world->server.keep_receives = false;
	world->server.received[0].data = NULL;
	world_free(world);
}

int
suite_end(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(disconnecting_lets_what_was_posted_arrive),
		TEST(a_side_that_never_spoke_can_disconnect),
		cmocka_unit_test(what_is_outstanding_is_completed_before_the_end_is_told),
		TEST(outstanding_reads_are_cancelled),
		cmocka_unit_test(closing_inside_any_handler_is_safe),
		TEST(closing_with_work_in_flight_forgets_it),
		cmocka_unit_test(memory_is_not_touched_after_invalidation),
		cmocka_unit_test(a_region_can_be_invalidated_while_sends_wait),
	};

	return cmocka_run_group_tests_name("end", tests, NULL, NULL);
}
