/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/rdma.h"

#include <string.h>

#include "base/checked.h"
#include "base/probe.h"
#include "carrier/rdma/acceptor.h"
#include "carrier/rdma/core/connection.h"

/*
 * A connection from its making to its end. It is freed when its owner closed it and nobody is inside any more
 * (rr_connection_leave()); exchanges that are with the owner then live on without it.
 */

static void
run(struct rr_task *task)
{
	struct rr_connection *connection = rr_container(task, struct rr_connection, task);

	rr_connection_enter(connection);
	rr_requester_tell(connection);
	if (connection->state == RR_CONNECTION_ABORTED && !connection->closed)
		rr_connection_end(connection);
	if (!connection->closed) {
		rr_requester_pump(connection);
		rr_connection_check_idle(connection);
	}
	rr_connection_leave(connection);
}

static void
free_connection(struct rr_connection *connection)
{
	struct rpcrdma_engine *engine = connection->base.engine;

	rr_requester_destroy(connection);
	rr_features_free(&connection->features, engine->env);
	rr_map_free(&connection->provided.by_xid, engine->env);
	rr_trace_free(&connection->trace, engine->env);
	rr_party_end(connection->base.party, connection);
	rr_free(engine->env, connection);
}

struct rr_connection *
rr_connection_new(struct rr_room *room, struct rr_fabric *fabric, const char *peer, bool is_active)
{
	struct rpcrdma_engine *engine = room->base.engine;
	struct rr_connection *connection = rr_alloc(engine->env, sizeof(*connection));

	if (!connection)
		return NULL;
	connection->base.ops = &rr_rdma_ops;
	connection->base.engine = engine;
	connection->room = room;
	connection->base.counters.size = sizeof(connection->base.counters);
	connection->fabric = fabric;
	connection->is_active = is_active;
	connection->versions = rr_version_range(engine->config.versions);
	connection->own = (struct rr_private_data){
		.send_size = engine->config.inline_send,
		.receive_size = engine->config.inline_receive,
		.remote_invalidation =
			engine->config.remote_invalidation && rr_fabric_limits(fabric)->remote_invalidation,
	};
	rr_task_init(&connection->task, run);
	rr_stall_init(&connection->stall);
	rr_list_init(&connection->jobs);
	rr_list_init(&connection->exchanges);
	rr_list_init(&connection->provided.list);
	rr_connection_set_peer(connection, NULL, 0);
	rr_negotiation_init(connection, NULL, 0);
	connection->base.party = rr_party_new(&engine->shares, peer, &rr_stall_party, connection);
	if (!connection->base.party || rr_arrival_prepare(room) || rr_requester_init(connection) ||
		rr_optional_init(connection)) {
		free_connection(connection);
		return NULL;
	}
	if (!is_active)
		rr_party_accepted(connection->base.party, RR_ACCEPTED_RDMA);
	return connection;
}

void
rr_connection_set_peer(struct rr_connection *connection, const void *private_data, size_t size)
{
	const struct rr_private_data *own = &connection->own, *peer = &connection->peer;

	/* RFC 8797, 4: one "MUST be prepared for the settings to change upon a reconnection": they are the
	 * connection's, and judged anew for each. */
	connection->peer_sent_private_data = rr_private_data_get(private_data, size, &connection->peer);
	connection->thresholds[0] = rr_thresholds(connection->is_active ? own : peer,
		connection->is_active ? peer : own, own->remote_invalidation);
	connection->thresholds[1] = rr_thresholds_2(connection->thresholds[0].remote_invalidation);
}

void
rr_connection_set_state(struct rr_connection *connection, enum rr_connection_state state)
{
	static const char *const names[] = { "connecting", "open", "stopping", "leaving", "aborted",
		"ended" };

	rr_log(connection->base.engine->env, RR_LOG_DEBUG, "%s: %s, was %s", connection->base.peer,
		names[state], names[connection->state]);
	RR_PROBE(connection_state, connection->base.peer, names[connection->state], names[state]);
	connection->state = state;
}

void
rr_connection_leave(struct rr_connection *connection)
{
	if (--connection->inside == 0 && connection->closed)
		free_connection(connection);
}

void
rr_connection_established(struct rr_connection *connection)
{
	const struct rr_carrier_events *events = connection->base.events;

	connection->established = true;
	rr_features_begin(&connection->features, connection);
	if (connection->state == RR_CONNECTION_CONNECTING)
		rr_connection_set_state(connection, RR_CONNECTION_OPEN);
	if (events && events->connected)
		events->connected(connection->base.ctx);
	if (connection->closed)
		return;
	rr_requester_pump(connection);
	rr_connection_check_idle(connection);
}

void
rr_connection_end(struct rr_connection *connection)
{
	const struct rr_carrier_events *events;

	if (connection->status < 0)
		rr_negotiation_event(connection, RR_NEGOTIATION_ENDED);
	/* Another connection can do better. */
	if (connection->negotiation.failed)
		connection->status = -RPCRDMA_ERR_VERS;
	rr_connection_set_state(connection, RR_CONNECTION_ENDED);
	rr_responder_end(connection);
	rr_requester_end(connection, false);
	rr_requester_tell(connection);
	events = connection->base.events;
	if (!connection->closed && events && events->closed)
		events->closed(connection->base.ctx, connection->status, connection->text.text);
}

/* A peer whose call was declined hears of that by the end of the connection. Own calls do not hold that up:
 * the peer may have declined them likewise, and wait, too. */
void
rr_connection_check_idle(struct rr_connection *connection)
{
	if (connection->state != RR_CONNECTION_STOPPING || !rr_list_empty(&connection->exchanges) ||
		(!connection->declined && !rr_requester_idle(connection)))
		return;
	rr_connection_set_state(connection, RR_CONNECTION_LEAVING);
	rr_driver_disconnect(connection);
}

/* ---- The operations of the carrier ---- */

static void
rdma_call(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	rr_requester_call(rr_connection_of(carrier), transaction);
}

static void
rdma_cancel(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	rr_requester_cancel(rr_connection_of(carrier), transaction);
}

static void
rdma_negotiated(const struct rr_carrier *carrier, struct rpcrdma_negotiated *negotiated)
{
	const struct rr_connection *connection = (const void *)carrier;
	const struct rr_credits *credits = &connection->requester.credits;
	bool asks = connection->is_active;
	uint32_t version = connection->negotiation.version;
	const struct rr_thresholds *thresholds = &connection->thresholds[version - 1];
	const struct rr_properties *properties = &connection->features.properties;

	*negotiated = (struct rpcrdma_negotiated){
		.fabric = rr_fabric_name(connection->fabric),
		.version = version,
		.private_data = connection->peer_sent_private_data,
		.own_send = connection->own.send_size,
		.own_receive = connection->own.receive_size,
		.peer_send = connection->peer.send_size,
		.peer_receive = connection->peer.receive_size,
		.inline_call = thresholds->call,
		.inline_reply = thresholds->reply,
		.credits_asked = carrier->engine->config.credits,
		.credits_granted = asks ? credits->limit : connection->granted,
		.credits_used = credits->used,
		.credits_min = asks ? credits->min : connection->granted_min,
		.credits_max = asks ? credits->max : connection->granted_max,
		.remote_invalidation = thresholds->remote_invalidation,
		.properties = properties->peer_has != 0,
		.read_chunks = rr_connection_read_chunks(connection),
		.provided = connection->provided.exposed,
		.provided_peak = connection->provided.peak,
	};
	memcpy(negotiated->own_properties, properties->own, sizeof(properties->own));
	memcpy(negotiated->peer_properties, properties->peer, sizeof(properties->peer));
}

static void
rdma_shutdown(struct rr_carrier *carrier)
{
	struct rr_connection *connection = rr_connection_of(carrier);

	if (connection->state >= RR_CONNECTION_STOPPING)
		return;
	rr_connection_set_state(connection, RR_CONNECTION_STOPPING);
	rr_loop_defer(carrier->engine->loop, &connection->task);
}

static void
rdma_close(struct rr_carrier *carrier)
{
	struct rr_connection *connection = rr_connection_of(carrier);

	rr_connection_enter(connection);
	connection->closed = true;
	rr_driver_close(connection);
	rr_task_cancel(&connection->task);
	rr_responder_end(connection);
	rr_requester_end(connection, true);
	rr_connection_leave(connection);
}

const struct rr_carrier_ops rr_rdma_ops = {
	.call = rdma_call,
	.cancel = rdma_cancel,
	.reply = rr_responder_reply,
	.drop = rr_responder_drop,
	.refuse = rr_responder_refuse,
	.negotiated = rdma_negotiated,
	.shutdown = rdma_shutdown,
	.close = rdma_close,
};

/* ---- The carriers of an engine ---- */

enum { INLINE_MIN = 1024, INLINE_MAX = 262144, PROVIDED_MAX = 4096, CHUNKS_MAX = 1024 };

static bool
rdma_is_inline_size(uint32_t size)
{
	return size >= INLINE_MIN && size <= INLINE_MAX && size % 1024 == 0;
}

static bool
rdma_config_is_good(const struct rr_engine_config *config)
{
	return config->versions <= RR_VERSIONS_2 && config->reply_chunks <= RR_REPLY_CHUNKS_NEVER &&
	       config->provided_max <= PROVIDED_MAX && rdma_is_inline_size(config->inline_send) &&
	       rdma_is_inline_size(config->inline_receive) && config->segment_max > 0 &&
	       config->chunk_max > 0 && config->chunk_max <= CHUNKS_MAX;
}

/* A requester sends its RDMA_DONE before the call that its credit is used for next: one that does so never
 * has more replies exposed than it has credits. */
static void
rdma_set_bounds(struct rr_room *room, const struct rr_engine_config *config)
{
	room->provided_max = config->provided_max;
	if (room->provided_max == 0)
		room->provided_max = (uint32_t)rr_min(config->credits, PROVIDED_MAX);
	room->provided_octets_max = config->provided_octets;
	if (room->provided_octets_max > 0)
		return;
	room->provided_octets_max = config->memory_max / 2;
	if (room->provided_octets_max < config->message_max)
		room->provided_octets_max = config->message_max;
}

static int
rdma_begin(struct rpcrdma_engine *engine, struct rr_carriers **carriers)
{
	struct rr_room *room;
	int error;

	if (!rdma_config_is_good(&engine->config))
		return -RPCRDMA_ERR_INVAL;
	room = rr_alloc(engine->env, sizeof(*room));
	if (!room)
		return -RPCRDMA_ERR_NOMEM;
	room->base.engine = engine;
	rr_list_init(&room->exchanges);
	rdma_set_bounds(room, &engine->config);
	error = rr_provider_begin(room, engine);
	if (error) {
		rr_provider_end(room);
		rr_free(engine->env, room);
		return error;
	}
	*carriers = &room->base;
	return 0;
}

static void
rdma_end(struct rr_carriers *carriers)
{
	struct rr_room *room = rr_room_of(carriers);

	rr_responder_trim(room);
	rr_arrival_unprepare(room);
	rr_provider_end(room);
	rr_free(carriers->engine->env, room);
}

static int
rdma_connect(struct rr_carriers *carriers, const struct rr_carrier_place *to,
	const struct rr_carrier_events *events, void *ctx, struct rr_carrier **carrier, struct rr_text *text)
{
	struct rr_room *room = rr_room_of(carriers);
	struct rr_connection *connection;
	struct rr_fabric *fabric;
	char peer[RR_ADDRESS_TEXT];
	int error = rr_provider_to(room, to, &fabric, text);

	if (error)
		return error;
	rr_address_text(to->address, peer, sizeof(peer));
	connection = rr_connection_new(room, fabric, peer, true);
	if (!connection)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "no memory for a connection");
	rr_carrier_attach(&connection->base, events, ctx);
	rr_negotiation_init(connection, to->address, to->size);
	error = rr_driver_connect(connection, to->address, to->size, text);
	if (error) {
		free_connection(connection);
		return error;
	}
	*carrier = &connection->base;
	return 0;
}

static bool
rdma_at_work(const struct rr_carriers *carriers, enum rr_transport transport)
{
	const struct rr_room *room = (const void *)carriers;

	return transport == RR_TRANSPORT_VERBS ? room->adapters != NULL : room->fabric != NULL;
}

const struct rr_carriers_ops rr_rdma_carriers = {
	.transports = RR_TRANSPORT_BIT(RR_TRANSPORT_AUTO) | RR_TRANSPORT_BIT(RR_TRANSPORT_IWARP) |
		      RR_TRANSPORT_BIT(RR_TRANSPORT_VERBS),
	.begin = rdma_begin,
	.end = rdma_end,
	.connect = rdma_connect,
	.listen = rr_acceptor_rdma_listen,
	.address = rr_acceptor_rdma_address,
	.providers = rr_acceptor_rdma_providers,
	.unlisten = rr_acceptor_rdma_close,
	.at_work = rdma_at_work,
};
