/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "base/crew_queue.h"

enum { JOBS = 64, MAX = 8 };

struct crowd {
	struct rr_crew_queue queue;
	struct rr_crew_job jobs[JOBS];
	struct rr_crew_slot slots[MAX];
};

static int
setup(void **state)
{
	struct crowd *crowd = calloc(1, sizeof(*crowd));

	assert_non_null(crowd);
	assert_int_equal(rr_crew_queue_init(&crowd->queue, &rr_env_system, MAX, 1), 0);
	*state = crowd;
	return crowd ? 0 : -1;
}

static int
teardown(void **state)
{
	struct crowd *crowd = *state;

	for (int i = 0; i < MAX; i++)
		if (crowd->slots[i].job)
			rr_crew_queue_end(&crowd->queue, &crowd->slots[i], 0);
	for (int i = 0; i < JOBS; i++)
		if (crowd->jobs[i].waits)
			rr_crew_queue_withdraw(&crowd->queue, &crowd->jobs[i]);
	rr_crew_queue_free(&crowd->queue);
	free(crowd);
	return 0;
}

static void
add(struct crowd *crowd, int i, uint64_t place, enum rr_crew_order order, uint64_t one, uint64_t two)
{
	crowd->jobs[i] = (struct rr_crew_job){ .place = place, .order = order, .keys = { one, two } };
	rr_crew_queue_add(&crowd->queue, &crowd->jobs[i]);
}

static void
add_bulk(struct crowd *crowd, int i, uint64_t place)
{
	crowd->jobs[i] = (struct rr_crew_job){ .place = place, .bulk = true };
	rr_crew_queue_add(&crowd->queue, &crowd->jobs[i]);
}

/* Adds a job of this owner of this host, in any place and without keys. */
static void
add_of(struct crowd *crowd, int i, uint64_t host, uint64_t owner)
{
	crowd->jobs[i] = (struct rr_crew_job){ .host = host, .owner = owner };
	rr_crew_queue_add(&crowd->queue, &crowd->jobs[i]);
}

/* Begins the next job and returns its number. -1: no job may begin. */
static int
begin(struct crowd *crowd)
{
	struct rr_crew_job *job = rr_crew_queue_next(&crowd->queue);

	for (int i = 0; job && i < MAX; i++)
		if (!crowd->slots[i].job) {
			rr_crew_queue_begin(&crowd->queue, job, &crowd->slots[i]);
			return (int)(job - crowd->jobs);
		}
	return -1;
}

static struct rr_crew_slot *
slot_of(struct crowd *crowd, int job)
{
	for (int i = 0; i < MAX; i++)
		if (crowd->slots[i].job == &crowd->jobs[job])
			return &crowd->slots[i];
	fail();
	return NULL;
}

static void
end_after(struct crowd *crowd, int job, uint64_t spent)
{
	struct rr_crew_slot *slot = slot_of(crowd, job);

	/* The job may be freed by then. */
	memset(&crowd->jobs[job], 0xee, sizeof(crowd->jobs[job]));
	crowd->jobs[job].waits = false;
	rr_crew_queue_end(&crowd->queue, slot, spent);
}

static void
end(struct crowd *crowd, int job)
{
	end_after(crowd, job, 1000);
}

/* vfs.h, Order: "changes of the entries of one directory happen in the order in which they began" */
static void
changes_of_one_object_go_one_after_the_other(void **state)
{
	struct crowd *crowd = *state;

	add(crowd, 0, 0, RR_CREW_CHANGE, 7, 0);
	add(crowd, 1, 0, RR_CREW_CHANGE, 8, 7);
	add(crowd, 2, 0, RR_CREW_CHANGE, 8, 8);
	add(crowd, 3, 0, RR_CREW_CHANGE, 9, 0);
	assert_int_equal(begin(crowd), 0);
	assert_int_equal(begin(crowd), 3);
	assert_int_equal(begin(crowd), -1);
	end(crowd, 0);
	assert_int_equal(begin(crowd), 1);
	assert_int_equal(begin(crowd), -1);
	end(crowd, 1);
	assert_int_equal(begin(crowd), 2);
	end(crowd, 2);
	end(crowd, 3);
	assert_int_equal(crowd->queue.count, 0);
	assert_int_equal(crowd->queue.busy, 0);
	assert_int_equal(crowd->queue.ready, 0);
}

/* vfs.h, Order: "commit covers all writes to the same object that began before it" */
static void
a_commit_waits_for_the_writes_before_it_and_no_write_waits(void **state)
{
	struct crowd *crowd = *state;

	add(crowd, 0, 0, RR_CREW_WRITE, 7, 0);
	add(crowd, 1, 0, RR_CREW_WRITE, 7, 0);
	add(crowd, 2, 0, RR_CREW_COMMIT, 7, 0);
	add(crowd, 3, 0, RR_CREW_WRITE, 7, 0);
	add(crowd, 4, 0, RR_CREW_COMMIT, 8, 0);
	assert_int_equal(begin(crowd), 0);
	assert_int_equal(begin(crowd), 1);
	assert_int_equal(begin(crowd), 3);
	assert_int_equal(begin(crowd), 4);
	end(crowd, 1);
	assert_int_equal(begin(crowd), -1);
	end(crowd, 0);
	assert_int_equal(begin(crowd), 2);
}

static void
what_is_withdrawn_stands_before_nothing(void **state)
{
	struct crowd *crowd = *state;

	add(crowd, 0, 0, RR_CREW_CHANGE, 7, 0);
	add(crowd, 1, 0, RR_CREW_CHANGE, 7, 9);
	add(crowd, 2, 0, RR_CREW_CHANGE, 9, 0);
	add(crowd, 3, 0, RR_CREW_CHANGE, 7, 0);
	assert_int_equal(begin(crowd), 0);
	assert_int_equal(begin(crowd), -1);
	rr_crew_queue_withdraw(&crowd->queue, &crowd->jobs[1]);
	assert_false(crowd->jobs[1].waits);
	assert_int_equal(begin(crowd), 2);
	assert_int_equal(begin(crowd), -1);
	end(crowd, 0);
	rr_crew_queue_withdraw(&crowd->queue, &crowd->jobs[3]);
	assert_int_equal(begin(crowd), -1);
	assert_int_equal(crowd->queue.count, 0);
	assert_int_equal(crowd->queue.ready, 0);
}

/* A file system that hangs leaves half of the threads to the others, and each of these gets a thread. */
static void
a_place_leaves_threads_to_the_others(void **state)
{
	struct crowd *crowd = *state;

	for (int i = 0; i < 20; i++)
		add(crowd, i, 100, RR_CREW_CHANGE, 0, 0);
	for (int i = 0; i < MAX / 2; i++)
		assert_int_equal(begin(crowd), i);
	assert_int_equal(begin(crowd), -1);
	for (int i = 20; i < 26; i++)
		add(crowd, i, 200, RR_CREW_CHANGE, 0, 0);
	add(crowd, 26, 300, RR_CREW_CHANGE, 0, 0);
	assert_int_equal(begin(crowd), 20);
	assert_int_equal(begin(crowd), 26);
	assert_int_equal(begin(crowd), 21);
	assert_int_equal(begin(crowd), -1);
	/* The place that hangs gets no thread that the others give back. */
	end(crowd, 20);
	assert_int_equal(begin(crowd), 22);
	end(crowd, 26);
	assert_int_equal(begin(crowd), -1);
	end(crowd, 21);
	assert_int_equal(begin(crowd), 23);
}

/* An owner with many long jobs does not delay the first jobs of another owner, be it of the same host or not;
 * what that one has saved up has an end. */
static void
the_owner_whose_jobs_took_least_goes_first(void **state)
{
	for (uint64_t host = 1; host <= 2; host++) {
		struct crowd *crowd;

		setup((void **)&crowd);
		add_of(crowd, 0, 1, 5);
		assert_int_equal(begin(crowd), 0);
		for (int i = 1; i < 20; i++)
			add_of(crowd, i, 1, 5);
		end_after(crowd, 0, 2 * RR_CREW_CREDIT);
		for (int i = 1; i <= MAX; i++)
			assert_int_equal(begin(crowd), i);
		add_of(crowd, 20, host, 7);
		add_of(crowd, 21, host, 7);
		end_after(crowd, 1, 2 * RR_CREW_CREDIT);
		assert_int_equal(begin(crowd), 20);
		end_after(crowd, 20, 100 * RR_CREW_CREDIT);
		assert_int_equal(begin(crowd), MAX + 1);
		end_after(crowd, 2, 2 * RR_CREW_CREDIT);
		assert_int_equal(begin(crowd), MAX + 2);
		teardown((void **)&crowd);
	}
	(void)state;
}

/* A host has no more of the threads with many connections than with one. */
static void
a_host_has_one_turn_whatever_its_owners(void **state)
{
	enum { MANY = 30 };
	struct crowd *crowd = *state;
	int of_many = 0;

	for (int i = 0; i < MANY; i++)
		add_of(crowd, i, 1, 100 + (uint64_t)i);
	for (int i = MANY; i < 2 * MANY; i++)
		add_of(crowd, i, 2, 7);
	for (int i = 0; i < MANY; i++) {
		int job = begin(crowd);

		of_many += job < MANY;
		end_after(crowd, job, RR_CREW_CREDIT);
	}
	assert_in_range(of_many, MANY / 2 - 1, MANY / 2 + 1);
}

/* A job that took less than the average is charged with what it took; one that was withdrawn, with nothing.
 */
static void
an_owner_is_charged_with_what_its_jobs_took(void **state)
{
	struct crowd *crowd = *state;
	struct rr_crew_slot *slot;

	add_of(crowd, 0, 1, 5);
	assert_int_equal(begin(crowd), 0);
	end_after(crowd, 0, RR_CREW_CREDIT);
	add_of(crowd, 1, 2, 6);
	add_of(crowd, 2, 2, 6);
	add_of(crowd, 3, 2, 6);
	assert_int_equal(begin(crowd), 1);
	slot = slot_of(crowd, 1);
	assert_int_equal(slot->account->payer.turn.tag, RR_CREW_CREDIT);
	rr_crew_queue_withdraw(&crowd->queue, &crowd->jobs[3]);
	assert_int_equal(begin(crowd), 2);
	end_after(crowd, 1, 1000);
	slot = slot_of(crowd, 2);
	assert_int_equal(slot->account->payer.turn.tag, 1000 + slot->charged);
	end_after(crowd, 2, 0);
	assert_int_equal(crowd->queue.accounts.owners.count, 0);
	assert_int_equal(crowd->queue.accounts.hosts.count, 0);
}

/* These jobs only use the processor: more of them at a time would take it from others, and end no sooner. */
static void
few_bulk_jobs_are_at_work_at_a_time(void **state)
{
	static const uint32_t processors[] = { 1, 4, 100 }, most[] = { 2, 4, RR_CREW_BULK_MAX };
	struct crowd *crowd = *state;

	for (int run = 0; run < 3; run++) {
		struct rr_crew_slot slots[RR_CREW_BULK_MAX + 2] = { 0 };

		rr_crew_queue_free(&crowd->queue);
		assert_int_equal(rr_crew_queue_init(&crowd->queue, &rr_env_system, 64, processors[run]), 0);
		for (int i = 0; i < 20; i++)
			add_bulk(crowd, i, 100);
		for (uint32_t i = 0; i < most[run]; i++)
			rr_crew_queue_begin(&crowd->queue, rr_crew_queue_next(&crowd->queue), &slots[i]);
		assert_null(rr_crew_queue_next(&crowd->queue));
		add(crowd, 20, 100, RR_CREW_CHANGE, 0, 0);
		assert_ptr_equal(rr_crew_queue_next(&crowd->queue), &crowd->jobs[20]);
		rr_crew_queue_begin(&crowd->queue, &crowd->jobs[20], &slots[most[run]]);
		rr_crew_queue_end(&crowd->queue, &slots[0], 1000);
		assert_ptr_equal(rr_crew_queue_next(&crowd->queue), &crowd->jobs[most[run]]);
	}
}

/* The number of a place is made of a random one: each of its bits may be set. */
static void
no_number_of_a_place_makes_bulk_jobs(void **state)
{
	struct crowd *crowd = *state;

	for (int i = 0; i < 10; i++)
		add(crowd, i, UINT64_MAX, RR_CREW_CHANGE, 0, 0);
	for (int i = 0; i < MAX / 2; i++)
		assert_int_equal(begin(crowd), i);
	assert_int_equal(begin(crowd), -1);
}

/* A bulk job stays one in the file system that it crosses into, and one is counted there. */
static void
bulk_jobs_stay_bulk_jobs_elsewhere(void **state)
{
	struct crowd *crowd = *state;

	for (int i = 0; i < 4; i++)
		add_bulk(crowd, i, 100);
	assert_int_equal(begin(crowd), 0);
	assert_int_equal(begin(crowd), 1);
	assert_int_equal(begin(crowd), -1);
	assert_true(rr_crew_queue_move(&crowd->queue, slot_of(crowd, 0), 200));
	assert_true(rr_crew_queue_move(&crowd->queue, slot_of(crowd, 1), 200));
	assert_int_equal(begin(crowd), 2);
	assert_false(rr_crew_queue_move(&crowd->queue, slot_of(crowd, 2), 200));
}

static void
a_job_that_crosses_into_a_full_place_is_refused(void **state)
{
	struct crowd *crowd = *state;

	for (int i = 0; i < 20; i++)
		add(crowd, i, 100, RR_CREW_CHANGE, 0, 0);
	while (begin(crowd) >= 0)
		;
	add(crowd, 20, 200, RR_CREW_CHANGE, 0, 0);
	assert_int_equal(begin(crowd), 20);
	assert_false(rr_crew_queue_move(&crowd->queue, slot_of(crowd, 20), 100));
	assert_true(rr_crew_queue_move(&crowd->queue, slot_of(crowd, 20), 200));
	assert_true(rr_crew_queue_move(&crowd->queue, slot_of(crowd, 20), 300));
	assert_true(rr_crew_queue_move(&crowd->queue, slot_of(crowd, 0), 400));
	assert_int_equal(begin(crowd), -1);
	end(crowd, 0);
	end(crowd, 1);
	assert_int_equal(begin(crowd), MAX / 2);
}

static void
more_places_than_are_told_apart_are_served_all_the_same(void **state)
{
	struct crowd *crowd = *state;
	int begun = 0;

	for (int i = 0; i < JOBS; i++)
		add(crowd, i, 1000 + (uint64_t)i, RR_CREW_CHANGE, 0, 0);
	for (int job; (job = begin(crowd)) >= 0; begun++)
		end(crowd, job);
	assert_int_equal(begun, JOBS);
	assert_int_equal(crowd->queue.busy, 0);
	for (int i = 0; i < RR_CREW_PLACES; i++)
		assert_int_equal(crowd->queue.places[i].busy, 0);
}

static void
places_take_turns(void **state)
{
	struct crowd *crowd = *state;
	int first[2] = { 0 };

	for (int i = 0; i < 40; i++)
		add(crowd, i, i < 20 ? 100 : 200, RR_CREW_CHANGE, 0, 0);
	for (int i = 0; i < 10; i++) {
		int job = begin(crowd);

		first[job >= 20]++;
		end(crowd, job);
	}
	assert_int_equal(first[0], 5);
	assert_int_equal(first[1], 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			changes_of_one_object_go_one_after_the_other, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_commit_waits_for_the_writes_before_it_and_no_write_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_withdrawn_stands_before_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_place_leaves_threads_to_the_others, setup, teardown),
		cmocka_unit_test(the_owner_whose_jobs_took_least_goes_first),
		cmocka_unit_test_setup_teardown(a_host_has_one_turn_whatever_its_owners, setup, teardown),
		cmocka_unit_test_setup_teardown(an_owner_is_charged_with_what_its_jobs_took, setup, teardown),
		cmocka_unit_test_setup_teardown(few_bulk_jobs_are_at_work_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(no_number_of_a_place_makes_bulk_jobs, setup, teardown),
		cmocka_unit_test_setup_teardown(bulk_jobs_stay_bulk_jobs_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_job_that_crosses_into_a_full_place_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			more_places_than_are_told_apart_are_served_all_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(places_take_turns, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
