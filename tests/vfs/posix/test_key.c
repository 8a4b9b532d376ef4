/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <dirent.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *
path_in(const struct folder *folder, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	return path;
}

static void
is_made_once_and_then_stays(void **state)
{
	struct folder *folder = *state;
	uint8_t key[RR_VFS_KEY] = { 0 }, again[RR_VFS_KEY] = { 0 }, zero[RR_VFS_KEY] = { 0 };
	const char *path = path_in(folder, "new/state/key");
	struct dirent **entries;
	struct stat st;

	assert_int_equal(rr_vfs_key(&folder->env, path, key, &folder->text), 0);
	assert_memory_not_equal(key, zero, sizeof(key));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(rr_vfs_key(&folder->env, path, again, &folder->text), 0);
	assert_memory_equal(again, key, sizeof(key));
	assert_int_equal(stat(path_in(folder, "new/state"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	/* No temporary file is left: there are ".", ".." and the key. */
	assert_int_equal(scandir(path_in(folder, "new/state"), &entries, NULL, alphasort), 3);
	for (int i = 0; i < 3; i++)
		free(entries[i]);
	free(entries);
}

static void
assert_refused(struct folder *folder, const char *path, const char *why)
{
	uint8_t key[RR_VFS_KEY];

	assert_int_equal(rr_vfs_key(&folder->env, path, key, &folder->text), -RPCRDMA_ERR_SYSTEM);
	assert_non_null(strstr(folder->text.text, path));
	assert_non_null(strstr(folder->text.text, why));
}

static void
is_refused_with_a_reason_where_it_is_no_secret_or_no_key(void **state)
{
	struct folder *folder = *state;

	folder_file(folder, "short", "0123456789012345678901234567890");
	folder_chmod(folder, "short", 0600);
	assert_refused(folder, path_in(folder, "short"), "32 octets");
	folder_file(folder, "open", "01234567890123456789012345678901");
	folder_chmod(folder, "open", 0640);
	assert_refused(folder, path_in(folder, "open"), "mode 0640");
	folder_mkdir(folder, "directory");
	assert_refused(folder, path_in(folder, "directory"), "32 octets");
	folder_symlink(folder, "short", "link");
	assert_refused(folder, path_in(folder, "link"), "symbolic links");
	assert_refused(folder, path_in(folder, "short/key"), "Not a directory");
}

static void
is_refused_where_it_belongs_to_somebody_else(void **state)
{
	struct folder *folder = *state;

	if (geteuid() != 0) {
		print_message("skipped: only root can give files away\n");
		skip();
	}
	folder_file(folder, "key", "01234567890123456789012345678901");
	folder_chmod(folder, "key", 0600);
	folder_chown(folder, "key", 1001, 2001);
	assert_refused(folder, path_in(folder, "key"), "user 1001");
}

static void
has_a_place_of_its_own_for_an_ordinary_user(void **state)
{
	struct folder *folder = *state;
	uint8_t key[RR_VFS_KEY];

	if (geteuid() == 0) {
		print_message("skipped: root's key is in /var/lib\n");
		skip();
	}
	setenv("XDG_STATE_HOME", folder->path, 1);
	assert_int_equal(rr_vfs_key(&folder->env, NULL, key, &folder->text), 0);
	assert_int_equal(access(path_in(folder, "rpcrdma/handle-key"), R_OK), 0);
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", folder->path, 1);
	assert_int_equal(rr_vfs_key(&folder->env, NULL, key, &folder->text), 0);
	assert_int_equal(access(path_in(folder, ".local/state/rpcrdma/handle-key"), R_OK), 0);
	unsetenv("HOME");
	assert_int_equal(rr_vfs_key(&folder->env, NULL, key, &folder->text), -RPCRDMA_ERR_SYSTEM);
	assert_non_null(strstr(folder->text.text, "HOME"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, folder_setup, folder_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_made_once_and_then_stays),
		TEST(is_refused_with_a_reason_where_it_is_no_secret_or_no_key),
		TEST(is_refused_where_it_belongs_to_somebody_else),
		TEST(has_a_place_of_its_own_for_an_ordinary_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
