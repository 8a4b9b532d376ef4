/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "../test.h"

static void
a_file_is_read_and_written_at_any_place(void **state)
{
	FILE *file = tmpfile();
	int fd = fileno(file);
	char data[16];

	(void)state;
	assert_int_equal(rr_whole_write(fd, "octets", 6, RR_WHOLE_HERE), 6);
	assert_int_equal(rr_whole_write(fd, "more", 4, 6), 4);
	assert_int_equal(rr_whole_read(fd, data, 4, 2), 4);
	assert_memory_equal(data, "tets", 4);
	/* "fewer than size only at the end of the file" */
	assert_int_equal(rr_whole_read(fd, data, sizeof(data), 0), 10);
	assert_memory_equal(data, "octetsmore", 10);
	assert_int_equal(rr_whole_read(fd, data, sizeof(data), 10), 0);
	fclose(file);
}

static void
failures_come_with_errno(void **state)
{
	int full = open("/dev/full", O_WRONLY), directory = open("/", O_RDONLY | O_DIRECTORY);
	char data[4];

	(void)state;
	assert_int_equal(rr_whole_write(full, "x", 1, RR_WHOLE_HERE), -1);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(rr_whole_read(directory, data, sizeof(data), RR_WHOLE_HERE), -1);
	assert_int_equal(errno, EISDIR);
	close(full);
	close(directory);
}

static int pipe_end;
static volatile sig_atomic_t ticks;

/* Signals interrupt the reader, which has no SA_RESTART; two of them bring a half of the octets each. */
static void
tick(int number)
{
	(void)number;
	ticks++;
	if (ticks == 20 || ticks == 40)
		(void)!write(pipe_end, ticks == 20 ? "first " : "second", 6);
}

static void
neither_parts_nor_signals_end_it(void **state)
{
	const struct itimerval often = { { .tv_usec = 1000 }, { .tv_usec = 1000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = tick }, before;
	char data[12];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pipe_end = fds[1];
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	assert_int_equal(rr_whole_read(fds[0], data, sizeof(data), RR_WHOLE_HERE), sizeof(data));
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
	assert_memory_equal(data, "first second", sizeof(data));
	close(fds[0]);
	close(fds[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_and_written_at_any_place),
		cmocka_unit_test(failures_come_with_errno),
		cmocka_unit_test(neither_parts_nor_signals_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
