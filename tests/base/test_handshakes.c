/* SPDX-License-Identifier: BSD-3-Clause */
/* Who of those that shake hands has a place, and who waits; the test moves the clock. */
#include "base/tls/handshakes.h"

#include <string.h>

#include "../stage.h"

enum { MAX = 64, OF_HOST = 24, WAITING = 256, IN_TICK = 2, MANY = 400 };

#define PLACE (250 * RR_MILLISECOND)
#define TICK  (5 * RR_MILLISECOND)

struct peer {
	struct rr_tls_handshake handshake;
	uint32_t placed, displaced;
};

struct world {
	struct stage stage;
	struct rr_tls_handshakes handshakes;
	struct peer peers[MANY];
	uint32_t count;
};

static void
peer_placed(struct rr_tls_handshake *handshake)
{
	rr_container(handshake, struct peer, handshake)->placed++;
}

static void
peer_displaced(struct rr_tls_handshake *handshake)
{
	rr_container(handshake, struct peer, handshake)->displaced++;
}

static int
setup(void **state)
{
	static struct world world;

	memset(&world, 0, sizeof(world));
	stage_init(&world.stage);
	stage_loop(&world.stage);
	rr_tls_handshakes_init(&world.handshakes, world.stage.loop);
	*state = &world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	for (uint32_t i = 0; i < world->count; i++)
		rr_tls_handshakes_end(&world->peers[i].handshake);
	assert_false(rr_timer_armed(&world->handshakes.tick));
	stage_end(&world->stage);
	return 0;
}

static struct peer *
begins(struct world *world, uint8_t host)
{
	struct peer *peer = &world->peers[world->count++];

	rr_list_init(&peer->handshake.link);
	peer->handshake.host[15] = host;
	peer->handshake.placed = peer_placed;
	peer->handshake.displaced = peer_displaced;
	rr_tls_handshakes_begin(&world->handshakes, &peer->handshake);
	return peer;
}

/* Returns how many of the peers from `from` on are under way. */
static uint32_t
under_way(const struct world *world, uint32_t from)
{
	uint32_t count = 0;

	for (uint32_t i = from; i < world->count; i++)
		count += world->peers[i].placed > world->peers[i].displaced;
	return count;
}

static void
test_host_has_so_many(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < OF_HOST; i++)
		assert_int_equal(begins(world, 1)->placed, 1);
	for (int i = 0; i < 8; i++)
		assert_int_equal(begins(world, 1)->placed, 0);
	assert_int_equal(begins(world, 2)->placed, 1);
	/* Nobody is displaced before its time. */
	stage_pass(&world->stage, PLACE - 1);
	assert_int_equal(under_way(world, 0), OF_HOST + 1);
	assert_int_equal(world->peers[0].displaced, 0);
}

static void
test_newest_gets_a_place(void **state)
{
	struct world *world = *state;
	struct peer *newest;

	for (int i = 0; i < OF_HOST + 8; i++)
		begins(world, 1);
	stage_pass(&world->stage, PLACE / 2);
	newest = begins(world, 1);
	stage_pass(&world->stage, PLACE / 2 + TICK);
	assert_int_equal(newest->placed, 1);
	assert_int_equal(world->peers[0].displaced, 1);
	assert_int_equal(under_way(world, 0), OF_HOST);
	assert_int_equal(under_way(world, OF_HOST), IN_TICK);
}

static void
test_place_that_is_free(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < OF_HOST + 1; i++)
		begins(world, 1);
	assert_int_equal(world->peers[OF_HOST].placed, 0);
	rr_tls_handshakes_end(&world->peers[3].handshake);
	stage_pass(&world->stage, TICK);
	assert_int_equal(world->peers[OF_HOST].placed, 1);
	assert_int_equal(world->peers[0].displaced, 0);
	assert_false(rr_timer_armed(&world->handshakes.tick));
}

/* Many hosts have all places and want more; one that has none comes first, and older ones of theirs later. */
static void
test_host_without_a_place_is_next(void **state)
{
	struct world *world = *state;
	struct peer *honest;

	for (int i = 0; i < MAX; i++)
		assert_int_equal(begins(world, (uint8_t)(1 + i % 8))->placed, 1);
	honest = begins(world, 100);
	for (int i = 0; i < 20; i++)
		begins(world, (uint8_t)(1 + i % 8));
	rr_tls_handshakes_end(&world->peers[9].handshake);
	world->peers[9].displaced = 1;
	begins(world, 1); /* does not come first, although it asks first */
	stage_pass(&world->stage, TICK);
	assert_int_equal(honest->placed, 1);
	assert_int_equal(under_way(world, MAX + 1), 0);
	assert_int_equal(under_way(world, 0), MAX);
}

static void
test_who_left_has_no_place(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < OF_HOST + 2; i++)
		begins(world, 1);
	rr_tls_handshakes_end(&world->peers[OF_HOST + 1].handshake);
	stage_pass(&world->stage, PLACE + TICK);
	assert_int_equal(world->peers[OF_HOST + 1].placed, 0);
	assert_int_equal(world->peers[OF_HOST].placed, 1);
}

/* A host that fills the queue takes it from nobody but itself. */
static void
test_so_many_wait(void **state)
{
	struct world *world = *state;
	struct peer *other;

	for (int i = 0; i < OF_HOST; i++)
		begins(world, 2);
	for (int i = 0; i < OF_HOST; i++)
		begins(world, 1);
	for (int i = 0; i < MAX - 2 * OF_HOST; i++)
		assert_int_equal(begins(world, (uint8_t)(10 + i))->placed, 1);
	other = begins(world, 2);
	for (int i = 0; i < WAITING - 1; i++)
		assert_int_equal(begins(world, 1)->placed, 0);
	assert_int_equal(world->peers[MAX + 1].displaced, 0);
	begins(world, 1);
	assert_int_equal(world->peers[MAX + 1].displaced, 1);
	assert_int_equal(other->displaced, 0);
	begins(world, 100);
	assert_int_equal(other->displaced, 1);
	assert_int_equal(world->handshakes.waiting_count, WAITING);
}

static void
test_turns_have_so_many(void **state)
{
	struct world *world = *state;

	for (uint64_t turn = 1; turn < 3; turn++) {
		for (int i = 0; i < 4; i++)
			assert_true(rr_tls_handshakes_have_turn(&world->handshakes, turn));
		assert_false(rr_tls_handshakes_have_turn(&world->handshakes, turn));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_host_has_so_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_newest_gets_a_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_place_that_is_free, setup, teardown),
		cmocka_unit_test_setup_teardown(test_host_without_a_place_is_next, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_left_has_no_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_so_many_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_turns_have_so_many, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
