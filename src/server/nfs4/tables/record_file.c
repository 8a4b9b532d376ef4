/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the records of clients, in their directory on the disk. */
#include "server/nfs4/tables/record_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rpcrdma/error.h>

#include "base/crc32c.h"
#include "base/endian.h"
#include "base/log_limit.h"
#include "base/whole.h"

struct rr_nfs4_record_dir {
	const struct rr_env *env;
	int fd;
	struct rr_log_limit read_log, change_log;
};

/* The format of a record's file: FILE_MARK, flavor, user, lease period and length of the owner, each in four
 * octets with the most significant octet first; the owner; and the CRC-32C of all these. If the principal has
 * a name, the mark is FILE_MARK_NAMED, and the name stands between the owner and the CRC. The flavor
 * AUTH_NONE names no user; any other flavor does. */
enum {
	FILE_MARK = 0x72723402,
	FILE_MARK_NAMED = 0x72723403,
	FILE_HEAD = 20,
	FILE_MAX = FILE_HEAD + NFS4_OPAQUE_LIMIT + RR_CALLER_PRINCIPAL + 4,
	FILE_NAME = 16, /* digits */
	FILE_NAME_MAX = FILE_NAME + sizeof(".new")
};

/* The name of the file with the server's identity, beside the records. */
#define FILE_IDENTITY "identity"

/* Stores the name of a record's file in `text`: `name` as 16 hexadecimal digits, and `end` behind them. */
static void
file_name(uint64_t name, const char *end, char text[FILE_NAME_MAX])
{
	snprintf(text, FILE_NAME_MAX, "%016llx%s", (unsigned long long)name, end);
}

/* Makes the directory and each directory above it that is missing, like mkdir -p. Returns 0, or an error with
 * its text. */
static int
record_make_directory(const char *path, struct rr_text *text)
{
	char part[PATH_MAX];
	size_t length = strlen(path);

	if (length >= sizeof(part))
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%.100s...: %s", path, strerror(ENAMETOOLONG));
	for (size_t i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i] != 0)
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: cannot make this directory: %s", part,
				strerror(errno));
	}
	return 0;
}

int
rr_nfs4_record_dir_open(
	const struct rr_env *env, const char *path, struct rr_nfs4_record_dir **made, struct rr_text *text)
{
	struct rr_nfs4_record_dir *dir;
	int error = record_make_directory(path, text), fd;

	if (error < 0)
		return error;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		error = rr_fail(text, -RPCRDMA_ERR_SYSTEM,
			"%s: another server keeps the records of its clients here", path);
		close(fd);
		return error;
	}
	dir = rr_alloc(env, sizeof(*dir));
	if (!dir) {
		close(fd);
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for the records of clients");
	}
	dir->env = env;
	dir->fd = fd;
	dir->read_log = (struct rr_log_limit){ .level = RR_LOG_WARNING,
		.kind = "files that are no records of clients" };
	dir->change_log = (struct rr_log_limit){ .level = RR_LOG_ERROR, .kind = "records of clients" };
	*made = dir;
	return 0;
}

void
rr_nfs4_record_dir_close(struct rr_nfs4_record_dir *dir)
{
	if (!dir)
		return;
	rr_log_limit_end(&dir->read_log, dir->env);
	rr_log_limit_end(&dir->change_log, dir->env);
	close(dir->fd);
	rr_free(dir->env, dir);
}

/* ---- Reading ---- */

/* Returns how many octets the name of the principal has in a record of this mark whose name and owner have
 * `left` octets, and whose owner has `owner` of them; -1 if there is no such record. */
static int64_t
file_name_length(uint32_t mark, uint32_t owner, size_t left)
{
	bool named = mark == FILE_MARK_NAMED;

	if ((!named && mark != FILE_MARK) || owner > NFS4_OPAQUE_LIMIT || owner > left)
		return -1;
	left -= owner;
	return (left > 0) == named && left <= RR_CALLER_PRINCIPAL ? (int64_t)left : -1;
}

/* Decodes the octets of a record's file into `recorded`. Its owner and the name of its principal then point
 * into data, where the zero behind the name replaces the first octet of the CRC. Returns false if the octets
 * are not a valid record. */
static bool
file_parse(uint8_t *data, size_t length, struct rr_nfs4_recorded *recorded)
{
	uint32_t owner;
	int64_t name;

	if (length < FILE_HEAD + 4)
		return false;
	length -= 4;
	owner = rr_get_be32(data + 16);
	name = file_name_length(rr_get_be32(data), owner, length - FILE_HEAD);
	if (name < 0 || rr_get_be32(data + length) != rr_crc32c(0, data, length) ||
		memchr(data + FILE_HEAD + owner, 0, (size_t)name))
		return false;
	recorded->principal = (struct rr_caller){ .flavor = rr_get_be32(data + 4),
		.named = rr_get_be32(data + 4) != RR_AUTH_NONE,
		.uid = rr_get_be32(data + 8) };
	data[length] = 0;
	if (name > 0)
		recorded->principal.principal = (const char *)data + FILE_HEAD + owner;
	recorded->lease = rr_get_be32(data + 12);
	recorded->owner = (struct rpcrdma_bytes){ data + FILE_HEAD, owner };
	return true;
}

/* Reads the file of a record into data, and decodes it. data has an octet more than the largest record, so
 * that a larger file is noticed. Returns false if the file cannot be read or is not a valid record. */
static bool
file_read(const struct rr_nfs4_record_dir *dir, const char *name, uint8_t data[FILE_MAX + 1],
	struct rr_nfs4_recorded *recorded)
{
	int fd = openat(dir->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : rr_whole_read(fd, data, FILE_MAX + 1, RR_WHOLE_HERE);

	if (fd >= 0)
		close(fd);
	return got >= 0 && file_parse(data, (size_t)got, recorded);
}

/* Gives the record of a file to take(), and returns what take() returned. A file whose name ends in .new was
 * not finished and is removed. For any file that is not a record, returns 0. */
static int
file_take(struct rr_nfs4_record_dir *dir, const char *name,
	int (*take)(void *ctx, const struct rr_nfs4_recorded *recorded), void *ctx)
{
	uint8_t data[FILE_MAX + 1];
	struct rr_nfs4_recorded recorded;
	unsigned long long number;
	char end[2];

	if (name[0] == '.' || strcmp(name, FILE_IDENTITY) == 0)
		return 0;
	if (strlen(name) > 4 && strcmp(name + strlen(name) - 4, ".new") == 0) {
		unlinkat(dir->fd, name, 0);
		return 0;
	}
	/* 1: the digits are read, and nothing stands behind them. */
	if (sscanf(name, "%16llx%1s", &number, end) != 1 || strlen(name) != FILE_NAME ||
		!file_read(dir, name, data, &recorded)) {
		rr_log_limited(
			&dir->read_log, dir->env, "%s: is no record of a client of NFS version 4", name);
		return 0;
	}
	recorded.name = number;
	return take(ctx, &recorded);
}

int
rr_nfs4_record_dir_read(struct rr_nfs4_record_dir *dir,
	int (*take)(void *ctx, const struct rr_nfs4_recorded *recorded), void *ctx, struct rr_text *text)
{
	int fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!list) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the records of clients cannot be read: %s",
			strerror(error));
	}
	while (error == 0 && (entry = readdir(list)) != NULL)
		error = file_take(dir, entry->d_name, take, ctx);
	closedir(list);
	return error < 0 ? rr_fail(text, error, "no memory for the records of clients, or too many of them")
			 : 0;
}

/* ---- Writing ---- */

/* Writes a file under the name `fresh`, syncs it and renames it to `name`, so that the file is on the disk as
 * a whole or not at all. Returns whether all of that succeeded. */
static bool
file_put(const struct rr_nfs4_record_dir *dir, const char *name, const char *fresh, const void *data,
	size_t length)
{
	int fd = openat(dir->fd, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool done = fd >= 0 && rr_whole_write(fd, data, length, RR_WHOLE_HERE) == (ssize_t)length &&
		    fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	return done && renameat(dir->fd, fresh, dir->fd, name) == 0 && fsync(dir->fd) == 0;
}

int
rr_nfs4_record_dir_identity(
	struct rr_nfs4_record_dir *dir, uint8_t identity[RR_NFS4_IDENTITY], struct rr_text *text)
{
	int fd = openat(dir->fd, FILE_IDENTITY, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : rr_whole_read(fd, identity, RR_NFS4_IDENTITY, RR_WHOLE_HERE);
	int error = got < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	if (got == RR_NFS4_IDENTITY)
		return 0;
	/* An error may pass: the identity by which the clients know the server stays in its file. */
	if (got < 0 && error != ENOENT)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the server's identity cannot be read: %s",
			strerror(error));
	dir->env->random(dir->env->ctx, identity, RR_NFS4_IDENTITY);
	if (file_put(dir, FILE_IDENTITY, FILE_IDENTITY ".new", identity, RR_NFS4_IDENTITY))
		return 0;
	return rr_fail(
		text, -RPCRDMA_ERR_SYSTEM, "the server's identity cannot be kept: %s", strerror(errno));
}

/* Encodes a record into data, as it stands in its file, and returns the number of octets. */
static size_t
file_compose(const struct rr_nfs4_recorded *recorded, uint8_t data[FILE_MAX])
{
	const char *name = recorded->principal.principal;
	uint32_t length = recorded->owner.length;
	size_t end = FILE_HEAD + length + (name ? strlen(name) : 0);

	rr_put_be32(data, name ? FILE_MARK_NAMED : FILE_MARK);
	rr_put_be32(data + 4, recorded->principal.flavor);
	rr_put_be32(data + 8, recorded->principal.uid);
	rr_put_be32(data + 12, recorded->lease);
	rr_put_be32(data + 16, length);
	memcpy(data + FILE_HEAD, recorded->owner.data, length);
	if (name)
		memcpy(data + FILE_HEAD + length, name, end - FILE_HEAD - length);
	rr_put_be32(data + end, rr_crc32c(0, data, end));
	return end + 4;
}

bool
rr_nfs4_record_write(struct rr_nfs4_record_dir *dir, const struct rr_nfs4_recorded *recorded)
{
	char name[FILE_NAME_MAX], fresh[FILE_NAME_MAX];
	uint8_t data[FILE_MAX];
	size_t length = file_compose(recorded, data);
	bool done;

	file_name(recorded->name, "", name);
	file_name(recorded->name, ".new", fresh);
	done = file_put(dir, name, fresh, data, length);
	if (!done)
		rr_log_limited(&dir->change_log, dir->env,
			"the record of a client of NFS version 4 cannot be written: %s", strerror(errno));
	return done;
}

bool
rr_nfs4_record_remove(struct rr_nfs4_record_dir *dir, uint64_t number)
{
	char name[FILE_NAME_MAX];
	bool done;

	file_name(number, "", name);
	done = (unlinkat(dir->fd, name, 0) == 0 || errno == ENOENT) && fsync(dir->fd) == 0;
	if (!done)
		rr_log_limited(&dir->change_log, dir->env,
			"the record of a client of NFS version 4 cannot be removed: %s", strerror(errno));
	return done;
}
