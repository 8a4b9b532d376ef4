/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/requester/requester.h"

#include "base/checked.h"
#include "base/probe.h"
#include "carrier/rdma/requester/done.h"
#include "carrier/rdma/requester/pull.h"
#include "wire/rpc.h"
#include "wire/rpcrdma1.h"

/* The requester's calls, from rr_carrier_call() to their end.
 *
 * Ownership: a transaction belongs to the requester from the call to done() or cancel. All that time it is in
 * exactly one place: waiting (no credit or no memory yet), an outbound, or failed (done() is due). An
 * outbound is in one of free, outstanding and cancelled. The regions of an outbound are invalidated before
 * the transaction goes back to its owner. The stream of a call is copied behind its header into the
 * outbound's buffer; items are gathered from where they lie. If a transaction is cancelled while the provider
 * may still read such items, the connection ends. */

int
rr_requester_init(struct rr_connection *connection)
{
	struct rr_requester *requester = &connection->requester;

	rr_list_init(&requester->waiting);
	rr_list_init(&requester->failed);
	rr_list_init(&requester->outstanding);
	rr_list_init(&requester->cancelled);
	rr_list_init(&requester->free);
	rr_list_init(&requester->memory.link);
	rr_list_init(&requester->dones);
	rr_credits_init(&requester->credits,
		connection->is_active ? connection->base.engine->config.credits : RR_REVERSE_CREDITS);
	return connection->is_active ? rr_outbounds_make(connection, rr_outbound_completed) : 0;
}

void
rr_requester_destroy(struct rr_connection *connection)
{
	struct rr_requester *requester = &connection->requester;
	const struct rr_env *env = connection->base.engine->env;

	rr_map_free(&requester->by_xid, env);
	rr_free(env, requester->buffers);
	rr_free(env, requester->outbounds);
}

bool
rr_requester_idle(const struct rr_connection *connection)
{
	const struct rr_requester *requester = &connection->requester;

	return rr_list_empty(&requester->waiting) && rr_list_empty(&requester->failed) &&
	       rr_list_empty(&requester->outstanding);
}

/* ---- Endings ---- */

void
rr_requester_tell(struct rr_connection *connection)
{
	struct rr_list *link;

	while (!connection->closed && (link = rr_list_pop(&connection->requester.failed))) {
		struct rr_transaction *transaction = rr_container(link, struct rr_transaction, link);

		transaction->done(transaction, transaction->error);
	}
}

/* ---- Calling ---- */

/* The octets of the largest Sends that may carry a call and its reply, as far as the peers have agreed.
 * settled: the peer is known to use the connection's version. */
struct requester_inline_most {
	uint32_t call, reply;
	bool settled;
};

/* Returns the largest Sends for a call that is sent now, in the version in which it would be sent. */
static struct requester_inline_most
requester_inline_most(const struct rr_connection *connection)
{
	uint32_t version = connection->negotiation.version;
	/* The side that accepted calls in a version in which its peer has called. */
	bool settled = version == RR_RPCRDMA_VERSION_1 ||
		       connection->negotiation.state == RR_NEGOTIATION_SETTLED || !connection->is_active;
	uint32_t most = settled ? UINT32_MAX : RR_INLINE_DEFAULT;

	/* draft-cel-nfsv4-rpcrdma-version-two-00, 5: "this initial message can be no larger than the Version
	 * One default inline threshold of 1024 bytes." The reply to the initial message is not assumed to be
	 * larger, either. */
	return (struct requester_inline_most){
		.call = (uint32_t)rr_min(rr_connection_send_max(connection, version), most),
		.reply = (uint32_t)rr_min(rr_connection_receive_max(connection, version), most),
		.settled = settled,
	};
}

/* Plans how a call travels that may need chunks, by the limits of the connection. Returns 0 or an error. */
__attribute__((noinline)) static int
requester_plan_chunks(const struct rr_connection *connection, const struct rr_transaction *transaction,
	const struct requester_inline_most *most, struct rr_call_plan *plan)
{
	const struct rr_call_limits limits = {
		.call_threshold = most->call,
		.reply_threshold = most->reply,
		/* RFC 8267, 6.5.2: without Long Calls in the backchannel, "an NFS version 4 server MUST use
		 * only Short messages to convey backchannel operations." */
		.inline_only = !connection->is_active,
		/* A version 1 peer may not understand more than one chunk in a list. */
		.read_chunks = 1,
		.write_chunks = 1,
		.message_max = connection->base.engine->config.message_max,
		.provides = most->settled && connection->negotiation.version >= RR_RPCRDMA_VERSION_2 &&
			    rr_connection_read_chunks(connection),
		.reply_chunks = connection->base.engine->config.reply_chunks,
	};

	return rr_plan_call(&limits, transaction, plan);
}

/* Checks that the XID is that of the message and of no other call under way, and plans within the limits of
 * the connection how the call travels. Returns 0, or an error if the call cannot be sent. */
static int
requester_plan_call(const struct rr_connection *connection, const struct rr_transaction *transaction,
	struct rr_call_plan *plan)
{
	const struct requester_inline_most most = requester_inline_most(connection);
	uint32_t message_max = connection->base.engine->config.message_max;
	uint32_t xid, type;

	/* RFC 8166, 4.2.1: "This XID MUST be the same as the XID in the RPC message." RFC 8167, 5.1, requires
	 * the same of reverse calls, "and the RPC header's msg_type field MUST contain the value CALL." */
	if (!rr_rpc_peek(transaction->call.stream, transaction->call.length, &xid, &type) ||
		xid != transaction->xid || type != RR_CALL || rr_map_find(&connection->requester.by_xid, xid))
		return -RPCRDMA_ERR_INVAL;
	if (!rr_plan_call_is_plain(transaction, (uint32_t)rr_min(most.call, message_max),
		    (uint32_t)rr_min(most.reply, message_max)))
		return requester_plan_chunks(connection, transaction, &most, plan);
	*plan = (struct rr_call_plan){ .header = RR_RDMA_HEADER_MIN, .body = transaction->call.length };
	return 0;
}

/* Gives each sink (memory for a result) that is offered to the peer and has no memory a part of `memory`,
 * and sets its bit in *provided. Returns how many octets these sinks take. If memory is NULL, only counts
 * the octets. */
static uint64_t
requester_provide_sinks(struct rr_transaction *transaction, const struct rr_call_plan *plan, uint8_t *memory,
	uint32_t *provided)
{
	uint64_t octets = 0;

	for (uint32_t i = 0; i < plan->write_chunks; i++) {
		struct rpcrdma_sink *sink = &transaction->sinks[i];

		if (sink->data)
			continue;
		if (memory) {
			sink->data = memory + octets;
			*provided |= UINT32_C(1) << i;
		}
		octets += ((uint64_t)sink->length + 7) & ~UINT64_C(7);
	}
	return octets;
}

/* Takes pool memory for the results and stores it in *memory, or NULL if none is needed. The memory is for
 * the Reply chunk, or for those sinks (results in Write chunks) for which the caller gave no memory. Sets the
 * bits of these sinks in *provided. Returns 0 or -RPCRDMA_ERR_NOMEM. */
static int
requester_get_memory(const struct rr_connection *connection, struct rr_transaction *transaction,
	const struct rr_call_plan *plan, void **memory, uint32_t *provided)
{
	struct rr_pool *pool = connection->base.engine->pool;
	uint64_t octets = plan->reply_chunk + requester_provide_sinks(transaction, plan, NULL, NULL);

	*memory = octets > 0 ? rr_pool_get(pool, connection->base.party, octets) : NULL;
	if (octets > 0 && !*memory)
		return -RPCRDMA_ERR_NOMEM;
	requester_provide_sinks(transaction, plan, *memory, provided);
	return 0;
}

/* The outcomes of an attempt to send a call. After NO_CREDIT and NO_POOL_MEMORY the call can wait: a reply
 * brings a credit, and a buffer that comes back makes memory free. */
enum requester_start { STARTED, FAILED, NO_CREDIT, NO_POOL_MEMORY };

/* Sends the call if there are a credit and memory for it. Returns the outcome; if it is FAILED, *error has
 * the reason. The call fails for lack of memory if the pool is idle, as no buffer can come back then. */
static enum requester_start
requester_start(struct rr_connection *connection, struct rr_transaction *transaction, int *error)
{
	struct rr_requester *requester = &connection->requester;
	struct rr_pool *pool = connection->base.engine->pool;
	struct rr_call_plan plan;
	uint32_t provided = 0;
	void *memory = NULL;

	if (!rr_credits_take(&requester->credits))
		return NO_CREDIT;
	*error = requester_plan_call(connection, transaction, &plan);
	if (!*error)
		*error = requester_get_memory(connection, transaction, &plan, &memory, &provided);
	if (*error) {
		rr_credits_return(&requester->credits);
		return *error == -RPCRDMA_ERR_NOMEM && !rr_pool_is_idle(pool) ? NO_POOL_MEMORY : FAILED;
	}
	*error = rr_outbound_send(connection, transaction, &plan, memory, provided);
	if (*error)
		rr_pool_put(pool, memory);
	return *error ? FAILED : STARTED;
}

/* Is called when the pool may have memory for the next call that waits: sends calls that wait. */
static void
requester_woken(struct rr_pool_waiter *waiter)
{
	struct rr_requester *requester = rr_container(waiter, struct rr_requester, memory);

	rr_requester_pump(rr_container(requester, struct rr_connection, requester));
}

/* Is called when calls have to wait for a credit or for memory: begins to measure how long. Stores the
 * present time in *since and adds 1 to *count, unless calls wait already. */
static void
requester_begin_wait(const struct rr_connection *connection, uint64_t *since, uint64_t *count)
{
	if (*since > 0)
		return;
	*since = rr_now(connection->base.engine->env);
	++*count;
	RR_PROBE(wait_begins, connection->base.peer, since == &connection->requester.without_memory);
}

/* Is called when calls no longer wait. If *since is set, adds the time since then to *sum, and sets *since to
 * 0. */
static void
requester_end_wait(const struct rr_connection *connection, uint64_t *since, uint64_t *sum)
{
	if (*since == 0)
		return;
	RR_PROBE(wait_ends, connection->base.peer, since == &connection->requester.without_memory,
		rr_now(connection->base.engine->env) - *since);
	*sum += rr_now(connection->base.engine->env) - *since;
	*since = 0;
}

/* Ends the measuring of how long calls wait for a credit and for memory, as no call waits. The clock is read
 * only if calls did wait. */
static void
requester_end_waits(struct rr_connection *connection)
{
	struct rpcrdma_counters *counters = &connection->base.counters;

	requester_end_wait(connection, &connection->requester.without_credit, &counters->credit_wait_ns);
	requester_end_wait(connection, &connection->requester.without_memory, &counters->memory_wait_ns);
}

/* Sends the calls that wait, as far as there are credits and memory. Returns why the next call cannot be
 * sent, or STARTED if no call waits any more. */
static enum requester_start
requester_send_waiting(struct rr_connection *connection)
{
	struct rr_requester *requester = &connection->requester;

	while (connection->endpoint && !rr_list_empty(&requester->waiting)) {
		struct rr_transaction *transaction =
			rr_container(requester->waiting.next, struct rr_transaction, link);
		enum requester_start outcome;
		int error;

		outcome = requester_start(connection, transaction, &error);
		if (outcome == NO_CREDIT || outcome == NO_POOL_MEMORY)
			return outcome;
		rr_list_remove(&transaction->link);
		if (outcome == FAILED)
			rr_requester_fail(connection, transaction, error);
	}
	return STARTED;
}

void
rr_requester_pump(struct rr_connection *connection)
{
	struct rr_requester *requester = &connection->requester;
	struct rpcrdma_counters *counters = &connection->base.counters;

	/* may_call() is false while the version of the protocol is not known. */
	if (!connection->established || !connection->endpoint || !connection->parts->may_call(connection))
		return;
	switch (requester_send_waiting(connection)) {
	case NO_POOL_MEMORY:
		requester_end_wait(connection, &requester->without_credit, &counters->credit_wait_ns);
		requester_begin_wait(connection, &requester->without_memory, &counters->memory_waits);
		requester->memory.wake = requester_woken;
		rr_pool_wait(connection->base.engine->pool, connection->base.party, &requester->memory);
		break;
	case NO_CREDIT:
		requester_end_wait(connection, &requester->without_memory, &counters->memory_wait_ns);
		requester_begin_wait(connection, &requester->without_credit, &counters->credit_waits);
		rr_stall_watch(connection);
		break;
	default: requester_end_waits(connection); break;
	}
}

void
rr_requester_call(struct rr_connection *connection, struct rr_transaction *transaction)
{
	transaction->outbound = NULL;
	rr_list_init(&transaction->link);
	if (connection->state >= RR_CONNECTION_STOPPING) {
		rr_requester_fail(connection, transaction, -RPCRDMA_ERR_DISCONNECTED);
		return;
	}
	/* draft-cel-nfsv4-rpcrdma-version-two-03, 5.2.2: "RDMA2_BKREQSUP_NONE indicates that receipt of
	 * backward-direction requests and replies is not supported." */
	if (!connection->is_active &&
		connection->features.properties.peer[RR_PROPERTY_REVERSE] == RR_REVERSE_NONE) {
		rr_requester_fail(connection, transaction, -RPCRDMA_ERR_NOTSUP);
		return;
	}
	/* draft-cel-nfsv4-rpcrdma-version-two-00, 4.2: "Implementations of RPC-over-RDMA Version Two are
	 * REQUIRED to support backwards direction operation": the first call makes an accepted connection a
	 * requester. */
	if (!connection->requester.outbounds && rr_outbounds_make(connection, rr_outbound_completed)) {
		rr_requester_fail(connection, transaction, -RPCRDMA_ERR_NOMEM);
		return;
	}
	rr_list_append(&connection->requester.waiting, &transaction->link);
	/* The task sends the call: if it is cancelled in the same turn, nothing has been sent. */
	rr_loop_defer(connection->base.engine->loop, &connection->task);
}

/* Tells whether the provider may still read data items of the call from the caller's memory, as the Send
 * that gathers them has not completed. */
static bool
requester_is_being_read(const struct rr_outbound *outbound)
{
	return (outbound->state == RR_OUTBOUND_POSTED || outbound->state == RR_OUTBOUND_HELD ||
		       outbound->state == RR_OUTBOUND_DUE) &&
	       outbound->sge_count > 1;
}

void
rr_requester_cancel(struct rr_connection *connection, struct rr_transaction *transaction)
{
	struct rr_outbound *outbound = transaction->outbound;
	struct rpcrdma_engine *engine = connection->base.engine;
	void *memory;

	if (!outbound) {
		rr_list_remove(&transaction->link);
		return;
	}
	outbound->transaction = NULL;
	transaction->outbound = NULL;
	/* RFC 8166, 4.4.1: the "Requester endpoint must ensure that memory regions associated with each RPC
	 * transaction are protected from Responder access", those "that are associated with canceled RPCs"
	 * too. */
	rr_outbound_revoke(outbound);
	memory = outbound->reply_memory;
	outbound->reply_memory = NULL;
	rr_list_remove(&outbound->link);
	rr_list_append(&connection->requester.cancelled, &outbound->link);
	rr_pull_cancel(outbound);
	/* The caller may free its memory when this function returns: only the end of the connection keeps the
	 * provider from reading it. A call that was not sent needs no outbound any more. Any other outbound
	 * is kept for the answer. */
	if (requester_is_being_read(outbound))
		rr_driver_abort(connection, -RPCRDMA_ERR_CANCELLED,
			"%s: a call was cancelled that the peer did not take", connection->base.peer);
	else if (outbound->state == RR_OUTBOUND_QUEUED)
		rr_outbound_release(outbound);
	rr_pool_put(engine->pool, memory);
	/* Other calls may wait for the credit of the outbound, or the connection for its end. */
	rr_loop_defer(engine->loop, &connection->task);
}

/* Ends the calls in the outbounds of the list, and the reading of their replies. If forget is true, their
 * transactions end without done(). */
static void
requester_end_slots(struct rr_connection *connection, struct rr_list *outbounds, bool forget)
{
	for (struct rr_list *link = outbounds->next; link != outbounds; link = link->next)
		rr_pull_end(rr_container(link, struct rr_outbound, link));
	rr_outbounds_end(connection, outbounds, forget);
}

void
rr_requester_end(struct rr_connection *connection, bool forget)
{
	struct rr_requester *requester = &connection->requester;
	struct rr_list *link;

	rr_list_remove(&requester->memory.link);
	rr_done_end(connection);
	requester_end_waits(connection);
	requester_end_slots(connection, &requester->outstanding, forget);
	requester_end_slots(connection, &requester->cancelled, true);
	while ((link = rr_list_pop(&requester->waiting))) {
		if (!forget)
			rr_requester_fail(connection, rr_container(link, struct rr_transaction, link),
				-RPCRDMA_ERR_DISCONNECTED);
	}
	while (forget && rr_list_pop(&requester->failed))
		;
}
