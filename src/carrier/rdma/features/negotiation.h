/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_FEATURES_NEGOTIATION_H
#define RR_CARRIER_RDMA_FEATURES_NEGOTIATION_H

#include "base/loop.h"
#include "carrier/rdma/version.h"

/* The requester's search for the version that both sides use (draft-cel-nfsv4-rpcrdma-version-two-00, section
 * 5). The first message of a connection is a CONNPROP in version 2, which announces the transport properties
 * of this side (properties.h): "a single valid RPC-over-RDMA message", smaller than any responder's Receives.
 * The peer's transport answers it at once, whatever the peer's application is doing. Calls wait for that
 * answer; after it the version and the peer's properties are known. After ERR_VERS, calls go in version 1, on
 * the same connection. A NULL call would show the version, too, but it needs a program number, waits for the
 * peer's application, and leaves the properties to another message. */
struct rr_connection;

/* The states of the search. */
enum rr_negotiation_state {
	RR_NEGOTIATION_OPEN,  /* no message was sent that asks for a version */
	RR_NEGOTIATION_ASKED, /* a CONNPROP in version 2 was sent, and not answered yet */
	/* Calls go in a version that the peer has not confirmed on this connection: the remembered version of
	 * the server, or that of the peer's calls, or version 2 if the answer to the CONNPROP left the
	 * version open. */
	RR_NEGOTIATION_ASSUMED,
	RR_NEGOTIATION_SETTLED, /* the search is over: no event changes the version any more */
	RR_NEGOTIATION_STATES
};

/* What can happen to the search. */
enum rr_negotiation_event {
	RR_NEGOTIATION_SENT,     /* the CONNPROP was sent */
	RR_NEGOTIATION_ANSWERED, /* a message came that shows that the peer uses the version */
	RR_NEGOTIATION_REFUSED,  /* ERR_VERS came */
	RR_NEGOTIATION_FAILED,   /* any other answer, which leaves the version open; or no memory to ask */
	RR_NEGOTIATION_LATE,     /* no answer came within RR_NEGOTIATION_PATIENCE */
	RR_NEGOTIATION_ENDED,    /* the connection ended, but not by its owner */
	RR_NEGOTIATION_EVENTS
};

/* How long this side waits for an answer, if the server is not known to use version 2. */
#define RR_NEGOTIATION_PATIENCE (5 * RR_SECOND)

/* The version of a connection, and the search for it. */
struct rr_negotiation {
	enum rr_negotiation_state state;
	uint32_t version;             /* of RPC-over-RDMA, in which this side sends its calls */
	struct rr_version_range peer; /* the versions of the peer, from the last ERR_VERS */
	struct rr_timer timer;
	struct sockaddr_storage server; /* its address; zeroes on the side that accepted */
	bool failed; /* version 2 was not answered, and another connection may try version 1 */
};

/* Begins the negotiation of the version, on the side that connects to server. On the side that accepted,
 * server is NULL: that side uses for its calls (in the reverse direction) the version of the calls that it
 * receives. */
void rr_negotiation_init(struct rr_connection *connection, const struct sockaddr *server, socklen_t size);

/* Calls the function that the table in negotiation.c has for the event in the present state. */
void rr_negotiation_event(struct rr_connection *connection, enum rr_negotiation_event event);

/* Is called when a call of that version arrived. On the side that accepted, calls in the reverse direction go
 * in this version from then on. Does nothing on the side that connected. */
void rr_negotiation_called(struct rr_connection *connection, uint32_t version);

#endif
