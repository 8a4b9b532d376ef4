/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TLS under MPA (docs/draft-rpcrdma-mpa-tls.md): from the first octet on, the stream of TCP is one of TLS,
 * and MPA's frames and FPDUs are inside. The accepting side tells by the first octet: a handshake of TLS
 * begins with 0x16, an MPA request with 'M'. The session reads from the socket itself, and decrypts into the
 * memory that rr_iwarp_space() names, the regions of RDMA Writes and Read Responses among them.
 */
#include <errno.h>
#include <string.h>

#include "base/peer_log.h"
#include "base/tls/socket.h"
#include "fabric/iwarp/endpoint.h"

static struct rr_loop *
secure_loop(const struct rr_iwarp_endpoint *endpoint)
{
	return endpoint->iwarp.base.fabric->loop;
}

/* Returns the certificates for connections that are accepted; NULL: there is no TLS. */
static struct rr_tls *
secure_of_fabric(const struct rr_iwarp_endpoint *endpoint)
{
	struct rr_tls *const *tls = rr_iwarp_fabric(endpoint)->base.config.tls;

	return tls ? *tls : NULL;
}

/* Ends the connection, whose TLS has failed. At the accepting side this is logged as well, as the peer may
 * not be able to say it. */
static void
secure_fail(struct rr_iwarp_endpoint *endpoint, int error, const char *why)
{
	const char *peer = endpoint->iwarp.base.peer;

	if (endpoint->listener)
		rr_log_peer(rr_loop_peer_log(secure_loop(endpoint)), peer, "%s: %s", peer, why);
	rr_iwarp_over(&endpoint->iwarp, error, "%s", why);
	rr_iwarp_endpoint_defer(endpoint);
}

/* Called when another handshake takes the place of this one. */
static void
secure_displaced(struct rr_tls_handshake *handshake)
{
	secure_fail(rr_container(handshake, struct rr_iwarp_endpoint, handshake), -RPCRDMA_ERR_LIMIT,
		"its handshake of TLS made room for another one");
}

/* Opens the session of TLS. */
static void
secure_open(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_tls *tls = endpoint->wants ? endpoint->wants->tls : secure_of_fabric(endpoint);

	if (rr_tls_open(tls, endpoint->wants, RR_TLS_MPA, rr_tls_socket_receive, &endpoint->fd,
		    &endpoint->session))
		secure_fail(endpoint, -RPCRDMA_ERR_NOMEM, "no memory for TLS");
	rr_loop_arm(secure_loop(endpoint), &endpoint->timer, RR_TLS_HANDSHAKE_LIMIT);
	rr_iwarp_endpoint_defer(endpoint);
}

/* Called when the handshake of a connection that was accepted is put under way. */
static void
secure_placed(struct rr_tls_handshake *handshake)
{
	secure_open(rr_container(handshake, struct rr_iwarp_endpoint, handshake));
}

/* Asks for a place for the handshake of a connection that was accepted. */
static void
secure_admit(struct rr_iwarp_endpoint *endpoint)
{
	const struct rr_source source = rr_address_source_of(endpoint->iwarp.base.peer);

	endpoint->handshake.placed = secure_placed;
	endpoint->handshake.displaced = secure_displaced;
	memcpy(endpoint->handshake.host, source.address, sizeof(endpoint->handshake.host));
	rr_tls_handshakes_begin(rr_iwarp_fabric(endpoint)->base.config.handshakes, &endpoint->handshake);
}

void
rr_iwarp_secure_begin(struct rr_iwarp_endpoint *endpoint)
{
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_SECURING);
	rr_loop_arm(secure_loop(endpoint), &endpoint->timer, RR_TLS_HANDSHAKE_LIMIT);
	if (endpoint->wants)
		secure_open(endpoint);
	else
		secure_admit(endpoint);
	rr_iwarp_endpoint_defer(endpoint);
}

bool
rr_iwarp_secure_greeted(struct rr_iwarp_endpoint *endpoint)
{
	uint8_t first;

	if (endpoint->session || !secure_of_fabric(endpoint) || endpoint->iwarp.setup->have)
		return false;
	if (recv(endpoint->fd, &first, 1, MSG_PEEK) != 1 || first != RR_TLS_FIRST_OCTET)
		return false;
	rr_iwarp_secure_begin(endpoint);
	return true;
}

/* Acts on the end of a handshake that failed: error is that of rr_tls_shake(). A server that closes the
 * connection before it has answered anything has no TLS; a client that may do without connects again. */
static void
secure_refused(struct rr_iwarp_endpoint *endpoint, int error, const char *why)
{
	bool unheard =
		endpoint->wants && error == -RPCRDMA_ERR_DISCONNECTED && !rr_tls_has_heard(endpoint->session);

	if (unheard && endpoint->wants->optional && rr_iwarp_endpoint_dial_plain(endpoint))
		return;
	if (unheard)
		secure_fail(endpoint, -RPCRDMA_ERR_REJECTED,
			"the server has no TLS for RDMA, which was demanded: it closed the connection "
			"unanswered; set it up there (--tls-cert), or ask without it (xprtsec=none), in the "
			"clear");
	else
		secure_fail(endpoint, error == -RPCRDMA_ERR_PEER ? -RPCRDMA_ERR_REJECTED : error, why);
}

/* Begins MPA inside of TLS, as the handshake is done. */
static void
secure_done(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_loop *loop = secure_loop(endpoint);
	struct rr_tls_facts facts;

	rr_tls_handshakes_end(&endpoint->handshake);
	rr_tls_facts(endpoint->session, &facts);
	rr_log(rr_loop_env(loop), RR_LOG_INFO, "%s: %s, %s%s%s", endpoint->iwarp.base.peer, facts.version,
		facts.cipher, facts.peer[0] ? ", certificate of " : "", facts.peer);
	if (!endpoint->listener) {
		rr_loop_arm(loop, &endpoint->timer, RR_IWARP_CONNECT_LIMIT);
		rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_UP);
		rr_iwarp_endpoint_defer(endpoint);
		return;
	}
	rr_loop_arm(loop, &endpoint->timer, RR_IWARP_REQUEST_LIMIT);
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_PENDING);
	rr_iwarp_endpoint_defer(endpoint);
	/* The MPA request may be inside of the session. */
	rr_iwarp_endpoint_event(endpoint, RR_IWARP_ENDPOINT_READABLE);
}

/* Sends what the session has encrypted. Returns 0 if all of it was sent, -EAGAIN if the socket is full, or
 * another negative errno value. */
static int
secure_send(struct rr_iwarp_endpoint *endpoint)
{
	uint64_t moved = 0;
	int error = rr_tls_socket_push(endpoint->session, endpoint->fd, &moved);

	endpoint->full = error == -EAGAIN;
	if (moved)
		rr_iwarp_stream_moved(endpoint, moved);
	return error;
}

void
rr_iwarp_secure_shake(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_text text;
	int result = 0, sent;

	if (endpoint->iwarp.state == RR_IWARP_OVER || !endpoint->session)
		return;
	if (endpoint->wants || rr_tls_handshakes_have_turn(rr_iwarp_fabric(endpoint)->base.config.handshakes,
				       rr_loop_turns(secure_loop(endpoint))))
		result = rr_tls_shake(endpoint->session, &text);
	/* An alert, which tells the peer why this side ends the connection, leaves before the socket closes.
	 */
	sent = result < 0 ? 0 : secure_send(endpoint);
	if (sent < 0 && sent != -EAGAIN) {
		result = -RPCRDMA_ERR_DISCONNECTED;
		rr_fail(&text, 0, "%s", strerror(-sent));
	}
	if (result < 0)
		secure_refused(endpoint, result, text.text);
	else if (result > 0)
		secure_done(endpoint);
}

bool
rr_iwarp_secure_push(struct rr_iwarp_endpoint *endpoint)
{
	int error = secure_send(endpoint);

	if (error && error != -EAGAIN)
		rr_iwarp_stream_lost(endpoint, -error);
	return !error;
}

ssize_t
rr_iwarp_secure_read(struct rr_iwarp_endpoint *endpoint, struct iovec *vectors, int count)
{
	struct rr_text text;
	ssize_t got = rr_tls_read(endpoint->session, vectors, count, &text);
	int error = errno;

	if (got >= 0)
		return got;
	/* An answer to a key update, or an alert. */
	if (error == EAGAIN || error == EPROTO)
		rr_iwarp_secure_push(endpoint);
	if (error != EPROTO)
		return -error;
	rr_iwarp_over(&endpoint->iwarp, -RPCRDMA_ERR_REJECTED, "%s", text.text);
	return -EAGAIN;
}

ssize_t
rr_iwarp_secure_write(struct rr_iwarp_endpoint *endpoint, const struct iovec *vectors, uint32_t count)
{
	ssize_t taken = rr_tls_write(endpoint->session, vectors, count);

	return taken < 0 ? -errno : taken;
}

bool
rr_iwarp_secure_has_more(struct rr_iwarp_endpoint *endpoint)
{
	struct iovec vectors[2];

	return rr_tls_has_more(endpoint->session) && rr_iwarp_space(&endpoint->iwarp, vectors) > 0;
}

void
rr_iwarp_secure_resume(struct rr_iwarp_endpoint *endpoint)
{
	/* An MPA request is read to its end as soon as the socket is readable. */
	if (endpoint->state == RR_IWARP_ENDPOINT_PENDING || !rr_iwarp_secure_has_more(endpoint))
		return;
	rr_tls_hold(endpoint->session, true);
	rr_iwarp_stream_read(endpoint);
	/* A handler may have closed the endpoint. */
	if (endpoint->session)
		rr_tls_hold(endpoint->session, false);
}

void
rr_iwarp_secure_end(struct rr_iwarp_endpoint *endpoint)
{
	rr_tls_handshakes_end(&endpoint->handshake);
	if (!endpoint->session)
		return;
	rr_tls_socket_end(endpoint->session, endpoint->fd);
	rr_tls_close(endpoint->session);
	endpoint->session = NULL;
}
