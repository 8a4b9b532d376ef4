/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of --bwlimit. The time is a number that the tests move. */
#include "tool/cp/rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/env.h"

enum { MIB = 1 << 20, KIB = 1 << 10 };

#define MS (RR_SECOND / 1000)

/* Takes pieces of so many octets for so long a time, each as early as it may be taken but `late` ns after
 * that. Returns how many octets were taken. */
static uint64_t
take_for(struct rr_rate *rate, uint64_t *now, uint64_t time, uint32_t piece, uint64_t late)
{
	const uint64_t end = *now + time;
	uint64_t taken = 0;

	while (*now + rr_rate_wait(rate, *now) + late < end) {
		*now += rr_rate_wait(rate, *now) + late;
		assert_int_equal(rr_rate_wait(rate, *now), 0);
		rr_rate_take(rate, piece, *now);
		taken += piece;
	}
	*now = end;
	return taken;
}

static void
a_copy_has_the_rate_of_the_limit(void **state)
{
	struct rr_rate rate = { .limit = MIB };
	uint64_t now = 7 * RR_SECOND;

	(void)state;
	assert_in_range(
		take_for(&rate, &now, 100 * RR_SECOND, 64 * KIB, 0), 100 * MIB, 100 * MIB + 192 * KIB);
	rate = (struct rr_rate){ .limit = 3 * KIB };
	assert_in_range(take_for(&rate, &now, 1000 * RR_SECOND, 4 * KIB, 0), 3000 * KIB, 3008 * KIB);
}

/* A piece that begins a little later than it may does not make the copy slower than the limit. */
static void
a_copy_makes_up_for_a_short_delay(void **state)
{
	struct rr_rate rate = { .limit = MIB };
	uint64_t now = 0;

	(void)state;
	assert_in_range(
		take_for(&rate, &now, 100 * RR_SECOND, 64 * KIB, 50 * MS), 99 * MIB, 100 * MIB + 192 * KIB);
}

static void
a_copy_does_not_make_up_for_a_long_pause(void **state)
{
	struct rr_rate rate = { .limit = MIB };
	uint64_t now = 0;

	(void)state;
	take_for(&rate, &now, 10 * RR_SECOND, 64 * KIB, 0);
	now += 3600 * RR_SECOND;
	assert_in_range(take_for(&rate, &now, RR_SECOND, 64 * KIB, 0), MIB, MIB + 192 * KIB);
}

static void
a_piece_waits_until_those_before_it_are_moved(void **state)
{
	struct rr_rate rate = { .limit = MIB };
	const uint64_t now = 5 * RR_SECOND;

	(void)state;
	assert_int_equal(rr_rate_wait(&rate, now), 0);
	rr_rate_take(&rate, MIB, now);
	assert_int_equal(rr_rate_wait(&rate, now), 900 * MS);
	assert_int_equal(rr_rate_wait(&rate, now + 899 * MS), MS);
	assert_int_equal(rr_rate_wait(&rate, now + 900 * MS), 0);
}

static void
what_was_not_moved_is_given_back(void **state)
{
	struct rr_rate rate = { .limit = MIB };
	const uint64_t now = 5 * RR_SECOND;

	(void)state;
	rr_rate_take(&rate, MIB, now);
	rr_rate_give(&rate, MIB / 2);
	assert_int_equal(rr_rate_wait(&rate, now), 400 * MS);
	rr_rate_give(&rate, UINT32_MAX);
	assert_int_equal(rr_rate_wait(&rate, now), 0);
}

static void
the_largest_piece_at_the_lowest_limit_does_not_overflow(void **state)
{
	struct rr_rate rate = { .limit = KIB };
	const uint64_t now = UINT64_C(1) << 60;

	(void)state;
	rr_rate_take(&rate, UINT32_MAX, now);
	assert_in_range(
		rr_rate_wait(&rate, now), UINT64_C(4194302) * RR_SECOND, UINT64_C(4194304) * RR_SECOND);
}

static void
without_a_limit_nothing_waits(void **state)
{
	struct rr_rate rate = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		rr_rate_take(&rate, UINT32_MAX, 1);
	rr_rate_give(&rate, 1);
	assert_int_equal(rr_rate_wait(&rate, 1), 0);
	assert_int_equal(rr_rate_piece(&rate, 512 * KIB), 512 * KIB);
}

static void
pieces_are_small_where_the_limit_is_low(void **state)
{
	static const struct {
		uint64_t limit;
		uint32_t most, piece;
	} rows[] = {
		{ KIB, 512 * KIB, 4096 },
		{ 64 * KIB, 512 * KIB, 8192 },
		{ 100 * KIB, 512 * KIB, 12288 },
		{ MIB, 512 * KIB, 128 * KIB },
		{ MIB, 1000, 1000 },
		{ KIB, 1000, 1000 },
		{ 4 * MIB, 512 * KIB, 512 * KIB },
		{ UINT64_C(1) << 40, 512 * KIB, 512 * KIB },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(rr_rate_piece(&(struct rr_rate){ .limit = rows[i].limit }, rows[i].most),
			rows[i].piece);
}

static void
a_limit_is_a_number_of_kib_with_a_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t limit;
	} rows[] = {
		{ "1", KIB },
		{ "10", 10 * KIB },
		{ "10k", 10 * KIB },
		{ "10K", 10 * KIB },
		{ "3m", 3 * MIB },
		{ "3M", 3 * MIB },
		{ "2g", UINT64_C(2) << 30 },
		{ "1024G", UINT64_C(1) << 40 },
		{ "1073741824", UINT64_C(1) << 40 },
	};
	static const char *const none[] = { "", "0", "0K", "-1", "+1", " 1", "1 ", "K", "1.5M", "1KK", "1KB",
		"1T", "1x", "0x10", "1025G", "1073741825", "99999999999", "99999999999999999999999" };
	uint64_t limit = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(rr_rate_parse(rows[i].text, &limit), 0);
		assert_int_equal(limit, rows[i].limit);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_true(rr_rate_parse(none[i], &limit) < 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_has_the_rate_of_the_limit),
		cmocka_unit_test(a_copy_makes_up_for_a_short_delay),
		cmocka_unit_test(a_copy_does_not_make_up_for_a_long_pause),
		cmocka_unit_test(a_piece_waits_until_those_before_it_are_moved),
		cmocka_unit_test(what_was_not_moved_is_given_back),
		cmocka_unit_test(the_largest_piece_at_the_lowest_limit_does_not_overflow),
		cmocka_unit_test(without_a_limit_nothing_waits),
		cmocka_unit_test(pieces_are_small_where_the_limit_is_low),
		cmocka_unit_test(a_limit_is_a_number_of_kib_with_a_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
