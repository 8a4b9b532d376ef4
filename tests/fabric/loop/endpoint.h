/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_LOOP_ENDPOINT_H
#define RR_FABRIC_LOOP_ENDPOINT_H

#include "fabric/receives.h"
#include "fabric/regions.h"
#include "fabric/works.h"

/* Shared by the files of the in-process provider. */

/* The most private data, in octets. */
enum { RR_LOOP_PRIVATE_MAX = 252 };

/* The provider's fabric. */
struct rr_loop_fabric {
	struct rr_fabric base;
	const struct rr_env *env;
	struct rr_receives receives;
	struct rr_cache works;
	struct rr_list listeners;
	uint16_t last_port; /* the last port that the fabric chose for a listener, in the order of this
			       machine */
};

/* A listener of the provider. */
struct rr_loop_listener {
	struct rr_listener base;
	struct rr_list link;
	struct sockaddr_storage address;
};

/* The states of an endpoint. */
enum rr_loop_state {
	RR_LOOP_CONNECTING, /* the side that connects: the listener was not looked for yet */
	RR_LOOP_WAITING,    /* the side that connects: the listener's user has the request */
	RR_LOOP_REQUESTED,  /* the listener's side: its user has neither accepted nor rejected the request yet
			     */
	RR_LOOP_ACCEPTED,   /* the listener's side: its user accepted; no handler got ESTABLISHED yet */
	RR_LOOP_ESTABLISHED,
	RR_LOOP_ENDED, /* the connection ended; the handler did not get DISCONNECTED yet */
	RR_LOOP_DISCONNECTED,
	RR_LOOP_CLOSED, /* the owner closed the endpoint, or rejected the request: it is buried */
	RR_LOOP_STATES
};

/* The events of an endpoint; endpoint.c has the table of states and events. */
enum rr_loop_event {
	RR_LOOP_TURN,    /* its task is due */
	RR_LOOP_ACCEPT,  /* the listener's user accepts the connection */
	RR_LOOP_OVERDUE, /* a disconnection in good order takes too long */
	RR_LOOP_EVENTS
};

/*
 * An endpoint, in step with its peer: both are established, or both are not. A closed endpoint is buried, as
 * its own handler may close it.
 */
struct rr_loop_endpoint {
	struct rr_endpoint base;
	struct rr_task task;
	struct rr_timer timer; /* limits a disconnection in good order */
	enum rr_loop_state state;
	struct rr_loop_endpoint *peer; /* NULL before the request and after the end */
	struct rr_list queue;          /* of struct rr_work_item */
	struct rr_regions regions;
	struct rr_receive_wait wait; /* for the receive into which a Send of this endpoint goes */
	uint32_t allowed;            /* Sends that the peer may still send */
	bool disconnecting;          /* the owner wants the connection to end when the queue is empty */
	uint16_t port;               /* to which the endpoint connects, in network byte order */
	/* For the peer; after a rejection, the private data that the peer sent. */
	uint8_t private_data[RR_LOOP_PRIVATE_MAX];
	size_t private_size;
	int status; /* of the event DISCONNECTED, with its text */
	struct rr_text text;
};

static inline struct rr_loop_fabric *
rr_loop_fabric_of(struct rr_fabric *fabric)
{
	return rr_container(fabric, struct rr_loop_fabric, base);
}

static inline struct rr_loop_listener *
rr_loop_listener_of(struct rr_listener *listener)
{
	return rr_container(listener, struct rr_loop_listener, base);
}

static inline struct rr_loop_endpoint *
rr_loop_endpoint_of(struct rr_endpoint *endpoint)
{
	return rr_container(endpoint, struct rr_loop_endpoint, base);
}

/* Returns the provider's fabric that an endpoint belongs to. */
static inline struct rr_loop_fabric *
rr_loop_fabric(const struct rr_loop_endpoint *endpoint)
{
	return rr_loop_fabric_of(endpoint->base.fabric);
}

/* Makes an endpoint. Returns NULL if there is no memory. */
struct rr_loop_endpoint *rr_loop_endpoint_new(struct rr_loop_fabric *fabric);

/* Frees all memory that the endpoint has, and the endpoint itself at the end of the turn of the loop. */
void rr_loop_endpoint_bury(struct rr_loop_endpoint *endpoint);

/* Changes the endpoint's state and writes a trace of that. */
void rr_loop_set_state(struct rr_loop_endpoint *endpoint, enum rr_loop_state state);
/* Handles an event: calls the function that the table in endpoint.c has for the endpoint's present state and
 * the event. */
void rr_loop_event(struct rr_loop_endpoint *endpoint, enum rr_loop_event event);

/* Ends the connection for this endpoint only. Its owner gets status and text with the event DISCONNECTED,
 * from the endpoint's task. The endpoint of its peer stays as it is. */
void rr_loop_end(struct rr_loop_endpoint *endpoint, int status, const char *text);

/* Ends the connection for both sides: the owner of endpoint gets status and text, the owner of its peer gets
 * peer_status and peer_text. */
void rr_loop_end_both(struct rr_loop_endpoint *endpoint, int status, const char *text, int peer_status,
	const char *peer_text);

/* Calls the handler of the endpoint's owner with an event. */
void rr_loop_emit(struct rr_loop_endpoint *endpoint, const struct rr_event *event);

/* Carries out the work requests of an established endpoint, until one must wait for a receive buffer or the
 * turn has done enough; then ends the connection, if the owner has asked for it. */
void rr_loop_work(struct rr_loop_endpoint *endpoint);

#endif
