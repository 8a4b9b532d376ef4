/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/locks/keep.h"

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

#include "base/whole.h"

/* The end of the name of a file that is not finished. */
#define KEEP_FRESH ".new"

struct rr_keep {
	const struct rr_env *env;
	int fd;
};

int
rr_keep_make(const char *path, struct rr_text *text)
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
rr_keep_open(const struct rr_env *env, const char *path, struct rr_keep **made, struct rr_text *text)
{
	int error = rr_keep_make(path, text), fd;
	struct rr_keep *keep;

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
	keep = rr_alloc(env, sizeof(*keep));
	if (!keep) {
		close(fd);
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for the records of clients");
	}
	keep->env = env;
	keep->fd = fd;
	*made = keep;
	return 0;
}

void
rr_keep_close(struct rr_keep *keep)
{
	if (!keep)
		return;
	close(keep->fd);
	rr_free(keep->env, keep);
}

bool
rr_keep_put(const struct rr_keep *keep, const char *name, const void *data, size_t length)
{
	char fresh[RR_KEEP_NAME + sizeof(KEEP_FRESH)];
	bool done;
	int fd;

	snprintf(fresh, sizeof(fresh), "%s" KEEP_FRESH, name);
	fd = openat(keep->fd, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	done = fd >= 0 && rr_whole_write(fd, data, length, RR_WHOLE_HERE) == (ssize_t)length &&
	       fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	return done && renameat(keep->fd, fresh, keep->fd, name) == 0 && fsync(keep->fd) == 0;
}

bool
rr_keep_remove(const struct rr_keep *keep, const char *name)
{
	return (unlinkat(keep->fd, name, 0) == 0 || errno == ENOENT) && fsync(keep->fd) == 0;
}

ptrdiff_t
rr_keep_get(const struct rr_keep *keep, const char *name, void *data, size_t size)
{
	int fd = openat(keep->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : rr_whole_read(fd, data, size, RR_WHOLE_HERE);
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return got;
}

int
rr_keep_each(
	const struct rr_keep *keep, int (*take)(void *ctx, const char *name), void *ctx, struct rr_text *text)
{
	const size_t end = strlen(KEEP_FRESH);
	int fd = openat(keep->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!list) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "the records of clients cannot be read: %s",
			strerror(error));
	}
	while (error == 0 && (entry = readdir(list)) != NULL) {
		size_t length = strlen(entry->d_name);

		if (entry->d_name[0] == '.')
			continue;
		if (length > end && strcmp(entry->d_name + length - end, KEEP_FRESH) == 0)
			unlinkat(keep->fd, entry->d_name, 0);
		else
			error = take(ctx, entry->d_name);
	}
	closedir(list);
	return error;
}
