/* SPDX-License-Identifier: BSD-3-Clause */
/* These are the tests of handles, getattr, setattr, access, readlink, statfs and limits. */
#include "suite.h"

#include <time.h>

static void
a_handle_names_its_object_after_a_restart(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_LASTING);
	struct rr_vfs_handle handle = suite_file(suite, "file", "text");
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_attributes before = suite_attributes(suite, &handle), after;
	struct rr_vfs_object object = suite_at(&handle);

	suite->provider->restart(suite);
	after = suite_attributes(suite, &handle);
	assert_memory_equal(&before.id, &after.id, sizeof(before.id));
	suite_holds(suite, &object, 0, "text");
	assert_int_equal(suite_attributes(suite, &directory).type, RR_VFS_DIRECTORY);
}

static void
a_handle_names_its_object_after_a_renaming(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_LASTING);
	struct rr_vfs_handle handle = suite_file(suite, "old", "text");
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_object object = suite_at(&handle);

	assert_int_equal(suite_rename(suite, &suite->root, "old", &directory, "new"), RR_VFS_OK);
	suite_holds(suite, &object, 0, "text");
	suite->provider->restart(suite);
	suite_holds(suite, &object, 0, "text");
}

static void
a_handle_that_was_made_up_is_refused(void **state)
{
	struct suite *suite = *state;
	const struct rr_vfs_handle good = suite_file(suite, "file", "text");

	for (uint32_t bit = 0; bit < good.length * 8; bit++) {
		struct rr_vfs_handle bad = good;
		struct rr_vfs_object object = suite_at(&bad);

		bad.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(suite_getattr(suite, &object, NULL), RR_VFS_BAD_HANDLE);
	}
	for (uint32_t length = 0; length < good.length; length++) {
		struct rr_vfs_object object = { .handle = { good.data, length } };

		assert_int_equal(suite_getattr(suite, &object, NULL), RR_VFS_BAD_HANDLE);
	}
}

static void
a_handle_longer_than_any_is_refused(void **state)
{
	struct suite *suite = *state;
	uint8_t octets[2 * RR_VFS_HANDLE_MAX] = { 0 };
	struct rr_vfs_object object = { .handle = { octets, sizeof(octets) } };

	memcpy(octets, suite->root.data, suite->root.length);
	assert_int_equal(suite_getattr(suite, &object, NULL), RR_VFS_BAD_HANDLE);
}

/* Waits until the kernel's clock of file times has gone on. Local storage knows an object by its inode number
 * and the time of its birth: two objects of the same number that are born at the same time are the same. */
static void
wait_for_the_next_tick(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_REALTIME_COARSE, &start);
	do
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	while (now.tv_sec == start.tv_sec && now.tv_nsec == start.tv_nsec);
}

static void
a_handle_of_what_was_removed_is_stale(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "name", "text"), directory;
	struct rr_vfs_object object = suite_at(&file);

	assert_int_equal(suite_remove(suite, &suite->root, "name", RR_VFS_REMOVE_ANY), RR_VFS_OK);
	assert_int_equal(suite_getattr(suite, &object, NULL), RR_VFS_STALE);
	wait_for_the_next_tick();
	directory = suite_make(suite, &suite->root, "name", RR_VFS_DIRECTORY, 0755);
	/* The handle is stale also where another object has its number by now. */
	assert_int_equal(suite_getattr(suite, &object, NULL), RR_VFS_STALE);
	assert_int_equal(suite_remove(suite, &suite->root, "name", RR_VFS_REMOVE_ANY), RR_VFS_OK);
	object = suite_at(&directory);
	assert_int_equal(suite_getattr(suite, &object, NULL), RR_VFS_STALE);
	assert_int_equal(suite_create(suite, &directory, "x", RR_VFS_FILE, 0644, NULL), RR_VFS_STALE);
}

static void
attributes_are_those_that_an_object_was_made_with(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0640);
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0751);
	struct rr_vfs_attributes a = suite_attributes(suite, &file), b = suite_attributes(suite, &directory);

	assert_int_equal(a.type, RR_VFS_FILE);
	assert_int_equal(a.mode, 0640);
	assert_int_equal(a.links, 1);
	assert_int_equal(a.size, 0);
	assert_int_equal(a.uid, suite->caller->uid);
	assert_int_equal(a.gid, suite->caller->gid);
	assert_int_not_equal(a.id.number, 0);
	assert_int_equal(a.mounted_on, a.id.number);
	assert_true(a.block_size > 0);
	assert_int_equal(b.type, RR_VFS_DIRECTORY);
	assert_int_equal(b.mode, 0751);
	assert_int_not_equal(a.id.number, b.id.number);
	assert_memory_equal(a.id.fsid, b.id.fsid, sizeof(a.id.fsid));
}

static void
each_change_of_an_object_changes_its_change_number(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_object object = suite_at(&file);
	uint64_t last = suite_attributes(suite, &file).change, next;

	for (int i = 0; i < 20; i++) {
		assert_int_equal(suite_write(suite, &object, 0, "a", RR_VFS_UNSTABLE), RR_VFS_OK);
		next = suite_attributes(suite, &file).change;
		assert_int_not_equal(last, next);
		last = next;
		suite_set_mode(suite, &file, 0600 + (uint32_t)i % 7);
		next = suite_attributes(suite, &file).change;
		assert_int_not_equal(last, next);
		last = next;
	}
	assert_int_equal(suite_attributes(suite, &file).change, last);
}

static void
setattr_sets_what_it_is_asked_for(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "0123456789");
	struct rr_vfs_setattr setattr = { .object = suite_at(&file),
		.set = { .mask = RR_VFS_SET_MODE | RR_VFS_SET_SIZE | RR_VFS_SET_ACCESS_TIME |
				 RR_VFS_SET_MODIFY_TIME,
			.mode = 0604,
			.size = 4,
			.access_time = { 1000000, 5000 },
			.modify_time = { 2000000, 7000 } } };
	struct rr_vfs_attributes after;

	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
	assert_int_equal(setattr.applied, setattr.set.mask);
	assert_true(setattr.change.after.valid);
	after = suite_attributes(suite, &file);
	assert_int_equal(after.mode, 0604);
	assert_int_equal(after.size, 4);
	assert_int_equal(after.access_time.seconds, 1000000);
	assert_int_equal(after.access_time.nanoseconds, 5000);
	assert_int_equal(after.modify_time.seconds, 2000000);
	assert_int_equal(after.modify_time.nanoseconds, 7000);
	assert_int_equal(setattr.change.after.attributes.change, after.change);
}

/* A link has no mode of its own: the call succeeds, and says that it has not set the mode. */
static void
setattr_sets_no_mode_of_a_link(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle link = suite_make(suite, &suite->root, "link", RR_VFS_LINK, 0777);
	struct rr_vfs_setattr setattr = { .object = suite_at(&link),
		.set = { .mask = RR_VFS_SET_MODE, .mode = 0600 } };

	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
	assert_int_equal(setattr.applied, 0);
	setattr.set.mask |= RR_VFS_SET_MODIFY_TIME;
	setattr.set.modify_time.seconds = 77;
	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
	assert_int_equal(setattr.applied, RR_VFS_SET_MODIFY_TIME);
	assert_int_equal(suite_attributes(suite, &link).mode, 0777);
}

static void
setattr_to_the_present_sets_a_later_time(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "x");
	struct rr_vfs_setattr setattr = { .object = suite_at(&file),
		.set = { .mask = RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_MODIFY_TIME } };

	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
	setattr.set.mask = RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_NOW;
	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
	assert_int_equal(setattr.applied, RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_NOW);
	assert_true(suite_attributes(suite, &file).access_time.seconds > 0 ||
		    suite_attributes(suite, &file).access_time.nanoseconds > 0);
	assert_true(suite_attributes(suite, &file).modify_time.seconds >=
		    suite_attributes(suite, &file).access_time.seconds);
}

static void
setattr_refuses_what_makes_no_sense(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "x");
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_setattr time = { .object = suite_at(&file),
		.set = { .mask = RR_VFS_SET_MODIFY_TIME, .modify_time = { 1, 1000000000 } } };
	struct rr_vfs_setattr size = { .object = suite_at(&directory), .set = { .mask = RR_VFS_SET_SIZE } };
	struct rr_vfs_setattr huge = { .object = suite_at(&file),
		.set = { .mask = RR_VFS_SET_SIZE, .size = UINT64_C(1) << 63 } };

	assert_int_equal(suite_do(suite, setattr, &time), RR_VFS_INVAL);
	assert_int_equal(time.applied, 0);
	assert_int_equal(suite_do(suite, setattr, &size), RR_VFS_INVAL);
	assert_int_equal(suite_do(suite, setattr, &huge), RR_VFS_FBIG);
	assert_int_equal(huge.applied, 0);
	assert_int_equal(suite_attributes(suite, &file).size, 1);
}

static void
a_guard_that_does_not_hold_keeps_the_object_as_it_is(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "x");
	struct rr_vfs_setattr setattr = { .object = suite_at(&file),
		.set = { .mask = RR_VFS_SET_MODE, .mode = 0600 },
		.guarded = true,
		.guard = suite_attributes(suite, &file).change_time };

	setattr.guard.nanoseconds ^= 1;
	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_NOT_SYNC);
	assert_int_equal(setattr.applied, 0);
	assert_int_equal(suite_attributes(suite, &file).mode, 0644);
	setattr.guard.nanoseconds ^= 1;
	assert_int_equal(suite_do(suite, setattr, &setattr), RR_VFS_OK);
	assert_int_equal(suite_attributes(suite, &file).mode, 0600);
}

static uint32_t
granted(struct suite *suite, const struct rr_vfs_handle *handle, uint32_t asked, uint32_t *supported)
{
	struct rr_vfs_access access = { .object = suite_at(handle), .asked = asked };

	assert_int_equal(suite_do(suite, access, &access), RR_VFS_OK);
	assert_int_equal(access.granted & ~access.supported, 0);
	assert_int_equal(access.supported & ~asked, 0);
	*supported = access.supported;
	return access.granted;
}

static void
access_answers_what_makes_sense_for_the_type(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_make(suite, &suite->root, "file", RR_VFS_FILE, 0700);
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0700);
	const uint32_t all = 0x3f, changes = RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND;
	uint32_t supported;

	assert_int_equal(granted(suite, &directory, all, &supported),
		RR_VFS_MAY_READ | RR_VFS_MAY_LOOKUP | changes | RR_VFS_MAY_DELETE);
	assert_int_equal(supported, RR_VFS_MAY_READ | RR_VFS_MAY_LOOKUP | changes | RR_VFS_MAY_DELETE);
	assert_int_equal(
		granted(suite, &file, all, &supported), RR_VFS_MAY_READ | RR_VFS_MAY_EXECUTE | changes);
	assert_int_equal(supported & RR_VFS_MAY_LOOKUP, 0);
	assert_int_equal(granted(suite, &file, RR_VFS_MAY_READ, &supported), RR_VFS_MAY_READ);
	suite_set_mode(suite, &file, 0600);
	assert_int_equal(granted(suite, &file, all, &supported), RR_VFS_MAY_READ | changes);
}

static void
readlink_gives_the_text_of_a_symbolic_link(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle link = suite_make(suite, &suite->root, "link", RR_VFS_LINK, 0777);
	struct rr_vfs_handle file = suite_file(suite, "file", "x");
	char target[RR_VFS_TARGET_MAX];
	struct rr_vfs_readlink readlink = {
		.object = suite_at(&link), .target = target, .size = sizeof(target)
	};
	struct rr_vfs_readlink wrong = {
		.object = suite_at(&file), .target = target, .size = sizeof(target)
	};

	assert_int_equal(suite_do(suite, readlink, &readlink), RR_VFS_OK);
	assert_int_equal(readlink.length, strlen("target"));
	assert_memory_equal(target, "target", readlink.length);
	assert_int_equal(suite_attributes(suite, &link).type, RR_VFS_LINK);
	assert_int_equal(suite_do(suite, readlink, &wrong), RR_VFS_WRONG_TYPE);
}

static void
statfs_and_limits_are_plausible(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_statfs statfs = { .object = suite_at(&suite->root) };
	struct rr_vfs_limits limits = { .object = suite_at(&suite->root) };

	assert_int_equal(suite_do(suite, statfs, &statfs), RR_VFS_OK);
	assert_true(statfs.octets > 0 && statfs.octets_free <= statfs.octets);
	assert_true(statfs.octets_for_all <= statfs.octets_free);
	assert_int_equal(suite_do(suite, limits, &limits), RR_VFS_OK);
	assert_int_equal(limits.name_max, 255);
	assert_true(limits.link_max > 1);
	assert_true(limits.file_max >= INT32_MAX);
	assert_false(limits.case_insensitive);
	assert_true(limits.case_preserving);
	assert_int_equal(limits.xattrs, (suite->provider->can & SUITE_XATTRS) != 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_handle_names_its_object_after_a_restart),
	cmocka_unit_test(a_handle_names_its_object_after_a_renaming),
	cmocka_unit_test(a_handle_that_was_made_up_is_refused),
	cmocka_unit_test(a_handle_longer_than_any_is_refused),
	cmocka_unit_test(a_handle_of_what_was_removed_is_stale),
	cmocka_unit_test(attributes_are_those_that_an_object_was_made_with),
	cmocka_unit_test(each_change_of_an_object_changes_its_change_number),
	cmocka_unit_test(setattr_sets_what_it_is_asked_for),
	cmocka_unit_test(setattr_sets_no_mode_of_a_link),
	cmocka_unit_test(setattr_to_the_present_sets_a_later_time),
	cmocka_unit_test(setattr_refuses_what_makes_no_sense),
	cmocka_unit_test(a_guard_that_does_not_hold_keeps_the_object_as_it_is),
	cmocka_unit_test(access_answers_what_makes_sense_for_the_type),
	cmocka_unit_test(readlink_gives_the_text_of_a_symbolic_link),
	cmocka_unit_test(statfs_and_limits_are_plausible),
};

const struct suite_tests suite_of_objects = { tests, sizeof(tests) / sizeof(tests[0]) };
