/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer may cause any number of warnings, over any number of connections: few lines are written. */
#include "../stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/peer_log.h"

enum { LAST = 4096 };

struct world {
	struct stage stage;
	struct rr_peer_log *log;
	uint32_t lines;
	char last[LAST]; /* line */
};

static void
world_log(void *ctx, enum rr_log_level level, const char *line)
{
	struct world *world = rr_container(ctx, struct world, stage);

	assert_int_equal(level, RR_LOG_WARNING);
	world->lines++;
	snprintf(world->last, sizeof(world->last), "%s", line);
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	stage_init(&world->stage);
	world->stage.env.log = world_log;
	stage_loop(&world->stage);
	world->log = rr_loop_peer_log(world->stage.loop);
	*state = world;
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	stage_end(&world->stage);
	free(world);
	return 0;
}

static void
warn(struct world *world, const char *peer, int count)
{
	for (int i = 0; i < count; i++)
		rr_log_peer(world->log, peer, "%s: misbehaves, number %d", peer, i);
}

static void
the_lines_of_a_host_are_bounded_over_its_connections(void **state)
{
	struct world *world = *state;
	char peer[64];

	for (int i = 0; i < 1000; i++) {
		snprintf(peer, sizeof(peer), "192.0.2.1:%d", i);
		warn(world, peer, 3);
	}
	assert_int_equal(world->lines, RR_PEER_LOG_LINES);
	/* Another host still has lines of its own. */
	warn(world, "192.0.2.2:1", 2);
	assert_int_equal(world->lines, RR_PEER_LOG_LINES + 2);
	assert_string_equal(world->last, "192.0.2.2:1: misbehaves, number 1");
}

/* A clock that goes on by two nanoseconds whenever it is read. */
static uint64_t
running_now(void *ctx)
{
	struct stage *stage = ctx;

	return stage->now += 2;
}

static void
a_window_that_ends_between_two_looks_at_the_clock_ends(void **state)
{
	struct world *world = *state;

	warn(world, "192.0.2.1:7", RR_PEER_LOG_LINES);
	world->stage.now = world->log->end - 3;
	world->stage.env.now = running_now;
	warn(world, "192.0.2.1:7", 1);
	assert_true(rr_timer_armed(&world->log->timer));
	assert_true(rr_loop_due(world->stage.loop) <= (int64_t)RR_PEER_LOG_WINDOW);
	assert_true(rr_loop_due(world->stage.loop) >= 0);
}

static void
one_line_says_how_many_were_left_out(void **state)
{
	struct world *world = *state;

	warn(world, "192.0.2.1:7", 100);
	world->lines = 0;
	world->stage.now += RR_PEER_LOG_WINDOW;
	rr_loop_turn(world->stage.loop, 0);
	assert_int_equal(world->lines, 1);
	assert_string_equal(world->last, "192.0.2.1: 84 more warnings within a minute were left out");
	warn(world, "192.0.2.1:7", 1);
	assert_string_equal(world->last, "192.0.2.1:7: misbehaves, number 0");
	/* No line was held back meanwhile: there is no line about that, and no timer. */
	world->lines = 0;
	assert_true(rr_loop_due(world->stage.loop) < 0);
	world->stage.now += RR_PEER_LOG_WINDOW;
	rr_loop_turn(world->stage.loop, 0);
	assert_int_equal(world->lines, 0);
}

static void
the_lines_of_all_hosts_are_bounded(void **state)
{
	struct world *world = *state;
	char peer[64];

	for (int i = 0; i < 5000; i++) {
		snprintf(peer, sizeof(peer), "[2001:db8:%x::1]:7", i);
		warn(world, peer, 20);
	}
	assert_int_equal(world->lines, (RR_PEER_LOG_HOSTS + 1) * RR_PEER_LOG_LINES);
	world->lines = 0;
	world->stage.now += RR_PEER_LOG_WINDOW;
	rr_loop_turn(world->stage.loop, 0);
	assert_int_equal(world->lines, RR_PEER_LOG_HOSTS + 1);
	assert_string_equal(
		world->last, "other addresses: 98704 more warnings within a minute were left out");
}

static void
a_verbose_log_has_all_lines(void **state)
{
	struct world *world = *state;

	world->stage.env.log_level = RR_LOG_INFO;
	warn(world, "192.0.2.1:7", 100);
	assert_int_equal(world->lines, 100);
	world->stage.env.log_level = RR_LOG_ERROR;
	warn(world, "192.0.2.1:7", 100);
	assert_int_equal(world->lines, 100);
}

static void
what_was_left_out_is_said_at_the_end(void **state)
{
	struct world *world = *state;

	warn(world, "192.0.2.1:7", 20);
	stage_end(&world->stage);
	world->stage.loop = NULL;
	assert_string_equal(world->last, "192.0.2.1: 4 more warnings within a minute were left out");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_lines_of_a_host_are_bounded_over_its_connections),
		TEST(a_window_that_ends_between_two_looks_at_the_clock_ends),
		TEST(one_line_says_how_many_were_left_out),
		TEST(the_lines_of_all_hosts_are_bounded),
		TEST(a_verbose_log_has_all_lines),
		TEST(what_was_left_out_is_said_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
