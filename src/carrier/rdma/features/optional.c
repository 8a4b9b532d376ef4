/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "base/probe.h"
#include "carrier/rdma/responder/responder.h"

/* Messages of optional features on a connection: the transport's side of feature.c. A request of a feature
 * takes a credit, as a call does, until a message answers it. A struct rr_inbound sends each message: the
 * inbound of the message that is answered, or, for a request of this side, an inbound without a receive. */

/* Computes the inline thresholds of version 2, and whether messages invalidate memory of the peer, from the
 * transport properties that both sides announced. The new values hold from the next message on; chunks that
 * calls under way have offered stay as they are. draft-cel-nfsv4-rpcrdma-version-two-00, 5.2:
 * "implementations MUST allow inline threshold values to change without triggering a connection loss." */
static void
optional_apply(struct rr_connection *connection)
{
	const struct rr_properties *properties = &connection->features.properties;
	struct rr_thresholds *thresholds = &connection->thresholds[RR_RPCRDMA_VERSION_2 - 1];
	uint32_t receive = properties->own[RR_PROPERTY_RECEIVE_SIZE];
	uint32_t send = (uint32_t)rr_min(
		properties->peer[RR_PROPERTY_RECEIVE_SIZE], rr_room_send_size(connection->room));

	thresholds->call = connection->is_active ? send : receive;
	thresholds->reply = connection->is_active ? receive : send;
	/* If the peer did not name this property, the value that the private data gave still holds. */
	if (properties->peer_has & UINT32_C(1) << RR_PROPERTY_INVALIDATION)
		thresholds->remote_invalidation = properties->own[RR_PROPERTY_INVALIDATION] &&
						  properties->peer[RR_PROPERTY_INVALIDATION];
}

/* Sets the property that says that this side takes no calls, if this side is a client whose owner has no
 * handler for calls. This is done only when the first message is due, as the owner may set the handler until
 * then. */
static void
optional_set_reverse_support(struct rr_connection *connection)
{
	const struct rr_carrier_events *events = connection->base.events;
	struct rr_properties *properties = &connection->features.properties;

	if (connection->is_active && properties->state == RR_PROPERTIES_SILENT && (!events || !events->call))
		properties->told[RR_PROPERTY_REVERSE] = RR_REVERSE_NONE;
}

int
rr_optional_init(struct rr_connection *connection)
{
	const struct rpcrdma_engine *engine = connection->base.engine;
	const uint32_t told[RR_PROPERTIES] = {
		[RR_PROPERTY_RECEIVE_SIZE] = connection->room->receive_size,
		[RR_PROPERTY_REVERSE] = RR_REVERSE_INLINE,
		[RR_PROPERTY_READ_CHUNKS] = engine->config.read_chunks,
		[RR_PROPERTY_INVALIDATION] = connection->own.remote_invalidation,
	};

	/* A responder does not ask for a larger size: it sends no long messages of its own. */
	rr_properties_init(&connection->features.properties, told, told[RR_PROPERTY_RECEIVE_SIZE],
		connection->is_active ? rr_room_send_size(connection->room) : 0);
	return rr_features_init(&connection->features, engine->env, engine->config.features);
}

/* ---- Requests ---- */

/* Ends a request of a feature (an optional protocol extension): gives its credit back, if the request was
 * sent, and calls its done() with error. */
static void
optional_finish(struct rr_connection *connection, struct rr_feature_request *request, int error)
{
	rr_list_remove(&request->link);
	if (request->sent) {
		rr_credits_return(&connection->requester.credits);
		connection->features.sent--;
	}
	request->sent = request->message.due = false;
	if (request->done)
		request->done(request, error);
}

/* Sends the request of a feature (an optional protocol extension), and tells the version negotiation that it
 * was sent. The caller has taken a credit for the request. Returns 0 or an error. */
static int
optional_send_request(struct rr_connection *connection, struct rr_feature_request *request)
{
	struct rr_inbound *inbound = rr_inbound_take(connection, NULL);
	int error;

	if (!inbound)
		return -RPCRDMA_ERR_NOMEM;
	inbound->header = (struct rr_rdma_header){ .xid = request->xid, .vers = RR_RPCRDMA_VERSION_2 };
	error = rr_inbound_say(inbound, &request->message);
	if (error) {
		rr_inbound_free(inbound);
		return error;
	}
	request->message.due = false;
	request->sent = true;
	connection->features.sent++;
	rr_negotiation_event(connection, RR_NEGOTIATION_SENT);
	rr_driver_watch_first_reply(connection);
	return 0;
}

/* Puts the CONNPROP of this side, which announces its properties, in front of all other requests, unless the
 * CONNPROP was sent or waits to be sent. draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.1: "Generally, a
 * participant will send a RDMA2_CONNPROP message as the first message after a connection is established." The
 * XID of the CONNPROP is random: 5.3.2 of the same draft: "In assigning the value of this field, the sender
 * does not need to avoid conflict with xid's associated with RPC messages". */
static void
optional_introduce(struct rr_connection *connection)
{
	struct rr_features *features = &connection->features;

	if (connection->negotiation.state != RR_NEGOTIATION_OPEN ||
		rr_feature_request_is_open(&features->properties.request))
		return;
	optional_set_reverse_support(connection);
	if (rr_properties_tell(&features->properties, rr_random_u32(connection->base.engine->env)))
		rr_list_prepend(&features->requests, &features->properties.request.link);
}

/* Tells whether requests of features can never be sent on this connection, as the peer uses version 1.
 * Returns false on the side that accepted, as its peer may still begin to use version 2. */
static bool
optional_is_void(const struct rr_connection *connection)
{
	return connection->is_active && connection->negotiation.state > RR_NEGOTIATION_ASKED &&
	       connection->negotiation.version < RR_RPCRDMA_VERSION_2;
}

/* Tells whether the request can be sent now. Before the version is known, only the CONNPROP can be sent;
 * afterwards all requests can, if the version is 2. The CONNPROP and, later, the REQPROP, which asks the peer
 * to change a property, are in the structure properties.request. The REQPROP is sent only if there are at
 * least two credits: if the peer never answers it, one credit is left for calls. */
static bool
optional_may_send(const struct rr_connection *connection, const struct rr_feature_request *request)
{
	bool is_ours = request == &connection->features.properties.request;

	if (request->sent)
		return false;
	if (connection->negotiation.state == RR_NEGOTIATION_OPEN)
		return is_ours;
	return connection->negotiation.state > RR_NEGOTIATION_ASKED &&
	       connection->negotiation.version >= RR_RPCRDMA_VERSION_2 &&
	       (!is_ours || connection->requester.credits.limit > 1);
}

/* Returns the oldest request that can be sent now, or that must fail as it can never be sent. Returns NULL if
 * there is no such request. */
static struct rr_feature_request *
optional_next(struct rr_connection *connection)
{
	rr_list_for_each (link, &connection->features.requests) {
		struct rr_feature_request *request = rr_container(link, struct rr_feature_request, link);

		if (optional_is_void(connection) || optional_may_send(connection, request))
			return request;
	}
	return NULL;
}

/* Does the work of rr_optional_ask() in the rare case that a request waits, or the version is not known.
 * Returns true if calls may be sent. Returns false if they have to wait: for a credit, which a request needs
 * first, or for the version, for which this side has asked. */
__attribute__((noinline)) static bool
optional_ask(struct rr_connection *connection)
{
	struct rr_credits *credits = &connection->requester.credits;
	struct rr_feature_request *request;

	optional_introduce(connection);
	while ((request = optional_next(connection))) {
		int error = -RPCRDMA_ERR_NOTSUP;

		if (!optional_is_void(connection)) {
			/* draft-cel-nfsv4-rpcrdma-version-two-00, 5: "a requester MUST assume the ability to
			 * exchange only a single RPC-over-RDMA message at a time until it receives a
			 * non-error RPC-over-RDMA message from the responder that reports the responder's
			 * actual credit limit." Every message counts here, also that of a feature. */
			if (!rr_credits_take(credits))
				return false;
			error = optional_send_request(connection, request);
			if (!error)
				continue;
			rr_credits_return(credits);
		}
		optional_finish(connection, request, error);
		/* If there is no memory to ask, the defaults hold, and the first call shows the version. */
		rr_negotiation_event(connection, RR_NEGOTIATION_FAILED);
	}
	return connection->negotiation.state > RR_NEGOTIATION_ASKED;
}

/* Before most calls the version is known and no request waits: this is checked first. */
bool
rr_optional_ask(struct rr_connection *connection)
{
	bool known = connection->negotiation.state > RR_NEGOTIATION_ASKED;

	return (known && rr_list_empty(&connection->features.requests)) || optional_ask(connection);
}

int
rr_feature_ask(struct rr_connection *connection, struct rr_feature_request *request)
{
	const struct rpcrdma_engine *engine = connection->base.engine;

	if (!connection->endpoint || connection->state >= RR_CONNECTION_STOPPING)
		return -RPCRDMA_ERR_DISCONNECTED;
	request->xid = rr_random_u32(engine->env);
	request->sent = false;
	rr_list_append(&connection->features.requests, &request->link);
	rr_loop_defer(engine->loop, &connection->task);
	return 0;
}

void
rr_optional_end(struct rr_connection *connection)
{
	struct rr_list *link;

	while ((link = connection->features.requests.next) != &connection->features.requests)
		optional_finish(connection, rr_container(link, struct rr_feature_request, link),
			-RPCRDMA_ERR_DISCONNECTED);
}

bool
rr_optional_unanswered(struct rr_connection *connection)
{
	struct rr_features *features = &connection->features;

	if (!features->properties.peer_has)
		return false;
	if (rr_feature_request_is_open(&features->properties.request))
		optional_finish(connection, &features->properties.request, 0);
	return true;
}

/* ---- Arrival ---- */

/* Returns the request that was sent with that XID, or NULL if there is no such request. */
static struct rr_feature_request *
optional_find(struct rr_connection *connection, uint32_t xid)
{
	rr_list_for_each (link, &connection->features.requests) {
		struct rr_feature_request *request = rr_container(link, struct rr_feature_request, link);

		if (request->sent && request->xid == xid)
			return request;
	}
	return NULL;
}

/* Tells whether the message with this header answers a request of this side. If so, sets the credits to the
 * number that the message grants, and ends the request. */
static bool
optional_take_answer(struct rr_connection *connection, const struct rr_rdma_header *header)
{
	struct rr_feature_request *request = optional_find(connection, header->xid);

	if (!request || request->answer != header->opttype)
		return false;
	rr_credits_grant(&connection->requester.credits, header->credit);
	optional_finish(connection, request, 0);
	return true;
}

/* Sends the feature's answer to an optional message, or an error if the answer cannot be sent. If the
 * feature has no answer, ends the handling of the message. */
static void
optional_answer(struct rr_inbound *inbound, const struct rr_optional *answer)
{
	if (!answer->due)
		rr_inbound_done(inbound);
	/* An answer is due in any case: it returns the sender's credit. */
	else if (rr_inbound_say(inbound, answer))
		rr_inbound_refuse(inbound, RR_ERR_BAD_HEADER);
}

/* Handles an optional message whose header is good: ends the request of this side that the message answers,
 * hands the message to its feature, and sends the feature's answer or an error. */
static void
optional_arrived(struct rr_inbound *inbound, const struct rr_arrival *arrival)
{
	struct rr_connection *connection = inbound->connection;
	bool answers = optional_take_answer(connection, &arrival->header);
	struct rr_optional answer;
	int err;

	/* If the message is a CONNPROP, the answer may be the first CONNPROP of this side. */
	optional_set_reverse_support(connection);
	rr_negotiation_called(connection, arrival->header.vers);
	err = rr_feature_received(&connection->features, &arrival->header, arrival->payload, &answer);
	optional_apply(connection);
	if (err)
		rr_inbound_refuse(inbound, (enum rr_rdma_err)err);
	else
		optional_answer(inbound, &answer);
	if (answers)
		rr_negotiation_event(connection, RR_NEGOTIATION_ANSWERED);
	rr_requester_pump(connection);
}

/* Tells whether this side still handles optional messages. While the connection is stopping, only the side
 * that connected handles them: it may still wait for replies, whose form depends on what these messages agree
 * on. */
static bool
optional_is_taken(const struct rr_connection *connection)
{
	return connection->state < RR_CONNECTION_STOPPING ||
	       (connection->state == RR_CONNECTION_STOPPING && connection->is_active);
}

void
rr_optional_received(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	struct rr_inbound *inbound;

	if (!optional_is_taken(connection)) {
		rr_connection_discard(connection, arrival);
		return;
	}
	inbound = rr_responder_take(connection, arrival);
	if (!inbound)
		return;
	if (arrival->result == RR_HEADER_OK)
		optional_arrived(inbound, arrival);
	else
		rr_inbound_refuse_header(inbound, RR_ERR_BAD_HEADER);
}

/* Counts an RDMA_ERROR that answers a request of this side, and returns what it means as an event of the
 * version negotiation. RDMA_ERR_INVAL_OPTION exists only in version 2
 * (draft-cel-nfsv4-rpcrdma-version-two-00, 3.1), so the peer uses that version. Other errors may come from a
 * responder of version 1, which copies the version from the request. */
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
	struct rr_feature_request *request = optional_find(connection, arrival->header.xid);

	if (!request)
		return false;
	optional_finish(connection, request, -RPCRDMA_ERR_NOTSUP);
	optional_apply(connection);
	rr_negotiation_event(connection, optional_judge(connection, &arrival->header));
	rr_driver_release(connection->fabric, arrival->receive);
	rr_driver_allow(connection, 1);
	rr_requester_pump(connection);
	return true;
}
