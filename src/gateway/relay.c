/* SPDX-License-Identifier: BSD-3-Clause */
/* A call on its way: an exchange on one connection becomes a transaction on another connection, and the
 * reply goes back. Data is not copied, only referred to.
 *
 * Ownership: a relay is in use from the arrival of a call until its answer was sent; then it is kept for
 * reuse. Until the relay answers (or drops) the exchange, it is in a list of its upstream, and ends with
 * the upstream. After that only the carrier that sends the answer refers to it: relay_sent() may come after
 * pair and gateway were freed, and the last relay then frees the rest of the gateway. The call's memory
 * belongs to the exchange; the reply's memory is the pool buffer that was taken over, or the relay's own
 * buffer.
 *
 * The carriers bound the memory: a connection gives no more exchanges than its credits, a call lies in the
 * pool for arrivals, and a reply in the pool for replies. A client that does not take its replies leaves
 * them in that pool; when the pool is exhausted, servers are not read from until buffers come back. A reply
 * in that pool never waits for more of its memory, nor for the pool for arrivals, so the pool always
 * empties. */
#include <string.h>

#include "base/peer_log.h"
#include "gateway/gateway_private.h"
#include "wire/rpc.h"

/* Frees the relay (the structure of a call that the gateway passes on) and the memory of its reply. If the
 * gateway was freed before and this was its last relay, also deletes the gateway. */
static void
relay_release(struct rr_relay *relay)
{
	struct rr_gateway *gateway = relay->gateway;
	struct rr_pool *pool = gateway->engine->pool;
	/* The relay and the gateway may not exist any more when the memory is given back. */
	void *memory = relay->memory, *pulled = relay->pulled;

	relay->memory = relay->pulled = NULL;
	gateway->relay_count--;
	rr_cache_put(&gateway->relays, relay);
	if (gateway->freed && gateway->relay_count == 0)
		rr_gateway_delete(gateway);
	rr_pool_put(pool, memory);
	rr_pool_put(pool, pulled);
}

/* Removes the relay from the list of its connection to a server and, unless its call is a callback, from the
 * pair's map of XIDs. */
static void
relay_leave(struct rr_relay *relay)
{
	if (!relay->callback)
		rr_map_remove(&relay->upstream->pair->xids, &relay->by_xid);
	rr_list_remove(&relay->link);
	/* From now on pair and gateway may be freed before the relay. */
	relay->upstream = NULL;
}

/* ---- Answers ---- */

/* Called by the carrier when the answer was sent, or cannot be sent any more. */
static void
relay_sent(void *arg)
{
	relay_release(arg);
}

/* Sends relay->reply as the answer to the call. From now on only the carrier refers to the relay;
 * relay_sent() releases the relay. */
static void
relay_answer(struct rr_relay *relay)
{
	relay_leave(relay);
	rr_exchange_reply(relay->exchange, &relay->reply, relay_sent, relay);
}

/* Answers the call with a reply that the gateway makes itself: the call is accepted, with the status stat and
 * without results. Counts the call as failed. */
static void
relay_accept_with(struct rr_relay *relay, enum rr_accept_stat stat)
{
	const struct rr_reply_header header = {
		.xid = relay->exchange->xid, .reply_stat = RR_MSG_ACCEPTED, .accept_stat = stat
	};
	struct rpcrdma_xdr_writer writer;

	relay->gateway->past.failed++;
	rpcrdma_xdr_writer_init(&writer, relay->buffer, relay->gateway->buffer_size, NULL, 0);
	rr_rpc_put_reply(&writer, &header);
	relay->reply = rpcrdma_xdr_written(&writer);
	relay_answer(relay);
}

void
rr_relay_fail(struct rr_relay *relay)
{
	relay_accept_with(relay, RR_SYSTEM_ERR);
}

/* Returns the transport over which the answer goes: that of the client's connection for a call of the
 * client, that of the server's connection for a callback. */
static enum rr_transport
relay_answers_by(const struct rr_relay *relay)
{
	return relay->callback ? relay->upstream->target->transport : relay->upstream->pair->transport;
}

/* Returns the transport over which the call goes: that of the server's connection for a call of the client,
 * that of the client's connection for a callback. */
static enum rr_transport
relay_calls_by(const struct rr_relay *relay)
{
	return relay->callback ? relay->upstream->pair->transport : relay->upstream->target->transport;
}

/* Makes sure that the reply's stream lasts until the answer was sent: takes over the memory in which the
 * stream lies, or copies the stream into the relay's buffer. Stores in *used how many octets of the buffer
 * are in use then. Returns false if the stream is too large for the buffer. */
static bool
relay_keep_stream(struct rr_relay *relay, struct rpcrdma_message *reply, uint32_t *used)
{
	void **memory = relay->transaction.reply_memory, **pulled = relay->transaction.pulled_memory;
	const uint8_t *stream = reply->stream;

	*used = 0;
	/* *memory has the items of the reply, and also its stream, unless the stream lies in a Receive. */
	if (memory && (stream == *memory || reply->item_count > 0)) {
		relay->memory = *memory;
		*memory = NULL;
	}
	if (pulled) {
		relay->pulled = *pulled;
		*pulled = NULL;
	}
	if (stream == relay->memory || stream == relay->pulled)
		return true;
	if (reply->length > relay->gateway->buffer_size)
		return false;
	/* The room behind the copy, which rr_items_take() fills, begins at a multiple of eight octets. */
	*used = (reply->length + 7) & ~UINT32_C(7);
	reply->stream = memcpy(relay->buffer, stream, reply->length);
	return true;
}

/* Makes relay->reply, the answer, from the reply that came. Lowers the sizes in the reply that are above what
 * the gateway can carry. If the answer goes over RDMA, takes data items out of the stream for the Write
 * chunks of the call. If it goes over TCP, finds where in the stream those items belong that came apart from
 * it. Returns false if the reply cannot be passed on: the stream is too large for the buffer, or the place of
 * an item that came apart is wrong or unknown. */
static bool
relay_take_reply(struct rr_relay *relay)
{
	struct rpcrdma_message reply = relay->transaction.reply;
	bool tcp = !rr_transport_has_chunks(relay_answers_by(relay));
	enum rr_walk_answer walked;
	uint32_t used, size = relay->gateway->buffer_size;

	if (!relay_keep_stream(relay, &reply, &used))
		return false;
	rr_relay_limit_reply(relay, &reply);
	relay->reply = reply;
	/* The Write chunks that were offered: those that came back empty, and those that have an item. */
	relay->known.chunk_count = relay->transaction.unused + reply.item_count;
	if (tcp && relay->known.chunk_count == 0)
		return true;
	walked = rr_items_take(&relay->known, tcp ? RR_ITEMS_REPLY_TCP : RR_ITEMS_REPLY_RDMA, &reply,
		&(struct rr_items_room){ relay->buffer + used, used < size ? size - used : 0, relay->items },
		&relay->reply);
	/* A reply that cannot be walked is passed on as it came, if all its octets are in the stream. */
	return walked == RR_WALKED || (walked == RR_WALK_UNKNOWN && reply.item_count == 0);
}

/* Is called when the call that the relay sent has ended: passes the reply on, or answers with an error. If
 * the connection was lost, drops the relay without an answer. */
static void
relay_done(struct rr_transaction *transaction, int error)
{
	struct rr_relay *relay = rr_container(transaction, struct rr_relay, transaction);
	const char *peer = relay->exchange->carrier ? relay->exchange->carrier->peer : "a closed connection";

	relay->called = false;
	/* The connection is lost, and the other connection of the pair will end soon. */
	if (error == -RPCRDMA_ERR_DISCONNECTED) {
		relay->upstream->lost |= !relay->callback;
		rr_relay_drop(relay);
		return;
	}
	if (error == 0 && relay_take_reply(relay)) {
		relay_answer(relay);
		return;
	}
	rr_log_peer(rr_loop_peer_log(relay->gateway->engine->loop), peer,
		"%s: the answer to XID 0x%08x cannot be passed on: %s", peer, transaction->xid,
		rpcrdma_strerror(error ? error : -RPCRDMA_ERR_PEER));
	rr_relay_fail(relay);
}

/* ---- Calls ---- */

/* Returns the key of a client's call in the pair's map: its XID, and the number of the connection to its
 * server. The XID alone would not do, as calls to several servers may have the same XID. */
static uint64_t
relay_key(const struct rr_upstream *upstream, uint32_t xid)
{
	return (uint64_t)(upstream - upstream->pair->upstreams) << 32 | xid;
}

struct rr_relay *
rr_relay_new(struct rr_upstream *upstream, struct rr_exchange *exchange, bool callback)
{
	struct rr_gateway *gateway = upstream->pair->gateway;
	struct rr_relay *relay = rr_cache_get(&gateway->relays);

	if (!relay) {
		rr_exchange_lose(exchange);
		return NULL;
	}
	gateway->relay_count++;
	relay->gateway = gateway;
	relay->upstream = upstream;
	relay->callback = callback;
	relay->called = false;
	relay->exchange = exchange;
	relay->memory = relay->pulled = NULL;
	rr_list_init(&relay->link);
	if (!callback)
		rr_map_add(&upstream->pair->xids, &relay->by_xid, relay_key(upstream, exchange->xid));
	return relay;
}

struct rr_relay *
rr_relay_find(struct rr_upstream *upstream, uint32_t xid)
{
	struct rr_map_link *link = rr_map_find(&upstream->pair->xids, relay_key(upstream, xid));

	return link ? rr_container(link, struct rr_relay, by_xid) : NULL;
}

/* Sets transaction->call, the call that is sent, from the call that came. If the call goes over TCP and came
 * without reduced data items, it is sent as it is; otherwise, data items that may travel apart are taken out
 * of the stream. Returns false if a reduced item of the call is not eligible for that: the call must then be
 * answered with GARBAGE_ARGS. RFC 8267, 6.4.2: if "a problem is detected during XDR decoding of the RPC Call
 * message while the RPC layer reassembles the call's XDR stream", "the server responds with an RPC Reply with
 * its "reply_stat" field set to MSG_ACCEPTED and its "accept_stat" field set to GARBAGE_ARGS." RFC 8166, 6.1:
 * "The Responder MUST NOT process this RPC Call message". */
static bool
relay_take_call(struct rr_relay *relay)
{
	struct rr_transaction *transaction = &relay->transaction;
	const struct rpcrdma_message *call = &relay->exchange->call;

	transaction->call = *call;
	rr_known_read(&relay->known, &relay->gateway->config, call);
	relay->known.write_chunks = relay->exchange->write_chunks;
	rr_relay_limit_call(relay);
	if (!rr_transport_has_chunks(relay_calls_by(relay)) && call->item_count == 0)
		return true;
	/* If the call cannot be walked (RR_WALK_UNKNOWN), transaction->call is the call as it came. */
	return rr_items_take(&relay->known, RR_ITEMS_CALL, call,
		       &(struct rr_items_room){ relay->buffer, relay->gateway->buffer_size, relay->items },
		       &transaction->call) != RR_WALK_MISPLACED;
}

void
rr_relay_send(struct rr_relay *relay)
{
	struct rr_upstream *upstream = relay->upstream;
	struct rr_transaction *transaction = &relay->transaction;

	rr_list_remove(&relay->link);
	rr_list_append(&upstream->called, &relay->link);
	*transaction = (struct rr_transaction){ .xid = relay->exchange->xid, .done = relay_done };
	if (!relay_take_call(relay)) {
		relay_accept_with(relay, RR_GARBAGE_ARGS);
		return;
	}
	if (rr_transport_has_chunks(relay_calls_by(relay)))
		rr_items_expect(&relay->known, relay->exchange, relay->gateway->engine->config.message_max,
			transaction);
	relay->called = true;
	rr_carrier_call(relay->callback ? upstream->pair->client : upstream->carrier, transaction);
}

void
rr_relay_drop(struct rr_relay *relay)
{
	struct rr_upstream *upstream = relay->upstream;
	struct rr_carrier *carrier = relay->callback ? upstream->pair->client : upstream->carrier;

	if (relay->called && carrier)
		rr_carrier_cancel(carrier, &relay->transaction);
	relay_leave(relay);
	rr_exchange_drop(relay->exchange);
	relay_release(relay);
}
