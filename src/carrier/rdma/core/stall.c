/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/core/stall.h"

#include "carrier/rdma/core/connection.h"

/* Returns the octets that moved on the connection. Some providers count octets as they move; for the others,
 * the octets of a work request count when it completes. */
uint64_t
rr_stall_moved(const struct rr_connection *connection)
{
	return connection->stall.completed + rr_driver_moved(connection);
}

/* Whether the calls of the connection keep Receives for which others wait, while its peer takes next to
 * nothing. */
static bool
stall_is_in_the_way(const struct rr_connection *connection)
{
	return connection->posted > 0 && connection->stall.short_then &&
	       rr_driver_is_short(connection->fabric) &&
	       rr_stall_moved(connection) - connection->stall.moved_then <
		       rr_share_least(0) * RR_STALL_TICK / RR_SECOND;
}

/* Whether no call can be sent, as all credits are used by cancelled calls that the peer did not answer for
 * RR_STALL_LIMIT. RFC 8166, 3.3.1, counts a request until it is answered, also when its caller does not wait
 * any more. A responder that cannot answer "MUST close the connection" (4.5.4); the peer has done neither. */
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

/* Ends a connection that is in the way of others or out of credits; watches it further if there still is
 * something to wait for. */
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

/* Counts the octets of a work request that was posted. */
void
rr_stall_posted(struct rr_connection *connection, const struct rr_work *work)
{
	for (uint32_t i = 0; i < work->sge_count; i++)
		connection->stall.outstanding += work->sges[i].length;
}

/* Counts a work request that completed. Its length is not known here: it counts as a work request of average
 * length. */
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
