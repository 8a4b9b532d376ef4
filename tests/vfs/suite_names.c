/* SPDX-License-Identifier: BSD-3-Clause */
/* These are the tests of lookup, link, remove and rename. */
#include "suite.h"

static bool
same(struct suite *suite, const struct rr_vfs_handle *a, const struct rr_vfs_handle *b)
{
	struct rr_vfs_attributes x = suite_attributes(suite, a), y = suite_attributes(suite, b);

	return memcmp(&x.id, &y.id, sizeof(x.id)) == 0;
}

static void
lookup_finds_entries_and_dots(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_handle file = suite_make(suite, &directory, "file", RR_VFS_FILE, 0644), found;

	found = suite_find(suite, &directory, "file");
	assert_true(same(suite, &file, &found));
	found = suite_find(suite, &directory, ".");
	assert_true(same(suite, &directory, &found));
	found = suite_find(suite, &directory, "..");
	assert_true(same(suite, &suite->root, &found));
	assert_int_equal(suite_lookup(suite, &directory, "absent", NULL), RR_VFS_NOENT);
	assert_int_equal(suite_lookup(suite, &file, "file", NULL), RR_VFS_NOTDIR);
}

static void
nothing_lies_above_the_root_of_an_export(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle root, found;

	rr_vfs_root(suite->vfs, 0, &root);
	found = suite_find(suite, &root, "..");
	assert_true(same(suite, &root, &found));
}

static void
a_symbolic_link_is_not_followed(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "target", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_handle link = suite_make(suite, &suite->root, "link", RR_VFS_LINK, 0777), found;

	(void)directory;
	found = suite_find(suite, &suite->root, "link");
	assert_true(same(suite, &link, &found));
	assert_int_equal(suite_lookup(suite, &link, "x", NULL), RR_VFS_NOTDIR);
}

static void
names_that_no_entry_has_are_refused(void **state)
{
	static const char *const bad[] = { "", "a/b", "/" };
	struct suite *suite = *state;
	char longest[RR_VFS_NAME_MAX + 2];
	struct rr_vfs_lookup zero = { .directory = suite_at(&suite->root), .name = { "a\0b", 3 } };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(suite_lookup(suite, &suite->root, bad[i], NULL), RR_VFS_BAD_CHAR);
		assert_int_equal(
			suite_create(suite, &suite->root, bad[i], RR_VFS_FILE, 0644, NULL), RR_VFS_BAD_CHAR);
		assert_int_equal(
			suite_remove(suite, &suite->root, bad[i], RR_VFS_REMOVE_ANY), RR_VFS_BAD_CHAR);
	}
	assert_int_equal(suite_do(suite, lookup, &zero), RR_VFS_BAD_CHAR);
	assert_int_equal(suite_create(suite, &suite->root, ".", RR_VFS_FILE, 0644, NULL), RR_VFS_BAD_NAME);
	assert_int_equal(
		suite_create(suite, &suite->root, "..", RR_VFS_DIRECTORY, 0755, NULL), RR_VFS_BAD_NAME);
	assert_int_equal(suite_remove(suite, &suite->root, "..", RR_VFS_REMOVE_ANY), RR_VFS_BAD_NAME);
	memset(longest, 'n', sizeof(longest));
	longest[RR_VFS_NAME_MAX + 1] = 0;
	assert_int_equal(suite_lookup(suite, &suite->root, longest, NULL), RR_VFS_NAME_TOO_LONG);
	longest[RR_VFS_NAME_MAX] = 0;
	suite_make(suite, &suite->root, longest, RR_VFS_FILE, 0644);
	suite_find(suite, &suite->root, longest);
}

static void
a_link_is_another_name_of_the_same_file(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "one", "text"), found;
	struct rr_vfs_object object = suite_at(&file);
	struct rr_vfs_link link = {
		.file = suite_at(&file), .directory = suite_at(&suite->root), .name = suite_bytes("two")
	};

	assert_int_equal(suite_do(suite, link, &link), RR_VFS_OK);
	assert_true(link.file_after.valid);
	assert_int_equal(link.file_after.attributes.links, 2);
	assert_true(link.directory_change.after.valid);
	found = suite_find(suite, &suite->root, "two");
	assert_true(same(suite, &file, &found));
	assert_int_equal(suite_remove(suite, &suite->root, "one", RR_VFS_REMOVE_FILE), RR_VFS_OK);
	assert_int_equal(suite_attributes(suite, &file).links, 1);
	suite_holds(suite, &object, 0, "text");
	assert_int_equal(suite_lookup(suite, &suite->root, "one", NULL), RR_VFS_NOENT);
}

static void
a_link_is_not_made_where_it_cannot_be(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "text");
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);

	assert_int_equal(suite_link(suite, &directory, &suite->root, "new"), RR_VFS_ISDIR);
	assert_int_equal(suite_link(suite, &file, &suite->root, "directory"), RR_VFS_EXIST);
	assert_int_equal(suite_link(suite, &file, &file, "new"), RR_VFS_NOTDIR);
	assert_int_equal(suite_link(suite, &file, &suite->root, ".."), RR_VFS_BAD_NAME);
	assert_int_equal(suite_attributes(suite, &file).links, 1);
}

static void
remove_minds_what_it_is_to_remove(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);

	suite_file(suite, "file", "text");
	suite_make(suite, &directory, "inside", RR_VFS_FILE, 0644);
	assert_int_equal(suite_remove(suite, &suite->root, "absent", RR_VFS_REMOVE_ANY), RR_VFS_NOENT);
	assert_int_equal(suite_remove(suite, &suite->root, "directory", RR_VFS_REMOVE_FILE), RR_VFS_ISDIR);
	assert_int_equal(suite_remove(suite, &suite->root, "file", RR_VFS_REMOVE_DIRECTORY), RR_VFS_NOTDIR);
	assert_int_equal(
		suite_remove(suite, &suite->root, "directory", RR_VFS_REMOVE_DIRECTORY), RR_VFS_NOTEMPTY);
	assert_int_equal(suite_remove(suite, &suite->root, "directory", RR_VFS_REMOVE_ANY), RR_VFS_NOTEMPTY);
	assert_int_equal(suite_remove(suite, &directory, "inside", RR_VFS_REMOVE_ANY), RR_VFS_OK);
	assert_int_equal(suite_remove(suite, &suite->root, "directory", RR_VFS_REMOVE_ANY), RR_VFS_OK);
	assert_int_equal(suite_remove(suite, &suite->root, "file", RR_VFS_REMOVE_FILE), RR_VFS_OK);
}

static void
a_change_of_a_directory_is_told_before_and_after(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_remove remove = { .directory = suite_at(&suite->root), .name = suite_bytes("file") };
	uint64_t before;

	suite_file(suite, "file", "text");
	before = suite_attributes(suite, &suite->root).change;
	assert_int_equal(suite_do(suite, remove, &remove), RR_VFS_OK);
	assert_true(remove.directory_change.after.valid);
	assert_int_not_equal(remove.directory_change.after.attributes.change, before);
	assert_int_equal(remove.directory_change.after.attributes.change,
		suite_attributes(suite, &suite->root).change);
	if (remove.directory_change.exact)
		assert_int_equal(remove.directory_change.before.change, before);
	assert_int_equal(suite_do(suite, remove, &remove), RR_VFS_NOENT);
	if (remove.directory_change.exact)
		assert_int_equal(remove.directory_change.before.change,
			remove.directory_change.after.attributes.change);
}

static void
rename_replaces_what_has_the_name(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle old = suite_file(suite, "old", "old"), new = suite_file(suite, "new", "new");
	struct rr_vfs_object replaced = suite_at(&new), moved = suite_at(&old);

	assert_int_equal(suite_rename(suite, &suite->root, "old", &suite->root, "new"), RR_VFS_OK);
	assert_int_equal(suite_getattr(suite, &replaced, NULL), RR_VFS_STALE);
	suite_holds(suite, &moved, 0, "old");
	assert_int_equal(suite_lookup(suite, &suite->root, "old", NULL), RR_VFS_NOENT);
	new = suite_find(suite, &suite->root, "new");
	assert_true(same(suite, &old, &new));
}

/* A directory in which a name is changed changes once, however often the call names it. */
static void
rename_in_one_directory_is_one_change(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_rename rename = { .from = suite_at(&suite->root),
		.to = suite_at(&suite->root),
		.old_name = suite_bytes("old"),
		.new_name = suite_bytes("new") };
	uint64_t before;

	suite_file(suite, "old", "text");
	before = suite_attributes(suite, &suite->root).change;
	assert_int_equal(suite_do(suite, rename, &rename), RR_VFS_OK);
	assert_true(rename.from_change.after.valid);
	assert_true(rename.to_change.after.valid);
	assert_int_not_equal(rename.from_change.after.attributes.change, before);
	assert_int_equal(
		rename.to_change.after.attributes.change, rename.from_change.after.attributes.change);
	assert_int_equal(
		rename.to_change.after.attributes.change, suite_attributes(suite, &suite->root).change);
	assert_int_equal(rename.to_change.exact, rename.from_change.exact);
	if (rename.to_change.exact)
		assert_int_equal(rename.to_change.before.change, before);
}

/* Both directories are equally deep, so that their handles are equally long. */
static void
rename_moves_an_object_to_a_directory_beside(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle a = suite_make(suite, &suite->root, "a", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_handle b = suite_make(suite, &suite->root, "b", RR_VFS_DIRECTORY, 0755), c;

	c = suite_make(suite, &a, "c", RR_VFS_DIRECTORY, 0755);
	assert_int_equal(suite_rename(suite, &a, "c", &b, "d"), RR_VFS_OK);
	assert_int_equal(suite_lookup(suite, &a, "c", NULL), RR_VFS_NOENT);
	assert_int_equal(suite_lookup(suite, &a, "d", NULL), RR_VFS_NOENT);
	b = suite_find(suite, &b, "d");
	assert_true(same(suite, &b, &c));
}

static void
rename_of_two_names_of_one_file_does_nothing(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "one", "text");

	assert_int_equal(suite_link(suite, &file, &suite->root, "two"), RR_VFS_OK);
	/* RFC 1813, 3.3.14: "RENAME should perform no action and return NFS3_OK." */
	assert_int_equal(suite_rename(suite, &suite->root, "one", &suite->root, "two"), RR_VFS_OK);
	suite_find(suite, &suite->root, "one");
	suite_find(suite, &suite->root, "two");
	assert_int_equal(suite_rename(suite, &suite->root, "one", &suite->root, "one"), RR_VFS_OK);
	assert_int_equal(suite_attributes(suite, &file).links, 2);
}

static void
rename_moves_a_directory_with_all_in_it(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle a = suite_make(suite, &suite->root, "a", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_handle b = suite_make(suite, &suite->root, "b", RR_VFS_DIRECTORY, 0755), found;
	struct rr_vfs_handle file = suite_make(suite, &a, "file", RR_VFS_FILE, 0644);
	uint32_t links = suite_attributes(suite, &b).links;

	assert_int_equal(suite_rename(suite, &suite->root, "a", &b, "c"), RR_VFS_OK);
	found = suite_find(suite, &b, "c");
	assert_true(same(suite, &a, &found));
	found = suite_find(suite, &a, "..");
	assert_true(same(suite, &b, &found));
	found = suite_find(suite, &a, "file");
	assert_true(same(suite, &file, &found));
	assert_true(suite_attributes(suite, &b).links >= links);
}

static void
rename_refuses_what_is_impossible(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle a = suite_make(suite, &suite->root, "a", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_handle b = suite_make(suite, &a, "b", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_handle full = suite_make(suite, &suite->root, "full", RR_VFS_DIRECTORY, 0755);

	suite_file(suite, "file", "text");
	suite_make(suite, &full, "inside", RR_VFS_FILE, 0644);
	assert_int_equal(suite_rename(suite, &suite->root, "a", &b, "c"), RR_VFS_INVAL);
	assert_int_equal(suite_rename(suite, &suite->root, "a", &a, "c"), RR_VFS_INVAL);
	assert_int_equal(suite_rename(suite, &suite->root, "a", &suite->root, "file"), RR_VFS_EXIST);
	assert_int_equal(suite_rename(suite, &suite->root, "file", &suite->root, "full"), RR_VFS_EXIST);
	assert_int_equal(suite_rename(suite, &suite->root, "a", &suite->root, "full"), RR_VFS_NOTEMPTY);
	assert_int_equal(suite_rename(suite, &suite->root, "absent", &suite->root, "x"), RR_VFS_NOENT);
	assert_int_equal(suite_rename(suite, &suite->root, ".", &suite->root, "x"), RR_VFS_BAD_NAME);
	assert_int_equal(suite_rename(suite, &suite->root, "a", &suite->root, ".."), RR_VFS_BAD_NAME);
	assert_int_equal(suite_rename(suite, &full, "inside", &suite->root, "a/b"), RR_VFS_BAD_CHAR);
	suite_find(suite, &suite->root, "a");
	suite_find(suite, &suite->root, "file");
}

static void
an_empty_directory_gives_way_to_a_renamed_one(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle a = suite_make(suite, &suite->root, "a", RR_VFS_DIRECTORY, 0755);
	struct rr_vfs_handle b = suite_make(suite, &suite->root, "b", RR_VFS_DIRECTORY, 0755), found;
	struct rr_vfs_object gone = suite_at(&b);

	assert_int_equal(suite_rename(suite, &suite->root, "a", &suite->root, "b"), RR_VFS_OK);
	found = suite_find(suite, &suite->root, "b");
	assert_true(same(suite, &a, &found));
	assert_int_equal(suite_getattr(suite, &gone, NULL), RR_VFS_STALE);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(lookup_finds_entries_and_dots),
	cmocka_unit_test(nothing_lies_above_the_root_of_an_export),
	cmocka_unit_test(a_symbolic_link_is_not_followed),
	cmocka_unit_test(names_that_no_entry_has_are_refused),
	cmocka_unit_test(a_link_is_another_name_of_the_same_file),
	cmocka_unit_test(a_link_is_not_made_where_it_cannot_be),
	cmocka_unit_test(remove_minds_what_it_is_to_remove),
	cmocka_unit_test(a_change_of_a_directory_is_told_before_and_after),
	cmocka_unit_test(rename_replaces_what_has_the_name),
	cmocka_unit_test(rename_in_one_directory_is_one_change),
	cmocka_unit_test(rename_moves_an_object_to_a_directory_beside),
	cmocka_unit_test(rename_of_two_names_of_one_file_does_nothing),
	cmocka_unit_test(rename_moves_a_directory_with_all_in_it),
	cmocka_unit_test(rename_refuses_what_is_impossible),
	cmocka_unit_test(an_empty_directory_gives_way_to_a_renamed_one),
};

const struct suite_tests suite_of_names = { tests, sizeof(tests) / sizeof(tests[0]) };
