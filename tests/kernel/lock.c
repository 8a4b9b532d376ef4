/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock flock|fcntl|ofd [-n] FILE r|w FIRST LENGTH: locks a range of the file (flock: all of it) to read or to
 * write, prints "locked", and holds the lock until standard input ends. -n: without waiting; the exit status
 * is 1 if another has the lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int
lock_file(const char *kind, int fd, bool waits, struct flock *range)
{
	if (strcmp(kind, "flock") == 0)
		return flock(fd, (range->l_type == F_WRLCK ? LOCK_EX : LOCK_SH) | (waits ? 0 : LOCK_NB));
	if (strcmp(kind, "ofd") == 0)
		return fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, range);
	return fcntl(fd, waits ? F_SETLKW : F_SETLK, range);
}

int
main(int argc, char **argv)
{
	bool waits = argc < 3 || strcmp(argv[2], "-n") != 0;
	char **rest = argv + (waits ? 2 : 3);
	struct flock range = { .l_whence = SEEK_SET };
	char octets[64];
	int fd;

	if (argc != (waits ? 6 : 7)) {
		fprintf(stderr, "usage: lock flock|fcntl|ofd [-n] FILE r|w FIRST LENGTH\n");
		return 2;
	}
	range.l_type = rest[1][0] == 'w' ? F_WRLCK : F_RDLCK;
	range.l_start = atoll(rest[2]);
	range.l_len = atoll(rest[3]);
	fd = open(rest[0], O_RDWR);
	if (fd < 0 || lock_file(argv[1], fd, waits, &range) < 0) {
		perror(rest[0]);
		return 1;
	}
	printf("locked\n");
	fflush(stdout);
	while (read(0, octets, sizeof(octets)) > 0)
		continue;
	return 0;
}
