/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "rpc/latency.h"

static void
a_bucket_ends_below_a_power_of_two(void **state)
{
	struct rpcrdma_latency latency = { 0 };

	(void)state;
	rr_latency_add(&latency, 999, false);
	assert_int_equal(latency.buckets[0], 1);
	rr_latency_add(&latency, 1000, false);
	assert_int_equal(latency.buckets[1], 1);
	rr_latency_add(&latency, 1023999, false);
	assert_int_equal(latency.buckets[10], 1);
	rr_latency_add(&latency, 1024000, true);
	assert_int_equal(latency.buckets[11], 1);
	rr_latency_add(&latency, UINT64_MAX / 2, false);
	assert_int_equal(latency.buckets[RPCRDMA_LATENCY_BUCKETS - 1], 1);
	assert_int_equal(latency.calls, 5);
	assert_int_equal(latency.errors, 1);
}

static void
a_percentile_is_the_end_of_its_bucket(void **state)
{
	struct rpcrdma_latency latency = { 0 };

	(void)state;
	assert_int_equal(rpcrdma_latency_percentile(&latency, 50), 0);
	for (uint32_t i = 0; i < 99; i++)
		rr_latency_add(&latency, 100000, false);
	rr_latency_add(&latency, 5000000, false);
	assert_int_equal(rpcrdma_latency_percentile(&latency, 50), 128);
	assert_int_equal(rpcrdma_latency_percentile(&latency, 99), 128);
	assert_int_equal(rpcrdma_latency_percentile(&latency, 100), 8192);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bucket_ends_below_a_power_of_two),
		cmocka_unit_test(a_percentile_is_the_end_of_its_bucket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
