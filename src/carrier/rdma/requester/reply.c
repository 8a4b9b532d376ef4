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
rr_outbound_returns_chunks(const struct rr_outbound *outbound, const struct rr_chunk_lists *lists)
{
	if (lists->write_count > 0 && lists->write_count != outbound->write_count)
		return false;
	for (uint32_t i = 0; i < lists->write_count; i++) {
		if (!reply_returns(&lists->writes[i], &outbound->segments[i]))
			return false;
	}
	return !lists->has_reply ||
	       (outbound->has_reply && reply_returns(&lists->reply, rr_outbound_reply_segment(outbound)));
}

/* Makes the results that the peer placed in sinks (the caller's memory for results) the data items of the
 * reply. Sinks in which the peer placed nothing are not read: RFC 8166, 4.3.2.2: "The Requester MUST NOT
 * assume that the memory regions backing a Write chunk have not been modified." */
static void
reply_take_items(struct rr_transaction *transaction, const struct rr_chunk_lists *lists)
{
	struct rpcrdma_message *reply = &transaction->reply;

	reply->items = transaction->reply_items;
	/* Each Write chunk has one segment, as its call offered it: rr_outbound_returns_chunks() has checked
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
reply_count(struct rr_outbound *outbound, const struct rr_transaction *transaction, bool long_reply)
{
	struct rpcrdma_counters *counters = &outbound->connection->base.counters;
	uint32_t length = transaction->reply.length;

	RR_PROBE(reply_received, outbound->connection->base.peer, transaction->xid, transaction->reply.length,
		transaction->placed, (int)long_reply);
	counters->replies++;
	counters->long_replies += long_reply && !outbound->pulled_memory;
	counters->provided_replies += outbound->pulled_memory != NULL;
	counters->inline_messages += transaction->placed == 0 && !long_reply;
	counters->write_chunks += transaction->reply.item_count;
	counters->octets_inline += long_reply ? 0 : length;
	counters->octets_rdma_read += outbound->pulled_memory ? length : 0;
	counters->octets_rdma_write += transaction->placed;
}

/* Returns the stream of a reply: the octets in the Reply chunk if the procedure is RDMA_NOMSG, else those
 * behind the header. */
static struct rpcrdma_bytes
reply_stream_of(const struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	uint32_t length =
		(uint32_t)rr_chunk_length(&arrival->lists.reply); /* not above the length that was offered */

	return arrival->header.proc == RR_RDMA_NOMSG
		       ? (struct rpcrdma_bytes){ outbound->reply_memory, length }
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

/* Tells whether the message can be the reply to the outbound's call: its header, its version, its chunks and
 * its XID must fit. Any other message is discarded. */
static bool
reply_is_good(const struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	const struct rr_chunk_lists *lists = &arrival->lists;
	bool long_reply = arrival->header.proc == RR_RDMA_NOMSG;

	if (arrival->result != RR_HEADER_OK || arrival->header.proc > RR_RDMA_NOMSG)
		return false;
	/* draft-cel-nfsv4-rpcrdma-version-two-00, 5.3: "a responder MUST send Replies with the same [...]
	 * version". RFC 8166, 4.3.1: "Responders MUST leave the Read list empty in all replies."
	 * docs/conformance.md, A9: a Reply chunk of length 0 means that the reply came inline, else
	 * RDMA_NOMSG. */
	if (arrival->header.vers != outbound->version || lists->read_count > 0 ||
		!rr_outbound_returns_chunks(outbound, lists) ||
		(rr_chunk_length(&lists->reply) > 0) != long_reply)
		return false;
	/* The memory of a call that was cancelled is freed already: its stream cannot be read. */
	return (long_reply && !outbound->transaction) ||
	       reply_answers(reply_stream_of(outbound, arrival), arrival->header.xid);
}

/* Tells whether the RDMA_ERROR can be about the outbound's call: its version is that of the call, or it is an
 * ERR_VERS, whose header may have another version. RFC 8166, 4.5: in errors, "The rdma_vers field MUST
 * contain the same version that was in the rdma_vers field in the failing request". An error is never about a
 * reply: RFC 8166, 4.2.4: "A Responder MUST silently discard RDMA_ERROR procedures". */
static bool
reply_is_good_error(const struct rr_outbound *outbound, const struct rr_rdma_header *header)
{
	return header->err == RR_ERR_VERS || header->vers == outbound->version;
}

/* Tells whether the message, a reply or an RDMA_ERROR, ends the call of the outbound. */
static bool
reply_is_answer(const struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	if (arrival->kind == RR_ARRIVAL_ERROR)
		return reply_is_good_error(outbound, &arrival->header);
	return reply_is_good(outbound, arrival);
}

/* Hands the reply to the outbound's transaction: the given stream, and the results that the peer placed by
 * RDMA Write. Returns 0, or -RPCRDMA_ERR_PEER if the stream is not a reply with the call's XID. This is
 * checked a second time, as the peer could change a Reply chunk until its access was ended. */
static inline int
reply_hand_over(struct rr_outbound *outbound, const struct rr_arrival *arrival, struct rpcrdma_bytes stream)
{
	struct rr_transaction *transaction = outbound->transaction;

	transaction->reply = (struct rpcrdma_message){ .stream = stream.data, .length = stream.length };
	if (!reply_answers(stream, transaction->xid))
		return -RPCRDMA_ERR_PEER;
	transaction->pulled = outbound->read_octets;
	reply_take_items(transaction, &arrival->lists);
	transaction->unused = outbound->write_count - transaction->reply.item_count;
	reply_count(outbound, transaction, arrival->header.proc == RR_RDMA_NOMSG);
	return 0;
}

/* Hands a reply that was found good to the outbound's transaction. Does nothing if the call was cancelled.
 * Returns 0 or an error. */
static inline int
reply_take(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	if (!outbound->transaction)
		return 0;
	outbound->transaction->placed = (uint32_t)rr_chunk_length(&arrival->lists.reply);
	return reply_hand_over(outbound, arrival, reply_stream_of(outbound, arrival));
}

int
rr_outbound_take_pulled(struct rr_outbound *outbound, const struct rr_arrival *arrival, uint32_t octets)
{
	if (!outbound->transaction)
		return 0;
	/* The peer wrote nothing into the Reply chunk; results in sinks are added by reply_hand_over(). */
	outbound->transaction->placed = 0;
	return reply_hand_over(outbound, arrival, (struct rpcrdma_bytes){ outbound->pulled_memory, octets });
}

/* Counts the RDMA_ERROR, and returns the error with which the call ends: -RPCRDMA_ERR_VERS or
 * -RPCRDMA_ERR_CHUNK. RFC 8166, 4.5: "Receipt of this procedure completes the RPC transaction associated with
 * XID in the rdma_xid field." RFC 8267, 6.7.2: "the requester MUST respond to that error as prescribed by the
 * specification of the RPC transport." */
static int
reply_take_error(const struct rr_outbound *outbound, const struct rr_rdma_header *header)
{
	struct rpcrdma_counters *counters = &outbound->connection->base.counters;

	RR_PROBE(error_received, outbound->connection->base.peer, header->xid, header->err);
	rr_counters_error_received(counters, header->err);
	return header->err == RR_ERR_VERS ? -RPCRDMA_ERR_VERS : -RPCRDMA_ERR_CHUNK;
}

/* Passes what the answer shows about the peer's version on to the version negotiation. Returns true if the
 * call must be sent again, in another version. */
static bool
reply_negotiate(const struct rr_outbound *outbound, int error, const struct rr_rdma_header *header)
{
	struct rr_negotiation *negotiation = &outbound->connection->negotiation;
	enum rr_negotiation_event event = error ? RR_NEGOTIATION_FAILED : RR_NEGOTIATION_ANSWERED;

	if (error == -RPCRDMA_ERR_VERS) {
		negotiation->peer = (struct rr_version_range){ header->vers_low, header->vers_high };
		event = RR_NEGOTIATION_REFUSED;
	}
	rr_negotiation_event(outbound->connection, event);
	return error == -RPCRDMA_ERR_VERS && outbound->version != negotiation->version;
}

/* Sends the calls that wait, as an outbound is free again, and disconnects a connection that is stopping if
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
rr_outbound_conclude(struct rr_outbound *outbound, int error, const struct rr_arrival *arrival)
{
	struct rr_connection *connection = outbound->connection;
	struct rr_credits *credits = &connection->requester.credits;
	struct rpcrdma_counters *counters = &connection->base.counters;
	bool is_error = arrival->kind == RR_ARRIVAL_ERROR;

	/* draft-cel-nfsv4-rpcrdma-version-two-00, 5: "a requester MUST assume the ability to exchange only
	 * a single RPC-over-RDMA message at a time until it receives a non-error RPC-over-RDMA message
	 * from the responder that reports the responder's actual credit limit." After that, errors may
	 * change it, too. */
	if (!error || (error != -RPCRDMA_ERR_PEER && error != -RPCRDMA_ERR_VERS && credits->max > 0))
		rr_credits_grant(credits, arrival->header.credit);
	if (reply_negotiate(outbound, error, &arrival->header)) {
		rr_outbound_retry(outbound, arrival->receive);
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
	rr_outbound_finish(outbound, error, arrival->receive);
	reply_go_on(connection);
}

/* Ends the call of the outbound by its answer. Before this, ends the peer's access to the memory that the
 * call offered. */
static inline void
outbound_answer(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	int error;

	/* This comes first, so that the peer cannot change what is judged. */
	if (outbound->region_count > 0)
		rr_outbound_invalidate(outbound);
	if (arrival->kind == RR_ARRIVAL_ERROR)
		error = reply_take_error(outbound, &arrival->header);
	else
		error = reply_take(outbound, arrival);
	rr_outbound_conclude(outbound, error, arrival);
}

/* Checks that the handle which the message invalidated (if it did invalidate one) belongs to the outbound's
 * call. If not, ends the connection and returns false, as memory that another call still needs may have been
 * invalidated. RFC 8797, 4.1: "Each RDMA Send with Invalidate MUST invalidate an STag associated only with
 * the Transaction ID (XID) in the rdma_xid field of the RPC-over-RDMA Transport Header it carries." */
static bool
reply_check_invalidated(
	struct rr_connection *connection, struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	if (!arrival->invalidated)
		return true;
	for (uint32_t i = 0; outbound && i < outbound->region_count; i++) {
		if (outbound->segments[i].handle != arrival->invalidated_handle)
			continue;
		connection->base.counters.remote_invalidations++;
		RR_PROBE(invalidated, connection->base.peer, arrival->invalidated_handle, 1);
		rr_driver_invalidate(
			connection, &outbound->regions[i]); /* the region still exists on this side */
		return true;
	}
	rr_driver_abort(connection, -RPCRDMA_ERR_PEER,
		"%s: invalidated handle 0x%08x, which is not of this reply", connection->base.peer,
		arrival->invalidated_handle);
	return false;
}

/* Returns the outbound of the call with that XID, also if the call was cancelled. Returns NULL if there is no
 * such call. */
static struct rr_outbound *
requester_find(const struct rr_connection *connection, uint32_t xid)
{
	const struct rr_requester *requester = &connection->requester;
	struct rr_map_link *link = requester->outbounds ? rr_map_find(&requester->by_xid, xid) : NULL;

	return link ? rr_container(link, struct rr_outbound, by_xid) : NULL;
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

/* ---- The states of an outbound ---- */

/* Reacts to an event of an outbound; arrival: the message, if a message is the event. */
typedef void outbound_action(struct rr_outbound *outbound, const struct rr_arrival *arrival);

/* Checks that the message answers the outbound's call. If so, counts the answer, and posts the Receive again
 * that the answer used up. Otherwise discards the message and returns false. */
static inline bool
outbound_accept(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	struct rr_connection *connection = outbound->connection;

	if (!reply_is_answer(outbound, arrival)) {
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
outbound_take(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	if (outbound_accept(outbound, arrival))
		outbound_answer(outbound, arrival);
}

/* Keeps a copy of a good answer in the outbound until the Send of the call completes, as the provider may
 * still read the memory that the Send refers to. An answer that is not good is discarded. */
static void
outbound_hold(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	struct rr_chunk_lists lists = outbound->held.lists;

	if (!outbound_accept(outbound, arrival))
		return;
	/* A good answer has no more chunks than the call offered, so they fit. */
	rr_rdma_copy_lists(&lists, &arrival->lists);
	outbound->held = *arrival;
	outbound->held.lists = lists;
	rr_outbound_set_state(outbound, RR_OUTBOUND_HELD);
}

/* Is called when the Send of a call completed and no answer has come yet. */
static void
outbound_wait(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	(void)arrival;
	rr_outbound_set_state(outbound, RR_OUTBOUND_SENT);
}

/* Is called when the Send of a call completed after the answer came: ends the call by that answer. */
static void
outbound_answer_held(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	(void)arrival;
	outbound_answer(outbound, &outbound->held);
}

/* Is called for a reply that is to be pulled, if the Send of its call has not completed yet: keeps the reply
 * for a pull, which begins when the Send has completed. */
static void
outbound_pull_later(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	if (rr_pull_take(outbound, arrival))
		rr_outbound_set_state(outbound, RR_OUTBOUND_DUE);
}

/* Is called for a reply that is to be pulled, if the Send of its call has completed: begins the pull. */
static void
outbound_pull_now(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	if (rr_pull_take(outbound, arrival))
		rr_pull_begin(outbound);
}

/* Is called when the Send of a call completed, and its reply is to be pulled: begins the pull. */
static void
outbound_begin_pull(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	(void)arrival;
	rr_pull_begin(outbound);
}

/* Discards the message, because no call is under way that it could answer, or the call has an answer
 * already. */
static void
outbound_discard(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	rr_connection_discard(outbound->connection, arrival);
}

/* Does nothing. The state table names this function for a second completion of an outbound's Send, which
 * cannot come. */
static void
outbound_never(struct rr_outbound *outbound, const struct rr_arrival *arrival)
{
	(void)outbound;
	(void)arrival;
}

/* Calls the function that the table has for this event in the outbound's state. */
static void
outbound_event(struct rr_outbound *outbound, enum rr_outbound_event event, const struct rr_arrival *arrival)
{
	/* clang-format off */
	static outbound_action *const table[RR_OUTBOUND_STATES][RR_OUTBOUND_EVENTS] = {
		/*                    COMPLETED         ANSWERED      TO_PULL */
		[RR_OUTBOUND_FREE] =    { outbound_never,       outbound_discard, outbound_discard },
		[RR_OUTBOUND_QUEUED] =  { outbound_never,       outbound_discard, outbound_discard },
		[RR_OUTBOUND_POSTED] =  { outbound_wait,        outbound_hold,    outbound_pull_later },
		[RR_OUTBOUND_SENT] =    { outbound_never,       outbound_take,    outbound_pull_now },
		[RR_OUTBOUND_HELD] =    { outbound_answer_held, outbound_discard, outbound_discard },
		[RR_OUTBOUND_DUE] =     { outbound_begin_pull,  outbound_discard, outbound_discard },
		[RR_OUTBOUND_PULLING] = { outbound_never,       outbound_discard, outbound_discard },
	};
	/* clang-format on */

	table[outbound->state][event](outbound, arrival);
}

void
rr_outbound_completed(struct rr_chain *chain, enum rr_work_kind kind, int status)
{
	(void)kind;
	/* A Send that failed ends the connection, and the end of the connection frees its outbounds. */
	if (!status)
		outbound_event(rr_container(chain, struct rr_outbound, chain), RR_OUTBOUND_COMPLETED, NULL);
}

void
rr_requester_answered(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	struct rr_outbound *outbound = requester_find(connection, arrival->header.xid);
	bool is_pulled = arrival->kind == RR_ARRIVAL_REPLY && rr_arrival_is_to_be_pulled(arrival);

	if (!reply_check_invalidated(connection, outbound, arrival) || (!outbound && !is_pulled))
		rr_connection_discard(connection, arrival);
	else if (!outbound)
		rr_pull_decline(connection, arrival);
	else
		outbound_event(outbound, is_pulled ? RR_OUTBOUND_TO_PULL : RR_OUTBOUND_ANSWERED, arrival);
}
