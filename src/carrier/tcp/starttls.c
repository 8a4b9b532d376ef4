/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a connection into TLS (RFC 9289, section 4.1): the probe with AUTH_TLS, its answer STARTTLS, and
 * the handshake, in the state RR_TCP_SECURING.
 *
 * Those of accepted connections are bounded by base/tls/handshakes.h. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/endian.h"
#include "base/peer_log.h"
#include "carrier/tcp/tcp_private.h"
#include "wire/rpc.h"

/* Octets of a call without arguments whose credential and verifier are empty, and where some of its words
 * are. */
enum { PROBE_CALL = 40, PROBE_RPCVERS = 8, PROBE_PROC = 20, PROBE_FLAVOR = 24, PROBE_LENGTH = 28 };
/* The probe names the program and version in use; a server answers it for any. */
enum { PROBE_PROGRAM = 100003, PROBE_VERSION = 4 };

/* RFC 9289, 4.1: the server answers with "an AUTH_NONE verifier containing the "STARTTLS" token". */
static const char starttls_token[] = "STARTTLS";
enum { STARTTLS_TOKEN = sizeof(starttls_token) - 1 };

/* Ends the connection, whose way into TLS has failed. At the accepting side this is logged as well, as the
 * peer may not be able to say it. */
static void
starttls_fail(struct rr_tcp *tcp, int error, const char *why)
{
	if (!tcp->wants)
		rr_log_peer(rr_loop_peer_log(tcp->base.engine->loop), tcp->base.peer, "%s: %s",
			tcp->base.peer, why);
	rr_tcp_fail(tcp, error, "%s: %s", tcp->base.peer, why);
}

/* Brings the connection into the state RR_TCP_SECURING. Returns false if there is no memory: the connection
 * has ended then. */
static bool
starttls_enter(struct rr_tcp *tcp)
{
	tcp->secure = rr_alloc(tcp->base.engine->env, sizeof(*tcp->secure));
	if (!tcp->secure) {
		rr_tcp_fail(tcp, -RPCRDMA_ERR_NOMEM, "%s: no memory for TLS", tcp->base.peer);
		return false;
	}
	tcp->secure->tcp = tcp;
	rr_list_init(&tcp->secure->handshake.link);
	tcp->state = RR_TCP_SECURING;
	rr_loop_arm(tcp->base.engine->loop, &tcp->timer, RR_TLS_HANDSHAKE_LIMIT);
	return true;
}

void
rr_tcp_starttls_timed_out(struct rr_tcp *tcp)
{
	if (tcp->secure->session)
		starttls_fail(tcp, -RPCRDMA_ERR_TIMEDOUT, "the handshake of TLS was not ended in 10 s");
	else if (tcp->wants)
		starttls_fail(
			tcp, -RPCRDMA_ERR_TIMEDOUT, "the server did not answer in 10 s whether it has TLS");
	else
		starttls_fail(tcp, -RPCRDMA_ERR_LIMIT, "too many handshakes of TLS were under way for 10 s");
}

/* ---- The accepting side ---- */

/* Ends a connection whose handshake makes room for another one. */
static void
starttls_displaced(struct rr_tls_handshake *handshake)
{
	starttls_fail(rr_container(handshake, struct rr_tcp_secure, handshake)->tcp, -RPCRDMA_ERR_LIMIT,
		"its handshake of TLS made room for another one");
}

/* Begins a handshake that is under way now: opens the session, and has the loop report the socket. */
static void
starttls_placed(struct rr_tls_handshake *handshake)
{
	struct rr_tcp *tcp = rr_container(handshake, struct rr_tcp_secure, handshake)->tcp;
	struct rpcrdma_engine *engine = tcp->base.engine;

	if (!rr_tcp_secure_open(tcp, engine->config.tls, NULL)) {
		rr_tcp_fail(tcp, -RPCRDMA_ERR_NOMEM, "%s: no memory for TLS", tcp->base.peer);
		return;
	}
	rr_loop_want(engine->loop, &tcp->watch, RR_READABLE);
	rr_loop_arm(engine->loop, &tcp->timer, RR_TLS_HANDSHAKE_LIMIT);
}

/* Asks for a place for the handshake of an accepted connection, whose probe was answered. Until it has one,
 * nothing is read. */
static void
starttls_accept(struct rr_tcp *tcp)
{
	struct rr_tls_handshake *handshake;

	if (!starttls_enter(tcp))
		return;
	handshake = &tcp->secure->handshake;
	handshake->placed = starttls_placed;
	handshake->displaced = starttls_displaced;
	memcpy(handshake->host, tcp->base.source.address, sizeof(handshake->host));
	rr_tls_handshakes_begin(&tcp->base.engine->handshakes, handshake);
}

/* Answers the probe with STARTTLS, and begins the handshake. RFC 9289, 4.1: the client sends its ClientHello
 * after the answer; octets that have come behind the probe were sent by somebody who did not wait for it,
 * maybe not by the client. RFC 9289, 5.1.1: "receivers MUST discard that data without response and then
 * SHOULD drop the connection." */
static void
starttls_agree(struct rr_tcp *tcp, uint32_t xid)
{
	const struct rr_reply_header header = {
		.xid = xid,
		.reply_stat = RR_MSG_ACCEPTED,
		.verf = { RR_AUTH_NONE, { starttls_token, STARTTLS_TOKEN } },
		.accept_stat = RR_SUCCESS,
	};

	if (tcp->in_end > tcp->in_start) {
		starttls_fail(tcp, -RPCRDMA_ERR_PEER, "it sent octets behind its probe for TLS");
		return;
	}
	rr_tcp_answer(tcp, &header);
	if (rr_tcp_alive(tcp))
		rr_tcp_flush(tcp);
	if (!rr_tcp_alive(tcp))
		return;
	if (rr_list_empty(&tcp->out))
		starttls_accept(tcp);
	else
		starttls_fail(tcp, -RPCRDMA_ERR_PEER, "it does not take the answer to its probe for TLS");
}

/* Answers the call by AUTH_ERROR with that status. */
static void
starttls_deny(struct rr_tcp *tcp, uint32_t xid, enum rr_auth_stat stat)
{
	const struct rr_reply_header header = {
		.xid = xid, .reply_stat = RR_MSG_DENIED, .reject_stat = RR_AUTH_ERROR, .auth_stat = stat
	};

	rr_tcp_answer(tcp, &header);
}

/* Tells whether the call, which has the flavor AUTH_TLS, is a probe as it must be: the first call of its
 * connection, of procedure 0, with empty credential and verifier, and without arguments. */
static bool
starttls_is_probe(const struct rr_tcp *tcp, struct rpcrdma_bytes call)
{
	const uint8_t *octets = call.data;
	static const uint8_t empty[PROBE_CALL - PROBE_LENGTH];

	return !tcp->secure && tcp->delivered == 0 && tcp->exchange_count == 0 && call.length == PROBE_CALL &&
	       rr_get_be32(octets + PROBE_RPCVERS) == RR_RPC_VERSION &&
	       rr_get_be32(octets + PROBE_PROC) == 0 &&
	       memcmp(octets + PROBE_LENGTH, empty, sizeof(empty)) == 0;
}

/* RFC 9289, 4.1: "If an RPC client uses the AUTH_TLS authentication flavor on any procedure other than the
 * NULL procedure, or an RPC client sends an RPC AUTH_TLS probe within an existing (D)TLS session, the RPC
 * server MUST reject that RPC Call by returning a reply_stat of MSG_DENIED with a reject_stat of AUTH_ERROR
 * and an auth_stat of AUTH_BADCRED." */
bool
rr_tcp_starttls_called(struct rr_tcp *tcp, uint32_t xid, struct rpcrdma_bytes call)
{
	const struct rr_engine_config *config = &tcp->base.engine->config;
	bool is_tls = call.length >= PROBE_LENGTH &&
		      rr_get_be32((const uint8_t *)call.data + PROBE_FLAVOR) == RR_AUTH_TLS;

	if (is_tls && starttls_is_probe(tcp, call))
		starttls_agree(tcp, xid);
	else if (is_tls)
		starttls_deny(tcp, xid, RR_AUTH_BADCRED);
	else if (config->tls_refused & 1u << tcp->base.source.security)
		starttls_deny(tcp, xid, RR_AUTH_TOOWEAK);
	else
		return false;
	return true;
}

/* ---- The connecting side ---- */

void
rr_tcp_starttls_ask(struct rr_tcp *tcp)
{
	static const uint32_t words[] = { RR_RECORD_LAST | PROBE_CALL, 0, RR_CALL, RR_RPC_VERSION,
		PROBE_PROGRAM, PROBE_VERSION, 0, RR_AUTH_TLS, 0, RR_AUTH_NONE, 0 };
	uint8_t probe[sizeof(words)];

	if (!starttls_enter(tcp))
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		rr_put_be32(probe + 4 * i, words[i]);
	tcp->secure->xid = (uint32_t)rr_random_u64(tcp->base.engine->env);
	rr_put_be32(probe + RR_RECORD_MARK_SIZE, tcp->secure->xid);
	/* Nothing was sent on this connection before, so that there is room for all of it. */
	if (send(tcp->watch.fd, probe, sizeof(probe), MSG_NOSIGNAL) != (ssize_t)sizeof(probe))
		rr_tcp_fail(tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: %s", tcp->base.peer, strerror(errno));
}

/* Reads the answer to the probe, and nothing behind it. Returns true if all of it has come; false if not, or
 * if the connection has ended. */
static bool
starttls_read_answer(struct rr_tcp *tcp)
{
	struct rr_tcp_secure *secure = tcp->secure;

	for (;;) {
		uint32_t mark =
			secure->got < RR_RECORD_MARK_SIZE ? RR_RECORD_LAST : rr_get_be32(secure->answer);
		uint32_t all = RR_RECORD_MARK_SIZE + (mark & ~RR_RECORD_LAST);
		ssize_t got;

		if (!(mark & RR_RECORD_LAST) || all > sizeof(secure->answer)) {
			starttls_fail(tcp, -RPCRDMA_ERR_PEER, "what listens there does not speak RPC");
			return false;
		}
		if (secure->got >= RR_RECORD_MARK_SIZE && secure->got == all)
			return true;
		got = recv(tcp->watch.fd, secure->answer + secure->got, all - secure->got, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (got <= 0) {
			starttls_fail(tcp, -RPCRDMA_ERR_DISCONNECTED,
				"the peer closed the connection when it was asked for TLS");
			return false;
		}
		secure->got += (uint32_t)got;
	}
}

/* Tells whether the answer to the probe says that the server has TLS: RFC 9289, 4.1: "if the Reply's
 * reply_stat is not MSG_ACCEPTED, if its verifier flavor is not AUTH_NONE, or if its verifier does not
 * contain the "STARTTLS" token, the RPC client MUST NOT send a "ClientHello" message." */
static bool
starttls_is_agreed(const struct rr_tcp_secure *secure)
{
	enum { FRONT = 5 * 4 }; /* xid, REPLY, MSG_ACCEPTED, and the verifier's flavor and length */
	const uint8_t *reply = secure->answer + RR_RECORD_MARK_SIZE;

	/* These words are read here, and not by rr_rpc_get_reply(), which has one caller in most programs,
	 * and is a part of that caller then: a second one would make each reply dearer by 40 instructions. */
	return secure->got >= RR_RECORD_MARK_SIZE + FRONT + STARTTLS_TOKEN + 4 &&
	       rr_get_be32(reply) == secure->xid && rr_get_be32(reply + 4) == RR_REPLY &&
	       rr_get_be32(reply + 8) == RR_MSG_ACCEPTED && rr_get_be32(reply + 12) == RR_AUTH_NONE &&
	       rr_get_be32(reply + 16) == STARTTLS_TOKEN &&
	       memcmp(reply + FRONT, starttls_token, STARTTLS_TOKEN) == 0;
}

/* Acts on the answer to the probe, if it has come: begins the handshake; or, if the server has no TLS, ends
 * the connection, unless it may go on without. Returns true if the connection is open now. */
static bool
starttls_answered(struct rr_tcp *tcp)
{
	if (!starttls_read_answer(tcp))
		return false;
	if (starttls_is_agreed(tcp->secure)) {
		if (!rr_tcp_secure_open(tcp, tcp->wants->tls, tcp->wants))
			rr_tcp_fail(tcp, -RPCRDMA_ERR_NOMEM, "%s: no memory for TLS", tcp->base.peer);
		return false;
	}
	if (tcp->wants->optional) {
		rr_tcp_secure_end(tcp);
		return true;
	}
	starttls_fail(tcp, -RPCRDMA_ERR_REJECTED,
		"the server has no TLS, which was demanded: set it up there (--tls-cert), or ask without it "
		"(xprtsec=none), in "
		"the clear");
	return false;
}

/* ---- The handshake ---- */

/* Goes on with the handshake. Returns true if the connection is open now, inside of TLS. */
static bool
starttls_shake(struct rr_tcp *tcp)
{
	struct rr_tls_facts facts;
	struct rr_text text;
	struct rpcrdma_engine *engine = tcp->base.engine;
	bool goes_on =
		tcp->wants || rr_tls_handshakes_have_turn(&engine->handshakes, rr_loop_turns(engine->loop));
	int result = goes_on ? rr_tls_shake(tcp->secure->session, &text) : 0;

	/* Also an alert, which tells the peer why this side ends the connection. */
	if (!rr_tcp_secure_push(tcp) && !rr_tcp_alive(tcp))
		return false;
	if (result < 0)
		starttls_fail(tcp, result == -RPCRDMA_ERR_PEER ? -RPCRDMA_ERR_REJECTED : result, text.text);
	if (result <= 0)
		return false;
	rr_tls_facts(tcp->secure->session, &facts);
	tcp->base.source.security = (uint8_t)facts.security;
	rr_log(tcp->base.engine->env, RR_LOG_INFO, "%s: %s, %s%s%s", tcp->base.peer, facts.version,
		facts.cipher, facts.peer[0] ? ", certificate of " : "", facts.peer);
	return true;
}

bool
rr_tcp_starttls_ready(struct rr_tcp *tcp)
{
	bool open;

	if (rr_tcp_starttls_waits(tcp)) {
		rr_tcp_fail(tcp, -RPCRDMA_ERR_DISCONNECTED, "%s: the connection was reset", tcp->base.peer);
		return false;
	}
	open = tcp->secure->session ? starttls_shake(tcp) : starttls_answered(tcp);
	/* The answer STARTTLS is followed by this side's ClientHello at once. */
	if (!open && rr_tcp_alive(tcp) && tcp->wants && tcp->secure->session && tcp->secure->got > 0) {
		tcp->secure->got = 0;
		open = starttls_shake(tcp);
	}
	if (!open)
		return false;
	rr_loop_disarm(tcp->base.engine->loop, &tcp->timer);
	if (tcp->secure)
		rr_tls_handshakes_end(&tcp->secure->handshake);
	tcp->state = RR_TCP_OPEN;
	return true;
}
