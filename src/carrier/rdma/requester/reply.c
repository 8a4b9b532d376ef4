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

/* Tells whether a chunk of the reply is the offered one: the same single segment, with the offered length or
 * less. */
static bool
reply_returns(const struct rr_chunk *chunk, const struct rr_segment *offered)
{
	return chunk->count == 1 && chunk->segments[0].handle == offered->handle &&
	       chunk->segments[0].offset == offered->offset && chunk->segments[0].length <= offered->length;
}

/* docs/conformance.md, A8. */
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

/* Makes the results that the peer placed in sinks (the caller's memory for results) the data items of the
 * reply. Sinks in which the peer placed nothing are not read: RFC 8166, 4.3.2.2: "The Requester MUST NOT
 * assume that the memory regions backing a Write chunk have not been modified." */
static void
reply_take_items(struct rr_transaction *transaction, const struct rr_chunk_lists *lists)
{
	struct rpcrdma_message *reply = &transaction->reply;

	reply->items = transaction->reply_items;
	/* Each Write chunk has one segment, as its call offered it: rr_slot_returns_chunks() has checked
	 * that. */
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

/* Counts a reply that was handed over: the way in which it travelled (inline, in chunks, or pulled), and its
 * octets. */
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

/* Returns the stream of a reply: the octets in the Reply chunk if the procedure is RDMA_NOMSG, else those
 * behind the header. */
static struct rpcrdma_bytes
reply_stream_of(const struct rr_slot *slot, const struct rr_arrival *arrival)
{
	uint32_t length =
		(uint32_t)rr_chunk_length(&arrival->lists.reply); /* not above the length that was offered */

	return arrival->header.proc == RR_RDMA_NOMSG ? (struct rpcrdma_bytes){ slot->reply_memory, length }
						     : arrival->payload;
}

/* Tells whether the stream is an RPC reply whose XID is `call`. RFC 8166, 4.5.2: it is an error in the header
 * if "the value of the rdma_xid field does not match the value of the XID field in the accompanying RPC
 * message". */
static bool
reply_answers(struct rpcrdma_bytes stream, uint32_t call)
{
	uint32_t xid, type;

	return rr_rpc_peek(stream.data, stream.length, &xid, &type) && xid == call && type == RR_REPLY;
}

/* Tells whether the message can be the reply to the slot's call: its header, its version, its chunks and its
 * XID must fit. Any other message is discarded. */
static bool
reply_is_good(const struct rr_slot *slot, const struct rr_arrival *arrival)
{
	const struct rr_chunk_lists *lists = &arrival->lists;
	bool long_reply = arrival->header.proc == RR_RDMA_NOMSG;

	if (arrival->result != RR_HEADER_OK || arrival->header.proc > RR_RDMA_NOMSG)
		return false;
	/* draft-cel-nfsv4-rpcrdma-version-two-00, 5.3: "a responder MUST send Replies with the same [...]
	 * version". RFC 8166, 4.3.1: "Responders MUST leave the Read list empty in all replies."
	 * docs/conformance.md, A9: a Reply chunk of length 0 means that the reply came inline, else
	 * RDMA_NOMSG. */
	if (arrival->header.vers != slot->version || lists->read_count > 0 ||
		!rr_slot_returns_chunks(slot, lists) || (rr_chunk_length(&lists->reply) > 0) != long_reply)
		return false;
	/* The memory of a call that was cancelled is freed already: its stream cannot be read. */
	return (long_reply && !slot->transaction) ||
	       reply_answers(reply_stream_of(slot, arrival), arrival->header.xid);
}

/* Tells whether the RDMA_ERROR can be about the slot's call: its version is that of the call, or it is an
 * ERR_VERS, whose header may have another version. RFC 8166, 4.5: in errors, "The rdma_vers field MUST
 * contain the same version that was in the rdma_vers field in the failing request". An error is never about a
 * reply: RFC 8166, 4.2.4: "A Responder MUST silently discard RDMA_ERROR procedures". */
static bool
reply_is_good_error(const struct rr_slot *slot, const struct rr_rdma_header *header)
{
	return header->err == RR_ERR_VERS || header->vers == slot->version;
}

/* Tells whether the message, a reply or an RDMA_ERROR, ends the call of the slot. */
static bool
reply_is_answer(const struct rr_slot *slot, const struct rr_arrival *arrival)
{
	if (arrival->kind == RR_ARRIVAL_ERROR)
		return reply_is_good_error(slot, &arrival->header);
	return reply_is_good(slot, arrival);
}

/* Hands the reply to the slot's transaction: the given stream, and the results that the peer placed by RDMA
 * Write. Returns 0, or -RPCRDMA_ERR_PEER if the stream is not a reply with the call's XID. This is checked a
 * second time, as the peer could change a Reply chunk until its access was ended. */
static inline int
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

/* Hands a reply that was found good to the slot's transaction. Does nothing if the call was cancelled.
 * Returns 0 or an error. */
static inline int
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
	/* The peer wrote nothing into the Reply chunk; results in sinks are added by reply_hand_over(). */
	slot->transaction->placed = 0;
	return reply_hand_over(slot, arrival, (struct rpcrdma_bytes){ slot->pulled_memory, octets });
}

/* Counts the RDMA_ERROR, and returns the error with which the call ends: -RPCRDMA_ERR_VERS or
 * -RPCRDMA_ERR_CHUNK. RFC 8166, 4.5: "Receipt of this procedure completes the RPC transaction associated with
 * XID in the rdma_xid field." RFC 8267, 6.7.2: "the requester MUST respond to that error as prescribed by the
 * specification of the RPC transport." */
static int
reply_take_error(const struct rr_slot *slot, const struct rr_rdma_header *header)
{
	struct rpcrdma_counters *counters = &slot->connection->base.counters;

	RR_PROBE(error_received, slot->connection->base.peer, header->xid, header->err);
	rr_counters_error_received(counters, header->err);
	return header->err == RR_ERR_VERS ? -RPCRDMA_ERR_VERS : -RPCRDMA_ERR_CHUNK;
}

/* Passes what the answer shows about the peer's version on to the version negotiation. Returns true if the
 * call must be sent again, in another version. */
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

/* Sends the calls that wait, as a slot is free again, and disconnects a connection that is stopping if
 * nothing is under way. Does nothing if the owner closed the connection meanwhile. */
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

/* Ends the call of the slot by its answer. Before this, ends the peer's access to the memory that the call
 * offered. */
static inline void
slot_answer(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	int error;

	/* This comes first, so that the peer cannot change what is judged. */
	if (slot->region_count > 0)
		rr_slot_invalidate(slot);
	if (arrival->kind == RR_ARRIVAL_ERROR)
		error = reply_take_error(slot, &arrival->header);
	else
		error = reply_take(slot, arrival);
	rr_slot_conclude(slot, error, arrival);
}

/* Checks that the handle which the message invalidated (if it did invalidate one) belongs to the slot's call.
 * If not, ends the connection and returns false, as memory that another call still needs may have been
 * invalidated. RFC 8797, 4.1: "Each RDMA Send with Invalidate MUST invalidate an STag associated only with
 * the Transaction ID (XID) in the rdma_xid field of the RPC-over-RDMA Transport Header it carries." */
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

/* Returns the slot of the call with that XID, also if the call was cancelled. Returns NULL if there is no
 * such call. */
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

/* Discards a message that has the XID of a call but is not a good answer to it. Logs the first, second,
 * fourth, eighth of them and so on: a peer that sends only bad replies must not fill the log. */
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

/* Checks that the message answers the slot's call. If so, counts the answer, and posts the Receive again that
 * the answer used up. Otherwise discards the message and returns false. */
static inline bool
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

/* Is called for a message with the XID of a call whose Send has completed: ends the call if the message
 * answers it. */
static void
slot_take(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	if (slot_accept(slot, arrival))
		slot_answer(slot, arrival);
}

/* Keeps a copy of a good answer in the slot until the Send of the call completes, as the provider may still
 * read the memory that the Send refers to. An answer that is not good is discarded. */
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

/* Is called when the Send of a call completed and no answer has come yet. */
static void
slot_wait(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	(void)arrival;
	rr_slot_set_state(slot, RR_SLOT_SENT);
}

/* Is called when the Send of a call completed after the answer came: ends the call by that answer. */
static void
slot_answer_held(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	(void)arrival;
	slot_answer(slot, &slot->held);
}

/* Is called for a reply that is to be pulled, if the Send of its call has not completed yet: keeps the reply
 * for a pull, which begins when the Send has completed. */
static void
slot_pull_later(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	if (rr_pull_take(slot, arrival))
		rr_slot_set_state(slot, RR_SLOT_DUE);
}

/* Is called for a reply that is to be pulled, if the Send of its call has completed: begins the pull. */
static void
slot_pull_now(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	if (rr_pull_take(slot, arrival))
		rr_pull_begin(slot);
}

/* Is called when the Send of a call completed, and its reply is to be pulled: begins the pull. */
static void
slot_begin_pull(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	(void)arrival;
	rr_pull_begin(slot);
}

/* Discards the message, because no call is under way that it could answer, or the call has an answer
 * already. */
static void
slot_discard(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	rr_connection_discard(slot->connection, arrival);
}

/* Does nothing. The state table names this function for a second completion of a slot's Send, which cannot
 * come. */
static void
slot_never(struct rr_slot *slot, const struct rr_arrival *arrival)
{
	(void)slot;
	(void)arrival;
}

/* Calls the function that the table has for this event in the slot's state. */
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
rr_slot_completed(struct rr_chain *chain, enum rr_work_kind kind, int status)
{
	(void)kind;
	/* A Send that failed ends the connection, and the end of the connection frees its slots. */
	if (!status)
		slot_event(rr_container(chain, struct rr_slot, chain), RR_SLOT_COMPLETED, NULL);
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
