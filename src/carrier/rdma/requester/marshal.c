/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/probe.h"
#include "carrier/rdma/requester/requester.h"

/* Sends a planned call: registration, header, body, Send. The stream is copied behind the header into the
 * slot's buffer; items are gathered from where they lie, or registered for the peer to read. */

/* Registers memory for access by the peer, and adds its region and its segment to those of the slot (the
 * state of a call under way). Returns 0 or an error. */
static int
marshal_offer(struct rr_slot *slot, const void *data, uint32_t length, enum rr_access access)
{
	struct rr_region *region = &slot->regions[slot->region_count];
	int error = rr_driver_register(slot->connection, data, length, access, region);

	if (error)
		return error;
	slot->segments[slot->region_count++] = (struct rr_segment){ region->handle, length, region->offset };
	return 0;
}

/* Registers the memory into which the peer writes results: a Write chunk for each sink (memory for one
 * result) that is offered, then the Reply chunk. RFC 8166, 3.4.6: a requester "MUST register Write chunks
 * long enough to accommodate the maximum possible size of each returned data item." RFC 8166, 3.4.6.2: it
 * "SHOULD NOT include additional space for XDR roundup padding." Returns 0 or an error. */
static int
marshal_offer_results(struct rr_slot *slot, const struct rr_call_plan *plan)
{
	const struct rr_transaction *transaction = slot->transaction;
	int error = 0;

	for (uint32_t i = 0; i < plan->write_chunks && !error; i++)
		error = marshal_offer(
			slot, transaction->sinks[i].data, transaction->sinks[i].length, RR_REMOTE_WRITE);
	slot->write_count = plan->write_chunks;
	slot->has_reply = plan->reply_chunk > 0;
	if (!error && slot->has_reply)
		error = marshal_offer(slot, slot->reply_memory, plan->reply_chunk, RR_REMOTE_WRITE);
	return error;
}

/* Registers the memory that the peer is to read, and lists its segments in reads: the data items that are
 * taken out of the stream, or, for a long call, the whole message. RFC 8166, 3.4.4.4: "a chunk MUST contain
 * exactly one XDR data item"; 3.4.5.2: without roundup padding, "the chunk's total length MUST be the same
 * as the encoded length of the data item"; 3.5.3: of a long call, "Every RDMA read segment in this chunk
 * MUST contain zero in its Position field." */
static int
marshal_offer_arguments(struct rr_slot *slot, const struct rr_call_plan *plan, struct rr_read_segment *reads)
{
	const struct rpcrdma_message *call = &slot->transaction->call;
	struct rr_piece pieces[RR_SLOT_READS]; /* a call has RR_CALL_ITEMS items at most */
	uint32_t count = 0, positions[RR_SLOT_READS];

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
		int error = marshal_offer(slot, pieces[i].data, pieces[i].length, RR_REMOTE_READ);

		if (error)
			return error;
		reads[i].position = plan->long_call ? 0 : positions[i];
		reads[i].target = slot->segments[slot->region_count - 1];
		slot->read_octets += pieces[i].length;
	}
	return 0;
}

/* Returns the header of the slot's call: an RDMA_NOMSG for a long call, else an RDMA_MSG. RFC 8166, 4.2.4: "A
 * Requester MUST NOT send an RPC-over-RDMA header with the RDMA_ERROR procedure"; RFC 8166, 4.6.1: "senders
 * MUST NOT send RDMA_MSGP procedures." Its version is that of the connection. RFC 8166, 4.2.2: in version 1
 * the field "MUST contain the value one (1)". RFC 8167, 5.1: the version is the same "in reverse- and
 * forward-direction Call messages on the same connection." */
static struct rr_rdma_header
marshal_header(const struct rr_slot *slot, const struct rr_call_plan *plan)
{
	return (struct rr_rdma_header){
		.xid = slot->transaction->xid,
		.vers = slot->version,
		.credit = slot->connection->requester.credits.asked,
		.proc = plan->long_call ? RR_RDMA_NOMSG : RR_RDMA_MSG,
	};
}

/* Makes the header the first part of the Send, and records the header in the connection's trace of the last
 * headers. The header is the first `octets` octets of the slot's buffer. */
static void
marshal_begin(struct rr_slot *slot, const struct rr_call_plan *plan, uint32_t octets,
	const struct rr_chunk_lists *lists)
{
	struct rr_connection *connection = slot->connection;

	slot->buffer_used = octets;
	slot->sges[0] = (struct rr_sge){ slot->buffer, octets };
	slot->sge_count = 1;
	rr_trace_add(&connection->trace, connection->base.engine->loop, true, slot->buffer,
		plan->header + plan->body, lists);
}

/* Encodes the header of a call without chunks into the slot's buffer. Most calls are such calls, so this
 * function does no more than they need. */
static void
marshal_put_plain(struct rr_slot *slot, const struct rr_call_plan *plan)
{
	static const struct rr_chunk_lists nothing;
	const struct rr_rdma_header header = marshal_header(slot, plan);

	slot->write_count = 0;
	slot->has_reply = false;
	rr_rdma_put_plain(slot->buffer, &header);
	marshal_begin(slot, plan, RR_RDMA_HEADER_MIN, &nothing);
}

/* Registers the memory that the peer may read and write for this call, lists it in the header as chunks, and
 * encodes the header into the buffer. Returns 0 or an error. It is not inlined, so that its large arrays cost
 * nothing in a call without chunks. */
__attribute__((noinline)) static int
marshal_put_chunks(struct rr_slot *slot, const struct rr_call_plan *plan)
{
	const struct rr_rdma_header header = marshal_header(slot, plan);
	struct rr_read_segment reads[RR_SLOT_READS];
	struct rr_chunk writes[RPCRDMA_SINKS_MAX];
	struct rpcrdma_xdr_writer writer;
	struct rr_chunk_lists lists;
	int error = marshal_offer_results(slot, plan);

	if (!error)
		error = marshal_offer_arguments(slot, plan, reads);
	if (error)
		return error;
	for (uint32_t i = 0; i < slot->write_count; i++)
		writes[i] = (struct rr_chunk){ &slot->segments[i], 1 };
	lists = (struct rr_chunk_lists){
		.reads = reads,
		.writes = writes,
		.read_count = plan->segments,
		.write_count = slot->write_count,
		.reply = { &slot->segments[slot->write_count], slot->has_reply },
		.has_reply = slot->has_reply,
	};
	rpcrdma_xdr_writer_init(&writer, slot->buffer, rr_room_send_size(slot->connection->room), NULL, 0);
	rr_rdma_put_any_header(&writer, &header, &lists);
	marshal_begin(slot, plan, (uint32_t)rpcrdma_xdr_length(&writer), &lists);
	return 0;
}

/* Adds the octets of a message with items to the Send: the parts of the stream are copied behind the header,
 * and the items between them are gathered from where they lie. `extends` tells whether the last sge ends
 * where the buffer is filled so far, so that the next octets that are copied make this sge longer. It is not
 * inlined, so that its array costs nothing in a call without items. */
__attribute__((noinline)) static void
marshal_put_items(struct rr_slot *slot, const struct rr_call_plan *plan)
{
	struct rr_piece pieces[RR_PIECES_MAX];
	uint32_t sge_max = rr_driver_sge_max(slot->connection->fabric);
	uint32_t count = rr_pieces(&slot->transaction->call, plan->reduced, pieces);
	bool extends = true;

	for (uint32_t i = 0; i < count; i++) {
		uint8_t *to = slot->buffer + slot->buffer_used;

		/* Room is needed for the item and for the part of the stream behind it. If the provider
		 * cannot gather so many pieces, the item, which is small as it goes inline, is copied,
		 * too. */
		if (pieces[i].item && slot->sge_count + 2 <= sge_max) {
			slot->sges[slot->sge_count++] = (struct rr_sge){ pieces[i].data, pieces[i].length };
			extends = false;
			continue;
		}
		memcpy(to, pieces[i].data, pieces[i].length);
		slot->buffer_used += pieces[i].length;
		if (extends)
			slot->sges[slot->sge_count - 1].length += pieces[i].length;
		else
			slot->sges[slot->sge_count++] = (struct rr_sge){ to, pieces[i].length };
		extends = true;
	}
}

/* Adds the octets of the message to the Send, behind the header. Most calls are one stream without separate
 * data items, which is copied. The body of a long call is not in the Send. */
static void
marshal_put_body(struct rr_slot *slot, const struct rr_call_plan *plan)
{
	const struct rpcrdma_message *call = &slot->transaction->call;

	if (plan->long_call)
		return;
	if (call->item_count > 0) {
		marshal_put_items(slot, plan);
		return;
	}
	memcpy(slot->buffer + slot->buffer_used, call->stream, call->length);
	slot->buffer_used += call->length;
	slot->sges[0].length += call->length;
}

/* Fills in the Send of the slot's call. */
static void
marshal_make_send(struct rr_slot *slot, struct rr_work *work)
{
	rr_slot_set_state(slot, RR_SLOT_POSTED);
	work->kind = RR_WORK_SEND;
	work->sges = slot->sges;
	work->sge_count = slot->sge_count;
}

/* Fills in the Send of the slot's call, the only work request of its chain. Returns false if the Send was
 * posted already. */
static bool
marshal_next_work(struct rr_chain *chain, struct rr_work *work, struct rr_sge *sges, uint32_t sge_max)
{
	struct rr_slot *slot = rr_container(chain, struct rr_slot, chain);

	(void)sges;
	(void)sge_max;
	if (slot->state != RR_SLOT_QUEUED)
		return false;
	marshal_make_send(slot, work);
	return true;
}

/* Posts the Send of the slot's call: at once if it can be posted, else as soon as there is room for it. */
static void
marshal_submit(struct rr_connection *connection, struct rr_slot *slot)
{
	struct rr_work work;

	if (!rr_driver_can_post(connection)) {
		rr_driver_submit(connection, &slot->chain);
		return;
	}
	marshal_make_send(slot, &work);
	rr_driver_post(connection, &slot->chain, &work);
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
marshal_count_call(struct rr_slot *slot, const struct rr_call_plan *plan)
{
	struct rpcrdma_counters *counters = &slot->connection->base.counters;

	if (plan->why_call != RR_WHY_NOT)
		marshal_count_why(counters, plan->why_call);
	if (plan->why_reply != RR_WHY_NOT)
		marshal_count_why(counters, plan->why_reply);
	RR_PROBE(call_sent, slot->connection->base.peer, slot->transaction->xid, plan->body,
		slot->read_octets, plan->why_call, plan->why_reply);
	counters->calls++;
	counters->replies_left += plan->left;
	counters->long_calls += plan->long_call;
	counters->inline_messages += plan->segments == 0;
	counters->read_chunks += plan->long_call ? 0 : plan->segments;
	counters->octets_inline += plan->body;
	counters->octets_rdma_read += slot->read_octets;
}

int
rr_slot_send(struct rr_connection *connection, struct rr_transaction *transaction,
	const struct rr_call_plan *plan, void *reply_memory, uint32_t provided)
{
	struct rr_requester *requester = &connection->requester;
	struct rr_slot *slot = rr_container(rr_list_pop(&requester->free), struct rr_slot, link);
	int error = 0;

	slot->transaction = transaction;
	slot->version = connection->negotiation.version;
	rr_slot_set_state(slot, RR_SLOT_QUEUED);
	slot->revoked = false;
	slot->held.receive = NULL;
	slot->chain.next = marshal_next_work;
	slot->reply_memory = reply_memory;
	slot->provided = provided;
	slot->region_count = slot->read_octets = 0;
	slot->pull = NULL;
	slot->pulled_memory = NULL;
	rr_list_append(&requester->outstanding, &slot->link);
	rr_map_add(&requester->by_xid, &slot->by_xid, transaction->xid);
	if (plan->segments == 0 && plan->write_chunks == 0 && plan->reply_chunk == 0)
		marshal_put_plain(slot, plan);
	else
		error = marshal_put_chunks(slot, plan);
	if (error) {
		slot->transaction = NULL;
		slot->reply_memory = NULL;
		rr_slot_release(slot);
		return error;
	}
	marshal_put_body(slot, plan);
	transaction->slot = slot;
	marshal_count_call(slot, plan);
	marshal_submit(connection, slot);
	rr_driver_watch_first_reply(connection);
	return 0;
}
