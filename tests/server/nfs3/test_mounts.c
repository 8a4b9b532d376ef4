/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../test.h"

#include <stdio.h>
#include <string.h>

#include "server/mount/mounts.h"

static struct rr_mounts *mounts;

/* Returns the address 192.0.2.last. */
static struct rr_source
source_of(uint8_t last)
{
	return (struct rr_source){ .address = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, last },
		.known = true };
}

static void
add(uint8_t last, const char *path)
{
	const struct rr_source source = source_of(last);

	rr_mounts_add(mounts, &source, (struct rpcrdma_bytes){ path, (uint32_t)strlen(path) });
}

static uint32_t
count(const char *host, const char *path)
{
	struct rr_mounts_entry entry;
	uint32_t found = 0;

	for (uint32_t i = 0; i < RR_MOUNTS_MAX; i++)
		found += rr_mounts_get(mounts, i, NULL, &entry) && (!host || strcmp(entry.host, host) == 0) &&
			 (!path || strcmp(entry.path, path) == 0);
	return found;
}

static void
more_mounts_than_there_is_room_for_take_the_place_of_the_oldest(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RR_MOUNTS_MAX + 10; i++) {
		char path[16];

		snprintf(path, sizeof(path), "/%u", i);
		add(1, path);
		add(2, "/again"); /* this entry stays the newest */
	}
	assert_int_equal(count(NULL, NULL), RR_MOUNTS_MAX);
	assert_int_equal(count("192.0.2.2", "/again"), 1);
	assert_int_equal(count("192.0.2.1", "/10"), 0);
	assert_int_equal(count("192.0.2.1", "/11"), 1);
}

static void
a_long_path_is_cut_and_is_one_mount_all_the_same(void **state)
{
	char path[1024];
	const struct rr_source source = source_of(3);
	struct rpcrdma_bytes bytes = { path, sizeof(path) };

	(void)state;
	memset(path, 'a', sizeof(path));
	rr_mounts_add(mounts, &source, bytes);
	rr_mounts_add(mounts, &source, bytes);
	assert_int_equal(count("192.0.2.3", NULL), 1);
	rr_mounts_remove(mounts, &source, &bytes);
	assert_int_equal(count("192.0.2.3", NULL), 0);
}

static void
who_is_not_known_is_not_listed(void **state)
{
	const struct rr_source unknown = { .known = false };
	uint32_t before = count(NULL, NULL);

	(void)state;
	rr_mounts_add(mounts, &unknown, (struct rpcrdma_bytes){ "/new", 4 });
	assert_int_equal(count(NULL, "/new"), 0);
	assert_int_equal(count(NULL, NULL), before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_mounts_than_there_is_room_for_take_the_place_of_the_oldest),
		cmocka_unit_test(a_long_path_is_cut_and_is_one_mount_all_the_same),
		cmocka_unit_test(who_is_not_known_is_not_listed),
	};
	int failed;

	if (rr_mounts_new(&rr_env_system, &mounts) < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rr_mounts_free(mounts);
	return failed;
}
