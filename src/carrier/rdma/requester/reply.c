/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "base/peer_log.h"
#include "base/probe.h"
#include "carrier/rdma/requester/pull.h"
#include "wire/rpc.h"

/* Takes the replies and errors that arrive at a requester.
 *
 * RFC 8166, 4.5: "If errors are detected in the RPC-over-RDMA header of an RPC Reply message, a Requester
 * MUST silently discard the message." The same holds of an RDMA_ERROR "that it cannot decode", and of an
 * RDMA_MSGP (4.6.1: "Requesters MUST silently discard the message"). The call of such a reply then waits for
 * another reply, as if this one had been lost, until its owner gives up. An RDMA_ERROR that can be decoded
 * ends the call. A reply in a Read chunk that cannot be pulled ends the call, too, because the RDMA_DONE that
 * is due makes the responder drop the reply. */

/* Whether a chunk comes back as it was offered: the same segment, with a length that is not above the offered
 * one. */
static bool
reply_returns(const struct rr_chunk *chunk, const struct rr_segment *offered)
{
	return chunk->count == 1 && chunk->segments[0].handle == offered->handle &&
	       chunk->segments[0].offset == offered->offset && chunk->segments[0].length <= offered->length;
}

/* Whether the chunks of a reply are those that the call of the slot offered. A8: "a reply returns the same
 * chunks and segments as the call offered"; a peer that leaves out unused chunks means the same. */
bool
rr_slot_returns_chunks(const struct rr_slot *slot, const struct rr_chunk_lists *lists)
{
	if (lists->write_count > 0 && lists->write_count != slot->write_count)
		return false;
	for (uint32_t i = 0; i < lists->write_count; i++) {
		if (!reply_returns(&lists->writes[i], &slot->segments[i]))
			return false;
	}
	return !lists->has_reply ||
	       (slot->has_reply && reply_returns(&lists->reply, rr_slot_reply_segment(slot)));
}

/* Makes the results that the peer placed the items of the reply. The memory of other sinks is not read: RFC
 * 8166, 4.3.2.2: "The Requester MUST NOT assume that the memory regions backing a Write chunk have not been
 * modified." */
static void
reply_take_items(struct rr_transaction *transaction, const struct rr_chunk_lists *lists)
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

/* Counts a reply that was handed over, by the way in which it travelled. */
static void
reply_count(struct rr_slot *slot, const struct rr_transaction *transaction, bool long_reply)
{
	struct rpcrdma_counters *counters = &slot->connection->base.counters;
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

/* Returns the stream of a reply, which lies behind its header or in the Reply chunk. */
static struct rpcrdma_bytes
reply_stream_of(const struct rr_slot *slot, const struct rr_arrival *arrival)
{
	uint32_t length =
		(uint32_t)rr_chunk_length(&arrival->lists.reply); /* not above the length that was offered */

	return arrival->header.proc == RR_RDMA_NOMSG ? (struct rpcrdma_bytes){ slot->reply_memory, length }
						     : arrival->payload;
}

/* Whether the stream is a reply to the call with that XID. RFC 8166, 4.5.2: it is an error in the header if
 * "the value of the rdma_xid field does not match the value of the XID field in the accompanying RPC
 * message". */
static bool
reply_answers(struct rpcrdma_bytes stream, uint32_t call)
{
	uint32_t xid, type;

	return rr_rpc_peek(stream.data, stream.length, &xid, &type) && xid == call && type == RR_REPLY;
}

/* Whether the message can be the reply to the call. Any other message is discarded. */
static bool
reply_is_good(const struct rr_slot *slot, const struct rr_arrival *arrival)
{
	const struct rr_chunk_lists *lists = &arrival->lists;
	bool long_reply = arrival->header.proc == RR_RDMA_NOMSG;

	if (arrival->result != RR_HEADER_OK || arrival->header.proc > RR_RDMA_NOMSG)
		return false;
	/* draft-cel-nfsv4-rpcrdma-version-two-00, 5.3: "a responder MUST send Replies with the same [...]
	 * version". RFC 8166, 4.3.1: "Responders MUST leave the Read list empty in all replies." A9: a Reply
	 * chunk of length 0 means that the reply came inline, else RDMA_NOMSG. */
	if (arrival->header.vers != slot->version || lists->read_count > 0 ||
		!rr_slot_returns_chunks(slot, lists) || (rr_chunk_length(&lists->reply) > 0) != long_reply)
		return false;
	/* The memory of a call that was cancelled is freed already: its stream cannot be read. */
	return (long_reply && !slot->transaction) ||
	       reply_answers(reply_stream_of(slot, arrival), arrival->header.xid);
}

/* Whether the RDMA_ERROR can be about the call of the slot. RFC 8166, 4.2.4: "A Responder MUST silently
 * discard RDMA_ERROR procedures": an error is only ever about a call of this side. 4.5: in errors, "The
 * rdma_vers field MUST contain the same version that was in the rdma_vers field in the failing request". A
 * peer that does not know this version may name its own in ERR_VERS. */
static bool
reply_is_good_error(const struct rr_slot *slot, const struct rr_rdma_header *header)
{
	return header->err == RR_ERR_VERS || header->vers == slot->version;
}

/* Whether the message ends the call of the slot. */
static bool
reply_is_answer(const struct rr_slot *slot, const struct rr_arrival *arrival)
{
	if (arrival->kind == RR_ARRIVAL_ERROR)
		return reply_is_good_error(slot, &arrival->header);
	return reply_is_good(slot, arrival);
}

/* Hands the reply, with that stream, to the transaction. Until its memory was invalidated, the peer could
 * write to a Reply chunk, so the XID in the stream is checked again here. */
static int
reply_hand_over(struct rr_slot *slot, const struct rr_arrival *arrival, struct rpcrdma_bytes stream)
{
	struct rr_transaction *transaction = slot->transaction;

	transaction->reply = (struct rpcrdma_message){ .stream = stream.data, .length = stream.length };
	if (!reply_answers(stream, transaction->xid))
		return -RPCRDMA_ERR_PEER;
	transaction->pulled = slot->read_octets;
	reply_take_items(transaction, &arrival->lists);
	transaction->unused = slot->write_count - transaction->reply.item_count;
	reply_count(slot, transaction, arrival->header.proc == RR_RDMA_NOMSG);
	return 0;
}

/* Hands a reply that was found good to the transaction, if this was not cancelled. */
static int
reply_take(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	if (!slot->transaction)
		return 0;
	slot->transaction->placed = (uint32_t)rr_chunk_length(&arrival->lists.reply);
	return reply_hand_over(slot, arrival, reply_stream_of(slot, arrival));
}

int
rr_slot_take_pulled(struct rr_slot *slot, const struct rr_arrival *arrival, uint32_t octets)
{
	if (!slot->transaction)
		return 0;
	slot->transaction->placed = 0;
	return reply_hand_over(slot, arrival, (struct rpcrdma_bytes){ slot->pulled_memory, octets });
}

/* Returns the error with which the RDMA_ERROR ends the call. RFC 8267, 6.7.2: "the requester MUST respond to
 * that error as prescribed by the specification of the RPC transport." RFC 8166, 4.5: "Receipt of this
 * procedure completes the RPC transaction associated with XID in the rdma_xid field." */
static int
reply_take_error(const struct rr_slot *slot, const struct rr_rdma_header *header)
{
	struct rpcrdma_counters *counters = &slot->connection->base.counters;

	RR_PROBE(error_received, slot->connection->base.peer, header->xid, header->err);
	rr_counters_error_received(counters, header->err);
	return header->err == RR_ERR_VERS ? -RPCRDMA_ERR_VERS : -RPCRDMA_ERR_CHUNK;
}

/* Tells the negotiation what the answer says of the version. True: the call is sent again, in another
 * version. */
static bool
reply_negotiate(const struct rr_slot *slot, int error, const struct rr_rdma_header *header)
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

/* Sends the next calls, as a slot is free again. The owner may have closed the connection meanwhile. */
static void
reply_go_on(struct rr_connection *connection)
{
	if (connection->closed)
		return;
	rr_requester_pump(connection);
	rr_connection_check_idle(connection);
}

void
rr_slot_conclude(struct rr_slot *slot, int error, const struct rr_arrival *arrival)
{
	struct rr_connection *connection = slot->connection;
	struct rr_credits *credits = &connection->requester.credits;
	struct rpcrdma_counters *counters = &connection->base.counters;
	bool is_error = arrival->kind == RR_ARRIVAL_ERROR;

	/* draft-cel-nfsv4-rpcrdma-version-two-00, 5: "a requester MUST assume the ability to exchange only
	 * a single RPC-over-RDMA message at a time until it receives a non-error RPC-over-RDMA message
	 * from the responder that reports the responder's actual credit limit." After that, errors may
	 * change it, too. */
	if (!error || (error != -RPCRDMA_ERR_PEER && error != -RPCRDMA_ERR_VERS && credits->max > 0))
		rr_credits_grant(credits, arrival->header.credit);
	if (reply_negotiate(slot, error, &arrival->header)) {
		rr_slot_retry(slot, arrival->receive);
		reply_go_on(connection);
		return;
	}
	if (error) {
		if (error == -RPCRDMA_ERR_PEER)
			RR_PROBE(discarded, connection->base.peer, arrival->length, true);
		counters->discarded += error == -RPCRDMA_ERR_PEER;
		counters->bad_replies += error == -RPCRDMA_ERR_PEER;
		rr_log_peer(rr_loop_peer_log(connection->base.engine->loop), connection->base.peer,
			"%s: XID 0x%08x: %s%s%s", connection->base.peer, arrival->header.xid,
			rpcrdma_strerror(error), is_error ? ": the peer answered " : "",
			is_error ? rr_rdma_err_name(arrival->header.vers, arrival->header.err) : "");
	}
	rr_slot_finish(slot, error, arrival->receive);
	reply_go_on(connection);
}

/* Ends the call by its answer, and takes the peer's access to its memory away before. */
static void
slot_answer(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	int error;

	rr_slot_invalidate(slot); /* first, so that the peer cannot change what is judged */
	if (arrival->kind == RR_ARRIVAL_ERROR)
		error = reply_take_error(slot, &arrival->header);
	else
		error = reply_take(slot, arrival);
	rr_slot_conclude(slot, error, arrival);
}

/* Checks that the handle which the message invalidated belongs to the slot's call; if not, ends the
 * connection. RFC 8797, 4.1: "Each RDMA Send with Invalidate MUST invalidate an STag associated only with the
 * Transaction ID (XID) in the rdma_xid field of the RPC-over-RDMA Transport Header it carries." If another
 * handle was hit, the memory behind it is lost to its call, and the peer may confuse more. */
static bool
reply_check_invalidated(
	struct rr_connection *connection, struct rr_slot *slot, const struct rr_arrival *arrival)
{
	if (!arrival->invalidated)
		return true;
	for (uint32_t i = 0; slot && i < slot->region_count; i++) {
		if (slot->segments[i].handle != arrival->invalidated_handle)
			continue;
		connection->base.counters.remote_invalidations++;
		RR_PROBE(invalidated, connection->base.peer, arrival->invalidated_handle, 1);
		rr_driver_invalidate(
			connection, &slot->regions[i]); /* the region still exists on this side */
		return true;
	}
	rr_driver_abort(connection, -RPCRDMA_ERR_PEER,
		"%s: invalidated handle 0x%08x, which is not of this reply", connection->base.peer,
		arrival->invalidated_handle);
	return false;
}

/* Returns the slot of the call with that XID, which may have been cancelled; NULL: there is no such call. */
static struct rr_slot *
requester_find(const struct rr_connection *connection, uint32_t xid)
{
	const struct rr_requester *requester = &connection->requester;
	struct rr_map_link *link = requester->slots ? rr_map_find(&requester->by_xid, xid) : NULL;

	return link ? rr_container(link, struct rr_slot, by_xid) : NULL;
}

bool
rr_requester_knows(const struct rr_connection *connection, uint32_t xid)
{
	return requester_find(connection, xid);
}

/* Discards a message that has the XID of a call but is no answer to it. The first, the second, the fourth and
 * so on are logged: a peer that sends only bad replies must not fill the log. */
static void
reply_discard_answer(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	uint64_t count = ++connection->base.counters.bad_replies;

	if ((count & (count - 1)) == 0)
		rr_log_peer(rr_loop_peer_log(connection->base.engine->loop), connection->base.peer,
			"%s: a bad reply to XID 0x%08x is discarded, number %" PRIu64 " of this connection",
			connection->base.peer, arrival->header.xid, count);
	rr_connection_discard(connection, arrival);
}

/* ---- The states of a slot ---- */

/* Reacts to an event of a slot; arrival: the message, if a message is the event. */
typedef void slot_action(struct rr_slot *slot, const struct rr_arrival *arrival);

/* Counts a message that answers the call. False: the message is no answer to the call, and was discarded. */
static bool
slot_accept(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	struct rr_connection *connection = slot->connection;

	if (!reply_is_answer(slot, arrival)) {
		reply_discard_answer(connection, arrival);
		return false;
	}
	rr_driver_allow(connection, 1);
	connection->stall.answered++;
	return true;
}

static void
slot_take(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	if (slot_accept(slot, arrival))
		slot_answer(slot, arrival);
}

/* Keeps the answer until the Send of the call completes: the provider still reads the memory that the Send
 * refers to. */
static void
slot_hold(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	struct rr_chunk_lists lists = slot->held.lists;

	if (!slot_accept(slot, arrival))
		return;
	/* A good answer has no more chunks than the call offered, so they fit. */
	rr_rdma_copy_lists(&lists, &arrival->lists);
	slot->held = *arrival;
	slot->held.lists = lists;
	rr_slot_set_state(slot, RR_SLOT_HELD);
}

static void
slot_wait(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	(void)arrival;
	rr_slot_set_state(slot, RR_SLOT_SENT);
}

static void
slot_answer_held(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	(void)arrival;
	slot_answer(slot, &slot->held);
}

static void
slot_pull_later(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	if (rr_pull_take(slot, arrival))
		rr_slot_set_state(slot, RR_SLOT_DUE);
}

static void
slot_pull_now(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	if (rr_pull_take(slot, arrival))
		rr_pull_begin(slot);
}

static void
slot_begin_pull(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	(void)arrival;
	rr_pull_begin(slot);
}

/* Discards the message: no call is under way that it could answer, or the call has an answer already. */
static void
slot_discard(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	rr_connection_discard(slot->connection, arrival);
}

/* Is never called: a slot has one Send, which completes once. */
static void
slot_never(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	(void)slot;
	(void)arrival;
}

/* Does what the table says for this event in the slot's state. */
static void
slot_event(struct rr_slot *slot, enum rr_slot_event event, const struct rr_arrival *arrival)
{
	/* clang-format off */
	static slot_action *const table[RR_SLOT_STATES][RR_SLOT_EVENTS] = {
		/*                    COMPLETED         ANSWERED      TO_PULL */
		[RR_SLOT_FREE] =    { slot_never,       slot_discard, slot_discard },
		[RR_SLOT_QUEUED] =  { slot_never,       slot_discard, slot_discard },
		[RR_SLOT_POSTED] =  { slot_wait,        slot_hold,    slot_pull_later },
		[RR_SLOT_SENT] =    { slot_never,       slot_take,    slot_pull_now },
		[RR_SLOT_HELD] =    { slot_answer_held, slot_discard, slot_discard },
		[RR_SLOT_DUE] =     { slot_begin_pull,  slot_discard, slot_discard },
		[RR_SLOT_PULLING] = { slot_never,       slot_discard, slot_discard },
	};
	/* clang-format on */

	table[slot->state][event](slot, arrival);
}

void
rr_slot_completed(struct rr_job *job, enum rr_work_kind kind, int status)
{
	(void)kind;
	/* A Send that failed ends the connection, and the end of the connection frees its slots. */
	if (!status)
		slot_event(rr_container(job, struct rr_slot, job), RR_SLOT_COMPLETED, NULL);
}

void
rr_requester_answered(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	struct rr_slot *slot = requester_find(connection, arrival->header.xid);
	bool is_pulled = arrival->kind == RR_ARRIVAL_REPLY && rr_arrival_is_to_be_pulled(arrival);

	if (!reply_check_invalidated(connection, slot, arrival) || (!slot && !is_pulled))
		rr_connection_discard(connection, arrival);
	else if (!slot)
		rr_pull_decline(connection, arrival);
	else
		slot_event(slot, is_pulled ? RR_SLOT_TO_PULL : RR_SLOT_ANSWERED, arrival);
}
