/* SPDX-License-Identifier: BSD-3-Clause */
/* A listening socket. The acceptor owns it; each connection belongs to the owner to whom the handler gives
 * it. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "base/bound.h"
#include "base/peer_log.h"
#include "carrier/tcp/tcp_private.h"

enum {
	BACKLOG = 4096, /* clients that connect at the same time, as after a restart; the system may have a
			   lower bound */
	ACCEPTS_PER_TURN = 16
};
#define PAUSE (100 * RR_MILLISECOND) /* how long to wait when descriptors or memory ran out */

struct tcp_acceptor {
	struct rr_acceptor base; /* comes first */
	struct rpcrdma_engine *engine;
	struct rr_carriers *carriers;
	struct rr_watch watch;
	struct rr_timer pause;
	struct rr_spread_seat seat;
	bool closed; /* the owner closed the acceptor, maybe inside its handler */
	struct rr_grave grave;
};

static struct tcp_acceptor *
accept_acceptor_of(struct rr_acceptor *acceptor)
{
	return rr_container(acceptor, struct tcp_acceptor, base);
}

/* Accepts connections again, as the pause after a lack of descriptors or memory is over. */
static void
accept_resume(struct rr_timer *timer)
{
	struct tcp_acceptor *acceptor = rr_container(timer, struct tcp_acceptor, pause);

	rr_loop_want(acceptor->engine->loop, &acceptor->watch, RR_READABLE);
}

/* Stops accepting for PAUSE, as descriptors or memory ran out. */
static void
accept_pause_accepting(struct tcp_acceptor *acceptor)
{
	rr_loop_want(acceptor->engine->loop, &acceptor->watch, 0);
	rr_loop_arm(acceptor->engine->loop, &acceptor->pause, PAUSE);
}

/* Tells whether the engine may accept a connection from that address, as the number of connections is
 * bounded. To make room, another connection may be cut off. If there is no room, logs that the connection is
 * declined. */
static bool
accept_has_room(struct rpcrdma_engine *engine, const struct sockaddr *address)
{
	char peer[RR_ADDRESS_TEXT];

	rr_address_text(address, peer, sizeof(peer));
	if (rr_shares_admit(&engine->shares, peer))
		return true;
	rr_log_peer(rr_loop_peer_log(engine->loop), peer, "%s: declined, as there are %u connections", peer,
		rr_shares_accepted(&engine->shares));
	return false;
}

/* Makes a carrier of the accepted connection fd, and hands the carrier to the acceptor's handler. If the
 * engine has no room for the connection, or no memory for the carrier, closes fd. Returns false only if there
 * is no memory. */
static bool
accept_take(struct tcp_acceptor *acceptor, int fd, const struct sockaddr *peer)
{
	struct rr_tcp *tcp;
	struct rr_text text;
	bool has_room = accept_has_room(acceptor->engine, peer);

	rr_tcp_set_options(fd);
	if (!has_room || rr_tcp_new(acceptor->carriers, fd, peer, RR_TCP_OPEN, &tcp, &text) < 0) {
		close(fd);
		/* The spread counted the connection as this engine's when it was accepted. */
		rr_spread_ended(acceptor->seat.member);
		return !has_room;
	}
	tcp->spread = acceptor->seat.member;
	acceptor->base.handler(acceptor->base.ctx, &tcp->base);
	return true;
}

/* Takes a connection that another engine's listener accepted for this engine. Without memory for a carrier,
 * the acceptor pauses. */
static void
accept_take_from(struct rr_spread_seat *seat, int fd, const struct sockaddr_storage *peer)
{
	struct tcp_acceptor *acceptor = rr_container(seat, struct tcp_acceptor, seat);

	if (!accept_take(acceptor, fd, (const struct sockaddr *)peer))
		accept_pause_accepting(acceptor);
}

/* Accepts one connection, for this engine or for another engine that has fewer connections. Returns true if
 * the next connection may be accepted at once. Returns false if no connection waits, or if there was an error
 * or no memory; after an error the acceptor pauses. */
static bool
accept_one(struct tcp_acceptor *acceptor)
{
	struct sockaddr_storage peer;
	socklen_t size = sizeof(peer);
	int fd = accept4(acceptor->watch.fd, (struct sockaddr *)&peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

	/* accept(2): errors of the new connection are reported here, too, and do not concern other
	 * connections. */
	if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
		return true;
	if (fd < 0 && errno != EAGAIN) {
		rr_log_peer(rr_loop_peer_log(acceptor->engine->loop), "",
			"a TCP connection cannot be accepted: %s", strerror(errno));
		accept_pause_accepting(acceptor);
	}
	if (fd < 0)
		return false;
	if (rr_spread_offer(&acceptor->seat, fd, &peer) ||
		accept_take(acceptor, fd, (struct sockaddr *)&peer))
		return true;
	accept_pause_accepting(acceptor);
	return false;
}

/* Accepts connections that wait, up to ACCEPTS_PER_TURN: the rest are there in the next turn still. Stops if
 * the handler of one of them closes the acceptor. */
static void
accept_ready(struct rr_watch *watch, unsigned events)
{
	struct tcp_acceptor *acceptor = rr_container(watch, struct tcp_acceptor, watch);

	(void)events;
	for (int i = 0; i < ACCEPTS_PER_TURN && accept_one(acceptor) && !acceptor->closed; i++)
		;
}

/* Opens a socket that listens at the address. Returns the descriptor, or -1 with errno set. */
static int
accept_open_socket(const struct rpcrdma_engine *engine, const struct sockaddr *address, socklen_t size)
{
	int fd = rr_bound_socket(SOCK_STREAM, address, size, engine->config.reuse_port), error = -fd;

	if (fd >= 0) {
		if (listen(fd, BACKLOG) == 0)
			return fd;
		error = errno;
		close(fd);
	}
	errno = error;
	return -1;
}

int
rr_tcp_listen(struct rr_carriers *carriers, const struct rr_carrier_place *at, struct rr_acceptor **result,
	struct rr_text *text)
{
	struct rpcrdma_engine *engine = carriers->engine;
	struct tcp_acceptor *acceptor = rr_alloc(engine->env, sizeof(*acceptor));
	char where[RR_ADDRESS_TEXT];
	int fd;

	if (!acceptor)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a listener");
	acceptor->engine = engine;
	acceptor->carriers = carriers;
	acceptor->watch.ready = accept_ready;
	rr_timer_init(&acceptor->pause, accept_resume);
	fd = accept_open_socket(engine, at->address, at->size);
	if (fd >= 0 && rr_loop_watch(engine->loop, &acceptor->watch, fd, RR_READABLE) == 0) {
		acceptor->seat.take = accept_take_from;
		rr_spread_sit(engine->spread, &acceptor->seat, fd);
		*result = &acceptor->base;
		return 0;
	}
	rr_address_text(at->address, where, sizeof(where));
	rr_fail(text, 0, "cannot listen at %s (TCP): %s%s", where, strerror(errno),
		errno == EADDRINUSE ? ": another server uses this port" : "");
	if (fd >= 0)
		close(fd);
	rr_free(engine->env, acceptor);
	return -RPCRDMA_ERR_SYSTEM;
}

/* See rr_acceptor_address(). */
int
rr_tcp_acceptor_address(struct rr_acceptor *base, struct sockaddr_storage *address)
{
	const struct tcp_acceptor *acceptor = accept_acceptor_of(base);
	socklen_t size = sizeof(*address);

	return getsockname(acceptor->watch.fd, (struct sockaddr *)address, &size) < 0 ? -RPCRDMA_ERR_SYSTEM
										      : 0;
}

/* Frees an acceptor that was closed. The loop calls this when it no longer uses the acceptor. */
static void
accept_free(struct rr_grave *grave, const struct rr_env *env)
{
	rr_free(env, rr_container(grave, struct tcp_acceptor, grave));
}

/* See rr_acceptor_close(). The handler may call this while the acceptor is at work, so the acceptor is
 * buried. */
void
rr_tcp_unlisten(struct rr_acceptor *base)
{
	struct tcp_acceptor *acceptor = accept_acceptor_of(base);
	struct rr_loop *loop = acceptor->engine->loop;

	acceptor->closed = true;
	rr_spread_stand(&acceptor->seat);
	rr_loop_unwatch(loop, &acceptor->watch);
	rr_loop_disarm(loop, &acceptor->pause);
	close(acceptor->watch.fd);
	rr_loop_bury(loop, &acceptor->grave, accept_free);
}
