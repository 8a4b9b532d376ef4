/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides how a call and its reply travel: inline, or in which chunks. A requester plans calls, and a
 * responder plans replies. */
#include "carrier/rdma/core/plan.h"

#include "base/checked.h"

/* ---- Calls ---- */

/* Returns the most octets that the stream of the reply can have, if Write chunks carry the results of the
 * first `placed` sinks. A sink is memory for one result. */
static uint64_t
plan_results_inline(const struct rr_transaction *transaction, uint32_t placed)
{
	uint64_t octets = transaction->reply_max;

	for (uint32_t i = placed; i < transaction->sink_count; i++)
		octets += ((uint64_t)transaction->sinks[i].length + 3) & ~UINT64_C(3);
	return octets;
}

/* Returns how many sinks (memory for results), from the first one, can be offered as Write chunks. The offer
 * ends before a sink that is empty or smaller than a later sink: if a result is absent, the responder fills
 * its chunk with the next result. RFC 8166, 4.3.2.2: "the Requester MUST provision each Write chunk so it can
 * be filled with the largest DDP-eligible data item that can be placed in it." */
static uint32_t
plan_offerable(const struct rr_call_limits *limits, const struct rr_transaction *transaction)
{
	uint32_t count = (uint32_t)rr_min(limits->write_chunks, transaction->sink_count);
	uint32_t largest = 1;

	for (uint32_t i = transaction->sink_count; i-- > 0;) {
		if (transaction->sinks[i].length < largest)
			count = (uint32_t)rr_min(count, i);
		largest = transaction->sinks[i].length > largest ? transaction->sinks[i].length : largest;
	}
	return count;
}

/* Tells whether the call offers no Reply chunk, as the responder can provide a Read chunk for a large reply.
 * This is so if the smallest reply fits inline, or if the engine is configured never to offer Reply chunks.
 * draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.3.1: "The requester knows the minimum size of the reply is
 * smaller than the inline threshold, but the maximum size of the reply is larger than the inline threshold;
 * or the requester cannot calculate the maximum size of the reply. The client does not provide a Reply chunk,
 * and relies on a responder-provider Read chunk to handle large replies." */
static bool
plan_is_left_to_responder(const struct rr_call_limits *limits, const struct rr_transaction *transaction)
{
	if (!limits->provides || limits->reply_chunks == RR_REPLY_CHUNKS_ALWAYS)
		return false;
	return limits->reply_chunks == RR_REPLY_CHUNKS_NEVER ||
	       rr_rdma_header_size(0, 0, false, 0) + (uint64_t)transaction->reply_min <=
		       limits->reply_threshold;
}

/* Decides which chunks the call offers for its reply: no chunk if the largest reply fits inline; else Write
 * chunks, if the rest of the reply then fits inline; else one Reply chunk for the whole reply, without Write
 * chunks, as some servers handle both together wrongly. If the responder can provide a Read chunk for the
 * reply, only Write chunks are offered. Returns 0, or -RPCRDMA_ERR_LIMIT if the reply may be larger than
 * message_max. */
static int
plan_results(const struct rr_call_limits *limits, const struct rr_transaction *transaction,
	struct rr_call_plan *plan)
{
	uint64_t all = plan_results_inline(transaction, 0);
	uint32_t chunks = plan_offerable(limits, transaction);
	bool left = plan_is_left_to_responder(limits, transaction);

	/* If the responder provides a large reply, the stream of the reply does not count: the requester
	 * offers no memory for it. */
	if (all - (left ? transaction->reply_max : 0) > limits->message_max)
		return -RPCRDMA_ERR_LIMIT;
	if (rr_rdma_header_size(0, 0, false, 0) + all <= limits->reply_threshold)
		return 0;
	/* A reply returns the chunks that its call offered: they take room in its header. */
	if (chunks > 0 &&
		rr_rdma_header_size(0, chunks, false, chunks) + plan_results_inline(transaction, chunks) <=
			limits->reply_threshold) {
		plan->write_chunks = chunks;
		plan->why_reply = RR_WHY_SINKS;
		return 0;
	}
	if (left) {
		plan->left = true;
		plan->write_chunks = chunks;
		plan->why_reply = chunks > 0 ? RR_WHY_SINKS : RR_WHY_NOT;
		return 0;
	}
	plan->reply_chunk = (uint32_t)all;
	plan->why_reply = rr_rdma_header_size(0, 0, false, 0) + (uint64_t)transaction->reply_max >
					  limits->reply_threshold
				  ? RR_WHY_REPLY
				  : RR_WHY_MANY;
	return 0;
}

/* Returns how many octets the call's header takes, with all chunks that the plan has so far. */
static uint32_t
plan_call_header(const struct rr_call_plan *plan)
{
	bool has_reply = plan->reply_chunk > 0;

	return rr_rdma_header_size(
		plan->segments, plan->write_chunks, has_reply, plan->write_chunks + has_reply);
}

/* Returns the index of the largest data item of the call that is not empty and not in the set `reduced`, or
 * -1 if there is no such item. */
static int
plan_largest_item(const struct rpcrdma_message *call, uint64_t reduced)
{
	int largest = -1;

	for (uint32_t i = 0; i < call->item_count; i++) {
		if (reduced & rr_item_bit(i) || call->items[i].length == 0)
			continue;
		if (largest < 0 || call->items[i].length > call->items[largest].length)
			largest = (int)i;
	}
	return largest;
}

/* Plans how the call's arguments travel. Moves data items from the stream to Read chunks, the largest first,
 * until the rest fits inline. If it does not fit even then, plans a long call, with a read segment for each
 * part of the message in memory. Returns 0, or -RPCRDMA_ERR_LIMIT if the header has no room for these
 * segments. */
static int
plan_arguments(const struct rr_call_limits *limits, const struct rpcrdma_message *call, uint32_t octets,
	struct rr_call_plan *plan)
{
	int item;

	plan->body = octets;
	plan->header = plan_call_header(plan);
	if ((uint64_t)plan->header + plan->body <= limits->call_threshold)
		return 0;
	while ((uint64_t)plan->header + plan->body > limits->call_threshold &&
		plan->segments < limits->read_chunks &&
		(item = plan_largest_item(call, plan->reduced)) >= 0) {
		plan->reduced |= rr_item_bit((uint32_t)item);
		plan->segments++;
		plan->body -= (uint32_t)rr_item_octets(&call->items[item]);
		plan->header = plan_call_header(plan);
		plan->why_call = RR_WHY_ARGUMENTS;
	}
	if ((uint64_t)plan->header + plan->body <= limits->call_threshold)
		return 0;
	/* RFC 8166, 3.5.3: "if there are no DDP-eligible data items in the Payload stream, or the Payload
	 * stream is still too large after it has been reduced, the RDMA transport MUST use RDMA Read or Write
	 * operations to convey the Payload stream itself." */
	plan->long_call = true;
	plan->why_call = plan->why_call == RR_WHY_ARGUMENTS ? RR_WHY_REST : RR_WHY_STREAM;
	plan->reduced = 0;
	plan->body = 0;
	plan->segments = rr_pieces(call, 0, NULL);
	plan->header = plan_call_header(plan);
	return plan->header > limits->call_threshold ? -RPCRDMA_ERR_LIMIT : 0;
}

/* Plans a call in the reverse direction, which has no chunks. Returns 0, or -RPCRDMA_ERR_LIMIT if the call
 * does not fit inline. RFC 8167, 5.3: "When chunks are not implemented, RPC messages in the reverse direction
 * are always sent using a Short Message; therefore, they can be no larger than what can be sent inline". */
static int
plan_inline(const struct rr_call_limits *limits, uint32_t octets, struct rr_call_plan *plan)
{
	plan->header = plan_call_header(plan);
	plan->body = octets;
	return (uint64_t)plan->header + octets > limits->call_threshold ? -RPCRDMA_ERR_LIMIT : 0;
}

bool
rr_plan_call_is_plain(const struct rr_transaction *transaction, uint32_t call_most, uint32_t reply_most)
{
	return transaction->sink_count == 0 && transaction->call.item_count == 0 &&
	       (uint64_t)RR_RDMA_HEADER_MIN + transaction->call.length <= call_most &&
	       (uint64_t)RR_RDMA_HEADER_MIN + transaction->reply_max <= reply_most;
}

int
rr_plan_call(const struct rr_call_limits *limits, const struct rr_transaction *transaction,
	struct rr_call_plan *plan)
{
	uint32_t octets;
	int error;

	*plan = (struct rr_call_plan){ 0 };
	if (transaction->sink_count > RPCRDMA_SINKS_MAX || transaction->call.item_count > RR_CALL_ITEMS)
		return -RPCRDMA_ERR_INVAL;
	error = rr_message_check(&transaction->call, limits->message_max, &octets);
	if (!error && limits->inline_only)
		return plan_inline(limits, octets, plan);
	if (!error)
		error = plan_results(limits, transaction, plan);
	if (!error)
		error = plan_arguments(limits, &transaction->call, octets, plan);
	return error;
}

/* ---- Replies ---- */

/* Returns how many octets a reply's header takes. The header has all Write chunks and the Reply chunk that
 * the call offered. reads is the number of read segments if the responder provides the reply in a Read chunk,
 * else 0: RFC 8166, 4.3.1: "Responders MUST leave the Read list empty in all replies". */
static uint32_t
plan_reply_header(const struct rr_chunk_lists *offered, uint32_t reads)
{
	return rr_rdma_header_size(reads, offered->write_count, offered->has_reply, offered->segment_count);
}

/* Decides which data items of the reply go into Write chunks: item i goes into chunk i, unless that chunk is
 * empty. Returns false if an item is larger than its chunk. The chunk of an item without octets is not used
 * for another item.
 *
 * RFC 8267, 6.4.1: with "a matching non-empty Write chunk", a "READ operation MUST return its DDP-eligible
 * data item using that chunk"; with an empty one, "all of its result data items inline"; those "that have no
 * matching Write chunk MUST return their results inline."
 *
 * RFC 8166, 4.3.2: "When a Requester provides a Write list, the Responder MUST push data corresponding to
 * DDP-eligible result data items to Requester memory referenced in the Write list." */
static bool
plan_place_items(
	const struct rr_chunk_lists *offered, const struct rpcrdma_message *reply, struct rr_reply_plan *plan)
{
	for (uint32_t i = 0; i < reply->item_count && i < offered->write_count; i++) {
		uint64_t room = rr_chunk_length(&offered->writes[i]);

		/* RFC 8166, 4.3.2.3, of a chunk without segments: "The Responder MUST return the
		 * corresponding result data item inline and MUST return an empty Write chunk in that Write
		 * list position". draft-ietf-nfsv4-rfc5667bis-01, 4.1: "If the chunk has zero RDMA segments,
		 * or if the total size of the segments is zero, then the corresponding READ or READLINK
		 * operation MUST return its result inline." */
		if (room == 0)
			continue;
		if (reply->items[i].length > room)
			return false;
		plan->reduced |= rr_item_bit(i);
	}
	return true;
}

/* Returns the form of the reply: inline if it fits; else in the Reply chunk, if that is large enough; else
 * in a Read chunk, if the requester takes such chunks; else an error. */
static enum rr_reply_form
plan_form_of(const struct rr_reply_limits *limits, const struct rr_chunk_lists *offered,
	const struct rr_reply_plan *plan)
{
	/* RFC 8166, 4.3.3: "the Responder MAY return the RPC Reply message as a Short message rather than
	 * using the Requester-provided Reply chunk." */
	if (plan->body <= limits->threshold - plan->header && plan->piece_count < limits->sge_max)
		return RR_REPLY_INLINE;
	if (offered->has_reply && plan->body <= rr_chunk_length(&offered->reply))
		return RR_REPLY_LONG;
	/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1.1: "A responder MUST send a Position Zero Read chunk
	 * when the actual size of the RPC Reply's Payload stream exceeds all requester-provided reply
	 * resources". And: "If a responder does not support responder-provided Read chunks in this case, it
	 * MUST return an appropriate permanent transport error". */
	if (limits->read_chunks && plan_reply_header(offered, plan->piece_count) <= limits->threshold)
		return RR_REPLY_PROVIDED;
	return RR_REPLY_ERROR;
}

void
rr_plan_reply(const struct rr_reply_limits *limits, const struct rr_chunk_lists *offered,
	const struct rpcrdma_message *reply, struct rr_reply_plan *plan)
{
	plan->form = RR_REPLY_ERROR;
	plan->header = plan_reply_header(offered, 0);
	plan->body = plan->reduced = plan->piece_count = 0;
	if (plan->header > limits->threshold || !plan_place_items(offered, reply, plan))
		return;
	plan->piece_count = rr_pieces(reply, plan->reduced, plan->pieces);
	for (uint32_t i = 0; i < plan->piece_count; i++)
		plan->body += plan->pieces[i].length;
	plan->form = plan_form_of(limits, offered, plan);
	if (plan->form == RR_REPLY_PROVIDED)
		plan->header = plan_reply_header(offered, plan->piece_count);
}

void
rr_plan_room(uint32_t threshold, uint32_t provided, const struct rr_chunk_lists *offered, uint32_t *item_room,
	uint32_t *stream_room)
{
	uint32_t header = plan_reply_header(offered, 0);
	uint64_t room = 0, chunk = 0;

	*item_room = *stream_room = 0;
	if (header > threshold)
		return;
	room = threshold - header;
	if (offered->has_reply && rr_chunk_length(&offered->reply) > room)
		room = rr_chunk_length(&offered->reply);
	if (provided > room)
		room = provided;
	/* A stream consists of words of four octets. */
	*stream_room = (uint32_t)rr_min(room, UINT32_MAX) & ~UINT32_C(3);
	*item_room = *stream_room > RR_BESIDE_ITEM ? *stream_room - RR_BESIDE_ITEM : 0;
	if (offered->write_count > 0)
		chunk = rr_chunk_length(&offered->writes[0]);
	if (chunk > 0)
		*item_room = (uint32_t)rr_min(chunk, UINT32_MAX);
}
