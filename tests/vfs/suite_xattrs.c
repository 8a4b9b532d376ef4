/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

static enum rr_vfs_status
set(struct suite *suite, const struct rr_vfs_handle *object, const char *name, const char *value,
	enum rr_vfs_xattr_how how)
{
	char copy[64];
	struct rr_vfs_xattr xattr = { .object = suite_at(object),
		.name = suite_bytes(name),
		.value = copy,
		.size = (uint32_t)strlen(value),
		.how = how };
	enum rr_vfs_status status;

	memcpy(copy, value, strlen(value));
	status = suite_do(suite, setxattr, &xattr);
	if (status == RR_VFS_OK)
		assert_true(xattr.change.after.valid);
	return status;
}

static struct rr_vfs_xattr
get(struct suite *suite, const struct rr_vfs_handle *object, const char *name, char *value, uint32_t size)
{
	struct rr_vfs_xattr xattr = {
		.object = suite_at(object), .name = suite_bytes(name), .value = value, .size = size
	};

	xattr.call.status = suite_do(suite, getxattr, &xattr);
	return xattr;
}

static void
a_value_is_kept_and_removed(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	char value[16];
	struct rr_vfs_xattr got;
	struct rr_vfs_xattr remove = { .name = suite_bytes("name") };

	suite_needs(suite, SUITE_XATTRS);
	file = suite_file(suite, "file", "x");
	assert_int_equal(set(suite, &file, "name", "value", RR_VFS_XATTR_EITHER), RR_VFS_OK);
	got = get(suite, &file, "name", value, sizeof(value));
	assert_int_equal(got.call.status, RR_VFS_OK);
	assert_int_equal(got.length, 5);
	assert_memory_equal(value, "value", 5);
	remove.object = suite_at(&file);
	assert_int_equal(suite_do(suite, removexattr, &remove), RR_VFS_OK);
	assert_int_equal(suite_do(suite, removexattr, &remove), RR_VFS_NO_XATTR);
	assert_int_equal(get(suite, &file, "name", value, sizeof(value)).call.status, RR_VFS_NO_XATTR);
}

static void
a_value_is_made_or_replaced_as_is_wanted(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory;
	char value[16];

	suite_needs(suite, SUITE_XATTRS);
	directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	assert_int_equal(set(suite, &directory, "a", "1", RR_VFS_XATTR_REPLACE), RR_VFS_NO_XATTR);
	assert_int_equal(set(suite, &directory, "a", "1", RR_VFS_XATTR_CREATE), RR_VFS_OK);
	assert_int_equal(set(suite, &directory, "a", "2", RR_VFS_XATTR_CREATE), RR_VFS_EXIST);
	assert_int_equal(set(suite, &directory, "a", "33", RR_VFS_XATTR_REPLACE), RR_VFS_OK);
	assert_int_equal(get(suite, &directory, "a", value, sizeof(value)).length, 2);
}

static void
a_value_says_how_much_room_it_needs(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	char value[16];
	struct rr_vfs_xattr got;

	suite_needs(suite, SUITE_XATTRS);
	file = suite_file(suite, "file", "x");
	assert_int_equal(set(suite, &file, "name", "0123456789", RR_VFS_XATTR_EITHER), RR_VFS_OK);
	got = get(suite, &file, "name", value, 9);
	assert_int_equal(got.call.status, RR_VFS_XATTR_SIZE);
	assert_int_equal(got.length, 10);
	assert_int_equal(get(suite, &file, "name", value, 10).call.status, RR_VFS_OK);
	got = get(suite, &file, "name", value, 0);
	assert_int_equal(got.call.status, RR_VFS_XATTR_SIZE);
	assert_int_equal(got.length, 10);
}

static void
names_are_listed_with_a_zero_behind_each(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	char names[64];
	struct rr_vfs_xattr list = { .value = names, .size = sizeof(names) };

	suite_needs(suite, SUITE_XATTRS);
	file = suite_file(suite, "file", "x");
	list.object = suite_at(&file);
	assert_int_equal(suite_do(suite, listxattr, &list), RR_VFS_OK);
	assert_int_equal(list.length, 0);
	assert_int_equal(set(suite, &file, "one", "1", RR_VFS_XATTR_EITHER), RR_VFS_OK);
	assert_int_equal(set(suite, &file, "two", "2", RR_VFS_XATTR_EITHER), RR_VFS_OK);
	assert_int_equal(suite_do(suite, listxattr, &list), RR_VFS_OK);
	assert_int_equal(list.length, 8);
	assert_true(memcmp(names, "one\0two", 8) == 0 || memcmp(names, "two\0one", 8) == 0);
	list.size = 7;
	assert_int_equal(suite_do(suite, listxattr, &list), RR_VFS_XATTR_SIZE);
	assert_int_equal(list.length, 8);
}

static void
only_files_and_directories_have_some(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle link;
	char value[4];

	suite_needs(suite, SUITE_XATTRS);
	link = suite_make(suite, &suite->root, "link", RR_VFS_LINK, 0777);
	assert_int_equal(get(suite, &link, "name", value, 4).call.status, RR_VFS_WRONG_TYPE);
	assert_int_equal(set(suite, &link, "name", "x", RR_VFS_XATTR_EITHER), RR_VFS_WRONG_TYPE);
}

static void
they_take_the_permissions_of_the_data(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file;
	char value[4];

	suite_needs(suite, SUITE_XATTRS | SUITE_IDENTITIES);
	file = suite_file(suite, "file", "x");
	suite_set_mode(suite, &file, 0644);
	assert_int_equal(set(suite, &file, "name", "x", RR_VFS_XATTR_EITHER), RR_VFS_OK);
	suite->caller = &suite->other;
	assert_int_equal(get(suite, &file, "name", value, 4).call.status, RR_VFS_OK);
	assert_int_equal(set(suite, &file, "name", "y", RR_VFS_XATTR_EITHER), RR_VFS_ACCESS);
	suite->caller = &suite->user;
	suite_set_mode(suite, &file, 0600);
	suite->caller = &suite->other;
	assert_int_equal(get(suite, &file, "name", value, 4).call.status, RR_VFS_ACCESS);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_value_is_kept_and_removed),
	cmocka_unit_test(a_value_is_made_or_replaced_as_is_wanted),
	cmocka_unit_test(a_value_says_how_much_room_it_needs),
	cmocka_unit_test(names_are_listed_with_a_zero_behind_each),
	cmocka_unit_test(only_files_and_directories_have_some),
	cmocka_unit_test(they_take_the_permissions_of_the_data),
};

const struct suite_tests suite_of_xattrs = { tests, sizeof(tests) / sizeof(tests[0]) };
