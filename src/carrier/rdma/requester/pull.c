/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/requester/pull.h"

#include "base/probe.h"
#include "carrier/rdma/core/fetch.h"
#include "carrier/rdma/requester/done.h"

/* The pull of a reply. Ownership: a pull belongs to its outbound, from the arrival of the message to its
 * RDMA_DONE, and holds the receive of that message. The memory that is read into belongs to the outbound. It
 * is taken after the whole Read list was judged, stays until all RDMA Reads completed, also if the
 * transaction is cancelled meanwhile, and goes to the transaction's owner with the reply. */
struct rr_pull {
	struct rr_outbound *outbound;
	struct rr_arrival arrival; /* its lists are behind this structure */
	uint64_t arrived;          /* ns: rr_loop_now() */
	struct rr_read_chunks chunks;
	struct rr_fetch fetch;
	struct rr_chain chain;
	struct rr_pool_waiter waiter;
	struct rr_timer patience; /* armed while the pull waits for memory */
	bool failed;              /* an RDMA Read failed */
};

/* ---- The end ---- */

/* Returns the first handle of the Read chunk, which the RDMA_DONE may invalidate, or 0 if the chunk is
 * empty. draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.4: "If the responder has provided an R_key that may
 * be invalidated, the requester MUST present only that R_key": any handle of this chunk is such a key. */
static uint32_t
pull_handle_of(const struct rr_chunk_lists *lists)
{
	for (uint32_t i = 0; i < lists->read_count; i++) {
		if (lists->reads[i].target.length > 0)
			return lists->reads[i].target.handle;
	}
	return 0;
}

/* Returns the handle that the RDMA_DONE is to invalidate, or 0 (no handle) if the RDMA_DONE is late. The
 * responder may then have invalidated the handle itself, and an adapter ends the connection if a peer
 * invalidates a handle that is already invalid. draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.3: "a
 * responder can choose to invalidate its Read chunks after waiting for a short period". */
static uint32_t
pull_handle_to_invalidate(const struct rr_pull *pull)
{
	struct rr_loop *loop = pull->outbound->connection->base.engine->loop;

	return rr_loop_now(loop) - pull->arrived < RR_PULL_LATE ? pull_handle_of(&pull->arrival.lists) : 0;
}

/* Frees the pull (the reading of a reply from a Read chunk): removes it from all lists and from its outbound,
 * stops its timer and returns its memory to the engine's cache. */
static void
pull_free(struct rr_pull *pull)
{
	struct rr_outbound *outbound = pull->outbound;

	rr_list_remove(&pull->waiter.link);
	rr_list_remove(&pull->chain.link);
	rr_loop_disarm(outbound->connection->base.engine->loop, &pull->patience);
	outbound->pull = NULL;
	rr_cache_put(&outbound->connection->room->pulls, pull);
}

/* Ends the pull (the reading of a reply from a Read chunk): sends the RDMA_DONE, frees the pull, and ends the
 * outbound's call with error, or with the reply if error is 0.
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.2: "After RDMA Read operations have completed (successfully
 * or in error), the requester MUST inform the responder that it may invalidate the Read chunk containing the
 * RPC Reply message." */
static void
pull_conclude(struct rr_pull *pull, int error)
{
	const struct rr_arrival arrival = pull->arrival;
	struct rr_outbound *outbound = pull->outbound;

	rr_done_send(outbound->connection, arrival.header.xid, pull_handle_to_invalidate(pull), false);
	pull_free(pull);
	rr_outbound_conclude(outbound, error, &arrival);
}

/* ---- Reading ---- */

/* Is the next() of the chain that reads a reply: fills in the next RDMA Read. Returns false if there are no
 * more. */
static bool
pull_next_read(struct rr_chain *chain, struct rr_work *work, struct rr_sge *sges, uint32_t sge_max)
{
	(void)sge_max;
	return rr_fetch_next(&rr_container(chain, struct rr_pull, chain)->fetch, work, sges);
}

/* Is called when an RDMA Read of the reply completed. After the last RDMA Read, sends the RDMA_DONE and ends
 * the call with the reply. If one of the RDMA Reads failed, only sends the RDMA_DONE; the call then ends with
 * the connection. */
static void
pull_read_completed(struct rr_chain *chain, enum rr_work_kind kind, int status)
{
	struct rr_pull *pull = rr_container(chain, struct rr_pull, chain);

	(void)kind;
	pull->failed |= status != 0;
	/* A flushed work request means that the connection has ended. */
	if (--pull->fetch.left > 0 || status == -RPCRDMA_ERR_CANCELLED)
		return;
	/* RFC 8166, 4.5.3: "RDMA operational errors are typically fatal to the connection": the call ends
	 * with the connection, and its owner may send the call again on the next connection. */
	if (pull->failed)
		rr_done_send(pull->outbound->connection, pull->arrival.header.xid,
			pull_handle_to_invalidate(pull), false);
	else
		pull_conclude(pull, rr_outbound_take_pulled(
					    pull->outbound, &pull->arrival, pull->chunks.chunks[0].length));
}

/* Takes pool memory for the reply and begins to read the reply. Without memory the pull waits until some
 * comes back, for RR_PULL_PATIENCE at most. If no memory can come back, the pull is given up at once. */
static void
pull_fetch(struct rr_pull *pull)
{
	struct rr_outbound *outbound = pull->outbound;
	struct rpcrdma_engine *engine = outbound->connection->base.engine;

	outbound->pulled_memory =
		rr_pool_get(engine->pool, outbound->connection->base.party, pull->chunks.memory);
	if (outbound->pulled_memory) {
		rr_loop_disarm(engine->loop, &pull->patience);
		pull->fetch = rr_fetch(&pull->arrival.lists, &pull->chunks, outbound->pulled_memory);
		rr_driver_submit(outbound->connection, &pull->chain);
		return;
	}
	if (rr_pool_is_idle(engine->pool))
		rr_loop_arm(engine->loop, &pull->patience, 0);
	else if (!rr_timer_armed(&pull->patience))
		rr_loop_arm(engine->loop, &pull->patience, RR_PULL_PATIENCE);
	rr_pool_wait(engine->pool, outbound->connection->base.party, &pull->waiter);
}

/* Is called when the pool may have memory for the reply: begins to read the reply, or waits again. */
static void
pull_woken(struct rr_pool_waiter *waiter)
{
	pull_fetch(rr_container(waiter, struct rr_pull, waiter));
}

/* Is called when the timer `patience` expires: the pull (the reading of a reply) got no memory in time, or
 * its call was cancelled while the pull waited. Gives the pull up. The call ends with -RPCRDMA_ERR_NOMEM. A
 * cancelled call has no transaction any more that could get an error. */
static void
pull_expired(struct rr_timer *timer)
{
	struct rr_pull *pull = rr_container(timer, struct rr_pull, patience);
	struct rr_connection *connection = pull->outbound->connection;

	rr_connection_enter(connection);
	pull_conclude(pull, pull->outbound->transaction ? -RPCRDMA_ERR_NOMEM : 0);
	rr_connection_leave(connection);
}

/* ---- The message ---- */

/* Makes the structure for pulling a reply of the outbound's call, with a copy of the message that arrived and
 * of its chunk lists. Returns NULL if there is no memory. */
static struct rr_pull *
pull_make(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	struct rr_room *room = outbound->connection->room;
	const struct rr_arrival_sizes sizes = rr_arrival_sizes(room);
	struct rr_pull *pull = rr_room_get(room, &room->pulls,
		sizeof(*pull) + rr_rdma_lists_size(sizes.reads, sizes.writes, sizes.segments));

	if (!pull)
		return NULL;
	pull->outbound = outbound;
	pull->arrival = *arrival;
	pull->arrived = rr_loop_now(room->base.engine->loop);
	pull->failed = false;
	rr_rdma_place_lists(&pull->arrival.lists, pull + 1, sizes.reads, sizes.writes, sizes.segments);
	rr_rdma_copy_lists(&pull->arrival.lists,
		&arrival->lists); /* the arrays of the copy are as large as those of the arrival */
	pull->waiter.wake = pull_woken;
	pull->chain.next = pull_next_read;
	pull->chain.completed = pull_read_completed;
	pull->chain.calls_nobody = false;
	rr_list_init(&pull->waiter.link);
	rr_list_init(&pull->chain.link);
	rr_timer_init(&pull->patience, pull_expired);
	outbound->pull = pull;
	return pull;
}

/* Checks the header of a reply that lies in a Read chunk: its version, its chunks and its length. Returns 0
 * or an error. The Read list must be one chunk of position zero: RFC 8166, 3.5.3: "Every RDMA read segment
 * in this chunk MUST contain zero in its Position field." */
static int
pull_judge(struct rr_pull *pull)
{
	const struct rr_outbound *outbound = pull->outbound;
	const struct rr_connection *connection = outbound->connection;
	const struct rr_chunk_lists *lists = &pull->arrival.lists;
	uint32_t max = connection->base.engine->config.message_max;
	uint64_t octets = 0;

	if (pull->arrival.result != RR_HEADER_OK)
		return -RPCRDMA_ERR_PEER;
	/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.3: "If a requester receives an RPC Reply via a
	 * responder-provided Read chunk, but does not support such chunks, it MUST inform the responder of
	 * pull completion and terminate the RPC transaction." */
	if (!rr_connection_read_chunks(connection))
		return -RPCRDMA_ERR_PEER;
	/* The reply lies in the Read chunk: a Reply chunk that the call offered must come back unused. */
	if (pull->arrival.header.vers != outbound->version || !rr_outbound_returns_chunks(outbound, lists) ||
		rr_chunk_length(&lists->reply) > 0)
		return -RPCRDMA_ERR_PEER;
	for (uint32_t i = 0; i < lists->read_count; i++)
		octets += lists->reads[i].target.length;
	if (octets > max)
		return -RPCRDMA_ERR_LIMIT;
	return rr_read_chunks(lists, true, 0, max, &pull->chunks) && pull->chunks.count == 1
		       ? 0
		       : -RPCRDMA_ERR_PEER;
}

void
rr_pull_begin(struct rr_outbound *outbound)
{
	struct rr_pull *pull = outbound->pull;
	int error;

	rr_outbound_set_state(outbound, RR_OUTBOUND_PULLING);
	rr_outbound_invalidate(outbound); /* first, so that the peer cannot change what is judged */
	error = pull_judge(pull);
	/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.3: "When an RPC transaction is aborted on a
	 * requester", the reply is not pulled, but "the requester MUST notify the responder of pull
	 * completion." */
	if (error || !outbound->transaction)
		pull_conclude(pull, error);
	else
		pull_fetch(pull);
}

bool
rr_pull_take(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	struct rr_connection *connection = outbound->connection;

	rr_driver_allow(connection, 1);
	connection->stall.answered++;
	if (!pull_make(outbound, arrival)) {
		rr_driver_release(connection->fabric, arrival->receive);
		rr_driver_abort(connection, -RPCRDMA_ERR_NOMEM, "%s: no memory to pull a reply",
			connection->base.peer);
		return false;
	}
	return true;
}

/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.3: "If a requester receives a reply bearing a Position Zero
 * Read chunk and does not recognize the XID, the requester MUST notify the responder of pull completion." The
 * Receive is posted again when the RDMA_DONE was sent. */
void
rr_pull_decline(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	rr_done_send(connection, arrival->header.xid, pull_handle_of(&arrival->lists), true);
	connection->base.counters.discarded++;
	RR_PROBE(discarded, connection->base.peer, arrival->length, false);
	rr_driver_release(connection->fabric, arrival->receive);
}

void
rr_pull_cancel(struct rr_outbound *outbound)
{
	struct rr_pull *pull = outbound->pull;

	/* The timer is armed only while the pull waits for memory. It expires at once, so that the pull ends
	 * outside the caller's function. */
	if (!pull || !rr_timer_armed(&pull->patience))
		return;
	rr_list_remove(&pull->waiter.link);
	rr_loop_arm(outbound->connection->base.engine->loop, &pull->patience, 0);
}

void
rr_pull_end(struct rr_outbound *outbound)
{
	if (!outbound->pull)
		return;
	rr_driver_release(outbound->connection->fabric, outbound->pull->arrival.receive);
	pull_free(outbound->pull);
}
