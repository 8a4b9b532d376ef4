/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that is loaded before a program whose instructions callgrind counts. valgrind does not know
 * openat2(2), so openat(2) is called in its place, without the bounds on where a path may lead. Only for
 * files of the measurement.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Makes a system call, in place of the C library's function of that name. */
__attribute__((visibility("default"))) long
syscall(long number, ...)
{
	const struct open_how *how;
	long a[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_openat2) {
		how = (const struct open_how *)a[2];
		return openat((int)a[0], (const char *)a[1], (int)how->flags, (mode_t)how->mode);
	}
	register long r10 __asm__("r10") = a[3], r8 __asm__("r8") = a[4], r9 __asm__("r9") = a[5];

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}
