/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BENCH_STILL_H
#define RR_BENCH_STILL_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * A clock in place of the C library's, for a program of one source file: after still_begin(), each question
 * for the time moves the clock on by a microsecond, so that counts do not depend on the speed of the machine.
 * A server gives each connection a certain time in a turn.
 */
static uint64_t still_microseconds; /* 0: the real time */

int
clock_gettime(clockid_t id, struct timespec *now)
{
	if (still_microseconds == 0)
		return (int)syscall(SYS_clock_gettime, id, now);
	still_microseconds++;
	*now = (struct timespec){ .tv_sec = (time_t)(still_microseconds / 1000000),
		.tv_nsec = (long)(still_microseconds % 1000000) * 1000 };
	return 0;
}

/* Sets the clock to the real time, from which on only questions move it. */
static void
still_begin(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	still_microseconds = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000 + 1;
}

#endif
