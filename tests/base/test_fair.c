/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <stdlib.h>

#include "base/share/fair.h"

enum { JOBS = 128 };

/* Jobs of some owners, one of which is at work at a time. */
struct work {
	struct rr_fair fair;
	struct {
		struct rr_fair_turn turn;
		uint64_t cost;
		bool waits;
	} jobs[JOBS];
	int count;
};

static int
setup(void **state)
{
	*state = calloc(1, sizeof(struct work));
	return *state ? 0 : -1;
}

static int
teardown(void **state)
{
	free(*state);
	return 0;
}

static int
add(struct work *work, uint64_t owner, uint64_t cost)
{
	int i = work->count++;

	work->jobs[i].cost = cost;
	work->jobs[i].waits = true;
	rr_fair_enter(&work->fair, owner, &work->jobs[i].turn);
	return i;
}

/* Does the job whose turn it is, and returns its owner. */
static uint64_t
do_next(struct work *work)
{
	int first = -1;

	for (int i = 0; i < work->count; i++) {
		if (work->jobs[i].waits &&
			(first < 0 || rr_fair_is_before(&work->jobs[i].turn, &work->jobs[first].turn)))
			first = i;
	}
	assert_true(first >= 0);
	work->jobs[first].waits = false;
	rr_fair_begin(&work->fair, &work->jobs[first].turn);
	rr_fair_end(&work->fair, &work->jobs[first].turn, work->jobs[first].cost);
	return work->jobs[first].turn.owner;
}

static void
jobs_of_one_owner_go_in_their_order(void **state)
{
	struct work *work = *state;

	for (int i = 0; i < 10; i++)
		add(work, 1, 1000 - 50 * (uint64_t)i);
	for (int i = 0; i < 10; i++) {
		assert_true(work->jobs[i].waits);
		do_next(work);
		assert_false(work->jobs[i].waits);
	}
}

static void
an_owner_with_many_jobs_holds_up_itself(void **state)
{
	struct work *work = *state;

	add(work, 1, 1000);
	do_next(work);
	for (int i = 0; i < 50; i++)
		add(work, 1, 1000);
	do_next(work);
	add(work, 2, 1000);
	assert_int_equal(do_next(work), 2);
	assert_int_equal(do_next(work), 1);
}

/* Two owners always have a job waiting: the owner whose jobs take ten times as long has about a tenth as many
 * done. */
static void
time_is_shared_and_not_the_number_of_jobs(void **state)
{
	struct work *work = *state;
	int done[3] = { 0 };

	add(work, 1, 1000);
	add(work, 2, 100);
	for (int i = 0; i < 100; i++) {
		uint64_t owner = do_next(work);

		done[owner]++;
		add(work, owner, owner == 1 ? 1000 : 100);
	}
	assert_in_range(done[1], 7, 12);
}

/* An owner that has waited for long is served at once, and then takes turns with the others. */
static void
an_idle_owner_saves_nothing_up(void **state)
{
	struct work *work = *state;
	int done[3] = { 0 };

	for (int i = 0; i < 20; i++) {
		add(work, 1, 1000);
		do_next(work);
	}
	for (int i = 0; i < 20; i++) {
		add(work, 1, 1000);
		add(work, 2, 1000);
	}
	for (int i = 0; i < 20; i++)
		done[do_next(work)]++;
	assert_in_range(done[2], 9, 11);
}

/* Long jobs of a new owner are charged with the average cost of all jobs, until the first of them have ended.
 */
static void
many_jobs_of_a_new_owner_do_not_all_go_first(void **state)
{
	struct work *work = *state;

	for (int i = 0; i < 8; i++) {
		add(work, 1, 1000);
		do_next(work);
	}
	for (int i = 0; i < 50; i++)
		add(work, 2, 1000);
	do_next(work);
	add(work, 1, 1000);
	do_next(work);
	do_next(work);
	assert_false(work->jobs[work->count - 1].waits);
}

static void
a_job_that_does_not_begin_costs_nothing(void **state)
{
	struct work *work = *state;

	add(work, 1, 1000);
	do_next(work);
	for (int i = 0; i < 50; i++) {
		int job = add(work, 1, 1000);

		rr_fair_leave(&work->fair, &work->jobs[job].turn);
		work->jobs[job].waits = false;
	}
	add(work, 1, 1000);
	add(work, 2, 1000);
	add(work, 2, 1000);
	do_next(work);
	do_next(work);
	assert_false(work->jobs[work->count - 3].waits);
}

/* Two owners may share a place of the table. The second one takes over the place as soon as the clock has
 * passed the first one's tag; until then, both count as one owner. */
static void
owners_beyond_the_table_are_served(void **state)
{
	struct work *work = *state;

	add(work, 1, 1000);
	do_next(work);
	add(work, 1 + RR_FAIR_OWNERS, 10);
	assert_int_equal(do_next(work), 1 + RR_FAIR_OWNERS);
	add(work, 2, 2000);
	do_next(work);
	add(work, 2, 2000);
	do_next(work);
	add(work, 1 + RR_FAIR_OWNERS, 10);
	do_next(work);
	assert_int_equal(work->fair.owners[1].number, 1 + RR_FAIR_OWNERS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(jobs_of_one_owner_go_in_their_order, setup, teardown),
		cmocka_unit_test_setup_teardown(an_owner_with_many_jobs_holds_up_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(time_is_shared_and_not_the_number_of_jobs, setup, teardown),
		cmocka_unit_test_setup_teardown(an_idle_owner_saves_nothing_up, setup, teardown),
		cmocka_unit_test_setup_teardown(
			many_jobs_of_a_new_owner_do_not_all_go_first, setup, teardown),
		cmocka_unit_test_setup_teardown(a_job_that_does_not_begin_costs_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(owners_beyond_the_table_are_served, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
