/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of regions by itself: which handle a region gets, and which accesses are allowed. */
#include "../test.h"

#include "base/env.h"
#include "fabric/regions.h"

enum { LENGTH = 100 };

static struct rr_regions regions;
static uint8_t memory[LENGTH];

static int
setup(void **state)
{
	(void)state;
	rr_regions_init(&regions, &rr_env_system, 10);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rr_regions_destroy(&regions);
	return 0;
}

static struct rr_region
add(unsigned access)
{
	struct rr_region region;

	assert_int_equal(rr_regions_add(&regions, memory, LENGTH, access, &region), 0);
	return region;
}

/* Asks for length octets that begin at octets after the region's offset. */
static enum rr_region_fault
find(struct rr_region region, uint64_t at, uint32_t length, unsigned access)
{
	uint8_t *addr = memory;
	enum rr_region_fault fault =
		rr_regions_find(&regions, region.handle, region.offset + at, length, access, &addr);

	assert_ptr_equal(addr, fault ? NULL : memory + at);
	return fault;
}

static void
all_octets_of_a_region_and_no_others_are_reached(void **state)
{
	struct rr_region region = add(RR_REMOTE_READ);

	(void)state;
	assert_int_equal(find(region, 0, LENGTH, RR_REMOTE_READ), RR_REGION_FINE);
	assert_int_equal(find(region, LENGTH - 1, 1, RR_REMOTE_READ), RR_REGION_FINE);
	assert_int_equal(find(region, LENGTH, 0, RR_REMOTE_READ), RR_REGION_FINE);
	assert_int_equal(find(region, 0, LENGTH + 1, RR_REMOTE_READ), RR_REGION_BOUNDS);
	assert_int_equal(find(region, 1, LENGTH, RR_REMOTE_READ), RR_REGION_BOUNDS);
	assert_int_equal(find(region, LENGTH, 1, RR_REMOTE_READ), RR_REGION_BOUNDS);
	assert_int_equal(find(region, LENGTH + 1, 0, RR_REMOTE_READ), RR_REGION_BOUNDS);
	assert_int_equal(find(region, 1, UINT32_MAX, RR_REMOTE_READ), RR_REGION_BOUNDS);
	assert_int_equal(find(region, (uint64_t)-1, 1, RR_REMOTE_READ), RR_REGION_BOUNDS);
	assert_int_equal(find(region, (uint64_t)-1, 2, RR_REMOTE_READ), RR_REGION_BOUNDS);
	assert_int_equal(find(region, -region.offset - 1, 2, RR_REMOTE_READ), RR_REGION_WRAP);
}

static void
an_access_has_to_be_one_that_the_region_is_for(void **state)
{
	struct rr_region read = add(RR_REMOTE_READ), both = add(RR_REMOTE_READ | RR_REMOTE_WRITE);

	(void)state;
	assert_int_equal(find(read, 0, 1, RR_REMOTE_WRITE), RR_REGION_RIGHTS);
	assert_int_equal(find(read, 0, 1, RR_REMOTE_READ | RR_REMOTE_WRITE), RR_REGION_RIGHTS);
	assert_int_equal(find(both, 0, 1, RR_REMOTE_WRITE), RR_REGION_FINE);
	assert_int_equal(find(both, 0, 1, RR_REMOTE_READ), RR_REGION_FINE);
}

static void
a_region_that_is_invalid_stays_until_it_is_removed(void **state)
{
	struct rr_region invalid = add(RR_REMOTE_READ), revoked = add(RR_REMOTE_READ);

	(void)state;
	rr_regions_invalidate(&regions, invalid.handle);
	rr_regions_revoke(&regions, revoked.handle);
	assert_int_equal(find(invalid, 0, 1, RR_REMOTE_READ), RR_REGION_UNKNOWN);
	assert_int_equal(find(revoked, 0, 1, RR_REMOTE_READ), RR_REGION_REVOKED);
	assert_true(rr_regions_has(&regions, invalid.handle));
	assert_true(rr_regions_has(&regions, revoked.handle));
	rr_regions_remove(&regions, revoked.handle);
	assert_int_equal(find(revoked, 0, 1, RR_REMOTE_READ), RR_REGION_UNKNOWN);
	assert_false(rr_regions_has(&regions, revoked.handle));
	assert_false(rr_regions_has(&regions, 0));
}

/* Nothing is left of the region, a revoked one, that had the entry before. */
static void
an_entry_is_used_again_after_all_others(void **state)
{
	struct rr_region first = add(RR_REMOTE_READ), others[9];
	uint32_t number = first.handle & regions.entry_mask;

	(void)state;
	rr_regions_revoke(&regions, first.handle);
	rr_regions_remove(&regions, first.handle);
	for (int i = 0; i < 7; i++) {
		others[i] = add(RR_REMOTE_READ);
		assert_int_not_equal(others[i].handle & regions.entry_mask, number);
	}
	others[7] = add(RR_REMOTE_WRITE);
	assert_int_equal(others[7].handle & regions.entry_mask, number);
	assert_int_not_equal(others[7].handle, first.handle);
	assert_int_equal(find(others[7], 0, 1, RR_REMOTE_WRITE), RR_REGION_FINE);
	assert_int_equal(find(first, 0, 1, RR_REMOTE_READ), RR_REGION_UNKNOWN);
	others[8] = add(RR_REMOTE_WRITE); /* the table has grown */
	for (int i = 0; i < 9; i++)
		assert_int_equal(
			find(others[i], 0, 1, i < 7 ? RR_REMOTE_READ : RR_REMOTE_WRITE), RR_REGION_FINE);
	rr_regions_invalidate(&regions, others[7].handle);
	assert_int_equal(find(others[7], 0, 1, RR_REMOTE_WRITE), RR_REGION_UNKNOWN);
}

static void
there_are_no_more_regions_than_allowed(void **state)
{
	struct rr_region all[10], more;

	(void)state;
	for (int i = 0; i < 10; i++) {
		all[i] = add(RR_REMOTE_READ);
		for (int j = 0; j < i; j++)
			assert_int_not_equal(all[i].handle, all[j].handle);
	}
	assert_int_equal(rr_regions_add(&regions, memory, LENGTH, RR_REMOTE_READ, &more), -RPCRDMA_ERR_LIMIT);
	rr_regions_remove(&regions, all[3].handle);
	add(RR_REMOTE_READ);
	assert_int_equal(rr_regions_add(&regions, memory, LENGTH, RR_REMOTE_READ, &more), -RPCRDMA_ERR_LIMIT);
	for (int i = 0; i < 10; i++)
		assert_int_equal(
			find(all[i], 0, 1, RR_REMOTE_READ), i == 3 ? RR_REGION_UNKNOWN : RR_REGION_FINE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			all_octets_of_a_region_and_no_others_are_reached, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_access_has_to_be_one_that_the_region_is_for, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_region_that_is_invalid_stays_until_it_is_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(an_entry_is_used_again_after_all_others, setup, teardown),
		cmocka_unit_test_setup_teardown(there_are_no_more_regions_than_allowed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
