/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/iwarp/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "base/bound.h"

/* The most connections that wait to be accepted, as many clients come at once after a restart (the system may
 * have a lower bound); and the segment size where TCP does not say it. */
enum { BACKLOG = 4096, DEFAULT_EMSS = 536 };

/* Sets an option of the socket. A failure has no effect but that the option is not set. */
static int
socket_set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

int
rr_socket_open(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);

	if (fd < 0)
		return -errno;
	socket_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	return fd;
}

int
rr_socket_listen(const struct sockaddr *address, socklen_t size, bool reuse_port)
{
	int fd = rr_bound_socket(SOCK_STREAM, address, size, reuse_port), error;

	if (fd < 0)
		return fd;
	socket_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (listen(fd, BACKLOG) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

int
rr_socket_address(int fd, struct sockaddr_storage *address)
{
	socklen_t size = sizeof(*address);

	return getsockname(fd, (void *)address, &size) < 0 ? -errno : 0;
}

int
rr_socket_accept(int fd, struct sockaddr_storage *peer)
{
	socklen_t size = sizeof(*peer);
	int new = accept4(fd, (void *)peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (new < 0)
		return -errno;
	socket_set(new, IPPROTO_TCP, TCP_NODELAY, 1);
	return new;
}

int
rr_socket_connect(int fd, const struct sockaddr *address, socklen_t size)
{
	return connect(fd, address, size) < 0 ? -errno : 0;
}

int
rr_socket_error(int fd)
{
	int error = 0;
	socklen_t size = sizeof(error);

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? -errno : -error;
}

uint32_t
rr_socket_emss(int fd)
{
	int emss = 0;
	socklen_t size = sizeof(emss);

	if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &emss, &size) < 0 || emss <= 0)
		return DEFAULT_EMSS;
	return (uint32_t)emss;
}

ssize_t
rr_socket_read(int fd, struct iovec *vectors, int count)
{
	ssize_t n;

	/* For one vector, recv(2) is cheaper than readv(2). */
	do
		n = count == 1 ? recv(fd, vectors->iov_base, vectors->iov_len, 0) : readv(fd, vectors, count);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t
rr_socket_write(int fd, const struct iovec *vectors, uint32_t count)
{
	struct msghdr message = { .msg_iov = (struct iovec *)(uintptr_t)vectors, .msg_iovlen = count };
	ssize_t n;

	/* For one vector, send(2) is cheaper than sendmsg(2). */
	do
		n = count == 1 ? send(fd, vectors->iov_base, vectors->iov_len, MSG_NOSIGNAL)
			       : sendmsg(fd, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

void
rr_socket_end(int fd)
{
	shutdown(fd, SHUT_WR);
}

void
rr_socket_close(int fd)
{
	close(fd);
}
