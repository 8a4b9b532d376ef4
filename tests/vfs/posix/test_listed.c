/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests how the entries of a listing are found: without opening them. */
#include "folder.h"

#include <string.h>
#include <sys/stat.h>

/* Finds an entry of the export's root, and takes its handle. Fails the test where there is none. */
static struct rr_object
entry_of(struct folder *folder, const char *name, struct rr_vfs_handle *handle)
{
	struct rr_object root = folder_root(folder->tree), object;

	assert_int_equal(rr_tree_entry(folder->tree, &root, bytes_of(name), &object), RR_VFS_OK);
	rr_tree_handle(folder->tree, &object, handle);
	rr_object_put(folder->tree, &object);
	rr_object_put(folder->tree, &root);
	return object;
}

static void
an_entry_is_not_opened_and_has_the_handle_of_its_object(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle listed, found;
	struct rr_object object;
	uint32_t before;

	folder_file(folder, "pub/f", "twelve words");
	before = rr_tree_descriptors(folder->tree);
	object = entry_of(folder, "f", &listed);
	assert_int_equal(object.st.stx_ino, folder_inode(folder, "pub/f"));
	assert_int_equal(object.st.stx_size, 12);
	assert_int_equal(rr_tree_descriptors(folder->tree), before);
	found = handle_of(folder, "f");
	assert_int_equal(listed.length, found.length);
	assert_memory_equal(listed.data, found.data, found.length);
	assert_int_equal(rr_tree_descriptors(folder->tree), before + 1);
}

/* An entry that nobody has used is opened at the first use of its handle, also after a restart. */
static void
the_handle_of_an_entry_leads_to_its_object(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle file, directory;

	folder_file(folder, "pub/f", "x");
	folder_mkdir(folder, "pub/d");
	entry_of(folder, "f", &file);
	entry_of(folder, "d", &directory);
	assert_leads_to(folder, &file, "pub/f");
	assert_leads_to(folder, &directory, "pub/d");
	folder_start(folder);
	assert_leads_to(folder, &file, "pub/f");
	assert_leads_to(folder, &directory, "pub/d");
}

static void
the_handle_of_an_entry_has_the_handle_of_the_kernel(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle;

	folder->with_kernel = true;
	folder_start(folder);
	if (folder->tree->core->roots[0].mount_fd < 0) {
		print_message("skipped: handles of the kernel may not be used here\n");
		skip();
	}
	folder_file(folder, "pub/f", "");
	folder_mkdir(folder, "pub/d");
	entry_of(folder, "f", &handle);
	folder_rename(folder, "pub/f", "pub/d/g");
	folder_start(folder);
	assert_leads_to(folder, &handle, "pub/d/g");
	assert_int_equal(folder->tree->core->search.entries, 0);
}

static void
a_link_is_an_entry_itself(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle;
	struct rr_object object;

	folder_file(folder, "pub/f", "x");
	folder_symlink(folder, "f", "pub/l");
	object = entry_of(folder, "l", &handle);
	assert_true(S_ISLNK(object.st.stx_mode));
	object = entry_of(folder, ".", &handle);
	assert_int_equal(object.st.stx_ino, folder_inode(folder, "pub"));
}

static void
what_is_not_there_is_no_entry(void **state)
{
	struct folder *folder = *state;
	struct rr_object root = folder_root(folder->tree), object;

	assert_int_equal(rr_tree_entry(folder->tree, &root, bytes_of("f"), &object), RR_VFS_NOENT);
	assert_int_equal(rr_tree_entry(folder->tree, &root, bytes_of("a/b"), &object), RR_VFS_BAD_CHAR);
	rr_object_put(folder->tree, &root);
}

/* The first user of an entry whose object was removed is told so. */
static void
an_entry_that_was_removed_is_stale(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle;

	folder_file(folder, "pub/f", "x");
	entry_of(folder, "f", &handle);
	folder_remove(folder, "pub/f");
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_STALE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_entry_is_not_opened_and_has_the_handle_of_its_object),
		TEST(the_handle_of_an_entry_leads_to_its_object),
		TEST(the_handle_of_an_entry_has_the_handle_of_the_kernel),
		TEST(a_link_is_an_entry_itself),
		TEST(what_is_not_there_is_no_entry),
		TEST(an_entry_that_was_removed_is_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
