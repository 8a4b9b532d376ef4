/* SPDX-License-Identifier: BSD-3-Clause */
/* Octets of a connection inside of TLS. The session (base/tls/tls.h) reads from the socket itself, as far as
 * it has room, and decrypts into the same places that a connection without TLS reads into; what it has
 * encrypted is sent from its own memory. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "carrier/tcp/tcp_private.h"

/* Is the function by which a session reads octets of the peer. ctx is the carrier. */
static ssize_t
secure_receive(void *ctx, void *data, size_t size)
{
	const struct rr_tcp *tcp = ctx;

	return recv(tcp->watch.fd, data, size, 0);
}

bool
rr_tcp_secure_open(struct rr_tcp *tcp, struct rr_tls *tls, const char *name)
{
	return rr_tls_open(tls, name, secure_receive, tcp, &tcp->secure->session) == 0;
}

bool
rr_tcp_secure_push(struct rr_tcp *tcp)
{
	struct rr_tls_session *session = tcp->secure->session;
	const void *data;
	size_t size;

	for (tcp->blocked = false; data = rr_tls_waiting(session, &size), size > 0;) {
		ssize_t sent = send(tcp->watch.fd, data, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		tcp->blocked = sent < 0 && errno == EAGAIN;
		if (tcp->blocked)
			return false;
		if (sent < 0) {
			rr_tcp_fail(
				tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: %s", tcp->base.peer, strerror(errno));
			return false;
		}
		tcp->moved += (uint64_t)sent;
		rr_tls_sent(session, (size_t)sent);
	}
	return true;
}

ssize_t
rr_tcp_secure_read(struct rr_tcp *tcp, const struct iovec *iov, int count)
{
	struct rr_text text;
	ssize_t got = rr_tls_read(tcp->secure->session, iov, count, &text);
	int error = errno;

	/* An answer to a key update, or an alert. */
	rr_tcp_secure_push(tcp);
	if (got < 0 && error != EAGAIN)
		rr_tcp_fail(tcp, error == EPROTO ? -RPCRDMA_ERR_REJECTED : -RPCRDMA_ERR_DISCONNECTED,
			"%s: %s", tcp->base.peer, text.text);
	errno = error;
	return got;
}

ssize_t
rr_tcp_secure_write(struct rr_tcp *tcp, const struct iovec *iov, uint32_t count)
{
	ssize_t taken = rr_tls_write(tcp->secure->session, iov, count);

	if (taken < 0)
		rr_tcp_fail(tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: TLS has ended", tcp->base.peer);
	return taken;
}

bool
rr_tcp_secure_has_more(const struct rr_tcp *tcp)
{
	return tcp->secure && tcp->secure->session && rr_tls_has_more(tcp->secure->session);
}

void
rr_tcp_secure_close_notify(struct rr_tcp *tcp)
{
	const void *data;
	size_t size;

	if (!tcp->secure || !tcp->secure->session)
		return;
	rr_tls_end(tcp->secure->session);
	data = rr_tls_waiting(tcp->secure->session, &size);
	/* If the socket takes no more, the peer sees the end of TCP's stream instead, which says the same. */
	if (size > 0 && send(tcp->watch.fd, data, size, MSG_NOSIGNAL) == (ssize_t)size)
		rr_tls_sent(tcp->secure->session, size);
}

void
rr_tcp_secure_end(struct rr_tcp *tcp)
{
	struct rr_tcp_secure *secure = tcp->secure;

	if (!secure)
		return;
	if (tcp->state != RR_TCP_LINGERING)
		rr_tcp_secure_close_notify(tcp);
	tcp->secure = NULL;
	rr_list_remove(&secure->link);
	if (secure->session)
		rr_tls_close(secure->session);
	rr_free(tcp->base.engine->env, secure);
}
