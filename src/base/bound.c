/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/bound.h"

#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

int
rr_bound_socket(int type, const struct sockaddr *address, socklen_t size, bool reuse_port)
{
	static const int on = 1;
	int error, fd = socket(address->sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	/* Connections of a server that has ended do not keep its port. */
	if (type == SOCK_STREAM)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (reuse_port)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	if (address->sa_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, address, size) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}
