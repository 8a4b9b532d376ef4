/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport/stall.h"

#include "transport/connection.h"

/* Its work requests keep what others need, and the peer takes none of them. */
static bool
is_in_the_way(const struct rr_connection *connection)
{
	const struct rr_engine *engine = connection->base.engine;

	return connection->posted > 0 && connection->stall.moved == connection->stall.moved_then &&
	       (rr_pool_is_wanted(engine->pool) || rr_pool_is_wanted(engine->arrivals) ||
		       rr_pool_is_wanted(engine->results) || rr_fabric_is_short(connection->fabric));
}

/*
 * RFC 8166, 3.3.1, counts a request until it is answered, also one that nobody waits for any more. A
 * responder that cannot answer "MUST close the connection" (4.5.4); this one did neither, and no call can be
 * sent to it.
 */
static bool
is_out_of_credits(const struct rr_connection *connection)
{
	const struct rr_requester *requester = &connection->requester;

	return requester->without_credit > 0 && rr_list_empty(&requester->outstanding) &&
	       !rr_list_empty(&requester->cancelled) &&
	       connection->stall.answered == connection->stall.answered_then;
}

static void
expired(struct rr_timer *timer)
{
	struct rr_stall *stall = rr_container(timer, struct rr_stall, timer);
	struct rr_connection *connection = rr_container(stall, struct rr_connection, stall);

	if (is_in_the_way(connection))
		rr_driver_abort(connection, -RPCRDMA_ERR_TIMEDOUT,
			"%s: takes nothing, while others wait for the memory that it holds",
			connection->base.peer);
	else if (is_out_of_credits(connection))
		rr_driver_abort(connection, -RPCRDMA_ERR_TIMEDOUT,
			"%s: does not answer, and all credits are used up by calls that were given up",
			connection->base.peer);
	else if (connection->posted > 0 || connection->requester.without_credit > 0)
		rr_stall_watch(connection);
}

void
rr_stall_init(struct rr_stall *stall)
{
	rr_timer_init(&stall->timer, expired);
}

void
rr_stall_watch(struct rr_connection *connection)
{
	struct rr_stall *stall = &connection->stall;

	if (!connection->endpoint || rr_timer_armed(&stall->timer))
		return;
	stall->moved_then = stall->moved;
	stall->answered_then = stall->answered;
	rr_loop_arm(connection->base.engine->loop, &stall->timer, RR_STALL_LIMIT);
}

void
rr_stall_end(struct rr_connection *connection)
{
	rr_loop_disarm(connection->base.engine->loop, &connection->stall.timer);
}
