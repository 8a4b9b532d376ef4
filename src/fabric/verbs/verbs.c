/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/address.h"
#include "fabric/verbs/work.h"

/* Free works that are kept, connections that wait to be accepted, RDMA Reads at a time. */
enum { WORKS_KEPT = 1024, BACKLOG = 128, READS_MAX = 255 };

/* Destroys a fabric, also one that was made only in part: ends the closed endpoints whose queues linger,
 * closes the devices, and ends the watches. */
static void
verbs_destroy(struct rr_fabric *base)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric_of(base);
	const struct rr_env *env = fabric->env;

	rr_list_for_each (closed, &fabric->closed)
		rr_verbs_endpoint_end(rr_container(closed, struct rr_verbs_endpoint, link));
	while (!rr_list_empty(&fabric->devices))
		rr_verbs_device_close(rr_container(fabric->devices.next, struct rr_verbs_device, link));
	rr_verbs_addresses_unwatch(fabric);
	if (fabric->channel) {
		rr_loop_unwatch(fabric->base.loop, &fabric->watch);
		fabric->library.destroy_event_channel(fabric->channel);
	}
	rr_cache_end(&fabric->works);
	rr_free(env, fabric);
}

/* Destroys the listener's id, if there is one, and frees the listener. */
static void
verbs_unlisten(struct rr_listener *base)
{
	struct rr_verbs_listener *listener = rr_verbs_listener_of(base);
	struct rr_verbs_fabric *fabric = rr_verbs_fabric_of(listener->base.fabric);

	rr_list_remove(&listener->link);
	if (listener->id)
		fabric->library.destroy_id(listener->id);
	rr_free(fabric->env, listener);
}

/* Sets text to a message that says, by errno, why listening at the address failed. Returns
 * -RPCRDMA_ERR_SYSTEM. */
static int
verbs_cannot_listen(const struct sockaddr *address, struct rr_text *text)
{
	char name[RR_ADDRESS_TEXT];
	const char *why = strerror(errno);

	if (errno == EADDRINUSE)
		why = "the port is in use";
	else if (errno == ENODEV || errno == EADDRNOTAVAIL)
		why = "no RDMA device has this address; `rpcrdma devices` lists them";
	rr_address_text(address, name, sizeof(name));
	return rr_fail(text, -RPCRDMA_ERR_SYSTEM, "cannot listen at %s: %s", name, why);
}

/* Makes a new id of the connection manager and listens with it. If an earlier attempt has left an id,
 * destroys that one. Returns -1, with errno, on failure. */
static int
verbs_listen_once(struct rr_verbs_listener *listener, const struct rr_listen *how)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric_of(listener->base.fabric);
	struct sockaddr_storage copy = { 0 };

	memcpy(&copy, how->address, how->size < sizeof(copy) ? how->size : sizeof(copy));
	if (listener->id)
		fabric->library.destroy_id(listener->id);
	listener->id = NULL;
	if (fabric->library.create_id(fabric->channel, &listener->id, NULL, RDMA_PS_TCP) < 0 ||
		fabric->library.bind_addr(listener->id, (void *)&copy) < 0)
		return -1;
	return fabric->library.listen(listener->id, BACKLOG);
}

/* Listens at the address. If its port is 0, the connection manager chooses a port; as a TCP socket may have
 * that port already, tries several times. Returns -1, with errno, on failure. */
static int
verbs_open_listener(struct rr_verbs_listener *listener, const struct rr_listen *how)
{
	int tries = rr_address_port(how->address) ? 1 : RR_VERBS_PORTS_TRIED, error;

	do
		error = verbs_listen_once(listener, how);
	while (error < 0 && errno == EADDRINUSE && --tries);
	return error;
}

/* Makes a listener at an IP address and port. RFC 8166, 5: "a translation MUST be employed" from these to
 * addresses of RDMA. The connection manager (rdma_cm) makes this translation, in its port space for TCP. */
static int
verbs_listen(struct rr_fabric *base, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric_of(base);
	struct rr_verbs_listener *new = rr_alloc(fabric->env, sizeof(*new));

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	*new = (struct rr_verbs_listener){ .base = { base, how->handler, how->ctx } };
	rr_list_append(&fabric->listeners, &new->link);
	if (verbs_open_listener(new, how) < 0) {
		verbs_cannot_listen(how->address, text);
		verbs_unlisten(&new->base);
		return -RPCRDMA_ERR_SYSTEM;
	}
	new->id->context = new;
	*listener = &new->base;
	return 0;
}

static int
verbs_listener_address(struct rr_listener *base, struct sockaddr_storage *address)
{
	struct rr_verbs_listener *listener = rr_verbs_listener_of(base);

	memcpy(address, &listener->id->route.addr.src_storage, sizeof(*address));
	return 0;
}

/* Makes an endpoint with a copy of the private data, and has the connection manager look for the device by
 * which the address is reached. */
static int
verbs_connect(struct rr_fabric *base, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric_of(base);
	struct rr_verbs_endpoint *new = rr_verbs_endpoint_new(fabric);
	struct sockaddr_storage copy = { 0 };

	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	memcpy(&copy, how->address, how->size < sizeof(copy) ? how->size : sizeof(copy));
	new->base.handler = how->handler;
	new->base.ctx = how->ctx;
	new->connects = true;
	/* The peer has not limited the numbers of RDMA Reads. */
	new->responder_resources = new->initiator_depth = READS_MAX;
	rr_address_text(how->address, new->base.peer, sizeof(new->base.peer));
	new->private_size = (uint8_t)how->private_size;
	if (how->private_size)
		memcpy(new->private_data, how->private_data, how->private_size);
	if (rr_verbs_resolve(new, &copy) < 0) {
		rr_fail(text, 0, "cannot connect to %s: %s", new->base.peer, strerror(errno));
		rr_verbs_endpoint_end(new);
		return -RPCRDMA_ERR_SYSTEM;
	}
	*endpoint = &new->base;
	return 0;
}

/* Rejects a connection request with the private data, and closes the endpoint. If the request has ended
 * meanwhile, only closes the endpoint. */
static void
verbs_reject(struct rr_endpoint *base, const void *private_data, size_t private_size)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);

	if (endpoint->state == RR_VERBS_REQUESTED)
		rr_verbs_fabric(endpoint)->library.reject(endpoint->id, private_data, (uint8_t)private_size);
	rr_verbs_endpoint_close(base);
}

/* Gives a receive buffer back to the pool of its device. If the device was removed and nothing else of it
 * was in use, also closes the device. */
static void
verbs_release(struct rr_fabric *base, uint8_t *receive)
{
	struct rr_verbs_fabric *fabric = rr_verbs_fabric_of(base);
	struct rr_verbs_buffer *buffer = rr_verbs_buffer_of(receive);
	struct rr_verbs_device *device = rr_container(buffer->pool, struct rr_verbs_receives, pool)->device;

	(void)fabric;
	device->held--;
	rr_verbs_device_recycle(device, buffer);
	rr_verbs_device_leave(device);
}

/* Ends the connection once all outstanding work requests have completed, or after one second. A connection
 * that is not established yet ends at once. */
static void
verbs_disconnect(struct rr_endpoint *base)
{
	struct rr_verbs_endpoint *endpoint = rr_verbs_endpoint_of(base);
	struct rr_loop *loop = endpoint->base.fabric->loop;

	if (endpoint->state >= RR_VERBS_ENDED || endpoint->disconnecting)
		return;
	if (endpoint->state != RR_VERBS_ESTABLISHED) {
		rr_verbs_end(endpoint, -RPCRDMA_ERR_CANCELLED, "disconnected before it was connected");
		return;
	}
	endpoint->disconnecting = true;
	rr_loop_arm(loop, &endpoint->timer, RR_SECOND);
	rr_verbs_wake(endpoint);
}

static const struct rr_fabric_ops verbs_ops = {
	.name = "verbs",
	.limits = { .private_data_max = RR_VERBS_PRIVATE_MAX, .sge_max = RR_MAX_SGE },
	.destroy = verbs_destroy,
	.listen = verbs_listen,
	.listener_address = verbs_listener_address,
	.unlisten = verbs_unlisten,
	.connect = verbs_connect,
	.accept = rr_verbs_accept,
	.reject = verbs_reject,
	.allow = rr_verbs_allow,
	.release = verbs_release,
	.post = rr_verbs_post,
	.kick = rr_verbs_kick,
	.register_region = rr_verbs_register,
	.invalidate = rr_verbs_invalidate,
	.revoke = rr_verbs_revoke,
	.disconnect = verbs_disconnect,
	.close = rr_verbs_endpoint_close,
};

/* Opens the channel on which the connection manager reports its events, and watches it. */
static int
verbs_open_channel(struct rr_verbs_fabric *fabric, struct rr_text *text)
{
	int fd;

	fabric->channel = fabric->library.create_event_channel();
	if (!fabric->channel)
		return rr_verbs_no_channel(text);
	fd = fabric->channel->fd;
	fabric->watch.ready = rr_verbs_cm_ready;
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0 &&
		rr_loop_watch(fabric->base.loop, &fabric->watch, fd, RR_READABLE) == 0)
		return 0;
	rr_fail(text, 0, "cannot watch the connection manager: %s", strerror(errno));
	fabric->library.destroy_event_channel(fabric->channel);
	fabric->channel = NULL;
	return -RPCRDMA_ERR_SYSTEM;
}

/* Makes a new fabric ready: loads the libraries, opens the devices, checks the limit of locked memory, and
 * opens the channel of the connection manager. */
static int
verbs_start(struct rr_verbs_fabric *fabric, struct rr_text *text)
{
	const struct rr_fabric_config *config = &fabric->base.config;
	int error = rr_verbs_library_load(&fabric->library, text);
	bool strict = false;

	if (!error)
		error = rr_verbs_devices_open(fabric, text);
	rr_list_for_each (link, &fabric->devices)
		strict |= rr_verbs_device_is_strict(&rr_container(link, struct rr_verbs_device, link)->attr);
	if (!error)
		error = rr_verbs_check_locked_memory(
			(uint64_t)config->receive_max * config->receive_size, strict, text);
	return error ? error : verbs_open_channel(fabric, text);
}

int
rr_verbs_fabric_open(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric,
	struct rr_text *text)
{
	const struct rr_env *env = rr_loop_env(loop);
	struct rr_verbs_fabric *new;
	int error;

	if (!rr_fabric_config_is_good(config))
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "the configuration of the fabric is not usable");
	new = rr_alloc(env, sizeof(*new));
	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory");
	new->ops = verbs_ops;
	new->base = (struct rr_fabric){ .ops = &new->ops, .loop = loop, .config = *config };
	new->env = env;
	new->address_fd = -1;
	rr_list_init(&new->devices);
	rr_list_init(&new->listeners);
	rr_list_init(&new->living);
	rr_list_init(&new->closed);
	rr_cache_init(&new->works, env, sizeof(struct rr_verbs_work), WORKS_KEPT);
	error = verbs_start(new, text);
	if (error) {
		verbs_destroy(&new->base);
		return error;
	}
	rr_verbs_addresses_watch(new);
	*fabric = &new->base;
	return 0;
}

int
rr_verbs_fabric_new(struct rr_loop *loop, const struct rr_fabric_config *config, struct rr_fabric **fabric)
{
	struct rr_text text = { "" };
	int error = rr_verbs_fabric_open(loop, config, fabric, &text);

	if (error)
		rr_log(rr_loop_env(loop), RR_LOG_INFO, "verbs: %s", text.text);
	return error;
}
