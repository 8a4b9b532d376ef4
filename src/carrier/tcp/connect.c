/* SPDX-License-Identifier: BSD-3-Clause */
/* How a TCP carrier begins at the connecting side. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "carrier/tcp/tcp_private.h"

/* How long the peer may leave sent octets unacknowledged, or not answer a SYN. */
enum { PEER_LIMIT_MS = 60000 };

int
rr_tcp_error(int error)
{
	switch (error) {
	case ECONNREFUSED: return -RPCRDMA_ERR_REFUSED;
	case ETIMEDOUT: return -RPCRDMA_ERR_TIMEDOUT;
	case ENETUNREACH:
	case EHOSTUNREACH: return -RPCRDMA_ERR_UNREACHABLE;
	default: return -RPCRDMA_ERR_DISCONNECTED;
	}
}

void
rr_tcp_set_options(int fd)
{
	static const int on = 1, limit = PEER_LIMIT_MS;

	/* They make it better; nothing depends on them. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
}

int
rr_tcp_connect(struct rr_engine *engine, const struct sockaddr *address, socklen_t size,
	const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier, struct rr_text *text)
{
	int error, fd, result;

	if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "only IPv4 and IPv6 addresses can be connected to");
	fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "no socket: %s", strerror(errno));
	rr_tcp_set_options(fd);
	error = connect(fd, address, size) < 0 ? errno : 0;
	if (error == EINPROGRESS || error == EINTR)
		error = 0;
	result = rr_tcp_new(engine, fd, address, RR_TCP_CONNECTING, events, ctx, carrier, text);
	if (result < 0) {
		close(fd);
		return result;
	}
	if (error)
		rr_tcp_fail(rr_container(*carrier, struct rr_tcp, base), rr_tcp_error(error),
			"%s: no connection over TCP: %s", (*carrier)->peer, strerror(error));
	return 0;
}
