/* SPDX-License-Identifier: BSD-3-Clause */
#include "../test.h"

#include <string.h>

#include "vfs/vfs.h"

static struct rpcrdma_bytes
bytes(const char *text)
{
	return (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) };
}

static void
every_status_has_a_text(void **state)
{
	(void)state;
	for (int status = RR_VFS_OK; status <= RR_VFS_FAULT; status++)
		assert_non_null(rr_vfs_status_text((enum rr_vfs_status)status));
}

static void
a_name_is_one_component_of_at_most_255_octets(void **state)
{
	char text[RR_VFS_NAME_MAX + 1], longest[RR_VFS_NAME_MAX + 2] = { 0 };

	(void)state;
	assert_int_equal(rr_vfs_name(bytes("name"), text), RR_VFS_OK);
	assert_string_equal(text, "name");
	assert_int_equal(rr_vfs_name(bytes(""), text), RR_VFS_BAD_CHAR);
	assert_int_equal(rr_vfs_name(bytes("a/b"), text), RR_VFS_BAD_CHAR);
	assert_int_equal(rr_vfs_name((struct rpcrdma_bytes){ "a\0b", 3 }, text), RR_VFS_BAD_CHAR);
	memset(longest, 'n', RR_VFS_NAME_MAX);
	assert_int_equal(rr_vfs_name(bytes(longest), text), RR_VFS_OK);
	assert_string_equal(text, longest);
	longest[RR_VFS_NAME_MAX] = 'n';
	assert_int_equal(rr_vfs_name((struct rpcrdma_bytes){ longest, RR_VFS_NAME_MAX + 1 }, text),
		RR_VFS_NAME_TOO_LONG);
}

static void
dots_are_told_from_names_and_from_each_other(void **state)
{
	char text[RR_VFS_NAME_MAX + 1];

	(void)state;
	assert_int_equal(rr_vfs_name(bytes("."), text), RR_VFS_BAD_NAME);
	assert_string_equal(text, ".");
	assert_int_equal(rr_vfs_name(bytes(".."), text), RR_VFS_BAD_NAME);
	assert_string_equal(text, "..");
	assert_int_equal(rr_vfs_name(bytes("..."), text), RR_VFS_OK);
}

static void
expect_export(const char *path, uint32_t number, const char *first, const char *second)
{
	static const struct rr_vfs_export exports[] = { { "/pub" }, { "/pub/deep" }, { "/other" } };
	const struct rr_vfs vfs = { .exports = exports, .export_count = 3 };
	struct rpcrdma_bytes rest, name;

	assert_int_equal(rr_vfs_find_export(&vfs, bytes(path), &rest), number);
	if (number == vfs.export_count)
		return;
	name = rr_vfs_next_component(&rest);
	assert_int_equal(name.length, strlen(first));
	assert_memory_equal(name.data, first, name.length);
	name = rr_vfs_next_component(&rest);
	assert_int_equal(name.length, strlen(second));
	assert_memory_equal(name.data, second, name.length);
	assert_int_equal(rr_vfs_next_component(&rest).length, 0);
}

static void
a_path_lies_in_the_export_with_the_longest_name(void **state)
{
	(void)state;
	expect_export("/pub", 0, "", "");
	expect_export("/pub/", 0, "", "");
	expect_export("/pub/a//b/", 0, "a", "b");
	expect_export("/pub/deep/a", 1, "a", "");
	expect_export("/pub/deeper", 0, "deeper", "");
	expect_export("/other", 2, "", "");
	expect_export("/publish", 3, "", "");
	expect_export("", 3, "", "");
}

static void
no_octet_is_the_root(void **state)
{
	static const struct rr_vfs_export root = { "/" };
	const struct rr_vfs vfs = { .exports = &root, .export_count = 1 };
	struct rpcrdma_bytes rest;

	(void)state;
	assert_int_equal(rr_vfs_find_export(&vfs, bytes(""), &rest), 0);
	assert_int_equal(rr_vfs_next_component(&rest).length, 0);
	assert_int_equal(rr_vfs_find_export(&vfs, bytes("/name"), &rest), 0);
	assert_int_equal(rr_vfs_next_component(&rest).length, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_a_text),
		cmocka_unit_test(a_name_is_one_component_of_at_most_255_octets),
		cmocka_unit_test(dots_are_told_from_names_and_from_each_other),
		cmocka_unit_test(a_path_lies_in_the_export_with_the_longest_name),
		cmocka_unit_test(no_octet_is_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
