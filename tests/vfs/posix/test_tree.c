/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
finds_objects_by_name_and_by_handle(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle file, directory;

	folder_mkdir(folder, "pub/a");
	folder_file(folder, "pub/a/f", "x");
	file = handle_of(folder, "a/f");
	directory = handle_of(folder, "a");
	assert_leads_to(folder, &file, "pub/a/f");
	assert_leads_to(folder, &directory, "pub/a");
}

static void
says_why_a_tree_cannot_be_exported(void **state)
{
	struct folder *folder = *state;
	struct rr_tree_export twice[2] = { folder->export, folder->export };
	struct rr_tree_config config = folder->config;
	struct rr_tree *tree;
	char path[128];

	folder_file(folder, "file", "x");
	config.exports = twice;
	snprintf(path, sizeof(path), "%s/none", folder->path);
	twice[0].path = path;
	assert_int_equal(rr_tree_new(&folder->env, &config, &tree, &folder->text), -RPCRDMA_ERR_SYSTEM);
	assert_non_null(strstr(folder->text.text, "/none: No such file or directory"));
	snprintf(path, sizeof(path), "%s/file", folder->path);
	assert_int_equal(rr_tree_new(&folder->env, &config, &tree, &folder->text), -RPCRDMA_ERR_SYSTEM);
	assert_non_null(strstr(folder->text.text, "/file: Not a directory"));
	twice[0].path = folder->path;
	twice[0].name = "/pub/";
	config.export_count = 2;
	assert_int_equal(rr_tree_new(&folder->env, &config, &tree, &folder->text), -RPCRDMA_ERR_INVAL);
	twice[0].name = "pub";
	assert_int_equal(rr_tree_new(&folder->env, &config, &tree, &folder->text), -RPCRDMA_ERR_INVAL);
}

/* Descriptor 0 belongs to the program, even where a tree cannot be made. */
static void
a_tree_that_cannot_be_made_closes_no_descriptor_of_others(void **state)
{
	struct folder *folder = *state;
	struct rr_tree_export unnamed = { folder->exported, "pub" };
	struct rr_tree_config config = folder->config;
	struct rr_tree *tree;
	int other = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(other >= 0);
	assert_true(other == STDIN_FILENO || dup2(other, STDIN_FILENO) == STDIN_FILENO);
	config.exports = &unnamed;
	assert_int_equal(rr_tree_new(&folder->env, &config, &tree, &folder->text), -RPCRDMA_ERR_INVAL);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	if (other != STDIN_FILENO)
		close(other);
}

/* Takes only the inode number of an object that was found. */
static enum rr_vfs_status
take_inode(struct folder *folder, enum rr_vfs_status status, struct rr_object *object, uint64_t *inode)
{
	if (status == RR_VFS_OK) {
		*inode = object->st.stx_ino;
		rr_object_put(folder->tree, object);
	}
	return status;
}

static void
keeps_exports_apart(void **state)
{
	struct folder *folder = *state;
	struct rr_tree_export exports[2] = { { folder->path, "/" }, folder->export }, swapped[2];
	struct rr_vfs_handle handle;
	struct rr_object object, file;

	folder_file(folder, "pub/f", "x");
	folder->config.exports = exports;
	folder->config.export_count = 2;
	folder_start(folder);
	object = folder_root(folder->tree);
	assert_int_equal(object.st.stx_ino, folder_inode(folder, "."));
	rr_object_put(folder->tree, &object);
	rr_tree_root(folder->tree, 1, &handle);
	assert_int_equal(resolve(folder, &handle, &object), RR_VFS_OK);
	assert_int_equal(rr_tree_lookup(folder->tree, &object, bytes_of("f"), &file), RR_VFS_OK);
	rr_tree_handle(folder->tree, &file, &handle);
	rr_object_put(folder->tree, &file);
	rr_object_put(folder->tree, &object);
	swapped[0] = exports[1];
	swapped[1] = exports[0];
	folder->config.exports = swapped;
	folder_start(folder);
	assert_int_equal(resolve(folder, &handle, &object), RR_VFS_OK);
	assert_string_equal(object.export->name, "/pub");
	rr_object_put(folder->tree, &object);
	folder->config.exports = exports;
	folder->config.export_count = 1;
	folder_start(folder);
	assert_int_equal(status_of(folder, &handle, NULL), RR_VFS_STALE);
}

static enum rr_vfs_status
lookup_status(
	struct folder *folder, const struct rr_object *directory, struct rpcrdma_bytes name, uint64_t *inode)
{
	struct rr_object object;

	return take_inode(folder, rr_tree_lookup(folder->tree, directory, name, &object), &object, inode);
}

/* RFC 1813, 3.2: invalid names are refused, and "." and ".." are answered. */
static void
refuses_bad_names_and_answers_dots(void **state)
{
	struct folder *folder = *state;
	char longest[257];
	struct rr_object root, directory;
	uint64_t inode = 0;

	memset(longest, 'n', 256);
	longest[256] = 0;
	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/a/b");
	folder_file(folder, "pub/f", "x");
	root = walk_to(folder, "");
	directory = walk_to(folder, "a/b");
	assert_int_equal(lookup_status(folder, &root, bytes_of(""), &inode), RR_VFS_BAD_CHAR);
	assert_int_equal(lookup_status(folder, &root, bytes_of("a/b"), &inode), RR_VFS_BAD_CHAR);
	assert_int_equal(
		lookup_status(folder, &root, (struct rpcrdma_bytes){ "a\0b", 3 }, &inode), RR_VFS_BAD_CHAR);
	assert_int_equal(lookup_status(folder, &root, bytes_of(longest), &inode), RR_VFS_NAME_TOO_LONG);
	assert_int_equal(lookup_status(folder, &root, bytes_of("none"), &inode), RR_VFS_NOENT);
	assert_int_equal(lookup_status(folder, &root, bytes_of("."), &inode), RR_VFS_OK);
	assert_int_equal(inode, folder_inode(folder, "pub"));
	assert_int_equal(lookup_status(folder, &root, bytes_of(".."), &inode), RR_VFS_OK);
	assert_int_equal(inode, folder_inode(folder, "pub"));
	assert_int_equal(lookup_status(folder, &directory, bytes_of(".."), &inode), RR_VFS_OK);
	assert_int_equal(inode, folder_inode(folder, "pub/a"));
	folder_rename(folder, "pub/a/b", "pub/b");
	assert_int_equal(lookup_status(folder, &directory, bytes_of(".."), &inode), RR_VFS_OK);
	assert_int_equal(inode, folder_inode(folder, "pub"));
	rr_object_put(folder->tree, &directory);
	directory = walk_to(folder, "f");
	assert_int_equal(lookup_status(folder, &directory, bytes_of("x"), &inode), RR_VFS_NOTDIR);
	assert_int_equal(lookup_status(folder, &directory, bytes_of("."), &inode), RR_VFS_NOTDIR);
	rr_object_put(folder->tree, &directory);
	rr_object_put(folder->tree, &root);
}

static void
symbolic_links_are_objects_and_lead_nowhere(void **state)
{
	struct folder *folder = *state;
	struct rr_object link;
	struct rr_vfs_handle handle;
	uint64_t inode = 0;
	int fd;

	folder_mkdir(folder, "secret");
	folder_file(folder, "secret/f", "x");
	folder_symlink(folder, "../secret", "pub/out");
	folder_symlink(folder, "/proc/self/root", "pub/magic");
	link = walk_to(folder, "out");
	assert_true(S_ISLNK(link.st.stx_mode));
	assert_int_equal(lookup_status(folder, &link, bytes_of("f"), &inode), RR_VFS_NOTDIR);
	assert_int_equal(lookup_status(folder, &link, bytes_of(".."), &inode), RR_VFS_NOTDIR);
	assert_int_equal(rr_tree_open(folder->tree, &link, 0, &fd), RR_VFS_WRONG_TYPE);
	rr_object_put(folder->tree, &link);
	handle = handle_of(folder, "magic");
	assert_leads_to(folder, &handle, "pub/magic");
}

static void
paths_do_not_go_up_nor_through_links(void **state)
{
	struct folder *folder = *state;
	struct rr_object root = walk_to(folder, "");

	folder_mkdir(folder, "pub/a");
	folder_file(folder, "pub/a/f", "x");
	folder_symlink(folder, "a", "pub/link");
	folder_symlink(folder, "/proc/self/root", "pub/magic");
	assert_int_equal(rr_tree_beneath(folder->tree, root.fd, "link/f", 0), -1);
	assert_int_equal(errno, ELOOP);
	assert_int_equal(rr_tree_beneath(folder->tree, root.fd, "magic/etc", 0), -1);
	assert_int_equal(rr_tree_beneath(folder->tree, root.fd, "a/../..", 0), -1);
	assert_int_equal(errno, EXDEV);
	assert_int_equal(rr_tree_beneath(folder->tree, root.fd, "/", 0), -1);
	assert_int_equal(errno, EXDEV);
	rr_object_put(folder->tree, &root);
}

/* A directory that a client knows is moved out of the export and replaced by a symbolic link to its new
 * place. */
static void
what_was_moved_out_is_stale(void **state)
{
	struct folder *folder = *state;
	struct rr_vfs_handle file, directory;

	folder_mkdir(folder, "pub/a");
	folder_file(folder, "pub/a/f", "x");
	file = handle_of(folder, "a/f");
	directory = handle_of(folder, "a");
	folder_rename(folder, "pub/a", "a");
	folder_symlink(folder, "../a", "pub/a");
	folder->now += RR_TREE_BELIEVED;
	assert_int_equal(status_of(folder, &file, NULL), RR_VFS_STALE);
	assert_int_equal(status_of(folder, &directory, NULL), RR_VFS_STALE);
}

struct scarce {
	struct rr_env env;
	uint32_t left; /* number of allocations that still succeed */
};

static void *
scarce_realloc(void *ctx, void *old, size_t size)
{
	struct scarce *scarce = ctx;

	if (size > 0 && scarce->left-- == 0) {
		scarce->left = 0;
		return NULL;
	}
	return rr_env_system.realloc(NULL, old, size);
}

static uint64_t
scarce_now(void *ctx)
{
	(void)ctx;
	return RR_SECOND;
}

/* Makes a tree, looks up an object, and resolves its handle by a search. Returns whether all of that
 * succeeded. */
static bool
work(struct folder *folder, const struct scarce *scarce, const struct rr_vfs_handle *known)
{
	struct rr_vfs_handle top;
	struct rr_tree *tree;
	struct rr_object root, object;
	bool done;

	if (rr_tree_new(&scarce->env, &folder->config, &tree, &folder->text) != 0)
		return false;
	done = rr_tree_resolve(tree, (struct rpcrdma_bytes){ known->data, known->length }, &object) ==
	       RR_VFS_OK;
	if (done)
		rr_object_put(tree, &object);
	rr_tree_root(tree, 0, &top);
	if (rr_tree_resolve(tree, (struct rpcrdma_bytes){ top.data, top.length }, &root) == RR_VFS_OK) {
		if (rr_tree_lookup(tree, &root, bytes_of("a"), &object) == RR_VFS_OK)
			rr_object_put(tree, &object);
		else
			done = false;
		rr_object_put(tree, &root);
	}
	rr_tree_free(tree);
	return done;
}

static void
each_allocation_may_fail(void **state)
{
	struct folder *folder = *state;
	struct scarce scarce = { .env = rr_env_system };
	struct rr_vfs_handle handle;
	bool done = false;
	uint32_t count;

	scarce.env.ctx = &scarce;
	scarce.env.realloc = scarce_realloc;
	scarce.env.now = scarce_now;
	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/b");
	folder_file(folder, "pub/a/f", "x");
	handle = handle_of(folder, "a/f");
	folder_rename(folder, "pub/a/f", "pub/b/f");
	for (count = 0; !done && count < 1000; count++) {
		scarce.left = count;
		done = work(folder, &scarce, &handle);
	}
	assert_true(done);
	assert_in_range(count, 10, 100);
}

static void
has_a_status_for_each_errno(void **state)
{
	(void)state;
	assert_int_equal(rr_vfs_errno(0), RR_VFS_OK);
	assert_int_equal(rr_vfs_errno(ENOENT), RR_VFS_NOENT);
	assert_int_equal(rr_vfs_errno(ENOTEMPTY), RR_VFS_NOTEMPTY);
	assert_int_equal(rr_vfs_errno(EDQUOT), RR_VFS_DQUOT);
	assert_int_equal(rr_vfs_errno(EMFILE), RR_VFS_BUSY);
	assert_int_equal(rr_vfs_errno(ELOOP), RR_VFS_IO);
	for (int error = 1; error < 200; error++)
		assert_int_not_equal(rr_vfs_errno(error), RR_VFS_OK);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, folder_setup, folder_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(finds_objects_by_name_and_by_handle),
		TEST(says_why_a_tree_cannot_be_exported),
		TEST(a_tree_that_cannot_be_made_closes_no_descriptor_of_others),
		TEST(keeps_exports_apart),
		TEST(refuses_bad_names_and_answers_dots),
		TEST(symbolic_links_are_objects_and_lead_nowhere),
		TEST(paths_do_not_go_up_nor_through_links),
		TEST(what_was_moved_out_is_stale),
		TEST(each_allocation_may_fail),
		cmocka_unit_test(has_a_status_for_each_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
