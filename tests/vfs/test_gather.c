/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of a listing that are gathered in memory. */
#include "../test.h"

#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "vfs/gather.h"

enum { LONG = 240 }; /* octets of a name */

/* A listing whose entries go to its caller, who takes as many as most. */
struct taking {
	struct rr_vfs_readdir readdir;
	uint32_t taken, most;
};

static void
number_name(uint32_t number, char name[LONG + 1])
{
	snprintf(name, LONG + 1, "%0*u", LONG, number);
}

/* Each entry is as it was added: its name, its attributes, and a handle whose length differs. */
static bool
take(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry)
{
	struct taking *taking = rr_container(readdir, struct taking, readdir);
	char name[LONG + 1];

	if (taking->taken == taking->most)
		return false;
	number_name(taking->taken, name);
	assert_int_equal(entry->name.length, LONG);
	assert_memory_equal(entry->name.data, name, LONG);
	assert_int_equal(entry->cookie, taking->taken + 1);
	assert_int_equal(entry->attributes != NULL, taking->taken % 3 != 0);
	if (entry->attributes) {
		assert_int_equal(entry->attributes->size, taking->taken);
		assert_int_equal(entry->handle->length, 1 + taking->taken % RR_VFS_HANDLE_MAX);
		assert_int_equal(entry->handle->data[entry->handle->length - 1], taking->taken & 0xff);
	}
	taking->taken++;
	return true;
}

/* Adds entries until there is no room, at most max. Returns their number. */
static uint32_t
fill(struct rr_gather *gather, uint32_t max)
{
	for (uint32_t i = 0; i < max; i++) {
		struct rr_vfs_attributes attributes = { .size = i };
		struct rr_vfs_handle handle = { .length = 1 + i % RR_VFS_HANDLE_MAX };
		char name[LONG + 1];
		struct rr_vfs_entry entry = { .name = { name, LONG }, .cookie = i + 1 };

		number_name(i, name);
		handle.data[handle.length - 1] = (uint8_t)i;
		if (i % 3 != 0) {
			entry.attributes = &attributes;
			entry.handle = &handle;
		}
		if (!rr_gather_add(gather, &entry))
			return i;
	}
	return max;
}

/* As many entries as the largest reply has are gathered, and come out as they went in. */
static void
the_largest_reply_is_gathered_whole(void **state)
{
	enum { ENTRIES = RR_VFS_LISTING_MAX / LONG };
	struct rr_gather *gather = rr_gather_new(&rr_env_system, true);
	struct taking taking = { .readdir = { .take = take, .eof = true }, .most = UINT32_MAX };

	(void)state;
	assert_non_null(gather);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(fill(gather, ENTRIES), ENTRIES);
		assert_false(rr_gather_is_full(gather));
		taking.taken = 0;
		rr_gather_deliver(gather, &taking.readdir);
		assert_int_equal(taking.taken, ENTRIES);
		assert_int_equal(taking.readdir.count, ENTRIES);
		assert_true(taking.readdir.eof);
		rr_gather_clear(gather);
	}
	rr_gather_free(gather);
}

/* However many entries there are, memory is bounded: what is gathered ends, and says so. */
static void
what_is_gathered_is_bounded(void **state)
{
	struct rr_gather *few = rr_gather_new(&rr_env_system, false),
			 *many = rr_gather_new(&rr_env_system, true);
	uint32_t some, most;

	(void)state;
	some = fill(few, UINT32_MAX);
	most = fill(many, UINT32_MAX);
	assert_true(rr_gather_is_full(few) && rr_gather_is_full(many));
	assert_in_range(some, 400, 1200);
	assert_in_range(most, 15 * some, 17 * some);
	rr_gather_clear(few);
	assert_false(rr_gather_is_full(few));
	rr_gather_free(few);
	rr_gather_free(many);
	rr_gather_free(NULL);
}

/* A caller who takes no more has no end of the listing. */
static void
an_entry_that_is_not_taken_ends_the_listing(void **state)
{
	struct rr_gather *gather = rr_gather_new(&rr_env_system, true);
	struct taking taking = { .readdir = { .take = take, .eof = true }, .most = 1500 };

	(void)state;
	assert_int_equal(fill(gather, 2000), 2000);
	rr_gather_deliver(gather, &taking.readdir);
	assert_int_equal(taking.readdir.count, 1500);
	assert_false(taking.readdir.eof);
	rr_gather_free(gather);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_reply_is_gathered_whole),
		cmocka_unit_test(what_is_gathered_is_bounded),
		cmocka_unit_test(an_entry_that_is_not_taken_ends_the_listing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
