/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/peer_log.h"
#include "carrier/rdma/acceptor.h"
#include "carrier/rdma/core/connection.h"

/* Listens by one provider or by two at the same address. An acceptor owns its listeners. An endpoint that
 * asks for a connection belongs to the connection from then on. */

struct rdma_acceptor {
	struct rr_acceptor base; /* comes first */
	struct rr_room *room;
	struct sockaddr_storage address; /* as the caller asked for */
	uint32_t count; /* of listeners, each with its fabric; 0: another engine listens there */
	struct rr_fabric *fabrics[RR_PROVIDER_FABRICS];
	struct rr_listener *listeners[RR_PROVIDER_FABRICS];
};

static struct rdma_acceptor *
acceptor_of(struct rr_acceptor *acceptor)
{
	return rr_container(acceptor, struct rdma_acceptor, base);
}

/* Tells whether there are enough Receives for one more connection. On most fabrics there always are. With
 * iWARP a Send that finds no Receive ends its connection, so there must be Receives for all Sends that all
 * peers are allowed. RFC 8166, 3.3.1: "a Responder may reduce the granted credit value to accommodate the
 * available resources in a Shared Receive Queue"; this responder accepts fewer connections instead. */
static bool
acceptor_has_receives(const struct rpcrdma_engine *engine, const struct rr_fabric *fabric)
{
	uint64_t connections = (uint64_t)engine->shares.accepted[RR_ACCEPTED_RDMA] + 1;

	return !rr_fabric_limits(fabric)->receives_must_suffice ||
	       connections * rr_driver_receives(engine) <= rr_fabric_config(fabric)->receive_max;
}

/* Tells whether a connection of that peer may be accepted. To make room for it, another connection may be
 * cut off. */
static bool
acceptor_has_room(struct rpcrdma_engine *engine, const struct rr_fabric *fabric, const char *peer)
{
	return (acceptor_has_receives(engine, fabric) ||
		       rr_shares_make_room(&engine->shares, peer, RR_ACCEPTED_RDMA)) &&
	       rr_shares_admit(&engine->shares, peer);
}

/* Tells whether the engine refuses connections that are protected as this one is. If so, declines it. */
static bool
acceptor_refuses(const struct rpcrdma_engine *engine, struct rr_endpoint *endpoint)
{
	const struct rr_tls_session *session = rr_endpoint_session(endpoint);
	const char *peer = rr_endpoint_peer(endpoint);
	struct rr_tls_facts facts = { 0 };

	if (session)
		rr_tls_facts(session, &facts);
	if (!(engine->config.tls_refused & 1u << facts.security))
		return false;
	rr_log_peer(rr_loop_peer_log(engine->loop), peer, "%s: declined, as it comes without TLS", peer);
	rr_endpoint_reject(endpoint, NULL, 0);
	return true;
}

/* Declines a connection that a peer asks for, and logs why: there was no room for it (has_room is false), or
 * no memory. */
static void
acceptor_decline(struct rpcrdma_engine *engine, struct rr_endpoint *endpoint, bool has_room)
{
	struct rr_peer_log *log = rr_loop_peer_log(engine->loop);
	const char *peer = rr_endpoint_peer(endpoint);

	if (has_room)
		rr_log_peer(log, peer, "%s: declined, as there is no memory", peer);
	else
		rr_log_peer(log, peer, "%s: declined, as there are %u connections", peer,
			rr_shares_accepted(&engine->shares));
	rr_endpoint_reject(endpoint, NULL, 0);
}

/* Is called when a peer asks for a connection: accepts the connection and hands it to the acceptor's
 * handler, or declines it if there is no room or no memory. If accepting fails, the handler gets a
 * connection that then ends. */
static void
acceptor_requested(void *ctx, struct rr_endpoint *endpoint, const void *private_data, size_t size)
{
	struct rdma_acceptor *acceptor = ctx;
	struct rr_room *room = acceptor->room;
	struct rpcrdma_engine *engine = room->base.engine;
	struct rr_fabric *fabric = rr_endpoint_fabric(endpoint);
	struct rr_connection *connection = NULL;
	bool has_room;
	int error;

	if (acceptor_refuses(engine, endpoint))
		return;
	has_room = acceptor_has_room(engine, fabric, rr_endpoint_peer(endpoint));
	if (has_room)
		connection = rr_rdma_new(room, fabric, rr_endpoint_peer(endpoint), false);
	if (!connection) {
		acceptor_decline(engine, endpoint, has_room);
		return;
	}
	error = rr_driver_accept(connection, endpoint, private_data, size);
	rr_connection_enter(connection);
	acceptor->base.handler(acceptor->base.ctx, &connection->base);
	if (error)
		rr_driver_abort(connection, error, "%s: could not be accepted: %s", connection->base.peer,
			rpcrdma_strerror(error));
	rr_connection_leave(connection);
}

/* Begins to listen at the address over the fabric, and adds the listener to the acceptor. Returns 0 or an
 * error. */
static int
acceptor_listen_with(struct rdma_acceptor *acceptor, struct rr_fabric *fabric,
	const struct rr_carrier_place *at, struct rr_text *text)
{
	int error = rr_fabric_listen(fabric,
		&(struct rr_listen){ at->address, at->size, acceptor_requested, acceptor },
		&acceptor->listeners[acceptor->count], text);

	if (!error)
		acceptor->fabrics[acceptor->count++] = fabric;
	return error;
}

/* Begins to listen over a second fabric, at the address and the port at which the first fabric listens. If
 * this fails, only the first fabric listens, and a warning is logged. */
static void
acceptor_listen_too(struct rdma_acceptor *acceptor, struct rr_fabric *fabric)
{
	struct sockaddr_storage address = acceptor->address, first;
	const struct rr_carrier_place at = { .address = (struct sockaddr *)&address,
		.size = sizeof(address) };
	struct rr_text why;

	if (rr_acceptor_rdma_address(&acceptor->base, &first) < 0)
		return;
	rr_address_set_port((struct sockaddr *)&address, rr_address_port((struct sockaddr *)&first));
	if (acceptor_listen_with(acceptor, fabric, &at, &why) < 0)
		rr_log(acceptor->room->base.engine->env, RR_LOG_WARNING,
			"RDMA adapters: %s; %s alone listens", why.text,
			rr_fabric_name(acceptor->fabrics[0]));
}

/* Makes an acceptor that listens at the address, over each fabric that suits it: one or two, or none if
 * another engine has the adapters. Stores the acceptor in *result. Returns 0 or an error. */
int
rr_acceptor_rdma_listen(struct rr_carriers *carriers, const struct rr_carrier_place *at,
	struct rr_acceptor **result, struct rr_text *text)
{
	struct rr_room *room = rr_room_of(carriers);
	const struct rr_env *env = room->base.engine->env;
	struct rr_fabric *fabrics[RR_PROVIDER_FABRICS];
	struct rdma_acceptor *acceptor;
	int error = 0, count = rr_provider_at(room, at, fabrics, text);

	if (count < 0)
		return count;
	acceptor = rr_alloc(env, sizeof(*acceptor));
	if (!acceptor)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory to listen");
	acceptor->room = room;
	memcpy(&acceptor->address, at->address,
		at->size < sizeof(acceptor->address) ? at->size : sizeof(acceptor->address));
	if (count > 0)
		error = acceptor_listen_with(acceptor, fabrics[0], at, text);
	if (error) {
		rr_free(env, acceptor);
		return error;
	}
	if (count > 1)
		acceptor_listen_too(acceptor, fabrics[1]);
	*result = &acceptor->base;
	return 0;
}

/* See rr_acceptor_address(). If another engine listens in place of this one, the address is the one that the
 * caller asked for. */
int
rr_acceptor_rdma_address(struct rr_acceptor *base, struct sockaddr_storage *address)
{
	const struct rdma_acceptor *acceptor = acceptor_of(base);

	*address = acceptor->address;
	return acceptor->count ? rr_listener_address(acceptor->listeners[0], address) : 0;
}

/* See rr_acceptor_providers(). */
const char *
rr_acceptor_rdma_providers(const struct rr_acceptor *base)
{
	const struct rdma_acceptor *acceptor = (const void *)base;

	if (acceptor->count == 0)
		return "";
	return acceptor->count > 1 ? "iwarp and verbs" : rr_fabric_name(acceptor->fabrics[0]);
}

/* See rr_acceptor_close(). */
void
rr_acceptor_rdma_close(struct rr_acceptor *base)
{
	struct rdma_acceptor *acceptor = acceptor_of(base);

	for (uint32_t i = 0; i < acceptor->count; i++)
		rr_fabric_unlisten(acceptor->listeners[i]);
	rr_free(acceptor->room->base.engine->env, acceptor);
}
