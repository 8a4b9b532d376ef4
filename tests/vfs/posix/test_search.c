/* SPDX-License-Identifier: BSD-3-Clause */
/* This tests what it costs to find an object of which the server only has the handle. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "folder.h"

enum { MANY = 3000, BOUND = 64, DEEP = 60 };

/* From number fails_at on, counted from 0, these system calls fail with this errno. -1: they do not. */
static int failure, fails_at = -1, calls;

static bool
is_to_fail(void)
{
	if (calls++ < fails_at || fails_at < 0)
		return false;
	errno = failure;
	return true;
}

ssize_t
getdents64(int fd, void *entries, size_t size)
{
	return is_to_fail() ? -1 : syscall(SYS_getdents64, fd, entries, size);
}

int
statx(int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict st)
{
	return is_to_fail() ? -1 : (int)syscall(SYS_statx, fd, path, flags, mask, st);
}

/* Makes pub/d/0 and so on, and returns their handles, which the caller frees. */
static struct rr_vfs_handle *
make_many(struct folder *folder)
{
	struct rr_vfs_handle *handles = calloc(MANY, sizeof(*handles));
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

/* Checks that each handle leads to an object, at once or after the server has gone on with its search, and
 * that all searches together read no more entries than entries_max. */
static void
find_all(struct folder *folder, const struct rr_vfs_handle *handles, uint64_t entries_max)
{
	for (int i = 0; i < MANY; i++) {
		enum rr_vfs_status status;

		while ((status = status_of(folder, &handles[i], NULL)) == RR_VFS_BUSY) {
			rr_tree_work(folder->tree);
			assert_true(folder->tree->core->search.entries <= entries_max);
		}
		assert_int_equal(status, RR_VFS_OK);
		assert_true(folder->tree->core->search.entries <= entries_max);
	}
}

static void
a_directory_is_read_once_for_all_handles_of_it(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle *handles = make_many(folder);

	folder_start(folder);
	find_all(folder, handles, MANY + 10);
	assert_true(folder->tree->core->search.entries >= MANY);
	free(handles);
}

/* The same holds where there is a slice for each buffer of entries. */
static void
a_directory_is_read_once_in_slices(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle *handles = make_many(folder);

	folder_start(folder);
	folder->tree->core->search.steps_max = 1;
	find_all(folder, handles, MANY + 10);
	assert_true(folder->tree->core->search.entries >= MANY);
	free(handles);
}

static void
what_had_to_leave_the_cache_is_found_without_a_search(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle *handles;

	folder->tree->core->nodes.max = BOUND;
	handles = make_many(folder);
	assert_in_range(folder->tree->core->nodes.count, 1, BOUND);
	find_all(folder, handles, 0);
	free(handles);
}

/* The walk for the first of the removed objects shows that the others do not exist, either. */
static void
removed_objects_are_searched_for_once(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle *handles = make_many(folder);
	uint64_t entries;
	char path[32];

	for (int i = 0; i < MANY; i += 2) {
		snprintf(path, sizeof(path), "pub/d/%d", i);
		folder_remove(folder, path);
	}
	folder_start(folder);
	assert_int_equal(status_of(folder, &handles[0], NULL), RR_VFS_STALE);
	/* The files are made to look as if they had been made long before. */
	folder->tree->core->search.memories[0].birth += RR_SECOND;
	entries = folder->tree->core->search.entries;
	for (int i = 0; i < MANY; i += 2)
		assert_int_equal(status_of(folder, &handles[i], NULL), RR_VFS_STALE);
	/* The first object is remembered, even if it may have been made after the walk. */
	folder->tree->core->search.memories[0].until = 0;
	assert_int_equal(status_of(folder, &handles[0], NULL), RR_VFS_STALE);
	assert_int_equal(folder->tree->core->search.entries, entries);
	free(handles);
}

/* Makes DEEP directories, each in the one before, and returns the handle of the innermost. */
static struct rr_vfs_handle
make_deep(struct folder *folder)
{
	struct rr_object at = walk_to(folder, ""), next;
	struct rr_vfs_handle handle;
	char name[201];

	memset(name, 'n', 200);
	name[200] = 0;
	for (int i = 0; i < DEEP; i++) {
		assert_int_equal(mkdirat(at.fd, name, 0755), 0);
		assert_int_equal(rr_tree_lookup(folder->tree, &at, bytes_of(name), &next), RR_VFS_OK);
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
	enum { STEPS_MAX = 3 * DEEP + 3 };
	struct folder *folder = *state;
	struct rr_vfs_handle handle = make_deep(folder);
	int steps = 1;

	folder_start(folder);
	folder->tree->core->search.steps_max = 1;
	while (steps <= STEPS_MAX && status_of(folder, &handle, NULL) == RR_VFS_BUSY)
		steps++;
	assert_in_range(steps, DEEP, STEPS_MAX);
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_OK);
}

/* A clock that goes on by a millisecond each time it is read. */
static uint64_t
ticking_clock(void *ctx)
{
	struct folder *folder = ctx;

	folder->now += RR_MILLISECOND;
	return folder->now;
}

/* No call waits for a search longer than the search may take in a call, or in a slice beside other work. */
static void
a_search_has_no_more_time_than_is_meant_for_it(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle = make_deep(folder);
	uint64_t entries, began;

	folder_start(folder);
	folder->env.now = ticking_clock;
	began = folder->now;
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_BUSY);
	assert_in_range(folder->now - began, RR_SEARCH_CALL, 2 * RR_SEARCH_CALL);
	entries = folder->tree->core->search.entries;
	assert_in_range(entries, 1, DEEP / 2);
	began = folder->now;
	assert_true(rr_tree_work(folder->tree));
	assert_in_range(folder->now - began, RR_SEARCH_TIMER, 2 * RR_SEARCH_TIMER);
	assert_in_range(folder->tree->core->search.entries, entries + 1, entries + DEEP / 4);
	while (rr_tree_work(folder->tree))
		;
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_OK);
}

/* Makes the handle of an object that had the same inode number before another object was made. */
static struct rr_vfs_handle
handle_of_an_earlier_one(struct folder *folder, const struct rr_vfs_handle *handle)
{
	const struct rr_handle_keys *keys = &folder->tree->core->keys;
	struct rr_vfs_handle earlier;
	struct rr_handle_place place;
	struct rr_handle_id id;

	assert_true(
		rr_handle_decode(keys, (struct rpcrdma_bytes){ handle->data, handle->length }, &id, &place));
	id.birth -= RR_SECOND;
	rr_handle_encode(keys, &id, &place, &earlier);
	return earlier;
}

static void
an_object_whose_number_another_one_has_is_not_searched_for(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle, earlier;
	uint64_t entries;

	if (!folder_has_births(folder)) {
		print_message("skipped: this file system has no birth times\n");
		skip();
	}
	folder_mkdir(folder, "pub/d");
	folder_file(folder, "pub/d/f", "x");
	handle = handle_of(folder, "d/f");
	earlier = handle_of_an_earlier_one(folder, &handle);
	folder_start(folder);
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_OK);
	entries = folder->tree->core->search.entries;
	assert_true(entries > 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(status_of(folder, &earlier, NULL), RR_VFS_STALE);
	assert_int_equal(folder->tree->core->search.entries, entries);
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_OK);
}

/* No call waits for a search to end: a call that needs another search meanwhile is answered RR_VFS_BUSY, and
 * a call that needs no search is served. */
static void
one_search_at_a_time_goes_on_between_calls(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle deep = make_deep(folder), other, known;

	folder_mkdir(folder, "pub/a");
	folder_file(folder, "pub/a/f", "");
	folder_file(folder, "pub/g", "");
	other = handle_of(folder, "a/f");
	folder_start(folder);
	known = handle_of(folder, "g");
	folder->tree->core->search.steps_max = 1;
	assert_false(rr_tree_has_work(folder->tree));
	assert_int_equal(status_of(folder, &deep, NULL), RR_VFS_BUSY);
	assert_true(rr_tree_has_work(folder->tree));
	assert_int_equal(status_of(folder, &other, NULL), RR_VFS_BUSY);
	assert_int_equal(status_of(folder, &known, NULL), RR_VFS_OK);
	while (rr_tree_work(folder->tree))
		;
	/* The first search was the one that went on. */
	assert_int_equal(status_of(folder, &deep, NULL), RR_VFS_OK);
	folder->tree->core->search.steps_max = UINT32_MAX;
	assert_int_equal(status_of(folder, &other, NULL), RR_VFS_OK);
}

/* Finds the first and the last directory in pub/a, in the order in which a search reads them. */
static void
ends_of(const struct folder *folder, char first[PATH_MAX], char last[PATH_MAX])
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/pub/a", folder->path);
	directory = opendir(path);
	assert_non_null(directory);
	*first = 0;
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(last, PATH_MAX, "pub/a/%s", entry->d_name);
		if (!*first)
			memcpy(first, last, strlen(last) + 1);
	}
	closedir(directory);
}

/* Moves a directory out of the export while the search is in it, after this many steps: the search goes on in
 * the directory above, and finds the objects there. */
static void
move_during_search(struct folder *folder, const struct rr_vfs_handle *handle, uint32_t steps)
{
	char first[PATH_MAX], last[PATH_MAX], file[PATH_MAX + 2];

	ends_of(folder, first, last);
	assert_string_not_equal(first, last);
	snprintf(file, sizeof(file), "%s/f", last);
	folder_rename(folder, "f", file);
	folder_start(folder);
	folder->tree->core->search.steps_max = steps;
	status_of(folder, handle, NULL);
	folder_rename(folder, first, "away");
	while (rr_tree_work(folder->tree))
		;
	assert_leads_to(folder, handle, file);
	folder_rename(folder, "away", first);
	folder_rename(folder, file, "f");
}

static void
a_search_survives_what_is_moved_meanwhile(void **state)
{
	enum { DIRECTORIES = 3, STEPS = 40 };
	struct folder *folder = *state;
	struct rr_vfs_handle handle;
	char path[32];

	folder_mkdir(folder, "pub/a");
	folder_file(folder, "pub/a/f", "");
	handle = handle_of(folder, "a/f");
	folder_rename(folder, "pub/a/f", "f");
	for (int i = 0; i < DIRECTORIES; i++) {
		snprintf(path, sizeof(path), "pub/a/%d", i);
		folder_mkdir(folder, path);
		snprintf(path, sizeof(path), "pub/a/%d/c", i);
		folder_mkdir(folder, path);
	}
	for (uint32_t steps = 1; steps < STEPS; steps++)
		move_during_search(folder, &handle, steps);
}

/* An object that is there is never answered as gone, whichever step of its search fails for a while. */
static void
a_search_that_was_hindered_says_nothing(void **state)
{
	static const int failures[] = { ENOMEM, EAGAIN };
	struct folder *folder = *state;
	struct rr_vfs_handle handle;
	struct rr_object object;

	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/a/b");
	folder_file(folder, "pub/a/b/f", "");
	handle = handle_of(folder, "a/b/f");
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		failure = failures[i];
		calls = 0;
		for (int at = 0; at <= calls; at++) {
			enum rr_vfs_status status;

			folder_start(folder);
			calls = 0;
			fails_at = at;
			status = resolve(folder, &handle, &object);
			fails_at = -1;
			assert_true(status == RR_VFS_OK || status == RR_VFS_BUSY);
			if (status == RR_VFS_OK)
				rr_object_put(folder->tree, &object);
			assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_OK);
		}
	}
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
		TEST(a_search_has_no_more_time_than_is_meant_for_it),
		TEST(an_object_whose_number_another_one_has_is_not_searched_for),
		TEST(one_search_at_a_time_goes_on_between_calls),
		TEST(a_search_survives_what_is_moved_meanwhile),
		TEST(a_search_that_was_hindered_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
