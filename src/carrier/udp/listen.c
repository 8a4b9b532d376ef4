/* SPDX-License-Identifier: BSD-3-Clause */
/* A socket that receives calls, and sends the answers. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/bound.h"
#include "carrier/udp/udp_private.h"

/* A peer that has not called for LISTEN_IDLE makes room. */
#define LISTEN_IDLE (30 * RR_SECOND)

/* The most datagrams that are received in a turn of the loop. The least octets of a call: RFC 5531, 9: its
 * header with two empty verifiers. */
enum { LISTEN_IN_TURN = 32, LISTEN_CALL_MIN = 40 };

/* ---- Peers ---- */

/* Returns the peer of this address and port, which is the first of the list from now on; NULL: it is a new
 * one. */
static struct rr_udp_peer *
listen_find(struct rr_udp_acceptor *acceptor, const struct sockaddr_storage *address, socklen_t size)
{
	rr_list_for_each (link, &acceptor->peers) {
		struct rr_udp_peer *peer = rr_container(link, struct rr_udp_peer, link);

		if (peer->size != size || memcmp(&peer->address, address, size) != 0 || peer->ends)
			continue;
		rr_list_remove(&peer->link);
		rr_list_prepend(&acceptor->peers, &peer->link);
		return peer;
	}
	return NULL;
}

/* Has the peer end that called longest ago, of those without calls under way. */
static void
listen_make_room(struct rr_udp_acceptor *acceptor)
{
	for (struct rr_list *link = acceptor->peers.prev; link != &acceptor->peers; link = link->prev) {
		struct rr_udp_peer *peer = rr_container(link, struct rr_udp_peer, link);

		if (peer->ends || !rr_list_empty(&peer->calls))
			continue;
		rr_udp_peer_end(peer);
		return;
	}
}

/* Returns the peer that has sent a datagram. NULL: it is dropped, as there is no room for another peer; there
 * is room in the next turn. */
static struct rr_udp_peer *
listen_peer(struct rr_udp_acceptor *acceptor, const struct sockaddr_storage *address, socklen_t size)
{
	struct rr_udp_peer *peer = listen_find(acceptor, address, size);

	if (!peer && acceptor->peer_count < RR_UDP_PEERS) {
		peer = rr_udp_peer_new(acceptor, address, size);
		if (peer)
			acceptor->base.handler(acceptor->base.ctx, &peer->base);
		if (peer && peer->closed)
			peer = NULL;
	} else if (!peer) {
		listen_make_room(acceptor);
	}
	if (peer)
		peer->used = rr_now(acceptor->engine->env);
	return peer;
}

static void
listen_idle(struct rr_timer *timer)
{
	struct rr_udp_acceptor *acceptor = rr_container(timer, struct rr_udp_acceptor, idle);
	uint64_t now = rr_now(acceptor->engine->env);

	rr_list_for_each (link, &acceptor->peers) {
		struct rr_udp_peer *peer = rr_container(link, struct rr_udp_peer, link);

		if (now - peer->used >= LISTEN_IDLE && rr_list_empty(&peer->calls))
			rr_udp_peer_end(peer);
	}
	if (acceptor->peer_count > 0)
		rr_loop_arm(acceptor->engine->loop, &acceptor->idle, LISTEN_IDLE);
}

/* ---- Datagrams ---- */

/* Keeps the part of a message's ancillary data that says where it was sent to. */
static void
listen_note_asked(struct msghdr *message, struct rr_udp_asked *asked)
{
	asked->size = 0;
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		bool in = part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO;
		bool in6 = part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO;

		if ((!in && !in6) || CMSG_SPACE(part->cmsg_len - CMSG_LEN(0)) > sizeof(asked->control))
			continue;
		/* The answer leaves by the way that the routes say, not by the way the call came. */
		if (in)
			((struct in_pktinfo *)(void *)CMSG_DATA(part))->ipi_ifindex = 0;
		memcpy(asked->control, part, part->cmsg_len);
		asked->size = CMSG_SPACE(part->cmsg_len - CMSG_LEN(0));
	}
}

/* Receives a datagram, and hands it on if it may be a call. Returns false if there is none. */
static bool
listen_receive(struct rr_udp_acceptor *acceptor)
{
	_Alignas(struct cmsghdr) uint8_t control[256];
	struct sockaddr_storage address = { 0 };
	struct iovec vector = { acceptor->octets, sizeof(acceptor->octets) };
	struct msghdr message = { .msg_name = &address,
		.msg_namelen = sizeof(address),
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(acceptor->watch.fd, &message, MSG_DONTWAIT);
	struct rr_udp_asked asked;
	struct rr_udp_peer *peer;

	if (got < 0)
		return errno == EINTR;
	if (got < LISTEN_CALL_MIN || got % 4 != 0 || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ||
		acceptor->call_count >= RR_UDP_CALLS)
		return true;
	listen_note_asked(&message, &asked);
	peer = listen_peer(acceptor, &address, message.msg_namelen);
	if (peer)
		rr_udp_peer_called(peer, acceptor->octets, (uint32_t)got, &asked);
	if (!rr_timer_armed(&acceptor->idle) && !acceptor->closed)
		rr_loop_arm(acceptor->engine->loop, &acceptor->idle, LISTEN_IDLE);
	return true;
}

static void
listen_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_udp_acceptor *acceptor = rr_container(watch, struct rr_udp_acceptor, watch);

	(void)events;
	for (int i = 0; i < LISTEN_IN_TURN && !acceptor->closed && listen_receive(acceptor); i++)
		continue;
}

void
rr_udp_send(struct rr_udp_acceptor *acceptor, const struct rr_udp_peer *peer,
	const struct rr_udp_asked *asked, const struct rpcrdma_message *message)
{
	struct sockaddr_storage address = peer->address;
	struct rr_udp_asked from = *asked;
	struct iovec vector = { (void *)(uintptr_t)message->stream, message->length };
	struct msghdr header = { .msg_name = &address,
		.msg_namelen = peer->size,
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = from.size ? from.control : NULL,
		.msg_controllen = from.size };

	if (sendmsg(acceptor->watch.fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		rr_log(acceptor->engine->env, RR_LOG_DEBUG, "%s: an answer over UDP is lost: %s",
			peer->base.peer, strerror(errno));
}

/* ---- The socket ---- */

static int
listen_open(const struct rpcrdma_engine *engine, const struct sockaddr *address, socklen_t size)
{
	static const int on = 1;
	int fd = rr_bound_socket(SOCK_DGRAM, address, size, engine->config.reuse_port);

	if (fd < 0) {
		errno = -fd;
		return -1;
	}
	if (address->sa_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on));
	else
		(void)setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
	return fd;
}

int
rr_udp_listen(struct rr_carriers *carriers, const struct rr_carrier_place *at, struct rr_acceptor **result,
	struct rr_text *text)
{
	struct rpcrdma_engine *engine = carriers->engine;
	struct rr_udp_acceptor *acceptor = rr_alloc(engine->env, sizeof(*acceptor));
	char where[RR_ADDRESS_TEXT];
	int fd;

	if (!acceptor)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a listener");
	acceptor->engine = engine;
	acceptor->watch.ready = listen_ready;
	rr_timer_init(&acceptor->idle, listen_idle);
	rr_list_init(&acceptor->peers);
	fd = listen_open(engine, at->address, at->size);
	if (fd >= 0 && rr_loop_watch(engine->loop, &acceptor->watch, fd, RR_READABLE) == 0) {
		*result = &acceptor->base;
		return 0;
	}
	rr_address_text(at->address, where, sizeof(where));
	rr_fail(text, 0, "cannot listen at %s (UDP): %s", where, strerror(errno));
	if (fd >= 0)
		close(fd);
	rr_free(engine->env, acceptor);
	return -RPCRDMA_ERR_SYSTEM;
}

int
rr_udp_address(struct rr_acceptor *base, struct sockaddr_storage *address)
{
	const struct rr_udp_acceptor *acceptor = rr_container(base, struct rr_udp_acceptor, base);
	socklen_t size = sizeof(*address);

	return getsockname(acceptor->watch.fd, (struct sockaddr *)address, &size) < 0 ? -RPCRDMA_ERR_SYSTEM
										      : 0;
}

static void
listen_free(struct rr_grave *grave, const struct rr_env *env)
{
	rr_free(env, rr_container(grave, struct rr_udp_acceptor, grave));
}

void
rr_udp_unlisten(struct rr_acceptor *base)
{
	struct rr_udp_acceptor *acceptor = rr_container(base, struct rr_udp_acceptor, base);
	struct rr_loop *loop = acceptor->engine->loop;

	acceptor->closed = true;
	/* The carriers live on until their owners close them, and answer nobody any more. */
	rr_list_for_each (link, &acceptor->peers) {
		struct rr_udp_peer *peer = rr_container(link, struct rr_udp_peer, link);

		peer->acceptor = NULL;
		rr_list_remove(&peer->link);
		rr_udp_peer_end(peer);
	}
	rr_loop_unwatch(loop, &acceptor->watch);
	rr_loop_disarm(loop, &acceptor->idle);
	close(acceptor->watch.fd);
	rr_loop_bury(loop, &acceptor->grave, listen_free);
}
