/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "tool/progress.h"

static void
the_time_that_is_left_follows_from_the_rate(void **state)
{
	static const struct {
		uint64_t done, all, seconds;
		const char *left;
	} cases[] = {
		{ 0, 100, 5, "-:--" },
		{ 50, 100, 7, "0:07" },
		{ 100, 100, 7, "0:00" },
		{ 101, 100, 7, "0:00" },
		{ 1, 101, 1, "1:40" },
		{ 1, 3724, 1, "1:02:03" },
		{ 1, 359999, 1, "99:59:58" },
		{ 1, 360001, 1, "-:--" },
		{ 1, UINT64_MAX, 1000000, "-:--" },
		{ 1, 100, 0, "0:00" },
		{ 0, 0, 0, "-:--" },
	};
	char text[16];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(rr_progress_left(cases[i].done, cases[i].all,
					    cases[i].seconds * RR_SECOND, text, sizeof(text)),
			cases[i].left);
}

static void
octets_are_shown_with_a_unit(void **state)
{
	char text[16];

	(void)state;
	assert_string_equal(rr_progress_octets(999, text, sizeof(text)), "999 B");
	assert_string_equal(rr_progress_octets(1000, text, sizeof(text)), "1.0 kB");
	assert_string_equal(rr_progress_octets(999949, text, sizeof(text)), "999.9 kB");
	assert_string_equal(rr_progress_octets(999950, text, sizeof(text)), "1.0 MB");
	assert_string_equal(rr_progress_octets(UINT64_MAX, text, sizeof(text)), "18.4 EB");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_that_is_left_follows_from_the_rate),
		cmocka_unit_test(octets_are_shown_with_a_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
