/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <string.h>

#include "carrier/carrier.h"

#define NAMED(member)                                                                                        \
	{                                                                                                    \
#member, offsetof(struct rpcrdma_counters, member)                                           \
	}

enum { FIRST = offsetof(struct rpcrdma_counters, calls) };

static void
each_counter_has_its_name(void **state)
{
	static const struct {
		const char *name;
		size_t offset;
	} some[] = { NAMED(calls), NAMED(long_replies), NAMED(why_arguments), NAMED(why_many),
		NAMED(octets_rdma_write), NAMED(remote_invalidations), NAMED(credit_wait_ns),
		NAMED(memory_wait_ns), NAMED(discarded), NAMED(err_vers_sent),
		NAMED(err_inval_option_received), NAMED(bad_replies) };

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		assert_string_equal(
			rr_counter_names[(some[i].offset - FIRST) / sizeof(uint64_t)], some[i].name);
	for (uint32_t i = 0; i < RR_COUNTERS; i++)
		assert_non_null(rr_counter_names[i]);
}

static void
a_sum_has_all_counters_in_it(void **state)
{
	struct rpcrdma_counters sum, counters;
	uint64_t values[RR_COUNTERS];

	(void)state;
	for (uint32_t i = 0; i < RR_COUNTERS; i++)
		values[i] = i + 1;
	memcpy((uint8_t *)&counters + FIRST, values, sizeof(values));
	sum = counters;
	rr_counters_add(&sum, &counters);
	for (uint32_t i = 0; i < RR_COUNTERS; i++)
		assert_int_equal(rr_counters_get(&sum, i), 2 * (i + 1));
}

/* A program that was built against an earlier header has fewer counters. */
static void
a_counter_is_looked_at_only_where_the_structure_has_it(void **state)
{
	struct rpcrdma_counters counters = { .size = offsetof(
						     struct rpcrdma_counters, err_inval_option_sent) };
	const char *name;
	uint32_t count = 0;

	(void)state;
	memset(&counters.calls, 0xff, sizeof(counters) - FIRST);
	while ((name = rpcrdma_counter_name(count))) {
		assert_int_equal(
			rpcrdma_counter_value(&counters, count), strstr(name, "err_inval") ? 0 : UINT64_MAX);
		count++;
	}
	assert_int_equal(count, RR_COUNTERS);
	assert_int_equal(rpcrdma_counter_value(&counters, count), 0);
	assert_int_equal(rpcrdma_counter_value(NULL, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_counter_has_its_name),
		cmocka_unit_test(a_sum_has_all_counters_in_it),
		cmocka_unit_test(a_counter_is_looked_at_only_where_the_structure_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
