/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "tool/asking.h"
#include "tool/monitor/measure.h"

static const struct timespec past = { .tv_sec = 1 };

static void
a_thread_that_hangs_keeps_no_other_from_answering(void **state)
{
	struct rr_asking asking;
	struct rr_measure measure;

	(void)state;
	rr_asking_init(&asking);
	rr_asking_begin(&asking, &measure, 3);
	for (uint32_t i = 1; i < 3; i++) {
		assert_ptr_equal(rr_asking_take(&asking, i), &measure);
		rr_asking_give(&asking, i);
	}
	assert_int_equal(rr_asking_end(&asking, &past), 1);
	rr_asking_destroy(&asking);
}

static void
a_thread_that_answers_too_late_is_not_asked_any_more(void **state)
{
	struct rr_asking asking;
	struct rr_measure measure;

	(void)state;
	rr_asking_init(&asking);
	rr_asking_begin(&asking, &measure, RR_ASKING_MAX);
	assert_int_equal(rr_asking_end(&asking, &past), RR_ASKING_MAX);
	assert_null(rr_asking_take(&asking, RR_ASKING_MAX - 1));
	rr_asking_destroy(&asking);
}

static void
a_thread_answers_once(void **state)
{
	struct rr_asking asking;
	struct rr_measure measure;

	(void)state;
	rr_asking_init(&asking);
	rr_asking_begin(&asking, &measure, 1);
	assert_null(rr_asking_take(&asking, 1));
	assert_ptr_equal(rr_asking_take(&asking, 0), &measure);
	rr_asking_give(&asking, 0);
	assert_null(rr_asking_take(&asking, 0));
	assert_int_equal(rr_asking_end(&asking, &past), 0);
	rr_asking_destroy(&asking);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_hangs_keeps_no_other_from_answering),
		cmocka_unit_test(a_thread_that_answers_too_late_is_not_asked_any_more),
		cmocka_unit_test(a_thread_answers_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
