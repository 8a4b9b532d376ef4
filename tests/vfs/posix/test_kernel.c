/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests objects that are found by kernel handles, where the process may use these. */
#include "folder.h"

static void
start_with_kernel(struct folder *folder)
{
	folder->with_kernel = true;
	folder_start(folder);
	if (folder->tree->core->roots[0].mount_fd < 0) {
		print_message("skipped: handles of the kernel may not be used here\n");
		skip();
	}
}

static void
the_kernel_finds_what_was_renamed_before_a_restart(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle file, directory, again;

	start_with_kernel(folder);
	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/b");
	folder_file(folder, "pub/a/f", "");
	file = handle_of(folder, "a/f");
	directory = handle_of(folder, "a");
	folder_rename(folder, "pub/a/f", "pub/b/g");
	folder_rename(folder, "pub/a", "pub/b/c");
	folder_start(folder);
	assert_leads_to(folder, &file, "pub/b/g");
	assert_leads_to(folder, &directory, "pub/b/c");
	again = handle_of(folder, "b/g");
	assert_memory_equal(again.data, file.data, file.length);
	assert_int_equal(folder->tree->core->search.entries, 0);
}

static void
the_kernel_knows_what_is_gone(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle;

	start_with_kernel(folder);
	folder_file(folder, "pub/f", "");
	folder_file(folder, "pub/other", ""); /* a search would read this entry */
	handle = handle_of(folder, "f");
	folder_start(folder);
	folder_remove(folder, "pub/f");
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_STALE);
	assert_int_equal(folder->tree->core->search.entries, 0);
}

/* The kernel opens any object on the file system, but only objects below the export count. */
static void
no_handle_of_the_kernel_leads_out_of_the_export(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle file, directory, below;

	start_with_kernel(folder);
	folder_mkdir(folder, "pub/d");
	folder_file(folder, "pub/f", "");
	folder_file(folder, "pub/d/g", "");
	file = handle_of(folder, "f");
	directory = handle_of(folder, "d");
	below = handle_of(folder, "d/g");
	folder_rename(folder, "pub/f", "f");
	folder_rename(folder, "pub/d", "public");
	folder_start(folder);
	assert_int_equal(status_of(folder, &file, NULL), RR_VFS_STALE);
	assert_int_equal(status_of(folder, &directory, NULL), RR_VFS_STALE);
	assert_int_equal(status_of(folder, &below, NULL), RR_VFS_STALE);
	folder_rename(folder, "public", "pub/d");
	assert_int_equal(status_of(folder, &below, NULL), RR_VFS_OK);
}

/* Handles that a server without this privilege made stay valid for a server with it, and the other way
 * round. */
static void
handles_with_and_without_the_kernels_are_both_good(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle plain, full;

	folder_file(folder, "pub/f", "");
	plain = handle_of(folder, "f");
	start_with_kernel(folder);
	assert_leads_to(folder, &plain, "pub/f");
	folder_start(folder);
	full = handle_of(folder, "f");
	assert_int_not_equal(full.length, plain.length);
	folder->with_kernel = false;
	folder_start(folder);
	assert_leads_to(folder, &full, "pub/f");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, folder_setup, folder_teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(the_kernel_finds_what_was_renamed_before_a_restart),
		TEST(the_kernel_knows_what_is_gone),
		TEST(no_handle_of_the_kernel_leads_out_of_the_export),
		TEST(handles_with_and_without_the_kernels_are_both_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
