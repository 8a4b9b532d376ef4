/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder's side. An exchange belongs to the owner of the carrier until it is answered or dropped, then
 * to the carrier until the reply was written; after that it is kept for reuse by any carrier of the engine.
 * The carrier may end before the exchange: the exchange then lives on alone, and is freed when it is answered
 * or dropped. An exchange owns the memory of its call. */
#include <string.h>

#include "base/checked.h"
#include "base/peer_log.h"
#include "carrier/tcp/tcp_private.h"
#include "wire/rpc.h"

/* A call that arrived, until its reply was written or the call was dropped. */
struct exchange {
	struct rr_exchange base;
	struct rpcrdma_engine *engine;
	struct rr_tcp_out out;
	struct rr_list link; /* in rr_tcp.exchanges; in no list once the carrier ended */
	struct rr_task task; /* ends an exchange that was answered and whose carrier has ended */
	void (*sent)(void *arg);
	void *arg;
	bool replied; /* the reply was queued to be written */
	struct rr_pool *pool;
	void *pooled; /* pool memory with the call; NULL: the call lies in small */
	uint8_t small[RR_TCP_SMALL];
};

static struct exchange *
exchange_of(struct rr_exchange *exchange)
{
	return rr_container(exchange, struct exchange, base);
}

/* Frees an exchange (a call of the peer with its answer) whose carrier has closed, and then calls the sent()
 * of its reply, if there is a reply. */
static void
exchange_end(struct exchange *exchange)
{
	void (*sent)(void *arg) = exchange->sent;
	void *arg = exchange->arg;

	rr_pool_put(exchange->pool, exchange->pooled);
	rr_free(exchange->engine->env, exchange);
	if (sent)
		sent(arg);
}

/* Is the task of an exchange that was answered, and whose carrier has ended: frees it, and calls the sent()
 * of its reply. */
static void
exchange_run(struct rr_task *task)
{
	exchange_end(rr_container(task, struct exchange, task));
}

void
rr_tcp_keep_exchanges(struct rr_tcp_carriers *kind)
{
	rr_cache_init(&kind->exchanges, kind->base.engine->env, sizeof(struct exchange), RR_TCP_KEPT);
}

void
rr_tcp_init_exchanges(struct rr_tcp *tcp)
{
	rr_list_init(&tcp->exchanges);
}

/* Returns a new exchange (a call of the peer with its answer) from the engine's cache. Returns NULL if there
 * is no memory. */
static struct exchange *
exchange_new(struct rr_tcp *tcp)
{
	struct exchange *exchange = rr_cache_get(&tcp->kind->exchanges);

	if (!exchange)
		return NULL;
	exchange->engine = tcp->base.engine;
	exchange->pool = tcp->pool;
	rr_list_init(&exchange->link);
	rr_list_init(&exchange->out.link);
	rr_task_init(&exchange->task, exchange_run);
	return exchange;
}

/* Removes a finished exchange (a call of the peer that was answered) from its carrier, and gives the
 * exchange's memory back. The carrier's task then runs, as it may have waited until fewer exchanges are open,
 * or until the last of them ends. */
static void
exchange_retire(struct rr_tcp *tcp, struct exchange *exchange)
{
	void *pooled = exchange->pooled;

	exchange->pooled = NULL;
	rr_list_remove(&exchange->link);
	rr_cache_put(&tcp->kind->exchanges, exchange);
	tcp->exchange_count--;
	rr_loop_defer(tcp->base.engine->loop, &tcp->task);
	rr_pool_put(tcp->pool, pooled);
}

/* Is called when a reply was written to the socket: ends its exchange, and calls the reply's sent(). */
static void
exchange_reply_written(struct rr_tcp *tcp, struct rr_tcp_out *out)
{
	struct exchange *exchange = rr_container(out, struct exchange, out);
	void (*sent)(void *arg) = exchange->sent;
	void *arg = exchange->arg;

	exchange_retire(tcp, exchange);
	if (sent)
		sent(arg);
}

/* Makes the octets of a call stay for the whole exchange. If pooled is true, they lie in pool memory, which
 * the exchange takes over. Otherwise they are copied: into the exchange if they are few, else into new pool
 * memory; stream then refers to the copy. Returns false if there is no pool memory now. */
static bool
exchange_take_call(
	const struct rr_tcp *tcp, struct exchange *exchange, struct rpcrdma_bytes *stream, bool pooled)
{
	void *copy = exchange->small;

	exchange->pooled = NULL;
	if (pooled) {
		exchange->pooled = (void *)(uintptr_t)stream->data;
		return true;
	}
	if (stream->length > sizeof(exchange->small))
		copy = exchange->pooled = rr_pool_get(exchange->pool, tcp->base.party, stream->length);
	if (!copy)
		return false;
	memcpy(copy, stream->data, stream->length);
	stream->data = copy;
	return true;
}

bool
rr_tcp_called(struct rr_tcp *tcp, uint32_t xid, struct rpcrdma_bytes stream, bool pooled)
{
	struct exchange *exchange = exchange_new(tcp);
	uint32_t max = rr_tcp_record_max(tcp);

	if (!exchange) {
		if (pooled)
			rr_pool_put(tcp->pool, (void *)(uintptr_t)stream.data);
		rr_tcp_fail(tcp, -RPCRDMA_ERR_NOMEM, "%s: no memory for a call", tcp->base.peer);
		return true;
	}
	if (!exchange_take_call(tcp, exchange, &stream, pooled)) {
		rr_cache_put(&tcp->kind->exchanges, exchange);
		return false;
	}
	exchange->base = (struct rr_exchange){
		.ops = tcp->base.ops,
		.carrier = &tcp->base,
		.xid = xid,
		.call = { .stream = stream.data, .length = stream.length },
		.item_room = tcp->base.engine->config.message_max,
		.stream_room = max,
	};
	exchange->replied = false;
	exchange->sent = NULL;
	rr_list_append(&tcp->exchanges, &exchange->link);
	tcp->exchange_count++;
	tcp->base.counters.calls++;
	rr_party_called(tcp->base.party);
	if (tcp->base.events->call)
		tcp->base.events->call(tcp->base.ctx, &exchange->base);
	else
		rr_tcp_drop(&exchange->base);
	return true;
}

/* Answers the call of the exchange with this header alone. The reply is encoded into the exchange's memory
 * for a small call, as the call itself is not needed any more. */
static void
exchange_send_header(struct rr_tcp *tcp, struct exchange *exchange, const struct rr_reply_header *header)
{
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_message reply;

	rpcrdma_xdr_writer_init(&writer, exchange->small, sizeof(exchange->small), NULL, 0);
	rr_rpc_put_reply(&writer, header);
	reply = rpcrdma_xdr_written(&writer);
	exchange->replied = rr_tcp_send(tcp, &exchange->out, &reply, exchange_reply_written);
}

/* Answers the call of the exchange with SYSTEM_ERR. */
static void
exchange_send_system_error(struct rr_tcp *tcp, struct exchange *exchange)
{
	const struct rr_reply_header header = {
		.xid = exchange->base.xid, .reply_stat = RR_MSG_ACCEPTED, .accept_stat = RR_SYSTEM_ERR
	};

	exchange_send_header(tcp, exchange, &header);
}

void
rr_tcp_refuse(struct rr_tcp *tcp, uint32_t xid)
{
	const struct rr_reply_header header = {
		.xid = xid, .reply_stat = RR_MSG_ACCEPTED, .accept_stat = RR_SYSTEM_ERR
	};

	rr_tcp_answer(tcp, &header);
}

void
rr_tcp_answer(struct rr_tcp *tcp, const struct rr_reply_header *header)
{
	struct exchange *exchange = exchange_new(tcp);

	if (!exchange) {
		rr_tcp_fail(tcp, -RPCRDMA_ERR_NOMEM, "%s: no memory for an answer", tcp->base.peer);
		return;
	}
	exchange->base =
		(struct rr_exchange){ .ops = tcp->base.ops, .carrier = &tcp->base, .xid = header->xid };
	exchange->pooled = NULL;
	exchange->sent = NULL;
	rr_list_append(&tcp->exchanges, &exchange->link);
	tcp->exchange_count++;
	tcp->base.counters.calls++;
	rr_party_called(tcp->base.party);
	exchange_send_header(tcp, exchange, header);
}

/* See rr_exchange_reply(). */
void
rr_tcp_reply(
	struct rr_exchange *base, const struct rpcrdma_message *reply, void (*sent)(void *arg), void *arg)
{
	struct exchange *exchange = exchange_of(base);
	struct rr_tcp *tcp = base->carrier ? rr_container(base->carrier, struct rr_tcp, base) : NULL;

	exchange->sent = sent;
	exchange->arg = arg;
	if (tcp && rr_tcp_send(tcp, &exchange->out, reply, exchange_reply_written)) {
		exchange->replied = true;
		tcp->base.counters.replies++;
		return;
	}
	/* The exchange is answered in any case: else the peer would wait or try again without end. */
	if (tcp) {
		rr_log_peer(rr_loop_peer_log(exchange->engine->loop), tcp->base.peer,
			"%s: XID 0x%08x: the reply is larger than a record may be", tcp->base.peer,
			base->xid);
		exchange_send_system_error(tcp, exchange);
		return;
	}
	/* The carrier has ended: the task calls sent(), and frees the exchange. */
	rr_loop_defer(exchange->engine->loop, &exchange->task);
}

/* See rr_exchange_drop(). If the carrier has ended already, the exchange is freed, else kept for reuse. */
void
rr_tcp_drop(struct rr_exchange *base)
{
	struct exchange *exchange = exchange_of(base);

	if (base->carrier)
		exchange_retire(rr_container(base->carrier, struct rr_tcp, base), exchange);
	else
		exchange_end(exchange);
}

void
rr_tcp_orphan_exchanges(struct rr_tcp *tcp)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&tcp->exchanges))) {
		struct exchange *exchange = rr_container(link, struct exchange, link);

		exchange->base.carrier = NULL;
		rr_list_remove(&exchange->out.link);
		/* The task calls the sent() of the reply. */
		if (exchange->replied)
			rr_loop_defer(tcp->base.engine->loop, &exchange->task);
	}
	tcp->exchange_count = 0;
}
