/* SPDX-License-Identifier: BSD-3-Clause */
/* These are the tests of readdir. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

enum { MANY = 20000, ROOM = MANY + 100 };

/* The entries that were listed so far: names are "f" and a number. */
struct listing {
	struct rr_vfs_readdir readdir;
	uint32_t most;       /* entries that are taken at a time */
	uint32_t seen[ROOM]; /* how often each number was listed */
	uint32_t dots, others;
	uint64_t last;                   /* the cookie of the last entry that was taken */
	struct rr_vfs_handle handles[2]; /* of the dots: take_dots() */
};

static bool
take(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry)
{
	struct listing *listing = rr_container(readdir, struct listing, readdir);
	const char *name = entry->name.data;
	char text[RR_VFS_NAME_MAX + 1];

	if (listing->most == 0)
		return false;
	listing->most--;
	assert_true(entry->cookie > 0 && entry->cookie < UINT64_C(1) << 63);
	assert_int_not_equal(entry->number, 0);
	assert_true(readdir->attributes || (!entry->attributes && !entry->handle));
	listing->last = entry->cookie;
	memcpy(text, name, entry->name.length);
	text[entry->name.length] = 0;
	if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
		listing->dots++;
	else if (text[0] == 'f')
		listing->seen[strtoul(text + 1, NULL, 10)]++;
	else
		listing->others++;
	if (entry->attributes)
		assert_int_equal(entry->attributes->id.number, entry->number);
	return true;
}

static struct listing *
listing_new(const struct rr_vfs_handle *directory)
{
	struct listing *listing = calloc(1, sizeof(*listing));

	assert_non_null(listing);
	listing->readdir.directory = suite_at(directory);
	listing->readdir.take = take;
	listing->readdir.room = (struct rr_vfs_readdir_room){ { 4096, 0 }, { 4096, 0 } };
	return listing;
}

/* Goes on with a listing, "most" entries at a time, "times" times. Returns whether it has ended. */
static bool
list(struct suite *suite, struct listing *listing, uint32_t most, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		listing->readdir.cookie = listing->last;
		listing->most = most;
		assert_int_equal(suite_do(suite, readdir, &listing->readdir), RR_VFS_OK);
		assert_true(listing->readdir.directory_after.valid);
		if (listing->readdir.eof)
			return true;
		assert_true(listing->readdir.count > 0);
	}
	return false;
}

static void
make_files(struct suite *suite, const struct rr_vfs_handle *directory, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		suite_make(suite, directory, name, RR_VFS_FILE, 0644);
	}
}

static void
expect_once(const struct listing *listing, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		assert_int_equal(listing->seen[i], 1);
}

static void
each_entry_is_listed_once_whatever_there_is_room_for(void **state)
{
	static const uint32_t rooms[] = { 1, 2, 3, 7, 100 };
	struct suite *suite = *state;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);

	make_files(suite, &directory, 0, 40);
	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		struct listing *listing = listing_new(&directory);

		assert_true(list(suite, listing, rooms[i], 1000));
		expect_once(listing, 0, 40);
		assert_int_equal(listing->dots, 2);
		assert_int_equal(listing->others, 0);
		free(listing);
	}
}

/* An entry behind what the caller wants is looked up for nothing. */
static void
a_listing_ends_where_no_more_is_wanted(void **state)
{
	static const struct rr_vfs_readdir_room rooms[] = { { { 10 * 8, 4 }, { 4096, 0 } },
		{ { 4096, 0 }, { 10 * 104 - 103, 100 } } };
	struct suite *suite = *state;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);

	make_files(suite, &directory, 0, 40);
	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		struct listing *listing = listing_new(&directory);

		listing->most = 100;
		listing->readdir.room = rooms[i];
		assert_int_equal(suite_do(suite, readdir, &listing->readdir), RR_VFS_OK);
		assert_int_equal(listing->readdir.count, 10);
		assert_false(listing->readdir.eof);
		listing->readdir.room.names.octets = listing->readdir.room.reply.octets = 1 << 20;
		assert_true(list(suite, listing, 100, 1));
		expect_once(listing, 0, 40);
		free(listing);
	}
}

static void
an_empty_directory_lists_the_dots(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	struct listing *listing = listing_new(&directory);

	assert_true(list(suite, listing, 10, 10));
	assert_int_equal(listing->dots, 2);
	free(listing);
}

static void
without_room_for_an_entry_nothing_is_listed(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle file = suite_file(suite, "file", "x");
	struct listing *listing = listing_new(&suite->root);

	assert_int_equal(suite_do(suite, readdir, &listing->readdir), RR_VFS_OK);
	assert_int_equal(listing->readdir.count, 0);
	assert_false(listing->readdir.eof);
	listing->readdir.directory = suite_at(&file);
	assert_int_equal(suite_do(suite, readdir, &listing->readdir), RR_VFS_NOTDIR);
	free(listing);
}

static bool
take_attributes(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry)
{
	struct listing *listing = rr_container(readdir, struct listing, readdir);

	assert_non_null(entry->attributes);
	assert_non_null(entry->handle);
	listing->seen[entry->attributes->type]++;
	return true;
}

static void
attributes_and_handles_come_with_the_entries(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	struct listing *listing = listing_new(&directory);

	suite_make(suite, &directory, "a", RR_VFS_FILE, 0644);
	suite_make(suite, &directory, "b", RR_VFS_LINK, 0777);
	suite_make(suite, &directory, "c", RR_VFS_DIRECTORY, 0777);
	listing->readdir.attributes = true;
	listing->readdir.take = take_attributes;
	listing->readdir.room = (struct rr_vfs_readdir_room){ { 65536, 0 }, { 65536, 0 } };
	assert_int_equal(suite_do(suite, readdir, &listing->readdir), RR_VFS_OK);
	assert_true(listing->readdir.eof);
	assert_int_equal(listing->seen[RR_VFS_FILE], 1);
	assert_int_equal(listing->seen[RR_VFS_LINK], 1);
	assert_int_equal(listing->seen[RR_VFS_DIRECTORY], 3);
	free(listing);
}

/* Keeps the handles of the dots. */
static bool
take_dots(struct rr_vfs_readdir *readdir, const struct rr_vfs_entry *entry)
{
	struct listing *listing = rr_container(readdir, struct listing, readdir);
	const char *name = entry->name.data;

	if (entry->name.length > 2 || name[0] != '.' || name[entry->name.length - 1] != '.')
		return true;
	assert_int_equal(entry->attributes->id.number, entry->number);
	assert_true(listing->dots < 2);
	listing->handles[listing->dots++] = *entry->handle;
	return true;
}

static void
expect_same(struct suite *suite, const struct rr_vfs_handle *one, const struct rr_vfs_handle *other)
{
	struct rr_vfs_attributes first = suite_attributes(suite, one);
	struct rr_vfs_attributes second = suite_attributes(suite, other);

	assert_int_equal(first.id.number, second.id.number);
}

/* A caller must not get a handle of what lies above an export. */
static void
the_root_of_an_export_is_its_own_parent(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle root, parent;
	struct listing *listing;

	rr_vfs_root(suite->vfs, 0, &root);
	suite->caller = &suite->super;
	listing = listing_new(&root);
	listing->readdir.attributes = true;
	listing->readdir.take = take_dots;
	listing->readdir.room = (struct rr_vfs_readdir_room){ { 65536, 0 }, { 65536, 0 } };
	assert_int_equal(suite_do(suite, readdir, &listing->readdir), RR_VFS_OK);
	assert_true(listing->readdir.eof);
	assert_int_equal(listing->dots, 2);
	expect_same(suite, &root, &listing->handles[0]);
	expect_same(suite, &root, &listing->handles[1]);
	free(listing);
	parent = suite_find(suite, &root, "..");
	expect_same(suite, &root, &parent);
}

static void
changes_meanwhile_neither_hide_nor_repeat_the_others(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	struct listing *listing;
	bool ended = false;

	suite_needs(suite, SUITE_PLACES);
	listing = listing_new(&directory);
	make_files(suite, &directory, 0, 60);
	for (uint32_t i = 0; i < 60 && !ended; i++) {
		char name[16];

		ended = list(suite, listing, 2, 1);
		/* Entries with odd numbers are removed, and others are made. */
		snprintf(name, sizeof(name), "f%u", 59 - 2 * (i % 30));
		suite_remove(suite, &directory, name, RR_VFS_REMOVE_ANY);
		snprintf(name, sizeof(name), "f%u", 100 + i);
		suite_make(suite, &directory, name, RR_VFS_FILE, 0644);
	}
	while (!ended)
		ended = list(suite, listing, 2, 1);
	for (uint32_t i = 0; i < 60; i += 2)
		assert_int_equal(listing->seen[i], 1);
	for (uint32_t i = 0; i < 200; i++)
		assert_true(listing->seen[i] <= 1);
	free(listing);
}

static void
a_listing_goes_on_after_a_restart(void **state)
{
	struct suite *suite = *state;
	suite_needs(suite, SUITE_LASTING);
	struct rr_vfs_handle directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	struct listing *listing = listing_new(&directory);

	make_files(suite, &directory, 0, 50);
	assert_false(list(suite, listing, 10, 2));
	suite->provider->restart(suite);
	assert_true(list(suite, listing, 10, 20));
	expect_once(listing, 0, 50);
	free(listing);
}

static void
twenty_thousand_names_are_listed_once(void **state)
{
	struct suite *suite = *state;
	struct rr_vfs_handle directory;
	struct listing *listing;

	suite_needs(suite, SUITE_MANY);
	directory = suite_make(suite, &suite->root, "directory", RR_VFS_DIRECTORY, 0755);
	listing = listing_new(&directory);
	make_files(suite, &directory, 0, MANY);
	assert_true(list(suite, listing, 500, MANY));
	expect_once(listing, 0, MANY);
	assert_int_equal(listing->dots, 2);
	free(listing);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(each_entry_is_listed_once_whatever_there_is_room_for),
	cmocka_unit_test(a_listing_ends_where_no_more_is_wanted),
	cmocka_unit_test(an_empty_directory_lists_the_dots),
	cmocka_unit_test(without_room_for_an_entry_nothing_is_listed),
	cmocka_unit_test(attributes_and_handles_come_with_the_entries),
	cmocka_unit_test(the_root_of_an_export_is_its_own_parent),
	cmocka_unit_test(changes_meanwhile_neither_hide_nor_repeat_the_others),
	cmocka_unit_test(a_listing_goes_on_after_a_restart),
	cmocka_unit_test(twenty_thousand_names_are_listed_once),
};

const struct suite_tests suite_of_directories = { tests, sizeof(tests) / sizeof(tests[0]) };
