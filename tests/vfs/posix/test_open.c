/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const uint32_t groups_of_alice[] = { 2001 }, groups_of_bob[] = { 2002, 2003 };
static const struct rr_vfs_caller alice = { 1001, 2001, 1, groups_of_alice, false };
static const struct rr_vfs_caller bob = { 1002, 2002, 2, groups_of_bob, false };
static const struct rr_vfs_caller root = { 0, 0, 0, NULL, false };
static const struct rr_vfs_caller nobody = { RR_VFS_NOBODY, RR_VFS_NOBODY, 0, NULL, false };

static void
skip_unless_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("skipped: only root can act for other users\n");
	skip();
}

static enum rr_vfs_status
open_as(struct folder *folder, const struct rr_vfs_caller *caller, struct rr_object *object, int access)
{
	enum rr_vfs_status status;
	int fd;

	assert_int_equal(rr_tree_as(folder->tree, caller), 0);
	status = rr_tree_open(folder->tree, object, access, &fd);
	rr_tree_as_self(folder->tree);
	return status;
}

static void
reads_and_writes_through_a_descriptor_that_stays(void **state)
{
	struct folder *folder = *state;
	struct rr_object file;
	int fd, again;
	char data[8];

	folder_file(folder, "pub/f", "abc");
	file = walk_to(folder, "f");
	assert_int_equal(rr_tree_open(folder->tree, &file, O_RDONLY, &fd), RR_VFS_OK);
	assert_int_equal(pread(fd, data, sizeof(data), 0), 3);
	assert_memory_equal(data, "abc", 3);
	assert_int_equal(rr_tree_open(folder->tree, &file, O_RDONLY, &again), RR_VFS_OK);
	assert_int_equal(again, fd);
	assert_int_equal(rr_tree_open(folder->tree, &file, O_WRONLY, &fd), RR_VFS_OK);
	assert_int_equal(pwrite(fd, "d", 1, 3), 1);
	assert_int_equal(rr_tree_open(folder->tree, &file, O_RDWR, &again), RR_VFS_OK);
	assert_int_equal(again, fd);
	assert_int_equal(pread(again, data, sizeof(data), 0), 4);
	rr_object_put(folder->tree, &file);
}

/* Returns the errno with which the file, which is no program, is not executed: ETXTBSY while it is open for
 * writing, else ENOEXEC. */
static int
execute(const struct folder *folder, const char *path)
{
	char whole[PATH_MAX];
	char *const none[] = { NULL };

	snprintf(whole, sizeof(whole), "%s/%s", folder->path, path);
	assert_int_equal(execve(whole, none, none), -1);
	return errno;
}

/* Opens the data of the file with this access, and gives it back. Returns the descriptor. */
static int
open_once(struct folder *folder, const char *path, int access)
{
	struct rr_object file = walk_to(folder, path);
	int fd;

	assert_int_equal(rr_tree_open(folder->tree, &file, access, &fd), RR_VFS_OK);
	rr_object_put(folder->tree, &file);
	return fd;
}

/* A program that is open for writing cannot be executed. */
static void
a_descriptor_for_writing_goes_soon_after_the_last_write(void **state)
{
	struct folder *folder = *state;
	struct rr_nodes *nodes = &folder->tree->core->nodes;
	struct rr_object file;
	int fd, reading;

	folder_file(folder, "pub/f", "no program");
	folder_file(folder, "pub/g", "no program");
	folder_chmod(folder, "pub/f", 0755);
	reading = open_once(folder, "f", O_RDONLY);
	open_once(folder, "g", O_WRONLY);
	fd = open_once(folder, "f", O_WRONLY);
	assert_int_equal(execute(folder, "pub/f"), ETXTBSY);
	/* A stream of writes does not open the file again and again. */
	for (int i = 0; i < 10; i++) {
		folder->now += RR_NODE_WRITE_IDLE - 1;
		rr_tree_tidy(folder->tree);
		assert_int_equal(open_once(folder, "f", O_WRONLY), fd);
	}
	/* Reading is no use of the descriptor for writing, and does not keep it; g was not used meanwhile. */
	folder->now += RR_NODE_WRITE_IDLE - 1;
	open_once(folder, "f", O_RDONLY);
	rr_tree_tidy(folder->tree);
	assert_int_equal(nodes->writing_count, 1);
	file = walk_to(folder, "f");
	folder->now++;
	rr_tree_tidy(folder->tree);
	assert_int_equal(execute(folder, "pub/f"), ETXTBSY); /* a call may still use the descriptor */
	rr_object_put(folder->tree, &file);
	rr_tree_tidy(folder->tree);
	assert_int_equal(execute(folder, "pub/f"), ENOEXEC);
	assert_int_equal(nodes->writing_count, 0);
	assert_int_equal(open_once(folder, "f", O_RDONLY), reading);
}

static void
directories_are_only_read_and_other_types_not_opened(void **state)
{
	struct folder *folder = *state;
	struct rr_object object = walk_to(folder, "");
	int fd;

	assert_int_equal(rr_tree_open(folder->tree, &object, O_RDONLY, &fd), RR_VFS_OK);
	assert_int_equal(rr_tree_open(folder->tree, &object, O_RDWR, &fd), RR_VFS_ISDIR);
	assert_int_equal(mkfifoat(object.fd, "fifo", 0600), 0);
	rr_object_put(folder->tree, &object);
	object = walk_to(folder, "fifo");
	assert_int_equal(rr_tree_open(folder->tree, &object, O_RDONLY, &fd), RR_VFS_WRONG_TYPE);
	rr_object_put(folder->tree, &object);
}

static void
a_read_only_tree_is_not_written(void **state)
{
	struct folder *folder = *state;
	struct rr_object file;
	int fd;

	folder->config.read_only = true;
	folder_start(folder);
	folder_file(folder, "pub/f", "abc");
	file = walk_to(folder, "f");
	assert_int_equal(rr_tree_open(folder->tree, &file, O_WRONLY, &fd), RR_VFS_ROFS);
	assert_int_equal(rr_tree_open(folder->tree, &file, O_RDWR, &fd), RR_VFS_ROFS);
	assert_int_equal(rr_tree_open(folder->tree, &file, O_RDONLY, &fd), RR_VFS_OK);
	rr_object_put(folder->tree, &file);
}

static void
each_caller_is_checked_also_where_the_descriptor_is_open(void **state)
{
	struct folder *folder = *state;
	struct rr_object file;

	skip_unless_root();
	folder_file(folder, "pub/f", "abc");
	folder_chown(folder, "pub/f", 1001, 2003);
	folder_chmod(folder, "pub/f", 0640);
	file = walk_to(folder, "f");
	for (int round = 0; round < 2; round++) {
		assert_int_equal(open_as(folder, &nobody, &file, O_RDONLY), RR_VFS_ACCESS);
		assert_int_equal(open_as(folder, &bob, &file, O_WRONLY), RR_VFS_ACCESS);
		assert_int_equal(open_as(folder, &bob, &file, O_RDWR), RR_VFS_ACCESS);
		assert_int_equal(open_as(folder, &bob, &file, O_RDONLY), RR_VFS_OK);
		assert_int_equal(open_as(folder, &alice, &file, O_RDWR), RR_VFS_OK);
	}
	rr_object_put(folder->tree, &file);
}

static void
root_may_everything(void **state)
{
	struct folder *folder = *state;
	struct rr_object file;

	skip_unless_root();
	folder_file(folder, "pub/f", "abc");
	folder_chown(folder, "pub/f", 1001, 2001);
	folder_chmod(folder, "pub/f", 0);
	file = walk_to(folder, "f");
	assert_int_equal(open_as(folder, &root, &file, O_RDWR), RR_VFS_OK);
	assert_int_equal(open_as(folder, &bob, &file, O_RDONLY), RR_VFS_ACCESS);
	rr_object_put(folder->tree, &file);
}

/* RFC 1813, 4.4: "the server's permission checking algorithm should allow the owner of a file to access it
 * regardless of the permission setting." */
static void
the_owner_may_whatever_the_mode_says(void **state)
{
	struct folder *folder = *state;
	struct rr_object file;

	skip_unless_root();
	folder_file(folder, "pub/f", "abc");
	folder_chown(folder, "pub/f", 1001, 2001);
	folder_chmod(folder, "pub/f", 0);
	file = walk_to(folder, "f");
	assert_int_equal(open_as(folder, &alice, &file, O_RDONLY), RR_VFS_OK);
	assert_int_equal(open_as(folder, &alice, &file, O_WRONLY), RR_VFS_OK);
	assert_int_equal(open_as(folder, &bob, &file, O_RDONLY), RR_VFS_ACCESS);
	rr_object_put(folder->tree, &file);
}

static void
an_owned_directory_is_read_as_its_mode_says(void **state)
{
	struct folder *folder = *state;
	struct rr_object directory;

	skip_unless_root();
	folder_mkdir(folder, "pub/d");
	folder_chown(folder, "pub/d", 1001, 2001);
	directory = walk_to(folder, "d");
	assert_int_equal(open_as(folder, &alice, &directory, O_RDONLY), RR_VFS_OK);
	folder_chmod(folder, "pub/d", 0300);
	assert_int_equal(open_as(folder, &alice, &directory, O_RDONLY), RR_VFS_ACCESS);
	rr_object_put(folder->tree, &directory);
}

static void
a_file_that_may_be_written_but_not_read_is_written(void **state)
{
	struct folder *folder = *state;
	struct rr_object file;
	char data[4];
	int fd;

	skip_unless_root();
	folder_file(folder, "pub/f", "abc");
	folder_chown(folder, "pub/f", 1001, 2001);
	folder_chmod(folder, "pub/f", 0622);
	file = walk_to(folder, "f");
	assert_int_equal(open_as(folder, &bob, &file, O_WRONLY), RR_VFS_OK);
	assert_int_equal(open_as(folder, &bob, &file, O_RDONLY), RR_VFS_ACCESS);
	/* The descriptor that is open for bob can only write: alice, who may read, gets another descriptor.
	 */
	assert_int_equal(rr_tree_as(folder->tree, &alice), 0);
	assert_int_equal(rr_tree_open(folder->tree, &file, O_RDONLY, &fd), RR_VFS_OK);
	assert_int_equal(pread(fd, data, sizeof(data), 0), 3);
	assert_int_equal(rr_tree_open(folder->tree, &file, O_RDWR, &fd), RR_VFS_OK);
	assert_int_equal(pread(fd, data, sizeof(data), 0), 3);
	rr_tree_as_self(folder->tree);
	rr_object_put(folder->tree, &file);
}

/* RFC 1813, 4.4: "the server allows reading of files if the uid given in the call has either execute or read
 * permission on the file" */
static void
what_may_be_executed_may_be_read(void **state)
{
	struct folder *folder = *state;
	struct rr_object file, directory;
	int fd;

	skip_unless_root();
	folder_file(folder, "pub/f", "abc");
	folder_chmod(folder, "pub/f", 0711);
	folder_mkdir(folder, "pub/d");
	folder_chmod(folder, "pub/d", 0711);
	file = walk_to(folder, "f");
	directory = walk_to(folder, "d");
	for (int round = 0; round < 2; round++) {
		assert_int_equal(open_as(folder, &bob, &file, O_RDONLY), RR_VFS_OK);
		assert_int_equal(open_as(folder, &bob, &file, O_WRONLY), RR_VFS_ACCESS);
		assert_int_equal(open_as(folder, &bob, &directory, O_RDONLY), RR_VFS_ACCESS);
		assert_int_equal(rr_tree_open(folder->tree, &directory, O_RDONLY, &fd), RR_VFS_OK);
	}
	rr_object_put(folder->tree, &file);
	rr_object_put(folder->tree, &directory);
}

static void
lookups_need_the_callers_permission_to_search(void **state)
{
	struct folder *folder = *state;
	struct rr_object directory, object;
	struct rr_vfs_handle handle;
	uint64_t inode = 0, expected;

	skip_unless_root();
	folder_mkdir(folder, "pub/d");
	folder_file(folder, "pub/d/f", "abc");
	handle = handle_of(folder, "d/f");
	expected = folder_inode(folder, "pub/d/f");
	folder_chown(folder, "pub/d", 1001, 2001);
	folder_chmod(folder, "pub/d", 0700);
	directory = walk_to(folder, "d");
	assert_int_equal(rr_tree_as(folder->tree, &bob), 0);
	assert_int_equal(rr_tree_lookup(folder->tree, &directory, bytes_of("f"), &object), RR_VFS_ACCESS);
	assert_int_equal(rr_tree_lookup(folder->tree, &directory, bytes_of(".."), &object), RR_VFS_ACCESS);
	/* The handle still leads to the object, also where the path has to be walked; and the caller is still
	 * bob. */
	rr_nodes_trim(&folder->tree->core->nodes, 0);
	assert_int_equal(status_of(folder, &handle, &inode), RR_VFS_OK);
	assert_int_equal(inode, expected);
	assert_int_equal(rr_tree_lookup(folder->tree, &directory, bytes_of("f"), &object), RR_VFS_ACCESS);
	assert_int_equal(rr_tree_as(folder->tree, &alice), 0);
	assert_int_equal(rr_tree_lookup(folder->tree, &directory, bytes_of("f"), &object), RR_VFS_OK);
	rr_tree_as_self(folder->tree);
	rr_object_put(folder->tree, &object);
	rr_object_put(folder->tree, &directory);
}

/* A client does so when it creates a file of mode 0444 and then writes it. */
static void
an_ordinary_user_may_too_with_its_own_files(void **state)
{
	struct folder *folder = *state;
	struct rr_object file;
	int fd;

	if (geteuid() == 0) {
		print_message("skipped: of an ordinary user\n");
		skip();
	}
	folder_file(folder, "pub/f", "abc");
	folder_chmod(folder, "pub/f", 0444);
	file = walk_to(folder, "f");
	assert_int_equal(open_as(folder, &alice, &file, O_WRONLY), RR_VFS_OK);
	assert_int_equal(rr_tree_open(folder->tree, &file, O_WRONLY, &fd), RR_VFS_OK);
	assert_int_equal(pwrite(fd, "d", 1, 3), 1);
	assert_int_equal(rr_object_stat(&file), RR_VFS_OK);
	assert_int_equal(file.st.stx_mode & 07777, 0444);
	rr_object_put(folder->tree, &file);
}

/* The server opens the file as itself, and then cannot act as the caller again. */
static void
nothing_is_opened_for_a_caller_whose_identity_is_lost(void **state)
{
	struct folder *folder = *state;
	struct rr_object file;
	enum rr_vfs_status status;
	int fd = -1;

	skip_unless_root();
	folder_file(folder, "pub/f", "abc");
	folder_chmod(folder, "pub/f", 0111);
	file = walk_to(folder, "f");
	assert_int_equal(rr_tree_as(folder->tree, &alice), 0);
	folder->tree->identity.uid = UINT32_MAX; /* no thread can have this number */
	status = rr_tree_open(folder->tree, &file, O_RDONLY, &fd);
	rr_tree_as_self(folder->tree);
	assert_int_equal(status, RR_VFS_IO);
	assert_int_equal(fd, -1);
	rr_object_put(folder->tree, &file);
}

/* The tree closes descriptors that it only keeps for later, and opens the file all the same. */
static void
a_file_is_opened_where_the_process_has_no_descriptor_left(void **state)
{
	enum { LIMIT = 64 };
	struct folder *folder = *state;
	struct rr_object file, other;
	struct rlimit limit, small;
	int taken[LIMIT], count = 0, apart, fd;

	folder_file(folder, "pub/f", "abc");
	file = walk_to(folder, "f");
	for (int i = 0; i < 8; i++) {
		char path[8];

		snprintf(path, sizeof(path), "pub/%d", i);
		folder_file(folder, path, "");
		other = walk_to(folder, path + strlen("pub/"));
		rr_object_put(folder->tree, &other);
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	small = (struct rlimit){ LIMIT, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
	while (count < LIMIT && (taken[count] = dup(file.fd)) >= 0)
		count++;
	assert_int_equal(rr_tree_open_apart(folder->tree, &file, O_RDONLY, &apart), RR_VFS_OK);
	close(apart);
	while (count < LIMIT && (taken[count] = dup(file.fd)) >= 0)
		count++;
	assert_int_equal(rr_tree_open(folder->tree, &file, O_RDONLY, &fd), RR_VFS_OK);
	while (count > 0)
		close(taken[--count]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	rr_object_put(folder->tree, &file);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, folder_setup, folder_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_and_writes_through_a_descriptor_that_stays),
		TEST(a_descriptor_for_writing_goes_soon_after_the_last_write),
		TEST(directories_are_only_read_and_other_types_not_opened),
		TEST(a_read_only_tree_is_not_written),
		TEST(each_caller_is_checked_also_where_the_descriptor_is_open),
		TEST(root_may_everything),
		TEST(the_owner_may_whatever_the_mode_says),
		TEST(an_owned_directory_is_read_as_its_mode_says),
		TEST(a_file_that_may_be_written_but_not_read_is_written),
		TEST(what_may_be_executed_may_be_read),
		TEST(nothing_is_opened_for_a_caller_whose_identity_is_lost),
		TEST(a_file_is_opened_where_the_process_has_no_descriptor_left),
		TEST(lookups_need_the_callers_permission_to_search),
		TEST(an_ordinary_user_may_too_with_its_own_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
