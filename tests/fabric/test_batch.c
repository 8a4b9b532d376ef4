/* SPDX-License-Identifier: BSD-3-Clause */
/* When the answers to a batch of Sends leave that came at once. */
#include "../test.h"

#include "fabric/iwarp/iwarp.h"
#include "world.h"

enum { SENDS = 60 };

/* Has the server answer Sends that come at once, in turns with this timeout. Returns before which Send the
 * first answers had left. */
static uint32_t
answered_before(struct world *world, int64_t timeout)
{
	world_connect(world);
	world->server.answers = true;
	for (int i = 0; i < SENDS; i++)
		assert_int_equal(side_send(&world->client, "call", 4, 0), 0);
	turn_until(world->server.receives == SENDS && world->client.receives == SENDS,
		assert_true(rr_loop_turn(world->stage.loop, timeout) >= 0));
	return world->server.answered_before;
}

static void
where_both_sides_wait_batches_are_small(void **state)
{
	assert_in_range(answered_before(*state, 10 * (int64_t)RR_MILLISECOND), 15, 17);
}

static void
where_nobody_waits_batches_are_larger(void **state)
{
	assert_in_range(answered_before(*state, 0), 31, 33);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			where_both_sides_wait_batches_are_small, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(
			where_nobody_waits_batches_are_larger, world_setup, world_teardown),
	};

	world_provider(rr_iwarp_fabric_new, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
