/* SPDX-License-Identifier: BSD-3-Clause */
/* These are the tests of read, write and commit. */
#include "suite.h"

#include <stdlib.h>

static void
what_was_written_is_read(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	struct rr_vfs_object object = suite_at(&file);

	assert_int_equal(suite_write(suite, &object, 0, "0123456789", RR_VFS_UNSTABLE), RR_VFS_OK);
	assert_int_equal(suite_write(suite, &object, 3, "abc", RR_VFS_DATA_SYNC), RR_VFS_OK);
	assert_int_equal(suite_write(suite, &object, 10, "end", RR_VFS_FILE_SYNC), RR_VFS_OK);
	suite_holds(suite, &object, 0, "012abc6789end");
	suite_holds(suite, &object, 11, "nd");
	assert_int_equal(suite_attributes(suite, &file).size, 13);
}

static void
a_read_ends_where_the_file_ends(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "0123456789");
	char data[16];
	struct rr_vfs_read read = { .object = suite_at(&file), .size = 4, .data = data };

	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, 4);
	assert_false(read.eof);
	read.offset = 6;
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, 4);
	assert_true(read.eof);
	read.offset = 10;
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, 0);
	assert_true(read.eof);
	read.offset = UINT64_MAX;
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, 0);
	assert_true(read.eof);
}

static char lent[64];
static uint32_t asked, times_asked;

static void *
lend(struct rr_vfs_read *read, uint32_t size)
{
	(void)read;
	asked = size;
	times_asked++;
	return size <= sizeof(lent) ? lent : NULL;
}

static void
memory_is_asked_for_once_and_for_what_there_can_be(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "0123456789");
	struct rr_vfs_read read = { .object = suite_at(&file), .offset = 2, .size = 64, .memory = lend };

	times_asked = 0;
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(times_asked, 1);
	assert_true(asked >= 8 && asked <= 64);
	assert_ptr_equal(read.data, lent);
	assert_int_equal(read.length, 8);
	assert_memory_equal(lent, "23456789", 8);
	read.data = NULL;
	read.offset = 10;
	times_asked = 0;
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, 0);
	assert_true(read.eof);
}

static void *
lend_less(struct rr_vfs_read *read, uint32_t size)
{
	assert_true(size >= 3);
	read->size = 3;
	return lent;
}

static void
a_read_is_as_short_as_the_memory_there_is(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "0123456789");
	struct rr_vfs_read read = { .object = suite_at(&file), .offset = 2, .size = 64, .memory = lend_less };

	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, 3);
	assert_memory_equal(lent, "234", 3);
	assert_false(read.eof);
}

static void *
lend_nothing(struct rr_vfs_read *read, uint32_t size)
{
	(void)read;
	assert_int_not_equal(size, 0);
	return NULL;
}

static void
a_read_without_memory_does_nothing(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "0123456789");
	struct rr_vfs_read read = { .object = suite_at(&file), .size = 5, .memory = lend_nothing };

	assert_int_equal(suite_do(suite, read, &read), RR_VFS_NO_BUFFER);
}

static void
data_is_of_files_alone(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_handle fifo = suite_make(suite, &suite->root, "fifo", RR_VFS_FIFO, 0666);
	struct rr_vfs_handle link = suite_make(suite, &suite->root, "link", RR_VFS_LINK, 0777);
	const struct rr_vfs_handle *const handles[] = { &directory, &fifo, &link };
	const enum rr_vfs_status statuses[] = { RR_VFS_ISDIR, RR_VFS_WRONG_TYPE, RR_VFS_WRONG_TYPE };

	for (size_t i = 0; i < 3; i++) {
		struct rr_vfs_object object = suite_at(handles[i]);
		char data[4];
		struct rr_vfs_read read = { .object = object, .size = 4, .data = data };

		assert_int_equal(suite_do(suite, read, &read), statuses[i]);
		assert_int_equal(suite_write(suite, &object, 0, "x", RR_VFS_UNSTABLE), statuses[i]);
	}
}

static void
what_lies_between_writes_is_zero(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	struct rr_vfs_object object = suite_at(&file);
	const uint32_t far = 300000;
	uint8_t *data = malloc(far + 1);
	struct rr_vfs_read read = { .object = object, .size = far + 1, .data = data };

	assert_non_null(data);
	memset(data, 0xff, far + 1);
	assert_int_equal(suite_write(suite, &object, 0, "a", RR_VFS_UNSTABLE), RR_VFS_OK);
	assert_int_equal(suite_write(suite, &object, far, "b", RR_VFS_UNSTABLE), RR_VFS_OK);
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, far + 1);
	assert_int_equal(data[0], 'a');
	for (uint32_t i = 1; i < far; i++)
		assert_int_equal(data[i], 0);
	assert_int_equal(data[far], 'b');
	free(data);
}

static void
a_file_that_shrinks_and_grows_has_zeros(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "0123456789");
	struct rr_vfs_setattr setattr = { .object = suite_at(&file),
		.set = { .mask = RR_VFS_SET_SIZE, .size = 3 } };
	char data[16];
	struct rr_vfs_read read = { .object = suite_at(&file), .size = sizeof(data), .data = data };

	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
	setattr.set.size = 8;
	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
	assert_int_equal(suite_do(suite, read, &read), RR_VFS_OK);
	assert_int_equal(read.length, 8);
	assert_memory_equal(data, "012\0\0\0\0\0", 8);
}

static void
offsets_go_up_to_eight_exbioctets(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	struct rr_vfs_object object = suite_at(&file);
	struct rr_vfs_limits limits = { .object = object };

	assert_int_equal(suite_do(suite, limits, &limits), RR_VFS_OK);
	assert_int_equal(
		suite_write(suite, &object, limits.file_max - 4, "last", RR_VFS_UNSTABLE), RR_VFS_OK);
	suite_holds(suite, &object, limits.file_max - 4, "last");
	assert_int_equal(suite_attributes(suite, &file).size, limits.file_max);
	if (suite->provider->can & SUITE_VAST)
		assert_int_equal(limits.file_max, INT64_MAX);
}

static void
beyond_the_greatest_size_nothing_is_written(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	struct rr_vfs_object object = suite_at(&file);

	assert_int_equal(suite_write(suite, &object, INT64_MAX, "x", RR_VFS_UNSTABLE), RR_VFS_FBIG);
	assert_int_equal(suite_write(suite, &object, UINT64_MAX, "xy", RR_VFS_UNSTABLE), RR_VFS_FBIG);
	assert_int_equal(suite_attributes(suite, &file).size, 0);
}

static void
a_commit_has_the_verifier_of_the_writes(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0644);
	struct rr_vfs_write write = { .object = suite_at(&file), .data = "text", .length = 4 };
	struct rr_vfs_commit commit = { .object = suite_at(&file) };

	assert_int_equal(suite_do(suite, write, &write), RR_VFS_OK);
	assert_int_equal(write.count, 4);
	assert_int_equal(suite_do(suite, commit, &commit), RR_VFS_OK);
	assert_true(commit.verifier == write.verifier);
	commit.offset = 2;
	commit.length = 1;
	assert_int_equal(suite_do(suite, commit, &commit), RR_VFS_OK);
	assert_true(commit.verifier == write.verifier);
}

static void
a_write_of_nothing_changes_nothing(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_object object = suite_at(&file);

	assert_int_equal(suite_write(suite, &object, 100, "", RR_VFS_UNSTABLE), RR_VFS_OK);
	assert_int_equal(suite_attributes(suite, &file).size, 4);
}

static void
an_error_of_the_storage_is_the_end_of_a_call(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_object object = suite_at(&file);
	char data[4];
	struct rr_vfs_read read = { .object = object, .size = 4, .data = data };
	struct rr_vfs_commit commit = { .object = object };

	if (!suite->provider->break_down)
		skip();
	for (int status = RR_VFS_PERM; status < RR_VFS_CANCELLED; status++) {
		suite->provider->break_down(suite, (enum rr_vfs_status)status);
		assert_int_equal(suite_do(suite, read, &read), status);
		assert_int_equal(suite_write(suite, &object, 0, "new", RR_VFS_UNSTABLE), status);
		assert_int_equal(suite_do(suite, commit, &commit), status);
		suite->provider->break_down(suite, RR_VFS_OK);
	}
	suite_holds(suite, &object, 0, "text");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_was_written_is_read),
	cmocka_unit_test(a_read_ends_where_the_file_ends),
	cmocka_unit_test(memory_is_asked_for_once_and_for_what_there_can_be),
	cmocka_unit_test(a_read_is_as_short_as_the_memory_there_is),
	cmocka_unit_test(a_read_without_memory_does_nothing),
	cmocka_unit_test(data_is_of_files_alone),
	cmocka_unit_test(what_lies_between_writes_is_zero),
	cmocka_unit_test(a_file_that_shrinks_and_grows_has_zeros),
	cmocka_unit_test(offsets_go_up_to_eight_exbioctets),
	cmocka_unit_test(beyond_the_greatest_size_nothing_is_written),
	cmocka_unit_test(a_commit_has_the_verifier_of_the_writes),
	cmocka_unit_test(a_write_of_nothing_changes_nothing),
	cmocka_unit_test(an_error_of_the_storage_is_the_end_of_a_call),
};

const struct suite_tests suite_of_data = { tests, sizeof(tests) / sizeof(tests[0]) };
