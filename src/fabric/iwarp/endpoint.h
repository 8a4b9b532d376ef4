/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_IWARP_ENDPOINT_H
#define RR_FABRIC_IWARP_ENDPOINT_H

#include "base/alive.h"
#include "fabric/iwarp/engine.h"

/* What the files of the provider share: an engine with its socket, its place in the loop, and its timer. */

struct rr_iwarp_fabric {
	struct rr_fabric base;
	struct rr_iwarp_shared shared;
	struct rr_list closed;   /* endpoints that are to be freed */
	struct rr_list rejected; /* endpoints whose peer has not closed yet, the oldest first */
	uint32_t rejected_count;
	struct rr_task bury;
};

/*
 * Who owns what: a listener owns the endpoints whose request has not come
 * yet, its user those that were handed over, the fabric those that the user
 * rejected. An endpoint is freed by the fabric's task, so that a function
 * whose handler closed it can still look at its state.
 */
struct rr_iwarp_endpoint {
	struct rr_iwarp engine; /* begins with struct rr_endpoint */
	int fd;                 /* -1: closed */
	struct rr_watch watch;
	struct rr_timer timer;
	struct rr_alive alive;
	struct rr_timer owed; /* limits how long the rest of an FPDU or of a Send may take */
	uint64_t debt;        /* which FPDU or Send that is */
	struct rr_task task;  /* at the end of the turn: what is to leave, and what has changed */
	struct rr_list link;  /* in rr_iwarp_listener.pending, or in rr_iwarp_fabric.rejected or closed */
	struct rr_iwarp_listener *listener; /* whose pending it is */
	bool connecting;                    /* TCP is */
	bool watched;
	bool established;                /* its handler was told */
	bool told;                       /* of the end */
	bool closing;                    /* the timer limits what is left of it */
	bool rejected;                   /* the fabric has it, until the peer has closed */
	bool ended;                      /* FIN was sent */
	bool full;                       /* TCP takes no more for now */
	struct sockaddr_storage address; /* that it connects to */
	socklen_t address_size;
	uint64_t drained_by; /* it was told to disconnect: when that must be over */
	uint64_t next_emss;  /* how far the stream goes with the segment size that is known */
};

enum { RR_IWARP_PENDING_MAX = 256, RR_IWARP_REJECTED_MAX = 256 };

/* How long one that was told to disconnect may go without the peer taking anything, and in all: a peer that
 * reads from us, or takes what was posted in small pieces, could go on for ever. */
#define RR_IWARP_DRAINING_LIMIT (2 * RR_SECOND)
#define RR_IWARP_DRAINING_MAX   (60 * RR_SECOND)

struct rr_iwarp_listener {
	struct rr_listener base;
	int fd;
	struct rr_watch watch;
	struct rr_timer pause;
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
	return rr_container(endpoint, struct rr_iwarp_endpoint, engine.base);
}

/* The fabric that an endpoint belongs to. */
static inline struct rr_iwarp_fabric *
rr_iwarp_fabric(const struct rr_iwarp_endpoint *endpoint)
{
	return rr_iwarp_fabric_of(endpoint->engine.base.fabric);
}

/* With this socket; NULL: no memory. */
struct rr_iwarp_endpoint *rr_iwarp_endpoint_new(
	struct rr_iwarp_fabric *fabric, int fd, const struct sockaddr *peer);

/* Waits for its descriptor, for at most limit nanoseconds. -RPCRDMA_ERR_SYSTEM. */
int rr_iwarp_endpoint_watch(struct rr_iwarp_endpoint *endpoint, unsigned wanted, uint64_t limit);

/* Begins to connect to its address, with the request that the engine has. */
int rr_iwarp_endpoint_dial(struct rr_iwarp_endpoint *endpoint);

/* TCP is connected, or is not because of this (negative) errno value. */
void rr_iwarp_endpoint_connected(struct rr_iwarp_endpoint *endpoint, int error);

/* TCP is connected: from now on, a peer whose TCP is silent is dead. */
void rr_iwarp_endpoint_watch_peer(struct rr_iwarp_endpoint *endpoint);

/* At the end of the turn, does what is to be done. */
void rr_iwarp_endpoint_defer(struct rr_iwarp_endpoint *endpoint);

/* Closes and frees it. */
void rr_iwarp_endpoint_bury(struct rr_iwarp_endpoint *endpoint);

/* The same for one that was rejected. */
void rr_iwarp_endpoint_bury_rejected(struct rr_iwarp_endpoint *endpoint);

/* A request is there, or its endpoint is over: it is pending no longer. */
void rr_iwarp_listener_remove(struct rr_iwarp_endpoint *endpoint);

/* The endpoint's request is there: hands it over. */
void rr_iwarp_listener_hand_over(struct rr_iwarp_endpoint *endpoint);

int rr_iwarp_listen(struct rr_fabric *base, const struct sockaddr *address, socklen_t size,
	rr_listener_handler *handler, void *ctx, struct rr_listener **listener, struct rr_text *text);
int rr_iwarp_listener_address(struct rr_listener *base, struct sockaddr_storage *address);
void rr_iwarp_unlisten(struct rr_listener *base);

#endif
