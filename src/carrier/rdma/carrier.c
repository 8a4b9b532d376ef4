/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "carrier/rdma/dispatch.h"
#include "carrier/rdma/responder/provided.h"

/* An RDMA connection with all of its parts, from its making to its end, as a carrier. When its owner closes
 * it, the connection is buried; exchanges that the RPC layer still has then live on without it. */

/* ---- What the core calls ---- */

/* Ends the responder, the features and the requester of the connection. If forget is true, transactions end
 * without their done(). */
static void
rdma_end_parts(struct rr_connection *connection, bool forget)
{
	rr_responder_end(connection);
	rr_optional_end(connection);
	rr_requester_end(connection, forget);
}

/* Is called when the endpoint was closed: ends all parts of the connection, then calls the owner's closed().
 * closed() gets the error -RPCRDMA_ERR_VERS if the next connection will not ask for version 2. */
static void
rdma_ended(struct rr_connection *connection)
{
	const struct rr_carrier_events *events;

	if (connection->status < 0)
		rr_negotiation_event(connection, RR_NEGOTIATION_ENDED);
	/* Version 2 may be why this connection ended: -RPCRDMA_ERR_VERS tells the owner that the next
	 * connection will use version 1. */
	if (connection->negotiation.failed)
		connection->status = -RPCRDMA_ERR_VERS;
	rr_connection_set_state(connection, RR_CONNECTION_ENDED);
	rdma_end_parts(connection, false);
	rr_requester_tell(connection);
	events = connection->base.events;
	if (!connection->closed && events && events->closed)
		events->closed(connection->base.ctx, connection->status, connection->text.text);
}

/* Sends the calls that wait, and disconnects if the owner wants the connection to end and nothing is left to
 * do. */
static void
rdma_go_on(struct rr_connection *connection)
{
	rr_requester_pump(connection);
	rr_connection_check_idle(connection);
}

void
rr_rdma_free(struct rr_connection *connection)
{
	struct rpcrdma_engine *engine = connection->base.engine;

	rr_requester_destroy(connection);
	rr_features_free(&connection->features, engine->env);
	rr_map_free(&connection->provided.by_xid, engine->env);
	rr_trace_free(&connection->trace);
	rr_party_end(connection->base.party, connection);
	rr_free(engine->env, connection);
}

/* Is called when the connection is established: begins the features. */
static void
rdma_begun(struct rr_connection *connection)
{
	rr_features_begin(&connection->features, connection);
}

static const struct rr_connection_parts rdma_parts = {
	.begun = rdma_begun,
	.received = rr_dispatch_received,
	.go_on = rdma_go_on,
	.may_call = rr_optional_ask,
	.is_unanswered = rr_optional_unanswered,
	.pump = rr_requester_pump,
	.is_idle = rr_requester_idle,
	.ended = rdma_ended,
};

/* ---- What base/share/share.c asks about a connection ---- */

/* Tells whether calls of the peer are under way. */
static bool
rdma_is_busy(void *ctx)
{
	const struct rr_connection *connection = ctx;

	return !rr_list_empty(&connection->exchanges);
}

/* Tells whether this side waits for the peer: to take what was sent or written, to bring what an RDMA Read
 * asks for, or to pull a reply. */
static bool
rdma_is_awaited(void *ctx)
{
	const struct rr_connection *connection = ctx;

	return connection->endpoint && (connection->posted > 0 || connection->provided.exposed > 0);
}

/* Returns how many octets have moved on the connection so far. */
static uint64_t
rdma_moved(void *ctx)
{
	return rr_stall_moved(ctx);
}

/* Ends the connection at once, as it keeps memory that others need; base/share/share.c decides this. why is
 * the reason, for the log. */
static void
rdma_cut(void *ctx, const char *why)
{
	struct rr_connection *connection = ctx;

	rr_driver_abort(connection, -RPCRDMA_ERR_TIMEDOUT, "%s: %s", connection->base.peer, why);
}

static const struct rr_party_ops rdma_party = {
	.is_busy = rdma_is_busy,
	.is_awaited = rdma_is_awaited,
	.moved = rdma_moved,
	.cut = rdma_cut,
};

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

/* Stores what both sides agreed on. On the side that connected, the credits are those that the peer granted;
 * on the side that accepted, the credits are those that this side granted. */
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
		.fabric = rr_driver_name(connection->fabric),
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
		.tls = connection->tls.version,
		.tls_cipher = connection->tls.cipher,
		.tls_mutual = connection->tls.security == RR_SECURITY_MTLS,
	};
	memcpy(negotiated->tls_peer, connection->tls_peer, sizeof(negotiated->tls_peer));
	memcpy(negotiated->own_properties, properties->own, sizeof(properties->own));
	memcpy(negotiated->peer_properties, properties->peer, sizeof(properties->peer));
}

/* Begins the end of the connection in good order: the connection's task disconnects once nothing is under
 * way. Does nothing if the connection is ending already. */
static void
rdma_shutdown(struct rr_carrier *carrier)
{
	struct rr_connection *connection = rr_connection_of(carrier);

	if (connection->state >= RR_CONNECTION_STOPPING)
		return;
	rr_connection_set_state(connection, RR_CONNECTION_STOPPING);
	rr_loop_defer(carrier->engine->loop, &connection->task);
}

/* Frees a connection that was closed. The loop calls this when it no longer uses the connection. */
static void
rdma_free_buried(struct rr_grave *grave, const struct rr_env *env)
{
	(void)env;
	rr_rdma_free(rr_container(grave, struct rr_connection, grave));
}

/* Closes the endpoint, ends all parts of the connection without callbacks, and has the loop free the
 * connection later. */
static void
rdma_close(struct rr_carrier *carrier)
{
	struct rr_connection *connection = rr_connection_of(carrier);

	rr_connection_enter(connection);
	connection->closed = true;
	rr_driver_close(connection);
	rdma_end_parts(connection, true);
	rr_connection_leave(connection);
	rr_task_cancel(&connection->task);
	rr_loop_bury(carrier->engine->loop, &connection->grave, rdma_free_buried);
}

static const struct rr_carrier_ops rdma_ops = {
	.call = rdma_call,
	.cancel = rdma_cancel,
	.reply = rr_responder_reply,
	.drop = rr_responder_drop,
	.refuse = rr_responder_refuse,
	.negotiated = rdma_negotiated,
	.shutdown = rdma_shutdown,
	.close = rdma_close,
};

/* ---- A connection's beginning ---- */

/* Is the connection's task, which does what must not be done inside a call of the owner: calls the done() of
 * failed transactions, then ends the connection if it was aborted. A connection that was not closed then
 * sends calls that wait, and is disconnected if it is being shut down and nothing is under way any more. */
static void
rdma_run(struct rr_task *task)
{
	struct rr_connection *connection = rr_container(task, struct rr_connection, task);

	rr_connection_enter(connection);
	rr_requester_tell(connection);
	if (connection->state == RR_CONNECTION_ABORTED && !connection->closed)
		rdma_ended(connection);
	if (!connection->closed)
		rdma_go_on(connection);
	rr_connection_leave(connection);
}

struct rr_connection *
rr_rdma_new(struct rr_room *room, struct rr_fabric *fabric, const char *peer, bool is_active)
{
	struct rpcrdma_engine *engine = room->base.engine;
	struct rr_connection *connection = rr_alloc(engine->env, sizeof(*connection));

	if (!connection)
		return NULL;
	connection->base.ops = &rdma_ops;
	connection->parts = &rdma_parts;
	connection->base.engine = engine;
	connection->room = room;
	connection->base.counters.size = sizeof(connection->base.counters);
	connection->fabric = fabric;
	connection->is_active = is_active;
	connection->versions = rr_version_range(engine->config.versions);
	connection->own = (struct rr_private_data){
		.send_size = engine->config.inline_send,
		.receive_size = engine->config.inline_receive,
		.remote_invalidation = engine->config.remote_invalidation && rr_driver_invalidates(fabric),
	};
	rr_task_init(&connection->task, rdma_run);
	rr_stall_init(&connection->stall);
	rr_trace_init(&connection->trace, &room->traces);
	rr_list_init(&connection->chains);
	rr_list_init(&connection->copied);
	rr_list_init(&connection->exchanges);
	rr_list_init(&connection->provided.list);
	rr_connection_set_peer(connection, NULL, 0);
	rr_negotiation_init(connection, NULL, 0);
	connection->base.party = rr_party_new(&engine->shares, peer, &rdma_party, connection);
	if (!connection->base.party || rr_arrival_prepare(room) || rr_requester_init(connection) ||
		rr_optional_init(connection)) {
		rr_rdma_free(connection);
		return NULL;
	}
	connection->base.payer = &connection->base.party->payer;
	connection->task.payer = &connection->base.payer;
	if (!is_active)
		rr_party_accepted(connection->base.party, RR_ACCEPTED_RDMA);
	return connection;
}
