/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "decode/judge/judge_private.h"

#include <string.h>

/* This file checks the DDP segments of iWARP connections. RoCE has no such segments. */

/* ---- Untagged messages ---- */

/* Checks the message number (MSN) and the offset of an untagged segment that `side` sent. RFC 5041, 5.1: the
 * MSNs of a queue count messages from 1, and the offsets of a message's segments count its octets from 0.
 * Only the last segment of a message has the flag L, behind which the next message must begin. After a wrong
 * segment, checking goes on behind that segment. */
static void
segment_untagged(struct rr_judge *judge, struct rr_judge_side *side, const struct rr_moment *moment,
	const struct rr_ddp_header *header, uint32_t length)
{
	/* side->mo is the offset that this segment must have. If it is 0, this segment begins a message. */
	bool is_first = side->mo[header->queue] == 0;
	uint32_t msn = side->msn[header->queue] + is_first;

	if (header->msn != msn || header->mo != side->mo[header->queue])
		rr_judge_find(judge, RR_RULE_SEND_SEGMENTS, moment, NULL,
			"queue %u, MSN %u, offset %u, where MSN %u and offset %u are due", header->queue,
			header->msn, header->mo, msn, side->mo[header->queue]);
	side->msn[header->queue] = header->msn;
	side->mo[header->queue] = header->last ? 0 : header->mo + length;
}

/* ---- RDMA Reads ---- */

/* Remembers a Read Request that `side` sent, so that its Response can be compared with it. If too many
 * Requests are remembered, forgets the oldest. Ignores a payload that is too short for a Read Request. */
static void
segment_read_request(struct rr_judge_side *side, struct rpcrdma_bytes payload)
{
	struct rr_read_request request;

	if (payload.length < RR_READ_REQUEST_SIZE)
		return;
	if (side->read_count == RR_JUDGE_READS)
		memmove(side->reads, side->reads + 1, --side->read_count * sizeof(*side->reads));
	rr_read_request_get(payload.data, &request);
	side->reads[side->read_count++] = (struct rr_judge_read){
		.stag = request.sink_stag, .left = request.size, .to = request.sink_to
	};
}

/* Checks that a segment of a Read Response has the octets that must come next, and reports it otherwise. RFC
 * 5040, 4.4 and 5.2.1: Responses come in the order of their Requests, and each has the octets that its
 * Request asks for. reader is the side that sent the Requests; its oldest Request is the one that is
 * answered. */
static void
segment_read_response(struct rr_judge *judge, struct rr_judge_side *reader, const struct rr_moment *moment,
	const struct rr_ddp_header *header, uint32_t length)
{
	struct rr_judge_read *due = reader->reads;

	if (reader->read_count == 0 || due->stag != header->stag || due->to != header->to ||
		length > due->left || header->last != (length == due->left)) {
		rr_judge_find(judge, RR_RULE_READ_RESPONSE, moment, NULL,
			"%u octets%s for sink 0x%08x at 0x%llx, where %u for 0x%08x at 0x%llx are due",
			length, header->last ? ", the last ones," : "", header->stag,
			(unsigned long long)header->to, reader->read_count ? due->left : 0,
			reader->read_count ? due->stag : 0,
			reader->read_count ? (unsigned long long)due->to : 0);
	}
	if (reader->read_count == 0)
		return;
	due->to += length;
	due->left -= rr_min(length, due->left);
	if (header->last)
		memmove(reader->reads, reader->reads + 1, --reader->read_count * sizeof(*reader->reads));
}

/* Checks a DDP segment that the side moment->from sent. Nothing is checked unless the connection is whole. */
void
rr_judge_segment(struct rr_judge *judge, struct rr_judge_connection *connection,
	const struct rr_moment *moment, const struct rr_ddp_header *header, struct rpcrdma_bytes payload)
{
	struct rr_judge_side *side = &connection->sides[moment->from];

	if (!rr_judge_is_whole(connection))
		return;
	if (!header->tagged)
		segment_untagged(judge, side, moment, header, payload.length);
	if (header->opcode == RR_RDMAP_READ_REQUEST)
		segment_read_request(side, payload);
	if (header->opcode == RR_RDMAP_READ_RESPONSE)
		segment_read_response(
			judge, &connection->sides[!moment->from], moment, header, payload.length);
}
