/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/iwarp/iwarp.h"

#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "fabric/iwarp/endpoint.h"
#include "fabric/iwarp/socket.h"

/* Closes and frees the endpoint that was rejected longest ago. This is done when there are too many of these,
 * and for each of them when the fabric is destroyed. */
static void
iwarp_bury_oldest_rejected(struct rr_iwarp_fabric *fabric)
{
	rr_iwarp_endpoint_bury_rejected(rr_container(fabric->rejected.next, struct rr_iwarp_endpoint, link));
}

/* Destroys the fabric. Endpoints that were rejected may still wait for their peers, and are freed before. */
static void
iwarp_destroy(struct rr_fabric *base)
{
	struct rr_iwarp_fabric *fabric = rr_iwarp_fabric_of(base);
	const struct rr_env *env = fabric->shared.env;

	while (!rr_list_empty(&fabric->rejected))
		iwarp_bury_oldest_rejected(fabric);
	rr_iwarp_shared_destroy(&fabric->shared);
	rr_free(env, fabric);
}

/* Begins to connect TCP to the address, and prepares the MPA request with the private data, which is sent
 * once TCP has connected. */
static int
iwarp_start(struct rr_iwarp_endpoint *endpoint, const struct sockaddr *address, socklen_t size,
	const void *private_data, size_t private_size)
{
	int error = rr_iwarp_initiate(&endpoint->iwarp, private_data, private_size);

	/* The address is kept: a second attempt, with revision 1 of MPA, may need it. */
	endpoint->address_size = (socklen_t)rr_min(size, sizeof(endpoint->address));
	memcpy(&endpoint->address, address, endpoint->address_size);
	return error ? error : rr_iwarp_endpoint_dial(endpoint);
}

/* Makes an endpoint with a TCP socket, and begins to connect it. A failure to connect comes later, as the
 * event DISCONNECTED. */
static int
iwarp_connect(struct rr_fabric *base, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	struct rr_iwarp_fabric *fabric = rr_iwarp_fabric_of(base);
	int fd = rr_socket_open(how->address->sa_family), error;
	struct rr_iwarp_endpoint *new;

	if (fd < 0)
		return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "cannot make a socket: %s", strerror(-fd));
	new = rr_iwarp_endpoint_new(fabric, fd, how->address);
	if (!new) {
		rr_socket_close(fd);
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	}
	new->iwarp.base.handler = how->handler;
	new->iwarp.base.ctx = how->ctx;
	new->wants = how->secure;
	error = iwarp_start(new, how->address, how->size, how->private_data, how->private_size);
	if (error) {
		rr_iwarp_endpoint_bury(new);
		return rr_fail(text, error, "%s", rpcrdma_strerror(error));
	}
	*endpoint = &new->iwarp.base;
	return 0;
}

/* Accepts the peer's MPA request: prepares the MPA reply with the private data, which leaves at the end of
 * the loop's turn, and watches the socket again. */
static int
iwarp_accept(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);
	int error = rr_iwarp_accept(&endpoint->iwarp, private_data, private_size);

	if (!error)
		error = rr_iwarp_endpoint_watch(endpoint, RR_READABLE, 0);
	if (error)
		return error;
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_ACCEPTED);
	rr_iwarp_endpoint_watch_peer(endpoint);
	rr_iwarp_endpoint_defer(endpoint);
	return 0;
}

/*
 * Rejects the peer's MPA request, with the private data, and keeps the endpoint until the initiator has
 * closed TCP or the time limit passes. RFC 5044, 7.1.4: the responder "may close the TCP connection", and
 * the initiator, which has the reason, "will close" it. The siw driver of Linux may not report the reason if
 * the responder closes at once.
 */
static void
iwarp_reject(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);
	struct rr_iwarp_fabric *fabric = rr_iwarp_fabric(endpoint);

	if (fabric->rejected_count == RR_IWARP_REJECTED_MAX)
		iwarp_bury_oldest_rejected(fabric);
	rr_list_append(&fabric->rejected, &endpoint->link);
	fabric->rejected_count++;
	rr_iwarp_endpoint_set_state(endpoint, RR_IWARP_ENDPOINT_REJECTED);
	rr_iwarp_reject(&endpoint->iwarp, private_data, private_size);
	if (rr_iwarp_endpoint_watch(endpoint, RR_READABLE, RR_IWARP_CLOSING_LIMIT))
		rr_iwarp_endpoint_bury_rejected(endpoint);
	else
		rr_iwarp_endpoint_defer(endpoint);
}

static void
iwarp_allow(struct rr_endpoint *base, uint32_t count)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);

	endpoint->iwarp.allowed += count;
}

static void
iwarp_release(struct rr_fabric *base, uint8_t *receive)
{
	struct rr_iwarp_fabric *fabric = rr_iwarp_fabric_of(base);

	rr_receives_put(&fabric->shared.receives, receive);
}

/* Whether any endpoint of the fabric waits for a receive buffer. */
static bool
iwarp_is_short(struct rr_fabric *base)
{
	const struct rr_iwarp_fabric *fabric = rr_iwarp_fabric_of(base);

	return rr_receives_are_wanted(&fabric->shared.receives);
}

/* Posts a work request, and has the endpoint's task send it. The iWARP connection of an endpoint that accepts
 * may be open before the endpoint is UP; the owner has not got ESTABLISHED then, and may not post. */
static int
iwarp_post(struct rr_endpoint *base, const struct rr_work *work)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);
	int error;

	if (endpoint->state < RR_IWARP_ENDPOINT_UP)
		return -RPCRDMA_ERR_DISCONNECTED;
	error = rr_iwarp_post(&endpoint->iwarp, work);
	if (error >= 0)
		rr_iwarp_endpoint_defer(endpoint);
	return error;
}

/* Has the iWARP connection send a zero-length RDMA Write, in the endpoint's next task. Like iwarp_post(), it
 * refuses a connection that is not open for the owner. */
static int
iwarp_kick(struct rr_endpoint *base)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);
	int error;

	if (endpoint->state < RR_IWARP_ENDPOINT_UP)
		return -RPCRDMA_ERR_DISCONNECTED;
	error = rr_iwarp_kick(&endpoint->iwarp);
	if (!error)
		rr_iwarp_endpoint_defer(endpoint);
	return error;
}

/* Registers a region, in any state of the connection. */
static int
iwarp_register(
	struct rr_endpoint *base, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);

	return rr_regions_add(&endpoint->iwarp.regions, addr, length, access, region);
}

/* Ends the peer's access to a region. If this has ended the connection, as the peer was using the region, the
 * endpoint's task reports that to the owner. */
static int
iwarp_revoke(struct rr_endpoint *base, struct rr_region *region)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);

	rr_iwarp_revoke(&endpoint->iwarp, region->handle);
	if (endpoint->iwarp.state == RR_IWARP_OVER)
		rr_iwarp_endpoint_defer(endpoint);
	return 0;
}

/* Ends the peer's access to a region, and removes the region. If this has ended the connection, as the peer
 * was using the region, the endpoint's task reports that to the owner. */
static int
iwarp_invalidate(struct rr_endpoint *base, struct rr_region *region)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);

	rr_iwarp_invalidate(&endpoint->iwarp, region->handle);
	if (endpoint->iwarp.state == RR_IWARP_OVER)
		rr_iwarp_endpoint_defer(endpoint);
	return 0;
}

static int
iwarp_corrupt(struct rr_endpoint *base)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);

	return rr_iwarp_corrupt(&endpoint->iwarp);
}

/* See rr_endpoint_session(). */
static const struct rr_tls_session *
iwarp_session(const struct rr_endpoint *base)
{
	const struct rr_iwarp_endpoint *endpoint = (const void *)base; /* begins with it */

	return endpoint->state == RR_IWARP_ENDPOINT_SECURING ? NULL : endpoint->session;
}

/* Has the payer pay for the socket of the endpoint and for its task. */
static void
iwarp_pay(struct rr_endpoint *base, struct rr_payer *const *payer)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);

	endpoint->watch.payer = endpoint->task.payer = payer;
}

/* Ends the connection once all outstanding requests are done, or a time limit has passed. A connection that
 * is not open yet ends at once; one that is ending already is left alone. */
static void
iwarp_disconnect(struct rr_endpoint *base)
{
	struct rr_iwarp_endpoint *endpoint = rr_iwarp_endpoint_of(base);
	struct rr_iwarp *iwarp = &endpoint->iwarp;

	if (iwarp->draining || iwarp->state >= RR_IWARP_CLOSING)
		return;
	if (iwarp->state == RR_IWARP_OPEN) {
		rr_iwarp_drain(iwarp);
		endpoint->drained_by = rr_now(iwarp->shared->env) + RR_IWARP_DRAINING_MAX;
		rr_loop_arm(iwarp->base.fabric->loop, &endpoint->timer, RR_IWARP_DRAINING_LIMIT);
	} else {
		rr_iwarp_over(iwarp, -RPCRDMA_ERR_CANCELLED, "disconnected before it was connected");
	}
	rr_iwarp_endpoint_defer(endpoint);
}

/* Closes an endpoint and its socket at once. Octets that have not left are lost. */
static void
iwarp_close(struct rr_endpoint *base)
{
	rr_iwarp_endpoint_bury(rr_iwarp_endpoint_of(base));
}

static const struct rr_fabric_ops iwarp_ops = {
	.name = "iwarp",
	.limits = { .private_data_max = RR_IWARP_PRIVATE_MAX,
		.sge_max = RR_MAX_SGE,
		.remote_invalidation = true },
	.destroy = iwarp_destroy,
	.listen = rr_iwarp_listen,
	.listener_address = rr_iwarp_listener_address,
	.unlisten = rr_iwarp_unlisten,
	.connect = iwarp_connect,
	.accept = iwarp_accept,
	.reject = iwarp_reject,
	.allow = iwarp_allow,
	.release = iwarp_release,
	.is_short = iwarp_is_short,
	.post = iwarp_post,
	.kick = iwarp_kick,
	.register_region = iwarp_register,
	.invalidate = iwarp_invalidate,
	.revoke = iwarp_revoke,
	.corrupt = iwarp_corrupt,
	.pay = iwarp_pay,
	.session = iwarp_session,
	.disconnect = iwarp_disconnect,
	.close = iwarp_close,
};

int
rr_iwarp_fabric_new(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	const struct rr_env *env = rr_loop_env(loop);
	struct rr_iwarp_fabric *new;

	if (!rr_fabric_config_is_good(config))
		return -RPCRDMA_ERR_INVAL;
	new = rr_alloc(env, sizeof(*new));
	if (!new)
		return -RPCRDMA_ERR_NOMEM;
	new->base = (struct rr_fabric){ .ops = &iwarp_ops, .loop = loop, .config = *config };
	new->shared.env = env;
	new->shared.log = rr_loop_peer_log(loop);
	new->shared.config = &new->base.config;
	rr_list_init(&new->rejected);
	if (rr_iwarp_shared_init(&new->shared)) {
		rr_free(env, new);
		return -RPCRDMA_ERR_NOMEM;
	}
	*fabric = &new->base;
	return 0;
}
