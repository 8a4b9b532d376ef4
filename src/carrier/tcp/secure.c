/* SPDX-License-Identifier: BSD-3-Clause */
/* Octets of a connection inside of TLS. The session (base/tls/tls.h) reads from the socket itself, as far as
 * it has room, and decrypts into the same places that a connection without TLS reads into; what it has
 * encrypted is sent from its own memory. */
#include <errno.h>
#include <string.h>

#include "carrier/tcp/tcp_private.h"

bool
rr_tcp_secure_open(struct rr_tcp *tcp, struct rr_tls *tls, const struct rr_secure *wants)
{
	return rr_tls_open(tls, wants, RR_TLS_SUNRPC, rr_tls_socket_receive, &tcp->watch.fd,
		       &tcp->secure->session) == 0;
}

bool
rr_tcp_secure_push(struct rr_tcp *tcp)
{
	int error = rr_tls_socket_push(tcp->secure->session, tcp->watch.fd, &tcp->moved);

	tcp->blocked = error == -EAGAIN;
	if (error && !tcp->blocked)
		rr_tcp_fail(tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: %s", tcp->base.peer, strerror(-error));
	return !error;
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
	if (tcp->secure && tcp->secure->session)
		rr_tls_socket_end(tcp->secure->session, tcp->watch.fd);
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
	rr_tls_handshakes_end(&secure->handshake);
	if (secure->session)
		rr_tls_close(secure->session);
	rr_free(tcp->base.engine->env, secure);
}
