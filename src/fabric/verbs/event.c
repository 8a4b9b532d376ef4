/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/peer_log.h"
#include "fabric/verbs/work.h"

/*
 * Events of a device, about the device itself and about queues on it.
 */

void
rr_verbs_completions_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_verbs_device *device = rr_container(watch, struct rr_verbs_device, completions);
	struct ibv_cq *cq;
	void *context;

	(void)events;
	while (device->fabric->library.get_cq_event(device->channel, &cq, &context) == 0) {
		struct rr_verbs_endpoint *endpoint = context;

		/* The events are acknowledged all together, before the completion queue is destroyed. */
		endpoint->cq_events++;
		endpoint->armed = false;
		rr_verbs_wake(endpoint);
	}
}

/* Marks a device as gone, so that no new endpoint uses it. Its endpoints are ended by events of the
 * connection manager. */
static void
event_removed(struct rr_verbs_device *device)
{
	if (!device->dead)
		rr_log(device->fabric->env, RR_LOG_WARNING, "the RDMA device %s is gone",
			device->context->device->name);
	device->dead = true;
}

/* Handles an event of a device. endpoint: the endpoint that the event is about, or NULL if it is about the
 * device as a whole. An event about an endpoint ends the endpoint's connection. */
static void
event_handle(struct rr_verbs_device *device, enum ibv_event_type type, struct rr_verbs_endpoint *endpoint)
{
	/* Completions that came before the error still count: rr_verbs_drain() handles them first. */
	switch (type) {
	case IBV_EVENT_QP_ACCESS_ERR:
		/* The device does not say which access the peer tried. */
		rr_log_peer(rr_loop_peer_log(device->fabric->base.loop), endpoint->base.peer,
			"%s: access to our memory was refused", endpoint->base.peer);
		rr_verbs_drain(endpoint);
		rr_verbs_end(endpoint, -RPCRDMA_ERR_ACCESS, "the peer's access to our memory was refused");
		return;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
		rr_verbs_drain(endpoint);
		rr_verbs_end(endpoint, -RPCRDMA_ERR_PEER, "the device stopped the connection for an error");
		return;
	case IBV_EVENT_CQ_ERR:
		rr_verbs_end(endpoint, -RPCRDMA_ERR_LIMIT, "more completions came than there was room for");
		return;
	case IBV_EVENT_DEVICE_FATAL: event_removed(device); return;
	default: return;
	}
}

void
rr_verbs_device_events(struct rr_verbs_device *device)
{
	const struct rr_verbs_library *library = &device->fabric->library;
	struct ibv_async_event event;

	while (library->get_async_event(device->context, &event) == 0) {
		enum ibv_event_type type = event.event_type;
		struct rr_verbs_endpoint *endpoint = NULL;

		if (type == IBV_EVENT_CQ_ERR)
			endpoint = event.element.cq->cq_context;
		else if (type == IBV_EVENT_QP_ACCESS_ERR || type == IBV_EVENT_QP_FATAL ||
			 type == IBV_EVENT_QP_REQ_ERR)
			endpoint = event.element.qp->qp_context;
		/* The event is acknowledged first: its handler may close the endpoint, and destroying a queue
		 * waits for that. */
		library->ack_async_event(&event);
		event_handle(device, type, endpoint);
	}
}

void
rr_verbs_events_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_verbs_device *device = rr_container(watch, struct rr_verbs_device, events);

	(void)events;
	rr_verbs_device_events(device);
	rr_verbs_device_leave(device);
}
