/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier/rdma/responder/provided.h"

#include "base/peer_log.h"
#include "base/probe.h"
#include "wire/rpc.h"

/* Takes calls, from their arrival to their delivery.
 *
 * Ownership: the receive of a call, the pool memory for its Read chunks and the struct rr_inbound live until
 * the reply was sent. Pool memory is taken after the whole Read list was judged. A call without memory waits
 * for it, and does not hold up other calls. */

/* ---- Delivery ---- */

/* Counts a call that has arrived whole: the way in which it travelled (inline or in Read chunks), and its
 * octets. */
static void
responder_count_call(struct rr_inbound *inbound)
{
	struct rpcrdma_counters *counters = &inbound->connection->base.counters;
	bool long_call = inbound->header.proc == RR_RDMA_NOMSG;

	RR_PROBE(call_received, inbound->connection->base.peer, inbound->header.xid,
		inbound->base.call.length, inbound->chunks.count, (int)long_call);
	counters->calls++;
	counters->long_calls += long_call;
	counters->inline_messages += inbound->chunks.count == 0;
	counters->read_chunks += inbound->chunks.count - long_call;
	counters->octets_inline += long_call ? 0 : inbound->base.call.length;
	for (uint32_t i = 0; i < inbound->chunks.count; i++)
		counters->octets_rdma_read += inbound->chunks.chunks[i].length;
}

/* Makes the message of the call from the Read chunks that were pulled: the first chunk is the stream of a
 * long call, and each other chunk is a data item. The stream of any other call lies in the Receive buffer, as
 * rr_inbound_take() has set it. */
static void
responder_assemble(struct rr_inbound *inbound)
{
	bool long_call = inbound->header.proc == RR_RDMA_NOMSG;
	struct rpcrdma_message *call = &inbound->base.call;

	if (long_call) {
		call->stream = inbound->memory;
		call->length = inbound->chunks.chunks[0].length;
	}
	call->items = inbound->items;
	call->item_count = inbound->chunks.count - long_call;
	for (uint32_t i = 0; i < call->item_count; i++) {
		const struct rr_read_chunk *chunk = &inbound->chunks.chunks[i + long_call];

		inbound->items[i] =
			(struct rpcrdma_item){ inbound->memory + chunk->at, chunk->length, chunk->offset };
	}
}

/* Answers a call with PROG_UNAVAIL, as a server does that does not have the program: the owner of this side
 * takes no calls. draft-cel-nfsv4-rpcrdma-version-two-00, 4.2: "Implementations of RPC-over-RDMA Version Two
 * are REQUIRED to support backwards direction operation". If this side announced to the peer that it takes no
 * calls (draft-cel-nfsv4-rpcrdma-version-two-03, 5.2.2), the call is discarded instead. */
static void
responder_refuse_program(struct rr_inbound *inbound)
{
	struct rr_connection *connection = inbound->connection;
	const struct rr_reply_header header = {
		.xid = inbound->header.xid, .reply_stat = RR_MSG_ACCEPTED, .accept_stat = RR_PROG_UNAVAIL
	};
	struct rpcrdma_xdr_writer writer;
	struct rpcrdma_message reply;

	if (connection->features.properties.own[RR_PROPERTY_REVERSE] == RR_REVERSE_NONE) {
		connection->base.counters.discarded++;
		RR_PROBE(discarded, connection->base.peer, inbound->base.call.length, false);
		rr_inbound_done(inbound);
		return;
	}
	rpcrdma_xdr_writer_init(&writer, inbound->refusal, sizeof(inbound->refusal), NULL, 0);
	rr_rpc_put_reply(&writer, &header);
	reply = (struct rpcrdma_message){ .stream = inbound->refusal,
		.length = (uint32_t)rpcrdma_xdr_length(&writer) };
	rr_inbound_set_state(inbound, RR_INBOUND_DELIVERED);
	responder_count_call(inbound);
	rr_responder_reply(&inbound->base, &reply, NULL, NULL);
}

/* Hands a call that has arrived whole to the owner of the connection, or answers it by an error if its
 * message is no call with the header's XID, or the owner takes no calls. */
static void
responder_deliver(struct rr_inbound *inbound)
{
	struct rr_connection *connection = inbound->connection;
	const struct rr_carrier_events *events = connection->base.events;
	struct rpcrdma_message *call = &inbound->base.call;
	uint32_t xid, type;

	responder_assemble(inbound);
	/* RFC 8166, 4.5.2: it is an error in the header if "the value of the rdma_xid field does not match
	 * the value of the XID field in the accompanying RPC message". */
	if (!rr_rpc_peek(call->stream, call->length, &xid, &type) || xid != inbound->header.xid) {
		rr_inbound_refuse_header(inbound, RR_ERR_CHUNK);
		return;
	}
	/* RFC 5531, 9: a message is a call or a reply. A Long Call with another message in it is answered by
	 * an error, as the sender may wait for an answer, which RFC 8166, 4.5.4, requires. */
	if (type != RR_CALL) {
		rr_inbound_refuse_header(inbound, RR_ERR_CHUNK);
		return;
	}
	if (!events || !events->call) {
		responder_refuse_program(inbound);
		return;
	}
	inbound->base.xid = xid;
	rr_negotiation_called(connection, inbound->header.vers);
	rr_inbound_set_state(inbound, RR_INBOUND_DELIVERED);
	rr_plan_room(rr_connection_send_max(connection, inbound->header.vers),
		rr_provided_room(connection, inbound->header.vers), &inbound->lists, &inbound->base.item_room,
		&inbound->base.stream_room);
	inbound->base.write_chunks = inbound->lists.write_count;
	responder_count_call(inbound);
	events->call(connection->base.ctx, &inbound->base);
}

/* ---- Pulling ---- */

/* Is the next() of the chain that pulls the Read chunks of a call: fills in the next RDMA Read. Returns false
 * if there are no more. */
static bool
responder_next_read(struct rr_chain *chain, struct rr_work *work, struct rr_sge *sges, uint32_t sge_max)
{
	(void)sge_max;
	return rr_fetch_next(&rr_container(chain, struct rr_inbound, chain)->fetch, work, sges);
}

/* Is called when an RDMA Read of the call's chunks completed. After the last of them the call is
 * delivered. */
static void
responder_read_completed(struct rr_chain *chain, enum rr_work_kind kind, int status)
{
	struct rr_inbound *inbound = rr_container(chain, struct rr_inbound, chain);

	(void)kind;
	/* RFC 8166, 4.5.3: "RDMA operational errors are typically fatal to the connection." A call whose RDMA
	 * Read failed is not delivered: it ends with the connection. */
	if (!status && --inbound->fetch.left == 0)
		responder_deliver(inbound);
}

/* Posts the RDMA Reads of the call's chunks. Most calls with chunks need one RDMA Read, which is posted at
 * once if there is room for it. */
static void
responder_submit(struct rr_inbound *inbound)
{
	struct rr_sge sge;
	struct rr_work work = { .sges = &sge };

	inbound->chain.next = responder_next_read;
	inbound->chain.completed = responder_read_completed;
	if (inbound->fetch.left > 1 || !rr_driver_can_post(inbound->connection)) {
		rr_driver_submit(inbound->connection, &inbound->chain);
		return;
	}
	rr_fetch_next(&inbound->fetch, &work, &sge);
	rr_driver_post(inbound->connection, &inbound->chain, &work);
}

/* Takes pool memory for the Read chunks of the call and begins to read the chunks. If there is no memory, the
 * call waits; if no other user could give memory back, the connection ends instead. */
static void
responder_pull(struct rr_inbound *inbound)
{
	struct rr_connection *connection = inbound->connection;

	inbound->memory =
		rr_pool_get(inbound->engine->arrivals, connection->base.party, inbound->chunks.memory);
	if (!inbound->memory && rr_pool_is_idle(inbound->engine->arrivals)) {
		rr_driver_abort(connection, -RPCRDMA_ERR_NOMEM, "%s: no memory for the Read chunks of a call",
			connection->base.peer);
		return;
	}
	if (!inbound->memory) {
		rr_pool_wait(inbound->engine->arrivals, connection->base.party, &inbound->waiter);
		return;
	}
	inbound->fetch = rr_fetch(&inbound->lists, &inbound->chunks, inbound->memory);
	responder_submit(inbound);
}

/* Is called when the pool may have memory for the Read chunks of a call: begins to pull them, or waits
 * again. */
static void
responder_woken(struct rr_pool_waiter *waiter)
{
	responder_pull(rr_container(waiter, struct rr_inbound, waiter));
}

/* ---- Arrival ---- */

/* Checks the header of a call, and sets inbound->chunks from its Read list. Returns 0, or the error with
 * which the call must be answered. */
static int
responder_judge_call(struct rr_inbound *inbound, const struct rr_arrival *arrival)
{
	const struct rr_engine_config *config = &inbound->engine->config;
	bool long_call = arrival->header.proc == RR_RDMA_NOMSG;

	/* RFC 8166, 4.5: if errors are detected in the header of a call, "a Responder MUST send an RDMA_ERROR
	 * message back to the Requester": ERR_VERS (4.5.1) or ERR_CHUNK (4.5.2). */
	if (arrival->result == RR_HEADER_VERS)
		return RR_ERR_VERS;
	if (arrival->result != RR_HEADER_OK)
		return RR_ERR_CHUNK;
	/* RFC 8166, 4.6.1: "When receiving an RDMA_MSGP procedure, Responders SHOULD reply with an RDMA_ERROR
	 * procedure, setting the rdma_err field to ERR_CHUNK"; 4.5.2 says the same of unknown procedures. */
	if (arrival->header.proc > RR_RDMA_NOMSG)
		return RR_ERR_CHUNK;
	/* RFC 8166, 4.2.4: of the chunks of an RDMA_NOMSG, "one MUST be present and MUST hold the Payload
	 * stream for this RPC-over-RDMA message": in a call, that is a position-zero Read chunk. */
	if (!rr_read_chunks(&inbound->lists, long_call, arrival->payload.length, config->message_max,
		    &inbound->chunks))
		return RR_ERR_CHUNK;
	/* chunk_max bounds the data items that a call may bring in Read chunks. */
	return inbound->chunks.count - long_call <= config->chunk_max ? 0 : RR_ERR_CHUNK;
}

/* Begins to serve a call that arrived: refuses it if its header is wrong, delivers it if it is inline, or
 * begins to pull its Read chunks. */
static void
responder_begin_call(struct rr_inbound *inbound, const struct rr_arrival *arrival)
{
	int err = responder_judge_call(inbound, arrival);

	if (!err)
		rr_party_called(inbound->connection->base.party);
	if (err) {
		rr_inbound_refuse_header(inbound, (enum rr_rdma_err)err);
	} else if (inbound->connection->is_active && rr_rdma_has_lists(&inbound->lists)) {
		/* RFC 8167, 5.3: "If a reverse-direction requester provides a non-empty chunk list to a
		 * Responder that does not support chunks, the Responder MUST reply with an RDMA_ERROR message
		 * with rdma_err field set to ERR_CHUNK." */
		rr_inbound_refuse(inbound, RR_ERR_CHUNK);
	} else if (inbound->chunks.count == 0) {
		responder_deliver(inbound);
	} else {
		inbound->waiter.wake = responder_woken;
		responder_pull(inbound);
	}
}

/* Counts a call of the peer as unanswered. If the peer has more unanswered calls than it was granted, counts
 * that, too, and logs it once; the call is served all the same. RFC 8166, 3.3.1: "If the granted value is
 * exceeded, the RDMA layer may signal an error, possibly terminating the connection." */
static void
responder_take_credit(struct rr_inbound *inbound)
{
	struct rr_connection *connection = inbound->connection;
	uint32_t most = connection->granted_max > 0 ? connection->granted_max : 1;

	inbound->unanswered = true;
	if (++connection->unanswered <= most)
		return;
	if (connection->base.counters.overruns++ == 0)
		rr_log_peer(rr_loop_peer_log(connection->base.engine->loop), connection->base.peer,
			"%s: sends more calls than the %u that were granted", connection->base.peer, most);
}

struct rr_inbound *
rr_responder_take(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	struct rr_inbound *inbound = rr_inbound_take(connection, arrival);

	if (!inbound) {
		rr_driver_release(connection->fabric, arrival->receive);
		rr_driver_abort(
			connection, -RPCRDMA_ERR_NOMEM, "%s: no memory for a call", connection->base.peer);
	}
	return inbound;
}

void
rr_responder_called(struct rr_connection *connection, const struct rr_arrival *arrival)
{
	struct rr_inbound *inbound;

	/* A side that is stopping takes no more calls. As the call that is discarded here gets no answer, the
	 * connection then ends without waiting for the calls of this side: see rr_connection_check_idle(). */
	if (connection->state >= RR_CONNECTION_STOPPING) {
		connection->declined |= connection->state == RR_CONNECTION_STOPPING;
		rr_connection_discard(connection, arrival);
		rr_connection_check_idle(connection);
		return;
	}
	inbound = rr_responder_take(connection, arrival);
	if (!inbound)
		return;
	responder_take_credit(inbound);
	responder_begin_call(inbound, arrival);
}

/* ---- The end of the connection ---- */

void
rr_responder_end(struct rr_connection *connection)
{
	struct rr_list *link;

	rr_provided_end(connection);
	while ((link = rr_list_pop(&connection->exchanges))) {
		struct rr_inbound *inbound = rr_container(link, struct rr_inbound, link);

		inbound->connection = NULL;
		inbound->base.carrier = NULL;
		rr_inbound_event(inbound, RR_INBOUND_LOST);
	}
}
