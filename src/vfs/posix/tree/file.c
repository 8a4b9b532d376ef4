/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the system calls on files that the other files of the tree use: with the lock released while
 * a call may wait, and without waiting where the tree hurries. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vfs/posix/tree/tree_private.h"

/* Tells whether to repeat a system call that failed with errno: the process had too few descriptors, and this
 * function has now closed some that the tree kept open. Otherwise errno stays as it is. Takes the lock
 * meanwhile where the caller does not have it. */
static bool
file_try_again(struct rr_tree *tree)
{
	bool was_locked = tree->locked, again;
	int error = errno;

	if (error != EMFILE && error != ENFILE)
		return false;
	rr_tree_in(tree, !was_locked);
	again = rr_nodes_trim(&tree->core->nodes, tree->core->nodes.open_count / 2);
	if (!was_locked)
		rr_tree_out(tree);
	errno = error;
	return again;
}

/* Opens path (shorter than PATH_MAX) below directory, never outside of it and never through a symbolic link.
 * While the tree hurries, only paths whose names the kernel has in memory are opened (RESOLVE_CACHED), except
 * in file systems in memory; for any other path, notes in tree->waits that opening it would have waited.
 * Returns a descriptor, or -1 with errno. */
static int
open_piece(struct rr_tree *tree, int directory, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   (tree->hurries && !tree->memory ? RESOLVE_CACHED : 0),
	};
	bool was_locked;
	long fd;

	do {
		was_locked = rr_tree_out(tree);
		fd = syscall(SYS_openat2, directory, path, &how, sizeof(how));
		rr_tree_in(tree, was_locked);
	} while (fd < 0 && file_try_again(tree));
	if (fd < 0 && errno == EAGAIN && tree->hurries)
		tree->waits = true;
	return (int)fd;
}

/* Returns where to cut a path of PATH_MAX or more octets, because the kernel does not accept it as a whole:
 * the length of the longest first part that is shorter than PATH_MAX and ends before a slash, or 0 if there
 * is none. */
static size_t
file_head_length(const char *path)
{
	size_t length = PATH_MAX - 1;

	while (length > 0 && path[length] != '/')
		length--;
	return length;
}

int
rr_tree_beneath(struct rr_tree *tree, int directory, const char *path, uint64_t flags)
{
	int at = directory, fd;

	while (strlen(path) >= PATH_MAX) {
		char head[PATH_MAX];
		size_t length = file_head_length(path);

		memcpy(head, path, length);
		head[length] = 0;
		fd = open_piece(tree, at, head, O_PATH | O_DIRECTORY);
		if (at != directory)
			close(at);
		if (fd < 0)
			return -1;
		at = fd;
		path += length + 1;
	}
	fd = open_piece(tree, at, *path ? path : ".", flags);
	if (at != directory) {
		int error = errno;

		close(at);
		errno = error;
	}
	return fd;
}

int
rr_tree_reopen(struct rr_tree *tree, int fd, int flags)
{
	char link[32];
	bool was_locked;
	int opened;

	/* The object of fd is in the kernel's memory, so opening it again for reading never waits. Opening it
	 * for writing may wait while its file system is frozen. */
	if (flags != O_RDONLY && !rr_tree_may_open(tree))
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	do {
		was_locked = rr_tree_out(tree);
		opened = open(link, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		rr_tree_in(tree, was_locked);
	} while (opened < 0 && file_try_again(tree));
	return opened;
}

/* Tells whether the object that st describes lies in the file system of the root. */
static bool
file_is_in_root(const struct rr_tree_root *root, const struct statx *st)
{
	return ((uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor) == root->device;
}

/* Does statx(2) of the object with this name in the directory of fd, or of fd itself where the name is empty,
 * with these flags (AT_STATX_*), and releases the lock meanwhile. Returns 0 or an errno. */
static int
file_stat_with(struct rr_tree *tree, int fd, const char *name, int flags, struct statx *st)
{
	bool was_locked = rr_tree_out(tree);
	int error;

	flags |= *name ? AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT : AT_EMPTY_PATH;
	error = statx(fd, name, flags, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, st) == 0 ? 0 : errno;

	rr_tree_in(tree, was_locked);
	return error;
}

/* The types of file systems that are known to be local, by their names and by what statfs(2) has for them. */
static const struct {
	const char *name;
	long magic;
} file_local_types[] = {
	{ "ext2", EXT4_SUPER_MAGIC },
	{ "ext3", EXT4_SUPER_MAGIC },
	{ "ext4", EXT4_SUPER_MAGIC },
	{ "xfs", XFS_SUPER_MAGIC },
	{ "btrfs", BTRFS_SUPER_MAGIC },
	{ "f2fs", F2FS_SUPER_MAGIC },
	{ "tmpfs", TMPFS_MAGIC },
};

enum { FILE_LOCAL_TYPES = sizeof(file_local_types) / sizeof(*file_local_types) };

bool
rr_tree_magic_is_local(long magic)
{
	for (size_t i = 0; i < FILE_LOCAL_TYPES; i++)
		if (file_local_types[i].magic == magic)
			return true;
	return false;
}

/* Tells whether a line of /proc/self/mountinfo has a type that is known to be local. The type stands behind
 * " - ", which no field before it contains, because the kernel writes spaces as \040. */
static bool
file_line_is_local(const char *line)
{
	const char *type = strstr(line, " - ");
	size_t length;

	if (!type)
		return false;
	type += strlen(" - ");
	length = strcspn(type, " ");
	for (size_t i = 0; i < FILE_LOCAL_TYPES; i++) {
		const char *name = file_local_types[i].name;

		if (strlen(name) == length && memcmp(name, type, length) == 0)
			return true;
	}
	return false;
}

/* Tells whether the file system that is mounted with this number (stx_mnt_id) is known to be local: asking it
 * for attributes never waits. fstatfs(2) would ask the file system itself, which may hang; the kernel's list
 * of mounts does not. */
static bool
file_mount_is_local(uint64_t mount)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	bool found = false, local = false;
	char *line = NULL;
	size_t size = 0;

	if (!mounts)
		return false;
	while (!found && getline(&line, &size, mounts) > 0) {
		found = strtoull(line, NULL, 10) == mount;
		local = found && file_line_is_local(line);
	}
	free(line);
	fclose(mounts);
	return local;
}

/* Tells whether the file system that st describes is known to be local. */
static bool
file_is_local(struct rr_tree *tree, const struct statx *st)
{
	bool was_locked = rr_tree_out(tree);
	bool local = (st->stx_mask & STATX_MNT_ID) && file_mount_is_local(st->stx_mnt_id);

	rr_tree_in(tree, was_locked);
	return local;
}

/* Tells whether the tree may now use the file system that st describes, which is not that of the root and may
 * hang. Returns 0 if so; EXDEV where the tree is to use local ones only (rr_tree_stay()), and this one is not
 * known to be local; EAGAIN where the tree hurries, or cross() says that the file system is not to be used
 * now. */
static int
file_stat_elsewhere(struct rr_tree *tree, const struct rr_tree_root *root, const struct statx *st)
{
	struct rr_handle_id id;

	if (tree->stays)
		return file_is_local(tree, st) ? 0 : EXDEV;
	if (!rr_tree_may_wait(tree))
		return errno;
	id = rr_tree_id(tree, root, st);
	return !tree->cross || tree->cross(tree->cross_ctx, (uint64_t)id.export << 32 | id.device) ? 0
												   : EAGAIN;
}

/* The kernel is first asked with AT_STATX_DONT_SYNC, which never waits. That is enough for an object in the
 * root's file system if it is local, and shows for any other object which file system it lies in. A file
 * system that is not local may hang when it is asked for attributes. So below a local root, or while the tree
 * hurries, it is asked only where file_stat_elsewhere() allows that. A call to an export whose root itself is
 * not local waits anyway. */
int
rr_tree_stat(struct rr_tree *tree, const struct rr_tree_root *root, int fd, struct statx *st)
{
	int error = 0;

	if (root->local || tree->hurries)
		error = file_stat_with(tree, fd, "", AT_STATX_DONT_SYNC, st);
	if (error)
		return error;
	if (root->local && file_is_in_root(root, st))
		return 0;
	if (root->local || tree->hurries)
		error = file_stat_elsewhere(tree, root, st);
	return error ? error : file_stat_with(tree, fd, "", AT_STATX_SYNC_AS_STAT, st);
}

int
rr_tree_stat_in(struct rr_tree *tree, const struct rr_tree_root *root, int directory, const char *name,
	struct statx *st)
{
	int error = 0;

	if (!root->local)
		return EXDEV;
	/* Looking for a name reads the directory, which may wait for a disk. */
	if (!rr_tree_may_open(tree))
		return EAGAIN;
	error = file_stat_with(tree, directory, name, AT_STATX_DONT_SYNC, st);
	return error || file_is_in_root(root, st) ? error : EXDEV;
}

struct rr_handle_id
rr_tree_id(const struct rr_tree *tree, const struct rr_tree_root *root, const struct statx *st)
{
	uint64_t device = (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
	struct rr_handle_id id = { .export = root->id, .inode = st->stx_ino };

	if (st->stx_mask & STATX_BTIME)
		id.birth = (uint64_t)st->stx_btime.tv_sec * RR_SECOND + st->stx_btime.tv_nsec;
	if (device != root->device)
		id.device = (uint32_t)rr_handle_hash(&tree->core->keys, &device, sizeof(device)) | 1;
	return id;
}
