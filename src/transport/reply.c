/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/endian.h"
#include "base/probe.h"
#include "transport/pull.h"
#include "wire/rpc.h"

/*
 * What arrives at a requester: replies, errors, and what is neither.
 *
 * RFC 8166, 4.5: "If errors are detected in the RPC-over-RDMA header of an RPC Reply message, a Requester
 * MUST silently discard the message." So it is with an RDMA_ERROR "that it cannot decode", and with an
 * RDMA_MSGP (4.6.1: "Requesters MUST silently discard the message"). That is what happens to the message. The
 * transaction that it was to answer will get no other answer, though: where the XID says which one it is, it
 * ends with -RPCRDMA_ERR_PEER instead of never.
 */

enum rr_header_result
rr_answer_parse(const struct rr_connection *connection, const struct rr_event *event, struct rr_answer *reply)
{
	const struct rpcrdma_message message = { .stream = event->data, .length = event->length };
	struct rpcrdma_xdr_reader reader;
	enum rr_header_result result;

	reply->lists.writes = reply->writes;
	reply->lists.write_max = RR_TRANSACTION_SINKS;
	reply->lists.segments = reply->segments;
	reply->lists.segment_max = RR_SLOT_OFFERS;
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	result = rr_rdma_get_any_header(&reader, connection->versions.high, &reply->header, &reply->lists);
	reply->body_length = (uint32_t)rpcrdma_xdr_left(&reader);
	reply->body = event->data + (event->length - reply->body_length);
	return result;
}

/* RFC 8166, 4.3.1: "Responders MUST leave the Read list empty in all replies." Those that need not are pulled
 * (pull.h). */
static enum rr_header_result
parse(const struct rr_connection *connection, const struct rr_event *event, struct rr_answer *reply)
{
	reply->lists.reads = NULL;
	reply->lists.read_max = 0;
	return rr_answer_parse(connection, event, reply);
}

/* Whether a chunk comes back as it was offered: the same segment, of which no more is used than there was. */
static bool
returns(const struct rr_chunk *chunk, const struct rr_segment *offered)
{
	return chunk->count == 1 && chunk->segments[0].handle == offered->handle &&
	       chunk->segments[0].offset == offered->offset && chunk->segments[0].length <= offered->length;
}

/* A8: "a reply returns the same chunks and segments as the call offered"; a peer that leaves out what it did
 * not use means the same. */
bool
rr_slot_returns_chunks(const struct rr_slot *slot, const struct rr_chunk_lists *lists)
{
	if (lists->write_count > 0 && lists->write_count != slot->write_count)
		return false;
	for (uint32_t i = 0; i < lists->write_count; i++) {
		if (!returns(&lists->writes[i], &slot->segments[i]))
			return false;
	}
	return !lists->has_reply || (slot->has_reply && returns(&lists->reply, rr_slot_reply_segment(slot)));
}

/* The results that the peer placed become the items of the reply. What the header does not say was placed is
 * not looked at: RFC 8166, 4.3.2.2: "The Requester MUST NOT assume that the memory regions backing a Write
 * chunk have not been modified." */
static void
take_items(struct rr_transaction *transaction, const struct rr_chunk_lists *lists)
{
	struct rpcrdma_message *reply = &transaction->reply;

	reply->items = transaction->reply_items;
	for (uint32_t i = 0; i < lists->write_count; i++) {
		uint32_t length = lists->writes[i].segments[0].length;

		if (length == 0)
			continue;
		transaction->reply_items[reply->item_count++] = (struct rpcrdma_item){
			.data = transaction->sinks[i].data, .length = length, .offset = RPCRDMA_ITEM_NEXT
		};
		transaction->placed += length;
	}
}

static void
count_reply(struct rr_slot *slot, const struct rr_transaction *transaction, bool long_reply)
{
	struct rr_counters *counters = &slot->connection->base.counters;
	uint32_t length = transaction->reply.length;

	RR_PROBE(reply_received, slot->connection->base.peer, transaction->xid, transaction->reply.length,
		transaction->placed, (int)long_reply);
	counters->replies++;
	counters->long_replies += long_reply && !slot->pulled_memory;
	counters->provided_replies += slot->pulled_memory != NULL;
	counters->inline_messages += transaction->placed == 0 && !long_reply;
	counters->write_chunks += transaction->reply.item_count;
	counters->octets_inline += long_reply ? 0 : length;
	counters->octets_rdma_read += slot->pulled_memory ? length : 0;
	counters->octets_rdma_write += transaction->placed;
}

/* Hands the reply, with that stream, to the transaction. */
static int
hand_over(struct rr_slot *slot, const struct rr_answer *reply, const void *stream, uint32_t length)
{
	struct rr_transaction *transaction = slot->transaction;
	uint32_t xid, type;

	transaction->reply = (struct rpcrdma_message){ .stream = stream, .length = length };
	/* RFC 8166, 4.5.2: "the value of the rdma_xid field does not match the value of the XID field in the
	 * accompanying RPC message" is an error in the header. */
	if (!rr_rpc_peek(stream, length, &xid, &type) || xid != transaction->xid || type != RR_REPLY)
		return -RPCRDMA_ERR_PEER;
	transaction->pulled = slot->read_octets;
	take_items(transaction, &reply->lists);
	transaction->unused = slot->write_count - transaction->reply.item_count;
	count_reply(slot, transaction, reply->header.proc == RR_RDMA_NOMSG);
	return 0;
}

/* Finds the reply in an RDMA_MSG or RDMA_NOMSG and hands it to the transaction. */
static int
take_reply(struct rr_slot *slot, const struct rr_answer *reply)
{
	bool long_reply = reply->header.proc == RR_RDMA_NOMSG;
	uint64_t chunk = rr_chunk_length(&reply->lists.reply);

	/* draft-cel-nfsv4-rpcrdma-version-two-00, 5.3: "a responder MUST send Replies with the same [...]
	 * version". A9: a Reply chunk of length 0 means that the reply came inline, else RDMA_NOMSG. */
	if (reply->header.vers != slot->version || !rr_slot_returns_chunks(slot, &reply->lists) ||
		(chunk > 0) != long_reply)
		return -RPCRDMA_ERR_PEER;
	if (!slot->transaction)
		return 0;
	slot->transaction->placed = (uint32_t)chunk;
	if (long_reply)
		return hand_over(slot, reply, slot->reply_memory, (uint32_t)chunk);
	return hand_over(slot, reply, reply->body, reply->body_length);
}

int
rr_slot_take_pulled(struct rr_slot *slot, const struct rr_answer *reply, uint32_t octets)
{
	if (!slot->transaction)
		return 0;
	slot->transaction->placed = 0;
	return hand_over(slot, reply, slot->pulled_memory, octets);
}

static int
judge(struct rr_slot *slot, enum rr_header_result result, const struct rr_answer *reply)
{
	struct rr_counters *counters = &slot->connection->base.counters;
	int error = -RPCRDMA_ERR_PEER;

	if (result != RR_HEADER_OK)
		return error;
	switch (reply->header.proc) {
	case RR_RDMA_MSG:
	case RR_RDMA_NOMSG: error = take_reply(slot, reply); break;
	/* RFC 8267, 6.7.2: "the requester MUST respond to that error as prescribed by the specification of
	 * the RPC transport." RFC 8166, 4.5: "Receipt of this procedure completes the RPC transaction
	 * associated with XID in the rdma_xid field." */
	case RR_RDMA_ERROR:
		RR_PROBE(error_received, slot->connection->base.peer, reply->header.xid, reply->header.err);
		counters->errors_received++;
		counters->err_vers_received += reply->header.err == RR_ERR_VERS;
		error = reply->header.err == RR_ERR_VERS ? -RPCRDMA_ERR_VERS : -RPCRDMA_ERR_CHUNK;
		break;
	default: break;
	}
	return error;
}

/* What the answer says of the version of its call. True: the call goes again, in another one. */
static bool
negotiate(const struct rr_slot *slot, int error, const struct rr_rdma_header *header)
{
	struct rr_negotiation *negotiation = &slot->connection->negotiation;
	enum rr_negotiation_event event = error ? RR_NEGOTIATION_FAILED : RR_NEGOTIATION_ANSWERED;

	if (error == -RPCRDMA_ERR_VERS) {
		negotiation->peer = (struct rr_version_range){ header->vers_low, header->vers_high };
		event = RR_NEGOTIATION_REFUSED;
	}
	rr_negotiation_event(slot->connection, event);
	return error == -RPCRDMA_ERR_VERS && slot->version != negotiation->version;
}

void
rr_slot_conclude(
	struct rr_slot *slot, int error, const struct rr_rdma_header *header, const struct rr_event *event)
{
	struct rr_connection *connection = slot->connection;
	struct rr_credits *credits = &connection->requester.credits;
	struct rr_counters *counters = &connection->base.counters;

	/* draft-cel-nfsv4-rpcrdma-version-two-00, 5: "a requester MUST assume the ability to exchange only a
	 * single RPC-over-RDMA message at a time until it receives a non-error RPC-over-RDMA message from the
	 * responder that reports the responder's actual credit limit." After that, errors may change it, too.
	 */
	if (!error || (error != -RPCRDMA_ERR_PEER && error != -RPCRDMA_ERR_VERS && credits->max > 0))
		rr_credits_grant(credits, header->credit);
	if (negotiate(slot, error, header)) {
		rr_slot_retry(slot, event);
		return;
	}
	if (error) {
		if (error == -RPCRDMA_ERR_PEER)
			RR_PROBE(discarded, connection->base.peer, event->length, true);
		counters->discarded += error == -RPCRDMA_ERR_PEER;
		counters->bad_replies += error == -RPCRDMA_ERR_PEER;
		rr_log(connection->base.engine->env, RR_LOG_WARNING, "%s: XID 0x%08x: %s",
			connection->base.peer, header->xid, rpcrdma_strerror(error));
	}
	rr_slot_finish(slot, error, event);
}

void
rr_slot_answer(struct rr_slot *slot, const struct rr_event *event)
{
	struct rr_connection *connection = slot->connection;
	struct rr_answer reply;
	int error;

	rr_slot_invalidate(slot); /* first: what is judged must not change any more */
	if (rr_pull_is_due(connection, event)) {
		rr_pull_begin(slot, event);
		return;
	}
	error = judge(slot, parse(connection, event, &reply), &reply);
	rr_slot_conclude(slot, error, &reply.header, event);
}

/*
 * RFC 8797, 4.1: "Each RDMA Send with Invalidate MUST invalidate an STag associated only with the Transaction
 * ID (XID) in the rdma_xid field of the RPC-over-RDMA Transport Header it carries." Where another one was
 * hit, what it served is lost, and nobody can say what else the peer confuses.
 */
static bool
check_invalidated(struct rr_connection *connection, struct rr_slot *slot, const struct rr_event *event)
{
	if (!event->invalidated)
		return true;
	for (uint32_t i = 0; slot && i < slot->region_count; i++) {
		if (slot->segments[i].handle != event->invalidated_handle)
			continue;
		connection->base.counters.remote_invalidations++;
		RR_PROBE(invalidated, connection->base.peer, event->invalidated_handle, 1);
		rr_driver_invalidate(connection, &slot->regions[i]); /* for this side it still exists */
		return true;
	}
	rr_driver_abort(connection, -RPCRDMA_ERR_PEER,
		"%s: invalidated handle 0x%08x, which is not of this reply", connection->base.peer,
		event->invalidated_handle);
	return false;
}

/* The slot that a message answers; NULL for what is to be discarded. */
static struct rr_slot *
match(struct rr_connection *connection, const struct rr_event *event)
{
	struct rr_answer reply;
	enum rr_header_result result = parse(connection, event, &reply);
	struct rr_map_link *link;
	uint32_t xid, type;

	rr_trace_add(&connection->trace, connection->base.engine->env, false, event->data, event->length,
		result == RR_HEADER_OK ? &reply.lists : NULL);
	if (result == RR_HEADER_SHORT)
		return NULL;
	/* RFC 8166, 4.6.2: "Receivers MUST silently discard RDMA_DONE messages." */
	if (result == RR_HEADER_OK && reply.header.proc == RR_RDMA_DONE)
		return NULL;
	/* XIDs of the two directions are independent: a call of the peer's answers nothing. */
	if (result == RR_HEADER_OK && reply.header.proc == RR_RDMA_MSG &&
		rr_rpc_peek(reply.body, reply.body_length, &xid, &type) && type == RR_CALL)
		return NULL;
	link = rr_map_find(&connection->requester.by_xid, rr_get_be32(event->data));
	return link ? rr_container(link, struct rr_slot, by_xid) : NULL;
}

void
rr_requester_received(struct rr_connection *connection, const struct rr_event *event)
{
	struct rr_slot *slot = match(connection, event);
	bool declines = !slot && rr_pull_is_due(connection, event);

	rr_driver_allow(connection, !declines);
	if (!check_invalidated(connection, slot, event) || !slot || slot->held.data || slot->pull) {
		if (declines)
			rr_pull_decline(connection, event);
		connection->base.counters.discarded++;
		RR_PROBE(discarded, connection->base.peer, event->length, false);
		rr_log(connection->base.engine->env, RR_LOG_DEBUG,
			"%s: a message of %u octets answers nothing", connection->base.peer, event->length);
		rr_driver_release(connection->fabric, event->data);
		return;
	}
	connection->stall.answered++;
	if (slot->sent)
		rr_slot_answer(slot, event);
	else
		slot->held = *event; /* what the Send refers to is not ours yet */
}
