/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport/negotiation.h"

#include <string.h>

#include "transport/connection.h"
#include "wire/rpcrdma1.h"
#include "wire/rpcrdma2.h"

static void
set_state(struct rr_connection *connection, enum rr_negotiation_state state)
{
	static const char *const names[RR_NEGOTIATION_STATES] = { "open", "asked", "assumed", "settled" };
	struct rr_negotiation *negotiation = &connection->negotiation;

	rr_log(connection->base.engine->env, RR_LOG_DEBUG, "%s: version %u is %s, was %s",
		connection->base.peer, negotiation->version, names[state], names[negotiation->state]);
	negotiation->state = state;
	if (state == RR_NEGOTIATION_ASKED && connection->versions.low < negotiation->version)
		rr_loop_arm(connection->base.engine->loop, &negotiation->timer, RR_NEGOTIATION_PATIENCE);
	else
		rr_loop_disarm(connection->base.engine->loop, &negotiation->timer);
}

/*
 * draft-cel-nfsv4-rpcrdma-version-two-00, 5.2: "a requester can avoid a possible version negotiation loop
 * when re-establishing another connection by assuming that particular responder does not support
 * RPC-over-RDMA Version Two. A requester can assume the same situation [...] if the initial negotiation
 * message is lost or dropped."
 */
static void
remember(struct rr_connection *connection)
{
	struct rr_engine *engine = connection->base.engine;

	rr_refusals_add(
		&engine->refusals, (const void *)&connection->negotiation.server, rr_now(engine->env));
}

static void
ask(struct rr_connection *connection)
{
	set_state(connection, RR_NEGOTIATION_ASKED);
}

static void
settle(struct rr_connection *connection)
{
	set_state(connection, RR_NEGOTIATION_SETTLED);
}

static void
agree(struct rr_connection *connection)
{
	settle(connection);
	if (connection->negotiation.version >= RR_RPCRDMA_VERSION_2)
		rr_optional_agreed(connection);
}

static void
ask_again(struct rr_connection *connection)
{
	set_state(connection, RR_NEGOTIATION_OPEN);
}

/* Not even what was assumed is spoken there, but version 2 is. */
static void
ask_after_all(struct rr_connection *connection)
{
	rr_refusals_remove(&connection->base.engine->refusals, (const void *)&connection->negotiation.server);
	set_state(connection, connection->is_active ? RR_NEGOTIATION_OPEN : RR_NEGOTIATION_SETTLED);
}

/* 5.2: "To continue operation, the requester selects a protocol version in the range of responder-supported
 * versions for subsequent messages on this connection." Where there is none, calls fail. A peer that refuses
 * one version after the other comes to that, too. */
static void
select_other(struct rr_connection *connection)
{
	struct rr_negotiation *negotiation = &connection->negotiation;
	uint32_t refused = negotiation->version;
	uint32_t version = rr_version_other(refused, connection->versions, negotiation->peer);

	if (version > 0)
		negotiation->version = version;
	if (version > refused) {
		ask_after_all(connection);
		return;
	}
	if (version > 0)
		remember(connection);
	settle(connection);
}

static void
give_up(struct rr_connection *connection)
{
	if (connection->versions.low < connection->negotiation.version) {
		remember(connection);
		connection->negotiation.failed = true;
	}
	settle(connection);
}

static void
late(struct rr_connection *connection)
{
	give_up(connection);
	rr_driver_abort(connection, -RPCRDMA_ERR_TIMEDOUT,
		"%s: did not answer a call in RPC-over-RDMA version 2", connection->base.peer);
}

static void
hold(struct rr_connection *connection)
{
	(void)connection;
}

typedef void action(struct rr_connection *connection);

void
rr_negotiation_event(struct rr_connection *connection, enum rr_negotiation_event event)
{
	/* clang-format off */
	static action *const table[RR_NEGOTIATION_STATES][RR_NEGOTIATION_EVENTS] = {
		/*                           SENT  ANSWERED REFUSED       FAILED     LATE  ENDED */
		[RR_NEGOTIATION_OPEN] =    { ask,  hold,    hold,         hold,      hold, hold },
		[RR_NEGOTIATION_ASKED] =   { hold, agree,   select_other, ask_again, late, give_up },
		[RR_NEGOTIATION_ASSUMED] = { hold, settle,  select_other, hold,      hold, hold },
		[RR_NEGOTIATION_SETTLED] = { hold, hold,    hold,         hold,      hold, hold },
	};
	/* clang-format on */

	table[connection->negotiation.state][event](connection);
}

static void
expired(struct rr_timer *timer)
{
	struct rr_negotiation *negotiation = rr_container(timer, struct rr_negotiation, timer);
	struct rr_connection *connection = rr_container(negotiation, struct rr_connection, negotiation);

	rr_negotiation_event(connection, RR_NEGOTIATION_LATE);
}

void
rr_negotiation_init(struct rr_connection *connection, const struct sockaddr *server, socklen_t size)
{
	struct rr_negotiation *negotiation = &connection->negotiation;
	struct rr_engine *engine = connection->base.engine;
	struct rr_version_range own = connection->versions;

	rr_timer_init(&negotiation->timer, expired);
	negotiation->version = own.low;
	negotiation->state = RR_NEGOTIATION_ASSUMED;
	if (!server)
		return;
	memcpy(&negotiation->server, server, size);
	/* A version that must be spoken is, whatever is remembered. */
	if (own.low < own.high && rr_refusals_has(&engine->refusals, server, rr_now(engine->env)))
		return;
	negotiation->version = own.high;
	if (own.high > RR_RPCRDMA_VERSION_1)
		negotiation->state = RR_NEGOTIATION_OPEN;
}

void
rr_negotiation_called(struct rr_connection *connection, uint32_t version)
{
	if (!connection->is_active)
		connection->negotiation.version = version;
}
