/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/probe.h"
#include "carrier/rdma/requester/requester.h"

/* Sends a planned call: registration, header, body, Send. The stream is copied behind the header into the
 * outbound's buffer; items are gathered from where they lie, or registered for the peer to read. */

/* Registers memory for access by the peer, and adds its region and its segment to those of the outbound (the
 * state of a call under way). Returns 0 or an error. */
static int
marshal_offer(struct rr_outbound *outbound, const void *data, uint32_t length, enum rr_access access)
{
	struct rr_region *region = &outbound->regions[outbound->region_count];
	int error = rr_driver_register(outbound->connection, data, length, access, region);

	if (error)
		return error;
	outbound->segments[outbound->region_count++] =
		(struct rr_segment){ region->handle, length, region->offset };
	return 0;
}

/* Registers the memory into which the peer writes results: a Write chunk for each sink (memory for one
 * result) that is offered, then the Reply chunk. RFC 8166, 3.4.6: a requester "MUST register Write chunks
 * long enough to accommodate the maximum possible size of each returned data item." RFC 8166, 3.4.6.2: it
 * "SHOULD NOT include additional space for XDR roundup padding." Returns 0 or an error. */
static int
marshal_offer_results(struct rr_outbound *outbound, const struct rr_call_plan *plan)
{
	const struct rr_transaction *transaction = outbound->transaction;
	int error = 0;

	for (uint32_t i = 0; i < plan->write_chunks && !error; i++)
		error = marshal_offer(
			outbound, transaction->sinks[i].data, transaction->sinks[i].length, RR_REMOTE_WRITE);
	outbound->write_count = plan->write_chunks;
	outbound->has_reply = plan->reply_chunk > 0;
	if (!error && outbound->has_reply)
		error = marshal_offer(outbound, outbound->reply_memory, plan->reply_chunk, RR_REMOTE_WRITE);
	return error;
}

/* Registers the memory that the peer is to read, and lists its segments in reads: the data items that are
 * taken out of the stream, or, for a long call, the whole message. RFC 8166, 3.4.4.4: "a chunk MUST contain
 * exactly one XDR data item"; 3.4.5.2: without roundup padding, "the chunk's total length MUST be the same
 * as the encoded length of the data item"; 3.5.3: of a long call, "Every RDMA read segment in this chunk
 * MUST contain zero in its Position field." */
static int
marshal_offer_arguments(
	struct rr_outbound *outbound, const struct rr_call_plan *plan, struct rr_read_segment *reads)
{
	const struct rpcrdma_message *call = &outbound->transaction->call;
	struct rr_piece pieces[RR_OUTBOUND_READS]; /* a call has RR_CALL_ITEMS items at most */
	uint32_t count = 0, positions[RR_OUTBOUND_READS];

	if (plan->segments == 0)
		return 0;
	/* The plan of a long call takes no items out: they are among the pieces of the whole message. */
	if (plan->long_call)
		count = rr_pieces(call, 0, pieces);
	for (uint32_t i = 0; i < call->item_count; i++) {
		if (plan->reduced & rr_item_bit(i)) {
			pieces[count] = (struct rr_piece){ call->items[i].data, call->items[i].length, true };
			positions[count++] = rr_item_position(call, i);
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		int error = marshal_offer(outbound, pieces[i].data, pieces[i].length, RR_REMOTE_READ);

		if (error)
			return error;
		reads[i].position = plan->long_call ? 0 : positions[i];
		reads[i].target = outbound->segments[outbound->region_count - 1];
		outbound->read_octets += pieces[i].length;
	}
	return 0;
}

/* Returns the header of the outbound's call: an RDMA_NOMSG for a long call, else an RDMA_MSG. RFC
 * 8166, 4.2.4: "A Requester MUST NOT send an RPC-over-RDMA header with the RDMA_ERROR procedure"; RFC
 * 8166, 4.6.1: "senders MUST NOT send RDMA_MSGP procedures." Its version is that of the connection. RFC
 * 8166, 4.2.2: in version 1 the field "MUST contain the value one (1)". RFC 8167, 5.1: the version is the
 * same "in reverse- and forward-direction Call messages on the same connection." */
static struct rr_rdma_header
marshal_header(const struct rr_outbound *outbound, const struct rr_call_plan *plan)
{
	return (struct rr_rdma_header){
		.xid = outbound->transaction->xid,
		.vers = outbound->version,
		.credit = outbound->connection->requester.credits.asked,
		.proc = plan->long_call ? RR_RDMA_NOMSG : RR_RDMA_MSG,
	};
}

/* Makes the header the first part of the Send, and records the header in the connection's trace of the last
 * headers. The header is the first `octets` octets of the outbound's buffer. */
static void
marshal_begin(struct rr_outbound *outbound, const struct rr_call_plan *plan, uint32_t octets,
	const struct rr_chunk_lists *lists)
{
	struct rr_connection *connection = outbound->connection;

	outbound->buffer_used = octets;
	outbound->sges[0] = (struct rr_sge){ outbound->buffer, octets };
	outbound->sge_count = 1;
	rr_trace_add(&connection->trace, connection->base.engine->loop, true, outbound->buffer,
		plan->header + plan->body, lists);
}

/* Encodes the header of a call without chunks into the outbound's buffer. Most calls are such calls, so this
 * function does no more than they need. */
static void
marshal_put_plain(struct rr_outbound *outbound, const struct rr_call_plan *plan)
{
	static const struct rr_chunk_lists nothing;
	const struct rr_rdma_header header = marshal_header(outbound, plan);

	outbound->write_count = 0;
	outbound->has_reply = false;
	rr_rdma_put_plain(outbound->buffer, &header);
	marshal_begin(outbound, plan, RR_RDMA_HEADER_MIN, &nothing);
}

/* Registers the memory that the peer may read and write for this call, lists it in the header as chunks, and
 * encodes the header into the buffer. Returns 0 or an error. It is not inlined, so that its large arrays cost
 * nothing in a call without chunks. */
__attribute__((noinline)) static int
marshal_put_chunks(struct rr_outbound *outbound, const struct rr_call_plan *plan)
{
	const struct rr_rdma_header header = marshal_header(outbound, plan);
	struct rr_read_segment reads[RR_OUTBOUND_READS];
	struct rr_chunk writes[RPCRDMA_SINKS_MAX];
	struct rpcrdma_xdr_writer writer;
	struct rr_chunk_lists lists;
	int error = marshal_offer_results(outbound, plan);

	if (!error)
		error = marshal_offer_arguments(outbound, plan, reads);
	if (error)
		return error;
	for (uint32_t i = 0; i < outbound->write_count; i++)
		writes[i] = (struct rr_chunk){ &outbound->segments[i], 1 };
	lists = (struct rr_chunk_lists){
		.reads = reads,
		.writes = writes,
		.read_count = plan->segments,
		.write_count = outbound->write_count,
		.reply = { &outbound->segments[outbound->write_count], outbound->has_reply },
		.has_reply = outbound->has_reply,
	};
	rpcrdma_xdr_writer_init(
		&writer, outbound->buffer, rr_room_send_size(outbound->connection->room), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, &lists);
	marshal_begin(outbound, plan, (uint32_t)rpcrdma_xdr_length(&writer), &lists);
	return 0;
}

/* Adds the octets of a message with items to the Send: the parts of the stream are copied behind the header,
 * and the items between them are gathered from where they lie. `extends` tells whether the last sge ends
 * where the buffer is filled so far, so that the next octets that are copied make this sge longer. It is not
 * inlined, so that its array costs nothing in a call without items. */
__attribute__((noinline)) static void
marshal_put_items(struct rr_outbound *outbound, const struct rr_call_plan *plan)
{
	struct rr_piece pieces[RR_PIECES_MAX];
	uint32_t sge_max = rr_driver_sge_max(outbound->connection->fabric);
	uint32_t count = rr_pieces(&outbound->transaction->call, plan->reduced, pieces);
	bool extends = true;

	for (uint32_t i = 0; i < count; i++) {
		uint8_t *to = outbound->buffer + outbound->buffer_used;

		/* Room is needed for the item and for the part of the stream behind it. If the provider
		 * cannot gather so many pieces, the item, which is small as it goes inline, is copied,
		 * too. */
		if (pieces[i].item && outbound->sge_count + 2 <= sge_max) {
			outbound->sges[outbound->sge_count++] =
				(struct rr_sge){ pieces[i].data, pieces[i].length };
			extends = false;
			continue;
		}
		memcpy(to, pieces[i].data, pieces[i].length);
		outbound->buffer_used += pieces[i].length;
		if (extends)
			outbound->sges[outbound->sge_count - 1].length += pieces[i].length;
		else
			outbound->sges[outbound->sge_count++] = (struct rr_sge){ to, pieces[i].length };
		extends = true;
	}
}

/* Adds the octets of the message to the Send, behind the header. Most calls are one stream without separate
 * data items, which is copied. The body of a long call is not in the Send. */
static void
marshal_put_body(struct rr_outbound *outbound, const struct rr_call_plan *plan)
{
	const struct rpcrdma_message *call = &outbound->transaction->call;

	if (plan->long_call)
		return;
	if (call->item_count > 0) {
		marshal_put_items(outbound, plan);
		return;
	}
	memcpy(outbound->buffer + outbound->buffer_used, call->stream, call->length);
	outbound->buffer_used += call->length;
	outbound->sges[0].length += call->length;
}

/* Fills in the Send of the outbound's call. */
static void
marshal_make_send(struct rr_outbound *outbound, struct rr_work *work)
{
	rr_outbound_set_state(outbound, RR_OUTBOUND_POSTED);
	work->kind = RR_WORK_SEND;
	work->sges = outbound->sges;
	work->sge_count = outbound->sge_count;
}

/* Fills in the Send of the outbound's call, the only work request of its chain. Returns false if the Send was
 * posted already. */
static bool
marshal_next_work(struct rr_chain *chain, struct rr_work *work, struct rr_sge *sges, uint32_t sge_max)
{
	struct rr_outbound *outbound = rr_container(chain, struct rr_outbound, chain);

	(void)sges;
	(void)sge_max;
	if (outbound->state != RR_OUTBOUND_QUEUED)
		return false;
	marshal_make_send(outbound, work);
	return true;
}

/* Posts the Send of the outbound's call: at once if it can be posted, else as soon as there is room for it.
 */
static void
marshal_submit(struct rr_connection *connection, struct rr_outbound *outbound)
{
	struct rr_work work;

	if (!rr_driver_can_post(connection)) {
		rr_driver_submit(connection, &outbound->chain);
		return;
	}
	marshal_make_send(outbound, &work);
	rr_driver_post(connection, &outbound->chain, &work);
}

/* Counts the reason why a call has chunks, or offers chunks for its reply. */
static void
marshal_count_why(struct rpcrdma_counters *counters, enum rr_why why)
{
	switch (why) {
	case RR_WHY_NOT: break;
	case RR_WHY_ARGUMENTS: counters->why_arguments++; break;
	case RR_WHY_STREAM: counters->why_stream++; break;
	case RR_WHY_REST: counters->why_rest++; break;
	case RR_WHY_SINKS: counters->why_sinks++; break;
	case RR_WHY_REPLY: counters->why_reply++; break;
	case RR_WHY_MANY: counters->why_many++; break;
	}
}

/* Counts a call that is sent: the way in which it travels (inline, with Read chunks, or long), its octets,
 * and the reasons for its chunks. */
static void
marshal_count_call(struct rr_outbound *outbound, const struct rr_call_plan *plan)
{
	struct rpcrdma_counters *counters = &outbound->connection->base.counters;

	if (plan->why_call != RR_WHY_NOT)
		marshal_count_why(counters, plan->why_call);
	if (plan->why_reply != RR_WHY_NOT)
		marshal_count_why(counters, plan->why_reply);
	RR_PROBE(call_sent, outbound->connection->base.peer, outbound->transaction->xid, plan->body,
		outbound->read_octets, plan->why_call, plan->why_reply);
	counters->calls++;
	counters->replies_left += plan->left;
	counters->long_calls += plan->long_call;
	counters->inline_messages += plan->segments == 0;
	counters->read_chunks += plan->long_call ? 0 : plan->segments;
	counters->octets_inline += plan->body;
	counters->octets_rdma_read += outbound->read_octets;
}

int
rr_outbound_send(struct rr_connection *connection, struct rr_transaction *transaction,
	const struct rr_call_plan *plan, void *reply_memory, uint32_t provided)
{
	struct rr_requester *requester = &connection->requester;
	struct rr_outbound *outbound = rr_container(rr_list_pop(&requester->free), struct rr_outbound, link);
	int error = 0;

	outbound->transaction = transaction;
	outbound->version = connection->negotiation.version;
	rr_outbound_set_state(outbound, RR_OUTBOUND_QUEUED);
	outbound->revoked = false;
	outbound->held.receive = NULL;
	outbound->chain.next = marshal_next_work;
	outbound->reply_memory = reply_memory;
	outbound->provided = provided;
	outbound->region_count = outbound->read_octets = 0;
	outbound->pull = NULL;
	outbound->pulled_memory = NULL;
	rr_list_append(&requester->outstanding, &outbound->link);
	rr_map_add(&requester->by_xid, &outbound->by_xid, transaction->xid);
	if (plan->segments == 0 && plan->write_chunks == 0 && plan->reply_chunk == 0)
		marshal_put_plain(outbound, plan);
	else
		error = marshal_put_chunks(outbound, plan);
	if (error) {
		outbound->transaction = NULL;
		outbound->reply_memory = NULL;
		rr_outbound_release(outbound);
		return error;
	}
	marshal_put_body(outbound, plan);
	transaction->outbound = outbound;
	marshal_count_call(outbound, plan);
	marshal_submit(connection, outbound);
	rr_driver_watch_first_reply(connection);
	return 0;
}
