/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches a connection for a peer that takes or brings next to nothing while others wait: stall.h has the
 * rules. */
#include "carrier/rdma/core/stall.h"

#include "carrier/rdma/core/connection.h"

/* rr_driver_moved() counts the octets as they move, or is 0 if the provider does not count; `completed` grows
 * when a work request completes. So octets count twice if the provider counts. This does no harm: the
 * question is only whether almost nothing moved. */
uint64_t
rr_stall_moved(const struct rr_connection *connection)
{
	return connection->stall.completed + rr_driver_moved(connection);
}

/* Tells whether the connection is in the way of others: they have been waiting for Receives for a whole tick,
 * and this connection has work requests under way, so that its calls keep their Receives, but its peer has
 * moved almost nothing in this tick. rr_share_least(0) is the least that any peer must move in a second. */
static bool
stall_is_in_the_way(const struct rr_connection *connection)
{
	return connection->posted > 0 && connection->stall.short_then &&
	       rr_driver_is_short(connection->fabric) &&
	       rr_stall_moved(connection) - connection->stall.moved_then <
		       rr_share_least(0) * RR_STALL_TICK / RR_SECOND;
}

/* Tells whether no call could be sent for RR_STALL_LIMIT, as cancelled calls that the peer has not answered
 * hold all credits. If this is not so now, or a message answered a call in the last tick, begins to measure
 * anew. RFC 8166, 3.3.1: a request uses its credit until it is answered, even if its caller no longer waits.
 * RFC 8166, 4.5.4: a responder that cannot answer "MUST close the connection"; this peer has not closed
 * it. */
static bool
stall_is_out_of_credits(struct rr_connection *connection)
{
	const struct rr_requester *requester = &connection->requester;
	struct rr_stall *stall = &connection->stall;

	if (requester->without_credit == 0 || !rr_list_empty(&requester->outstanding) ||
		rr_list_empty(&requester->cancelled) || stall->answered != stall->answered_then)
		stall->unanswered = 0;
	return stall->unanswered > 0 &&
	       rr_now(connection->base.engine->env) - stall->unanswered >= RR_STALL_LIMIT;
}

/* Is called at each tick of the timer: ends a connection that keeps Receives from others, or has no credits
 * left. Otherwise arms the timer again if there is something to wait for. */
static void
stall_expired(struct rr_timer *timer)
{
	struct rr_stall *stall = rr_container(timer, struct rr_stall, timer);
	struct rr_connection *connection = rr_container(stall, struct rr_connection, stall);

	if (stall_is_in_the_way(connection))
		rr_driver_abort(connection, -RPCRDMA_ERR_TIMEDOUT,
			"%s: takes next to nothing, while others wait for the Receives that it holds",
			connection->base.peer);
	else if (stall_is_out_of_credits(connection))
		rr_driver_abort(connection, -RPCRDMA_ERR_TIMEDOUT,
			"%s: does not answer, and all credits are used up by calls that were given up",
			connection->base.peer);
	else if (connection->posted > 0 || connection->requester.without_credit > 0)
		rr_stall_watch(connection);
}

void
rr_stall_init(struct rr_stall *stall)
{
	rr_timer_init(&stall->timer, stall_expired);
}

void
rr_stall_watch(struct rr_connection *connection)
{
	struct rr_stall *stall = &connection->stall;

	if (!connection->endpoint || rr_timer_armed(&stall->timer))
		return;
	if (stall->unanswered == 0)
		stall->unanswered = rr_now(connection->base.engine->env);
	stall->answered_then = stall->answered;
	stall->moved_then = rr_stall_moved(connection);
	stall->short_then = rr_driver_is_short(connection->fabric);
	rr_loop_arm(connection->base.engine->loop, &stall->timer, RR_STALL_TICK);
}

void
rr_stall_posted(struct rr_connection *connection, const struct rr_work *work)
{
	for (uint32_t i = 0; i < work->sge_count; i++)
		connection->stall.outstanding += work->sges[i].length;
	if (!rr_timer_armed(&connection->stall.timer))
		rr_stall_watch(connection);
}

/* Is called when a work request completed, after connection->posted was counted down: moves its octets from
 * the outstanding to the completed octets. As its length is not known here, it counts as a work request of
 * average length. */
void
rr_stall_completed(struct rr_connection *connection)
{
	struct rr_stall *stall = &connection->stall;
	uint64_t octets = stall->outstanding;

	if (connection->posted > 0)
		octets /= connection->posted + 1;
	stall->outstanding -= octets;
	stall->completed += octets;
}

void
rr_stall_end(struct rr_connection *connection)
{
	rr_loop_disarm(connection->base.engine->loop, &connection->stall.timer);
}
