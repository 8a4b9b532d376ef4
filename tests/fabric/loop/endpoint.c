/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

void
rr_loop_set_state(struct rr_loop_endpoint *endpoint, enum rr_loop_state state)
{
	static const char *const names[RR_LOOP_STATES] = { "connecting", "waiting", "requested", "accepted",
		"established", "ended", "disconnected", "closed" };

	rr_log(rr_loop_fabric(endpoint)->env, RR_LOG_DEBUG, "%s: in-process endpoint %s, was %s",
		endpoint->base.peer, names[state], names[endpoint->state]);
	endpoint->state = state;
}

/* Completes, with the status CANCELLED, all work requests of an endpoint whose connection has ended. Each
 * completion calls the owner's handler. Stops if the handler closes the endpoint. */
static void
loop_flush(struct rr_loop_endpoint *endpoint)
{
	while (endpoint->state == RR_LOOP_ENDED && !rr_list_empty(&endpoint->queue))
		rr_works_complete(&rr_loop_fabric(endpoint)->works,
			rr_container(endpoint->queue.next, struct rr_work_item, link), &endpoint->base,
			-RPCRDMA_ERR_CANCELLED);
}

/* Completes all work requests as cancelled, then calls the owner's handler with DISCONNECTED. If the
 * endpoint has no handler, as it was not accepted yet, does nothing: the function is called again when it is
 * accepted. */
static void
loop_finish(struct rr_loop_endpoint *endpoint)
{
	struct rr_event event = {
		.kind = RR_EVENT_DISCONNECTED, .status = endpoint->status, .text = endpoint->text.text
	};

	if (!endpoint->base.handler)
		return;
	loop_flush(endpoint);
	/* A handler of a completion may have closed the endpoint. */
	if (endpoint->state != RR_LOOP_ENDED)
		return;
	rr_loop_set_state(endpoint, RR_LOOP_DISCONNECTED);
	if (endpoint->status == -RPCRDMA_ERR_REJECTED) {
		event.data = endpoint->private_data;
		event.length = (uint32_t)endpoint->private_size;
	}
	rr_loop_emit(endpoint, &event);
}

/* Returns the listener at that port (in network byte order), or NULL if there is no listener. */
static struct rr_loop_listener *
loop_find_listener(struct rr_loop_fabric *fabric, uint16_t port)
{
	rr_list_for_each (link, &fabric->listeners) {
		struct rr_loop_listener *listener = rr_container(link, struct rr_loop_listener, link);
		const struct sockaddr_in *address = (const void *)&listener->address;

		if (address->sin_port == port)
			return listener;
	}
	return NULL;
}

/* Finds the listener at the port to which the endpoint connects, makes the endpoint of the other side, and
 * calls the listener's handler with that endpoint. Ends the connection if there is no listener or no
 * memory. */
static void
loop_find_peer(struct rr_loop_endpoint *endpoint)
{
	struct rr_loop_fabric *fabric = rr_loop_fabric(endpoint);
	struct rr_loop_listener *listener = loop_find_listener(fabric, endpoint->port);
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
	rr_loop_set_state(peer, RR_LOOP_REQUESTED);
	rr_loop_set_state(endpoint, RR_LOOP_WAITING);
	peer->peer = endpoint;
	/* The Sends of this new endpoint go into receives of the side that connects, which are not bounded.
	 */
	peer->wait.assured = true;
	endpoint->peer = peer;
	listener->base.handler(
		listener->base.ctx, &peer->base, endpoint->private_data, endpoint->private_size);
}

/* Called after this side has accepted the connection: changes both sides to ESTABLISHED, and calls the
 * handlers of both. The side that connected gets the private data of this side. */
static void
loop_establish(struct rr_loop_endpoint *endpoint)
{
	struct rr_loop_endpoint *peer = endpoint->peer;
	struct rr_event event = { .kind = RR_EVENT_ESTABLISHED };

	rr_loop_set_state(endpoint, RR_LOOP_ESTABLISHED);
	rr_loop_set_state(peer, RR_LOOP_ESTABLISHED);
	rr_loop_emit(endpoint, &event);
	event.data = endpoint->private_data;
	event.length = (uint32_t)endpoint->private_size;
	/* The handler above may have ended the connection for the peer, too. */
	if (peer->state == RR_LOOP_ESTABLISHED)
		rr_loop_emit(peer, &event);
}

/* Changes the state to ACCEPTED and schedules the endpoint's task, which establishes the connection later.
 * The owner's handler must not be called while the owner is still in its call to accept. */
static void
loop_accept_request(struct rr_loop_endpoint *endpoint)
{
	rr_loop_set_state(endpoint, RR_LOOP_ACCEPTED);
	rr_loop_defer(endpoint->base.fabric->loop, &endpoint->task);
}

/* Called when the owner accepts a connection that has ended meanwhile: schedules the endpoint's task, which
 * calls the owner's handler with DISCONNECTED. */
static void
loop_accept_ended(struct rr_loop_endpoint *endpoint)
{
	rr_loop_defer(endpoint->base.fabric->loop, &endpoint->task);
}

/* Ends the connection for both sides, as it took too long to carry out all work requests after the owner had
 * asked to disconnect. */
static void
loop_give_up(struct rr_loop_endpoint *endpoint)
{
	rr_loop_end_both(endpoint, 0, "disconnected; the peer did not take all that was posted",
		-RPCRDMA_ERR_DISCONNECTED, "the peer closed the connection");
}

/* Does nothing: for events that have no effect in the present state. */
static void
loop_hold(struct rr_loop_endpoint *endpoint)
{
	(void)endpoint;
}

typedef void loop_action(struct rr_loop_endpoint *endpoint);

void
rr_loop_event(struct rr_loop_endpoint *endpoint, enum rr_loop_event event)
{
	/* clang-format off */
	static loop_action *const table[RR_LOOP_STATES][RR_LOOP_EVENTS] = {
		/*                         TURN            ACCEPT               OVERDUE */
		[RR_LOOP_CONNECTING] =   { loop_find_peer, loop_hold,           loop_hold },
		[RR_LOOP_WAITING] =      { loop_hold,      loop_hold,           loop_hold },
		[RR_LOOP_REQUESTED] =    { loop_hold,      loop_accept_request, loop_hold },
		[RR_LOOP_ACCEPTED] =     { loop_establish, loop_hold,           loop_hold },
		[RR_LOOP_ESTABLISHED] =  { rr_loop_work,   loop_hold,           loop_give_up },
		[RR_LOOP_ENDED] =        { loop_finish,    loop_accept_ended,   loop_hold },
		[RR_LOOP_DISCONNECTED] = { loop_hold,      loop_hold,           loop_hold },
		[RR_LOOP_CLOSED] =       { loop_hold,      loop_hold,           loop_hold },
	};
	/* clang-format on */

	table[endpoint->state][event](endpoint);
}

/* Runs as the endpoint's task: handles the event TURN. */
static void
loop_run(struct rr_task *task)
{
	rr_loop_event(rr_container(task, struct rr_loop_endpoint, task), RR_LOOP_TURN);
}

/* Called when a receive buffer may be free for a Send of this endpoint, which waited for one: schedules the
 * endpoint's task. */
static void
loop_wake(struct rr_receive_wait *wait)
{
	struct rr_loop_endpoint *endpoint = rr_container(wait, struct rr_loop_endpoint, wait);

	rr_loop_defer(endpoint->base.fabric->loop, &endpoint->task);
}

/* Called when the endpoint's timer has expired: handles the event OVERDUE. */
static void
loop_expired(struct rr_timer *timer)
{
	rr_loop_event(rr_container(timer, struct rr_loop_endpoint, timer), RR_LOOP_OVERDUE);
}

struct rr_loop_endpoint *
rr_loop_endpoint_new(struct rr_loop_fabric *fabric)
{
	struct rr_loop_endpoint *endpoint = rr_alloc(fabric->env, sizeof(*endpoint));

	if (!endpoint)
		return NULL;
	endpoint->base.ops = fabric->base.ops;
	endpoint->base.fabric = &fabric->base;
	rr_list_init(&endpoint->queue);
	rr_list_init(&endpoint->wait.link);
	endpoint->wait.wake = loop_wake;
	rr_task_init(&endpoint->task, loop_run);
	rr_timer_init(&endpoint->timer, loop_expired);
	rr_regions_init(&endpoint->regions, fabric->env, fabric->base.config.region_max);
	return endpoint;
}

void
rr_loop_endpoint_bury(struct rr_loop_endpoint *endpoint)
{
	struct rr_loop_fabric *fabric = rr_loop_fabric(endpoint);

	rr_loop_set_state(endpoint, RR_LOOP_CLOSED);
	rr_task_cancel(&endpoint->task);
	rr_loop_disarm(fabric->base.loop, &endpoint->timer);
	rr_receives_leave(&rr_loop_fabric(endpoint)->receives, &endpoint->wait);
	while (!rr_list_empty(&endpoint->queue))
		rr_works_put(&fabric->works, rr_container(endpoint->queue.next, struct rr_work_item, link));
	rr_regions_destroy(&endpoint->regions);
	rr_endpoint_bury(&endpoint->base);
}

void
rr_loop_end(struct rr_loop_endpoint *endpoint, int status, const char *text)
{
	struct rr_loop *loop = endpoint->base.fabric->loop;

	rr_loop_set_state(endpoint, RR_LOOP_ENDED);
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
