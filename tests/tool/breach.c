/* SPDX-License-Identifier: BSD-3-Clause */
/* A library for LD_PRELOAD that makes a service do, in the thread of its loop, what one does who has broken
 * into it. When the first socket of TCP is set up it tries each of these things, and writes the errno of each
 * to the file that RPCRDMA_BREACH_LOG names, which was opened before: "NAME ERRNO" in a line, with 0 for what
 * was possible. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int breach_log = -1;

__attribute__((constructor)) static void
breach_begin(void)
{
	const char *path = getenv("RPCRDMA_BREACH_LOG");

	if (path)
		breach_log = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

static void
breach_tell(const char *name, long result)
{
	dprintf(breach_log, "%s %d\n", name, result < 0 ? errno : 0);
}

static void
breach_connect(const char *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	breach_tell("connect", connect(fd, (const struct sockaddr *)&address, sizeof(address)));
	address.sin_port = 0;
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	breach_tell("listen", bind(fd, (const struct sockaddr *)&address, sizeof(address)));
	close(fd);
}

static void
breach(void)
{
	char *const none[] = { NULL };
	char path[4096];

	breach_tell("shadow", open("/etc/shadow", O_RDONLY | O_CLOEXEC));
	snprintf(path, sizeof(path), "%s", getenv("RPCRDMA_BREACH_LOG"));
	breach_tell("read", open(path, O_RDONLY | O_CLOEXEC));
	breach_tell("write", open(path, O_WRONLY | O_CLOEXEC));
	snprintf(path, sizeof(path), "%s.made", getenv("RPCRDMA_BREACH_LOG"));
	breach_tell("make", open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	breach_connect(getenv("RPCRDMA_BREACH_PORT"));
	/* The signal 0 only asks whether another one could be sent. */
	breach_tell("signal", kill(getppid(), 0));
	/* There is no such program: who may execute one is told so. */
	breach_tell("execute", execve("/no/program", none, none));
	breach_tell("end", 0);
}

__attribute__((visibility("default"))) int
setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	static int done;

	if (breach_log >= 0 && level == IPPROTO_TCP && !__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
		breach();
	return (int)syscall(SYS_setsockopt, fd, level, name, value, size);
}
