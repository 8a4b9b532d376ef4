/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/fabric.h"

#include <netinet/in.h>

/*
 * The front door: the functions here check every argument, so that providers need not check them again.
 */

const struct rr_fabric_config rr_fabric_config_default = {
	.receive_size = 4096,
	.receive_max = 4096,
	.work_max = 1024,
	.read_max = 32,
	.region_max = 1024,
};

/* The largest read_max and region_max. */
enum { READ_MAX = 128, REGION_MAX = 1 << 20 };

bool
rr_fabric_config_is_good(const struct rr_fabric_config *config)
{
	return config->receive_size && config->receive_max && config->work_max && config->read_max &&
	       config->read_max <= READ_MAX && config->region_max && config->region_max <= REGION_MAX;
}

const char *
rr_fabric_name(const struct rr_fabric *fabric)
{
	return fabric->ops->name;
}

const struct rr_fabric_limits *
rr_fabric_limits(const struct rr_fabric *fabric)
{
	return &fabric->ops->limits;
}

const struct rr_fabric_config *
rr_fabric_config(const struct rr_fabric *fabric)
{
	return &fabric->config;
}

struct rr_loop *
rr_fabric_loop(const struct rr_fabric *fabric)
{
	return fabric->loop;
}

void
rr_fabric_destroy(struct rr_fabric *fabric)
{
	if (fabric)
		fabric->ops->destroy(fabric);
}

/* Frees a closed endpoint. The event loop calls this at the end of the turn in which the endpoint was
 * closed. */
static void
fabric_free_endpoint(struct rr_grave *grave, const struct rr_env *env)
{
	rr_free(env, rr_container(grave, struct rr_endpoint, grave));
}

void
rr_endpoint_bury(struct rr_endpoint *endpoint)
{
	rr_loop_bury(endpoint->fabric->loop, &endpoint->grave, fabric_free_endpoint);
}

/* Whether address is an IPv4 or IPv6 address, and size octets are enough for an address of that family. */
static bool
fabric_address_is_whole(const struct sockaddr *address, socklen_t size)
{
	if (!address || size < sizeof(address->sa_family))
		return false;
	if (address->sa_family == AF_INET)
		return size >= sizeof(struct sockaddr_in);
	return address->sa_family == AF_INET6 && size >= sizeof(struct sockaddr_in6);
}

/* Whether the provider can send size octets of private data. Also false if data is NULL and size is not
 * 0. */
static bool
fabric_private_data_fits(const struct rr_fabric_ops *ops, const void *data, size_t size)
{
	return size <= ops->limits.private_data_max && (data || !size);
}

int
rr_fabric_listen(struct rr_fabric *fabric, const struct rr_listen *how, struct rr_listener **listener,
	struct rr_text *text)
{
	if (!fabric_address_is_whole(how->address, how->size))
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "only IPv4 and IPv6 addresses can be listened at");
	return fabric->ops->listen(fabric, how, listener, text);
}

int
rr_listener_address(struct rr_listener *listener, struct sockaddr_storage *address)
{
	return listener->fabric->ops->listener_address(listener, address);
}

void
rr_fabric_unlisten(struct rr_listener *listener)
{
	listener->fabric->ops->unlisten(listener);
}

int
rr_fabric_connect(struct rr_fabric *fabric, const struct rr_connect *how, struct rr_endpoint **endpoint,
	struct rr_text *text)
{
	const struct rr_fabric_ops *ops = fabric->ops;

	if (!fabric_address_is_whole(how->address, how->size))
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "only IPv4 and IPv6 addresses can be connected to");
	if (!fabric_private_data_fits(ops, how->private_data, how->private_size))
		return rr_fail(text, -RPCRDMA_ERR_INVAL, "%zu octets of private data are more than %u",
			how->private_size, ops->limits.private_data_max);
	if (how->secure && !how->secure->optional && !ops->session)
		return rr_fail(text, -RPCRDMA_ERR_NOTSUP,
			"an RDMA adapter has no TLS, which was demanded: use iWARP over sockets "
			"(transport=iwarp)");
	return ops->connect(fabric, how, endpoint, text);
}

int
rr_endpoint_accept(struct rr_endpoint *endpoint, rr_endpoint_handler *handler, void *ctx,
	const void *private_data, size_t private_size)
{
	if (!fabric_private_data_fits(endpoint->ops, private_data, private_size))
		return -RPCRDMA_ERR_INVAL;
	endpoint->handler = handler;
	endpoint->ctx = ctx;
	return endpoint->ops->accept(endpoint, private_data, private_size);
}

void
rr_endpoint_reject(struct rr_endpoint *endpoint, const void *private_data, size_t private_size)
{
	const struct rr_fabric_ops *ops = endpoint->ops;

	if (!fabric_private_data_fits(ops, private_data, private_size))
		private_size = 0;
	ops->reject(endpoint, private_data, private_size);
}

void
rr_endpoint_allow(struct rr_endpoint *endpoint, uint32_t count)
{
	endpoint->ops->allow(endpoint, count);
}

void
rr_fabric_release(struct rr_fabric *fabric, uint8_t *receive)
{
	fabric->ops->release(fabric, receive);
}

bool
rr_fabric_is_short(struct rr_fabric *fabric)
{
	const struct rr_fabric_ops *ops = fabric->ops;

	return ops->is_short && ops->is_short(fabric);
}

/* Whether each sge (piece of memory) whose length is not 0 has an address, and all sges together have at
 * most 2^32 - 1 octets. More octets do not fit into one message, as RDMAP has 32 bits for its length. */
static bool
fabric_sges_are_good(const struct rr_sge *sges, uint32_t count)
{
	uint64_t length = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (sges[i].length && !sges[i].addr)
			return false;
		length += sges[i].length;
	}
	return length <= UINT32_MAX;
}

int
rr_endpoint_post(struct rr_endpoint *endpoint, const struct rr_work *work)
{
	if (work->kind > RR_WORK_READ || work->sge_count > endpoint->ops->limits.sge_max ||
		!fabric_sges_are_good(work->sges, work->sge_count))
		return -RPCRDMA_ERR_INVAL;
	if (work->kind == RR_WORK_READ && work->sge_count != 1)
		return -RPCRDMA_ERR_INVAL;
	if (endpoint->outstanding >= endpoint->fabric->config.work_max)
		return -RPCRDMA_ERR_LIMIT;
	return endpoint->ops->post(endpoint, work);
}

int
rr_endpoint_kick(struct rr_endpoint *endpoint)
{
	return endpoint->ops->kick(endpoint);
}

int
rr_endpoint_register(
	struct rr_endpoint *endpoint, void *addr, uint32_t length, unsigned access, struct rr_region *region)
{
	if (!addr || !access || access & ~(unsigned)(RR_REMOTE_READ | RR_REMOTE_WRITE))
		return -RPCRDMA_ERR_INVAL;
	/* The end lies before the beginning if it passes the last address. */
	if ((uintptr_t)addr + length <= (uintptr_t)addr)
		return -RPCRDMA_ERR_INVAL;
	return endpoint->ops->register_region(endpoint, addr, length, access, region);
}

int
rr_endpoint_invalidate(struct rr_endpoint *endpoint, struct rr_region *region)
{
	int error = 0;

	if (region->handle)
		error = endpoint->ops->invalidate(endpoint, region);
	region->handle = 0;
	return error;
}

int
rr_endpoint_revoke(struct rr_endpoint *endpoint, struct rr_region *region)
{
	return region->handle ? endpoint->ops->revoke(endpoint, region) : 0;
}

int
rr_endpoint_corrupt(struct rr_endpoint *endpoint)
{
	const struct rr_fabric_ops *ops = endpoint->ops;

	return ops->corrupt ? ops->corrupt(endpoint) : -RPCRDMA_ERR_NOTSUP;
}

void
rr_endpoint_pay(struct rr_endpoint *endpoint, struct rr_payer *const *payer)
{
	if (endpoint->ops->pay)
		endpoint->ops->pay(endpoint, payer);
}

void
rr_endpoint_disconnect(struct rr_endpoint *endpoint)
{
	endpoint->ops->disconnect(endpoint);
}

void
rr_endpoint_close(struct rr_endpoint *endpoint)
{
	endpoint->ops->close(endpoint);
}

uint64_t
rr_endpoint_moved(const struct rr_endpoint *endpoint)
{
	return endpoint->ops->moved ? endpoint->ops->moved(endpoint) : endpoint->moved;
}

const struct rr_tls_session *
rr_endpoint_session(const struct rr_endpoint *endpoint)
{
	return endpoint->ops->session ? endpoint->ops->session(endpoint) : NULL;
}

const char *
rr_endpoint_peer(const struct rr_endpoint *endpoint)
{
	return endpoint->peer;
}

struct rr_fabric *
rr_endpoint_fabric(const struct rr_endpoint *endpoint)
{
	return endpoint->fabric;
}
