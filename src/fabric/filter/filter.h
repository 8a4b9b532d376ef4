/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FABRIC_FILTER_FILTER_H
#define RR_FABRIC_FILTER_FILTER_H

#include "fabric/fabric.h"

/*
 * The common part of all filters: a fabric whose listeners and endpoints each stand before one of another
 * fabric, and hand everything on. A filter makes a table of operations from the functions here and functions
 * of its own, and embeds these structures at the front of its own.
 *
 * Ownership: a filter's fabric owns the fabric below; an endpoint owns the endpoint below until the
 * filter closes that. A closed endpoint is buried, as its own handler may close it.
 */
struct rr_filter_endpoint;

/* The fabric of a filter. */
struct rr_filter_fabric {
	struct rr_fabric base;
	struct rr_fabric_ops ops; /* name and limits are those of the fabric below */
	const struct rr_env *env;
	struct rr_fabric *below;
	size_t endpoint_size; /* octets of the filter's own structure of an endpoint */
	/* Called when an endpoint was made. Its memory behind struct rr_filter_endpoint is zero. */
	void (*begin)(struct rr_filter_endpoint *endpoint);
	/* Called when an endpoint is closed: the filter frees what it put into the endpoint. */
	void (*end)(struct rr_filter_endpoint *endpoint);
	/* Called when an event came from the endpoint below. It passes the event to the owner of the filter's
	 * endpoint by rr_filter_emit(), at once or later. */
	void (*event)(struct rr_filter_endpoint *endpoint, const struct rr_event *event);
	/* Called when a connection request came, before the listener's handler gets it. */
	void (*request)(struct rr_filter_endpoint *endpoint, const void *private_data, size_t size);
};

/* The listener of a filter. */
struct rr_filter_listener {
	struct rr_listener base;
	struct rr_listener *below;
};

/* The endpoint of a filter. */
struct rr_filter_endpoint {
	struct rr_endpoint base;
	struct rr_endpoint *below; /* NULL: it was closed, or there never was any */
	bool closed;
};

static inline struct rr_filter_fabric *
rr_filter_fabric_of(struct rr_fabric *fabric)
{
	return rr_container(fabric, struct rr_filter_fabric, base);
}

static inline struct rr_filter_listener *
rr_filter_listener_of(struct rr_listener *listener)
{
	return rr_container(listener, struct rr_filter_listener, base);
}

static inline struct rr_filter_endpoint *
rr_filter_endpoint_of(struct rr_endpoint *endpoint)
{
	return rr_container(endpoint, struct rr_filter_endpoint, base);
}

/* Returns the filter's fabric that an endpoint belongs to. */
static inline struct rr_filter_fabric *
rr_filter_fabric(const struct rr_filter_endpoint *endpoint)
{
	return rr_filter_fabric_of(endpoint->base.fabric);
}

/* Makes the fabric of a filter in front of the fabric below, in zeroed memory of size octets, which begins
 * with this structure. ops: the filter's operations; what the filter does not handle, they pass on to the
 * fabric below. Returns NULL if there is no memory. */
struct rr_filter_fabric *rr_filter_new(struct rr_fabric *below, const struct rr_fabric_ops *ops, size_t size);

/* Calls the handler of the endpoint's owner with an event. The owner may close the endpoint inside its
 * handler. */
void rr_filter_emit(struct rr_filter_endpoint *endpoint, const struct rr_event *event);

/* Makes an endpoint of the filter without an endpoint below: the filter sets that later, or never. Returns
 * NULL if there is no memory. */
struct rr_filter_endpoint *rr_filter_endpoint_new(
	struct rr_filter_fabric *fabric, rr_endpoint_handler *handler, void *ctx);

/* The handler for events of the endpoint below; ctx must be the filter's endpoint. Passes each event to the
 * filter's function event. */
void rr_filter_event(void *ctx, const struct rr_event *event);

/* ---- Operations ---- */

/* The operations of struct rr_fabric_ops that filters use: each of these functions calls the same operation
 * of the fabric, listener or endpoint below. */
void rr_filter_destroy(struct rr_fabric *base);
int rr_filter_listen(struct rr_fabric *base, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text);
int rr_filter_listener_address(struct rr_listener *base, struct sockaddr_storage *address);
void rr_filter_unlisten(struct rr_listener *base);
int rr_filter_connect(struct rr_fabric *base, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text);
int rr_filter_accept(struct rr_endpoint *base, const void *private_data, size_t private_size);
void rr_filter_reject(struct rr_endpoint *base, const void *private_data, size_t private_size);
void rr_filter_allow(struct rr_endpoint *base, uint32_t count);
void rr_filter_release(struct rr_fabric *base, uint8_t *receive);
bool rr_filter_is_short(struct rr_fabric *base);
int rr_filter_post(struct rr_endpoint *base, const struct rr_work *work);
int rr_filter_kick(struct rr_endpoint *base);
int rr_filter_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region);
int rr_filter_invalidate(struct rr_endpoint *base, struct rr_region *region);
int rr_filter_revoke(struct rr_endpoint *base, struct rr_region *region);
int rr_filter_corrupt(struct rr_endpoint *base);
void rr_filter_disconnect(struct rr_endpoint *base);
void rr_filter_close(struct rr_endpoint *base);

#endif
