/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_IWARP_ENDPOINT_H
#define RR_FABRIC_IWARP_ENDPOINT_H

#include "base/alive.h"
#include "base/share/spread.h"
#include "base/tls/handshakes.h"
#include "fabric/iwarp/protocol.h"

/* Shared by the files of the provider: an iWARP connection with its socket, its place in the loop, and its
 * timers. */

/* The provider's fabric. */
struct rr_iwarp_fabric {
	struct rr_fabric base;
	struct rr_iwarp_shared shared;
	struct rr_list rejected; /* endpoints whose peer has not closed yet, the oldest first */
	uint32_t rejected_count;
};

/* The states of an endpoint. The states of its iWARP connection are in protocol.h. */
enum rr_iwarp_endpoint_state {
	RR_IWARP_ENDPOINT_CONNECTING, /* TCP connects */
	RR_IWARP_ENDPOINT_SECURING,   /* TCP is connected: the handshake of TLS is under way */
	RR_IWARP_ENDPOINT_PENDING,    /* TCP is connected: the listener waits for the MPA request */
	/* The listener's user has the request; nothing is read, and no timer is armed. */
	RR_IWARP_ENDPOINT_OFFERED,
	RR_IWARP_ENDPOINT_ACCEPTED, /* the MPA reply has not left */
	RR_IWARP_ENDPOINT_UP,       /* initiator: since TCP connected; responder: the MPA reply has left */
	RR_IWARP_ENDPOINT_CLOSING,  /* the iWARP connection closes: its last octets leave, within a limit */
	RR_IWARP_ENDPOINT_SHUT,     /* FIN was sent: the peer is to close, within that limit */
	RR_IWARP_ENDPOINT_REJECTED, /* the fabric keeps the endpoint until its peer has closed */
	RR_IWARP_ENDPOINT_REPORTED, /* the owner has the event of the end */
	RR_IWARP_ENDPOINT_CLOSED,   /* the loop frees it */
	RR_IWARP_ENDPOINT_STATES
};

/* The events of an endpoint; endpoint.c has the table of states and events. */
enum rr_iwarp_endpoint_event {
	RR_IWARP_ENDPOINT_TURN,     /* the end of the turn */
	RR_IWARP_ENDPOINT_READABLE, /* the socket has octets, or its end */
	RR_IWARP_ENDPOINT_HUNG_UP,  /* likewise, although reading was not asked for */
	RR_IWARP_ENDPOINT_WRITABLE,
	RR_IWARP_ENDPOINT_LIMIT,  /* the timer of the state expired */
	RR_IWARP_ENDPOINT_OPEN,   /* the iWARP connection is in state RR_IWARP_OPEN, at the end of the turn */
	RR_IWARP_ENDPOINT_CLOSES, /* likewise, in state RR_IWARP_CLOSING */
	RR_IWARP_ENDPOINT_OVER,   /* likewise, in state RR_IWARP_OVER */
	RR_IWARP_ENDPOINT_EVENTS
};

/*
 * An endpoint of the provider. Ownership: a listener owns the endpoints whose request has not come yet; its
 * user owns those that were handed over; the fabric owns those that the user rejected. A closed endpoint is
 * buried, as its own handler may close it.
 */
struct rr_iwarp_endpoint {
	struct rr_iwarp iwarp;              /* begins with struct rr_endpoint */
	int fd;                             /* -1: closed */
	struct rr_spread_member *spread;    /* the member that an accepted connection counts for; else NULL */
	struct rr_watch watch;              /* its fd is -1: not watched */
	struct rr_timer timer;              /* the limit of the state, for the event LIMIT */
	struct rr_alive alive;              /* watches whether the peer's TCP still answers */
	struct rr_timer owed;               /* limits how long the rest of an FPDU or of a Send may take */
	uint64_t debt;                      /* the number of that FPDU or Send */
	struct rr_timer held;               /* ticks while half a Send holds a receive */
	uint64_t held_moved;                /* the octets that had moved when the tick began */
	bool held_short;                    /* others waited for receives then */
	struct rr_task task;                /* at the end of the turn: writes, and handles changes of state */
	struct rr_list link;                /* in rr_iwarp_listener.pending, or in rr_iwarp_fabric.rejected */
	struct rr_iwarp_listener *listener; /* the listener while the endpoint is pending; else NULL */
	enum rr_iwarp_endpoint_state state;
	bool full;                         /* TCP takes no more for now */
	const struct rr_secure *wants;     /* initiator: TLS; NULL: it does without */
	struct rr_tls_session *session;    /* NULL: outside of TLS */
	struct rr_tls_handshake handshake; /* responder: under way in the state SECURING */
	struct sockaddr_storage address;   /* the address that it connects to */
	socklen_t address_size;
	/* Ns: the time by which the disconnection that its owner asked for must be over. */
	uint64_t drained_by;
	/* The octet of the stream from which on the segment size is to be asked for again. */
	uint64_t next_emss;
};

/* The most endpoints of a listener that wait for their MPA request; the most rejected endpoints that a fabric
 * keeps. */
enum { RR_IWARP_PENDING_MAX = 256, RR_IWARP_REJECTED_MAX = 256 };

/* The limits of a disconnection: the time in which the peer takes no octet, and the whole time. Without the
 * second limit, a peer that goes on with RDMA Reads, or takes the octets in small pieces, could keep the
 * connection for ever. */
#define RR_IWARP_DRAINING_LIMIT (2 * RR_SECOND)
#define RR_IWARP_DRAINING_MAX   (60 * RR_SECOND)

/* The time for an MPA request to come, once it may. */
#define RR_IWARP_REQUEST_LIMIT (5 * RR_SECOND)

/* The time for TCP to connect and for the peer's MPA reply to come; with TLS, anew after the handshake. */
#define RR_IWARP_CONNECT_LIMIT (10 * RR_SECOND)

/* The time for a peer to close after its last octets have left, or after a rejection. */
#define RR_IWARP_CLOSING_LIMIT RR_SECOND

/* A listener of the provider; pause is armed while no connection can be accepted. */
struct rr_iwarp_listener {
	struct rr_listener base;
	int fd;
	struct rr_watch watch;
	struct rr_timer pause;
	struct rr_spread_seat seat;
	struct rr_list pending; /* endpoints that have not sent their request, the oldest first */
	uint32_t pending_count;
};

static inline struct rr_iwarp_fabric *
rr_iwarp_fabric_of(struct rr_fabric *fabric)
{
	return rr_container(fabric, struct rr_iwarp_fabric, base);
}

static inline struct rr_iwarp_listener *
rr_iwarp_listener_of(struct rr_listener *listener)
{
	return rr_container(listener, struct rr_iwarp_listener, base);
}

static inline struct rr_iwarp_endpoint *
rr_iwarp_endpoint_of(struct rr_endpoint *endpoint)
{
	return rr_container(endpoint, struct rr_iwarp_endpoint, iwarp.base);
}

/* Returns the provider's fabric that an endpoint belongs to. */
static inline struct rr_iwarp_fabric *
rr_iwarp_fabric(const struct rr_iwarp_endpoint *endpoint)
{
	return rr_iwarp_fabric_of(endpoint->iwarp.base.fabric);
}

/* Makes an endpoint with the socket fd. Returns NULL if there is no memory; fd then stays open. */
struct rr_iwarp_endpoint *rr_iwarp_endpoint_new(
	struct rr_iwarp_fabric *fabric, int fd, const struct sockaddr *peer);

/* Has the event loop report when the endpoint's socket is ready for reading or writing, as wanted says. If
 * limit is not 0, the endpoint's event LIMIT comes after limit nanoseconds. Returns -RPCRDMA_ERR_SYSTEM on
 * failure. */
int rr_iwarp_endpoint_watch(struct rr_iwarp_endpoint *endpoint, unsigned wanted, uint64_t limit);

/* Ends the watch of the endpoint's socket. Has no effect if the socket is not watched. */
void rr_iwarp_endpoint_unwatch(struct rr_iwarp_endpoint *endpoint);

/* Begins to connect TCP to the endpoint's address; once TCP has connected, the MPA request of the endpoint's
 * iWARP connection leaves. Returns -RPCRDMA_ERR_SYSTEM if the socket cannot be watched. A failure to connect
 * comes as the event DISCONNECTED. */
int rr_iwarp_endpoint_dial(struct rr_iwarp_endpoint *endpoint);

/* Changes the endpoint's state and writes a trace of that. */
void rr_iwarp_endpoint_set_state(struct rr_iwarp_endpoint *endpoint, enum rr_iwarp_endpoint_state state);
/* Handles an event: calls the function that the table in endpoint.c has for the endpoint's present state and
 * the event. */
void rr_iwarp_endpoint_event(struct rr_iwarp_endpoint *endpoint, enum rr_iwarp_endpoint_event event);

/* Begins to check, once TCP is connected, that the peer's TCP still answers: if it is silent for too long,
 * the connection ends. */
void rr_iwarp_endpoint_watch_peer(struct rr_iwarp_endpoint *endpoint);

/* Schedules the endpoint's task, which handles the event TURN at the end of the turn of the loop. */
void rr_iwarp_endpoint_defer(struct rr_iwarp_endpoint *endpoint);

/* Closes the endpoint's socket at once, and frees the endpoint at the end of the turn of the loop. */
void rr_iwarp_endpoint_bury(struct rr_iwarp_endpoint *endpoint);

/* Frees an endpoint whose connection request was rejected: removes it from the fabric's list of such
 * endpoints, and closes its socket. */
void rr_iwarp_endpoint_bury_rejected(struct rr_iwarp_endpoint *endpoint);

/* stream.c: reads from the socket and handles the octets, as much as one turn of the loop allows. */
void rr_iwarp_stream_read(struct rr_iwarp_endpoint *endpoint);
/* Writes the iWARP connection's octets to the socket, as much as TCP takes and one turn of the loop allows.
 */
void rr_iwarp_stream_write(struct rr_iwarp_endpoint *endpoint);

/* Counts octets that the peer's TCP took. During a disconnection this starts its time limit anew. The whole
 * disconnection may take RR_IWARP_DRAINING_MAX; after that the limit is not extended. */
void rr_iwarp_stream_moved(struct rr_iwarp_endpoint *endpoint, uint64_t octets);

/* Writes to the socket once, in the middle of a turn of the loop. Octets that TCP does not take now leave at
 * the end of the turn. */
void rr_iwarp_stream_flush(struct rr_iwarp *iwarp);

/* secure.c: begins TLS on a connection whose TCP is connected: the state becomes SECURING. */
void rr_iwarp_secure_begin(struct rr_iwarp_endpoint *endpoint);
/* Begins TLS on a connection that was accepted, if that is what the peer's first octet says. Returns false if
 * the endpoint is to read MPA's request. */
bool rr_iwarp_secure_greeted(struct rr_iwarp_endpoint *endpoint);
/* Goes on with the handshake in the state SECURING, and leaves that state when it is done. */
void rr_iwarp_secure_shake(struct rr_iwarp_endpoint *endpoint);
/* Does what rr_socket_read() does, through the session. Returns -EAGAIN also if the connection has ended. */
ssize_t rr_iwarp_secure_read(struct rr_iwarp_endpoint *endpoint, struct iovec *vectors, int count);
/* Encrypts the octets of the vectors, as many as may wait, and returns their number; or -EPROTO. */
ssize_t rr_iwarp_secure_write(
	struct rr_iwarp_endpoint *endpoint, const struct iovec *vectors, uint32_t count);
/* Sends what the session has encrypted. Returns true if all of it was sent. Otherwise the socket is full, or
 * the connection has ended. */
bool rr_iwarp_secure_push(struct rr_iwarp_endpoint *endpoint);
/* Tells whether octets of the peer are inside of the session already, for which the socket does not become
 * readable, and whether they can be handled now. */
bool rr_iwarp_secure_has_more(struct rr_iwarp_endpoint *endpoint);
/* Handles such octets. */
void rr_iwarp_secure_resume(struct rr_iwarp_endpoint *endpoint);
/* Ends this side's stream inside of TLS, and frees the session. Has no effect outside of TLS. */
void rr_iwarp_secure_end(struct rr_iwarp_endpoint *endpoint);

/* Connects once more, without TLS. Returns false if that is not possible. */
bool rr_iwarp_endpoint_dial_plain(struct rr_iwarp_endpoint *endpoint);

/* Ends the connection, as TCP failed with error, an errno value. */
void rr_iwarp_stream_lost(struct rr_iwarp_endpoint *endpoint, int error);

/* Removes the endpoint from its listener's list of those that wait for an MPA request: the request has come,
 * or the endpoint is closed. */
void rr_iwarp_listener_remove(struct rr_iwarp_endpoint *endpoint);

/* Hands the endpoint, whose MPA request has come, over to the listener's user, by calling the listener's
 * handler. */
void rr_iwarp_listener_hand_over(struct rr_iwarp_endpoint *endpoint);

/* listener.c: these three are operations of struct rr_fabric_ops, and do what rr_fabric_listen(),
 * rr_listener_address() and rr_fabric_unlisten() ask for. */
int rr_iwarp_listen(struct rr_fabric *base, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text);
int rr_iwarp_listener_address(struct rr_listener *base, struct sockaddr_storage *address);
void rr_iwarp_unlisten(struct rr_listener *base);

#endif
