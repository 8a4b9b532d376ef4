/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/peer_log.h"
#include "carrier/rdma/core/connection.h"
#include "carrier/rdma/provider.h"
#include "carrier/rdma/rdma.h"
#include "fabric/address.h"

/*
 * Listening, by one provider or by two at the same address. An acceptor owns its listeners; an endpoint that
 * asks for a connection is the connection's from then on.
 */

struct rr_acceptor {
	struct rr_engine *engine;
	rr_acceptor_handler *handler;
	void *ctx;
	struct sockaddr_storage address; /* as asked for */
	uint32_t count;                  /* of listeners, each with its fabric; 0: others listen there */
	struct rr_fabric *fabrics[RR_FABRICS];
	struct rr_listener *listeners[RR_FABRICS];
};

/*
 * Whether there are Receives for a connection more. Where a Send that finds no receive ends its connection,
 * as iWARP has it, all connections together are allowed no more Sends than there are receives. RFC
 * 8166, 3.3.1: "a Responder may reduce the granted credit value to accommodate the available resources in a
 * Shared Receive Queue"; here it takes fewer connections instead.
 */
static bool
has_receives(const struct rr_engine *engine, const struct rr_fabric *fabric)
{
	uint64_t connections = (uint64_t)engine->shares.accepted[RR_ACCEPTED_RDMA] + 1;

	return !rr_fabric_limits(fabric)->receives_must_suffice ||
	       connections * rr_driver_receives(engine) <= rr_fabric_config(fabric)->receive_max;
}

static bool
has_room(struct rr_engine *engine, const struct rr_fabric *fabric, const char *peer)
{
	return (has_receives(engine, fabric) ||
		       rr_shares_make_room(&engine->shares, peer, RR_ACCEPTED_RDMA)) &&
	       rr_shares_admit(&engine->shares, peer);
}

static void
on_request(void *ctx, struct rr_endpoint *endpoint, const void *private_data, size_t size)
{
	struct rr_acceptor *acceptor = ctx;
	struct rr_engine *engine = acceptor->engine;
	struct rr_fabric *fabric = rr_endpoint_fabric(endpoint);
	struct rr_connection *connection = NULL;
	int error;

	if (has_room(engine, fabric, rr_endpoint_peer(endpoint)))
		connection = rr_connection_new(engine, fabric, rr_endpoint_peer(endpoint), false);
	if (!connection) {
		rr_log_peer(rr_loop_peer_log(engine->loop), rr_endpoint_peer(endpoint),
			"%s: declined, as there are %u connections", rr_endpoint_peer(endpoint),
			rr_shares_accepted(&engine->shares));
		rr_endpoint_reject(endpoint, NULL, 0);
		return;
	}
	error = rr_driver_accept(connection, endpoint, private_data, size);
	rr_connection_enter(connection);
	acceptor->handler(acceptor->ctx, &connection->base);
	if (error)
		rr_driver_abort(connection, error, "%s: could not be accepted: %s", connection->base.peer,
			rpcrdma_strerror(error));
	rr_connection_leave(connection);
}

static int
listen_with(struct rr_acceptor *acceptor, struct rr_fabric *fabric, const struct sockaddr *address,
	socklen_t size, struct rr_text *text)
{
	int error = rr_fabric_listen(
		fabric, address, size, on_request, acceptor, &acceptor->listeners[acceptor->count], text);

	if (!error)
		acceptor->fabrics[acceptor->count++] = fabric;
	return error;
}

/* By the second provider, at the port of the first; not having it is no reason to have none. */
static void
listen_too(struct rr_acceptor *acceptor, struct rr_fabric *fabric)
{
	struct sockaddr_storage address = acceptor->address, first;
	struct rr_text why;

	if (rr_rdma_acceptor_address(acceptor, &first) < 0)
		return;
	rr_address_set_port((struct sockaddr *)&address, rr_address_port((struct sockaddr *)&first));
	if (listen_with(acceptor, fabric, (struct sockaddr *)&address, sizeof(address), &why) < 0)
		rr_log(acceptor->engine->env, RR_LOG_WARNING, "RDMA adapters: %s; %s alone listens", why.text,
			rr_fabric_name(acceptor->fabrics[0]));
}

int
rr_rdma_listen_over(struct rr_engine *engine, enum rr_provider provider, const struct sockaddr *address,
	socklen_t size, rr_acceptor_handler *handler, void *ctx, struct rr_acceptor **acceptor,
	struct rr_text *text)
{
	struct rr_fabric *fabrics[RR_FABRICS];
	struct rr_acceptor *new;
	int error = 0, count = rr_provider_at(engine, provider, address, size, fabrics, text);

	if (count < 0)
		return count;
	new = rr_alloc(engine->env, sizeof(*new));
	if (!new)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory to listen");
	*new = (struct rr_acceptor){ .engine = engine, .handler = handler, .ctx = ctx };
	memcpy(&new->address, address, size < sizeof(new->address) ? size : sizeof(new->address));
	if (count > 0)
		error = listen_with(new, fabrics[0], address, size, text);
	if (error) {
		rr_free(engine->env, new);
		return error;
	}
	if (count > 1)
		listen_too(new, fabrics[1]);
	*acceptor = new;
	return 0;
}

int
rr_rdma_listen(struct rr_engine *engine, const struct sockaddr *address, socklen_t size,
	rr_acceptor_handler *handler, void *ctx, struct rr_acceptor **acceptor, struct rr_text *text)
{
	return rr_rdma_listen_over(engine, RR_PROVIDER_AUTO, address, size, handler, ctx, acceptor, text);
}

int
rr_rdma_acceptor_address(struct rr_acceptor *acceptor, struct sockaddr_storage *address)
{
	*address = acceptor->address;
	return acceptor->count ? rr_listener_address(acceptor->listeners[0], address) : 0;
}

const char *
rr_rdma_acceptor_providers(const struct rr_acceptor *acceptor)
{
	if (acceptor->count == 0)
		return "";
	return acceptor->count > 1 ? "iwarp and verbs" : rr_fabric_name(acceptor->fabrics[0]);
}

void
rr_rdma_unlisten(struct rr_acceptor *acceptor)
{
	for (uint32_t i = 0; i < acceptor->count; i++)
		rr_fabric_unlisten(acceptor->listeners[i]);
	rr_free(acceptor->engine->env, acceptor);
}
