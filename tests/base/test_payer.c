/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/payer.h"

#define CREDIT (1 * RR_MILLISECOND)

enum { HOSTS = 4, PAYERS = 8 };

struct all {
	struct rr_payers payers;
	struct rr_payer_host hosts[HOSTS];
	struct rr_payer of[PAYERS]; /* those from HOSTS on belong to host 0, as the first one does */
};

static void
begin(struct all *all)
{
	*all = (struct all){ .payers.hosts.clock = 0 };
	rr_payers_init(&all->payers, CREDIT);
	for (int i = 0; i < HOSTS; i++)
		rr_payer_host_init(&all->payers, &all->hosts[i], (uint64_t)i + 1);
	for (int i = 0; i < PAYERS; i++)
		rr_payer_init(&all->of[i], &all->hosts[i < HOSTS ? i : 0]);
}

/* Serves the payer whose turn it is for that time, and has it wait again. Returns its index. */
static int
serve(struct all *all, uint64_t time)
{
	struct rr_payer *payer = rr_payers_take(&all->payers);

	assert_non_null(payer);
	rr_payer_charge(&all->payers, payer, time);
	rr_payer_wait(&all->payers, payer);
	return (int)(payer - all->of);
}

static void
a_host_has_no_more_with_many_payers(void **state)
{
	struct all all;
	int turns[PAYERS] = { 0 }, of_many = 0;

	(void)state;
	begin(&all);
	assert_true(rr_payers_are_idle(&all.payers));
	assert_null(rr_payers_take(&all.payers));
	for (int i = 0; i < PAYERS; i++)
		if (i < 2 || i >= HOSTS)
			rr_payer_wait(&all.payers, &all.of[i]);
	for (int i = 0; i < 100; i++)
		turns[serve(&all, RR_MILLISECOND)]++;
	of_many = 100 - turns[1];
	assert_in_range(of_many, 49, 51);
	assert_in_range(turns[0], of_many / 5 - 1, of_many / 5 + 1);
	for (int i = 0; i < PAYERS; i++)
		rr_payer_leave(&all.payers, &all.of[i]);
	assert_true(rr_payers_are_idle(&all.payers));
}

/* A payer that is charged in several steps, and uses less than the others, goes before them at each step. */
static void
who_uses_little_is_next_at_each_step(void **state)
{
	struct all all;

	(void)state;
	begin(&all);
	for (int i = 1; i < HOSTS; i++)
		rr_payer_wait(&all.payers, &all.of[i]);
	for (int i = 0; i < 100; i++)
		serve(&all, RR_MILLISECOND);
	for (int i = 0; i < 4; i++) {
		rr_payer_begin(&all.payers, &all.of[0]);
		rr_payer_charge(&all.payers, &all.of[0], CREDIT / 8);
		rr_payer_wait(&all.payers, &all.of[0]);
		assert_ptr_equal(rr_payers_take(&all.payers), &all.of[0]);
	}
	/* Its credit has an end. */
	rr_payer_charge(&all.payers, &all.of[0], 3 * CREDIT);
	rr_payer_wait(&all.payers, &all.of[0]);
	assert_ptr_not_equal(rr_payers_take(&all.payers), &all.of[0]);
}

/* What is done for one that does not wait leaves those that wait their claim. */
static void
the_clock_stays_with_those_that_wait(void **state)
{
	struct all all;
	uint64_t clock;

	(void)state;
	begin(&all);
	for (int i = 1; i < HOSTS; i++)
		rr_payer_wait(&all.payers, &all.of[i]);
	for (int i = 0; i < 10; i++)
		serve(&all, RR_MILLISECOND);
	clock = all.payers.hosts.clock;
	rr_payer_charge(&all.payers, &all.of[0], 100 * RR_MILLISECOND);
	rr_payer_begin(&all.payers, &all.of[0]);
	assert_in_range(all.payers.hosts.clock, clock, clock + RR_MILLISECOND);
	for (int i = 1; i < HOSTS; i++)
		rr_payer_leave(&all.payers, &all.of[i]);
	rr_payer_begin(&all.payers, &all.of[0]);
	assert_true(all.payers.hosts.clock > clock + 90 * RR_MILLISECOND);
}

/* A new host goes before those that have used much. One that left and comes again does not, unless much time
 * has passed. */
static void
who_comes_again_owes_what_it_owed(void **state)
{
	struct all all;

	(void)state;
	begin(&all);
	rr_payer_charge(&all.payers, &all.of[0], 10 * RR_MILLISECOND);
	rr_payer_charge(&all.payers, &all.of[1], 2 * RR_MILLISECOND);
	rr_payer_host_end(&all.payers, &all.hosts[0], 1);
	rr_payer_host_init(&all.payers, &all.hosts[0], 1);
	rr_payer_host_init(&all.payers, &all.hosts[2], 1 + RR_PAYERS_LEFT);
	assert_true(rr_payer_is_before(&all.of[2], &all.of[1]));
	assert_true(rr_payer_is_before(&all.of[1], &all.of[0]));
	/* One that has used less does not take its place in the table. */
	rr_payer_host_end(&all.payers, &all.hosts[0], 1);
	rr_payer_host_end(&all.payers, &all.hosts[2], 1 + RR_PAYERS_LEFT);
	rr_payer_host_init(&all.payers, &all.hosts[0], 1);
	assert_false(rr_payer_is_before(&all.of[0], &all.of[1]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_has_no_more_with_many_payers),
		cmocka_unit_test(who_uses_little_is_next_at_each_step),
		cmocka_unit_test(the_clock_stays_with_those_that_wait),
		cmocka_unit_test(who_comes_again_owes_what_it_owed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
