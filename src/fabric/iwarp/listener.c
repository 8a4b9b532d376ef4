/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/address.h"
#include "base/peer_log.h"
#include "fabric/iwarp/endpoint.h"
#include "fabric/iwarp/socket.h"

enum { ACCEPTS_PER_TURN = 64 };

static const uint64_t pause_limit = 100 * RR_MILLISECOND; /* after accepting failed */

void
rr_iwarp_listener_remove(struct rr_iwarp_endpoint *endpoint)
{
	rr_list_remove(&endpoint->link);
	endpoint->listener->pending_count--;
	endpoint->listener = NULL;
}

/* Closes and frees the endpoint that has waited longest for its MPA request. */
static void
listener_drop_oldest(struct rr_iwarp_listener *listener)
{
	struct rr_iwarp_endpoint *endpoint =
		rr_container(listener->pending.next, struct rr_iwarp_endpoint, link);

	rr_iwarp_listener_remove(endpoint);
	rr_iwarp_endpoint_bury(endpoint);
}

/* Hands the endpoint to the listener's user, with the private data of the MPA request. Until the user has
 * accepted or rejected the request, nothing is read from the socket and no time limit is set. */
void
rr_iwarp_listener_hand_over(struct rr_iwarp_endpoint *endpoint)
{
	struct rr_iwarp_listener *listener = endpoint->listener;
	struct rr_loop *loop = listener->base.fabric->loop;
	const struct rr_mpa_frame *request = &endpoint->iwarp.setup->request;

	rr_iwarp_listener_remove(endpoint);
	rr_loop_disarm(loop, &endpoint->timer);
	rr_iwarp_endpoint_unwatch(endpoint);
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_OFFERED);
	listener->base.handler(listener->base.ctx, &endpoint->iwarp.base, request->private_data,
		request->private_data_length);
}

/* Makes an endpoint for a TCP connection that was accepted, and begins to wait for its MPA request. When too
 * many endpoints wait, the oldest of them is closed. Without memory, the connection is closed. */
static void
listener_admit(struct rr_iwarp_listener *listener, int fd, const struct sockaddr *peer)
{
	struct rr_iwarp_endpoint *endpoint =
		rr_iwarp_endpoint_new(rr_iwarp_fabric_of(listener->base.fabric), fd, peer);

	if (!endpoint) {
		rr_socket_close(fd);
		rr_spread_ended(listener->seat.member);
		return;
	}
	endpoint->spread = listener->seat.member;
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_PENDING);
	if (rr_iwarp_respond(&endpoint->iwarp) ||
		rr_iwarp_endpoint_watch(endpoint, RR_READABLE, RR_IWARP_REQUEST_LIMIT)) {
		rr_iwarp_endpoint_bury(endpoint);
		return;
	}
	/* A peer that connects and sends nothing must not keep others out. */
	if (listener->pending_count == RR_IWARP_PENDING_MAX)
		listener_drop_oldest(listener);
	endpoint->listener = listener;
	rr_list_append(&listener->pending, &endpoint->link);
	listener->pending_count++;
}

/* Makes an endpoint for a connection that the listener of another thread accepted and gave to this one. */
static void
listener_take(struct rr_spread_seat *seat, int fd, const struct sockaddr_storage *peer)
{
	listener_admit(rr_container(seat, struct rr_iwarp_listener, seat), fd, (const struct sockaddr *)peer);
}

/* Stops accepting connections for a while. error is an errno value: there is no descriptor or no memory for
 * the next connection. Without the pause the loop would report that connection again and again. */
static void
listener_take_a_break(struct rr_iwarp_listener *listener, int error)
{
	struct rr_loop *loop = listener->base.fabric->loop;

	rr_log_peer(rr_loop_peer_log(loop), "", "cannot accept connections: %s", strerror(error));
	rr_loop_want(loop, &listener->watch, 0);
	rr_loop_arm(loop, &listener->pause, pause_limit);
}

/* Accepts TCP connections, up to ACCEPTS_PER_TURN. Offers each to the other threads that listen at this
 * address (rr_spread_offer()). A connection that none of them takes gets an endpoint here. */
static void
listener_ready(struct rr_watch *watch, unsigned events)
{
	struct rr_iwarp_listener *listener = rr_container(watch, struct rr_iwarp_listener, watch);

	(void)events;
	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		struct sockaddr_storage peer;
		int fd = rr_socket_accept(listener->fd, &peer);

		if (fd == -EAGAIN)
			return;
		if (fd >= 0 && rr_spread_offer(&listener->seat, fd, &peer))
			continue;
		/* An error that is not listed below is that of one connection, which has ended before it was
		 * accepted. */
		if (fd >= 0)
			listener_admit(listener, fd, (void *)&peer);
		else if (fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS || fd == -ENOMEM) {
			listener_take_a_break(listener, -fd);
			return;
		}
	}
}

/* Called when the pause is over: watches the socket for connections again. */
static void
listener_go_on(struct rr_timer *timer)
{
	struct rr_iwarp_listener *listener = rr_container(timer, struct rr_iwarp_listener, pause);

	rr_loop_want(listener->base.fabric->loop, &listener->watch, RR_READABLE);
}

int
rr_iwarp_listen(struct rr_fabric *base, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text)
{
	struct rr_iwarp_fabric *fabric = rr_iwarp_fabric_of(base);
	const struct rr_env *env = fabric->shared.env;
	struct rr_iwarp_listener *new = rr_alloc(env, sizeof(*new));
	char name[RR_ADDRESS_TEXT];
	int error;

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	*new = (struct rr_iwarp_listener){ .base = { base, how->handler, how->ctx } };
	new->watch.ready = listener_ready;
	rr_timer_init(&new->pause, listener_go_on);
	rr_list_init(&new->pending);
	new->fd = rr_socket_listen(how->address, how->size, fabric->base.config.reuse_port);
	error = new->fd < 0 ? -new->fd : 0;
	if (!error && rr_loop_watch(fabric->base.loop, &new->watch, new->fd, RR_READABLE)) {
		error = errno;
		rr_socket_close(new->fd);
	}
	if (!error) {
		/* From now on listeners of other engines at this address may give connections to this one. */
		new->seat.take = listener_take;
		rr_spread_sit(fabric->base.config.spread, &new->seat, new->fd);
		*listener = &new->base;
		return 0;
	}
	rr_free(env, new);
	rr_address_text(how->address, name, sizeof(name));
	return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "cannot listen at %s: %s", name,
		error == EADDRINUSE ? "the port is in use" : strerror(error));
}

int
rr_iwarp_listener_address(struct rr_listener *base, struct sockaddr_storage *address)
{
	struct rr_iwarp_listener *listener = rr_iwarp_listener_of(base);

	return rr_socket_address(listener->fd, address) ? -RPCRDMA_ERR_SYSTEM : 0;
}

/* Closes a listener, and all connections that still wait for their MPA request. */
void
rr_iwarp_unlisten(struct rr_listener *base)
{
	struct rr_iwarp_listener *listener = rr_iwarp_listener_of(base);
	struct rr_loop *loop = listener->base.fabric->loop;

	while (!rr_list_empty(&listener->pending))
		listener_drop_oldest(listener);
	rr_spread_stand(&listener->seat);
	rr_loop_disarm(loop, &listener->pause);
	rr_loop_unwatch(loop, &listener->watch);
	rr_socket_close(listener->fd);
	rr_free(rr_iwarp_fabric_of(listener->base.fabric)->shared.env, listener);
}
