/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_LIBC_H
#define RR_BASE_LIBC_H

/*
 * System calls of Linux for C libraries that do not have them, or not as the kernel does: musl before 1.2.5
 * lacks statx(), preadv2() and RWF_NOWAIT, and later ones may lack members of struct statx. src/meson.build
 * looks, and only then has the compiler include this header in front of every file.
 */

/* What the C library calls so stays out of the way of the kernel's structures. */
#define statx           libc_statx
#define statx_timestamp libc_statx_timestamp
#include <sys/stat.h>
#undef statx
#undef statx_timestamp
#include <linux/stat.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static inline int
statx(int fd, const char *path, int flags, unsigned mask, struct statx *st)
{
	return (int)syscall(SYS_statx, fd, path, flags, mask, st);
}

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008

/* The kernel takes the two halves of the offset, and on machines of 64 bits the lower one alone. */
static inline ssize_t
preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
	return syscall(SYS_preadv2, fd, parts, count, (long)offset, (long)((uint64_t)offset >> 32), flags);
}
#endif

#endif
