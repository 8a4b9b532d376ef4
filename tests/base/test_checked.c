/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/checked.h"

/* The numbers keep their 64 bits on machines of 32 bits, too. */
static void
the_lesser_of_two_numbers_of_64_bits(void **state)
{
	const uint64_t large = UINT64_C(1) << 32;

	(void)state;
	assert_true(rr_min(large, large + 1) == large);
	assert_true(rr_min(large + 1, large) == large);
	assert_true(rr_min(large, 1) == 1);
	assert_true(rr_min(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

static void
a_sum_that_does_not_fit_is_refused(void **state)
{
	uint32_t small;
	uint64_t large;

	(void)state;
	assert_true(rr_add_u32(UINT32_MAX - 1, 1, &small));
	assert_int_equal(small, UINT32_MAX);
	assert_false(rr_add_u32(UINT32_MAX, 1, &small));
	assert_true(rr_add_u64(UINT64_MAX - 1, 1, &large));
	assert_true(large == UINT64_MAX);
	assert_false(rr_add_u64(UINT64_MAX, 1, &large));
}

/* RFC 4506, section 3: "a multiple of four bytes". */
static void
padding_brings_lengths_to_a_multiple_of_four(void **state)
{
	const uint32_t padding[] = { 0, 3, 2, 1, 0 };

	(void)state;
	for (uint32_t length = 0; length <= 4; length++)
		assert_int_equal(rr_pad(length), padding[length]);
	assert_int_equal(rr_pad(UINT32_MAX), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lesser_of_two_numbers_of_64_bits),
		cmocka_unit_test(a_sum_that_does_not_fit_is_refused),
		cmocka_unit_test(padding_brings_lengths_to_a_multiple_of_four),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
