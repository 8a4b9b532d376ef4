/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tls/socket.h"

#include <errno.h>
#include <sys/socket.h>

ssize_t
rr_tls_socket_receive(void *ctx, void *data, size_t size)
{
	const int *fd = ctx;

	return recv(*fd, data, size, 0);
}

int
rr_tls_socket_push(struct rr_tls_session *session, int fd, uint64_t *moved)
{
	const void *data;
	size_t size;

	while (data = rr_tls_waiting(session, &size), size > 0) {
		ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		*moved += (uint64_t)sent;
		rr_tls_sent(session, (size_t)sent);
	}
	return 0;
}

void
rr_tls_socket_end(struct rr_tls_session *session, int fd)
{
	uint64_t moved = 0;

	rr_tls_end(session);
	(void)rr_tls_socket_push(session, fd, &moved);
}
