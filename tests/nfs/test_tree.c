/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <errno.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <string.h>

static void
finds_objects_by_name_and_by_handle(void **state)
{
	struct folder *folder = *state;
	struct rr_handle file, directory;

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
	struct rr_export twice[2] = { folder->export, folder->export };
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

/* Of an object that was found, the inode alone. */
static nfsstat3
take_inode(struct folder *folder, nfsstat3 status, struct rr_object *object, uint64_t *inode)
{
	if (status == NFS3_OK) {
		*inode = object->st.stx_ino;
		rr_object_put(folder->tree, object);
	}
	return status;
}

static nfsstat3
mount_status(struct folder *folder, const char *path, uint64_t *inode)
{
	struct rr_object object;

	return take_inode(folder, rr_tree_mount(folder->tree, bytes_of(path), &object), &object, inode);
}

static void
mounts_exports_and_directories_below_them(void **state)
{
	struct folder *folder = *state;
	uint64_t inode = 0;

	folder_mkdir(folder, "pub/a");
	folder_mkdir(folder, "pub/a/b");
	folder_file(folder, "pub/f", "x");
	folder_symlink(folder, "a", "pub/link");
	assert_int_equal(mount_status(folder, "/pub", &inode), NFS3_OK);
	assert_int_equal(inode, folder_inode(folder, "pub"));
	assert_int_equal(mount_status(folder, "/pub/", &inode), NFS3_OK);
	assert_int_equal(inode, folder_inode(folder, "pub"));
	assert_int_equal(mount_status(folder, "/pub/a//b/", &inode), NFS3_OK);
	assert_int_equal(inode, folder_inode(folder, "pub/a/b"));
	assert_int_equal(mount_status(folder, "/pub/../..", &inode), NFS3_OK);
	assert_int_equal(inode, folder_inode(folder, "pub"));
	assert_int_equal(mount_status(folder, "/pub/c", &inode), NFS3ERR_NOENT);
	assert_int_equal(mount_status(folder, "/pub/f", &inode), NFS3ERR_NOTDIR);
	assert_int_equal(mount_status(folder, "/pub/f/g", &inode), NFS3ERR_NOTDIR);
	assert_int_equal(mount_status(folder, "/pub/link", &inode), NFS3ERR_NOTDIR);
	assert_int_equal(mount_status(folder, "/public", &inode), NFS3ERR_NOENT);
	assert_int_equal(mount_status(folder, "/", &inode), NFS3ERR_NOENT);
	assert_int_equal(mount_status(folder, "", &inode), NFS3ERR_NOENT);
}

static void
takes_the_longest_export_name_and_keeps_exports_apart(void **state)
{
	struct folder *folder = *state;
	struct rr_export exports[2] = { { folder->path, "/" }, folder->export }, swapped[2];
	struct rr_handle handle;
	struct rr_object object;

	folder_file(folder, "pub/f", "x");
	folder->config.exports = exports;
	folder->config.export_count = 2;
	folder_start(folder);
	assert_int_equal(rr_tree_mount(folder->tree, bytes_of("/"), &object), NFS3_OK);
	assert_int_equal(object.st.stx_ino, folder_inode(folder, "."));
	rr_object_put(folder->tree, &object);
	handle = handle_of(folder, "f");
	swapped[0] = exports[1];
	swapped[1] = exports[0];
	folder->config.exports = swapped;
	folder_start(folder);
	assert_int_equal(resolve(folder, &handle, &object), NFS3_OK);
	assert_string_equal(object.export->name, "/pub");
	rr_object_put(folder->tree, &object);
	folder->config.exports = exports;
	folder->config.export_count = 1;
	folder_start(folder);
	assert_int_equal(status_of(folder, &handle, NULL), NFS3ERR_STALE);
}

static nfsstat3
lookup_status(
	struct folder *folder, const struct rr_object *directory, struct rpcrdma_bytes name, uint64_t *inode)
{
	struct rr_object object;

	return take_inode(folder, rr_tree_lookup(folder->tree, directory, name, &object), &object, inode);
}

/* RFC 1813, 3.2: names that are none, "." and ".." */
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
	assert_int_equal(lookup_status(folder, &root, bytes_of(""), &inode), NFS3ERR_ACCES);
	assert_int_equal(lookup_status(folder, &root, bytes_of("a/b"), &inode), NFS3ERR_ACCES);
	assert_int_equal(
		lookup_status(folder, &root, (struct rpcrdma_bytes){ "a\0b", 3 }, &inode), NFS3ERR_ACCES);
	assert_int_equal(lookup_status(folder, &root, bytes_of(longest), &inode), NFS3ERR_NAMETOOLONG);
	assert_int_equal(lookup_status(folder, &root, bytes_of("none"), &inode), NFS3ERR_NOENT);
	assert_int_equal(lookup_status(folder, &root, bytes_of("."), &inode), NFS3_OK);
	assert_int_equal(inode, folder_inode(folder, "pub"));
	assert_int_equal(lookup_status(folder, &root, bytes_of(".."), &inode), NFS3_OK);
	assert_int_equal(inode, folder_inode(folder, "pub"));
	assert_int_equal(lookup_status(folder, &directory, bytes_of(".."), &inode), NFS3_OK);
	assert_int_equal(inode, folder_inode(folder, "pub/a"));
	folder_rename(folder, "pub/a/b", "pub/b");
	assert_int_equal(lookup_status(folder, &directory, bytes_of(".."), &inode), NFS3_OK);
	assert_int_equal(inode, folder_inode(folder, "pub"));
	rr_object_put(folder->tree, &directory);
	directory = walk_to(folder, "f");
	assert_int_equal(lookup_status(folder, &directory, bytes_of("x"), &inode), NFS3ERR_NOTDIR);
	assert_int_equal(lookup_status(folder, &directory, bytes_of("."), &inode), NFS3ERR_NOTDIR);
	rr_object_put(folder->tree, &directory);
	rr_object_put(folder->tree, &root);
}

static void
symbolic_links_are_objects_and_lead_nowhere(void **state)
{
	struct folder *folder = *state;
	struct rr_object link;
	struct rr_handle handle;
	uint64_t inode = 0;
	int fd;

	folder_mkdir(folder, "secret");
	folder_file(folder, "secret/f", "x");
	folder_symlink(folder, "../secret", "pub/out");
	folder_symlink(folder, "/proc/self/root", "pub/magic");
	link = walk_to(folder, "out");
	assert_true(S_ISLNK(link.st.stx_mode));
	assert_int_equal(lookup_status(folder, &link, bytes_of("f"), &inode), NFS3ERR_NOTDIR);
	assert_int_equal(lookup_status(folder, &link, bytes_of(".."), &inode), NFS3ERR_NOTDIR);
	assert_int_equal(rr_tree_open(folder->tree, &link, 0, &fd), NFS3ERR_INVAL);
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

/* A directory that a client knows is moved out and replaced by a symbolic link to where it went. */
static void
what_was_moved_out_is_stale(void **state)
{
	struct folder *folder = *state;
	struct rr_handle file, directory;

	folder_mkdir(folder, "pub/a");
	folder_file(folder, "pub/a/f", "x");
	file = handle_of(folder, "a/f");
	directory = handle_of(folder, "a");
	folder_rename(folder, "pub/a", "a");
	folder_symlink(folder, "../a", "pub/a");
	folder->now += RR_TREE_BELIEVED;
	assert_int_equal(status_of(folder, &file, NULL), NFS3ERR_STALE);
	assert_int_equal(status_of(folder, &directory, NULL), NFS3ERR_STALE);
}

struct scarce {
	struct rr_env env;
	uint32_t left; /* allocations that still work */
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

/* Whether all of it works: a tree is made, an object looked up, and its handle resolved by a search. */
static bool
work(struct folder *folder, const struct scarce *scarce, const struct rr_handle *known)
{
	struct rr_tree *tree;
	struct rr_object root, object;
	bool done;

	if (rr_tree_new(&scarce->env, &folder->config, &tree, &folder->text) != 0)
		return false;
	done = rr_tree_resolve(tree, (struct rpcrdma_bytes){ known->data, known->length }, &object) ==
	       NFS3_OK;
	if (done)
		rr_object_put(tree, &object);
	if (rr_tree_mount(tree, bytes_of("/pub"), &root) == NFS3_OK) {
		if (rr_tree_lookup(tree, &root, bytes_of("a"), &object) == NFS3_OK)
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
	struct rr_handle handle;
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
	assert_int_equal(rr_nfs_status(0), NFS3_OK);
	assert_int_equal(rr_nfs_status(ENOENT), NFS3ERR_NOENT);
	assert_int_equal(rr_nfs_status(ENOTEMPTY), NFS3ERR_NOTEMPTY);
	assert_int_equal(rr_nfs_status(EDQUOT), NFS3ERR_DQUOT);
	assert_int_equal(rr_nfs_status(EMFILE), NFS3ERR_JUKEBOX);
	assert_int_equal(rr_nfs_status(ELOOP), NFS3ERR_IO);
	for (int error = 1; error < 200; error++)
		assert_int_not_equal(rr_nfs_status(error), NFS3_OK);
}

static void
names_become_strings(void **state)
{
	char text[256], longest[256];

	(void)state;
	memset(longest, 'n', 255);
	longest[255] = 0;
	assert_int_equal(rr_tree_name(bytes_of(longest), text), NFS3_OK);
	assert_string_equal(text, longest);
	assert_int_equal(rr_tree_name(bytes_of("."), text), NFS3ERR_INVAL);
	assert_int_equal(rr_tree_name(bytes_of(".."), text), NFS3ERR_INVAL);
	assert_int_equal(rr_tree_name(bytes_of("..."), text), NFS3_OK);
	assert_int_equal(rr_tree_name((struct rpcrdma_bytes){ NULL, 0 }, text), NFS3ERR_ACCES);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, folder_setup, folder_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(finds_objects_by_name_and_by_handle),
		TEST(says_why_a_tree_cannot_be_exported),
		TEST(mounts_exports_and_directories_below_them),
		TEST(takes_the_longest_export_name_and_keeps_exports_apart),
		TEST(refuses_bad_names_and_answers_dots),
		TEST(symbolic_links_are_objects_and_lead_nowhere),
		TEST(paths_do_not_go_up_nor_through_links),
		TEST(what_was_moved_out_is_stale),
		TEST(each_allocation_may_fail),
		cmocka_unit_test(has_a_status_for_each_errno),
		cmocka_unit_test(names_become_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
