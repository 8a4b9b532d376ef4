/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_FEATURES_NEGOTIATION_H
#define RR_CARRIER_RDMA_FEATURES_NEGOTIATION_H

#include "base/loop.h"
#include "carrier/rdma/version.h"

/*
 * The requester's search for the version that both sides speak
 * (draft-cel-nfsv4-rpcrdma-version-two-00, section 5). The first message of a
 * connection is a CONNPROP in version 2: "a single valid RPC-over-RDMA
 * message", smaller than any responder's Receives, which the peer's transport
 * answers at once, whatever its application is doing. Calls wait for that
 * answer, and then know the version and the peer's properties. ERR_VERS makes
 * them go in version 1, on the same connection. A NULL call would do as well
 * for the version alone, but it needs a program number, waits for the peer's
 * application, and leaves the properties to another message.
 */
struct rr_connection;

enum rr_negotiation_state {
	RR_NEGOTIATION_OPEN,    /* nothing was sent that asks for a version */
	RR_NEGOTIATION_ASKED,   /* a CONNPROP in version 2 was sent, and nothing answered it */
	RR_NEGOTIATION_ASSUMED, /* version is what is remembered of the server, or that of the peer's calls,
				 * or version 2 where the answer to the CONNPROP did not tell */
	RR_NEGOTIATION_SETTLED, /* version is the connection's */
	RR_NEGOTIATION_STATES
};

enum rr_negotiation_event {
	RR_NEGOTIATION_SENT,     /* the CONNPROP left */
	RR_NEGOTIATION_ANSWERED, /* a message came that shows that the peer speaks the version */
	RR_NEGOTIATION_REFUSED,  /* ERR_VERS came */
	RR_NEGOTIATION_FAILED,   /* any other answer, which says nothing of versions; or no memory to ask */
	RR_NEGOTIATION_LATE,     /* no answer within RR_NEGOTIATION_PATIENCE */
	RR_NEGOTIATION_ENDED,    /* the connection ended, not by its owner's will */
	RR_NEGOTIATION_EVENTS
};

/* For a server that is not known to speak version 2. */
#define RR_NEGOTIATION_PATIENCE (5 * RR_SECOND)

struct rr_negotiation {
	enum rr_negotiation_state state;
	uint32_t version;             /* that own calls go in */
	struct rr_version_range peer; /* of the last ERR_VERS */
	struct rr_timer timer;
	struct sockaddr_storage server;
	bool failed; /* version 2 was not answered, and version 1 may be tried on another connection */
};

/* As the side that connects to server, or, where that is NULL, the one that accepted: its calls, of the
 * reverse direction, go in the version of those that it gets. */
void rr_negotiation_init(struct rr_connection *connection, const struct sockaddr *server, socklen_t size);

void rr_negotiation_event(struct rr_connection *connection, enum rr_negotiation_event event);

/* An accepted connection got a call of that version. */
void rr_negotiation_called(struct rr_connection *connection, uint32_t version);

#endif
