/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests change numbers with a clock that ticks: each change within a tick shows. */
#include <pthread.h>
#include <stdlib.h>

#include "../../test.h"
#include "vfs/posix/change.h"

enum { TICK = 4000000, THREADS = 4, EACH = 1000 };

static int
setup(void **state)
{
	*state = calloc(1, sizeof(struct rr_changes));
	return *state ? 0 : -1;
}

static int
teardown(void **state)
{
	free(*state);
	return 0;
}

static struct statx
object(uint64_t number, uint32_t tick)
{
	return (struct statx){ .stx_ino = number,
		.stx_ctime = { .tv_sec = 1000000, .tv_nsec = tick * TICK } };
}

/* Changes the object at a tick, and returns its change number. */
static uint64_t
change(struct rr_changes *changes, struct statx *st, uint32_t tick)
{
	const struct statx_timestamp before = st->stx_ctime;

	st->stx_ctime.tv_nsec = tick * TICK;
	rr_change_happened(changes, &before, st);
	return rr_change_number(changes, st);
}

static void
each_change_within_a_tick_has_a_greater_number(void **state)
{
	struct statx st = object(1, 0);
	uint64_t last = rr_change_number(*state, &st);

	for (uint32_t i = 0; i < 100; i++) {
		uint64_t next = change(*state, &st, i / 10);

		assert_true(next > last);
		assert_int_equal(rr_change_number(*state, &st), next);
		last = next;
	}
}

/* Both threads look at the object before either of them changes it. */
static void
changes_of_two_threads_within_a_tick_have_two_numbers(void **state)
{
	struct statx one = object(1, 0), other = one;
	uint64_t first = change(*state, &one, 1);

	assert_true(change(*state, &other, 1) > first);
}

static void
a_clock_that_is_fine_enough_is_the_number(void **state)
{
	struct statx st = object(1, 0);

	for (uint32_t i = 1; i < 100; i++)
		assert_int_equal(change(*state, &st, i), UINT64_C(1000000) * 1000000000 + (uint64_t)i * TICK);
}

static void
changes_of_an_object_are_not_those_of_others(void **state)
{
	struct statx st = object(1, 3), others[1000];
	uint64_t numbers[1000];

	for (uint32_t i = 0; i < 1000; i++) {
		others[i] = object(2 + i, 3);
		numbers[i] = rr_change_number(*state, &others[i]);
	}
	for (int i = 0; i < 10; i++)
		change(*state, &st, 3);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(rr_change_number(*state, &others[i]), numbers[i]);
}

/* The objects are far more than the table has slots. */
static void
a_million_objects_that_change_once_have_the_number_of_the_clock(void **state)
{
	for (uint32_t i = 0; i < 1000000; i++) {
		struct statx st = object(i, 0);

		assert_int_equal(change(*state, &st, 1), UINT64_C(1000000) * 1000000000 + TICK);
	}
}

/* A second change in the same tick also shows where another object took the slot in between. */
static void
the_second_change_shows_without_a_slot(void **state)
{
	struct statx st = object(1, 0);
	uint64_t first = change(*state, &st, 1);

	for (uint32_t i = 2; i < 100000; i++) {
		struct statx other = object(i, 0);

		change(*state, &other, 1);
	}
	assert_true(change(*state, &st, 1) > first);
}

static void *
change_often(void *changes)
{
	for (int i = 0; i < EACH; i++) {
		struct statx st = object(1, 0);

		change(changes, &st, 1);
	}
	return NULL;
}

static void
no_change_is_lost_between_threads(void **state)
{
	struct statx st = object(1, 1);
	uint64_t before = rr_change_number(*state, &st);
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, change_often, *state), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(rr_change_number(*state, &st), before + THREADS * EACH - 1);
}

/* More changes than can be counted in one tick neither reach into the next tick nor go back. */
static void
the_count_ends_below_a_tick(void **state)
{
	struct statx st = object(1, 1), next = object(1, 2);
	uint64_t last = 0;

	for (uint32_t i = 0; i < (UINT32_C(1) << RR_CHANGE_BITS) + 10; i++) {
		uint64_t number = change(*state, &st, 1);

		assert_true(number >= last);
		last = number;
	}
	assert_true(last < rr_change_number(*state, &next));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			each_change_within_a_tick_has_a_greater_number, setup, teardown),
		cmocka_unit_test_setup_teardown(
			changes_of_two_threads_within_a_tick_have_two_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(a_clock_that_is_fine_enough_is_the_number, setup, teardown),
		cmocka_unit_test_setup_teardown(
			changes_of_an_object_are_not_those_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_million_objects_that_change_once_have_the_number_of_the_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(the_second_change_shows_without_a_slot, setup, teardown),
		cmocka_unit_test_setup_teardown(no_change_is_lost_between_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(the_count_ends_below_a_tick, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
