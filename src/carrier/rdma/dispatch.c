/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/dispatch.h"

#include "carrier/rdma/responder/provided.h"

/* Decodes each message that arrives, once, and hands it to the part that its kind belongs to. */

/* Tells whether the owner of this side of the connection has a handler for calls of the peer. */
static bool
dispatch_has_services(const struct rr_connection *connection)
{
	return connection->base.events && connection->base.events->call;
}

/* Tells whether a message whose kind its header does not show is a reply (else it is a call). On the side
 * that accepted, a message in a Read chunk is always a call. Any other message is a reply if this side is a
 * client without a handler for calls, if a call of this side has its XID, or if it lies in a Read chunk and
 * both sides support replies in Read chunks. */
static bool
dispatch_is_reply(const struct rr_connection *connection, const struct rr_arrival *arrival)
{
	bool known = rr_requester_knows(connection, arrival->header.xid);

	/* RFC 8167, 5.3: the reverse direction has no chunks. So the accepting side has a Long Call here, and
	 * the connecting side a reply in a Read chunk that the responder provides. */
	if (rr_arrival_has_message_in_read_chunk(arrival) && !connection->is_active)
		return false;
	if (connection->is_active && !dispatch_has_services(connection))
		return true;
	return known || (rr_arrival_is_to_be_pulled(arrival) && rr_connection_read_chunks(connection));
}

void
rr_dispatch_received(struct rr_connection *connection, const struct rr_event *event)
{
	struct rpcrdma_engine *engine = connection->base.engine;
	struct rr_arrival arrival;

	rr_arrival_decode(&arrival, connection->versions, &connection->room->arrival_lists, event);
	rr_trace_add(&connection->trace, engine->loop, false, event->data, event->length,
		arrival.result == RR_HEADER_OK ? &arrival.lists : NULL);
	if (arrival.kind == RR_ARRIVAL_UNCLEAR)
		arrival.kind = dispatch_is_reply(connection, &arrival) ? RR_ARRIVAL_REPLY : RR_ARRIVAL_CALL;
	switch (arrival.kind) {
	case RR_ARRIVAL_CALL: rr_responder_called(connection, &arrival); break;
	case RR_ARRIVAL_REPLY: rr_requester_answered(connection, &arrival); break;
	case RR_ARRIVAL_ERROR:
		if (!rr_optional_refused(connection, &arrival))
			rr_requester_answered(connection, &arrival);
		break;
	case RR_ARRIVAL_DONE: rr_provided_done(connection, &arrival); break;
	case RR_ARRIVAL_OPTIONAL: rr_optional_received(connection, &arrival); break;
	case RR_ARRIVAL_UNCLEAR:
	case RR_ARRIVAL_JUNK: rr_connection_discard(connection, &arrival); break;
	}
}
