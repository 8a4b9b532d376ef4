/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/loop.h"

#include <unistd.h>

/* A clock that tests set, and that goes on by a step each time it is looked at. */
static uint64_t the_time, the_step;
static int looks, look_for_writing, to_write;

static uint64_t
now(void *ctx)
{
	(void)ctx;
	if (++looks == look_for_writing)
		assert_int_equal(write(to_write, "x", 1), 1);
	return the_time += the_step;
}

static struct rr_env env;
static struct rr_loop *loop;
static int order[8], ran;
static struct rr_timer timers[3];
static struct rr_task tasks[2];

static int
setup(void **state)
{
	(void)state;
	env = rr_env_system;
	env.now = now;
	the_time = 1000;
	the_step = 0;
	looks = look_for_writing = 0;
	ran = 0;
	loop = rr_loop_new(&env);
	return loop ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	rr_loop_free(loop);
	return 0;
}

static void
timer_expired(struct rr_timer *timer)
{
	order[ran++] = (int)(timer - timers);
}

static void
timer_arms_itself(struct rr_timer *timer)
{
	ran++;
	rr_loop_arm(loop, timer, 0);
}

static void
a_timer_that_arms_itself_leaves_the_turn_to_others(void **state)
{
	(void)state;
	rr_timer_init(&timers[0], timer_arms_itself);
	rr_loop_arm(loop, &timers[0], 0);
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(rr_loop_turn(loop, 0), 1);
		assert_int_equal(ran, i);
	}
	rr_loop_disarm(loop, &timers[0]);
}

static void
timers_expire_in_the_order_of_their_times(void **state)
{
	static const uint64_t delays[] = { 30, 10, 20 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		rr_timer_init(&timers[i], timer_expired);
		rr_loop_arm(loop, &timers[i], delays[i]);
	}
	assert_int_equal(rr_loop_due(loop), 10);
	assert_int_equal(rr_loop_turn(loop, 0), 0);
	the_time += 25;
	assert_int_equal(rr_loop_turn(loop, 0), 1);
	assert_int_equal(ran, 2);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 2);
	rr_loop_disarm(loop, &timers[0]);
	assert_int_equal(rr_loop_due(loop), -1);
}

static void
the_longest_delay_does_not_expire_at_once(void **state)
{
	(void)state;
	rr_timer_init(&timers[0], timer_expired);
	rr_loop_arm(loop, &timers[0], UINT64_MAX);
	assert_int_equal(rr_loop_turn(loop, 0), 0);
	assert_int_equal(ran, 0);
	assert_true(rr_loop_due(loop) > 0);
	rr_loop_disarm(loop, &timers[0]);
}

static void
run_task(struct rr_task *task)
{
	order[ran++] = (int)(task - tasks);
	if (task == &tasks[0])
		rr_loop_defer(loop, &tasks[1]);
}

static void
a_task_queued_by_a_task_runs_in_the_same_turn(void **state)
{
	(void)state;
	rr_task_init(&tasks[0], run_task);
	rr_task_init(&tasks[1], run_task);
	rr_loop_defer(loop, &tasks[0]);
	rr_loop_defer(loop, &tasks[0]);
	assert_int_equal(rr_loop_due(loop), 0);
	assert_int_equal(rr_loop_turn(loop, 0), 1);
	assert_int_equal(ran, 2);
	assert_int_equal(order[1], 1);
	assert_int_equal(rr_loop_turn(loop, 0), 0);
}

static struct rr_watch first, second;

static void
unwatch_the_other(struct rr_watch *watch, unsigned events)
{
	assert_true(events & RR_READABLE);
	ran++;
	rr_loop_unwatch(loop, watch == &first ? &second : &first);
}

static void
an_unwatched_descriptor_is_not_reported_in_the_same_turn(void **state)
{
	int a[2], b[2];

	(void)state;
	assert_int_equal(pipe(a) | pipe(b), 0);
	first.ready = second.ready = unwatch_the_other;
	assert_int_equal(rr_loop_watch(loop, &first, a[0], RR_READABLE), 0);
	assert_int_equal(rr_loop_watch(loop, &second, b[0], RR_READABLE), 0);
	assert_int_equal(write(a[1], "x", 1) + write(b[1], "x", 1), 2);
	assert_int_equal(rr_loop_turn(loop, 0), 1);
	assert_int_equal(ran, 1);
	close(a[0]);
	close(a[1]);
	close(b[0]);
	close(b[1]);
}

static void
take_octet(struct rr_watch *watch, unsigned events)
{
	char octet;

	(void)events;
	assert_int_equal(read(watch->fd, &octet, 1), 1);
	ran++;
}

/* Begins to poll: the clock goes on by one hundredth of the limit with each look. */
static void
begin_polling(int ends[2])
{
	assert_int_equal(pipe(ends), 0);
	first.ready = take_octet;
	assert_int_equal(rr_loop_watch(loop, &first, ends[0], RR_READABLE), 0);
	to_write = ends[1];
	the_step = 10;
	rr_loop_poll(loop, 1000);
}

static void
end_polling(int ends[2])
{
	rr_loop_unwatch(loop, &first);
	close(ends[0]);
	close(ends[1]);
}

static void
a_loop_that_polls_looks_again_after_a_short_wait(void **state)
{
	int ends[2];

	(void)state;
	begin_polling(ends);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(rr_loop_turn(loop, RR_SECOND), 1);
	/* An octet is written after some looks: a loop that polls sees it, a loop that waits would not look
	 * again. */
	look_for_writing = looks + 20;
	assert_int_equal(rr_loop_turn(loop, RR_MILLISECOND), 1);
	assert_int_equal(ran, 2);
	end_polling(ends);
}

static void
a_loop_that_polls_gives_up_at_its_limit_and_after_a_long_wait(void **state)
{
	int ends[2];

	(void)state;
	begin_polling(ends);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(rr_loop_turn(loop, RR_SECOND), 1);
	looks = 0;
	assert_int_equal(rr_loop_turn(loop, RR_MILLISECOND), 0);
	assert_in_range(looks, 100, 103);
	/* The last wait was longer than the limit: the loop does not poll. */
	looks = 0;
	assert_int_equal(rr_loop_turn(loop, RR_MILLISECOND), 0);
	assert_in_range(looks, 0, 3);
	end_polling(ends);
}

static void
a_loop_does_not_poll_unless_it_is_told_to(void **state)
{
	int ends[2];

	(void)state;
	begin_polling(ends);
	rr_loop_poll(loop, 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(rr_loop_turn(loop, RR_SECOND), 1);
	assert_int_equal(rr_loop_turn(loop, RR_MILLISECOND), 0);
	assert_int_equal(looks, 0);
	end_polling(ends);
}

/* ---- The time of a turn ---- */

static uint64_t seen[4];

static void
look_at_the_time(struct rr_task *task)
{
	(void)task;
	seen[0] = rr_loop_now(loop);
	seen[1] = rr_loop_now(loop);
	seen[2] = rr_loop_clock(loop);
	seen[3] = rr_loop_now(loop);
}

static void
in_a_turn_the_clock_is_read_once_unless_a_new_reading_is_asked_for(void **state)
{
	int before;

	(void)state;
	the_step = 1;
	rr_task_init(&tasks[0], look_at_the_time);
	rr_loop_defer(loop, &tasks[0]);
	before = looks;
	assert_int_equal(rr_loop_turn(loop, 0), 1);
	assert_int_equal(looks - before, 2);
	assert_int_equal(seen[1], seen[0]);
	assert_int_equal(seen[2], seen[0] + 1);
	assert_int_equal(seen[3], seen[2]);
}

static void
between_turns_the_time_is_never_an_old_one(void **state)
{
	uint64_t reading;

	(void)state;
	the_step = 1;
	rr_task_init(&tasks[0], look_at_the_time);
	rr_loop_defer(loop, &tasks[0]);
	assert_int_equal(rr_loop_turn(loop, 0), 1);
	reading = rr_loop_now(loop);
	assert_int_equal(reading, seen[3] + 1);
	assert_int_equal(rr_loop_now(loop), reading + 1);
}

/* ---- Objects that are freed later ---- */

struct object {
	struct rr_task task;
	struct rr_grave grave, other;
};

static void
object_free(struct rr_grave *grave, const struct rr_env *given)
{
	ran++;
	rr_free(given, rr_container(grave, struct object, grave));
}

static void
object_free_other(struct rr_grave *grave, const struct rr_env *given)
{
	struct object *object = rr_container(grave, struct object, other);

	(void)given;
	ran++;
	rr_loop_bury(loop, &object->grave, object_free);
}

static void
object_closes_itself(struct rr_task *task)
{
	struct object *object = rr_container(task, struct object, task);

	rr_loop_bury(loop, &object->grave, object_free);
	assert_int_equal(ran, 0);
	rr_task_init(&object->task, NULL); /* its memory is still there */
}

static struct object *
object_new(void)
{
	struct object *object = rr_alloc(&env, sizeof(*object));

	assert_non_null(object);
	rr_task_init(&object->task, object_closes_itself);
	return object;
}

static void
an_object_that_is_buried_in_its_own_callback_is_freed_at_the_end_of_the_turn(void **state)
{
	(void)state;
	rr_loop_defer(loop, &object_new()->task);
	assert_int_equal(rr_loop_turn(loop, 0), 1);
	assert_int_equal(ran, 1);
}

static void
an_object_that_is_buried_outside_a_callback_is_freed_at_once(void **state)
{
	(void)state;
	rr_loop_bury(loop, &object_new()->grave, object_free);
	assert_int_equal(ran, 1);
	assert_int_equal(rr_loop_due(loop), -1);
}

static void
what_is_buried_in_a_callback_outside_a_turn_makes_the_next_turn_due(void **state)
{
	(void)state;
	rr_loop_enter(loop);
	rr_loop_bury(loop, &object_new()->grave, object_free);
	rr_loop_leave(loop);
	assert_int_equal(ran, 0);
	assert_int_equal(rr_loop_due(loop), 0);
	assert_int_equal(rr_loop_turn(loop, -1), 1);
	assert_int_equal(ran, 1);
	assert_int_equal(rr_loop_due(loop), -1);
}

static void
what_is_freed_may_bury_more_and_a_loop_that_ends_frees_all(void **state)
{
	(void)state;
	rr_loop_enter(loop);
	rr_loop_bury(loop, &object_new()->other, object_free_other);
	rr_loop_bury(loop, &object_new()->grave, object_free);
	rr_loop_leave(loop);
	assert_int_equal(ran, 0);
	rr_loop_free(loop);
	loop = NULL;
	assert_int_equal(ran, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_timer_that_arms_itself_leaves_the_turn_to_others, setup, teardown),
		cmocka_unit_test_setup_teardown(timers_expire_in_the_order_of_their_times, setup, teardown),
		cmocka_unit_test_setup_teardown(the_longest_delay_does_not_expire_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_task_queued_by_a_task_runs_in_the_same_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_unwatched_descriptor_is_not_reported_in_the_same_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_loop_that_polls_looks_again_after_a_short_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_loop_that_polls_gives_up_at_its_limit_and_after_a_long_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(a_loop_does_not_poll_unless_it_is_told_to, setup, teardown),
		cmocka_unit_test_setup_teardown(
			in_a_turn_the_clock_is_read_once_unless_a_new_reading_is_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(between_turns_the_time_is_never_an_old_one, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_object_that_is_buried_in_its_own_callback_is_freed_at_the_end_of_the_turn, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			an_object_that_is_buried_outside_a_callback_is_freed_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_buried_in_a_callback_outside_a_turn_makes_the_next_turn_due, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_freed_may_bury_more_and_a_loop_that_ends_frees_all, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
