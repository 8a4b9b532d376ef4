/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester's side. An outbound is the state of one call under way, from rr_carrier_call() to the end of
 * its transaction. The transaction points to its outbound, and the outbounds that wait for a reply are found
 * by XID. The engine keeps outbounds for reuse by any of its carriers. */
#include "carrier/tcp/tcp_private.h"

/* A call under way. */
struct call_outbound {
	struct rr_tcp_out out;
	struct rr_list link; /* in rr_tcp.outbounds */
	struct rr_map_link xid;
	struct rr_transaction *transaction;
};

static struct rr_tcp *
tcp_of(struct rr_carrier *carrier)
{
	return rr_container(carrier, struct rr_tcp, base);
}

/* Frees the outbound (the state of a call under way) and parts it from its transaction. The octets of the
 * call that wait to be sent are removed from the queue; if a part has been sent already, the rest is sent
 * from a copy. */
static void
call_release(struct rr_tcp *tcp, struct call_outbound *outbound)
{
	outbound->transaction->outbound = NULL;
	rr_map_remove(&tcp->xids, &outbound->xid);
	rr_list_remove(&outbound->link);
	rr_tcp_unsend(tcp, &outbound->out);
	rr_cache_put(&tcp->kind->outbounds, outbound);
}

/* Is called when a call was written to the socket. Does nothing, as the answer to the call is still to
 * come. */
static void
call_written(struct rr_tcp *tcp, struct rr_tcp_out *out)
{
	(void)tcp;
	(void)out;
}

/* Ends a transaction that cannot be sent: has the carrier's task call the transaction's done() with that
 * error. */
static void
call_refuse(struct rr_tcp *tcp, struct rr_transaction *transaction, int error)
{
	transaction->error = error;
	rr_list_append(&tcp->refused, &transaction->link);
	rr_loop_defer(tcp->base.engine->loop, &tcp->task);
}

void
rr_tcp_keep_outbounds(struct rr_tcp_carriers *kind)
{
	rr_cache_init(&kind->outbounds, kind->base.engine->env, sizeof(struct call_outbound), RR_TCP_KEPT);
}

void
rr_tcp_init_calls(struct rr_tcp *tcp)
{
	rr_list_init(&tcp->outbounds);
	rr_list_init(&tcp->refused);
}

/* See rr_carrier_call(). The call is queued, and the carrier's task sends it. A call that cannot be sent gets
 * no outbound: the task calls its done() with an error. */
void
rr_tcp_call(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	struct rr_tcp *tcp = tcp_of(carrier);
	struct call_outbound *outbound = NULL;

	transaction->placed = transaction->pulled = 0;
	transaction->outbound = NULL;
	rr_list_init(&transaction->link);
	if (tcp->state <= RR_TCP_OPEN) {
		outbound = rr_cache_get(&tcp->kind->outbounds);
		if (!outbound)
			rr_tcp_fail(tcp, -RPCRDMA_ERR_NOMEM, "%s: no memory for a call", carrier->peer);
	}
	if (!outbound) {
		call_refuse(tcp, transaction, -RPCRDMA_ERR_DISCONNECTED);
		return;
	}
	outbound->transaction = transaction;
	transaction->outbound = outbound;
	rr_map_add(&tcp->xids, &outbound->xid, transaction->xid);
	rr_list_append(&tcp->outbounds, &outbound->link);
	if (rr_tcp_send(tcp, &outbound->out, &transaction->call, call_written)) {
		carrier->counters.calls++;
		tcp->unanswered++;
		return;
	}
	call_release(tcp, outbound);
	call_refuse(tcp, transaction, -RPCRDMA_ERR_LIMIT);
}

void
rr_tcp_cancel(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	struct rr_tcp *tcp = tcp_of(carrier);
	struct call_outbound *outbound = transaction->outbound;

	/* A transaction without an outbound was never sent: it is only in the list tcp->refused. */
	rr_list_remove(&transaction->link);
	if (!outbound)
		return;
	call_release(tcp, outbound);
}

/* Returns the outbound of the call with that XID, or NULL if no such call is under way. */
static struct call_outbound *
call_find(struct rr_tcp *tcp, uint32_t xid)
{
	struct rr_map_link *link = rr_map_find(&tcp->xids, xid);

	return link ? rr_container(link, struct call_outbound, xid) : NULL;
}

/* Counts one unanswered call less, as a reply came. The reply may answer a call that was cancelled, or no
 * call at all. */
static void
call_count_reply(struct rr_tcp *tcp)
{
	if (tcp->unanswered > 0)
		tcp->unanswered--;
}

/* Frees the outbound of a call that was answered, and returns its transaction, whose done() is still to be
 * called. */
static struct rr_transaction *
call_finish(struct rr_tcp *tcp, struct call_outbound *outbound)
{
	struct rr_transaction *transaction = outbound->transaction;

	call_release(tcp, outbound);
	return transaction;
}

void
rr_tcp_replied_too_long(struct rr_tcp *tcp, uint32_t xid)
{
	struct call_outbound *outbound = call_find(tcp, xid);
	struct rr_transaction *transaction;

	call_count_reply(tcp);
	tcp->base.counters.discarded++;
	if (!outbound)
		return;
	transaction = call_finish(tcp, outbound);
	transaction->done(transaction, -RPCRDMA_ERR_LIMIT);
}

void
rr_tcp_replied(struct rr_tcp *tcp, uint32_t xid, struct rpcrdma_bytes stream, bool pooled)
{
	void *memory = pooled ? (void *)(uintptr_t)stream.data : NULL;
	struct rr_pool *pool = tcp->pool;
	struct call_outbound *outbound = call_find(tcp, xid);
	struct rr_transaction *transaction;

	call_count_reply(tcp);
	/* No call has that XID, or it was cancelled. */
	if (!outbound) {
		tcp->base.counters.discarded++;
		rr_pool_put(pool, memory);
		return;
	}
	transaction = call_finish(tcp, outbound);
	tcp->base.counters.replies++;
	transaction->reply = (struct rpcrdma_message){ .stream = stream.data, .length = stream.length };
	/* Only replies that lie in the engine's pool for replies may be kept by the caller. A reply on an
	 * accepted connection lies in the pool for arriving calls, whose memory must stay free for calls. */
	transaction->reply_memory = pool == tcp->base.engine->pool && memory ? &memory : NULL;
	transaction->pulled_memory = NULL;
	transaction->done(transaction, 0);
	rr_pool_put(pool, memory);
}

void
rr_tcp_end_calls(struct rr_tcp *tcp)
{
	while (!tcp->closed && !rr_list_empty(&tcp->outbounds)) {
		struct call_outbound *outbound =
			rr_container(tcp->outbounds.next, struct call_outbound, link);
		struct rr_transaction *transaction = outbound->transaction;

		call_release(tcp, outbound);
		transaction->done(transaction, -RPCRDMA_ERR_DISCONNECTED);
	}
}

void
rr_tcp_end_refused(struct rr_tcp *tcp)
{
	struct rr_list *link;

	while (!tcp->closed && (link = rr_list_pop(&tcp->refused))) {
		struct rr_transaction *transaction = rr_container(link, struct rr_transaction, link);

		transaction->done(transaction, transaction->error);
	}
}

void
rr_tcp_free_calls(struct rr_tcp *tcp)
{
	while (!rr_list_empty(&tcp->outbounds))
		call_release(tcp, rr_container(tcp->outbounds.next, struct call_outbound, link));
	while (rr_list_pop(&tcp->refused))
		;
	rr_map_free(&tcp->xids, tcp->base.engine->env);
}
