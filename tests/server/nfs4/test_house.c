/* SPDX-License-Identifier: BSD-3-Clause */
/* The housekeeping of a server: what clients leave is cleared away in turns of the loop, a part in each. */
#include "world.h"

#include <stdio.h>
#include <string.h>

enum { RW = OPEN4_SHARE_ACCESS_BOTH, FILES = 300, PART = 64 };

/* The closes of the storage, and how many of them came in one turn of the loop: at most, and in this one. */
static struct {
	const struct rr_vfs_ops *ops;
	uint64_t turn;
	uint32_t all, most, now;
} closes;

static enum rr_vfs_status
count_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	uint64_t turn = rr_loop_now(vfs->loop);

	closes.now = turn == closes.turn ? closes.now + 1 : 1;
	closes.turn = turn;
	closes.most = closes.now > closes.most ? closes.now : closes.most;
	closes.all++;
	return closes.ops->close(vfs, open, call);
}

/* A client that had many files open restarts: its verifier is another one, so its states end. Nobody waits
 * while all of them are closed. */
static void
opens_that_a_client_left_are_closed_a_part_in_each_turn(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "client", 0);
	struct rr_vfs_ops counting = *world->vfs->ops;
	char name[16];

	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(RUN(peer, op_root(), op_open(name, "o", RW, 0, true)), NFS4_OK);
	}
	memset(&closes, 0, sizeof(closes));
	closes.ops = world->vfs->ops;
	counting.close = count_close;
	world->vfs->ops = &counting;
	assert_int_equal(peer_exchange(peer, "client", 2, 0), NFS4_OK);
	assert_int_equal(peer_create_session(peer), NFS4_OK);
	world_wait(world, &closes.all, FILES);
	world->vfs->ops = closes.ops;
	assert_true(closes.most <= PART);
}

/* No other operation has to come for the files to be closed. */
static void
the_last_open_is_closed_without_another_call(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_peer(world, 0, "client", 0);
	struct rr_vfs_counters counters;

	assert_int_equal(RUN(peer, op_root(), op_open("file", "o", RW, 0, true)), NFS4_OK);
	assert_int_equal(peer_exchange(peer, "client", 2, 0), NFS4_OK);
	assert_int_equal(peer_create_session(peer), NFS4_OK);
	turn_until((rr_vfs_counters(world->vfs, &counters), counters.opens == 0),
		rr_loop_turn(world->stage.engine->loop, RR_SECOND));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, world_setup, world_teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(opens_that_a_client_left_are_closed_a_part_in_each_turn),
		TEST(the_last_open_is_closed_without_another_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
