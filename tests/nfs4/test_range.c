/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#include "nfs4/range.h"

static void
a_length_of_all_ones_goes_to_the_end_and_others_must_fit(void **state)
{
	struct rr_nfs4_span span;

	(void)state;
	assert_false(rr_nfs4_span(5, 0, &span));
	assert_true(rr_nfs4_span(5, UINT64_MAX, &span));
	assert_int_equal(span.last, UINT64_MAX);
	assert_false(rr_nfs4_span(UINT64_MAX, 1, &span));
	assert_false(rr_nfs4_span(UINT64_MAX, 2, &span));
	assert_true(rr_nfs4_span(UINT64_MAX - 9, 9, &span));
	assert_false(rr_nfs4_span(UINT64_MAX - 9, 10, &span));
	assert_true(rr_nfs4_span(7, 3, &span));
	assert_int_equal(rr_nfs4_span_length(span), 3);
}

static void
an_owner_splits_and_merges_what_it_has(void **state)
{
	struct rr_nfs4_ranges ranges = { 0 };
	const struct rr_env *env = &rr_env_system;

	(void)state;
	assert_int_equal(rr_nfs4_range_lock(&ranges, env, (struct rr_nfs4_span){ 0, 99 }, false), 0);
	assert_int_equal(rr_nfs4_range_lock(&ranges, env, (struct rr_nfs4_span){ 40, 59 }, true), 0);
	assert_int_equal(ranges.count, 3);
	assert_int_equal(rr_nfs4_range_lock(&ranges, env, (struct rr_nfs4_span){ 40, 59 }, false), 0);
	assert_int_equal(ranges.count, 1);
	assert_int_equal(ranges.first->span.last, 99);
	assert_int_equal(rr_nfs4_range_unlock(&ranges, env, (struct rr_nfs4_span){ 10, 19 }), 0);
	assert_int_equal(ranges.count, 2);
	assert_null(rr_nfs4_range_conflict(&ranges, (struct rr_nfs4_span){ 10, 19 }, true));
	assert_non_null(rr_nfs4_range_conflict(&ranges, (struct rr_nfs4_span){ 19, 20 }, true));
	assert_null(rr_nfs4_range_conflict(&ranges, (struct rr_nfs4_span){ 19, 20 }, false));
	rr_nfs4_ranges_free(&ranges, env);
}

enum { PLACES = 64 };

/* Returns the octet of a place: the last place is the last octet that a lock can have. */
static uint64_t
octet(int place)
{
	return place == PLACES - 1 ? UINT64_MAX : (uint64_t)place;
}

static char
at(const struct rr_nfs4_ranges *ranges, uint64_t where)
{
	for (const struct rr_nfs4_range *range = ranges->first; range; range = range->next) {
		if (range->span.first <= where && where <= range->span.last)
			return range->write ? 'w' : 'r';
	}
	return '.';
}

static void
is_in_order(const struct rr_nfs4_ranges *ranges)
{
	uint32_t count = 0;

	for (const struct rr_nfs4_range *range = ranges->first; range; range = range->next) {
		assert_true(range->span.first <= range->span.last);
		if (range->next) {
			assert_true(range->span.last < range->next->span.first);
			assert_false(range->write == range->next->write &&
				     range->span.last + 1 == range->next->span.first);
		}
		count++;
	}
	assert_int_equal(count, ranges->count);
}

/* Checks that random locks and unlocks give the same locked octets as an array of octets has. */
static void
agrees_with_an_array_of_octets(void **state)
{
	struct rr_nfs4_ranges ranges = { 0 };
	char model[PLACES];
	unsigned seed = 1;

	(void)state;
	memset(model, '.', sizeof(model));
	for (int step = 0; step < 20000; step++) {
		int a = rand_r(&seed) % PLACES, b = rand_r(&seed) % PLACES, what = rand_r(&seed) % 3;
		struct rr_nfs4_span span = { octet(a < b ? a : b), octet(a < b ? b : a) };

		memset(model + (a < b ? a : b), ".rw"[what], (size_t)abs(a - b) + 1);
		if (what == 0)
			assert_int_equal(rr_nfs4_range_unlock(&ranges, &rr_env_system, span), 0);
		else
			assert_int_equal(rr_nfs4_range_lock(&ranges, &rr_env_system, span, what == 2), 0);
		is_in_order(&ranges);
		for (int i = 0; i < PLACES; i++)
			assert_int_equal(at(&ranges, octet(i)), model[i]);
	}
	rr_nfs4_ranges_free(&ranges, &rr_env_system);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_length_of_all_ones_goes_to_the_end_and_others_must_fit),
		cmocka_unit_test(an_owner_splits_and_merges_what_it_has),
		cmocka_unit_test(agrees_with_an_array_of_octets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
