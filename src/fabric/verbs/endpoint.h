/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_VERBS_ENDPOINT_H
#define RR_FABRIC_VERBS_ENDPOINT_H

#include "fabric/verbs/device.h"

/* Listeners and endpoints of the provider: their states, their connections and their queues. */

enum {
	RR_VERBS_PRIVATE_MAX = 56, /* the room in a connection request of InfiniBand and RoCE */
	/* The attempts to get a port from the connection manager that no socket of this machine has. */
	RR_VERBS_PORTS_TRIED = 16,
	RR_VERBS_BATCH = 32 /* completions and work requests at a time */
};

/* A listener of the provider. */
struct rr_verbs_listener {
	struct rr_listener base;
	struct rr_list link; /* in rr_verbs_fabric.listeners */
	struct rdma_cm_id *id;
};

/* The states of an endpoint. */
enum rr_verbs_state {
	RR_VERBS_RESOLVING,  /* the address, then the route is looked for */
	RR_VERBS_CONNECTING, /* the request was sent */
	RR_VERBS_REQUESTED,  /* the peer's request is neither accepted nor rejected */
	RR_VERBS_ACCEPTED,   /* the handler has not had ESTABLISHED yet */
	RR_VERBS_ESTABLISHED,
	RR_VERBS_ENDED, /* the handler has not had DISCONNECTED yet */
	RR_VERBS_DISCONNECTED,
	RR_VERBS_CLOSED,
	RR_VERBS_STATES
};

/* The events of an endpoint; endpoint.c has the table of states and events. */
enum rr_verbs_event {
	RR_VERBS_TURN,    /* its task is due */
	RR_VERBS_OVERDUE, /* its timer expired: an end takes too long */
	RR_VERBS_EVENTS
};

/*
 * An endpoint of the provider. It has a queue pair and a completion queue of its own, so that a completion of
 * another connection, living or dead, is never taken for one of its own, and an overrun ends one connection
 * only.
 */
struct rr_verbs_endpoint {
	struct rr_endpoint base;
	struct rr_list link; /* in rr_verbs_fabric.living, then in closed */
	struct rr_task task;
	/* Limits a disconnection in good order; after closing, the time for which the queue pair stays. */
	struct rr_timer timer;
	enum rr_verbs_state state;
	struct rdma_cm_id *id;
	struct rr_verbs_device *device;
	struct rr_verbs_receives *receives;  /* the queue of the device for this endpoint's side */
	struct rr_verbs_domain own, *domain; /* domain: own or the device's */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	/* Receives that the completion queue has room for; requests that the send queue has room for;
	 * requests in the send queue; the most octets of a payload that goes into a request; the most sges of
	 * a request. */
	uint32_t cq_receives, sq_size, sq_used, inline_max, sge_max;
	uint32_t cq_events;   /* events of the completion queue that are to be acknowledged */
	uint32_t spins;       /* polls in vain since the last completion or the last wake-up */
	uint32_t ports_tried; /* local ports with which connecting failed, as a socket had them */
	bool armed;           /* an event comes at the next completion */
	bool connects;        /* this side began the connection */
	bool connected;       /* the peer is to be sent a disconnection at the end */
	bool disconnecting; /* the owner wants the connection to end when all work requests have completed */
	bool lost;          /* something was flushed, and the reason is not known yet */
	uint32_t allowed;   /* Sends that the peer may still send */
	struct rr_list queue, posted; /* of struct rr_verbs_work */
	struct rr_list regions;       /* of struct rr_verbs_region */
	uint32_t region_count;
	/* Completions that were taken off the queue; the first stash_at of them were handled. */
	struct ibv_wc *stash;
	uint32_t stashed, stash_at, stash_room;
	uint8_t responder_resources, initiator_depth; /* the RDMA Reads at a time that the peer asks for */
	/* The private data of this side; once the peer has rejected the connection, that of the rejection. */
	uint8_t private_data[UINT8_MAX];
	uint8_t private_size;
	int status;
	struct rr_text text;
};

static inline struct rr_verbs_listener *
rr_verbs_listener_of(struct rr_listener *listener)
{
	return rr_container(listener, struct rr_verbs_listener, base);
}

static inline struct rr_verbs_endpoint *
rr_verbs_endpoint_of(struct rr_endpoint *endpoint)
{
	return rr_container(endpoint, struct rr_verbs_endpoint, base);
}

/* Returns the provider's fabric that an endpoint belongs to. */
static inline struct rr_verbs_fabric *
rr_verbs_fabric(const struct rr_verbs_endpoint *endpoint)
{
	return rr_verbs_fabric_of(endpoint->base.fabric);
}

/* ---- end.c ---- */

/* Changes the state of the endpoint, and writes a trace of that. */
void rr_verbs_set_state(struct rr_verbs_endpoint *endpoint, enum rr_verbs_state state);

/* Ends the connection, if it has not ended, with status and a text for the owner; the endpoint's task then
 * calls the owner's handler with DISCONNECTED. */
void rr_verbs_end(struct rr_verbs_endpoint *endpoint, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Asks the connection manager to disconnect, if that was not done before. Puts the queue pair into its error
 * state: nothing is sent or received any more, and outstanding requests are flushed. */
void rr_verbs_stop(struct rr_verbs_endpoint *endpoint);

/* Calls the handler of the endpoint's owner with an event. */
void rr_verbs_emit(struct rr_verbs_endpoint *endpoint, const struct rr_event *event);
/* Changes the state to ESTABLISHED, and calls the owner's handler with ESTABLISHED and the peer's private
 * data. */
void rr_verbs_established(struct rr_verbs_endpoint *endpoint, uint8_t *data, uint32_t size);
/* Schedules the endpoint's task, as there is work for it to do: the task polls for completions again. Has no
 * effect on a closed endpoint. */
void rr_verbs_wake(struct rr_verbs_endpoint *endpoint);

/* ---- endpoint.c ---- */

/* Makes an endpoint without a queue pair. Returns NULL if there is no memory. */
struct rr_verbs_endpoint *rr_verbs_endpoint_new(struct rr_verbs_fabric *fabric);

/* Closes an endpoint: does what rr_endpoint_close() asks for. */
void rr_verbs_endpoint_close(struct rr_endpoint *base);

/* Destroys the queues of a closed endpoint, and frees the endpoint at the end of the turn of the loop. */
void rr_verbs_endpoint_end(struct rr_verbs_endpoint *endpoint);

/* ---- queues.c ---- */

/* Makes the queue pair and the completion queue of the endpoint, on the device that the endpoint's id was
 * bound to. An error has its reason in text. */
int rr_verbs_queues_make(struct rr_verbs_endpoint *endpoint, struct rr_text *text);
/* Destroys the queue pair and the completion queue of the endpoint, if it has them. */
void rr_verbs_queues_destroy(struct rr_verbs_endpoint *endpoint);
/* Allows the peer count more Sends: does what rr_endpoint_allow() asks for. Makes the completion queue larger
 * if it has no room for so many receives; if the device cannot do that, the queue stays as it is. Before the
 * endpoint has queues the Sends are only counted; rr_verbs_queues_make() then makes room for them. */
void rr_verbs_allow(struct rr_endpoint *base, uint32_t count);

/* ---- connect.c ---- */

/* Has the connection manager begin to look for the device that leads to the peer, with a new id. Returns -1,
 * with errno, if there is no new id; a later failure ends the endpoint's connection. */
int rr_verbs_resolve(struct rr_verbs_endpoint *endpoint, const struct sockaddr_storage *peer);

/* The loop calls this when the connection manager has events: handles these events. */
void rr_verbs_cm_ready(struct rr_watch *watch, unsigned events);
/* Accepts the peer's connection request: does what rr_endpoint_accept() asks for. Always returns 0: a failure
 * ends the connection. */
int rr_verbs_accept(struct rr_endpoint *base, const void *private_data, size_t size);

#endif
