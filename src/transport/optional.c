/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "base/probe.h"
#include "transport/responder.h"

/*
 * Messages of optional features on a connection: the transport's side of feature.c. They spend no credit; the
 * Receives beyond the credits are for them. What is sent travels as an exchange: where it answers nothing, as
 * one without a receive.
 */

/* draft-cel-nfsv4-rpcrdma-version-two-00, 5.2: "implementations MUST allow inline threshold values to change
 * without triggering a connection loss." What was agreed holds from the next message on. Chunks that calls
 * under way have offered stay. */
static void
apply(struct rr_connection *connection)
{
	const struct rr_properties *properties = &connection->features.properties;
	struct rr_thresholds *thresholds = &connection->thresholds[RR_RPCRDMA_VERSION_2 - 1];
	uint32_t receive = properties->own[RR_PROPERTY_RECEIVE_SIZE];
	uint32_t send = (uint32_t)rr_min(
		properties->peer[RR_PROPERTY_RECEIVE_SIZE], rr_engine_send_size(connection->base.engine));

	thresholds->call = connection->is_active ? send : receive;
	thresholds->reply = connection->is_active ? receive : send;
	if (properties->peer_has & UINT32_C(1) << RR_PROPERTY_INVALIDATION)
		thresholds->remote_invalidation = properties->own[RR_PROPERTY_INVALIDATION] &&
						  properties->peer[RR_PROPERTY_INVALIDATION];
}

/* Who hears of calls is known only when the first message is due. */
static void
set_reverse_support(struct rr_connection *connection)
{
	const struct rr_carrier_events *events = connection->base.events;
	struct rr_properties *properties = &connection->features.properties;

	if (connection->is_active && properties->state == RR_PROPERTIES_SILENT && (!events || !events->call))
		properties->told[RR_PROPERTY_REVERSE] = RR_REVERSE_NONE;
}

void
rr_optional_init(struct rr_connection *connection)
{
	const uint32_t told[RR_PROPERTIES] = {
		[RR_PROPERTY_RECEIVE_SIZE] = rr_fabric_config(connection->fabric)->receive_size,
		[RR_PROPERTY_REVERSE] = RR_REVERSE_INLINE,
		[RR_PROPERTY_READ_CHUNKS] = connection->base.engine->config.read_chunks,
		[RR_PROPERTY_INVALIDATION] = connection->own.remote_invalidation,
	};

	rr_properties_init(&connection->features.properties, told, told[RR_PROPERTY_RECEIVE_SIZE],
		rr_engine_send_size(connection->base.engine));
}

/* draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.2: "In assigning the value of this field, the sender does not
 * need to avoid conflict with xid's associated with RPC messages". Without memory, defaults go on to hold. */
void
rr_optional_agreed(struct rr_connection *connection)
{
	uint32_t xid = (uint32_t)rr_random_u64(connection->base.engine->env);
	struct rr_inbound *inbound;

	if (connection->state >= RR_CONNECTION_STOPPING || !(inbound = rr_inbound_take(connection, NULL)))
		return;
	set_reverse_support(connection);
	rr_properties_tell(&connection->features.properties, xid, &inbound->optional);
	inbound->header = (struct rr_rdma_header){ .xid = xid, .vers = RR_RPCRDMA_VERSION_2 };
	if (inbound->optional.due)
		rr_inbound_say(inbound);
	else
		rr_inbound_free(inbound);
}

void
rr_optional_arrived(struct rr_inbound *inbound)
{
	struct rr_connection *connection = inbound->connection;
	const struct rpcrdma_message *rest = &inbound->base.call;
	const struct rpcrdma_bytes payload = { rest->stream, rest->length };
	int err;

	set_reverse_support(connection);
	err = rr_feature_received(&connection->features, &inbound->header, payload, &inbound->optional);
	apply(connection);
	if (err)
		rr_inbound_refuse(inbound, (enum rr_rdma_err)err);
	else if (inbound->optional.due)
		rr_inbound_say(inbound);
	else
		rr_inbound_done(inbound);
}

bool
rr_optional_refused(struct rr_connection *connection, const struct rr_event *event)
{
	const struct rpcrdma_message message = { .stream = event->data, .length = event->length };
	struct rr_chunk_lists nothing = { 0 };
	struct rr_rdma_header header;
	struct rpcrdma_xdr_reader reader;

	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	if (rr_rdma2_get_header(&reader, &header, &nothing) != RR_HEADER_OK || header.proc != RR_RDMA_ERROR ||
		header.err == RR_ERR_VERS ||
		!rr_properties_refused(&connection->features.properties, header.xid))
		return false;
	apply(connection);
	RR_PROBE(error_received, connection->base.peer, header.xid, header.err);
	connection->base.counters.errors_received++;
	rr_driver_release(connection->fabric, event->data);
	rr_driver_allow(connection, 1);
	return true;
}
