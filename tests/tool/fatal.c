/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded before the C library of a server: the FATAL_AFTER-th successful system call FATAL_IN with a name
 * that contains FATAL_NAME is its last, and its client gets no answer. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long calls;

/* Counts a call that has returned `result`, and ends the process if it is the last. */
static int
count(const char *function, const char *path, int result)
{
	const char *name = getenv("FATAL_IN"), *after = getenv("FATAL_AFTER"), *part = getenv("FATAL_NAME");

	if (result == 0 && name && after && part && strcmp(name, function) == 0 && strstr(path, part) &&
		atomic_fetch_add(&calls, 1) + 1 == atol(after))
		raise(SIGKILL);
	return result;
}

__attribute__((visibility("default"))) int
mknodat(int fd, const char *path, mode_t mode, dev_t device)
{
	int (*next)(int, const char *, mode_t, dev_t);

	*(void **)&next = dlsym(RTLD_NEXT, "mknodat");
	return count("mknodat", path, next(fd, path, mode, device));
}

__attribute__((visibility("default"))) int
mkdirat(int fd, const char *path, mode_t mode)
{
	int (*next)(int, const char *, mode_t);

	*(void **)&next = dlsym(RTLD_NEXT, "mkdirat");
	return count("mkdirat", path, next(fd, path, mode));
}

__attribute__((visibility("default"))) int
symlinkat(const char *target, int fd, const char *path)
{
	int (*next)(const char *, int, const char *);

	*(void **)&next = dlsym(RTLD_NEXT, "symlinkat");
	return count("symlinkat", path, next(target, fd, path));
}

__attribute__((visibility("default"))) int
linkat(int from, const char *path, int to, const char *name, int flags)
{
	int (*next)(int, const char *, int, const char *, int);

	*(void **)&next = dlsym(RTLD_NEXT, "linkat");
	return count("linkat", name, next(from, path, to, name, flags));
}

__attribute__((visibility("default"))) int
renameat(int from, const char *path, int to, const char *name)
{
	int (*next)(int, const char *, int, const char *);

	*(void **)&next = dlsym(RTLD_NEXT, "renameat");
	return count("renameat", path, next(from, path, to, name));
}

__attribute__((visibility("default"))) int
unlinkat(int fd, const char *path, int flags)
{
	int (*next)(int, const char *, int);

	*(void **)&next = dlsym(RTLD_NEXT, "unlinkat");
	return count("unlinkat", path, next(fd, path, flags));
}
