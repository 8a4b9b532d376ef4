/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/filter.h"

#include <stdio.h>

/* The operations that filters use for everything that they do not change: each operation calls the same one
 * of the fabric, listener or endpoint below. An endpoint may have no endpoint below (the filter has closed
 * that, or never had one). An operation of such an endpoint returns -RPCRDMA_ERR_DISCONNECTED, or has no
 * effect. Ending the access to a region then returns 0, as the peer has no access any more. */

/* Does nothing: stands for the functions begin and end in a filter that sets none of its own. */
static void
filter_ignore_endpoint(struct rr_filter_endpoint *endpoint)
{
	(void)endpoint;
}

/* Does nothing: stands for the function request in a filter that sets none of its own. */
static void
filter_ignore_request(struct rr_filter_endpoint *endpoint, const void *private_data, size_t size)
{
	(void)endpoint;
	(void)private_data;
	(void)size;
}

/* Returns how many octets the endpoint below has moved: a filter moves none itself. Without an endpoint
 * below, returns the number that was noted when that endpoint was closed. */
static uint64_t
filter_moved(const struct rr_endpoint *base)
{
	const struct rr_filter_endpoint *endpoint = (const struct rr_filter_endpoint *)base;

	return endpoint->below ? rr_endpoint_moved(endpoint->below) : base->moved;
}

/* Has the payer pay for the endpoint below: a filter has no descriptor itself. */
static void
filter_pay(struct rr_endpoint *base, struct rr_payer *const *payer)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	if (endpoint->below)
		rr_endpoint_pay(endpoint->below, payer);
}

static const struct rr_tls_session *
filter_session(const struct rr_endpoint *base)
{
	const struct rr_filter_endpoint *endpoint = (const struct rr_filter_endpoint *)base;

	return endpoint->below ? rr_endpoint_session(endpoint->below) : NULL;
}

struct rr_filter_fabric *
rr_filter_new(struct rr_fabric *below, const struct rr_fabric_ops *ops, size_t size)
{
	struct rr_loop *loop = rr_fabric_loop(below);
	struct rr_filter_fabric *fabric = rr_alloc(rr_loop_env(loop), size);

	if (!fabric)
		return NULL;
	fabric->ops = *ops;
	fabric->ops.name = rr_fabric_name(below);
	fabric->ops.limits = *rr_fabric_limits(below);
	fabric->ops.moved = filter_moved;
	fabric->ops.pay = filter_pay;
	fabric->ops.session = filter_session;
	fabric->base =
		(struct rr_fabric){ .ops = &fabric->ops, .loop = loop, .config = *rr_fabric_config(below) };
	fabric->env = rr_loop_env(loop);
	fabric->below = below;
	fabric->endpoint_size = sizeof(struct rr_filter_endpoint);
	fabric->begin = fabric->end = filter_ignore_endpoint;
	fabric->event = rr_filter_emit;
	fabric->request = filter_ignore_request;
	return fabric;
}

void
rr_filter_destroy(struct rr_fabric *base)
{
	struct rr_filter_fabric *fabric = rr_filter_fabric_of(base);

	rr_fabric_destroy(fabric->below);
	rr_free(fabric->env, fabric);
}

/* ---- Endpoints ---- */

struct rr_filter_endpoint *
rr_filter_endpoint_new(struct rr_filter_fabric *fabric, rr_endpoint_handler *handler, void *ctx)
{
	struct rr_filter_endpoint *endpoint = rr_alloc(fabric->env, fabric->endpoint_size);

	if (!endpoint)
		return NULL;
	endpoint->base.ops = fabric->base.ops;
	endpoint->base.fabric = &fabric->base;
	endpoint->base.handler = handler;
	endpoint->base.ctx = ctx;
	fabric->begin(endpoint);
	return endpoint;
}

/* Sets the endpoint to which the filter's endpoint passes its operations, and copies the text of that
 * endpoint's peer address. */
static void
filter_set_below(struct rr_filter_endpoint *endpoint, struct rr_endpoint *below)
{
	endpoint->below = below;
	snprintf(endpoint->base.peer, sizeof(endpoint->base.peer), "%s", rr_endpoint_peer(below));
}

/* Calls the filter's function end, which frees what the filter put into the endpoint. Frees the endpoint
 * itself at the end of the loop's turn. Does not close the endpoint below. */
static void
filter_end(struct rr_filter_endpoint *endpoint)
{
	struct rr_filter_fabric *fabric = rr_filter_fabric(endpoint);

	endpoint->closed = true;
	fabric->end(endpoint);
	rr_endpoint_bury(&endpoint->base);
}

/* Closes the endpoint below, if there is one, and frees the filter's endpoint. */
void
rr_filter_close(struct rr_endpoint *base)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	if (endpoint->below)
		rr_endpoint_close(endpoint->below);
	endpoint->below = NULL;
	filter_end(endpoint);
}

void
rr_filter_emit(struct rr_filter_endpoint *endpoint, const struct rr_event *event)
{
	endpoint->base.handler(endpoint->base.ctx, event);
}

void
rr_filter_event(void *ctx, const struct rr_event *event)
{
	struct rr_filter_endpoint *endpoint = ctx;

	rr_filter_fabric(endpoint)->event(endpoint, event);
}

/* ---- Listening ---- */

/* Called when a connection request comes to the listener below the filter: makes an endpoint of the filter
 * in front of the request's endpoint, and calls the handler of the filter's listener with it. Rejects the
 * request if there is no memory. */
static void
filter_requested(void *ctx, struct rr_endpoint *below, const void *private_data, size_t size)
{
	struct rr_filter_listener *listener = ctx;
	struct rr_filter_fabric *fabric = rr_filter_fabric_of(listener->base.fabric);
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_new(fabric, NULL, NULL);

	if (!endpoint) {
		rr_endpoint_reject(below, NULL, 0);
		return;
	}
	filter_set_below(endpoint, below);
	fabric->request(endpoint, private_data, size);
	listener->base.handler(listener->base.ctx, &endpoint->base, private_data, size);
}

/* Has the fabric below listen: connection requests come to filter_requested(), which puts an endpoint of the
 * filter in front of each. */
int
rr_filter_listen(struct rr_fabric *base, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text)
{
	struct rr_filter_fabric *fabric = rr_filter_fabric_of(base);
	struct rr_filter_listener *new = rr_alloc(fabric->env, sizeof(*new));
	int error;

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	*new = (struct rr_filter_listener){ .base = { base, how->handler, how->ctx } };
	error = rr_fabric_listen(fabric->below,
		&(struct rr_listen){ how->address, how->size, filter_requested, new }, &new->below, text);
	if (error)
		rr_free(fabric->env, new);
	else
		*listener = &new->base;
	return error;
}

int
rr_filter_listener_address(struct rr_listener *base, struct sockaddr_storage *address)
{
	struct rr_filter_listener *listener = rr_filter_listener_of(base);

	return rr_listener_address(listener->below, address);
}

void
rr_filter_unlisten(struct rr_listener *base)
{
	struct rr_filter_listener *listener = rr_filter_listener_of(base);

	rr_fabric_unlisten(listener->below);
	rr_free(rr_filter_fabric_of(listener->base.fabric)->env, listener);
}

/* ---- Connections ---- */

/* Connects as the fabric below does, and puts an endpoint of the filter in front of the new endpoint. The
 * caller gets the filter's endpoint; its events come through rr_filter_event(). */
int
rr_filter_connect(struct rr_fabric *base, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	struct rr_filter_fabric *fabric = rr_filter_fabric_of(base);
	struct rr_filter_endpoint *new = rr_filter_endpoint_new(fabric, how->handler, how->ctx);
	struct rr_endpoint *below;
	int error;

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	error = rr_fabric_connect(fabric->below,
		&(struct rr_connect){ how->address, how->size, how->private_data, how->private_size,
			rr_filter_event, new, how->secure },
		&below, text);
	if (error) {
		filter_end(new);
		return error;
	}
	filter_set_below(new, below);
	*endpoint = &new->base;
	return 0;
}

/* Accepts the connection by the endpoint below. From now on that endpoint's events come to
 * rr_filter_event(). */
int
rr_filter_accept(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	return rr_endpoint_accept(endpoint->below, rr_filter_event, endpoint, private_data, private_size);
}

/* Rejects the connection by the endpoint below, which this frees, and frees the filter's endpoint. */
void
rr_filter_reject(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	rr_endpoint_reject(endpoint->below, private_data, private_size);
	endpoint->below = NULL;
	filter_end(endpoint);
}

void
rr_filter_allow(struct rr_endpoint *base, uint32_t count)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	if (endpoint->below)
		rr_endpoint_allow(endpoint->below, count);
}

void
rr_filter_release(struct rr_fabric *base, uint8_t *receive)
{
	struct rr_filter_fabric *fabric = rr_filter_fabric_of(base);

	rr_fabric_release(fabric->below, receive);
}

bool
rr_filter_is_short(struct rr_fabric *base)
{
	const struct rr_filter_fabric *fabric = rr_filter_fabric_of(base);

	return rr_fabric_is_short(fabric->below);
}

/* Posts a work request to the endpoint below. */
int
rr_filter_post(struct rr_endpoint *base, const struct rr_work *work)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);
	struct rr_work below = *work;

	/* A request that is copied gets no completion, and filters must see each completion. */
	below.may_copy = false;
	return endpoint->below ? rr_endpoint_post(endpoint->below, &below) : -RPCRDMA_ERR_DISCONNECTED;
}

int
rr_filter_kick(struct rr_endpoint *base)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	return endpoint->below ? rr_endpoint_kick(endpoint->below) : -RPCRDMA_ERR_DISCONNECTED;
}

int
rr_filter_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	if (!endpoint->below)
		return -RPCRDMA_ERR_DISCONNECTED;
	return rr_endpoint_register(endpoint->below, addr, length, access, region);
}

int
rr_filter_invalidate(struct rr_endpoint *base, struct rr_region *region)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	return endpoint->below ? rr_endpoint_invalidate(endpoint->below, region) : 0;
}

int
rr_filter_revoke(struct rr_endpoint *base, struct rr_region *region)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	return endpoint->below ? rr_endpoint_revoke(endpoint->below, region) : 0;
}

int
rr_filter_corrupt(struct rr_endpoint *base)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	return endpoint->below ? rr_endpoint_corrupt(endpoint->below) : -RPCRDMA_ERR_DISCONNECTED;
}

void
rr_filter_disconnect(struct rr_endpoint *base)
{
	struct rr_filter_endpoint *endpoint = rr_filter_endpoint_of(base);

	if (endpoint->below)
		rr_endpoint_disconnect(endpoint->below);
}
