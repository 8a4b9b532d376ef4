/* SPDX-License-Identifier: BSD-3-Clause */
/* The backchannel: RFC 8881, sections 2.10.3.1, 18.34, 18.46.3 and 20.9. */
#include "world.h"

static uint32_t
flags_now(struct peer *peer)
{
	assert_int_equal(RUN(peer, op_root()), NFS4_OK);
	return peer_flags(peer);
}

static void
wait_for_flags(struct peer *peer, uint32_t flags)
{
	while (flags_now(peer) != flags)
		continue;
}

/* A session that has a backchannel is asked over it whether its client answers. */
static void
a_new_backchannel_is_tried(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_caller(world, 0, "client", 0);

	world_wait(world, &peer->answers.nulls, 1);
	assert_int_equal(flags_now(peer), 0);
	assert_int_equal(peer->answers.nulls, 1);
}

/* 18.46.3: "SEQ4_STATUS_CB_PATH_DOWN: When set, indicates that the client has no operational backchannel path
 * for any session associated with the client ID." */
static void
a_client_that_fails_callbacks_has_no_path(void **state)
{
	struct world *world = *state;
	struct peer *peer = &world->peers[0];

	peer->answers.silent = true;
	world_caller(world, 0, "client", 0);
	world_wait(world, &peer->answers.nulls, 1);
	world->ahead += 11 * RR_SECOND;
	wait_for_flags(peer, SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION);
	/* 18.34: a client that binds the connection again has a backchannel again. */
	peer->answers.silent = false;
	assert_int_equal(peer_bind(peer, 0), NFS4_OK);
	world_wait(world, &peer->answers.nulls, 2);
	assert_int_equal(flags_now(peer), 0);
}

/* 2.10.3.1: the backchannel ends with the last connection that is bound to it. */
static void
a_lost_connection_takes_the_backchannel_along(void **state)
{
	struct world *world = *state;
	struct peer *peer = world_caller(world, 0, "client", 0);

	world_wait(world, &peer->answers.nulls, 1);
	peer_disconnect(peer);
	peer->calls_back = false;
	peer_connect(peer, 0);
	wait_for_flags(peer, SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION);
	peer_disconnect(peer);
	peer->calls_back = true;
	assert_int_equal(peer_bind(peer, 0), NFS4_OK);
	world_wait(world, &peer->answers.nulls, 2);
	wait_for_flags(peer, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_new_backchannel_is_tried, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_client_that_fails_callbacks_has_no_path, world_setup_memory, world_teardown),
		cmocka_unit_test_setup_teardown(
			a_lost_connection_takes_the_backchannel_along, world_setup_memory, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
