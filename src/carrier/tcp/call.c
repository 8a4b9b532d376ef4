/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester's side. A slot is the state of one call under way, from rr_carrier_call() to the end of its
 * transaction. The transaction points to its slot, and the slots that wait for a reply are found by XID. The
 * engine keeps slots for reuse by any of its carriers. */
#include "carrier/tcp/tcp_private.h"

/* A call under way. */
struct call_slot {
	struct rr_tcp_out out;
	struct rr_list link; /* in rr_tcp.slots */
	struct rr_map_link xid;
	struct rr_transaction *transaction;
};

static struct rr_tcp *
tcp_of(struct rr_carrier *carrier)
{
	return rr_container(carrier, struct rr_tcp, base);
}

/* Frees the slot (the state of a call under way) and parts it from its transaction. The octets of the call
 * that wait to be sent are removed from the queue; if a part has been sent already, the rest is sent from a
 * copy. */
static void
call_release(struct rr_tcp *tcp, struct call_slot *slot)
{
	slot->transaction->slot = NULL;
	rr_map_remove(&tcp->xids, &slot->xid);
	rr_list_remove(&slot->link);
	rr_tcp_unsend(tcp, &slot->out);
	rr_cache_put(&tcp->kind->slots, slot);
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
rr_tcp_keep_slots(struct rr_tcp_carriers *kind)
{
	rr_cache_init(&kind->slots, kind->base.engine->env, sizeof(struct call_slot), RR_TCP_KEPT);
}

void
rr_tcp_init_calls(struct rr_tcp *tcp)
{
	rr_list_init(&tcp->slots);
	rr_list_init(&tcp->refused);
}

/* See rr_carrier_call(). The call is queued, and the carrier's task sends it. A call that cannot be sent gets
 * no slot: the task calls its done() with an error. */
void
rr_tcp_call(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	struct rr_tcp *tcp = tcp_of(carrier);
	struct call_slot *slot = NULL;

	transaction->placed = transaction->pulled = 0;
	transaction->slot = NULL;
	rr_list_init(&transaction->link);
	if (tcp->state <= RR_TCP_OPEN) {
		slot = rr_cache_get(&tcp->kind->slots);
		if (!slot)
			rr_tcp_fail(tcp, -RPCRDMA_ERR_NOMEM, "%s: no memory for a call", carrier->peer);
	}
	if (!slot) {
		call_refuse(tcp, transaction, -RPCRDMA_ERR_DISCONNECTED);
		return;
	}
	slot->transaction = transaction;
	transaction->slot = slot;
	rr_map_add(&tcp->xids, &slot->xid, transaction->xid);
	rr_list_append(&tcp->slots, &slot->link);
	if (rr_tcp_send(tcp, &slot->out, &transaction->call, call_written)) {
		carrier->counters.calls++;
		tcp->unanswered++;
		return;
	}
	call_release(tcp, slot);
	call_refuse(tcp, transaction, -RPCRDMA_ERR_LIMIT);
}

void
rr_tcp_cancel(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	struct rr_tcp *tcp = tcp_of(carrier);
	struct call_slot *slot = transaction->slot;

	/* A transaction without a slot was never sent: it is only in the list tcp->refused. */
	rr_list_remove(&transaction->link);
	if (!slot)
		return;
	call_release(tcp, slot);
}

/* Returns the slot of the call with that XID, or NULL if no such call is under way. */
static struct call_slot *
call_find_slot(struct rr_tcp *tcp, uint32_t xid)
{
	struct rr_map_link *link = rr_map_find(&tcp->xids, xid);

	return link ? rr_container(link, struct call_slot, xid) : NULL;
}

/* Counts one unanswered call less, as a reply came. The reply may answer a call that was cancelled, or no
 * call at all. */
static void
call_count_reply(struct rr_tcp *tcp)
{
	if (tcp->unanswered > 0)
		tcp->unanswered--;
}

/* Frees the slot of a call that was answered, and returns its transaction, whose done() is still to be
 * called. */
static struct rr_transaction *
call_finish(struct rr_tcp *tcp, struct call_slot *slot)
{
	struct rr_transaction *transaction = slot->transaction;

	call_release(tcp, slot);
	return transaction;
}

void
rr_tcp_replied_too_long(struct rr_tcp *tcp, uint32_t xid)
{
	struct call_slot *slot = call_find_slot(tcp, xid);
	struct rr_transaction *transaction;

	call_count_reply(tcp);
	tcp->base.counters.discarded++;
	if (!slot)
		return;
	transaction = call_finish(tcp, slot);
	transaction->done(transaction, -RPCRDMA_ERR_LIMIT);
}

void
rr_tcp_replied(struct rr_tcp *tcp, uint32_t xid, struct rpcrdma_bytes stream, bool pooled)
{
	void *memory = pooled ? (void *)(uintptr_t)stream.data : NULL;
	struct rr_pool *pool = tcp->pool;
	struct call_slot *slot = call_find_slot(tcp, xid);
	struct rr_transaction *transaction;

	call_count_reply(tcp);
	/* No call has that XID, or it was cancelled. */
	if (!slot) {
		tcp->base.counters.discarded++;
		rr_pool_put(pool, memory);
		return;
	}
	transaction = call_finish(tcp, slot);
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
	while (!tcp->closed && !rr_list_empty(&tcp->slots)) {
		struct call_slot *slot = rr_container(tcp->slots.next, struct call_slot, link);
		struct rr_transaction *transaction = slot->transaction;

		call_release(tcp, slot);
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
	while (!rr_list_empty(&tcp->slots))
		call_release(tcp, rr_container(tcp->slots.next, struct call_slot, link));
	while (rr_list_pop(&tcp->refused))
		;
	rr_map_free(&tcp->xids, tcp->base.engine->env);
}
