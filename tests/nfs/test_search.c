/* SPDX-License-Identifier: BSD-3-Clause */
/* What it costs to find an object of which the server has nothing but the handle. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folder.h"

enum { MANY = 3000, BOUND = 64, DEEP = 60 };

/* pub/d/0 and so on; their handles, to be freed. */
static struct rr_handle *
make_many(struct folder *folder)
{
	struct rr_handle *handles = calloc(MANY, sizeof(*handles));
	char path[32];

	assert_non_null(handles);
	folder_mkdir(folder, "pub/d");
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "pub/d/%d", i);
		folder_file(folder, path, "");
		handles[i] = handle_of(folder, path + strlen("pub/"));
	}
	return handles;
}

/* Each handle leads to an object, now or when the server has gone on with its search. */
static void
find_all(struct folder *folder, const struct rr_handle *handles)
{
	for (int i = 0; i < MANY; i++) {
		nfsstat3 status;

		while ((status = status_of(folder, &handles[i], NULL)) == NFS3ERR_JUKEBOX)
			rr_tree_work(folder->tree);
		assert_int_equal(status, NFS3_OK);
	}
}

static void
a_directory_is_read_once_for_all_handles_of_it(void **state)
{
	struct folder *folder = *state;
	struct rr_handle *handles = make_many(folder);

	folder_start(folder);
	find_all(folder, handles);
	assert_in_range(folder->tree->search.entries, MANY, MANY + 10);
	free(handles);
}

/* The same where there is a slice for each buffer of entries. */
static void
a_directory_is_read_once_in_slices(void **state)
{
	struct folder *folder = *state;
	struct rr_handle *handles = make_many(folder);

	folder_start(folder);
	folder->tree->search.steps_max = 1;
	find_all(folder, handles);
	assert_in_range(folder->tree->search.entries, MANY, MANY + 10);
	free(handles);
}

static void
what_had_to_leave_the_cache_is_found_without_a_search(void **state)
{
	struct folder *folder = *state;
	struct rr_handle *handles;

	folder->tree->nodes.max = BOUND;
	handles = make_many(folder);
	assert_in_range(folder->tree->nodes.count, 1, BOUND);
	find_all(folder, handles);
	assert_int_equal(folder->tree->search.entries, 0);
	free(handles);
}

/* Handles of what was removed: the walk for the first of them says that the others are not there, either. */
static void
removed_objects_are_searched_for_once(void **state)
{
	struct folder *folder = *state;
	struct rr_handle *handles = make_many(folder);
	uint64_t entries;
	char path[32];

	for (int i = 0; i < MANY; i += 2) {
		snprintf(path, sizeof(path), "pub/d/%d", i);
		folder_remove(folder, path);
	}
	folder_start(folder);
	assert_int_equal(status_of(folder, &handles[0], NULL), NFS3ERR_STALE);
	/* As if the files had been made long before. */
	folder->tree->search.memories[0].birth += RR_SECOND;
	entries = folder->tree->search.entries;
	for (int i = 0; i < MANY; i += 2)
		assert_int_equal(status_of(folder, &handles[i], NULL), NFS3ERR_STALE);
	/* Of the first, even if it may have been made after the walk. */
	folder->tree->search.memories[0].until = 0;
	assert_int_equal(status_of(folder, &handles[0], NULL), NFS3ERR_STALE);
	assert_int_equal(folder->tree->search.entries, entries);
	free(handles);
}

/* pub/d/d/... */
static struct rr_handle
make_deep(struct folder *folder)
{
	struct rr_object at = walk_to(folder, ""), next;
	struct rr_handle handle;
	char name[201];

	memset(name, 'n', 200);
	name[200] = 0;
	for (int i = 0; i < DEEP; i++) {
		assert_int_equal(mkdirat(at.fd, name, 0755), 0);
		assert_int_equal(rr_tree_lookup(folder->tree, &at, bytes_of(name), &next), NFS3_OK);
		rr_object_put(folder->tree, &at);
		at = next;
	}
	rr_tree_handle(folder->tree, &at, &handle);
	rr_object_put(folder->tree, &at);
	return handle;
}

/* A step opens one directory, reads one buffer of entries, or leaves a directory. */
static void
a_search_takes_as_many_steps_as_there_are_directories(void **state)
{
	struct folder *folder = *state;
	struct rr_handle handle = make_deep(folder);
	int steps = 1;

	folder_start(folder);
	folder->tree->search.steps_max = 1;
	while (status_of(folder, &handle, NULL) == NFS3ERR_JUKEBOX)
		steps++;
	assert_int_equal(status_of(folder, &handle, NULL), NFS3_OK);
	assert_in_range(steps, DEEP, 3 * DEEP + 3);
}

/* Nobody waits for a search: who asks for something else meanwhile is told to come again if that would take
 * another one, and is served if not. */
static void
one_search_at_a_time_goes_on_between_calls(void **state)
{
	struct folder *folder = *state;
	struct rr_handle deep = make_deep(folder), other, known;

	folder_mkdir(folder, "pub/a");
	folder_file(folder, "pub/a/f", "");
	folder_file(folder, "pub/g", "");
	other = handle_of(folder, "a/f");
	folder_start(folder);
	known = handle_of(folder, "g");
	folder->tree->search.steps_max = 1;
	assert_false(rr_tree_has_work(folder->tree));
	assert_int_equal(status_of(folder, &deep, NULL), NFS3ERR_JUKEBOX);
	assert_true(rr_tree_has_work(folder->tree));
	assert_int_equal(status_of(folder, &other, NULL), NFS3ERR_JUKEBOX);
	assert_int_equal(status_of(folder, &known, NULL), NFS3_OK);
	while (rr_tree_work(folder->tree))
		;
	folder->tree->search.steps_max = UINT32_MAX;
	assert_int_equal(status_of(folder, &deep, NULL), NFS3_OK);
	assert_int_equal(status_of(folder, &other, NULL), NFS3_OK);
}

/* A directory that is moved while a search is in it. */
static void
a_search_survives_what_is_moved_meanwhile(void **state)
{
	struct folder *folder = *state;
	struct rr_handle handle;

	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/a/b");
	folder_mkdir(folder, "pub/a/b/c");
	folder_mkdir(folder, "pub/z");
	folder_file(folder, "pub/a/f", "");
	handle = handle_of(folder, "a/f");
	folder_rename(folder, "pub/a/f", "pub/z/f");
	for (uint32_t steps = 1; steps < 12; steps++) {
		folder_start(folder);
		folder->tree->search.steps_max = steps;
		status_of(folder, &handle, NULL);
		folder_rename(folder, "pub/a/b", "b");
		while (rr_tree_work(folder->tree))
			;
		folder->now += 10 * RR_SECOND;
		folder->tree->search.steps_max = UINT32_MAX;
		assert_leads_to(folder, &handle, "pub/z/f");
		folder_rename(folder, "b", "pub/a/b");
	}
}

static void
start_with_kernel(struct folder *folder)
{
	folder->with_kernel = true;
	folder_start(folder);
	if (folder->tree->roots[0].mount_fd < 0) {
		print_message("skipped: handles of the kernel may not be used here\n");
		skip();
	}
}

static void
the_kernel_finds_what_was_renamed_before_a_restart(void **state)
{
	struct folder *folder = *state;
	struct rr_handle file, directory, again;

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
	assert_int_equal(folder->tree->search.entries, 0);
}

static void
the_kernel_knows_what_is_gone(void **state)
{
	struct folder *folder = *state;
	struct rr_handle handle;

	start_with_kernel(folder);
	folder_file(folder, "pub/f", "");
	handle = handle_of(folder, "f");
	folder_start(folder);
	folder_remove(folder, "pub/f");
	assert_int_equal(status_of(folder, &handle, NULL), NFS3ERR_STALE);
	assert_int_equal(folder->tree->search.entries, 0);
}

/* The kernel opens what is anywhere on the file system: only what is below the export counts. */
static void
no_handle_of_the_kernel_leads_out_of_the_export(void **state)
{
	struct folder *folder = *state;
	struct rr_handle file, directory, below;

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
	assert_int_equal(status_of(folder, &file, NULL), NFS3ERR_STALE);
	assert_int_equal(status_of(folder, &directory, NULL), NFS3ERR_STALE);
	assert_int_equal(status_of(folder, &below, NULL), NFS3ERR_STALE);
	folder_rename(folder, "public", "pub/d");
	assert_int_equal(status_of(folder, &below, NULL), NFS3_OK);
}

/* Handles that a server without this privilege gave stay good, and the other way round. */
static void
handles_with_and_without_the_kernels_are_both_good(void **state)
{
	struct folder *folder = *state;
	struct rr_handle plain, full;

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
		TEST(a_directory_is_read_once_for_all_handles_of_it),
		TEST(a_directory_is_read_once_in_slices),
		TEST(what_had_to_leave_the_cache_is_found_without_a_search),
		TEST(removed_objects_are_searched_for_once),
		TEST(a_search_takes_as_many_steps_as_there_are_directories),
		TEST(one_search_at_a_time_goes_on_between_calls),
		TEST(a_search_survives_what_is_moved_meanwhile),
		TEST(the_kernel_finds_what_was_renamed_before_a_restart),
		TEST(the_kernel_knows_what_is_gone),
		TEST(no_handle_of_the_kernel_leads_out_of_the_export),
		TEST(handles_with_and_without_the_kernels_are_both_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
