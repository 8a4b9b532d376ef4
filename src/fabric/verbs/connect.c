/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/address.h"
#include "base/errno.h"
#include "fabric/verbs/work.h"

/*
 * Connections, by the RDMA connection manager. The queue pair is on this fabric's own context of the device,
 * so that the connection manager does not know it: the files here do what librdmacm would do with the queue
 * pair.
 *
 * Events are copied and acknowledged before a handler is called, as a handler may close the endpoint of the
 * event, and closing waits for the acknowledgement.
 */

enum {
	ADDRESS_TIMEOUT = 2000, /* ms */
	ROUTE_TIMEOUT = 2000,   /* ms */
	RETRIES = 6,            /* for rxe, 7 would mean for ever */
	ACK_TIMEOUT =
		17,      /* IBTA, 9.7.6.1.3: 0.54 s at most, so that a peer is lost after some four seconds */
	RNR_RETRIES = 7, /* no limit: the peer waits until there are receives again */
	RNR_TIMER = 14,  /* IBTA, table 45: 1.28 ms between its attempts */
	/* IBTA: the reason of a rejection */
	REJECTED_NO_LISTENER = 8,
	REJECTED_BY_CONSUMER = 28
};

/* A copy of an event of the connection manager. */
struct event {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *id;
	void *listener;
	uint8_t responder_resources, initiator_depth;
	uint32_t size;
	uint8_t data[UINT8_MAX]; /* the connection manager counts these octets in eight bits */
};

/* Returns how many RDMA Reads may be under way at a time: the smallest of wanted and the limits of the
 * device and the peer. */
static uint8_t
connect_limited(uint32_t wanted, int device_max, uint8_t peer_max)
{
	if (wanted > (uint32_t)device_max)
		wanted = (uint32_t)device_max;
	return (uint8_t)(wanted < peer_max ? wanted : peer_max);
}

/* Returns the parameters that the connection manager needs, both to ask the peer for a connection and to
 * accept one. */
static struct rdma_conn_param
connect_connection(const struct rr_verbs_endpoint *endpoint)
{
	uint32_t reads = endpoint->base.fabric->config.read_max;
	const struct ibv_device_attr *attr = &endpoint->device->attr;

	return (struct rdma_conn_param){
		.private_data = endpoint->private_data,
		.private_data_len = endpoint->private_size,
		.responder_resources =
			connect_limited(reads, attr->max_qp_rd_atom, endpoint->responder_resources),
		.initiator_depth =
			connect_limited(reads, attr->max_qp_init_rd_atom, endpoint->initiator_depth),
		.retry_count = RETRIES,
		.rnr_retry_count = RNR_RETRIES,
		.srq = 1,
		.qp_num = endpoint->qp->qp_num,
	};
}

/* Changes the state of the queue pair, with the attributes that the connection manager has for the new
 * state. If param is not NULL, the numbers of RDMA Reads are those of param. Returns -1, with errno, on
 * failure. */
static int
connect_modify(
	struct rr_verbs_endpoint *endpoint, enum ibv_qp_state state, const struct rdma_conn_param *param)
{
	const struct rr_verbs_library *library = &rr_verbs_fabric(endpoint)->library;
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (library->init_qp_attr(endpoint->id, &attr, &mask) < 0)
		return -1;
	/* The kernel marks attributes of RoCE that it fills in itself, and that ibv_modify_qp() does not
	 * know. */
	mask &= ~0xe00000;
	attr.min_rnr_timer = RNR_TIMER;
	if (attr.timeout > ACK_TIMEOUT)
		attr.timeout = ACK_TIMEOUT;
	if (param && state == IBV_QPS_RTR)
		attr.max_dest_rd_atomic = param->responder_resources;
	if (param && state == IBV_QPS_RTS)
		attr.max_rd_atomic = param->initiator_depth;
	errno = library->modify_qp(endpoint->qp, &attr, mask);
	return errno ? -1 : 0;
}

/* Ends the connection, as a function failed and set errno. what: the step that failed, in words. */
static void
connect_failed(struct rr_verbs_endpoint *endpoint, const char *what)
{
	rr_verbs_end(endpoint, rr_errno_error(errno), "%s: %s", what, strerror(errno));
}

int
rr_verbs_resolve(struct rr_verbs_endpoint *endpoint, const struct sockaddr_storage *peer)
{
	const struct rr_verbs_library *library = &rr_verbs_fabric(endpoint)->library;
	struct sockaddr_storage copy = *peer;
	struct rdma_cm_id *id;

	if (library->create_id(rr_verbs_fabric(endpoint)->channel, &id, endpoint, RDMA_PS_TCP) < 0)
		return -1;
	if (endpoint->id)
		library->destroy_id(endpoint->id);
	endpoint->id = id;
	if (library->resolve_addr(id, NULL, (void *)&copy, ADDRESS_TIMEOUT) < 0)
		connect_failed(endpoint, "no RDMA device leads to this address");
	return 0;
}

/* Begins to connect anew, from another local port, if errno says that the port was taken. Returns whether it
 * began anew. The connection manager does not know which TCP ports are taken by sockets of this machine, and
 * siw connects over TCP. */
static bool
connect_from_another_port(struct rr_verbs_endpoint *endpoint)
{
	struct sockaddr_storage peer = endpoint->id->route.addr.dst_storage;

	if (errno != EADDRINUSE && errno != EADDRNOTAVAIL)
		return false;
	if (++endpoint->ports_tried == RR_VERBS_PORTS_TRIED)
		return false;
	rr_verbs_set_state(endpoint, RR_VERBS_RESOLVING);
	return rr_verbs_resolve(endpoint, &peer) == 0;
}

/* Called when the route to the peer is known: makes the queues of the endpoint, and sends the connection
 * request. Ends the connection if this fails. */
static void
connect_request(struct rr_verbs_endpoint *endpoint)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric(endpoint);
	struct rdma_conn_param param;
	struct rr_text text;
	int error = 0;

	if (endpoint->state != RR_VERBS_RESOLVING)
		return;
	/* An attempt from another port has the queues of the first attempt. */
	if (!endpoint->qp)
		error = rr_verbs_queues_make(endpoint, &text);
	if (error) {
		rr_verbs_end(endpoint, error, "%s", text.text);
		return;
	}
	param = connect_connection(endpoint);
	rr_verbs_set_state(endpoint, RR_VERBS_CONNECTING);
	if (fabric->library.connect(endpoint->id, &param) == 0 || connect_from_another_port(endpoint))
		return;
	connect_failed(endpoint, errno == ECONNREFUSED ? "nobody listens there" : "cannot connect");
}

/* Called when the peer has accepted, over InfiniBand and RoCE: makes the queue pair ready, confirms the
 * connection to the peer, and calls the owner's handler with ESTABLISHED. */
static void
connect_confirm(struct rr_verbs_endpoint *endpoint, struct event *event)
{
	if (endpoint->state != RR_VERBS_CONNECTING)
		return;
	if (connect_modify(endpoint, IBV_QPS_RTR, NULL) < 0 ||
		connect_modify(endpoint, IBV_QPS_RTS, NULL) < 0 ||
		rr_verbs_fabric(endpoint)->library.establish(endpoint->id) < 0) {
		connect_failed(endpoint, "cannot establish the connection");
		return;
	}
	endpoint->connected = true;
	rr_verbs_established(endpoint, event->data, event->size);
}

/* Called when the connection is established: calls the owner's handler with ESTABLISHED, if the handler has
 * not had this event before. Only the side that connected gets the peer's private data. */
static void
connect_established(struct rr_verbs_endpoint *endpoint, struct event *event)
{
	bool active = endpoint->state == RR_VERBS_CONNECTING;

	if (!active && endpoint->state != RR_VERBS_ACCEPTED)
		return;
	endpoint->connected = true;
	rr_verbs_established(endpoint, active ? event->data : NULL, active ? event->size : 0);
}

int
rr_verbs_accept(struct rr_endpoint *base, const void *private_data, size_t size)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);
	struct rdma_conn_param param;
	struct rr_text text;
	int error;

	/* The request may have ended: the handler then gets DISCONNECTED. */
	if (endpoint->state != RR_VERBS_REQUESTED) {
		rr_verbs_wake(endpoint);
		return 0;
	}
	endpoint->private_size = (uint8_t)size;
	if (size)
		memcpy(endpoint->private_data, private_data, size);
	error = rr_verbs_queues_make(endpoint, &text);
	if (error) {
		rr_verbs_fabric(endpoint)->library.reject(endpoint->id, NULL, 0);
		rr_verbs_end(endpoint, error, "%s", text.text);
		return 0;
	}
	param = connect_connection(endpoint);
	/* Over iWARP, the kernel changes the state of the queue pair. */
	if ((!endpoint->device->iwarp && (connect_modify(endpoint, IBV_QPS_RTR, &param) < 0 ||
						 connect_modify(endpoint, IBV_QPS_RTS, &param) < 0)) ||
		rr_verbs_fabric(endpoint)->library.accept(endpoint->id, &param) < 0) {
		connect_failed(endpoint, "cannot accept the connection");
		return 0;
	}
	endpoint->connected = true;
	rr_verbs_set_state(endpoint, RR_VERBS_ACCEPTED);
	rr_verbs_wake(endpoint);
	return 0;
}

/* Called when the peer rejected the connection, or withdrew its own connection request: ends the connection,
 * and keeps the private data that the peer sent. */
static void
connect_rejected(struct rr_verbs_endpoint *endpoint, const struct event *event)
{
	bool iwarp = endpoint->device && endpoint->device->iwarp;
	/* Over iWARP a negative errno value, otherwise a reason of the IBTA. */
	int reason = event->status;

	endpoint->private_size = (uint8_t)event->size;
	memcpy(endpoint->private_data, event->data, event->size);
	if (endpoint->state == RR_VERBS_ACCEPTED || endpoint->state == RR_VERBS_REQUESTED)
		rr_verbs_end(endpoint, -RPCRDMA_ERR_DISCONNECTED, "the peer gave the connection up");
	else if (iwarp ? reason == -ECONNREFUSED : reason == REJECTED_BY_CONSUMER)
		rr_verbs_end(endpoint, -RPCRDMA_ERR_REJECTED, "the peer rejected the connection");
	else if (reason == REJECTED_NO_LISTENER)
		rr_verbs_end(endpoint, -RPCRDMA_ERR_REFUSED, "nobody listens there");
	else
		rr_verbs_end(
			endpoint, -RPCRDMA_ERR_REJECTED, "the connection was rejected (reason %d)", reason);
}

/* Called when the peer has disconnected: handles the completions and device events that came before, and
 * ends the connection. */
static void
connect_disconnected(struct rr_verbs_endpoint *endpoint)
{
	rr_verbs_drain(endpoint);
	if (endpoint->device)
		rr_verbs_device_events(endpoint->device);
	if (endpoint->disconnecting)
		rr_verbs_end(endpoint, 0, "disconnected");
	else
		rr_verbs_end(endpoint, -RPCRDMA_ERR_DISCONNECTED, "the peer closed the connection");
}

/* Called when a peer wants to connect: makes an endpoint, and calls the listener's handler with it. Rejects
 * the request if there is no memory. */
static void
connect_requested(struct rr_verbs_listener *listener, struct event *event)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric_of(listener->base.fabric);
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_new(fabric);

	if (!endpoint) {
		fabric->library.reject(event->id, NULL, 0);
		fabric->library.destroy_id(event->id);
		return;
	}
	endpoint->id = event->id;
	event->id->context = endpoint;
	rr_verbs_set_state(endpoint, RR_VERBS_REQUESTED);
	endpoint->responder_resources = event->responder_resources;
	endpoint->initiator_depth = event->initiator_depth;
	rr_address_text(rdma_get_peer_addr(event->id), endpoint->base.peer, sizeof(endpoint->base.peer));
	listener->base.handler(listener->base.ctx, &endpoint->base, event->data, event->size);
}

/* Ends a connection that could not be made. event->status: the errno value. what: the step that failed, in
 * words. */
static void
connect_unreachable(struct rr_verbs_endpoint *endpoint, const struct event *event, const char *what)
{
	int number = event->status < 0 ? -event->status : event->status;
	int error = rr_errno_error(number);

	/* SYSTEM stands for all errno values that have no error code of their own. */
	if (error == -RPCRDMA_ERR_SYSTEM)
		error = -RPCRDMA_ERR_UNREACHABLE;
	rr_verbs_end(endpoint, error, "%s: %s", what, strerror(number));
}

/* Handles an event of the connection manager. A connection request is about a listener, every other event
 * about an endpoint. */
static void
connect_handle(struct event *event)
{
	struct rr_verbs_endpoint *endpoint = event->id->context;

	/* Before the loss of a device or an address ends a connection, completions that have come are
	 * handled. */
	switch (event->type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST: connect_requested(event->listener, event); return;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (endpoint->state == RR_VERBS_RESOLVING &&
			rr_verbs_fabric(endpoint)->library.resolve_route(endpoint->id, ROUTE_TIMEOUT) < 0)
			connect_failed(endpoint, "there is no route to the peer");
		return;
	case RDMA_CM_EVENT_ROUTE_RESOLVED: connect_request(endpoint); return;
	case RDMA_CM_EVENT_ADDR_ERROR:
		connect_unreachable(endpoint, event, "no RDMA device leads to the address");
		return;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		connect_unreachable(endpoint, event, "there is no route to the peer");
		return;
	case RDMA_CM_EVENT_UNREACHABLE:
		connect_unreachable(endpoint, event, "the peer does not answer");
		return;
	case RDMA_CM_EVENT_CONNECT_ERROR: connect_unreachable(endpoint, event, "cannot connect"); return;
	case RDMA_CM_EVENT_CONNECT_RESPONSE: connect_confirm(endpoint, event); return;
	case RDMA_CM_EVENT_ESTABLISHED: connect_established(endpoint, event); return;
	case RDMA_CM_EVENT_REJECTED: connect_rejected(endpoint, event); return;
	case RDMA_CM_EVENT_DISCONNECTED: connect_disconnected(endpoint); return;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		rr_verbs_drain(endpoint);
		rr_verbs_end(endpoint, -RPCRDMA_ERR_DISCONNECTED, "the RDMA device was removed");
		return;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		rr_verbs_drain(endpoint);
		rr_verbs_end(endpoint, -RPCRDMA_ERR_DISCONNECTED, "the address moved to another device");
		return;
	default: return;
	}
}

/* Whether id belongs to a listener itself. A connection request comes with a new id: an event with the
 * listener's own id says that the device or the address of the listener is gone. */
static bool
connect_is_listener(const struct rr_verbs_fabric *fabric, const struct rdma_cm_id *id)
{
	rr_list_for_each (link, &fabric->listeners) {
		if (rr_container(link, struct rr_verbs_listener, link)->id == id)
			return true;
	}
	return false;
}

void
rr_verbs_cm_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_verbs_fabric *fabric = rr_container(watch, struct rr_verbs_fabric, watch);
	struct rdma_cm_event *from;

	(void)events;
	while (fabric->library.get_cm_event(fabric->channel, &from) == 0) {
		const struct rdma_conn_param *param = &from->param.conn;
		struct event event = { .type = from->event, .status = from->status, .id = from->id };

		if (from->listen_id)
			event.listener = from->listen_id->context;
		if (param->private_data) {
			event.size = param->private_data_len;
			memcpy(event.data, param->private_data, event.size);
		}
		event.responder_resources = param->responder_resources;
		event.initiator_depth = param->initiator_depth;
		/* The event is acknowledged first: its handler may close the endpoint, which waits for
		 * that. */
		fabric->library.ack_cm_event(from);
		if (!connect_is_listener(fabric, event.id))
			connect_handle(&event);
		else
			rr_log(fabric->env, RR_LOG_WARNING, "a listener has lost its RDMA device");
	}
}
