/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This file uses kernel handles, open_by_handle_at(2). Where the process may use them and the file system has
 * them, an object is found by its kernel handle without a search, and the kernel also says whether the object
 * is gone.
 *
 * A kernel handle does not say whether its object lies in the export. So the descriptor by which the object
 * was opened is not kept: it only serves to learn the object's path from the kernel. That path is then walked
 * from the export's root like any other path, and must lead to the same object.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vfs/posix/tree/tree_private.h"

/* A kernel handle, with room for its octets. */
union kernel_handle {
	struct file_handle handle;
	uint8_t octets[sizeof(struct file_handle) + RR_HANDLE_KERNEL];
};

bool
rr_tree_kernel_name(
	const struct rr_tree_root *root, int fd, const char *name, struct rr_handle_kernel *kernel)
{
	union kernel_handle named = { .handle.handle_bytes = RR_HANDLE_KERNEL };
	int mount, flags = *name ? 0 : AT_EMPTY_PATH;

	kernel->length = 0;
	if (root->mount_fd < 0 || name_to_handle_at(fd, name, &named.handle, &mount, flags) != 0)
		return false;
	if (named.handle.handle_bytes == 0 || named.handle.handle_bytes > RR_HANDLE_KERNEL ||
		named.handle.handle_type < 0 || named.handle.handle_type > UINT8_MAX)
		return false;
	kernel->type = (uint8_t)named.handle.handle_type;
	kernel->length = (uint8_t)named.handle.handle_bytes;
	memcpy(kernel->octets, named.handle.f_handle, kernel->length);
	return true;
}

/* Opens an object below root by its kernel handle. Returns an O_PATH descriptor, or -1 with errno. */
static int
kernel_open(const struct rr_tree_root *root, const struct rr_handle_kernel *kernel)
{
	union kernel_handle name = { .handle.handle_bytes = kernel->length };

	name.handle.handle_type = kernel->type;
	memcpy(name.handle.f_handle, kernel->octets, kernel->length);
	return open_by_handle_at(root->mount_fd, &name.handle, O_PATH | O_CLOEXEC | O_NOFOLLOW);
}

void
rr_tree_kernel_begin(struct rr_tree_root *root, int fd)
{
	struct rr_handle_kernel kernel;
	int opened = -1;

	root->mount_fd = fd;
	if (rr_tree_kernel_name(root, fd, "", &kernel))
		opened = kernel_open(root, &kernel);
	if (opened >= 0) {
		close(opened);
		return;
	}
	close(fd);
	root->mount_fd = -1;
}

/* Writes the path at which the kernel knows the object of fd, read from /proc/self/fd. Returns false where
 * there is none or it is too long. */
static bool
kernel_path(int fd, char path[PATH_MAX])
{
	char link[32];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_MAX);
	if (length <= 0 || length == PATH_MAX)
		return false;
	path[length] = 0;
	return true;
}

/* Writes the path of the object of fd below the export's root (root->mount_fd) to "below". Returns false
 * where the object does not lie below that root, or one of the two paths is not known. */
static bool
kernel_path_below(const struct rr_tree_root *root, int fd, char below[PATH_MAX])
{
	char upper[PATH_MAX], path[PATH_MAX];
	size_t length;

	if (!kernel_path(root->mount_fd, upper) || !kernel_path(fd, path))
		return false;
	length = strcmp(upper, "/") == 0 ? 0 : strlen(upper);
	if (strncmp(path, upper, length) != 0 || path[length] != '/')
		return false;
	memmove(below, path + length + 1, strlen(path + length + 1) + 1);
	return true;
}

/* Opens the object of node by its kernel handle, and writes its path below the export's root to "below". This
 * is the work of rr_tree_kernel_find(), done without the lock. Returns 0, ESTALE if the object is gone,
 * ENOENT if its path is not known, or an errno after which a later call may succeed. */
static int
kernel_find(struct rr_tree *tree, const struct rr_node *node, const struct rr_handle_kernel *kernel,
	char below[PATH_MAX])
{
	const struct rr_tree_root *root = node->root;
	int fd, error = ENOENT;
	struct statx st;

	if (root->mount_fd < 0 || kernel->length == 0)
		return ENOENT;
	fd = kernel_open(root, kernel);
	if (fd < 0)
		return errno == ESTALE || errno == ENOMEM || errno == EMFILE || errno == ENFILE ? errno
												: ENOENT;
	if (rr_tree_stat(tree, root, fd, &st) == 0) {
		struct rr_handle_id id = rr_tree_id(tree, root, &st);

		if (st.stx_nlink == 0)
			error = ESTALE;
		else if (rr_handle_same(&id, &node->id) && kernel_path_below(root, fd, below))
			error = 0;
	}
	close(fd);
	return error;
}

int
rr_tree_kernel_find(struct rr_tree *tree, const struct rr_node *node, const struct rr_handle_kernel *kernel,
	char below[PATH_MAX])
{
	bool was_locked = rr_tree_out(tree);
	int error = kernel_find(tree, node, kernel, below);

	rr_tree_in(tree, was_locked);
	return error;
}
