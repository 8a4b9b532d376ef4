/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "base/probe.h"
#include "carrier/rdma/responder/responder.h"

/*
 * Messages of optional features on a connection: the transport's side of feature.c. A request of a feature
 * takes a credit, as a call does, until a message answers it. Each message that is sent is an exchange; a
 * request is one without a receive.
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
		properties->peer[RR_PROPERTY_RECEIVE_SIZE], rr_room_send_size(connection->room));

	thresholds->call = connection->is_active ? send : receive;
	thresholds->reply = connection->is_active ? receive : send;
	if (properties->peer_has & UINT32_C(1) << RR_PROPERTY_INVALIDATION)
		thresholds->remote_invalidation = properties->own[RR_PROPERTY_INVALIDATION] &&
						  properties->peer[RR_PROPERTY_INVALIDATION];
}

/* Whether a client takes calls of its server is known only when the first message is due. */
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

	/* A responder asks for nothing: its requests would have to be calls of the reverse direction. */
	rr_properties_init(&connection->features.properties, told, told[RR_PROPERTY_RECEIVE_SIZE],
		connection->is_active ? rr_room_send_size(connection->room) : 0);
}

/* ---- Requests ---- */

/* Sends the request, for which a credit was taken. */
static bool
optional_send_request(struct rr_connection *connection)
{
	struct rr_request *request = &connection->features.request;
	struct rr_inbound *inbound = rr_inbound_take(connection, NULL);

	if (!inbound)
		return false;
	inbound->header = (struct rr_rdma_header){ .xid = request->xid, .vers = RR_RPCRDMA_VERSION_2 };
	inbound->optional = request->message;
	request->message.due = false;
	request->sent = true;
	rr_negotiation_event(connection, RR_NEGOTIATION_SENT);
	rr_inbound_say(inbound);
	rr_driver_watch_first_reply(connection);
	return true;
}

/*
 * draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.1: "Generally, a participant will send a RDMA2_CONNPROP message
 * as the first message after a connection is established." 5.3.2: "In assigning the value of this field, the
 * sender does not need to avoid conflict with xid's associated with RPC messages".
 */
static void
optional_introduce(struct rr_connection *connection)
{
	struct rr_features *features = &connection->features;

	if (connection->negotiation.state != RR_NEGOTIATION_OPEN || features->request.message.due)
		return;
	set_reverse_support(connection);
	rr_properties_tell(&features->properties, (uint32_t)rr_random_u64(connection->base.engine->env),
		&features->request);
}

/* A peer that grants one credit and never answers would end all calls: it is not asked to change a property.
 */
static bool
optional_may_ask(const struct rr_connection *connection)
{
	return connection->negotiation.state == RR_NEGOTIATION_OPEN ||
	       connection->requester.credits.limit > 1;
}

bool
rr_optional_ask(struct rr_connection *connection)
{
	struct rr_request *request = &connection->features.request;
	struct rr_credits *credits = &connection->requester.credits;

	optional_introduce(connection);
	/* draft-cel-nfsv4-rpcrdma-version-two-00, 5: "a requester MUST assume the ability to exchange only a
	 * single RPC-over-RDMA message at a time until it receives a non-error RPC-over-RDMA message from the
	 * responder that reports the responder's actual credit limit." A message is one, whatever it is. */
	if (request->message.due && optional_may_ask(connection)) {
		if (!rr_credits_take(credits))
			return false;
		/* Without memory, defaults hold, and the first call shows the version. */
		if (!optional_send_request(connection)) {
			rr_credits_return(credits);
			request->message.due = false;
			rr_properties_refused(&connection->features.properties, request->xid);
			rr_negotiation_event(connection, RR_NEGOTIATION_FAILED);
		}
	}
	return connection->negotiation.state > RR_NEGOTIATION_ASKED;
}

void
rr_optional_end(struct rr_connection *connection)
{
	struct rr_request *request = &connection->features.request;

	if (request->sent)
		rr_credits_return(&connection->requester.credits);
	request->sent = request->message.due = false;
}

bool
rr_optional_unanswered(struct rr_connection *connection)
{
	if (!connection->features.properties.peer_has)
		return false;
	rr_optional_end(connection);
	return true;
}

/* ---- Arrival ---- */

/* Whether it answers the request, which is then no longer under way. */
static bool
optional_take_answer(struct rr_connection *connection, const struct rr_rdma_header *header)
{
	struct rr_request *request = &connection->features.request;

	if (!request->sent || request->xid != header->xid || request->answer != header->opttype)
		return false;
	request->sent = false;
	rr_credits_grant(&connection->requester.credits, header->credit);
	rr_credits_return(&connection->requester.credits);
	return true;
}

void
rr_optional_arrived(struct rr_inbound *inbound, const struct rr_arrival *arrival)
{
	struct rr_connection *connection = inbound->connection;
	bool answers = optional_take_answer(connection, &arrival->header);
	int err;

	set_reverse_support(connection);
	rr_negotiation_called(connection, arrival->header.vers);
	err = rr_feature_received(
		&connection->features, &arrival->header, arrival->payload, &inbound->optional);
	apply(connection);
	if (err)
		rr_inbound_refuse(inbound, (enum rr_rdma_err)err);
	else if (inbound->optional.due)
		rr_inbound_say(inbound);
	else
		rr_inbound_done(inbound);
	if (answers)
		rr_negotiation_event(connection, RR_NEGOTIATION_ANSWERED);
	if (connection->is_active)
		rr_requester_pump(connection);
}

/* An error that answers the request. 3.1: one with RDMA_ERR_INVAL_OPTION is of version 2 for sure; the others
 * may be of version 1, whose responders put the version of the request into their errors. */
static enum rr_negotiation_event
optional_judge(struct rr_connection *connection, const struct rr_rdma_header *header)
{
	RR_PROBE(error_received, connection->base.peer, header->xid, header->err);
	rr_counters_error_received(&connection->base.counters, header->err);
	if (header->err == RR_ERR_INVAL_OPTION)
		return RR_NEGOTIATION_ANSWERED;
	if (header->err != RR_ERR_VERS)
		return RR_NEGOTIATION_FAILED;
	connection->negotiation.peer = (struct rr_version_range){ header->vers_low, header->vers_high };
	return RR_NEGOTIATION_REFUSED;
}

bool
rr_optional_refused(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	struct rr_request *request = &connection->features.request;

	if (!request->sent || arrival->header.xid != request->xid)
		return false;
	rr_properties_refused(&connection->features.properties, request->xid);
	apply(connection);
	rr_optional_end(connection);
	rr_negotiation_event(connection, optional_judge(connection, &arrival->header));
	rr_driver_release(connection->fabric, arrival->receive);
	rr_driver_allow(connection, 1);
	rr_requester_pump(connection);
	return true;
}
