/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "suite.h"
#include "world.h"

enum { SIZE = 1000 };

static uint8_t memory[SIZE], local[SIZE + 1];

/* The client accesses a region of the server that was registered with these rights. Returns whether the
 * access was refused. */
static bool
is_refused(unsigned rights, enum rr_work_kind kind, int64_t shift, uint32_t length, uint32_t handle_change)
{
	struct world *world = world_new(&rr_fabric_config_default);
	struct rr_region region;
	bool refused;

	memset(memory, 0x11, SIZE);
	memset(local, 0x22, SIZE);
	world_connect(world);
	assert_int_equal(rr_endpoint_register(world->server.endpoint, memory, SIZE, rights, &region), 0);
	assert_int_equal(side_post(&world->client, kind, local, length, region.handle ^ handle_change,
				 region.offset + (uint64_t)shift, 1),
		0);
	assert_int_equal(side_send(&world->client, "x", 1, 2), 0);
	world_until(
		world, world->server.receives || (world->client.disconnected && world->server.disconnected));
	if (world->server.receives)
		world_until(world, world->client.completions == 2);
	/* siw looks at the memory of a Read when it sends the answer, which may be after the Send arrived.
	 * The Send then completes before the Read. */
	refused = world->server.disconnected || world->client.completed[0].status ||
		  world->client.completed[1].status;
	if (refused) {
		world_until(world, world->client.disconnected && world->server.disconnected);
		assert_true(world_tells_refusal(world->server.status));
		assert_true(world_is_adapter() || strstr(world->server.text, "0x"));
		assert_true(world_tells_refusal(world->client.status));
		for (int i = 0; i < SIZE; i++)
			assert_int_equal(memory[i], 0x11);
		for (int i = 0; i < SIZE && kind == RR_WORK_READ; i++)
			assert_int_equal(local[i], 0x22);
	}
	world_free(world);
	return refused;
}

static void
rights_are_enforced(void **state)
{
	(void)state;
	assert_false(is_refused(RR_REMOTE_WRITE, RR_WORK_WRITE, 0, SIZE, 0));
	assert_false(is_refused(RR_REMOTE_READ, RR_WORK_READ, 0, SIZE, 0));
	assert_false(is_refused(RR_REMOTE_READ | RR_REMOTE_WRITE, RR_WORK_READ, 1, SIZE - 1, 0));
	assert_true(is_refused(RR_REMOTE_READ, RR_WORK_WRITE, 0, SIZE, 0));
	if (world_checks_reads())
		assert_true(is_refused(RR_REMOTE_WRITE, RR_WORK_READ, 0, SIZE, 0));
}

/* RFC 8166, 8.1: no "vulnerabilities to system memory contents nor to memory owned by user processes". */
static void
bounds_are_enforced(void **state)
{
	static const enum rr_work_kind kinds[] = { RR_WORK_WRITE, RR_WORK_READ };

	(void)state;
	for (int i = 0; i < 2; i++) {
		unsigned rights = i ? RR_REMOTE_READ : RR_REMOTE_WRITE;

		assert_false(is_refused(rights, kinds[i], SIZE - 1, 1, 0));
		assert_true(is_refused(rights, kinds[i], 0, SIZE + 1, 0));
		assert_true(is_refused(rights, kinds[i], -1, 1, 0));
		assert_true(is_refused(rights, kinds[i], SIZE, 1, 0));
		assert_true(is_refused(rights, kinds[i], INT64_MAX, SIZE, 0));
		assert_true(is_refused(rights, kinds[i], INT64_MIN, 2, 0));
	}
}

static void
unknown_handles_are_refused(void **state)
{
	(void)state;
	for (int bit = 0; bit < 32; bit += 5) {
		assert_true(is_refused(RR_REMOTE_WRITE, RR_WORK_WRITE, 0, 1, UINT32_C(1) << bit));
		assert_true(is_refused(RR_REMOTE_READ, RR_WORK_READ, 0, 1, UINT32_C(1) << bit));
	}
}

/* RFC 8166, 8.1: providers are "conformant to the requirements of [RFC5042]". */
static void
a_handle_is_good_for_its_own_endpoint_only(void **state)
{
	struct world *world = *state;
	struct side first;
	struct rr_region region, another;

	world_connect(world);
	first = world->server;
	assert_int_equal(rr_endpoint_register(first.endpoint, memory, SIZE, RR_REMOTE_WRITE, &region), 0);
	world->answer = WORLD_HOLD;
	side_close(&world->client);
	world->client.established = world->server.established = false;
	world_until(world, world->server.disconnected);
	world->server.disconnected = false;
	world_dial(world, &world->client, NULL, 0);
	world_until(world, world->asking);
	world_accept(world, &world->server);
	world_until(world, world->client.established && world->server.established);
	/* The endpoint's own region, with its own handle, has the same size and place. */
	assert_int_equal(
		rr_endpoint_register(world->server.endpoint, memory, SIZE, RR_REMOTE_WRITE, &another), 0);
	assert_true(another.handle != region.handle);
	assert_int_equal(
		side_post(&world->client, RR_WORK_WRITE, local, 1, region.handle, another.offset, 1), 0);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_true(world_tells_refusal(world->server.status));
	rr_endpoint_close(first.endpoint);
}

static void
a_violation_ends_no_other_connection(void **state)
{
	struct world *world = *state;
	struct side second = { .world = world };

	world_connect(world);
	world->answer = WORLD_HOLD;
	world_dial(world, &second, NULL, 0);
	world_until(world, world->asking);
	assert_int_equal(side_post(&world->client, RR_WORK_WRITE, local, 1, 1, 1, 1), 0);
	world_until(world, world->client.disconnected && world->server.disconnected);
	side_close(&world->server);
	world->server.disconnected = world->server.established = false;
	world_accept(world, &world->server);
	world_until(world, second.established && world->server.established);
	assert_int_equal(side_send(&second, "x", 1, 0), 0);
	world_until(world, world->server.receives == 1);
	side_close(&second);
}

static struct rr_region
expose(struct world *world)
{
	struct rr_region region;

	assert_int_equal(
		rr_endpoint_register(world->server.endpoint, memory, SIZE, RR_REMOTE_WRITE, &region), 0);
	return region;
}

/* A peer that writes to the region all the same loses the connection. */
static void
assert_out_of_reach(struct world *world, const struct rr_region *region)
{
	assert_int_equal(
		side_post(&world->client, RR_WORK_WRITE, local, 1, region->handle, region->offset, 1), 0);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_true(world_tells_refusal(world->server.status));
}

static void
an_invalidated_region_is_out_of_reach(void **state)
{
	struct world *world = *state;
	struct rr_region region, copy;

	world_connect(world);
	region = expose(world);
	copy = region;
	rr_endpoint_invalidate(world->server.endpoint, &region);
	rr_endpoint_invalidate(world->server.endpoint, &region);
	assert_out_of_reach(world, &copy);
	assert_true(world_tells_refusal(world->client.status));
}

static void
a_send_can_invalidate_the_peers_region(void **state)
{
	struct world *world = *state;
	struct rr_region region, other;

	if (!rr_fabric_limits(world->fabric)->remote_invalidation)
		skip();
	world_connect(world);
	region = expose(world);
	other = expose(world);
	/* The second time, the region is invalid already. Other providers accept that; for an adapter it is a
	 * fault of the sender. */
	for (uint32_t i = 0; i < (world_is_adapter() ? 1 : 2); i++) {
		assert_int_equal(
			side_post(&world->client, RR_WORK_SEND_INVALIDATE, "gone", 4, region.handle, 0, 1),
			0);
		world_until(world, world->server.receives == i + 1);
		assert_true(world->server.received[i].invalidated);
		assert_int_equal(world->server.received[i].handle, region.handle);
		assert_int_equal(world->server.received[i].length, 4);
	}
	assert_int_equal(
		side_post(&world->client, RR_WORK_WRITE, local, 1, other.handle, other.offset, 0), 0);
	assert_out_of_reach(world, &region);
	rr_endpoint_invalidate(world->server.endpoint, &region);
}

static void
a_revoked_region_is_out_of_reach_but_its_handle_is_known(void **state)
{
	struct world *world = *state;
	struct rr_region region, copy;

	world_connect(world);
	region = expose(world);
	copy = region;
	rr_endpoint_revoke(world->server.endpoint, &region);
	assert_int_equal(region.handle, copy.handle);
	/* To an adapter, the handle is unknown from now on. */
	if (!world_is_adapter()) {
		assert_int_equal(
			side_post(&world->client, RR_WORK_SEND_INVALIDATE, "gone", 4, copy.handle, 0, 1), 0);
		world_until(world, world->server.receives == 1);
		assert_int_equal(world->server.received[0].handle, copy.handle);
	}
	assert_out_of_reach(world, &copy);
	rr_endpoint_invalidate(world->server.endpoint, &region);
}

static void
invalidating_what_is_no_region_ends_the_connection(void **state)
{
	struct world *world = *state;

	if (!rr_fabric_limits(world->fabric)->remote_invalidation)
		skip();
	world_connect(world);
	assert_int_equal(side_post(&world->client, RR_WORK_SEND_INVALIDATE, "x", 1, 12345, 0, 1), 0);
	world_until(world, world->client.disconnected && world->server.disconnected);
	assert_int_equal(world->server.receives, 0);
	assert_true(world_tells_refusal(world->server.status));
	assert_true(world_tells_refusal(world->client.status));
}

int
suite_faults(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_are_enforced),
		cmocka_unit_test(bounds_are_enforced),
		cmocka_unit_test(unknown_handles_are_refused),
		TEST(a_handle_is_good_for_its_own_endpoint_only),
		TEST(a_violation_ends_no_other_connection),
		TEST(an_invalidated_region_is_out_of_reach),
		TEST(a_send_can_invalidate_the_peers_region),
		TEST(a_revoked_region_is_out_of_reach_but_its_handle_is_known),
		TEST(invalidating_what_is_no_region_ends_the_connection),
	};

	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
