/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/loop/endpoint.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static void
flush(struct rr_loop_endpoint *endpoint)
{
	while (endpoint->state == RR_LOOP_ENDED && !rr_list_empty(&endpoint->queue))
		rr_works_complete(&rr_loop_fabric(endpoint)->works,
			rr_container(endpoint->queue.next, struct rr_work_item, link), &endpoint->base,
			-RPCRDMA_ERR_CANCELLED);
}

/* Tells a handler of the end; the request that nobody has answered yet has none. */
static void
finish(struct rr_loop_endpoint *endpoint)
{
	struct rr_event event = {
		.kind = RR_EVENT_DISCONNECTED, .status = endpoint->status, .text = endpoint->text.text
	};

	if (!endpoint->base.handler)
		return;
	flush(endpoint);
	if (endpoint->state != RR_LOOP_ENDED)
		return;
	endpoint->state = RR_LOOP_DISCONNECTED;
	if (endpoint->status == -RPCRDMA_ERR_REJECTED) {
		event.data = endpoint->private_data;
		event.length = (uint32_t)endpoint->private_size;
	}
	rr_loop_emit(endpoint, &event);
}

static struct rr_loop_listener *
find_listener(struct rr_loop_fabric *fabric, uint16_t port)
{
	rr_list_for_each (link, &fabric->listeners) {
		struct rr_loop_listener *listener = rr_container(link, struct rr_loop_listener, link);
		const struct sockaddr_in *address = (const void *)&listener->address;

		if (address->sin_port == port)
			return listener;
	}
	return NULL;
}

static void
find_peer(struct rr_loop_endpoint *endpoint)
{
	struct rr_loop_fabric *fabric = rr_loop_fabric(endpoint);
	struct rr_loop_listener *listener = find_listener(fabric, endpoint->port);
	struct rr_loop_endpoint *peer;

	if (!listener) {
		rr_loop_end(endpoint, -RPCRDMA_ERR_REFUSED, "nobody listens there");
		return;
	}
	peer = rr_loop_endpoint_new(fabric);
	if (!peer) {
		rr_loop_end(endpoint, -RPCRDMA_ERR_NOMEM, "no memory");
		return;
	}
	snprintf(peer->base.peer, sizeof(peer->base.peer), "in-process");
	peer->state = RR_LOOP_REQUESTED;
	endpoint->state = RR_LOOP_WAITING;
	peer->peer = endpoint;
	peer->wait.assured = true; /* it waits for the receives of the one that connects */
	endpoint->peer = peer;
	listener->base.handler(
		listener->base.ctx, &peer->base, endpoint->private_data, endpoint->private_size);
}

static void
establish(struct rr_loop_endpoint *endpoint)
{
	struct rr_loop_endpoint *peer = endpoint->peer;
	struct rr_event event = { .kind = RR_EVENT_ESTABLISHED };

	endpoint->state = peer->state = RR_LOOP_ESTABLISHED;
	rr_loop_emit(endpoint, &event);
	event.data = endpoint->private_data;
	event.length = (uint32_t)endpoint->private_size;
	if (peer->state == RR_LOOP_ESTABLISHED)
		rr_loop_emit(peer, &event);
}

static void
run(struct rr_task *task)
{
	struct rr_loop_endpoint *endpoint = rr_container(task, struct rr_loop_endpoint, task);

	switch (endpoint->state) {
	case RR_LOOP_CONNECTING: find_peer(endpoint); break;
	case RR_LOOP_ACCEPTED: establish(endpoint); break;
	case RR_LOOP_ESTABLISHED: rr_loop_work(endpoint); break;
	case RR_LOOP_ENDED: finish(endpoint); break;
	case RR_LOOP_WAITING:
	case RR_LOOP_REQUESTED:
	case RR_LOOP_DISCONNECTED:
	case RR_LOOP_CLOSED: break;
	}
}

static void
wake(struct rr_receive_wait *wait)
{
	struct rr_loop_endpoint *endpoint = rr_container(wait, struct rr_loop_endpoint, wait);

	rr_loop_defer(endpoint->base.fabric->loop, &endpoint->task);
}

static void
expired(struct rr_timer *timer)
{
	struct rr_loop_endpoint *endpoint = rr_container(timer, struct rr_loop_endpoint, timer);

	rr_loop_end_both(endpoint, 0, "disconnected; the peer did not take all that was posted",
		-RPCRDMA_ERR_DISCONNECTED, "the peer closed the connection");
}

struct rr_loop_endpoint *
rr_loop_endpoint_new(struct rr_loop_fabric *fabric)
{
	struct rr_loop_endpoint *endpoint = rr_alloc(fabric->env, sizeof(*endpoint));

	if (!endpoint)
		return NULL;
	endpoint->base.ops = fabric->base.ops;
	endpoint->base.fabric = &fabric->base;
	rr_list_init(&endpoint->link);
	rr_list_init(&endpoint->queue);
	rr_list_init(&endpoint->wait.link);
	endpoint->wait.wake = wake;
	rr_task_init(&endpoint->task, run);
	rr_timer_init(&endpoint->timer, expired);
	rr_regions_init(&endpoint->regions, fabric->env, fabric->base.config.region_max);
	return endpoint;
}

void
rr_loop_endpoint_bury(struct rr_loop_endpoint *endpoint)
{
	struct rr_loop_fabric *fabric = rr_loop_fabric(endpoint);

	endpoint->state = RR_LOOP_CLOSED;
	rr_task_cancel(&endpoint->task);
	rr_loop_disarm(fabric->base.loop, &endpoint->timer);
	rr_receives_leave(&rr_loop_fabric(endpoint)->receives, &endpoint->wait);
	while (!rr_list_empty(&endpoint->queue))
		rr_works_put(&fabric->works, rr_container(endpoint->queue.next, struct rr_work_item, link));
	rr_regions_destroy(&endpoint->regions, fabric->env);
	rr_list_append(&fabric->closed, &endpoint->link);
	rr_loop_defer(fabric->base.loop, &fabric->bury);
}

void
rr_loop_end(struct rr_loop_endpoint *endpoint, int status, const char *text)
{
	struct rr_loop *loop = endpoint->base.fabric->loop;

	endpoint->state = RR_LOOP_ENDED;
	endpoint->peer = NULL;
	rr_fail(&endpoint->text, 0, "%s", text);
	endpoint->status = status;
	rr_receives_leave(&rr_loop_fabric(endpoint)->receives, &endpoint->wait);
	rr_loop_disarm(loop, &endpoint->timer);
	rr_loop_defer(loop, &endpoint->task);
}

void
rr_loop_end_both(struct rr_loop_endpoint *endpoint, int status, const char *text, int peer_status,
	const char *peer_text)
{
	struct rr_loop_endpoint *peer = endpoint->peer;

	rr_loop_end(endpoint, status, text);
	if (peer)
		rr_loop_end(peer, peer_status, peer_text);
}

void
rr_loop_emit(struct rr_loop_endpoint *endpoint, const struct rr_event *event)
{
	endpoint->base.handler(endpoint->base.ctx, event);
}
