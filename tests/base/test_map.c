/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include "base/map.h"

enum { COUNT = 1000 };

static void
finds_what_was_added_and_only_that(void **state)
{
	static struct rr_map_link links[COUNT];
	struct rr_map map = { 0 };

	(void)state;
	assert_int_equal(rr_map_init(&map, &rr_env_system, 100), 0);
	for (uint64_t i = 0; i < COUNT; i++)
		rr_map_add(&map, &links[i], i * i);
	for (uint64_t i = 0; i < COUNT; i += 2)
		rr_map_remove(&map, &links[i]);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_ptr_equal(rr_map_find(&map, i * i), i % 2 ? &links[i] : NULL);
	assert_null(rr_map_find(&map, 3));
	assert_int_equal(map.count, COUNT / 2);
	rr_map_free(&map, &rr_env_system);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(finds_what_was_added_and_only_that) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
