/* SPDX-License-Identifier: BSD-3-Clause */
/* These are the tests of operations under way at the same time: their order, their end, and cancelling. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

enum { MANY = 64 };

static void
wait_for(struct suite *suite, struct rr_vfs_call *call, enum rr_vfs_status *status)
{
	*status = suite_end(suite, call, *status);
}

static void
changes_of_one_directory_happen_in_their_order(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create[MANY];
	struct rr_vfs_remove remove[MANY];
	enum rr_vfs_status status[2 * MANY];

	for (uint32_t i = 0; i < MANY; i++) {
		create[i] = (struct rr_vfs_create){ .directory = suite_at(&suite->root),
			.name = suite_bytes("name"),
			.type = RR_VFS_FILE,
			.how = RR_VFS_GUARDED };
		remove[i] = (struct rr_vfs_remove){ .directory = suite_at(&suite->root),
			.name = suite_bytes("name") };
	}
	for (uint32_t i = 0; i < MANY; i++) {
		suite_ready(suite, &create[i].call);
		status[2 * i] = rr_vfs_create(suite->vfs, &create[i]);
		suite_ready(suite, &remove[i].call);
		status[2 * i + 1] = rr_vfs_remove(suite->vfs, &remove[i]);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		wait_for(suite, &create[i].call, &status[2 * i]);
		wait_for(suite, &remove[i].call, &status[2 * i + 1]);
	}
	/* In any other order some of the operations would fail. */
	for (uint32_t i = 0; i < 2 * MANY; i++)
		assert_int_equal(status[i], RR_VFS_OK);
}

static void
writes_at_the_same_time_all_happen(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	struct rr_vfs_write write[MANY];
	struct rr_vfs_commit commit = { .object = suite_at(&file) };
	char texts[MANY][8], whole[MANY * 7 + 1];
	struct rr_vfs_object object = suite_at(&file);
	enum rr_vfs_status status[MANY], end;

	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%07u", i);
		memcpy(whole + i * 7, texts[i], 8);
		write[i] = (struct rr_vfs_write){
			.object = suite_at(&file), .offset = i * 7, .data = texts[i], .length = 7
		};
		suite_ready(suite, &write[i].call);
		status[i] = rr_vfs_write(suite->vfs, &write[i]);
	}
	suite_ready(suite, &commit.call);
	end = rr_vfs_commit(suite->vfs, &commit);
	wait_for(suite, &commit.call, &end);
	assert_int_equal(end, RR_VFS_OK);
	for (uint32_t i = 0; i < MANY; i++) {
		wait_for(suite, &write[i].call, &status[i]);
		assert_int_equal(status[i], RR_VFS_OK);
		assert_int_equal(write[i].count, 7);
		assert_true(write[i].verifier == commit.verifier);
	}
	suite_holds(suite, &object, 0, whole);
}

static void
an_open_that_is_closed_meanwhile_is_there_until_the_end(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_OPENS);
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *open = suite_open(suite, &file, RR_VFS_SHARE_READ, 0);
	char data[MANY][4];
	struct rr_vfs_read read[MANY];
	enum rr_vfs_status status[MANY];

	assert_int_equal(suite_remove(suite, &suite->root, "file", RR_VFS_REMOVE_ANY), RR_VFS_OK);
	for (uint32_t i = 0; i < MANY; i++) {
		read[i] = (struct rr_vfs_read){ .object = { .open = open }, .size = 4, .data = data[i] };
		suite_ready(suite, &read[i].call);
		status[i] = rr_vfs_read(suite->vfs, &read[i]);
	}
	suite_close(suite, open);
	for (uint32_t i = 0; i < MANY; i++) {
		wait_for(suite, &read[i].call, &status[i]);
		assert_int_equal(status[i], RR_VFS_OK);
		assert_memory_equal(data[i], "text", 4);
	}
}

/* All operations of a client that goes away are cancelled. */
static void
what_is_cancelled_ends_and_was_done_or_not(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_create create[MANY];
	char names[MANY][8];
	enum rr_vfs_status status[MANY];
	struct rr_vfs_counters counters;

	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "c%u", i);
		create[i] = (struct rr_vfs_create){ .directory = suite_at(&suite->root),
			.name = suite_bytes(names[i]),
			.type = RR_VFS_FILE,
			.how = RR_VFS_GUARDED };
		suite_ready(suite, &create[i].call);
		status[i] = rr_vfs_create(suite->vfs, &create[i]);
	}
	for (uint32_t i = 0; i < MANY; i++)
		if (status[i] == RR_VFS_PENDING && !suite_ended(&create[i].call))
			rr_vfs_cancel(suite->vfs, &create[i].call);
	for (uint32_t i = 0; i < MANY; i++) {
		wait_for(suite, &create[i].call, &status[i]);
		assert_true(status[i] == RR_VFS_OK || status[i] == RR_VFS_CANCELLED);
		assert_int_equal(suite_lookup(suite, &suite->root, names[i], NULL),
			status[i] == RR_VFS_OK ? RR_VFS_OK : RR_VFS_NOENT);
	}
	rr_vfs_counters(suite->vfs, &counters);
	assert_int_equal(counters.under_way, 0);
}

static void
what_hangs_keeps_no_other_from_going_on(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle a = suite_file(suite, "a", "text"), b = suite_file(suite, "b", "text");
	struct rr_vfs_object object = suite_at(&b);
	char data[4];
	struct rr_vfs_read read = { .object = suite_at(&a), .size = 4, .data = data };
	enum rr_vfs_status status;

	if (!suite->provider->hold)
		skip();
	suite->provider->hold(suite, true);
	suite_ready(suite, &read.call);
	status = rr_vfs_read(suite->vfs, &read);
	assert_int_equal(status, RR_VFS_PENDING);
	suite->provider->hold(suite, false);
	suite_holds(suite, &object, 0, "text");
	rr_vfs_cancel(suite->vfs, &read.call);
	suite_holds(suite, &object, 0, "text");
	assert_false(suite_ended(&read.call));
	suite->provider->release(suite);
	assert_int_equal(suite_end(suite, &read.call, status), RR_VFS_CANCELLED);
}

static void
operations_are_counted(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_counters before, after;
	struct rr_vfs_open *open;

	rr_vfs_counters(suite->vfs, &before);
	suite_attributes(suite, &file);
	open = suite_open(suite, &file, RR_VFS_SHARE_READ, 0);
	rr_vfs_counters(suite->vfs, &after);
	assert_int_equal(after.begun - before.begun, 2);
	assert_int_equal(after.opens, before.opens + 1);
	assert_true(after.later <= after.begun);
	suite_close(suite, open);
	rr_vfs_counters(suite->vfs, &after);
	assert_int_equal(after.opens, before.opens);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(changes_of_one_directory_happen_in_their_order),
	cmocka_unit_test(writes_at_the_same_time_all_happen),
	cmocka_unit_test(an_open_that_is_closed_meanwhile_is_there_until_the_end),
	cmocka_unit_test(what_is_cancelled_ends_and_was_done_or_not),
	cmocka_unit_test(what_hangs_keeps_no_other_from_going_on),
	cmocka_unit_test(operations_are_counted),
};

const struct suite_tests suite_of_order = { tests, sizeof(tests) / sizeof(tests[0]) };
