/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tool/cp/local.h"

/* The local end of a copy. Every name is opened relative to the descriptor of its directory, and symbolic
 * links are not followed. Most functions are operations of struct rr_side_ops: side.h says what each does
 * and returns. */

int
rr_cp_local_fail(struct rr_side *side)
{
	side->fatal = errno == ENOSPC || errno == EDQUOT || errno == EROFS || errno == EIO || errno == EMFILE;
	side->gone = errno == ENOENT || errno == ESTALE;
	side->unsure = false;
	return rr_fail(&side->text, -RPCRDMA_ERR_SYSTEM, "%s", strerror(errno));
}

int
rr_cp_local_fail_because(struct rr_side *side, const char *why)
{
	side->fatal = side->gone = side->unsure = false;
	return rr_fail(&side->text, -RPCRDMA_ERR_SYSTEM, "%s", why);
}

static enum rr_kind
local_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG: return RR_KIND_FILE;
	case S_IFDIR: return RR_KIND_DIRECTORY;
	case S_IFLNK: return RR_KIND_LINK;
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO: return RR_KIND_STREAM;
	default: return RR_KIND_OTHER;
	}
}

void
rr_cp_local_describe(const struct stat *st, struct rr_info *info)
{
	enum rr_kind kind = local_kind(st->st_mode);

	*info = (struct rr_info){
		.kind = kind,
		.type = kind == RR_KIND_STREAM || kind == RR_KIND_OTHER ? st->st_mode & S_IFMT : 0,
		.major = major(st->st_rdev),
		.minor = minor(st->st_rdev),
		.mode = st->st_mode & 07777,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.links = (uint32_t)st->st_nlink,
		.size = (uint64_t)st->st_size,
		.used = (uint64_t)st->st_blocks * 512,
		.fsid = { .major = st->st_dev },
		.fileid = st->st_ino,
		.atime = st->st_atim,
		.mtime = st->st_mtim,
		.ctime = st->st_ctim,
	};
}

/* Describes the object `name`, relative to the directory descriptor `at`, in *info; the flags are those of
 * fstatat(2). If there is no such object, info->kind becomes RR_KIND_NONE, and that is no error. Returns 0,
 * or a negative number. */
static int
local_look_at(struct rr_side *side, int at, const char *name, int flags, struct rr_info *info)
{
	struct stat st;

	info->kind = RR_KIND_NONE;
	if (fstatat(at, name, &st, flags) < 0)
		return errno == ENOENT ? 0 : rr_cp_local_fail(side);
	rr_cp_local_describe(&st, info);
	rr_cp_local_narrow(side, at, name, info);
	return 0;
}

static int
local_find(struct rr_side *side, const char *path, bool follow, struct rr_info *info)
{
	/* "-" is standard input or output. */
	if (strcmp(path, "-") == 0) {
		*info = (struct rr_info){ .kind = RR_KIND_STREAM };
		return 0;
	}
	return local_look_at(side, AT_FDCWD, path, follow ? 0 : AT_SYMLINK_NOFOLLOW, info);
}

static int
local_look(struct rr_side *side, const struct rr_directory *directory, const char *name, struct rr_info *info)
{
	return local_look_at(side, directory->fd, name, AT_SYMLINK_NOFOLLOW, info);
}

static int
local_examine(struct rr_side *side, const struct rr_directory *directory,
	const struct rr_catalog_entry *entry, struct rr_info *info)
{
	return local_look_at(side, directory->fd, entry->name, AT_SYMLINK_NOFOLLOW, info);
}

static int
local_enter(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info, struct rr_directory *into)
{
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (directory ? O_NOFOLLOW : 0);

	(void)info;
	*into = (struct rr_directory){ .fd = openat(rr_cp_local_at(directory), name, flags) };
	return into->fd < 0 ? rr_cp_local_fail(side) : 0;
}

static void
local_park(struct rr_side *side, struct rr_directory *directory)
{
	struct stat st;

	(void)side;
	if (fstat(directory->fd, &st) < 0)
		return;
	directory->parked = true;
	directory->device = st.st_dev;
	directory->number = st.st_ino;
	close(directory->fd);
	directory->fd = -1;
}

/* Opens a parked directory again, as the directory above `below`. Returns 0, or a negative number. */
static int
local_unpark(struct rr_side *side, struct rr_directory *directory, const struct rr_directory *below)
{
	struct stat st;

	directory->parked = false;
	directory->fd = openat(below->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory->fd >= 0 && fstat(directory->fd, &st) == 0 && st.st_dev == directory->device &&
		st.st_ino == directory->number)
		return 0;
	if (directory->fd >= 0)
		close(directory->fd);
	directory->fd = -1;
	return rr_cp_local_fail_because(
		side, "it was moved or removed meanwhile: the rest of the directory above it is left out");
}

static int
local_leave(struct rr_side *side, struct rr_directory *directory, struct rr_directory *above)
{
	int error = above && above->parked ? local_unpark(side, above, directory) : 0;

	if (error)
		above->lost = true;
	close(directory->fd);
	return error;
}

/* Adds the names of an open directory to the catalog, without their attributes. errno is set to 0 before each
 * readdir(), as readdir() returns NULL both at the end and after an error. If there is no memory for a name,
 * the error is ENOMEM. Returns 0, or a negative number. */
static int
local_gather(struct rr_side *side, DIR *stream, struct rr_catalog *catalog)
{
	const struct dirent *entry;
	int error = 0;

	for (errno = 0; (entry = readdir(stream)); errno = 0) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		error = rr_catalog_add(catalog, entry->d_name, NULL);
		if (!error)
			continue;
		errno = ENOMEM;
		break;
	}
	if (error == -RPCRDMA_ERR_LIMIT)
		return rr_cp_local_fail_because(side, "there are more names than memory for them");
	return errno ? rr_cp_local_fail(side) : 0;
}

/* Adds the entries of the directory to the catalog. Returns 0, or a negative number. */
static int
local_list(struct rr_side *side, const struct rr_directory *directory, struct rr_catalog *catalog)
{
	/* Opens the directory once more, because closedir() closes the descriptor that fdopendir() gets. */
	int fd = openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result;
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (!stream) {
		result = rr_cp_local_fail(side);
		if (fd >= 0)
			close(fd);
		return result;
	}
	result = local_gather(side, stream, catalog);
	closedir(stream);
	return result;
}

static int
local_read_link(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info, char target[RR_NFS_PATH])
{
	ssize_t length = readlinkat(rr_cp_local_at(directory), name, target, RR_NFS_PATH);

	(void)info;
	if (length == RR_NFS_PATH) { /* there may be more, which readlinkat() has cut off */
		errno = ENAMETOOLONG;
		length = -1;
	}
	if (length < 0)
		return rr_cp_local_fail(side);
	target[length] = '\0';
	return 0;
}

static int
local_make_directory(struct rr_side *side, const struct rr_directory *directory, const char *name,
	struct rr_directory *into)
{
	if (mkdirat(directory->fd, name, 0700) < 0)
		return rr_cp_local_fail(side);
	return local_enter(side, directory, name, NULL, into);
}

static int
local_make_link(
	struct rr_side *side, const struct rr_directory *directory, const char *name, const char *target)
{
	int result = symlinkat(target, directory->fd, name);

	if (result < 0 && errno == EEXIST)
		return 1;
	return result < 0 ? rr_cp_local_fail(side) : 0;
}

static int
local_set(struct rr_side *side, const struct rr_directory *directory, const struct rr_info *info)
{
	return rr_cp_local_set(side, directory->fd, info);
}

/* Writes the new file `from` to the disk (fsync(2)) if a file exists under the name `to`, which `from` is
 * going to replace: otherwise a crash could leave neither the old data nor the new data. Does nothing if
 * there is no such file, or if `from` is a link or its mode forbids reading. Returns 0; -1 with errno after
 * an error. */
static int
local_sync_replacement(const struct rr_directory *directory, const char *from, const char *to)
{
	int fd, status;

	if (faccessat(directory->fd, to, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	fd = openat(directory->fd, from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ELOOP || errno == EACCES ? 0
							 : -1; /* a link, or a mode that forbids reading */
	status = fsync(fd);
	close(fd);
	return status;
}

static int
local_rename(struct rr_side *side, const struct rr_directory *directory, const char *from, const char *to)
{
	if (local_sync_replacement(directory, from, to) < 0)
		return rr_cp_local_fail(side);
	return renameat(directory->fd, from, directory->fd, to) < 0 ? rr_cp_local_fail(side) : 0;
}

static int
local_remove(struct rr_side *side, const struct rr_directory *directory, const char *name)
{
	return unlinkat(directory->fd, name, 0) < 0 ? rr_cp_local_fail(side) : 0;
}

static int
local_remove_directory(struct rr_side *side, const struct rr_directory *directory, const char *name)
{
	return unlinkat(directory->fd, name, AT_REMOVEDIR) < 0 ? rr_cp_local_fail(side) : 0;
}

const struct rr_side_ops rr_side_local = {
	.find = local_find,
	.look = local_look,
	.examine = local_examine,
	.enter = local_enter,
	.park = local_park,
	.leave = local_leave,
	.list = local_list,
	.read_link = local_read_link,
	.make_directory = local_make_directory,
	.make_link = local_make_link,
	.set = local_set,
	.make_special = rr_cp_local_make_special,
	.set_link = rr_cp_local_set_link,
	.make_name = rr_cp_local_make_name,
	.list_xattrs = rr_cp_local_list_xattrs,
	.get_xattr = rr_cp_local_get_xattr,
	.set_xattr = rr_cp_local_set_xattr,
	.get_lists = rr_cp_local_get_lists,
	.set_lists = rr_cp_local_set_lists,
	.rename = local_rename,
	.remove = local_remove,
	.remove_directory = local_remove_directory,
	.open = rr_cp_local_open,
	.create = rr_cp_local_create,
	.overwrite = rr_cp_local_overwrite,
	.go_on = rr_cp_local_go_on,
	.extent = rr_cp_local_extent,
	.cancel_extent = rr_cp_local_cancel_extent,
	.read = rr_cp_local_read,
	.write = rr_cp_local_write,
	.cancel = rr_cp_local_cancel,
	.commit = rr_cp_local_commit,
	.finish = rr_cp_local_finish,
	.describe = rr_cp_local_describe_file,
	.close = rr_cp_local_close,
};
