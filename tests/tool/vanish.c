/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded before the C library: the file, link or empty directory with the name VANISH is removed as soon as
 * the program has looked at it by fstatat(2). */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#undef fstatat
#undef fstatat64

static int
look(const char *function, int fd, const char *path, struct stat *st, int flags)
{
	int (*next)(int, const char *, struct stat *, int);
	const char *name = getenv("VANISH");
	int result;

	*(void **)&next = dlsym(RTLD_NEXT, function);
	result = next(fd, path, st, flags);
	if (result == 0 && name && strcmp(path, name) == 0)
		unlinkat(fd, path, S_ISDIR(st->st_mode) ? AT_REMOVEDIR : 0);
	return result;
}

__attribute__((visibility("default"))) int vanish_fstatat(
	int fd, const char *path, struct stat *st, int flags) __asm__("fstatat");

int
vanish_fstatat(int fd, const char *path, struct stat *st, int flags)
{
	return look("fstatat", fd, path, st, flags);
}

__attribute__((visibility("default"))) int vanish_fstatat64(
	int fd, const char *path, struct stat *st, int flags) __asm__("fstatat64");

int
vanish_fstatat64(int fd, const char *path, struct stat *st, int flags)
{
	return look("fstatat64", fd, path, st, flags);
}
