/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "suite.h"
#include "world.h"

static const uint32_t sizes[] = { 1, 3, 4, 4095, 65536, (1 << 20) + 1, 16 << 20 };
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), GUARD = 16 };

/* Memory in which a region of size octets lies between guards. */
static uint8_t *
guarded(uint32_t size)
{
	uint8_t *memory = malloc(size + 2 * GUARD);

	assert_non_null(memory);
	memset(memory, 0xee, size + 2 * GUARD);
	return memory;
}

static void
guards_are_untouched(const uint8_t *memory, uint32_t size)
{
	for (uint32_t i = 0; i < GUARD; i++) {
		assert_int_equal(memory[i], 0xee);
		assert_int_equal(memory[GUARD + size + i], 0xee);
	}
}

static void
writes_of_every_size_place_every_octet(void **state)
{
	struct world *world = *state;

	world_connect(world);
	for (uint32_t i = 0; i < SIZES; i++) {
		uint8_t *from = filled(sizes[i], i), *memory = guarded(sizes[i]);
		struct rr_region region;

		assert_int_equal(rr_endpoint_register(world->server.endpoint, memory + GUARD, sizes[i],
					 RR_REMOTE_WRITE, &region),
			0);
		assert_int_equal(side_post(&world->client, RR_WORK_WRITE, from, sizes[i], region.handle,
					 region.offset, i + 1),
			0);
		assert_int_equal(side_send(&world->client, "done", 4, 0), 0);
		world_until(world, world->server.receives == i + 1);
		/* Writes that were posted before a Send have been placed when the Send arrives. */
		assert_memory_equal(memory + GUARD, from, sizes[i]);
		guards_are_untouched(memory, sizes[i]);
		rr_endpoint_invalidate(world->server.endpoint, &region);
		assert_int_equal(region.handle, 0);
		assert_int_equal(world->client.completions, i + 1);
		free(from);
		free(memory);
	}
}

static void
reads_of_every_size_bring_every_octet(void **state)
{
	struct world *world = *state;

	world_connect(world);
	for (uint32_t i = 0; i < SIZES; i++) {
		uint8_t *from = filled(sizes[i], i + 9), *memory = guarded(sizes[i]);
		struct rr_region region;

		assert_int_equal(
			rr_endpoint_register(world->client.endpoint, from, sizes[i], RR_REMOTE_READ, &region),
			0);
		/* The responder may send only after the initiator's first message. */
		assert_int_equal(side_send(&world->client, "go", 2, 0), 0);
		assert_int_equal(side_post(&world->server, RR_WORK_READ, memory + GUARD, sizes[i],
					 region.handle, region.offset, i + 1),
			0);
		world_until(world, world->server.completions == i + 1);
		assert_int_equal(world->server.completed[i].status, 0);
		assert_int_equal(world->server.completed[i].work, RR_WORK_READ);
		assert_memory_equal(memory + GUARD, from, sizes[i]);
		guards_are_untouched(memory, sizes[i]);
		rr_endpoint_invalidate(world->client.endpoint, &region);
		free(from);
		free(memory);
	}
}

static void
a_write_is_gathered_from_many_sges_to_any_place_in_the_region(void **state)
{
	enum { SIZE = 300000, STEP = 17321 };
	struct world *world = *state;
	uint8_t *from = filled(SIZE, 5), *to = calloc(1, SIZE);
	struct rr_sge sges[RR_MAX_SGE];
	struct rr_work work = { .kind = RR_WORK_WRITE, .sge_count = RR_MAX_SGE, .sges = sges };
	struct rr_region region;

	world_connect(world);
	for (uint32_t i = 0; i < RR_MAX_SGE; i++)
		sges[i] = (struct rr_sge){ from + i * STEP, STEP };
	assert_int_equal(rr_endpoint_register(world->server.endpoint, to, SIZE, RR_REMOTE_WRITE, &region), 0);
	work.remote_handle = region.handle;
	work.remote_offset = region.offset + 101;
	assert_int_equal(rr_endpoint_post(world->client.endpoint, &work), 0);
	assert_int_equal(side_send(&world->client, "", 0, 0), 0);
	world_until(world, world->server.receives == 1);
	assert_memory_equal(to + 101, from, RR_MAX_SGE * STEP);
	assert_int_equal(to[100] | to[101 + RR_MAX_SGE * STEP], 0);
	free(from);
	free(to);
}

static void
many_reads_and_sends_cross_each_other(void **state)
{
	enum { SIZE = 200000, READS = 100 };
	struct world *world = *state;
	uint8_t *from = filled(SIZE, 6), *to = calloc(READS, SIZE);
	struct rr_region region;

	world_connect(world);
	assert_int_equal(
		rr_endpoint_register(world->server.endpoint, from, SIZE, RR_REMOTE_READ, &region), 0);
	for (uint32_t i = 0; i < READS; i++) {
		assert_int_equal(side_post(&world->client, RR_WORK_READ, to + (size_t)i * SIZE, SIZE - i,
					 region.handle, region.offset + i, i + 1),
			0);
		assert_int_equal(side_send(&world->client, "c", 1, 0), 0);
		assert_int_equal(side_send(&world->server, "s", 1, 0), 0);
	}
	world_until(world, world->client.completions == READS && world->server.receives == READS &&
				   world->client.receives == READS);
	for (uint32_t i = 0; i < READS; i++) {
		assert_int_equal(world->client.completed[i].cookie, i + 1);
		assert_memory_equal(to + (size_t)i * SIZE, from + i, SIZE - i);
	}
	free(from);
	free(to);
}

static void
empty_writes_and_reads_need_no_region(void **state)
{
	struct world *world = *state;

	world_connect(world);
	assert_int_equal(side_post(&world->client, RR_WORK_WRITE, NULL, 0, 77, 88, 1), 0);
	assert_int_equal(side_post(&world->client, RR_WORK_READ, NULL, 0, 77, 88, 2), 0);
	assert_int_equal(rr_endpoint_kick(world->client.endpoint), 0);
	assert_int_equal(side_send(&world->client, "x", 1, 0), 0);
	world_until(world, world->server.receives == 1 && world->client.completions == 2);
	assert_int_equal(world->client.completed[0].cookie, 1);
	assert_int_equal(world->client.completed[1].status, 0);
}

static void
handles_do_not_come_again_soon(void **state)
{
	enum { MANY = 3000, KEYS = 254 };
	struct world *world = *state;
	uint32_t *handles, n = world_is_adapter() ? KEYS : MANY;
	uint8_t memory[8];

	/* An adapter without windows chooses all handles; of the handle of a window, the provider chooses one
	 * octet. */
	if (!rr_fabric_limits(world->fabric)->remote_invalidation)
		skip();
	handles = calloc(n, sizeof(*handles));
	world_connect(world);
	for (uint32_t i = 0; i < n; i++) {
		struct rr_region region;

		assert_int_equal(
			rr_endpoint_register(world->client.endpoint, memory, 8, RR_REMOTE_READ, &region), 0);
		assert_int_not_equal(region.handle, 0);
		handles[i] = region.handle;
		for (uint32_t j = 0; j < i; j++)
			if (handles[j] == handles[i])
				fail_msg("handle %u came again after %u", i, i - j);
		rr_endpoint_invalidate(world->client.endpoint, &region);
	}
	free(handles);
}

static void
regions_come_and_go_between_sends(void **state)
{
	enum { N = 300 };
	struct world *world = *state;
	uint8_t memory[8];

	world_connect(world);
	for (uint32_t i = 0; i < N; i++) {
		struct rr_region region;

		assert_int_equal(
			rr_endpoint_register(world->client.endpoint, memory, 8, RR_REMOTE_READ, &region), 0);
		assert_int_equal(side_send(&world->client, "x", 1, 0), 0);
		for (uint32_t turns = i % 3; turns > 0; turns--)
			rr_loop_turn(world->stage.loop, 0);
		rr_endpoint_invalidate(world->client.endpoint, &region);
	}
	world_until(world, world->server.receives == N);
	assert_false(world->client.disconnected);
}

static void
regions_are_limited(void **state)
{
	struct world *world = *state;
	uint32_t max = rr_fabric_config(world->fabric)->region_max;
	struct rr_region *regions = calloc(max, sizeof(*regions)), one_more;
	uint8_t memory[8];

	world_connect(world);
	for (uint32_t i = 0; i < max; i++)
		assert_int_equal(
			rr_endpoint_register(world->client.endpoint, memory, 8, RR_REMOTE_READ, &regions[i]),
			0);
	assert_int_equal(rr_endpoint_register(world->client.endpoint, memory, 8, RR_REMOTE_READ, &one_more),
		-RPCRDMA_ERR_LIMIT);
	rr_endpoint_invalidate(world->client.endpoint, &regions[max / 2]);
	assert_int_equal(
		rr_endpoint_register(world->client.endpoint, memory, 8, RR_REMOTE_READ, &one_more), 0);
	free(regions);
}

int
suite_rdma(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(writes_of_every_size_place_every_octet),
		TEST(reads_of_every_size_bring_every_octet),
		TEST(a_write_is_gathered_from_many_sges_to_any_place_in_the_region),
		TEST(many_reads_and_sends_cross_each_other),
		TEST(empty_writes_and_reads_need_no_region),
		TEST(handles_do_not_come_again_soon),
		TEST(regions_come_and_go_between_sends),
		TEST(regions_are_limited),
	};

	return cmocka_run_group_tests_name("rdma", tests, NULL, NULL);
}
