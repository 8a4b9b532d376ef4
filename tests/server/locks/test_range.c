/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../test.h"

#include <stdlib.h>
#include <string.h>

#include "server/locks/range.h"

static void
a_length_of_all_ones_goes_to_the_end_and_others_must_fit(void **state)
{
	struct rr_span span;

	(void)state;
	assert_false(rr_span(5, 0, &span));
	assert_true(rr_span(5, UINT64_MAX, &span));
	assert_int_equal(span.last, UINT64_MAX);
	assert_false(rr_span(UINT64_MAX, 1, &span));
	assert_false(rr_span(UINT64_MAX, 2, &span));
	assert_true(rr_span(UINT64_MAX - 9, 9, &span));
	assert_false(rr_span(UINT64_MAX - 9, 10, &span));
	assert_true(rr_span(7, 3, &span));
	assert_int_equal(rr_span_length(span), 3);
}

/* The ranges that several owners have locked in a file. */
enum { OWNERS = 5, PLACES = 64, MANY = 40000 };

static struct file {
	struct rr_locked locked;
	struct rr_ranges owners[MANY];
	char model[OWNERS][PLACES]; /* each octet: '.', 'r' or 'w' */
} file;

static void
begin(uint32_t owners)
{
	rr_locked_init(&file.locked);
	for (uint32_t i = 0; i < owners; i++)
		rr_ranges_init(&file.owners[i], &file.locked);
	memset(file.model, '.', sizeof(file.model));
}

static void
end(uint32_t owners)
{
	for (uint32_t i = 0; i < owners; i++) {
		rr_ranges_free(&file.owners[i], &rr_env_system, UINT32_MAX);
		assert_int_equal(file.owners[i].count, 0);
	}
	assert_int_equal(file.locked.count, 0);
	assert_null(file.locked.tree.root);
}

static const struct rr_range *
conflict(const struct rr_ranges *own, uint64_t first, uint64_t last, bool write)
{
	const struct rr_range_wanted wanted = { { first, last }, write, own };

	return rr_range_conflict(&file.locked, &wanted);
}

static void
an_owner_splits_and_merges_what_it_has(void **state)
{
	struct rr_ranges *ranges = &file.owners[0];
	const struct rr_env *env = &rr_env_system;

	(void)state;
	begin(1);
	assert_int_equal(rr_range_lock(ranges, env, (struct rr_span){ 0, 99 }, false), 0);
	assert_int_equal(rr_range_lock(ranges, env, (struct rr_span){ 40, 59 }, true), 0);
	assert_int_equal(ranges->count, 3);
	assert_int_equal(rr_range_lock(ranges, env, (struct rr_span){ 40, 59 }, false), 0);
	assert_int_equal(ranges->count, 1);
	assert_int_equal(rr_range_from(ranges, 0)->span.last, 99);
	assert_int_equal(rr_range_unlock(ranges, env, (struct rr_span){ 10, 19 }), 0);
	assert_int_equal(ranges->count, 2);
	assert_null(conflict(NULL, 10, 19, true));
	assert_non_null(conflict(NULL, 19, 20, true));
	assert_null(conflict(NULL, 19, 20, false));
	assert_null(conflict(ranges, 19, 20, true));
	end(1);
}

/* Returns the octet of a place: the last place is the last octet that a lock can have. */
static uint64_t
octet(int place)
{
	return place == PLACES - 1 ? UINT64_MAX : (uint64_t)place;
}

static char
at(struct rr_ranges *ranges, uint64_t where)
{
	const struct rr_range *range = rr_range_from(ranges, where);

	return !range || range->span.first > where ? '.' : range->write ? 'w' : 'r';
}

static void
is_in_order(struct rr_ranges *ranges)
{
	uint32_t count = 0;

	for (const struct rr_range *range = rr_range_from(ranges, 0), *next; range; range = next) {
		next = rr_range_next(range);
		assert_ptr_equal(range->owner, ranges);
		assert_true(range->span.first <= range->span.last);
		if (next) {
			assert_true(range->span.last < next->span.first);
			assert_false(range->write == next->write && range->span.last + 1 == next->span.first);
		}
		count++;
	}
	assert_int_equal(count, ranges->count);
}

/* Checks the search for conflicts against a look at all ranges of all owners. */
static void
finds_what_conflicts(int own, struct rr_span span, bool write)
{
	const struct rr_range_wanted wanted = { span, write, own < OWNERS ? &file.owners[own] : NULL };
	const struct rr_range *found = rr_range_conflict(&file.locked, &wanted), *last = NULL;
	uint32_t conflicts = 0, count = 0;

	for (int i = 0; i < OWNERS; i++) {
		const struct rr_range *range = rr_range_from(&file.owners[i], span.first);

		for (; i != own && range && range->span.first <= span.last; range = rr_range_next(range))
			conflicts += write || range->write;
	}
	for (; found && count <= conflicts; last = found, count++) {
		assert_ptr_not_equal(found->owner, wanted.own);
		assert_true(found->write || write);
		assert_true(found->span.first <= span.last && found->span.last >= span.first);
		assert_false(last && found->span.first < last->span.first);
		found = rr_range_conflict_next(&file.locked, &wanted, found);
	}
	assert_int_equal(count, conflicts);
}

/* Checks that random locks and unlocks of several owners give the same locked octets as arrays of octets
 * have, and that the conflicts are those that a look at all ranges finds. */
static void
agrees_with_arrays_of_octets(void **state)
{
	unsigned seed = 1;

	(void)state;
	begin(OWNERS);
	for (int step = 0; step < 20000; step++) {
		int owner = rand_r(&seed) % OWNERS, what = rand_r(&seed) % 3;
		int a = rand_r(&seed) % PLACES, b = rand_r(&seed) % PLACES;
		struct rr_span span = { octet(a < b ? a : b), octet(a < b ? b : a) };
		struct rr_ranges *ranges = &file.owners[owner];
		uint32_t count = 0;

		/* Mostly short spans, so that there are many ranges. */
		if (step % 4 && b > a + 3)
			span.last = octet(b = a + 3);
		memset(file.model[owner] + (a < b ? a : b), ".rw"[what], (size_t)abs(a - b) + 1);
		if (what == 0)
			assert_int_equal(rr_range_unlock(ranges, &rr_env_system, span), 0);
		else
			assert_int_equal(rr_range_lock(ranges, &rr_env_system, span, what == 2), 0);
		is_in_order(ranges);
		for (int i = 0; i < PLACES; i++)
			assert_int_equal(at(ranges, octet(i)), file.model[owner][i]);
		for (int i = 0; i < OWNERS; i++)
			count += file.owners[i].count;
		assert_int_equal(count, file.locked.count);
		finds_what_conflicts(rand_r(&seed) % (OWNERS + 1), span, rand_r(&seed) % 2);
	}
	end(OWNERS);
}

/* The most levels of a tree of MANY ranges: 1.45 * log2(MANY + 2). */
enum { LEVELS = 22 };

/* Returns the steps of a search for conflicts. */
static uint64_t
steps_of_search(const struct rr_ranges *own, uint64_t first, uint64_t last, bool write, bool expected)
{
	file.locked.tree.steps = 0;
	assert_int_equal(conflict(own, first, last, write) != NULL, expected);
	return file.locked.tree.steps;
}

/* Looks for conflicts in front of, among and behind the ranges, each of one octet at an even place; own: the
 * only owner that has not locked to read; NULL: all have. */
static void
looks_take_few_steps(const struct rr_ranges *own)
{
	const uint64_t end = 2 * MANY;

	for (uint64_t i = 0; i < MANY; i += 97) {
		assert_in_range(steps_of_search(own, 2 * i, 2 * i, true, !own), 0, LEVELS);
		assert_in_range(steps_of_search(own, 2 * i + 1, 2 * i + 1, true, false), 0, LEVELS);
		assert_in_range(steps_of_search(own, 2 * i, end, false, false), 0, LEVELS);
	}
	assert_in_range(steps_of_search(own, 0, UINT64_MAX, true, !own), 0, LEVELS);
	assert_in_range(steps_of_search(own, end, UINT64_MAX, true, false), 0, LEVELS);
}

/* Neither ranges that do not conflict, nor those of the asking owner, nor the number of owners makes a search
 * long, and no lock and unlock among them. */
static void
steps_are_logarithmic_in_the_ranges(void **state)
{
	/* A change of the tree goes down, comes back, and may turn two links on each level; a lock makes some
	 * changes. */
	enum { CHANGE = 6 * LEVELS, LOCK = 6 * CHANGE };
	const struct rr_env *env = &rr_env_system;

	(void)state;
	for (uint32_t owners = 1; owners <= MANY; owners = owners == 1 ? 200 : owners * 200) {
		begin(MANY);
		for (uint64_t i = 0; i < MANY; i++) {
			struct rr_ranges *ranges = &file.owners[i % owners];
			const struct rr_span span = { 2 * i, 2 * i };

			file.locked.tree.steps = ranges->tree.steps = 0;
			assert_int_equal(rr_range_lock(ranges, env, span, false), 0);
			assert_in_range(file.locked.tree.steps + ranges->tree.steps, 1, LOCK);
		}
		looks_take_few_steps(owners == 1 ? &file.owners[0] : NULL);
		for (uint64_t i = 0; i < MANY; i += 97) {
			struct rr_ranges *ranges = &file.owners[i % owners];
			const struct rr_span span = { 2 * i, 2 * i };

			file.locked.tree.steps = ranges->tree.steps = 0;
			assert_int_equal(rr_range_lock(ranges, env, span, true), 0);
			assert_int_equal(rr_range_unlock(ranges, env, span), 0);
			assert_in_range(file.locked.tree.steps + ranges->tree.steps, 1, 2 * LOCK);
		}
		end(MANY);
	}
}

/* A search goes on after a conflict: each of the others takes a few steps, too. Among ranges that reach far,
 * a short one is found that lies behind many others. */
static void
the_next_conflict_takes_few_steps(void **state)
{
	const struct rr_range_wanted wanted = { { MANY / 2, MANY / 2 + 1000 }, true, NULL };
	const struct rr_range *range;
	uint32_t count = 0;

	(void)state;
	begin(MANY);
	for (uint64_t i = 0; i < MANY; i++) {
		const struct rr_span span = { i, i % 100 ? i : UINT64_MAX };

		assert_int_equal(rr_range_lock(&file.owners[i], &rr_env_system, span, false), 0);
	}
	range = rr_range_conflict(&file.locked, &wanted);
	for (; range; count++) {
		file.locked.tree.steps = 0;
		range = rr_range_conflict_next(&file.locked, &wanted, range);
		assert_in_range(file.locked.tree.steps, 0, 2 * LEVELS);
	}
	/* Those that begin within the span, and those that begin in front of it and reach far. */
	assert_int_equal(count, 1001 + MANY / 2 / 100);
	end(MANY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_length_of_all_ones_goes_to_the_end_and_others_must_fit),
		cmocka_unit_test(an_owner_splits_and_merges_what_it_has),
		cmocka_unit_test(agrees_with_arrays_of_octets),
		cmocka_unit_test(steps_are_logarithmic_in_the_ranges),
		cmocka_unit_test(the_next_conflict_takes_few_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
