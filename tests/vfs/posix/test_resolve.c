/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 1000, BOUND = 64, DEEP = 40 };

/* Renames pub/a/OLD to pub/b/NEW as a client's RENAME does. */
static void
client_renames(struct folder *folder, const char *old, const char *new)
{
	struct rr_object a = walk_to(folder, "a"), b = walk_to(folder, "b"), moved, replaced;
	char from[64], to[64];

	snprintf(from, sizeof(from), "pub/a/%s", old);
	snprintf(to, sizeof(to), "pub/b/%s", new);
	rr_tree_peek(folder->tree, &a, bytes_of(old), &moved);
	rr_tree_peek(folder->tree, &b, bytes_of(new), &replaced);
	folder_rename(folder, from, to);
	rr_tree_renamed(folder->tree, &moved, &replaced, &b, new);
	rr_object_put(folder->tree, &moved);
	rr_object_put(folder->tree, &replaced);
	rr_object_put(folder->tree, &a);
	rr_object_put(folder->tree, &b);
}

static void
bad_handles_are_told_from_stale_ones(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle;

	folder_file(folder, "pub/f", "x");
	handle = handle_of(folder, "f");
	for (uint32_t bit = 0; bit < handle.length * 8; bit++) {
		handle.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_BAD_HANDLE);
		handle.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_leads_to(folder, &handle, "pub/f");
	folder->config.key[0] ^= 1;
	folder_start(folder);
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_BAD_HANDLE);
}

/* Makes pub/d0/d1/.../f, with twenty files in each directory. */
static void
make_deep(const struct folder *folder, char path[PATH_MAX])
{
	size_t length = (size_t)snprintf(path, PATH_MAX, "pub");

	for (int depth = 0; depth < DEEP; depth++) {
		length += (size_t)snprintf(path + length, PATH_MAX - length, "/d%d", depth);
		folder_mkdir(folder, path);
	}
	for (int i = 0; i < 20; i++) {
		char name[PATH_MAX + 16];

		snprintf(name, sizeof(name), "%s/other%d", path, i);
		folder_file(folder, name, "x");
	}
	snprintf(path + length, PATH_MAX - length, "/f");
	folder_file(folder, path, "x");
}

static void
a_deep_handle_survives_a_restart(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle, again;
	char path[PATH_MAX];

	make_deep(folder, path);
	handle = handle_of(folder, path + strlen("pub"));
	folder_start(folder);
	assert_leads_to(folder, &handle, path);
	again = handle_of(folder, path + strlen("pub"));
	assert_memory_equal(&again, &handle, sizeof(handle));
	folder_start(folder);
	again = handle_of(folder, path + strlen("pub"));
	assert_int_equal(again.length, handle.length);
	assert_memory_equal(again.data, handle.data, handle.length);
}

/* The kernel accepts a path of at most 4095 octets. */
static void
a_path_longer_than_the_kernel_takes_is_walked_in_pieces(void **state)
{
	struct folder *folder = *state;
	struct rr_object at = walk_to(folder, ""), next;
	struct rr_vfs_handle handle;
	char name[201];

	memset(name, 'n', 200);
	name[200] = 0;
	for (int i = 0; i < 50; i++) {
		assert_int_equal(mkdirat(at.fd, name, 0755), 0);
		assert_int_equal(rr_tree_lookup(folder->tree, &at, bytes_of(name), &next), RR_VFS_OK);
		rr_object_put(folder->tree, &at);
		at = next;
	}
	rr_tree_handle(folder->tree, &at, &handle);
	rr_object_put(folder->tree, &at);
	rr_nodes_trim(&folder->tree->core->nodes, 0);
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_OK);
	folder_start(folder);
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_OK);
}

/* The descriptor of an object says after a removal whether the name was its last one. */
static void
an_object_is_open_when_its_name_is_removed(void **state)
{
	struct folder *folder = *state;
	struct rr_object directory, object;

	folder_mkdir(folder, "pub/a");
	folder_file(folder, "pub/a/f", "x");
	handle_of(folder, "a/f");
	for (int opens = 0; opens < 2; opens++) {
		rr_nodes_trim(&folder->tree->core->nodes, 0);
		directory = walk_to(folder, "a");
		if (opens)
			handle_of(folder, "a/f");
		rr_tree_peek(folder->tree, &directory, bytes_of("f"), &object);
		assert_non_null(object.node);
		assert_true(object.fd >= 0);
		rr_object_put(folder->tree, &object);
		rr_tree_peek(folder->tree, &directory, bytes_of("g"), &object);
		assert_null(object.node);
		rr_object_put(folder->tree, &directory);
	}
}

static void
hints_spare_the_search_of_everything_else(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle;

	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/z");
	folder_file(folder, "pub/z/f", "x");
	for (int i = 0; i < 200; i++) {
		char path[32];

		snprintf(path, sizeof(path), "pub/a/%d", i);
		folder_mkdir(folder, path);
	}
	handle = handle_of(folder, "z/f");
	folder_start(folder);
	folder->tree->core->search.entries_max = 10;
	assert_leads_to(folder, &handle, "pub/z/f");
	folder_rename(folder, "pub/z/f", "pub/z/g");
	folder_start(folder);
	folder->tree->core->search.entries_max = 10;
	assert_leads_to(folder, &handle, "pub/z/g");
	folder_rename(folder, "pub/z/g", "pub/a/150/f");
	folder_start(folder);
	folder->tree->core->search.entries_max = 10;
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_STALE);
	folder_start(folder);
	assert_leads_to(folder, &handle, "pub/a/150/f");
}

static void
what_was_renamed_before_a_restart_is_found(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle file, directory, below, again;

	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/a/b");
	folder_mkdir(folder, "pub/c");
	folder_file(folder, "pub/a/f", "x");
	folder_file(folder, "pub/a/b/g", "x");
	file = handle_of(folder, "a/f");
	directory = handle_of(folder, "a/b");
	below = handle_of(folder, "a/b/g");
	folder_rename(folder, "pub/a/f", "pub/c/h");
	folder_rename(folder, "pub/a/b", "pub/c/d");
	folder_start(folder);
	assert_leads_to(folder, &file, "pub/c/h");
	assert_leads_to(folder, &below, "pub/c/d/g");
	assert_leads_to(folder, &directory, "pub/c/d");
	/* Clients compare handles, so the handle that they hold stays the object's handle. */
	again = handle_of(folder, "c/h");
	assert_memory_equal(again.data, file.data, file.length);
}

static void
what_is_renamed_by_a_client_keeps_its_handle(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle file, replaced, below, again;

	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/b");
	folder_mkdir(folder, "pub/a/d");
	folder_file(folder, "pub/a/f", "x");
	folder_file(folder, "pub/b/g", "y");
	folder_file(folder, "pub/a/d/h", "z");
	file = handle_of(folder, "a/f");
	replaced = handle_of(folder, "b/g");
	below = handle_of(folder, "a/d/h");
	client_renames(folder, "f", "g");
	client_renames(folder, "d", "e");
	rr_nodes_trim(&folder->tree->core->nodes, 0);
	assert_leads_to(folder, &file, "pub/b/g");
	assert_leads_to(folder, &below, "pub/b/e/h");
	assert_int_equal(status_of(folder, &replaced, NULL), RR_VFS_STALE);
	assert_int_equal(folder->tree->core->search.entries, 0);
	again = handle_of(folder, "b/g");
	assert_memory_equal(again.data, file.data, file.length);
}

static void
what_others_rename_is_found(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle, below;

	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/a/b");
	folder_file(folder, "pub/a/b/f", "x");
	handle = handle_of(folder, "a/b");
	below = handle_of(folder, "a/b/f");
	folder_rename(folder, "pub/a/b", "pub/c");
	rr_nodes_trim(&folder->tree->core->nodes, 0);
	assert_leads_to(folder, &below, "pub/c/f");
	/* A directory is moved into a directory that was below it: the known names would make a circle. */
	folder_rename(folder, "pub/a", "pub/c/a");
	assert_leads_to(folder, &handle, "pub/c");
	handle = handle_of(folder, "c/a");
	assert_leads_to(folder, &handle, "pub/c/a");
}

static void
directories_moved_into_each_other_make_no_circle(void **state)
{
	struct folder *folder = *state;
	struct rr_object upper, lower, object;
	struct rr_vfs_handle handle;

	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/a/b");
	upper = walk_to(folder, "a");
	lower = walk_to(folder, "a/b");
	folder_rename(folder, "pub/a/b", "pub/b");
	folder_rename(folder, "pub/a", "pub/b/a");
	assert_int_equal(rr_tree_lookup(folder->tree, &lower, bytes_of("a"), &object), RR_VFS_OK);
	rr_tree_handle(folder->tree, &object, &handle);
	rr_object_put(folder->tree, &object);
	rr_object_put(folder->tree, &upper);
	rr_object_put(folder->tree, &lower);
	folder->now += RR_TREE_BELIEVED;
	assert_leads_to(folder, &handle, "pub/b/a");
}

static void
many_objects_pass_through_a_small_cache(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle *handles = calloc(MANY, sizeof(*handles));
	char path[32];

	assert_non_null(handles);
	folder->config.open_max = 16;
	folder_start(folder);
	folder->tree->core->nodes.max = BOUND;
	folder_mkdir(folder, "pub/a");
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "pub/a/%d", i);
		folder_file(folder, path, "x");
		handles[i] = handle_of(folder, path + strlen("pub/"));
		assert_in_range(folder->tree->core->nodes.count, 1, BOUND);
		assert_in_range(folder->tree->core->nodes.open_count, 1, 16);
	}
	for (int i = 0; i < MANY; i += 37) {
		snprintf(path, sizeof(path), "pub/a/%d", i);
		assert_leads_to(folder, &handles[i], path);
		assert_in_range(folder->tree->core->nodes.count, 1, BOUND);
		assert_in_range(folder->tree->core->nodes.open_count, 1, 16);
	}
	free(handles);
}

static void
held_objects_stay_while_the_cache_is_full(void **state)
{
	struct folder *folder = *state;
	struct rr_object held[8], root;
	char name[16];

	folder->config.open_max = 4;
	folder_start(folder);
	folder->tree->core->nodes.max = 4;
	root = walk_to(folder, "");
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "pub/%d", i);
		folder_file(folder, name, "x");
		assert_int_equal(
			rr_tree_lookup(folder->tree, &root, bytes_of(name + strlen("pub/")), &held[i]),
			RR_VFS_OK);
	}
	for (int i = 0; i < 8; i++) {
		assert_int_equal(rr_object_stat(&held[i]), RR_VFS_OK);
		snprintf(name, sizeof(name), "pub/%d", i);
		assert_int_equal(held[i].st.stx_ino, folder_inode(folder, name));
		rr_object_put(folder->tree, &held[i]);
	}
	rr_object_put(folder->tree, &root);
	assert_in_range(folder->tree->core->nodes.open_count, 1, 4);
}

/* A client that removes objects whose handles other clients hold must not make the server walk the tree for
 * each handle. */
static void
vain_searches_are_remembered_for_a_while(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle one, two, moved;

	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/b");
	folder_file(folder, "pub/a/1", "x");
	folder_file(folder, "pub/a/2", "x");
	folder_file(folder, "pub/a/moved", "x");
	one = handle_of(folder, "a/1");
	two = handle_of(folder, "a/2");
	moved = handle_of(folder, "a/moved");
	folder_start(folder);
	folder_remove(folder, "pub/a/1");
	folder_rename(folder, "pub/a/2", "2");
	folder_rename(folder, "pub/a/moved", "pub/moved");
	assert_int_equal(status_of(folder, &one, NULL), RR_VFS_STALE);
	assert_leads_to(folder, &moved, "pub/moved");
	assert_int_equal(status_of(folder, &one, NULL), RR_VFS_STALE);
	/* The files are made to look as if they had been made long before. */
	folder->tree->core->search.memories[0].birth += RR_SECOND;
	/* The file is back, but not where the hints lead: the walk did not see it, so it is not searched for
	 * yet. */
	folder_rename(folder, "2", "pub/b/2");
	assert_int_equal(status_of(folder, &two, NULL), RR_VFS_STALE);
	folder->now += 2 * RR_SECOND;
	assert_leads_to(folder, &two, "pub/b/2");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, folder_setup, folder_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bad_handles_are_told_from_stale_ones),
		TEST(a_deep_handle_survives_a_restart),
		TEST(a_path_longer_than_the_kernel_takes_is_walked_in_pieces),
		TEST(an_object_is_open_when_its_name_is_removed),
		TEST(hints_spare_the_search_of_everything_else),
		TEST(what_was_renamed_before_a_restart_is_found),
		TEST(what_is_renamed_by_a_client_keeps_its_handle),
		TEST(what_others_rename_is_found),
		TEST(directories_moved_into_each_other_make_no_circle),
		TEST(many_objects_pass_through_a_small_cache),
		TEST(held_objects_stay_while_the_cache_is_full),
		TEST(vain_searches_are_remembered_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
