/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/core/connection.h"

#include "base/probe.h"

/* The states of a connection, and the events that change them. */

void
rr_connection_set_peer(struct rr_connection *connection, const void *private_data, size_t size)
{
	const struct rr_private_data *own = &connection->own, *peer = &connection->peer;

	/* RFC 8797, 4: one "MUST be prepared for the settings to change upon a reconnection": the settings
	 * belong to the connection, and each connection judges them anew. */
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
	/* The completed() of these chains may call the owner, so the count goes down only afterwards. */
	if (connection->inside == 1 && !rr_list_empty(&connection->copied))
		rr_driver_complete(connection);
	connection->inside--;
}

void
rr_connection_established(struct rr_connection *connection)
{
	const struct rr_carrier_events *events = connection->base.events;

	connection->established = true;
	connection->parts->begun(connection);
	/* The owner may have shut the connection down while it was being made. */
	if (connection->state == RR_CONNECTION_CONNECTING)
		rr_connection_set_state(connection, RR_CONNECTION_OPEN);
	if (events && events->connected)
		events->connected(connection->base.ctx);
	if (connection->closed)
		return;
	connection->parts->go_on(connection);
}

/* If this side declined a call of the peer, it does not wait for its own calls: the peer may have declined
 * them as well, and only the end of the connection shows that. */
void
rr_connection_check_idle(struct rr_connection *connection)
{
	if (connection->state != RR_CONNECTION_STOPPING || !rr_list_empty(&connection->exchanges) ||
		(!connection->declined && !connection->parts->is_idle(connection)))
		return;
	rr_connection_set_state(connection, RR_CONNECTION_LEAVING);
	rr_driver_disconnect(connection);
}

void
rr_connection_discard(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	connection->base.counters.discarded++;
	RR_PROBE(discarded, connection->base.peer, arrival->length, false);
	rr_log(connection->base.engine->env, RR_LOG_DEBUG, "%s: a message of %u octets is discarded",
		connection->base.peer, arrival->length);
	rr_driver_release(connection->fabric, arrival->receive);
	rr_driver_allow(connection, 1);
}
