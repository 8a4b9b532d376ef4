/* SPDX-License-Identifier: BSD-3-Clause */
/* This file reads the secret key of file handles from a file, and makes that file at the first start. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <rpcrdma/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/whole.h"
#include "vfs/key.h"

static const char file_name[] = "rpcrdma/handle-key";

/* Writes the path where the key of file handles is kept by default: below /var/lib for root, else below
 * $XDG_STATE_HOME or ~/.local/state. Returns 0, or an error with text. */
static int
key_default_path(char path[PATH_MAX], struct rr_text *text)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int length;

	if (geteuid() == 0)
		length = snprintf(path, PATH_MAX, "/var/lib/%s", file_name);
	else if (state && state[0] == '/')
		length = snprintf(path, PATH_MAX, "%s/%s", state, file_name);
	else if (home && home[0] == '/')
		length = snprintf(path, PATH_MAX, "%s/.local/state/%s", home, file_name);
	else
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM,
			"no place for the key of file handles: "
			"set XDG_STATE_HOME or HOME to a directory");
	if (length >= PATH_MAX)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the path of the key of file handles is too long");
	return 0;
}

int
rr_vfs_key_directories(const char *path, struct rr_text *text)
{
	char part[PATH_MAX];
	size_t length = strlen(path);

	if (length >= sizeof(part))
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%.100s...: %s", path, strerror(ENAMETOOLONG));
	memcpy(part, path, length + 1);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: cannot make this directory: %s", part,
				strerror(errno));
		*slash = '/';
	}
	return 0;
}

/* Checks that the open file can be the key of file handles: a regular file of RR_VFS_KEY octets that belongs
 * to the process's user and that no other user may read or write. Returns 0, or an error with text. */
static int
key_check_file(int fd, const char *path, struct rr_text *text)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size != RR_VFS_KEY)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM,
			"%s: a key of file handles is a file of %d octets: remove "
			"this one; clients then have to mount again",
			path, RR_VFS_KEY);
	if (st.st_mode & 077)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM,
			"%s: others may read this key or write it (mode %04o): "
			"remove it, then clients have to mount again; or, if nobody saw it, chmod 600",
			path, st.st_mode & 07777);
	if (st.st_uid != geteuid())
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: this key belongs to user %u, not to %u", path,
			st.st_uid, geteuid());
	return 0;
}

/* Checks the file at path (key_check_file()) and reads the key of file handles from it. Returns 0; 1 if there
 * is no such file; or a negative error with text. */
static int
key_read(const char *path, uint8_t key[RR_VFS_KEY], struct rr_text *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), error;

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: %s", path, strerror(errno));
	error = key_check_file(fd, path, text);
	if (!error && rr_whole_read(fd, key, RR_VFS_KEY, RR_WHOLE_HERE) != RR_VFS_KEY)
		error = rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: cannot be read", path);
	close(fd);
	return error;
}

/* Brings the directory entry of the file path to the disk, because fsync(2) of a file stores the file, but
 * not its name. Returns whether that succeeded. */
static bool
key_sync_directory(const char *path)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(path, '/');
	bool synced;
	int fd;

	snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		slash ? path : ".");
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	synced = fsync(fd) == 0;
	close(fd);
	return synced;
}

/* Writes a new random key into a temporary file, and gives this file its name, path, by link(2), which never
 * replaces a file. Where another server has made the key meanwhile, that key stays, and the function
 * succeeds: the caller then reads the file. Returns 0, or an error with text. */
static int
key_write(const struct rr_env *env, const char *path, struct rr_text *text)
{
	char temporary[PATH_MAX + 32];
	uint8_t key[RR_VFS_KEY];
	bool done;
	int fd;

	snprintf(temporary, sizeof(temporary), "%s.%016llx", path, (unsigned long long)rr_random_u64(env));
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: cannot be made: %s", path, strerror(errno));
	env->random(env->ctx, key, sizeof(key));
	done = rr_whole_write(fd, key, RR_VFS_KEY, RR_WHOLE_HERE) == RR_VFS_KEY && fsync(fd) == 0;
	done = done && (link(temporary, path) == 0 || errno == EEXIST) && key_sync_directory(path);
	if (!done)
		rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
	close(fd);
	unlink(temporary);
	return done ? 0 : -RPCRDMA_ERR_SYSTEM;
}

int
rr_vfs_key(const struct rr_env *env, const char *path, uint8_t key[RR_VFS_KEY], struct rr_text *text)
{
	char place[PATH_MAX];
	int error = 0;

	if (!path) {
		error = key_default_path(place, text);
		path = place;
	}
	if (error)
		return error;
	/* 1 means that there is no key yet: it is made below. */
	error = key_read(path, key, text);
	if (error <= 0)
		return error;
	error = rr_vfs_key_directories(path, text);
	if (!error)
		error = key_write(env, path, text);
	if (!error)
		error = key_read(path, key, text);
	return error > 0 ? rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: vanished", path) : error;
}

int
rr_vfs_beside_key(const char *key_path, const char *name, char path[PATH_MAX], struct rr_text *text)
{
	char place[PATH_MAX];
	const char *slash;
	int error = 0, length;

	if (!key_path) {
		error = key_default_path(place, text);
		key_path = place;
	}
	if (error)
		return error;
	slash = strrchr(key_path, '/');
	length = snprintf(
		path, PATH_MAX, "%.*s/%s", slash ? (int)(slash - key_path) : 1, slash ? key_path : ".", name);
	return length < PATH_MAX ? 0
				 : rr_fail(text, -RPCRDMA_ERR_SYSTEM, "%s: the path is too long", key_path);
}
