/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/peer_log.h"
#include "fabric/verbs/endpoint.h"

/*
 * What a device has to say, of itself and of queues on it; and the receives in the queues that its endpoints
 * share.
 */

void
rr_verbs_device_recycle(struct rr_verbs_device *device, struct rr_verbs_buffer *buffer)
{
	rr_verbs_pool_put(buffer);
	rr_loop_defer(device->fabric->base.loop, &device->refill);
}

static void
refill(struct rr_verbs_receives *receives)
{
	struct rr_verbs_device *device = receives->device;
	struct ibv_recv_wr wrs[RR_VERBS_BATCH], *bad;
	struct ibv_sge sges[RR_VERBS_BATCH];
	struct rr_verbs_buffer *buffer = NULL;
	uint32_t size = device->fabric->base.config.receive_size, n;
	/* With one that is not allowed: it shows who sends too much, whom InfiniBand would let wait. */
	uint64_t wanted = device->endpoints > 0 ? receives->allowed + 1 : 0;

	do {
		for (n = 0; n < RR_VERBS_BATCH && receives->posted + n < wanted; n++) {
			buffer = rr_verbs_pool_get(&receives->pool, size);
			if (!buffer)
				break;
			sges[n] = (struct ibv_sge){ (uintptr_t)buffer->data, size, buffer->slab->mr->lkey };
			wrs[n] = (struct ibv_recv_wr){ .wr_id = (uintptr_t)buffer | RR_VERBS_RECEIVE,
				.next = &wrs[n + 1],
				.sg_list = &sges[n],
				.num_sge = 1 };
		}
		if (n == 0)
			return;
		wrs[n - 1].next = NULL;
		receives->posted += n;
		if (ibv_post_srq_recv(receives->srq, wrs, &bad) == 0)
			continue;
		for (; bad; bad = bad->next, receives->posted--)
			rr_verbs_pool_put((void *)(uintptr_t)(bad->wr_id & ~(uint64_t)RR_VERBS_RECEIVE));
		rr_log(device->fabric->env, RR_LOG_ERROR, "%s does not take receives: %s",
			device->context->device->name, strerror(errno));
		return;
	} while (n == RR_VERBS_BATCH);
}

/* Keeps as many receives in each shared queue as Sends are allowed, as far as its pool goes. */
void
rr_verbs_device_refill(struct rr_task *task)
{
	struct rr_verbs_device *device = rr_container(task, struct rr_verbs_device, refill);

	for (int i = 0; i < 2; i++)
		refill(&device->receives[i]);
}

void
rr_verbs_completions_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_verbs_device *device = rr_container(watch, struct rr_verbs_device, completions);
	struct ibv_cq *cq;
	void *context;

	(void)events;
	while (device->fabric->library.get_cq_event(device->channel, &cq, &context) == 0) {
		struct rr_verbs_endpoint *endpoint = context;

		endpoint->cq_events++;
		endpoint->armed = false;
		rr_verbs_wake(endpoint);
	}
}

/* Endpoints hear of it from the connection manager. */
static void
removed(struct rr_verbs_device *device)
{
	if (!device->dead)
		rr_log(device->fabric->env, RR_LOG_WARNING, "the RDMA device %s is gone",
			device->context->device->name);
	device->dead = true;
}

static void
handle_event(struct rr_verbs_device *device, enum ibv_event_type type, struct rr_verbs_endpoint *endpoint)
{
	switch (type) {
	case IBV_EVENT_QP_ACCESS_ERR:
		/* What it tried, the device does not tell. */
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
	case IBV_EVENT_DEVICE_FATAL: removed(device); return;
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
		library->ack_async_event(&event);
		handle_event(device, type, endpoint);
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
