/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tool/cp/catalog.h"

static void
objects_keep_their_names_and_take_no_more_memory_than_they_need(void **state)
{
	struct rpcrdma_nfs_object plain = { .size = sizeof(plain), .uid = 7, .modified = { -1, 5 } };
	struct rpcrdma_nfs_object named = plain, grouped = plain, found;
	struct rr_catalog catalog = { 0 };
	struct rr_catalog_entry *entry;

	(void)state;
	strcpy(named.owner, "alice@example.org");
	strcpy(grouped.group, "staff");
	assert_int_equal(rr_catalog_add(&catalog, "c", &plain), 0);
	assert_int_equal(rr_catalog_add(&catalog, "b", &named), 0);
	assert_int_equal(rr_catalog_add(&catalog, "a", NULL), 0);
	assert_int_equal(catalog.octets,
		3 * (sizeof(*entry) + 2) + RR_CATALOG_OBJECT + sizeof(struct rpcrdma_nfs_object));
	rr_catalog_sort(&catalog);
	found = rr_catalog_object(rr_catalog_find(&catalog, "c"));
	assert_memory_equal(&found, &plain, sizeof(found));
	found = rr_catalog_object(rr_catalog_find(&catalog, "b"));
	assert_memory_equal(&found, &named, sizeof(found));
	entry = rr_catalog_find(&catalog, "a");
	assert_null(entry->object);
	assert_int_equal(rr_catalog_know(&catalog, entry, &grouped), 0);
	found = rr_catalog_object(entry);
	assert_memory_equal(&found, &grouped, sizeof(found));
	assert_int_equal(rr_catalog_know(&catalog, entry, NULL), 0);
	assert_null(entry->object);
	assert_null(rr_catalog_find(&catalog, "d"));
	rr_catalog_free(&catalog);
}

static void
objects_count_for_the_memory_of_a_catalog(void **state)
{
	const struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	struct rr_catalog catalog = { .octets = RR_CATALOG_MAX - sizeof(struct rr_catalog_entry) -
						sizeof("a") };

	(void)state;
	assert_int_equal(rr_catalog_add(&catalog, "a", NULL), 0);
	assert_int_equal(rr_catalog_know(&catalog, &catalog.entries[0], &object), -RPCRDMA_ERR_LIMIT);
	assert_null(catalog.entries[0].object);
	rr_catalog_free(&catalog);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_keep_their_names_and_take_no_more_memory_than_they_need),
		cmocka_unit_test(objects_count_for_the_memory_of_a_catalog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
