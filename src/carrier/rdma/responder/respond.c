/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/responder/provided.h"

#include <inttypes.h>
#include <string.h>

#include "base/endian.h"
#include "base/peer_log.h"
#include "base/probe.h"
#include "wire/rpc.h"

/* Sends answers: replies and errors.
 *
 * Ownership: from rr_exchange_reply() on, the reply's memory and the call's stay until the Send completed, or
 * until a reply in a Read chunk was pulled, or until the endpoint was closed and the provider reads them no
 * more. Then sent() is called, and the exchange is freed. RDMA Writes are posted in front of the Send, whose
 * completion alone is waited for: they arrive in order. */

/* Where the credit value, the third word, lies in each header. */
enum { CREDIT_AT = 8 };

/* Is called when a work request of the answer completed, also if it failed or was flushed. */
static void
respond_completed(struct rr_chain *chain, enum rr_work_kind kind, int status)
{
	(void)status;
	/* RDMA Writes are in front of the Send: the completion of the Send decides. */
	if (kind != RR_WORK_WRITE)
		rr_inbound_event(rr_container(chain, struct rr_inbound, chain), RR_INBOUND_SENT);
}

/* Returns the first segment that is not empty, or NULL if all segments of the chunk are empty. */
static const struct rr_segment *
respond_first_used(const struct rr_chunk *chunk)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		if (chunk->segments[i].length > 0)
			return &chunk->segments[i];
	}
	return NULL;
}

/* Returns the segment of the call whose handle the reply is to invalidate: the first segment that is not
 * empty, of the Write chunks, else of the Reply chunk, else of the Read list. (An empty segment may have no
 * memory, and the last segment of a Write chunk may be padding whose handle serves many calls.) Returns NULL
 * if the reply must not invalidate any handle. RFC 8797, 4.1: "Each RDMA Send with Invalidate MUST invalidate
 * an STag associated only with the Transaction ID (XID) in the rdma_xid field". */
static const struct rr_segment *
respond_segment_to_invalidate(const struct rr_inbound *inbound)
{
	const struct rr_chunk_lists *lists = &inbound->lists;
	const struct rr_segment *segment = NULL;

	if (!inbound->connection->thresholds[inbound->header.vers - 1].remote_invalidation)
		return NULL;
	for (uint32_t i = 0; !segment && i < lists->write_count; i++)
		segment = respond_first_used(&lists->writes[i]);
	if (!segment && lists->has_reply)
		segment = respond_first_used(&lists->reply);
	for (uint32_t i = 0; !segment && i < lists->read_count; i++) {
		if (lists->reads[i].target.length > 0)
			segment = &lists->reads[i].target;
	}
	return segment;
}

/* Copies the segment that the reply is to invalidate, before the lengths of the call's segments are changed
 * to those of the reply. */
static void
respond_choose_invalidation(struct rr_inbound *inbound)
{
	const struct rr_segment *segment = respond_segment_to_invalidate(inbound);

	inbound->invalidate = segment ? *segment : (struct rr_segment){ 0 };
}

/* ---- The work requests of an answer ---- */

/* Sets the procedure and the error in the header, if the answer is an RDMA_ERROR. RFC 8166, 4.5.1: a
 * responder answers a version that it does not support by ERR_VERS, "also providing the low and high
 * inclusive version numbers it does, in fact, support." */
static void
respond_set_error(const struct rr_inbound *inbound, struct rr_rdma_header *header)
{
	const struct rr_connection *connection = inbound->connection;

	if (inbound->plan.form != RR_REPLY_ERROR)
		return;
	header->proc = RR_RDMA_ERROR;
	header->err = inbound->err;
	header->vers_low = connection->versions.low;
	header->vers_high = connection->versions.high;
}

/* Returns the chunk lists of the answer: those of the call, but with a Read list of its own. That list is
 * empty (RFC 8166, 4.3.1: "Responders MUST leave the Read list empty in all replies"), unless this side
 * provides the reply in a Read chunk. */
static const struct rr_chunk_lists *
respond_set_read_list(struct rr_inbound *inbound, struct rr_chunk_lists *lists)
{
	static const struct rr_chunk_lists nothing;

	if (!inbound->provided && !rr_rdma_has_lists(&inbound->lists))
		return &nothing;
	*lists = inbound->lists;
	lists->reads = inbound->provided ? inbound->provided->segments : NULL;
	lists->read_count = inbound->provided ? inbound->provided->count : 0;
	return lists;
}

/* Sets the credit field of the RDMA_OPTIONAL that lies encoded in the buffer, and records the message in the
 * connection's trace. An answer grants credits; a request of this side, whose inbound has no receive, asks
 * for some. Returns how many octets the message has. */
static uint32_t
respond_put_option(struct rr_inbound *inbound)
{
	struct rr_connection *connection = inbound->connection;
	const struct rr_chunk_lists nothing = { 0 };

	rr_put_be32(inbound->buffer + CREDIT_AT,
		inbound->receive ? connection->granted : connection->requester.credits.asked);
	rr_trace_add(
		&connection->trace, inbound->engine->loop, true, inbound->buffer, inbound->option, &nothing);
	return inbound->option;
}

/* Returns the header of the answer, with that procedure: XID and version are those of the call. */
static struct rr_rdma_header
respond_header(const struct rr_inbound *inbound, enum rr_rdma_proc proc)
{
	return (struct rr_rdma_header){
		.xid = inbound->header.xid,
		/* draft-cel-nfsv4-rpcrdma-version-two-00, 5.3: "a responder MUST send Replies with the same
		 * RPC-over-RDMA protocol version that the requester uses to send its Calls". RFC 8166, 4.5,
		 * of errors: "The rdma_vers field MUST contain the same version that was in the rdma_vers
		 * field in the failing request". RFC 8167, 5.2: "The rdma_vers field MUST contain the same
		 * value in a reverse-direction Reply message as in the matching Call message." */
		.vers = inbound->header.vers,
		.credit = inbound->connection->granted,
		.proc = proc,
	};
}

/* Encodes the header of the answer into the buffer, and returns how many octets it has. The chunks are those
 * of the call, with the lengths that were written: RFC 8166, 3.4.6 and 4.3.3: "The Responder MUST copy the
 * segment count and all segments from the Requester-provided Write chunk into the RPC Reply message's
 * Transport header", and likewise the Reply chunk. RFC 8166, 4.6.2: "senders MUST NOT send RDMA_DONE
 * messages." RFC 8166, 4.6.1, says the same of RDMA_MSGP. */
static uint32_t
respond_put_header(struct rr_inbound *inbound)
{
	/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1: "Position Zero Read chunks are always sent using an
	 * RPC-over-RDMA RDMA_NOMSG message." */
	bool is_inline = inbound->plan.form == RR_REPLY_INLINE;
	struct rr_rdma_header header = respond_header(inbound, is_inline ? RR_RDMA_MSG : RR_RDMA_NOMSG);
	static const struct rr_chunk_lists nothing;
	const struct rr_chunk_lists *lists;
	struct rr_chunk_lists memory;
	struct rpcrdma_xdr_writer writer;
	uint32_t length;

	respond_set_error(inbound, &header);
	lists = respond_set_read_list(inbound, &memory);
	if (header.proc == RR_RDMA_MSG && !rr_rdma_has_lists(lists)) {
		rr_rdma_put_plain(inbound->buffer, &header);
		length = RR_RDMA_HEADER_MIN;
	} else {
		rpcrdma_xdr_writer_init(&writer, inbound->buffer, rr_room_send_size(inbound->room), NULL, 0);
		rr_rdma_put_any_header(&writer, &header, lists);
		length = (uint32_t)rpcrdma_xdr_length(&writer);
	}
	rr_trace_add(&inbound->connection->trace, inbound->engine->loop, true, inbound->buffer,
		length + (is_inline ? inbound->plan.body : 0),
		header.proc > RR_RDMA_NOMSG ? &nothing : lists);
	return length;
}

/* Is called before the Send of the answer is posted: posts the Receive again that the call used up. RFC 8166,
 * 3.3.1: "The Responder MUST ensure that an increase in receive resources is effected before the next RPC
 * Reply message is sent." It is not posted earlier, so that a peer which takes no answers cannot go on
 * calling. A request of this side has used up no Receive. */
static void
respond_set_posted(struct rr_inbound *inbound)
{
	if (inbound->receive)
		rr_driver_allow(inbound->connection, 1);
	rr_inbound_answered(inbound);
	rr_inbound_set_state(inbound, RR_INBOUND_POSTED);
}

/* Fills in the Send of the answer: the header, and, if the reply is inline, the reply. */
static void
respond_make_send(struct rr_inbound *inbound, struct rr_work *work, struct rr_sge *sges)
{
	/* Only a Send with a reply may invalidate: not an RDMA_ERROR, and no message of a feature. */
	bool invalidates = inbound->plan.form <= RR_REPLY_PROVIDED && inbound->invalidate.length > 0;

	respond_set_posted(inbound);
	work->kind = invalidates ? RR_WORK_SEND_INVALIDATE : RR_WORK_SEND;
	work->remote_handle = invalidates ? inbound->invalidate.handle : 0;
	inbound->connection->base.counters.remote_invalidations += invalidates;
	if (invalidates)
		RR_PROBE(invalidates, inbound->connection->base.peer, inbound->header.xid,
			work->remote_handle);
	sges[0] = (struct rr_sge){ inbound->buffer, inbound->plan.form == RR_REPLY_OPTION
							    ? respond_put_option(inbound)
							    : respond_put_header(inbound) };
	work->sge_count = 1;
	for (uint32_t i = 0; inbound->plan.form == RR_REPLY_INLINE && i < inbound->plan.piece_count; i++)
		sges[work->sge_count++] =
			(struct rr_sge){ inbound->plan.pieces[i].data, inbound->plan.pieces[i].length };
}

/* Prepares the RDMA Writes into the next chunk: first into each Write chunk that is used for a data item,
 * then into the Reply chunk. Returns false if no chunk is left. RFC 8166, 3.4.6.2: "A Responder MUST NOT
 * write XDR roundup padding into a Write chunk, even if the Requester made space available for it": the item
 * is written without padding. */
static bool
respond_next_transfer(struct rr_inbound *inbound)
{
	const struct rpcrdma_message *reply = &inbound->reply;

	if (inbound->plan.form > RR_REPLY_PROVIDED)
		return false;
	while (inbound->next_transfer < reply->item_count) {
		uint32_t i = inbound->next_transfer++;

		if (!(inbound->plan.reduced & rr_item_bit(i)))
			continue;
		inbound->item = (struct rr_piece){ reply->items[i].data, reply->items[i].length, true };
		/* An item of no octets has no piece: nothing is written, and its chunk gets the length 0. */
		inbound->transfer =
			rr_transfer(&inbound->item, reply->items[i].length > 0, &inbound->lists.writes[i]);
		return true;
	}
	if (inbound->next_transfer > reply->item_count || inbound->plan.form != RR_REPLY_LONG)
		return false;
	inbound->next_transfer++;
	inbound->transfer =
		rr_transfer(inbound->plan.pieces, inbound->plan.piece_count, &inbound->lists.reply);
	return true;
}

/* Fills in the next work request of the answer: the RDMA Writes, one after the other, then the Send. Returns
 * false if the Send was filled in before. */
static bool
respond_next_work(struct rr_chain *chain, struct rr_work *work, struct rr_sge *sges, uint32_t sge_max)
{
	struct rr_inbound *inbound = rr_container(chain, struct rr_inbound, chain);

	while (inbound->transfer.chunk) {
		if (rr_transfer_next(&inbound->transfer, work, sges, sge_max))
			return true;
		inbound->transfer.chunk = NULL;
		respond_next_transfer(inbound);
	}
	if (inbound->state != RR_INBOUND_REPLYING)
		return false;
	respond_make_send(inbound, work, sges);
	return true;
}

/* Returns how many credits the answer to the call grants: fewer when calls hold much of the payload memory.
 * The side that connected receives only calls in the reverse direction: these are inline and take no such
 * memory, so their grant is constant. */
static uint32_t
respond_credits_for(const struct rr_inbound *inbound)
{
	const struct rpcrdma_engine *engine = inbound->engine;
	size_t max = rr_engine_pool_max(&engine->config);

	if (inbound->connection->is_active)
		return rr_credits_to_grant(RR_REVERSE_CREDITS, inbound->header.credit);
	return rr_credits_to_grant(
		rr_credits_affordable(engine->config.credits, rr_pool_used(engine->arrivals), max),
		inbound->header.credit);
}

/* Stores how many credits the message grants, and the fewest and the most that any message of the connection
 * granted. */
static void
respond_grant(struct rr_connection *connection, uint32_t credits)
{
	connection->granted = credits;
	if (connection->granted_min == 0 || credits < connection->granted_min)
		connection->granted_min = credits;
	if (credits > connection->granted_max)
		connection->granted_max = credits;
}

/* Prepares the inbound call for the Send of its answer, and decides how many credits the answer grants. A
 * request of this side, which has no receive, grants none. */
static void
respond_begin(struct rr_inbound *inbound)
{
	inbound->chain.completed = respond_completed;
	/* The chain may still be in the connection's list: it read the Read chunks of the call, and leaves
	 * the list only when it is asked for one more work request and has none. */
	rr_list_remove(&inbound->chain.link);
	if (inbound->receive)
		respond_grant(inbound->connection, respond_credits_for(inbound));
}

/* Begins to send the answer that the plan describes: submits its RDMA Writes and its Send as a chain. */
static void
respond_answer(struct rr_inbound *inbound)
{
	rr_inbound_set_state(inbound, RR_INBOUND_REPLYING);
	inbound->next_transfer = 0;
	inbound->transfer.chunk = NULL;
	if (inbound->plan.reduced != 0 || inbound->plan.form == RR_REPLY_LONG)
		respond_next_transfer(inbound);
	inbound->chain.next = respond_next_work;
	respond_begin(inbound);
	rr_driver_submit(inbound->connection, &inbound->chain);
}

int
rr_inbound_say(struct rr_inbound *inbound, const struct rr_optional *optional)
{
	const uint32_t xid = inbound->header.xid, version = inbound->header.vers;
	const struct rr_rdma_header header = {
		.xid = xid,
		.vers = version,
		.proc = RR_RDMA_OPTIONAL,
		.opttype = optional->opttype,
		.optinfo = optional->info,
	};
	uint32_t most = rr_connection_send_max(inbound->connection, version);
	struct rpcrdma_xdr_writer writer;

	rpcrdma_xdr_writer_init(&writer, inbound->buffer, most, NULL, 0);
	rr_rdma_put_any_header(&writer, &header, NULL);
	inbound->option = (uint32_t)rpcrdma_xdr_length(&writer);
	if (writer.failed || optional->payload.length > most - inbound->option)
		return -RPCRDMA_ERR_LIMIT;
	if (optional->payload.length > 0)
		memcpy(inbound->buffer + inbound->option, optional->payload.data, optional->payload.length);
	inbound->option += optional->payload.length;
	inbound->plan.form = RR_REPLY_OPTION;
	respond_answer(inbound);
	return 0;
}

/* Logs that a message is answered by an RDMA_ERROR, if this is the connection's first, second, fourth,
 * eighth error and so on: a peer that sends only bad messages must not fill the log. */
static void
respond_log_error(const struct rr_connection *connection, const struct rr_rdma_header *call,
	enum rr_rdma_err err, uint64_t count)
{
	if ((count & (count - 1)) == 0)
		rr_log_peer(rr_loop_peer_log(connection->base.engine->loop), connection->base.peer,
			"%s: XID 0x%08x is answered by %s, error %" PRIu64 " of this connection",
			connection->base.peer, call->xid, rr_rdma_err_name(call->vers, err), count);
}

void
rr_inbound_refuse(struct rr_inbound *inbound, enum rr_rdma_err err)
{
	struct rr_connection *connection = inbound->connection;

	respond_log_error(connection, &inbound->header, err, ++connection->base.counters.errors_sent);
	RR_PROBE(error_sent, connection->base.peer, inbound->header.xid, err);
	connection->base.counters.err_vers_sent += err == RR_ERR_VERS;
	connection->base.counters.err_inval_option_sent += err == RR_ERR_INVAL_OPTION;
	inbound->plan.form = RR_REPLY_ERROR;
	inbound->err = err;
	respond_answer(inbound);
}

/* The answer grants as many credits as the previous answer did. RFC 8167, 4.1: if it is not clear which
 * direction a message belongs to, "it is not possible for the receiver to tell with certainty whether the
 * header credit value is a request or grant. In such cases, the receiver MUST ignore the header's credit
 * value." */
void
rr_inbound_refuse_header(struct rr_inbound *inbound, enum rr_rdma_err err)
{
	inbound->header.credit = inbound->connection->granted;
	rr_inbound_refuse(inbound, err);
}

/* ---- Replies ---- */

/* Counts a reply that is sent: the way in which it travels (inline, in chunks, or provided in a Read chunk),
 * and its octets. */
static void
respond_count_reply(struct rr_inbound *inbound)
{
	struct rpcrdma_counters *counters = &inbound->connection->base.counters;
	const struct rr_reply_plan *plan = &inbound->plan;
	uint64_t written = plan->form == RR_REPLY_LONG ? plan->body : 0;

	for (uint32_t i = 0; i < inbound->reply.item_count; i++) {
		if (!(plan->reduced & rr_item_bit(i)))
			continue;
		written += inbound->reply.items[i].length;
		counters->write_chunks += inbound->reply.items[i].length > 0;
	}
	RR_PROBE(reply_sent, inbound->connection->base.peer, inbound->header.xid, inbound->reply.length,
		written, plan->form == RR_REPLY_LONG);
	counters->replies++;
	counters->long_replies += plan->form == RR_REPLY_LONG;
	counters->provided_replies += plan->form == RR_REPLY_PROVIDED;
	counters->inline_messages += written == 0 && plan->form == RR_REPLY_INLINE;
	counters->octets_inline += plan->form == RR_REPLY_INLINE ? plan->body : 0;
	counters->octets_rdma_read += plan->form == RR_REPLY_PROVIDED ? plan->body : 0;
	counters->octets_rdma_write += written;
}

/* Sets to zero the lengths of all chunks into which the reply does not write. RFC 8166, 4.3.2.2: "the
 * Responder MUST return this Write chunk as an unused Write chunk". draft-ietf-nfsv4-rfc5667bis-01, 3: a
 * server "MUST ignore the Write list for any other NFS procedure, as well as any Write chunks beyond the
 * first". */
static void
respond_empty_unused_chunks(struct rr_inbound *inbound)
{
	struct rr_chunk_lists *lists = &inbound->lists;

	for (uint32_t i = 0; i < lists->write_count; i++) {
		if (i >= RR_MESSAGE_ITEMS || !(inbound->plan.reduced & rr_item_bit(i)))
			rr_transfer_nothing(&lists->writes[i]);
	}
	if (inbound->plan.form != RR_REPLY_LONG)
		rr_transfer_nothing(&lists->reply);
}

/* Tells whether the message from the owner is an RPC reply, and has the XID of the inbound call. RFC 8167,
 * 5.2: "the ONC RPC Reply header MUST start with the same XID value that is present in the RPC-over-RDMA
 * header, and the RPC header's msg_type field MUST contain the value REPLY." The same holds in the forward
 * direction. */
static bool
respond_is_reply_to(const struct rr_inbound *inbound, const struct rpcrdma_message *reply)
{
	uint32_t xid, type;

	return rr_rpc_peek(reply->stream, reply->length, &xid, &type) && xid == inbound->header.xid &&
	       type == RR_REPLY;
}

/* Plans how the reply travels. If the reply is not valid or cannot be conveyed, the plan is to answer with an
 * RDMA_ERROR instead. */
static void
respond_plan(struct rr_inbound *inbound, const struct rpcrdma_message *reply)
{
	const struct rr_connection *connection = inbound->connection;
	const struct rr_reply_limits limits = {
		.threshold = rr_connection_send_max(connection, inbound->header.vers),
		.sge_max = rr_driver_sge_max(inbound->fabric),
		.read_chunks = rr_provided_allowed(connection, inbound->header.vers),
	};
	uint32_t octets;

	inbound->plan.form = RR_REPLY_ERROR;
	if (respond_is_reply_to(inbound, reply) &&
		rr_message_check(reply, inbound->engine->config.message_max, &octets) == 0)
		rr_plan_reply(&limits, &inbound->lists, reply, &inbound->plan);
}

/* Tells whether the reply can be sent without a plan: it is one stream that fits inline, its call had no
 * chunks, and its Send can be posted at once. Most replies are like this. */
static bool
respond_is_plain(const struct rr_inbound *inbound, const struct rpcrdma_message *reply)
{
	const struct rr_connection *connection = inbound->connection;
	uint32_t threshold = rr_connection_send_max(connection, inbound->header.vers);

	return reply->item_count == 0 && !rr_rdma_has_lists(&inbound->lists) &&
	       (uint64_t)RR_RDMA_HEADER_MIN + reply->length <= threshold &&
	       reply->length <= inbound->engine->config.message_max && rr_driver_can_post(connection) &&
	       respond_is_reply_to(inbound, reply);
}

/* Sends and counts a reply that needs no plan: a header without chunks, and the stream behind it. */
static void
respond_plain(struct rr_inbound *inbound, const struct rpcrdma_message *reply)
{
	static const struct rr_chunk_lists nothing;
	struct rpcrdma_counters *counters = &inbound->connection->base.counters;
	struct rr_sge sges[] = { { inbound->buffer, RR_RDMA_HEADER_MIN }, { reply->stream, reply->length } };
	struct rr_work work = { .kind = RR_WORK_SEND, .sges = sges, .sge_count = 2 };
	struct rr_rdma_header header;

	respond_begin(inbound);
	respond_set_posted(inbound);
	header = respond_header(inbound, RR_RDMA_MSG);
	rr_rdma_put_plain(inbound->buffer, &header);
	rr_trace_add(&inbound->connection->trace, inbound->engine->loop, true, inbound->buffer,
		RR_RDMA_HEADER_MIN + reply->length, &nothing);
	RR_PROBE(reply_sent, inbound->connection->base.peer, inbound->header.xid, reply->length, UINT64_C(0),
		0);
	counters->replies++;
	counters->inline_messages++;
	counters->octets_inline += reply->length;
	rr_driver_post(inbound->connection, &inbound->chain, &work);
}

void
rr_responder_reply(
	struct rr_exchange *exchange, const struct rpcrdma_message *reply, void (*sent)(void *arg), void *arg)
{
	struct rr_inbound *inbound = rr_inbound_of(exchange);

	inbound->sent = sent;
	inbound->arg = arg;
	/* The connection has ended: nothing is sent, and the loop calls sent(). */
	if (!inbound->connection) {
		rr_loop_defer(inbound->engine->loop, &inbound->task);
		return;
	}
	if (respond_is_plain(inbound, reply)) {
		respond_plain(inbound, reply);
		return;
	}
	respond_plan(inbound, reply);
	if (inbound->plan.form == RR_REPLY_ERROR ||
		(inbound->plan.form == RR_REPLY_PROVIDED && rr_provided_expose(inbound))) {
		rr_inbound_refuse(inbound, RR_ERR_CHUNK);
		return;
	}
	inbound->reply = (struct rpcrdma_message){
		.stream = reply->stream,
		.length = reply->length,
		.item_count = reply->item_count,
		.items = inbound->items,
	};
	/* The call's items are not needed any more; those of the reply may be the same memory. */
	if (reply->item_count > 0)
		memmove(inbound->items, reply->items, reply->item_count * sizeof(*reply->items));
	inbound->invalidate.length = 0;
	if (rr_rdma_has_lists(&inbound->lists)) {
		respond_choose_invalidation(inbound);
		respond_empty_unused_chunks(inbound);
	}
	respond_count_reply(inbound);
	respond_answer(inbound);
}

/* If the connection has ended, no error can be sent, and the exchange is dropped. */
void
rr_responder_refuse(struct rr_exchange *exchange)
{
	if (rr_inbound_of(exchange)->connection)
		rr_inbound_refuse(rr_inbound_of(exchange), RR_ERR_CHUNK);
	else
		rr_responder_drop(exchange);
}

/* See rr_exchange_drop(). The Receive that the call used up is posted again, so that the peer may send
 * another call. */
void
rr_responder_drop(struct rr_exchange *exchange)
{
	struct rr_inbound *inbound = rr_inbound_of(exchange);
	struct rr_connection *connection = inbound->connection;

	rr_inbound_free(inbound);
	if (!connection)
		return;
	rr_driver_allow(connection, 1);
	/* A connection that is being shut down ends with its last exchange. The task looks whether this was
	 * the last one: the connection must not end inside a function of the carrier. */
	if (connection->state == RR_CONNECTION_STOPPING)
		rr_loop_defer(connection->base.engine->loop, &connection->task);
}
