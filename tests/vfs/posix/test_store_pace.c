/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../test.h"

#include "base/env.h"
#include "vfs/posix/store/pace.h"

enum { CALLERS = 64 };

static void
many_are_stored_as_a_file_system_at_first(void **state)
{
	struct rr_store_pace pace;

	(void)state;
	rr_store_pace_init(&pace);
	assert_false(rr_store_pace_is_whole(&pace, 11));
	assert_true(rr_store_pace_is_whole(&pace, 12));
}

/* Simulates a storage where the two ways of storing take these times. Returns how many of the batches were
 * stored as a file system. */
static unsigned
batches_whole(uint64_t file, uint64_t whole, uint32_t targets, unsigned batches)
{
	struct rr_store_pace pace;
	unsigned count = 0;

	rr_store_pace_init(&pace);
	for (unsigned i = 0; i < batches; i++) {
		bool as_whole = rr_store_pace_is_whole(&pace, targets);

		rr_store_pace_learn(&pace, as_whole, targets, as_whole ? whole : file * targets);
		count += as_whole;
	}
	return count;
}

static void
the_way_that_takes_less_is_found(void **state)
{
	(void)state;
	/* Each fsync(2) waits for the journal, and there is nothing else to store. */
	assert_in_range(batches_whole(4 * RR_MILLISECOND, 5 * RR_MILLISECOND, 3, 1000), 900, 1000);
	/* Other programs change so much that storing the whole file system takes long. */
	assert_in_range(batches_whole(RR_MILLISECOND, 10 * RR_SECOND, 40, 1000), 0, 1);
	assert_in_range(batches_whole(RR_MILLISECOND / 10, 5 * RR_MILLISECOND, 20, 1000), 0, 100);
}

static void
what_took_long_once_is_tried_again(void **state)
{
	struct rr_store_pace pace;
	uint64_t spent = 0;

	(void)state;
	rr_store_pace_init(&pace);
	rr_store_pace_learn(&pace, true, 12, RR_SECOND);
	assert_false(rr_store_pace_is_whole(&pace, 12));
	while (!rr_store_pace_is_whole(&pace, 12)) {
		rr_store_pace_learn(&pace, false, 12, 12 * RR_MILLISECOND);
		spent += 12 * RR_MILLISECOND;
	}
	assert_in_range(spent, 4 * RR_SECOND, 16 * RR_SECOND);
}

static void
one_file_is_never_stored_as_a_file_system(void **state)
{
	struct rr_store_pace pace;

	(void)state;
	rr_store_pace_init(&pace);
	rr_store_pace_learn(&pace, false, 1, RR_SECOND);
	assert_false(rr_store_pace_is_whole(&pace, 1));
	assert_true(rr_store_pace_is_whole(&pace, 2));
}

/* Callers that make their next call when the last was stored, each some time after the caller before it. */
struct callers {
	uint64_t arrive[CALLERS]; /* the time of each caller's next call; 0: the call is in the batch */
	uint64_t stored;          /* number of calls */
};

static uint32_t
callers_waiting(const struct callers *callers, uint64_t now)
{
	uint32_t count = 0;

	for (int i = 0; i < CALLERS; i++)
		count += callers->arrive[i] <= now;
	return count;
}

/* Returns the time at which the next batch begins. */
static uint64_t
callers_gather(const struct callers *callers, const struct rr_store_pace *pace, uint64_t now)
{
	const uint64_t step = 10 * RR_MILLISECOND / 1000;
	uint64_t until;

	while (callers_waiting(callers, now) == 0)
		now += step;
	until = now + rr_store_pace_patience(pace);
	while (now < until && !rr_store_pace_is_enough(pace, callers_waiting(callers, now)))
		now += step;
	return now;
}

static void
calls_under_way_together_are_stored_together(void **state)
{
	const uint64_t takes = 4 * RR_MILLISECOND, between = RR_MILLISECOND / 25;
	struct callers callers = { .stored = 0 };
	struct rr_store_pace pace;
	unsigned batches = 0;
	uint64_t now = 0;

	(void)state;
	rr_store_pace_init(&pace);
	for (uint64_t i = 0; i < CALLERS; i++)
		callers.arrive[i] = i * between;
	for (; batches < 200; batches++) {
		uint64_t begun = callers_gather(&callers, &pace, now), turn = 0;
		uint32_t jobs = callers_waiting(&callers, begun);

		now = begun + takes;
		rr_store_pace_end(&pace, jobs, callers_waiting(&callers, now) - jobs, takes);
		for (int i = 0; i < CALLERS; i++)
			if (callers.arrive[i] <= begun)
				callers.arrive[i] = now + ++turn * between;
		callers.stored += jobs;
	}
	assert_in_range(callers.stored / batches, CALLERS * 3 / 4, CALLERS);
}

/* The caller whose job comes first waits for the caller that is gone only once. */
static void
a_caller_that_went_is_awaited_once(void **state)
{
	struct rr_store_pace pace;

	(void)state;
	rr_store_pace_init(&pace);
	assert_true(rr_store_pace_is_enough(&pace, 1));
	rr_store_pace_end(&pace, 1, 1, RR_MILLISECOND);
	assert_false(rr_store_pace_is_enough(&pace, 1));
	assert_in_range(rr_store_pace_patience(&pace), 0, RR_MILLISECOND);
	rr_store_pace_end(&pace, 1, 0, RR_MILLISECOND);
	assert_true(rr_store_pace_is_enough(&pace, 1));
}

static void
patience_is_bounded(void **state)
{
	struct rr_store_pace pace;

	(void)state;
	rr_store_pace_init(&pace);
	rr_store_pace_end(&pace, 1, 1, 60 * RR_SECOND);
	assert_in_range(rr_store_pace_patience(&pace), 0, 5 * RR_MILLISECOND);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_are_stored_as_a_file_system_at_first),
		cmocka_unit_test(the_way_that_takes_less_is_found),
		cmocka_unit_test(what_took_long_once_is_tried_again),
		cmocka_unit_test(one_file_is_never_stored_as_a_file_system),
		cmocka_unit_test(calls_under_way_together_are_stored_together),
		cmocka_unit_test(a_caller_that_went_is_awaited_once),
		cmocka_unit_test(patience_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
