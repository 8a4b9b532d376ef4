/* SPDX-License-Identifier: BSD-3-Clause */
#include "loop.h"

#include <netinet/in.h>
#include <string.h>

#include "base/address.h"
#include "endpoint.h"

static void
loop_destroy(struct rr_fabric *base)
{
	struct rr_loop_fabric *fabric = rr_loop_fabric_of(base);

	rr_cache_end(&fabric->works);
	rr_receives_destroy(&fabric->receives);
	rr_free(fabric->env, fabric);
}

/* Returns a pointer to the port in an address; the port is at the same place in IPv4 and IPv6 addresses. */
static in_port_t *
loop_port_of(struct sockaddr_storage *address)
{
	return &((struct sockaddr_in *)(void *)address)->sin_port;
}

/* Whether a listener of the fabric has this port, which is in network byte order. */
static bool
loop_port_is_taken(const struct rr_loop_fabric *fabric, in_port_t port)
{
	rr_list_for_each (link, &fabric->listeners) {
		if (*loop_port_of(&rr_container(link, struct rr_loop_listener, link)->address) == port)
			return true;
	}
	return false;
}

/* Returns a port, in network byte order, at which no listener of the fabric listens. */
static in_port_t
loop_choose_port(struct rr_loop_fabric *fabric)
{
	do
		fabric->last_port++;
	while (!fabric->last_port || loop_port_is_taken(fabric, htons(fabric->last_port)));
	return htons(fabric->last_port);
}

/* Makes a listener for a port, which is 0 if the fabric is to choose one. Endpoints of this fabric find it by
 * that port; the rest of the address does not count. */
static int
loop_listen(struct rr_fabric *base, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text)
{
	struct rr_loop_fabric *fabric = rr_loop_fabric_of(base);
	struct rr_loop_listener *new = rr_alloc(fabric->env, sizeof(*new));
	char name[RR_ADDRESS_TEXT];

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	*new = (struct rr_loop_listener){ .base = { base, how->handler, how->ctx } };
	memcpy(&new->address, how->address,
		how->size < sizeof(new->address) ? how->size : sizeof(new->address));
	if (!*loop_port_of(&new->address))
		*loop_port_of(&new->address) = loop_choose_port(fabric);
	if (loop_port_is_taken(fabric, *loop_port_of(&new->address))) {
		rr_free(fabric->env, new);
		rr_address_text(how->address, name, sizeof(name));
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "cannot listen at %s: the port is in use", name);
	}
	rr_list_append(&fabric->listeners, &new->link);
	*listener = &new->base;
	return 0;
}

static int
loop_listener_address(struct rr_listener *base, struct sockaddr_storage *address)
{
	struct rr_loop_listener *listener = rr_loop_listener_of(base);

	*address = listener->address;
	return 0;
}

/* Frees a listener. Connection requests that the listener's user has not answered yet live on. */
static void
loop_unlisten(struct rr_listener *base)
{
	struct rr_loop_listener *listener = rr_loop_listener_of(base);

	rr_list_remove(&listener->link);
	rr_free(rr_loop_fabric_of(listener->base.fabric)->env, listener);
}

/* Makes an endpoint with a copy of the private data, and schedules the endpoint's task, which looks for the
 * listener. */
static int
loop_connect(struct rr_fabric *base, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	struct rr_loop_fabric *fabric = rr_loop_fabric_of(base);
	struct rr_loop_endpoint *new = rr_loop_endpoint_new(fabric);

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	new->base.handler = how->handler;
	new->base.ctx = how->ctx;
	new->port = ((const struct sockaddr_in *)(const void *)how->address)->sin_port;
	rr_address_text(how->address, new->base.peer, sizeof(new->base.peer));
	new->private_size = how->private_size;
	if (how->private_size)
		memcpy(new->private_data, how->private_data, how->private_size);
	rr_loop_defer(fabric->base.loop, &new->task);
	*endpoint = &new->base;
	return 0;
}

/* Accepts the connection. Keeps a copy of the private data, which the peer is to get. */
static int
loop_accept(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct rr_loop_endpoint *endpoint = rr_loop_endpoint_of(base);

	endpoint->private_size = private_size;
	if (private_size)
		memcpy(endpoint->private_data, private_data, private_size);
	rr_loop_event(endpoint, RR_LOOP_ACCEPT);
	return 0;
}

/* Ends the connection for the peer, which gets the private data as the reason, and frees this endpoint. */
static void
loop_reject(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct rr_loop_endpoint *endpoint = rr_loop_endpoint_of(base);
	struct rr_loop_endpoint *peer = endpoint->peer;

	/* The listener's user has seen the peer's private data: its place is free for that of the rejection.
	 */
	if (peer && private_size)
		memcpy(peer->private_data, private_data, private_size);
	if (peer)
		peer->private_size = private_size;
	if (peer)
		rr_loop_end(peer, -RPCRDMA_ERR_REJECTED, "the peer rejected the connection");
	rr_loop_endpoint_bury(endpoint);
}

/* Allows the peer count more Sends: work_send_message() ends the connection for a Send that is not
 * allowed. */
static void
loop_allow(struct rr_endpoint *base, uint32_t count)
{
	struct rr_loop_endpoint *endpoint = rr_loop_endpoint_of(base);

	endpoint->allowed += count;
}

static void
loop_release(struct rr_fabric *base, uint8_t *receive)
{
	struct rr_loop_fabric *fabric = rr_loop_fabric_of(base);

	rr_receives_put(&fabric->receives, receive);
}

/* Whether any endpoint of the fabric waits for a receive buffer. */
static bool
loop_is_short(struct rr_fabric *base)
{
	const struct rr_loop_fabric *fabric = rr_loop_fabric_of(base);

	return rr_receives_are_wanted(&fabric->receives);
}

/* Appends a work request to the endpoint's queue, and schedules the endpoint's task, which carries the
 * request out. Returns -RPCRDMA_ERR_DISCONNECTED if the connection is not established or the owner has asked
 * to end it. */
static int
loop_post(struct rr_endpoint *base, const struct rr_work *work)
{
	struct rr_loop_endpoint *endpoint = rr_loop_endpoint_of(base);
	struct rr_loop_fabric *fabric = rr_loop_fabric(endpoint);
	struct rr_work_item *item;

	if (endpoint->state != RR_LOOP_ESTABLISHED || endpoint->disconnecting)
		return -RPCRDMA_ERR_DISCONNECTED;
	item = rr_works_get(&fabric->works, work);
	if (!item)
		return -RPCRDMA_ERR_NOMEM;
	rr_list_append(&endpoint->queue, &item->link);
	endpoint->base.outstanding++;
	rr_loop_defer(fabric->base.loop, &endpoint->task);
	return 0;
}

/* Sends nothing, as no endpoint of this provider can miss a frame. */
static int
loop_kick(struct rr_endpoint *base)
{
	struct rr_loop_endpoint *endpoint = rr_loop_endpoint_of(base);

	return endpoint->state == RR_LOOP_ESTABLISHED ? 0 : -RPCRDMA_ERR_DISCONNECTED;
}

/* Registers a region, in any state of the connection. */
static int
loop_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	struct rr_loop_endpoint *endpoint = rr_loop_endpoint_of(base);

	return rr_regions_add(&endpoint->regions, addr, length, access, region);
}

/* Ends the peer's access to a region, and removes the region. This cannot fail. */
static int
loop_invalidate(struct rr_endpoint *base, struct rr_region *region)
{
	struct rr_loop_endpoint *endpoint = rr_loop_endpoint_of(base);

	rr_regions_remove(&endpoint->regions, region->handle);
	return 0;
}

/* Ends the peer's access to a region, whose handle stays known. This cannot fail. */
static int
loop_revoke(struct rr_endpoint *base, struct rr_region *region)
{
	struct rr_loop_endpoint *endpoint = rr_loop_endpoint_of(base);

	rr_regions_revoke(&endpoint->regions, region->handle);
	return 0;
}

/* Ends the connection after all work requests of the queue are done, or after one second. A connection that
 * is not established yet ends at once, for both sides. */
static void
loop_disconnect(struct rr_endpoint *base)
{
	struct rr_loop_endpoint *endpoint = rr_loop_endpoint_of(base);
	struct rr_loop *loop = endpoint->base.fabric->loop;

	switch (endpoint->state) {
	case RR_LOOP_ESTABLISHED:
		endpoint->disconnecting = true;
		rr_loop_arm(loop, &endpoint->timer, RR_SECOND);
		rr_loop_defer(loop, &endpoint->task);
		return;
	case RR_LOOP_ENDED:
	case RR_LOOP_DISCONNECTED:
	case RR_LOOP_CLOSED: return;
	default:
		rr_loop_end_both(endpoint, -RPCRDMA_ERR_CANCELLED, "disconnected before it was connected",
			-RPCRDMA_ERR_DISCONNECTED, "the peer closed the connection");
	}
}

/* Ends the connection for the peer, if there is one, and frees the endpoint. */
static void
loop_close(struct rr_endpoint *base)
{
	struct rr_loop_endpoint *endpoint = rr_loop_endpoint_of(base);

	if (endpoint->peer)
		rr_loop_end(endpoint->peer, -RPCRDMA_ERR_DISCONNECTED, "the peer closed the connection");
	rr_loop_endpoint_bury(endpoint);
}

static const struct rr_fabric_ops loop_ops = {
	.name = "loop",
	.limits = { .private_data_max = RR_LOOP_PRIVATE_MAX,
		.sge_max = RR_MAX_SGE,
		.remote_invalidation = true },
	.destroy = loop_destroy,
	.listen = loop_listen,
	.listener_address = loop_listener_address,
	.unlisten = loop_unlisten,
	.connect = loop_connect,
	.accept = loop_accept,
	.reject = loop_reject,
	.allow = loop_allow,
	.release = loop_release,
	.is_short = loop_is_short,
	.post = loop_post,
	.kick = loop_kick,
	.register_region = loop_register,
	.invalidate = loop_invalidate,
	.revoke = loop_revoke,
	.disconnect = loop_disconnect,
	.close = loop_close,
};

int
rr_loop_fabric_new(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	const struct rr_env *env = rr_loop_env(loop);
	struct rr_loop_fabric *new;

	if (!rr_fabric_config_is_good(config))
		return -RPCRDMA_ERR_INVAL;
	new = rr_alloc(env, sizeof(*new));
	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->base = (struct rr_fabric){ .ops = &loop_ops, .loop = loop, .config = *config };
	new->env = env;
	rr_receives_init(&new->receives, env, config->receive_size, config->receive_max);
	rr_works_init(&new->works, env);
	rr_list_init(&new->listeners);
	*fabric = &new->base;
	return 0;
}
