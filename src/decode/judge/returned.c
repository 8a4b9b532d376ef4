/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/judge/judge_private.h"

/* This file compares the chunks that a reply returns with those that its call offered, and checks the handle
 * that a reply invalidates. */

/* ---- Write chunks and Reply chunk ---- */

/* Checks a chunk that a reply returns. Its segments must be the count segments in "offered", which the call
 * offered for it, and none of them may be longer than offered. The chunk must not have more octets than were
 * written by RDMA. offered may be NULL if count is 0. */
static void
returned_chunk(const struct rr_judged *judged, const struct rr_judge_region *offered, uint32_t count,
	const struct rr_chunk *chunk)
{
	uint64_t total = rr_chunk_length(chunk), moved = 0;

	if (chunk->count != count) {
		rr_judge_message(
			judged, RR_RULE_RETURNED, "%u segments, and %u were offered", chunk->count, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct rr_segment *ours = &offered[i].segment, *theirs = &chunk->segments[i];

		moved += offered[i].moved;
		if (ours->handle != theirs->handle || ours->offset != theirs->offset) {
			rr_judge_message(judged, RR_RULE_RETURNED, "handle 0x%08x, and 0x%08x was offered",
				theirs->handle, ours->handle);
			return;
		}
		if (theirs->length > ours->length) {
			rr_judge_message(judged, RR_RULE_LONGER, "%u octets, and %u were offered",
				theirs->length, ours->length);
			return;
		}
	}
	if (total > moved && rr_judge_is_whole(judged->connection))
		rr_judge_message(judged, RR_RULE_LENGTH, "%llu octets, and %llu were written",
			(unsigned long long)total, (unsigned long long)moved);
}

/* Checks that a reply returns as many Write chunks as the call offered, and that each chunk fits the offered
 * one. In call->regions, the segments of the Write chunks stand behind those of the Read list; a call without
 * any segment has no regions. */
static void
returned_writes(const struct rr_judged *judged, const struct rr_judge_call *call)
{
	const struct rr_chunk_lists *lists = &judged->message->lists;
	const struct rr_judge_region *at = call->regions ? call->regions + call->read_count : NULL;

	if (lists->write_count != call->write_count) {
		rr_judge_message(judged, RR_RULE_WRITE_CHUNKS, "%u Write chunks, and %u were offered",
			lists->write_count, call->write_count);
		return;
	}
	for (uint32_t i = 0; i < lists->write_count; i++) {
		returned_chunk(judged, at, call->write_sizes[i], &lists->writes[i]);
		at = at ? at + call->write_sizes[i] : NULL;
	}
}

/* Checks the Reply chunk of a reply: the call must have offered it, and it must be empty if the reply is a
 * Short message. RFC 8166, 4.3.3: a reply may be a Short message although a Reply chunk was offered. Peers
 * differ in whether they return the chunk then, so nothing is reported if the chunk is not returned. */
static void
returned_reply(const struct rr_judged *judged, const struct rr_judge_call *call)
{
	const struct rr_chunk_lists *lists = &judged->message->lists;
	uint64_t total = lists->has_reply ? rr_chunk_length(&lists->reply) : 0;
	/* A call without any segment has no regions. */
	const struct rr_judge_region *at =
		call->regions ? call->regions + call->region_count - call->reply_size : NULL;

	if (lists->has_reply && !call->has_reply) {
		rr_judge_message(judged, RR_RULE_RETURNED, "a Reply chunk, and no such chunk was offered");
		return;
	}
	if (lists->has_reply)
		returned_chunk(judged, at, call->reply_size, &lists->reply);
	if (judged->message->header.proc == RR_RDMA_MSG && total > 0)
		rr_judge_message(judged, RR_RULE_REPLY_CHUNK, "%llu octets", (unsigned long long)total);
}

/* ---- Remote invalidation ---- */

/* Tells whether a chunk of the call has that handle. */
static bool
returned_has_handle(const struct rr_judge_call *call, uint32_t handle)
{
	for (uint32_t i = 0; i < call->region_count; i++)
		if (call->regions[i].segment.handle == handle)
			return true;
	return false;
}

/* Checks a reply that came by Send with Invalidate: both sides must have announced that they use it, and the
 * handle must be one that the call offered. Nothing is checked unless all messages of the connection are
 * known. RFC 8797, 4.1: "When either peer on a connection clears this flag, the responder MUST use only RDMA
 * Send". */
static void
returned_invalidation(const struct rr_judged *judged, const struct rr_judge_call *call)
{
	const struct rr_sent *sent = &judged->message->sent;
	const struct rr_judge_connection *connection = judged->connection;

	if (!sent->invalidates || !rr_judge_is_whole(connection))
		return;
	if (!connection->sides[0].invalidates || !connection->sides[1].invalidates)
		rr_judge_message(judged, RR_RULE_INVALIDATION, "%s did not",
			connection->sides[0].invalidates ? "the responder" : "the requester");
	if (!returned_has_handle(call, sent->invalidated))
		rr_judge_message(judged, RR_RULE_INVALIDATED, "handle 0x%08x", sent->invalidated);
}

/* Checks the handle that a reply or an RDMA_ERROR invalidates, and the chunks that a reply returns. An
 * RDMA_ERROR returns no chunks, and neither does an answer to a message that is not a call (is_plain). */
void
rr_judge_returned(const struct rr_judged *judged, const struct rr_judge_call *call)
{
	returned_invalidation(judged, call);
	if (judged->message->kind == RR_MESSAGE_ERROR || call->is_plain)
		return;
	returned_writes(judged, call);
	returned_reply(judged, call);
}
