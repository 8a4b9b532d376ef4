/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded before the C library: times that files get are kept in units of COARSE ns, as some file systems keep
 * them. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void
cut(struct timespec *time)
{
	const char *text = getenv("COARSE");
	long unit = text ? atol(text) : 1, second = 1000000000;

	if (time->tv_nsec == UTIME_NOW || time->tv_nsec == UTIME_OMIT)
		return;
	time->tv_nsec -= time->tv_nsec % (unit < second ? unit : second);
	if (unit > second)
		time->tv_sec -= time->tv_sec % (unit / second);
}

static const struct timespec *
cut_both(const struct timespec times[2], struct timespec to[2])
{
	if (!times)
		return NULL;
	memcpy(to, times, 2 * sizeof(*to));
	cut(&to[0]);
	cut(&to[1]);
	return to;
}

__attribute__((visibility("default"))) int
utimensat(int fd, const char *path, const struct timespec times[2], int flags)
{
	int (*next)(int, const char *, const struct timespec[2], int);
	struct timespec to[2];

	*(void **)&next = dlsym(RTLD_NEXT, "utimensat");
	return next(fd, path, cut_both(times, to), flags);
}

__attribute__((visibility("default"))) int
futimens(int fd, const struct timespec times[2])
{
	int (*next)(int, const struct timespec[2]);
	struct timespec to[2];

	*(void **)&next = dlsym(RTLD_NEXT, "futimens");
	return next(fd, cut_both(times, to));
}
