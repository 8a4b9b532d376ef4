/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for the version that both sides use: negotiation.h. The table in rr_negotiation_event() says
 * what happens on each event in each state. */
#include "carrier/rdma/features/negotiation.h"

#include <string.h>

#include "carrier/rdma/core/connection.h"
#include "wire/rpcrdma1.h"
#include "wire/rpcrdma2.h"

/* Returns what the engine remembers about the protocol versions of the server. */
static enum rr_server_trait
negotiation_recall(const struct rr_connection *connection)
{
	struct rpcrdma_engine *engine = connection->base.engine;

	return rr_servers_recall(&connection->room->servers, (const void *)&connection->negotiation.server,
		rr_now(engine->env));
}

/* Remembers the trait of the server (whether it uses version 2), for later connections of the engine. */
static void
negotiation_note(struct rr_connection *connection, enum rr_server_trait trait)
{
	struct rpcrdma_engine *engine = connection->base.engine;

	rr_servers_note(&connection->room->servers, (const void *)&connection->negotiation.server, trait,
		rr_now(engine->env));
}

/* Tells whether version 1 may be used instead of version 2: this side connected and may use version 1, and
 * the server is not known to use version 2. */
static bool
negotiation_may_fall_back(const struct rr_connection *connection)
{
	return connection->is_active && connection->versions.low < connection->negotiation.version &&
	       negotiation_recall(connection) != RR_SERVER_SPEAKS_2;
}

/* Sets the state of the version negotiation. In the state "asked", in which the answer to the first message
 * is awaited, a timer runs if version 1 could be used instead. In all other states the timer is stopped. */
static void
negotiation_set_state(struct rr_connection *connection, enum rr_negotiation_state state)
{
	static const char *const names[RR_NEGOTIATION_STATES] = { "open", "asked", "assumed", "settled" };
	struct rr_negotiation *negotiation = &connection->negotiation;

	rr_log(connection->base.engine->env, RR_LOG_DEBUG, "%s: version %u is %s, was %s",
		connection->base.peer, negotiation->version, names[state], names[negotiation->state]);
	negotiation->state = state;
	if (state == RR_NEGOTIATION_ASKED && negotiation_may_fall_back(connection))
		rr_loop_arm(connection->base.engine->loop, &negotiation->timer, RR_NEGOTIATION_PATIENCE);
	else
		rr_loop_disarm(connection->base.engine->loop, &negotiation->timer);
}

/* Is called when the CONNPROP of this side was sent: its answer will show the version. */
static void
negotiation_ask(struct rr_connection *connection)
{
	negotiation_set_state(connection, RR_NEGOTIATION_ASKED);
}

static void
negotiation_settle(struct rr_connection *connection)
{
	negotiation_set_state(connection, RR_NEGOTIATION_SETTLED);
}

/* Settles the version, as the peer agreed to it. A server that agreed to version 2 is remembered, so that a
 * later loss of a connection does not count as a refusal of version 2. */
static void
negotiation_agree(struct rr_connection *connection)
{
	negotiation_settle(connection);
	if (connection->negotiation.version >= RR_RPCRDMA_VERSION_2)
		negotiation_note(connection, RR_SERVER_SPEAKS_2);
}

/* Goes on with the version although it is not certain, after an error that responders of version 1 and of
 * version 2 can send. The answer to the first call then shows which version the responder uses. */
static void
negotiation_assume(struct rr_connection *connection)
{
	negotiation_set_state(connection, RR_NEGOTIATION_ASSUMED);
}

/* Is called when the peer refused version 1, which was assumed, but says that it uses version 2. On the side
 * that connected, forgets that the server was taken for one of version 1, and asks for version 2 by a
 * CONNPROP. On the side that accepted, the version is settled at once. */
static void
negotiation_ask_after_all(struct rr_connection *connection)
{
	negotiation_note(connection, RR_SERVER_UNKNOWN);
	negotiation_set_state(
		connection, connection->is_active ? RR_NEGOTIATION_OPEN : RR_NEGOTIATION_SETTLED);
}

/* Is called after ERR_VERS: chooses another version that both sides use.
 * draft-cel-nfsv4-rpcrdma-version-two-00, 5.2: "To continue operation, the requester selects a protocol
 * version in the range of responder-supported versions for subsequent messages on this connection." All calls
 * fail if there is no such version, or if the peer refuses one version after the other. */
static void
negotiation_select_other(struct rr_connection *connection)
{
	struct rr_negotiation *negotiation = &connection->negotiation;
	uint32_t refused = negotiation->version;
	uint32_t version = rr_version_other(refused, connection->versions, negotiation->peer);

	/* A version of 0 means that there is no other one: calls then go on in the version that the peer
	 * refused, and fail. */
	if (version > 0)
		negotiation->version = version;
	if (version > refused) {
		negotiation_ask_after_all(connection);
		return;
	}
	/* draft-cel-nfsv4-rpcrdma-version-two-00, 5.2: "If the connection is lost immediately after the
	 * RDMA_ERROR reply is received, a requester can avoid a possible version negotiation loop when
	 * re-establishing another connection by assuming that particular responder does not support
	 * RPC-over-RDMA Version Two." */
	if (version > 0)
		negotiation_note(connection, RR_SERVER_REFUSES_2);
	negotiation_settle(connection);
}

/* Is called when the first message in version 2 got no answer: remembers this for a short time, so that the
 * next connection uses version 1. Does nothing if the server is known to use version 2.
 * draft-cel-nfsv4-rpcrdma-version-two-00, 5.2: "A requester can assume the same situation (no responder
 * support for RPC-over-RDMA Version Two) if the initial negotiation message is lost or dropped." */
static void
negotiation_lose(struct rr_connection *connection)
{
	if (!negotiation_may_fall_back(connection))
		return;
	negotiation_note(connection, RR_SERVER_SILENT);
	connection->negotiation.failed = true;
	negotiation_settle(connection);
}

/* Is called when the first message, a CONNPROP, was not answered in time: ends the connection. If the peer
 * has sent a CONNPROP of its own instead of an answer, the peer uses version 2, and the connection goes on.
 * draft-cel-nfsv4-rpcrdma-version-two-03, 5.3.1, does not require an answer. */
static void
negotiation_late(struct rr_connection *connection)
{
	if (connection->parts->is_unanswered(connection)) {
		negotiation_agree(connection);
		connection->parts->pump(connection);
		return;
	}
	negotiation_lose(connection);
	rr_driver_abort(connection, -RPCRDMA_ERR_TIMEDOUT,
		"%s: did not answer the first message, which is in RPC-over-RDMA version 2",
		connection->base.peer);
}

/* Does nothing, as the event does not matter in this state. */
static void
negotiation_hold(struct rr_connection *connection)
{
	(void)connection;
}

/* Reacts to an event; the table has the action for each state and event. */
typedef void action(struct rr_connection *connection);

void
rr_negotiation_event(struct rr_connection *connection, enum rr_negotiation_event event)
{
	/* clang-format off */
	static action *const table[RR_NEGOTIATION_STATES][RR_NEGOTIATION_EVENTS] = {
		/*                           SENT              ANSWERED           REFUSED                   FAILED              LATE              ENDED */
		[RR_NEGOTIATION_OPEN] =    { negotiation_ask,  negotiation_hold,  negotiation_hold,         negotiation_assume, negotiation_hold, negotiation_hold },
		[RR_NEGOTIATION_ASKED] =   { negotiation_hold, negotiation_agree, negotiation_select_other, negotiation_assume, negotiation_late, negotiation_lose },
		[RR_NEGOTIATION_ASSUMED] = { negotiation_hold, negotiation_agree, negotiation_select_other, negotiation_hold,   negotiation_hold, negotiation_lose },
		[RR_NEGOTIATION_SETTLED] = { negotiation_hold, negotiation_hold,  negotiation_hold,         negotiation_hold,   negotiation_hold, negotiation_hold },
	};
	/* clang-format on */

	table[connection->negotiation.state][event](connection);
}

/* Is called when the peer did not answer the CONNPROP within RR_NEGOTIATION_PATIENCE. */
static void
negotiation_expired(struct rr_timer *timer)
{
	struct rr_negotiation *negotiation = rr_container(timer, struct rr_negotiation, timer);
	struct rr_connection *connection = rr_container(negotiation, struct rr_connection, negotiation);

	rr_negotiation_event(connection, RR_NEGOTIATION_LATE);
}

void
rr_negotiation_init(struct rr_connection *connection, const struct sockaddr *server, socklen_t size)
{
	struct rr_negotiation *negotiation = &connection->negotiation;
	struct rr_version_range own = connection->versions;

	rr_timer_init(&negotiation->timer, negotiation_expired);
	/* The lower version is for a side that accepted, and for a server that does not use version 2. */
	negotiation->version = own.low;
	negotiation->state = RR_NEGOTIATION_ASSUMED;
	if (!server)
		return;
	memcpy(&negotiation->server, server, size);
	/* A side that may use version 2 only does so, also if a failure of version 2 is remembered. */
	if (own.low < own.high && negotiation_recall(connection) >= RR_SERVER_REFUSES_2)
		return;
	negotiation->version = own.high;
	if (own.high > RR_RPCRDMA_VERSION_1)
		negotiation->state = RR_NEGOTIATION_OPEN;
}

void
rr_negotiation_called(struct rr_connection *connection, uint32_t version)
{
	if (connection->is_active)
		return;
	connection->negotiation.version = version;
	/* Features may have waited for the version. */
	if (!rr_list_empty(&connection->features.requests))
		rr_loop_defer(connection->base.engine->loop, &connection->task);
}
