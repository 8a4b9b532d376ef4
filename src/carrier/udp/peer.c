/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer is a carrier of its own, so that the layers above know who calls. A call belongs to the owner of the
 * carrier until it is answered or dropped, and owns its octets; it may live longer than its peer.
 */
#include <string.h>

#include "base/endian.h"
#include "carrier/udp/udp_private.h"

/* A call, until it was answered or dropped, and sent() was called. */
struct udp_call {
	struct rr_exchange base;
	struct rpcrdma_engine *engine;
	struct rr_list link; /* in peer->calls; in no list once the peer has gone */
	struct rr_task task;
	void (*sent)(void *arg);
	void *arg;
	struct rr_udp_asked asked;
	uint8_t octets[];
};

static struct rr_udp_peer *
peer_of(struct rr_carrier *carrier)
{
	return rr_container(carrier, struct rr_udp_peer, base);
}

/* ---- Calls ---- */

/* Takes the call from its peer. */
static void
peer_release(struct udp_call *call)
{
	struct rr_udp_peer *peer = call->base.carrier ? peer_of(call->base.carrier) : NULL;

	rr_list_remove(&call->link);
	call->base.carrier = NULL;
	if (!peer)
		return;
	if (peer->acceptor)
		peer->acceptor->call_count--;
	rr_loop_defer(call->engine->loop, &peer->task);
}

static void
peer_call_run(struct rr_task *task)
{
	struct udp_call *call = rr_container(task, struct udp_call, task);

	if (call->sent)
		call->sent(call->arg);
	rr_free(call->engine->env, call);
}

/* A reply that is too large for its call is not sent: the client asks over TCP, or gives up. */
static void
peer_reply(
	struct rr_exchange *exchange, const struct rpcrdma_message *reply, void (*sent)(void *arg), void *arg)
{
	struct udp_call *call = rr_container(exchange, struct udp_call, base);
	struct rr_udp_peer *peer = exchange->carrier ? peer_of(exchange->carrier) : NULL;

	if (peer && peer->acceptor && reply->item_count == 0 && reply->length <= RR_UDP_MAX &&
		reply->length / RR_UDP_FACTOR <= exchange->call.length) {
		rr_udp_send(peer->acceptor, peer, &call->asked, reply);
		peer->base.counters.replies++;
		peer->moved += reply->length;
	}
	call->sent = sent;
	call->arg = arg;
	peer_release(call);
	rr_loop_defer(call->engine->loop, &call->task);
}

static void
peer_drop(struct rr_exchange *exchange)
{
	struct udp_call *call = rr_container(exchange, struct udp_call, base);

	peer_release(call);
	rr_free(call->engine->env, call);
}

void
rr_udp_peer_called(
	struct rr_udp_peer *peer, const uint8_t *octets, uint32_t length, const struct rr_udp_asked *asked)
{
	struct rpcrdma_engine *engine = peer->base.engine;
	struct udp_call *call = rr_alloc(engine->env, sizeof(*call) + length);

	if (!call)
		return;
	memcpy(call->octets, octets, length);
	call->engine = engine;
	call->asked = *asked;
	rr_task_init(&call->task, peer_call_run);
	call->base = (struct rr_exchange){
		.ops = peer->base.ops,
		.carrier = &peer->base,
		.xid = rr_get_be32(octets),
		.call = { .stream = call->octets, .length = length },
		.stream_room = RR_UDP_MAX,
	};
	rr_list_init(&call->link);
	rr_list_append(&peer->calls, &call->link);
	peer->acceptor->call_count++;
	peer->base.counters.calls++;
	peer->moved += length;
	rr_party_called(peer->base.party);
	if (peer->base.events->call)
		peer->base.events->call(peer->base.ctx, &call->base);
	else
		peer_drop(&call->base);
}

/* ---- The carrier ---- */

/* This side calls nobody: the transaction fails in the task. */
static void
peer_call(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	struct rr_udp_peer *peer = peer_of(carrier);

	transaction->placed = transaction->pulled = 0;
	transaction->outbound = NULL;
	transaction->error = -RPCRDMA_ERR_NOTSUP;
	rr_list_init(&transaction->link);
	rr_list_append(&peer->refused, &transaction->link);
	rr_loop_defer(carrier->engine->loop, &peer->task);
}

static void
peer_cancel(struct rr_carrier *carrier, struct rr_transaction *transaction)
{
	(void)carrier;
	rr_list_remove(&transaction->link);
}

static void
peer_negotiated(const struct rr_carrier *carrier, struct rpcrdma_negotiated *negotiated)
{
	(void)carrier;
	*negotiated = (struct rpcrdma_negotiated){ .fabric = "udp" };
}

void
rr_udp_peer_end(struct rr_udp_peer *peer)
{
	peer->ends = true;
	rr_loop_defer(peer->base.engine->loop, &peer->task);
}

/* Ends the transactions that cannot be sent, and the carrier when its calls are answered. */
static void
peer_run(struct rr_task *task)
{
	struct rr_udp_peer *peer = rr_container(task, struct rr_udp_peer, task);
	struct rr_list *link;

	while (!peer->closed && (link = rr_list_pop(&peer->refused))) {
		struct rr_transaction *transaction = rr_container(link, struct rr_transaction, link);

		transaction->done(transaction, transaction->error);
	}
	if (!peer->closed && peer->ends && (rr_list_empty(&peer->calls) || !peer->acceptor) &&
		peer->base.events->closed)
		peer->base.events->closed(peer->base.ctx, -RPCRDMA_ERR_DISCONNECTED, peer->base.peer);
}

static void
peer_shutdown(struct rr_carrier *carrier)
{
	rr_udp_peer_end(peer_of(carrier));
}

static void
peer_free(struct rr_grave *grave, const struct rr_env *env)
{
	rr_free(env, rr_container(grave, struct rr_udp_peer, grave));
}

static void
peer_close(struct rr_carrier *carrier)
{
	struct rr_udp_peer *peer = peer_of(carrier);
	struct rr_list *link;

	peer->closed = true;
	while ((link = rr_list_pop(&peer->calls))) {
		rr_container(link, struct udp_call, link)->base.carrier = NULL;
		if (peer->acceptor)
			peer->acceptor->call_count--;
	}
	while (rr_list_pop(&peer->refused))
		continue;
	if (peer->acceptor)
		peer->acceptor->peer_count--;
	rr_list_remove(&peer->link);
	rr_task_cancel(&peer->task);
	rr_party_end(carrier->party, peer);
	rr_loop_bury(carrier->engine->loop, &peer->grave, peer_free);
}

static const struct rr_carrier_ops peer_ops = {
	.call = peer_call,
	.cancel = peer_cancel,
	.reply = peer_reply,
	.drop = peer_drop,
	.negotiated = peer_negotiated,
	.shutdown = peer_shutdown,
	.close = peer_close,
};

/* ---- As the umpire sees it ---- */

/* A peer takes no memory that it would have to give back. */
static bool
peer_is_awaited(void *ctx)
{
	(void)ctx;
	return false;
}

static uint64_t
peer_moved(void *ctx)
{
	return ((const struct rr_udp_peer *)ctx)->moved;
}

static void
peer_cut(void *ctx, const char *why)
{
	(void)why;
	rr_udp_peer_end(ctx);
}

static const struct rr_party_ops peer_party = {
	.is_awaited = peer_is_awaited, .moved = peer_moved, .cut = peer_cut
};

struct rr_udp_peer *
rr_udp_peer_new(struct rr_udp_acceptor *acceptor, const struct sockaddr_storage *address, socklen_t size)
{
	static const struct rr_carrier_events no_events;
	struct rpcrdma_engine *engine = acceptor->engine;
	struct rr_udp_peer *peer = rr_alloc(engine->env, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->base = (struct rr_carrier){ .ops = &peer_ops, .engine = engine, .events = &no_events };
	peer->base.counters.size = sizeof(peer->base.counters);
	rr_address_text((const struct sockaddr *)address, peer->base.peer, sizeof(peer->base.peer));
	peer->base.source = rr_address_source_of(peer->base.peer);
	peer->base.source.tcp = true;
	peer->base.party = rr_party_new(&engine->shares, peer->base.peer, &peer_party, peer);
	if (!peer->base.party) {
		rr_free(engine->env, peer);
		return NULL;
	}
	peer->base.payer = &peer->base.party->payer;
	peer->acceptor = acceptor;
	peer->address = *address;
	peer->size = size;
	rr_list_init(&peer->calls);
	rr_list_init(&peer->refused);
	rr_list_init(&peer->link);
	rr_task_init(&peer->task, peer_run);
	peer->task.payer = &peer->base.payer;
	rr_list_prepend(&acceptor->peers, &peer->link);
	acceptor->peer_count++;
	return peer;
}
