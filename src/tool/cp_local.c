/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/cp_side.h"

/* The local end of a copy. Every name is opened relative to its directory's descriptor, and never through a
 * link. */

static int
fail(struct rr_side *side)
{
	side->fatal = errno == ENOSPC || errno == EDQUOT || errno == EROFS || errno == EIO || errno == EMFILE;
	return rr_fail(&side->text, -RPCRDMA_ERR_SYSTEM, "%s", strerror(errno));
}

static int
directory(const struct rr_place *place)
{
	return place ? place->fd : AT_FDCWD;
}

static void
describe(const struct stat *st, struct rr_info *info)
{
	*info = (struct rr_info){
		.kind = S_ISREG(st->st_mode)   ? RR_KIND_FILE
			: S_ISDIR(st->st_mode) ? RR_KIND_DIRECTORY
			: S_ISLNK(st->st_mode) ? RR_KIND_LINK
					       : RR_KIND_OTHER,
		.mode = st->st_mode & 07777,
		.size = (uint64_t)st->st_size,
		.atime = st->st_atim,
		.mtime = st->st_mtim,
	};
}

static int
look_at(struct rr_side *side, int at, const char *name, int flags, struct rr_info *info)
{
	struct stat st;

	info->kind = RR_KIND_NONE;
	if (fstatat(at, name, &st, flags) < 0)
		return errno == ENOENT ? 0 : fail(side);
	describe(&st, info);
	return 0;
}

static int
local_find(struct rr_side *side, const char *path, bool follow, struct rr_info *info)
{
	return look_at(side, AT_FDCWD, path, follow ? 0 : AT_SYMLINK_NOFOLLOW, info);
}

static int
local_look(struct rr_side *side, const struct rr_place *place, const char *name, struct rr_info *info)
{
	return look_at(side, place->fd, name, AT_SYMLINK_NOFOLLOW, info);
}

static int
local_examine(struct rr_side *side, const struct rr_place *place, const struct rr_catalog_entry *entry,
	struct rr_info *info)
{
	return look_at(side, place->fd, entry->name, AT_SYMLINK_NOFOLLOW, info);
}

static int
local_enter(struct rr_side *side, const struct rr_place *place, const char *name, const struct rr_info *info,
	struct rr_place *into)
{
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (place ? O_NOFOLLOW : 0);

	(void)info;
	into->fd = openat(directory(place), name, flags);
	return into->fd < 0 ? fail(side) : 0;
}

static void
local_leave(struct rr_side *side, struct rr_place *place)
{
	(void)side;
	close(place->fd);
}

static int
gather(struct rr_side *side, DIR *stream, struct rr_catalog *catalog)
{
	const struct dirent *entry;

	for (errno = 0; (entry = readdir(stream)); errno = 0) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (rr_catalog_add(catalog, entry->d_name, NULL) < 0)
			errno = ENOMEM;
		if (errno)
			break;
	}
	return errno ? fail(side) : 0;
}

static int
local_list(struct rr_side *side, const struct rr_place *place, struct rr_catalog *catalog)
{
	int fd = openat(place->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result;
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (!stream) {
		result = fail(side);
		if (fd >= 0)
			close(fd);
		return result;
	}
	result = gather(side, stream, catalog);
	closedir(stream);
	return result;
}

static int
local_read_link(struct rr_side *side, const struct rr_place *place, const char *name,
	const struct rr_info *info, char target[RR_NFS_PATH])
{
	ssize_t length = readlinkat(directory(place), name, target, RR_NFS_PATH);

	(void)info;
	if (length == RR_NFS_PATH) {
		errno = ENAMETOOLONG;
		length = -1;
	}
	if (length < 0)
		return fail(side);
	target[length] = '\0';
	return 0;
}

static int
local_make_directory(
	struct rr_side *side, const struct rr_place *place, const char *name, struct rr_place *into)
{
	if (mkdirat(place->fd, name, 0700) < 0)
		return fail(side);
	return local_enter(side, place, name, NULL, into);
}

static int
local_make_link(struct rr_side *side, const struct rr_place *place, const char *name, const char *target)
{
	return symlinkat(target, place->fd, name) < 0 ? fail(side) : 0;
}

/* Mode and times of what fd is. */
static int
set_info(struct rr_side *side, int fd, const struct rr_info *info)
{
	struct timespec times[2] = { info->atime, info->mtime };

	return fchmod(fd, info->mode & RR_MODE_KEPT) < 0 || futimens(fd, times) < 0 ? fail(side) : 0;
}

static int
local_set(struct rr_side *side, const struct rr_place *place, const struct rr_info *info)
{
	return set_info(side, place->fd, info);
}

/* What takes the place of an old file is on disk before the old one goes. */
static int
sync_replacement(const struct rr_place *place, const char *from, const char *to)
{
	int fd, status;

	if (faccessat(place->fd, to, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	fd = openat(place->fd, from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ELOOP || errno == EACCES ? 0
							 : -1; /* a link; or a mode that forbids reading */
	status = fsync(fd);
	close(fd);
	return status;
}

static int
local_rename(struct rr_side *side, const struct rr_place *place, const char *from, const char *to)
{
	if (sync_replacement(place, from, to) < 0)
		return fail(side);
	return renameat(place->fd, from, place->fd, to) < 0 ? fail(side) : 0;
}

static int
local_remove(struct rr_side *side, const struct rr_place *place, const char *name)
{
	return unlinkat(place->fd, name, 0) < 0 ? fail(side) : 0;
}

/* O_NONBLOCK: what was a regular file a moment ago may be a named pipe now. */
static int
local_open(struct rr_side *side, const struct rr_place *place, const char *name, const struct rr_info *info,
	struct rr_file *file)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (place ? O_NOFOLLOW : 0);

	(void)info;
	*file = (struct rr_file){ .side = side, .fd = openat(directory(place), name, flags) };
	return file->fd < 0 ? fail(side) : 0;
}

static int
local_create(struct rr_side *side, const struct rr_place *place, const char *name, uint64_t size,
	struct rr_file *file)
{
	(void)size;
	*file = (struct rr_file){
		.side = side,
		.fd = openat(place->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600),
	};
	return file->fd < 0 ? fail(side) : 0;
}

/* Fewer octets than asked for: the end of the file. */
static int
local_read(struct rr_file *file, struct rr_piece *piece)
{
	for (piece->moved = 0; piece->moved < piece->length;) {
		ssize_t got = pread(file->fd, (uint8_t *)piece->data + piece->moved,
			piece->length - piece->moved, (off_t)(piece->offset + piece->moved));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(file->side);
		if (got == 0)
			break;
		piece->moved += (uint32_t)got;
	}
	return 1;
}

static int
local_write(struct rr_file *file, struct rr_piece *piece)
{
	for (piece->moved = 0; piece->moved < piece->length;) {
		ssize_t put = pwrite(file->fd, (const uint8_t *)piece->data + piece->moved,
			piece->length - piece->moved, (off_t)(piece->offset + piece->moved));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return fail(file->side);
		piece->moved += (uint32_t)put;
	}
	return 1;
}

static void
local_cancel(struct rr_piece *piece)
{
	(void)piece; /* nothing is ever under way */
}

/* When a new file reaches the disk is left to the system, as cp(1) does. */
static int
local_commit(struct rr_file *file, uint64_t *lost)
{
	(void)file;
	*lost = 0;
	return 0;
}

static int
local_finish(struct rr_file *file, const struct rr_info *info)
{
	return set_info(file->side, file->fd, info);
}

static int
local_describe(struct rr_file *file, struct rr_info *info)
{
	struct stat st;

	if (fstat(file->fd, &st) < 0)
		return fail(file->side);
	describe(&st, info);
	return 0;
}

static void
local_close(struct rr_file *file)
{
	close(file->fd);
}

const struct rr_side_ops rr_side_local = {
	.find = local_find,
	.look = local_look,
	.examine = local_examine,
	.enter = local_enter,
	.leave = local_leave,
	.list = local_list,
	.read_link = local_read_link,
	.make_directory = local_make_directory,
	.make_link = local_make_link,
	.set = local_set,
	.rename = local_rename,
	.remove = local_remove,
	.open = local_open,
	.create = local_create,
	.read = local_read,
	.write = local_write,
	.cancel = local_cancel,
	.commit = local_commit,
	.finish = local_finish,
	.describe = local_describe,
	.close = local_close,
};
