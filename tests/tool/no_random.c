/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded before the C library of a command: the system refuses getrandom(2), as a filter of system calls
 * does. */
#include <errno.h>
#include <sys/random.h>

__attribute__((visibility("default"))) ssize_t
getrandom(void *data, size_t size, unsigned flags)
{
	(void)data, (void)size, (void)flags;
	errno = EPERM;
	return -1;
}
