/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t
clock_of(void *ctx)
{
	const struct folder *folder = ctx;

	return folder->now;
}

/* Makes the tree. Returns 0, or an error with folder->text. */
static int
start(struct folder *folder)
{
	int error;

	rr_tree_free(folder->tree);
	folder->tree = NULL;
	error = rr_tree_new(&folder->env, &folder->config, &folder->tree, &folder->text);
	for (uint32_t i = 0; !error && i < folder->config.export_count && !folder->with_kernel; i++) {
		struct rr_tree_root *root = &folder->tree->core->roots[i];

		if (root->mount_fd >= 0)
			close(root->mount_fd);
		root->mount_fd = -1;
	}
	return error;
}

void
folder_start(struct folder *folder)
{
	if (start(folder) != 0)
		fail_msg("%s", folder->text.text);
}

static int
make_folder(struct folder *folder)
{
	const char *temporary = getenv("TMPDIR");

	snprintf(folder->path, sizeof(folder->path), "%s/rr-tree-XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(folder->path))
		return -1;
	snprintf(folder->exported, sizeof(folder->exported), "%s/pub", folder->path);
	return chmod(folder->path, 0755) == 0 && mkdir(folder->exported, 0755) == 0 ? 0 : -1;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

int
folder_teardown(void **state)
{
	struct folder *folder = *state;

	rr_tree_free(folder->tree);
	nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
	return 0;
}

/* cmocka runs no teardown where the setup failed, so the setup frees what it made. */
int
folder_setup(void **state)
{
	struct folder *folder = calloc(1, sizeof(*folder));

	if (!folder)
		return -1;
	*state = folder;
	folder->env = rr_env_system;
	folder->env.now = clock_of;
	folder->env.log = NULL;
	folder->env.ctx = folder;
	folder->now = 1000 * RR_SECOND;
	folder->export = (struct rr_tree_export){ .path = folder->exported, .name = "/pub" };
	folder->config = (struct rr_tree_config){ .exports = &folder->export, .export_count = 1 };
	memset(folder->config.key, 7, sizeof(folder->config.key));
	if (make_folder(folder) == 0 && start(folder) == 0)
		return 0;
	print_error("%s: %s\n", folder->path, folder->text.text);
	folder_teardown(state);
	return -1;
}

static const char *
full(const struct folder *folder, const char *path, char *buffer)
{
	assert_in_range(snprintf(buffer, PATH_MAX, "%s/%s", folder->path, path), 1, PATH_MAX - 1);
	return buffer;
}

void
folder_mkdir(const struct folder *folder, const char *path)
{
	char name[PATH_MAX];

	assert_int_equal(mkdir(full(folder, path, name), 0755), 0);
}

void
folder_file(const struct folder *folder, const char *path, const char *content)
{
	char name[PATH_MAX];
	int fd = open(full(folder, path, name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_int_not_equal(fd, -1);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

void
folder_symlink(const struct folder *folder, const char *target, const char *path)
{
	char name[PATH_MAX];

	assert_int_equal(symlink(target, full(folder, path, name)), 0);
}

void
folder_rename(const struct folder *folder, const char *from, const char *to)
{
	char name[PATH_MAX], other[PATH_MAX];

	assert_int_equal(rename(full(folder, from, name), full(folder, to, other)), 0);
}

void
folder_link(const struct folder *folder, const char *from, const char *to)
{
	char name[PATH_MAX], other[PATH_MAX];

	assert_int_equal(link(full(folder, from, name), full(folder, to, other)), 0);
}

void
folder_remove(const struct folder *folder, const char *path)
{
	char name[PATH_MAX];

	assert_int_equal(remove(full(folder, path, name)), 0);
}

void
folder_chmod(const struct folder *folder, const char *path, unsigned mode)
{
	char name[PATH_MAX];

	assert_int_equal(chmod(full(folder, path, name), mode), 0);
}

void
folder_chown(const struct folder *folder, const char *path, unsigned uid, unsigned gid)
{
	char name[PATH_MAX];

	assert_int_equal(chown(full(folder, path, name), uid, gid), 0);
}

uint64_t
folder_inode(const struct folder *folder, const char *path)
{
	char name[PATH_MAX];
	struct stat st;

	assert_int_equal(lstat(full(folder, path, name), &st), 0);
	return st.st_ino;
}

bool
folder_has_births(const struct folder *folder)
{
	struct statx st;

	return statx(AT_FDCWD, folder->path, 0, STATX_BTIME, &st) == 0 && st.stx_mask & STATX_BTIME;
}

struct rpcrdma_bytes
bytes_of(const char *text)
{
	return (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) };
}

struct rr_object
folder_root(struct rr_tree *tree)
{
	struct rr_vfs_handle handle;
	struct rr_object root;

	rr_tree_root(tree, 0, &handle);
	assert_int_equal(rr_tree_resolve(tree, (struct rpcrdma_bytes){ handle.data, handle.length }, &root),
		RR_VFS_OK);
	return root;
}

struct rr_object
walk_to(struct folder *folder, const char *path)
{
	char *copy = strdup(path), *rest = NULL;
	struct rr_object at = folder_root(folder->tree), next;

	for (char *name = strtok_r(copy, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
		assert_int_equal(rr_tree_lookup(folder->tree, &at, bytes_of(name), &next), RR_VFS_OK);
		rr_object_put(folder->tree, &at);
		at = next;
	}
	free(copy);
	return at;
}

struct rr_vfs_handle
handle_of(struct folder *folder, const char *path)
{
	struct rr_object object = walk_to(folder, path);
	struct rr_vfs_handle handle;

	rr_tree_handle(folder->tree, &object, &handle);
	rr_object_put(folder->tree, &object);
	return handle;
}

enum rr_vfs_status
resolve(struct folder *folder, const struct rr_vfs_handle *handle, struct rr_object *object)
{
	return rr_tree_resolve(folder->tree, (struct rpcrdma_bytes){ handle->data, handle->length }, object);
}

enum rr_vfs_status
status_of(struct folder *folder, const struct rr_vfs_handle *handle, uint64_t *inode)
{
	struct rr_object object;
	enum rr_vfs_status status = resolve(folder, handle, &object);

	if (status != RR_VFS_OK)
		return status;
	if (inode)
		*inode = object.st.stx_ino;
	assert_int_equal(rr_object_stat(&object), RR_VFS_OK);
	rr_object_put(folder->tree, &object);
	return RR_VFS_OK;
}

void
assert_leads_to(struct folder *folder, const struct rr_vfs_handle *handle, const char *path)
{
	uint64_t inode = 0;

	assert_int_equal(status_of(folder, handle, &inode), RR_VFS_OK);
	assert_int_equal(inode, folder_inode(folder, path));
}
