/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

enum { BOTH = RR_VFS_SHARE_READ | RR_VFS_SHARE_WRITE };

static struct rr_vfs_lock
lock(struct suite *suite, struct rr_vfs_open *open, enum rr_vfs_lock_kind kind, uint64_t offset,
	uint64_t length, bool test)
{
	struct rr_vfs_lock lock = {
		.open = open, .kind = kind, .offset = offset, .length = length, .test = test
	};

	lock.call.status = suite_do(suite, lock, &lock);
	return lock;
}

static enum rr_vfs_status
set(struct suite *suite, struct rr_vfs_open *open, enum rr_vfs_lock_kind kind, uint64_t offset,
	uint64_t length)
{
	return lock(suite, open, kind, offset, length, false).call.status;
}

struct pair {
	struct rr_vfs_handle file;
	struct rr_vfs_open *a, *b;
};

static struct pair
pair_open(struct suite *suite)
{
	struct pair pair = { .file = suite_file(suite, "file", "text") };

	pair.a = suite_open(suite, &pair.file, BOTH, 0);
	pair.b = suite_open(suite, &pair.file, BOTH, 0);
	return pair;
}

static void
pair_close(struct suite *suite, const struct pair *pair)
{
	suite_close(suite, pair->a);
	suite_close(suite, pair->b);
}

static void
a_lock_keeps_other_opens_out(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_LOCKS);
	struct pair pair = pair_open(suite);
	struct rr_vfs_lock refused;

	assert_int_equal(set(suite, pair.a, RR_VFS_LOCK_WRITE, 10, 10), RR_VFS_OK);
	refused = lock(suite, pair.b, RR_VFS_LOCK_READ, 0, 11, false);
	assert_int_equal(refused.call.status, RR_VFS_LOCK);
	assert_int_equal(refused.conflict.kind, RR_VFS_LOCK_WRITE);
	assert_int_equal(refused.conflict.offset, 10);
	assert_int_equal(refused.conflict.length, 10);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_WRITE, 0, 10), RR_VFS_OK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_WRITE, 20, 10), RR_VFS_OK);
	assert_int_equal(set(suite, pair.a, RR_VFS_UNLOCK, 10, 10), RR_VFS_OK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_READ, 0, 11), RR_VFS_OK);
	pair_close(suite, &pair);
}

static void
readers_lock_together(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_LOCKS);
	struct pair pair = pair_open(suite);

	assert_int_equal(set(suite, pair.a, RR_VFS_LOCK_READ, 0, 10), RR_VFS_OK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_READ, 5, 10), RR_VFS_OK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_WRITE, 5, 10), RR_VFS_LOCK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_WRITE, 10, 5), RR_VFS_OK);
	pair_close(suite, &pair);
}

static void
a_test_sets_nothing(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_LOCKS);
	struct pair pair = pair_open(suite);
	struct rr_vfs_lock test = lock(suite, pair.a, RR_VFS_LOCK_WRITE, 0, 10, true);

	assert_int_equal(test.call.status, RR_VFS_OK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_WRITE, 0, 10), RR_VFS_OK);
	test = lock(suite, pair.a, RR_VFS_LOCK_READ, 3, 1, true);
	assert_int_equal(test.call.status, RR_VFS_LOCK);
	assert_int_equal(test.conflict.kind, RR_VFS_LOCK_WRITE);
	pair_close(suite, &pair);
}

static void
locks_of_one_open_replace_split_and_merge(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_LOCKS);
	struct pair pair = pair_open(suite);
	struct rr_vfs_lock test;

	assert_int_equal(set(suite, pair.a, RR_VFS_LOCK_WRITE, 0, 30), RR_VFS_OK);
	/* The middle of the range is unlocked: two ranges are left. */
	assert_int_equal(set(suite, pair.a, RR_VFS_UNLOCK, 10, 10), RR_VFS_OK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_WRITE, 10, 10), RR_VFS_OK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_READ, 9, 1), RR_VFS_LOCK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_READ, 20, 1), RR_VFS_LOCK);
	assert_int_equal(set(suite, pair.b, RR_VFS_UNLOCK, 10, 10), RR_VFS_OK);
	/* A part of a range is replaced by a lock of another kind. */
	assert_int_equal(set(suite, pair.a, RR_VFS_LOCK_READ, 5, 20), RR_VFS_OK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_READ, 5, 20), RR_VFS_OK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_READ, 4, 1), RR_VFS_LOCK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_READ, 25, 1), RR_VFS_LOCK);
	assert_int_equal(set(suite, pair.b, RR_VFS_UNLOCK, 0, UINT64_MAX), RR_VFS_OK);
	/* The ranges are merged: the conflict is with the whole. */
	assert_int_equal(set(suite, pair.a, RR_VFS_LOCK_WRITE, 5, 20), RR_VFS_OK);
	test = lock(suite, pair.b, RR_VFS_LOCK_READ, 0, 100, true);
	assert_int_equal(test.call.status, RR_VFS_LOCK);
	assert_int_equal(test.conflict.offset, 0);
	assert_int_equal(test.conflict.length, 30);
	pair_close(suite, &pair);
}

static void
a_lock_to_the_end_grows_with_the_file(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_LOCKS);
	struct pair pair = pair_open(suite);
	struct rr_vfs_lock test;

	assert_int_equal(set(suite, pair.a, RR_VFS_LOCK_WRITE, 100, UINT64_MAX), RR_VFS_OK);
	test = lock(suite, pair.b, RR_VFS_LOCK_READ, UINT64_C(1) << 60, 1, true);
	assert_int_equal(test.call.status, RR_VFS_LOCK);
	assert_int_equal(test.conflict.offset, 100);
	assert_true(test.conflict.length == UINT64_MAX);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_WRITE, 0, 100), RR_VFS_OK);
	pair_close(suite, &pair);
}

static void
close_takes_the_locks_away(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_LOCKS);
	struct pair pair = pair_open(suite);

	assert_int_equal(set(suite, pair.a, RR_VFS_LOCK_WRITE, 0, 10), RR_VFS_OK);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_WRITE, 0, 10), RR_VFS_LOCK);
	suite_close(suite, pair.a);
	assert_int_equal(set(suite, pair.b, RR_VFS_LOCK_WRITE, 0, 10), RR_VFS_OK);
	suite_close(suite, pair.b);
}

static void
a_lock_takes_an_open_that_could_read_or_write(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_open *reader = suite_open(suite, &file, RR_VFS_SHARE_READ, 0);
	struct rr_vfs_open *writer = suite_open(suite, &file, RR_VFS_SHARE_WRITE, 0);

	assert_int_equal(set(suite, reader, RR_VFS_LOCK_WRITE, 0, 1), RR_VFS_OPEN_MODE);
	assert_int_equal(set(suite, writer, RR_VFS_LOCK_READ, 0, 1), RR_VFS_OPEN_MODE);
	assert_int_equal(set(suite, reader, RR_VFS_LOCK_READ, 0, 1), RR_VFS_OK);
	assert_int_equal(set(suite, reader, RR_VFS_LOCK_READ, 0, 0), RR_VFS_INVAL);
	suite_close(suite, reader);
	suite_close(suite, writer);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_lock_keeps_other_opens_out),
	cmocka_unit_test(readers_lock_together),
	cmocka_unit_test(a_test_sets_nothing),
	cmocka_unit_test(locks_of_one_open_replace_split_and_merge),
	cmocka_unit_test(a_lock_to_the_end_grows_with_the_file),
	cmocka_unit_test(close_takes_the_locks_away),
	cmocka_unit_test(a_lock_takes_an_open_that_could_read_or_write),
};

const struct suite_tests suite_of_locks = { tests, sizeof(tests) / sizeof(tests[0]) };
