/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limit sendfile|copy FILE [OUT]: measures the bound that no program which sends a file over TCP can exceed.
 * A child process sends FILE by sendfile(2), or by read(2) and send(2); this process receives it, and writes
 * it to OUT if that is given. Prints the seconds that this took, and the processor seconds of the sender and
 * of the receiver.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

static char memory[PIECE];

static double
seconds_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void
write_all(int fd, ssize_t size)
{
	for (ssize_t done = 0, n = 0; done < size; done += n) {
		n = write(fd, memory + done, (size_t)(size - done));
		if (n < 0)
			err(1, "write");
	}
}

static void
send_all(const struct sockaddr_in *address, const char *file, int copies)
{
	int fd = open(file, O_RDONLY), to = socket(AF_INET, SOCK_STREAM, 0);
	ssize_t n;

	if (fd < 0 || connect(to, (const struct sockaddr *)address, sizeof(*address)) < 0)
		err(1, "%s", file);
	do {
		n = copies ? read(fd, memory, PIECE) : sendfile(to, fd, NULL, PIECE);
		if (copies && n > 0)
			write_all(to, n);
	} while (n > 0);
	exit(n < 0);
}

int
main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), from, out = -1, status;
	struct rusage sender;
	double start;
	pid_t child;
	ssize_t n;

	if (argc < 3 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
		getsockname(listener, (struct sockaddr *)&address, &size))
		errx(2, "usage: limit sendfile|copy FILE [OUT]");
	if (argc > 3 && (out = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) < 0)
		err(1, "%s", argv[3]);
	start = seconds_of(CLOCK_MONOTONIC);
	child = fork();
	if (child == 0)
		send_all(&address, argv[2], strcmp(argv[1], "copy") == 0);
	from = accept(listener, NULL, NULL);
	while ((n = recv(from, memory, PIECE, 0)) > 0)
		if (out >= 0)
			write_all(out, n);
	if (child < 0 || from < 0 || n < 0 || wait4(child, &status, 0, &sender) < 0 || status)
		err(1, "the transfer failed");
	printf("%.4f %.4f %.4f\n", seconds_of(CLOCK_MONOTONIC) - start,
		(double)(sender.ru_utime.tv_sec + sender.ru_stime.tv_sec) +
			(double)(sender.ru_utime.tv_usec + sender.ru_stime.tv_usec) / 1e6,
		seconds_of(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
