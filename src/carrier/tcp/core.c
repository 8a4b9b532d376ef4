/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "carrier/tcp/tcp_private.h"

/* What all files of the TCP carrier use: the size of the largest record, the options of a socket, and the end
 * of the connection. */

bool
rr_tcp_alive(const struct rr_tcp *tcp)
{
	return !tcp->closed && tcp->state < RR_TCP_FAILED;
}

uint32_t
rr_tcp_record_max(const struct rr_tcp *tcp)
{
	uint32_t max = tcp->base.engine->config.message_max;

	/* A record must not be longer than INT32_MAX, as the length in a record mark has 31 bits. */
	return max < INT32_MAX - RR_TCP_HEADER_SLACK ? max + RR_TCP_HEADER_SLACK : INT32_MAX;
}

/* How long the peer may leave sent octets unacknowledged, or a SYN unanswered. */
enum { PEER_LIMIT_MS = 60000 };

void
rr_tcp_set_options(int fd)
{
	static const int on = 1, limit = PEER_LIMIT_MS;

	/* These options are improvements; a failure does no harm. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
}

/* Has the socket end with a reset instead of a FIN when it is closed. After a FIN a server still executes
 * the calls that came before, and answers them. A reset shows the server that this side has given its calls
 * up, so that the server can drop them and their replies. */
static void
core_abort_stream(const struct rr_tcp *tcp)
{
	static const struct linger none = { .l_onoff = 1, .l_linger = 0 };

	if (setsockopt(tcp->watch.fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none)) < 0)
		rr_log(tcp->base.engine->env, RR_LOG_DEBUG, "%s: SO_LINGER: %s", tcp->base.peer,
			strerror(errno));
}

void
rr_tcp_release(struct rr_tcp *tcp)
{
	struct rr_loop *loop = tcp->base.engine->loop;

	if (tcp->watch.fd < 0)
		return;
	rr_tcp_secure_end(tcp);
	rr_alive_stop(&tcp->alive);
	rr_loop_unwatch(loop, &tcp->watch);
	/* The peer may still be working on calls of this side, whose replies nobody reads any more. */
	if (tcp->unanswered > 0)
		core_abort_stream(tcp);
	close(tcp->watch.fd);
	rr_spread_ended(tcp->spread);
	tcp->watch.fd = -1;
	rr_loop_disarm(loop, &tcp->timer);
	rr_list_remove(&tcp->waiter.link);
	tcp->released(tcp);
}

void
rr_tcp_fail(struct rr_tcp *tcp, int error, const char *format, ...)
{
	va_list args;

	if (!rr_tcp_alive(tcp))
		return;
	tcp->state = RR_TCP_FAILED;
	tcp->error = error;
	va_start(args, format);
	vsnprintf(tcp->why.text, sizeof(tcp->why.text), format, args);
	va_end(args);
	rr_tcp_release(tcp);
	rr_loop_defer(tcp->base.engine->loop, &tcp->task);
}
