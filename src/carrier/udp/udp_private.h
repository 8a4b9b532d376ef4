/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_UDP_UDP_PRIVATE_H
#define RR_CARRIER_UDP_UDP_PRIVATE_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "carrier/udp/udp.h"

/* The carriers over UDP, as their files see them: listen.c has the socket, peer.c the peers, each of which is
 * a carrier, and their calls, and kind.c the kind. */

/* A socket that receives calls. It owns its peers until their owners close them. */
struct rr_udp_acceptor {
	struct rr_acceptor base; /* comes first */
	struct rpcrdma_engine *engine;
	struct rr_watch watch;
	struct rr_timer idle;
	struct rr_grave grave;
	struct rr_list peers; /* struct rr_udp_peer, the one that called last first */
	uint32_t peer_count, call_count;
	bool closed;
	uint8_t octets[RR_UDP_MAX];
};

/* The address to which a datagram was sent, as the system describes it, and describes it to the system for
 * the answer. */
struct rr_udp_asked {
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	size_t size; /* 0: it is not known */
};

/* An address and port from which calls came lately. */
struct rr_udp_peer {
	struct rr_carrier base;
	struct rr_udp_acceptor *acceptor; /* NULL: the socket has gone */
	struct rr_list link;
	struct rr_list calls;   /* struct udp_call */
	struct rr_list refused; /* transactions: this side cannot call */
	struct rr_task task;
	struct rr_grave grave;
	struct sockaddr_storage address;
	socklen_t size;
	uint64_t used; /* when the last call came */
	uint64_t moved;
	bool ends, closed; /* closed() of the owner is due; the owner has closed the carrier */
};

/* Makes the peer of this address. Returns NULL if there is no memory. */
struct rr_udp_peer *rr_udp_peer_new(
	struct rr_udp_acceptor *acceptor, const struct sockaddr_storage *address, socklen_t size);
/* Hands a call of the peer to its owner. Without memory, the call is dropped. */
void rr_udp_peer_called(
	struct rr_udp_peer *peer, const uint8_t *octets, uint32_t length, const struct rr_udp_asked *asked);
/* Has closed() of the owner called: the peer is to make room, or the socket has gone. */
void rr_udp_peer_end(struct rr_udp_peer *peer);

/* Sends an answer. One that cannot be sent at once is lost, as any datagram may be. */
void rr_udp_send(struct rr_udp_acceptor *acceptor, const struct rr_udp_peer *peer,
	const struct rr_udp_asked *asked, const struct rpcrdma_message *message);

/* See rr_carrier_listen(), rr_acceptor_address() and rr_acceptor_close(). */
int rr_udp_listen(struct rr_carriers *carriers, const struct rr_carrier_place *at,
	struct rr_acceptor **acceptor, struct rr_text *text);
int rr_udp_address(struct rr_acceptor *acceptor, struct sockaddr_storage *address);
void rr_udp_unlisten(struct rr_acceptor *acceptor);

#endif
