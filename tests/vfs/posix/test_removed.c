/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that were removed, or lost a name: their handles, descriptors and nodes. */
#include "folder.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 1000, BOUND = 64, DEEP = 40 };

/* Removes a file as a client's REMOVE does; path is the path of name in directory. */
static void
client_removes(struct folder *folder, const struct rr_object *directory, const char *name, const char *path)
{
	struct rr_object removed;

	rr_tree_peek(folder->tree, directory, bytes_of(name), &removed);
	folder_remove(folder, path);
	rr_tree_removed(folder->tree, &removed, directory, name);
	rr_object_put(folder->tree, &removed);
}

/* Returns the handle of name in the directory of this handle. */
static struct rr_vfs_handle
child_of(struct folder *folder, const struct rr_vfs_handle *directory, const char *name)
{
	struct rr_object above, child;
	struct rr_vfs_handle handle;

	assert_int_equal(resolve(folder, directory, &above), RR_VFS_OK);
	assert_int_equal(rr_tree_lookup(folder->tree, &above, bytes_of(name), &child), RR_VFS_OK);
	rr_tree_handle(folder->tree, &child, &handle);
	rr_object_put(folder->tree, &child);
	rr_object_put(folder->tree, &above);
	return handle;
}

static void
what_was_removed_is_stale(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle by_client, by_other, closed, directory, never;
	struct rr_object root;

	folder_file(folder, "pub/client", "x");
	folder_file(folder, "pub/other", "x");
	folder_file(folder, "pub/closed", "x");
	folder_file(folder, "pub/never", "x");
	folder_mkdir(folder, "pub/directory");
	never = handle_of(folder, "never");
	folder_start(folder);
	by_client = handle_of(folder, "client");
	by_other = handle_of(folder, "other");
	closed = handle_of(folder, "closed");
	directory = handle_of(folder, "directory");
	root = walk_to(folder, "");
	client_removes(folder, &root, "client", "pub/client");
	folder_remove(folder, "pub/other");
	folder_remove(folder, "pub/directory");
	folder_remove(folder, "pub/never");
	rr_object_put(folder->tree, &root);
	assert_int_equal(status_of(folder, &by_client, NULL), RR_VFS_STALE);
	/* No walk through the tree was needed for that. */
	assert_int_equal(folder->tree->core->search.entries, 0);
	assert_int_equal(status_of(folder, &by_other, NULL), RR_VFS_STALE);
	assert_int_equal(status_of(folder, &directory, NULL), RR_VFS_STALE);
	assert_int_equal(status_of(folder, &never, NULL), RR_VFS_STALE);
	folder_remove(folder, "pub/closed");
	rr_nodes_trim(&folder->tree->core->nodes, 0);
	assert_int_equal(status_of(folder, &closed, NULL), RR_VFS_STALE);
	assert_int_equal(status_of(folder, &closed, NULL), RR_VFS_STALE);
}

/* The loss of the last of several names counts, whichever name the tree knew the file by. */
static void
what_lost_its_last_name_is_gone(void **state)
{
	struct folder *folder = *state;
	struct rr_object root = walk_to(folder, "");
	struct rr_vfs_handle handle;
	uint64_t entries;

	folder_file(folder, "pub/x", "x");
	handle = handle_of(folder, "x");
	folder_link(folder, "pub/x", "pub/l");
	client_removes(folder, &root, "x", "pub/x");
	assert_leads_to(folder, &handle, "pub/l");
	entries = folder->tree->core->search.entries;
	client_removes(folder, &root, "l", "pub/l");
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_STALE);
	assert_int_equal(folder->tree->core->search.entries, entries);
	rr_object_put(folder->tree, &root);
}

/* A descriptor is closed for want of room, after another process removed its object: the removal is noted
 * before. */
static void
a_descriptor_tells_of_the_removal_before_it_is_closed(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle;

	folder_file(folder, "pub/f", "x");
	handle = handle_of(folder, "f");
	folder_remove(folder, "pub/f");
	rr_nodes_trim(&folder->tree->core->nodes, 0);
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_STALE);
	assert_int_equal(folder->tree->core->search.entries, 0);
}

/* A directory that left the export must not stay reachable because its children are asked for again and
 * again. */
static void
a_child_is_believed_no_longer_than_its_directory(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle upper, lower;

	folder_mkdir(folder, "pub/e");
	folder_mkdir(folder, "pub/e/c");
	upper = handle_of(folder, "e");
	folder_rename(folder, "pub/e", "outside");
	folder->now += RR_TREE_BELIEVED - 1;
	lower = child_of(folder, &upper, "c");
	assert_int_equal(status_of(folder, &lower, NULL), RR_VFS_OK);
	folder->now += 1;
	assert_int_equal(status_of(folder, &lower, NULL), RR_VFS_STALE);
	assert_int_equal(status_of(folder, &upper, NULL), RR_VFS_STALE);
}

/* Where there are no birth times, a new object with the same inode number counts as the same object. */
static void
what_is_seen_again_is_not_gone(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle handle;
	struct rr_object file;

	folder_file(folder, "pub/f", "x");
	handle = handle_of(folder, "f");
	file = walk_to(folder, "f");
	((struct rr_node *)file.node)->gone = true;
	rr_object_put(folder->tree, &file);
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_STALE);
	handle = handle_of(folder, "f");
	assert_leads_to(folder, &handle, "pub/f");
}

static void
an_inode_that_is_used_again_is_another_object(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle old, new;
	uint64_t inode;
	char path[32] = "";

	if (!folder_has_births(folder)) {
		print_message("skipped: this file system has no birth times\n");
		skip();
	}
	folder_file(folder, "pub/f", "x");
	inode = folder_inode(folder, "pub/f");
	old = handle_of(folder, "f");
	folder_start(folder);
	folder_remove(folder, "pub/f");
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "pub/f%d", i);
		folder_file(folder, path, "y");
		if (folder_inode(folder, path) == inode)
			break;
	}
	if (folder_inode(folder, path) != inode) {
		print_message("skipped: this file system does not use inode numbers again soon\n");
		skip();
	}
	new = handle_of(folder, path + strlen("pub/"));
	assert_int_equal(status_of(folder, &old, NULL), RR_VFS_STALE);
	assert_leads_to(folder, &new, path);
}

static void
either_name_of_a_hard_link_is_good(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle one, two;
	struct rr_object root;

	folder_mkdir(folder, "pub/a");
	folder_file(folder, "pub/f", "x");
	folder_link(folder, "pub/f", "pub/a/g");
	one = handle_of(folder, "f");
	two = handle_of(folder, "a/g");
	assert_memory_equal(two.data, one.data, one.length);
	root = walk_to(folder, "a");
	client_removes(folder, &root, "g", "pub/a/g");
	rr_object_put(folder->tree, &root);
	assert_leads_to(folder, &one, "pub/f");
	folder_link(folder, "pub/f", "pub/a/g");
	folder_remove(folder, "pub/f");
	folder_start(folder);
	assert_leads_to(folder, &one, "pub/a/g");
}

static void
a_name_outside_keeps_no_object_inside(void **state)
{
	struct folder *folder = *state;
	struct rr_object root = walk_to(folder, ""), file;
	struct rr_vfs_handle handle;

	folder_file(folder, "pub/f", "x");
	folder_link(folder, "pub/f", "outside");
	file = walk_to(folder, "f");
	rr_tree_handle(folder->tree, &file, &handle);
	client_removes(folder, &root, "f", "pub/f");
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_STALE);
	rr_object_put(folder->tree, &file);
	rr_object_put(folder->tree, &root);
}

/* An open descriptor would keep the blocks of a removed file. */
static void
descriptors_of_removed_and_of_idle_objects_are_closed(void **state)
{
	struct folder *folder = *state;
	struct rr_nodes *nodes = &folder->tree->core->nodes;
	struct rr_object root = walk_to(folder, "");
	uint32_t before = nodes->open_count;
	struct rr_vfs_handle other;

	folder_file(folder, "pub/f", "x");
	folder_file(folder, "pub/g", "x");
	handle_of(folder, "f");
	folder_file(folder, "pub/h", "x");
	other = handle_of(folder, "g");
	assert_int_equal(nodes->open_count, before + 2);
	client_removes(folder, &root, "f", "pub/f");
	assert_int_equal(nodes->open_count, before + 1);
	rr_tree_tidy(folder->tree);
	assert_int_equal(nodes->open_count, before + 1);
	folder_remove(folder, "pub/g");
	assert_int_equal(status_of(folder, &other, NULL), RR_VFS_STALE);
	assert_int_equal(nodes->open_count, before);
	handle_of(folder, "h");
	folder->now += RR_NODE_IDLE;
	rr_tree_tidy(folder->tree);
	assert_int_equal(nodes->open_count, before);
	rr_object_put(folder->tree, &root);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, folder_setup, folder_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_removed_is_stale),
		TEST(what_lost_its_last_name_is_gone),
		TEST(a_descriptor_tells_of_the_removal_before_it_is_closed),
		TEST(a_child_is_believed_no_longer_than_its_directory),
		TEST(what_is_seen_again_is_not_gone),
		TEST(an_inode_that_is_used_again_is_another_object),
		TEST(either_name_of_a_hard_link_is_good),
		TEST(a_name_outside_keeps_no_object_inside),
		TEST(descriptors_of_removed_and_of_idle_objects_are_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
