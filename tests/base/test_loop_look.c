/* SPDX-License-Identifier: BSD-3-Clause */
/* When a turn of the loop calls look() of a watch, and what it does then: base/loop.h. */
#include "../test.h"

#include "base/loop.h"

#include <fcntl.h>
#include <unistd.h>

/* A pipe whose reading end is watched. Each callback reads one octet. */
struct end {
	struct rr_watch watch;
	int to;    /* the writing end */
	int ready; /* calls of ready() */
	int looks; /* calls of look() */
	int found; /* calls of look() that found an octet */
};

static struct rr_loop *loop;
static struct end likely, other;
static uint64_t the_time;
static struct rr_task task;
static int ran;

static uint64_t
now(void *ctx)
{
	(void)ctx;
	return the_time += 10;
}

static bool
end_read(struct end *end)
{
	char octet;

	return read(end->watch.fd, &octet, 1) == 1;
}

static void
end_ready(struct rr_watch *watch, unsigned events)
{
	struct end *end = rr_container(watch, struct end, watch);

	(void)events;
	assert_true(rr_loop_calls_back(loop));
	assert_true(end_read(end));
	end->ready++;
}

static bool
end_look(struct rr_watch *watch)
{
	struct end *end = rr_container(watch, struct end, watch);

	assert_true(rr_loop_calls_back(loop));
	rr_loop_now(loop);
	end->looks++;
	if (!end_read(end))
		return false;
	end->found++;
	return true;
}

static void
end_write(const struct end *end, int octets)
{
	while (octets-- > 0)
		assert_int_equal(write(end->to, "x", 1), 1);
}

static void
end_open(struct end *end)
{
	int fds[2];

	*end = (struct end){ .watch = { .ready = end_ready, .look = end_look } };
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	end->to = fds[1];
	assert_int_equal(rr_loop_watch(loop, &end->watch, fds[0], RR_READABLE), 0);
}

static void
end_close(struct end *end)
{
	rr_loop_unwatch(loop, &end->watch);
	close(end->watch.fd);
	close(end->to);
}

static struct rr_env env;

static int
setup(void **state)
{
	(void)state;
	env = rr_env_system;
	env.now = now;
	the_time = 1000;
	ran = 0;
	loop = rr_loop_new(&env);
	if (!loop)
		return -1;
	end_open(&likely);
	end_open(&other);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	end_close(&likely);
	end_close(&other);
	rr_loop_free(loop);
	return 0;
}

/* Runs one turn that does not wait, after octets were written to end. */
static void
turn_with(struct end *end, int octets)
{
	end_write(end, octets);
	assert_int_equal(rr_loop_turn(loop, 0), octets > 0);
}

/* Makes `likely` ready alone in two turns. */
static void
become_likely(void)
{
	turn_with(&likely, 1);
	turn_with(&likely, 1);
	assert_int_equal(likely.ready, 2);
	assert_int_equal(likely.looks, 0);
}

static void
a_descriptor_that_was_ready_alone_twice_is_read_at_once(void **state)
{
	(void)state;
	become_likely();
	turn_with(&likely, 1);
	assert_int_equal(likely.found, 1);
	assert_int_equal(likely.looks, 1);
	assert_int_equal(likely.ready, 2);
}

static void
a_turn_that_finds_nothing_by_looking_asks_the_system(void **state)
{
	(void)state;
	become_likely();
	turn_with(&other, 1);
	assert_int_equal(likely.looks, 3);
	assert_int_equal(likely.found, 0);
	assert_int_equal(other.ready, 1);
}

static void
a_turn_with_nothing_to_find_runs_nothing(void **state)
{
	(void)state;
	become_likely();
	turn_with(&likely, 0);
	assert_int_equal(likely.looks, 3);
	assert_int_equal(likely.ready, 2);
}

static void
the_other_descriptors_are_served_in_the_fifth_turn_at_the_latest(void **state)
{
	(void)state;
	become_likely();
	end_write(&likely, 10);
	for (int turn = 0; turn < 4; turn++)
		turn_with(&other, 1);
	assert_int_equal(likely.found, 4);
	assert_int_equal(other.ready, 0);
	turn_with(&other, 1);
	assert_int_equal(other.ready, 1);
	assert_int_equal(likely.ready, 3);
	assert_int_equal(likely.looks, 4);
}

static void
the_loop_looks_again_after_the_system_was_asked(void **state)
{
	(void)state;
	become_likely();
	end_write(&likely, 10);
	for (int turn = 0; turn < 10; turn++)
		turn_with(&likely, 1);
	assert_int_equal(likely.found, 8);
	assert_int_equal(likely.ready, 4);
}

static void
no_descriptor_is_likely_if_two_are_ready_at_once(void **state)
{
	(void)state;
	become_likely();
	/* The loop looks in vain, is told of `other` alone, and then of both. */
	turn_with(&other, 1);
	end_write(&likely, 1);
	turn_with(&other, 1);
	likely.looks = other.looks = 0;
	for (int turn = 0; turn < 3; turn++) {
		end_write(&likely, 1);
		turn_with(&other, 1);
	}
	assert_int_equal(likely.looks + other.looks, 0);
}

static void
no_descriptor_is_likely_if_two_are_ready_in_turns(void **state)
{
	(void)state;
	for (int turn = 0; turn < 3; turn++) {
		turn_with(&likely, 1);
		turn_with(&other, 1);
	}
	assert_int_equal(likely.looks + other.looks, 0);
	assert_int_equal(likely.ready + other.ready, 6);
}

static void
a_watch_without_look_is_never_likely(void **state)
{
	(void)state;
	likely.watch.look = NULL;
	become_likely();
	turn_with(&likely, 1);
	assert_int_equal(likely.ready, 3);
}

static void
a_watch_that_was_removed_is_not_looked_at(void **state)
{
	(void)state;
	become_likely();
	rr_loop_unwatch(loop, &likely.watch);
	end_write(&likely, 1);
	turn_with(&other, 1);
	assert_int_equal(likely.looks, 0);
	assert_int_equal(rr_loop_watch(loop, &likely.watch, likely.watch.fd, RR_READABLE), 0);
}

static void
a_watch_that_is_watched_again_counts_as_new(void **state)
{
	(void)state;
	become_likely();
	rr_loop_unwatch(loop, &likely.watch);
	assert_int_equal(rr_loop_watch(loop, &likely.watch, likely.watch.fd, RR_READABLE), 0);
	turn_with(&likely, 1);
	turn_with(&likely, 1);
	assert_int_equal(likely.looks, 0);
	turn_with(&likely, 1);
	assert_int_equal(likely.looks, 1);
}

/* look() of a watch that removes itself when it finds nothing. */
static bool
look_and_leave(struct rr_watch *watch)
{
	likely.looks++;
	rr_loop_unwatch(loop, watch);
	return false;
}

static void
a_watch_may_be_removed_while_it_is_looked_at(void **state)
{
	(void)state;
	likely.watch.look = look_and_leave;
	become_likely();
	turn_with(&other, 1);
	assert_int_equal(likely.looks, 1);
	assert_int_equal(other.ready, 1);
}

static void
run(struct rr_task *unused)
{
	(void)unused;
	ran++;
}

static void
a_queued_task_does_not_wait_for_looks(void **state)
{
	(void)state;
	become_likely();
	rr_task_init(&task, run);
	rr_loop_defer(loop, &task);
	assert_int_equal(rr_loop_turn(loop, 0), 1);
	assert_int_equal(likely.looks, 0);
	assert_int_equal(ran, 1);
}

static void
a_turn_that_waits_does_not_look(void **state)
{
	(void)state;
	become_likely();
	end_write(&likely, 1);
	assert_int_equal(rr_loop_turn(loop, RR_MILLISECOND), 1);
	assert_int_equal(likely.looks, 0);
	assert_int_equal(likely.ready, 3);
}

static void
a_turn_that_polls_looks_before_it_waits(void **state)
{
	(void)state;
	become_likely();
	rr_loop_poll(loop, RR_SECOND);
	/* The loop polls after a short wait. */
	end_write(&likely, 1);
	assert_int_equal(rr_loop_turn(loop, RR_SECOND), 1);
	assert_int_equal(likely.looks, 0);
	end_write(&likely, 1);
	assert_int_equal(rr_loop_turn(loop, RR_SECOND), 1);
	assert_int_equal(likely.looks, 1);
	assert_int_equal(likely.found, 1);
}

static uint64_t seen;

static void
see_the_time(struct rr_watch *watch, unsigned events)
{
	end_ready(watch, events);
	seen = rr_loop_now(loop);
}

static void
the_time_that_a_look_in_vain_has_read_is_forgotten(void **state)
{
	uint64_t before;

	(void)state;
	become_likely();
	other.watch.ready = see_the_time;
	before = the_time;
	turn_with(&other, 1);
	/* The clock goes on by 10 at each reading. The three looks read it once, and see_the_time() again. */
	assert_int_equal(seen, before + 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_descriptor_that_was_ready_alone_twice_is_read_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_turn_that_finds_nothing_by_looking_asks_the_system, setup, teardown),
		cmocka_unit_test_setup_teardown(a_turn_with_nothing_to_find_runs_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_other_descriptors_are_served_in_the_fifth_turn_at_the_latest, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_loop_looks_again_after_the_system_was_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(
			no_descriptor_is_likely_if_two_are_ready_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			no_descriptor_is_likely_if_two_are_ready_in_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(a_watch_without_look_is_never_likely, setup, teardown),
		cmocka_unit_test_setup_teardown(a_watch_that_was_removed_is_not_looked_at, setup, teardown),
		cmocka_unit_test_setup_teardown(a_watch_that_is_watched_again_counts_as_new, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_watch_may_be_removed_while_it_is_looked_at, setup, teardown),
		cmocka_unit_test_setup_teardown(a_queued_task_does_not_wait_for_looks, setup, teardown),
		cmocka_unit_test_setup_teardown(a_turn_that_waits_does_not_look, setup, teardown),
		cmocka_unit_test_setup_teardown(a_turn_that_polls_looks_before_it_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_time_that_a_look_in_vain_has_read_is_forgotten, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
