/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/judge/judge_private.h"

/* This file checks what a message shows alone, without the messages before it. */

/* ---- RPC messages ---- */

/* Checks that the XID in the RPC-over-RDMA header is that of the RPC message behind it. */
static void
header_xids(const struct rr_judged *judged)
{
	const struct rr_message *message = judged->message;
	uint32_t xid, type;

	/* RFC 8166, 4.2.1: "This XID MUST be the same as the XID in the RPC message." */
	if (message->header.proc != RR_RDMA_MSG ||
		!rr_rpc_peek(message->payload.data, message->payload.length, &xid, &type))
		return;
	if (xid != judged->xid)
		rr_judge_message(judged, RR_RULE_XID, "that of the RPC message is 0x%08x", xid);
}

/* Checks that an RPC message follows the header of an RDMA_MSG, and that nothing follows other headers,
 * except those of optional messages. In an RDMA_NOMSG, a Read chunk at position 0 or a Reply chunk must have
 * the RPC message. */
static void
header_body(const struct rr_judged *judged)
{
	const struct rr_message *message = judged->message;
	const struct rr_chunk_lists *lists = &message->lists;
	bool has_zero = lists->read_count > 0 && lists->reads[0].position == 0;

	if (message->header.proc == RR_RDMA_MSG && message->payload.length == 0)
		rr_judge_message(judged, RR_RULE_BODY, "nothing follows the header");
	if (message->header.proc != RR_RDMA_MSG && message->payload.length > 0 &&
		message->kind != RR_MESSAGE_OPTIONAL)
		rr_judge_message(judged, RR_RULE_NO_BODY, "%u octets", message->payload.length);
	if (message->header.proc == RR_RDMA_NOMSG && !has_zero &&
		(!lists->has_reply || rr_chunk_length(&lists->reply) == 0))
		rr_judge_message(judged, RR_RULE_NOWHERE, "%u read segments, %s", lists->read_count,
			lists->has_reply ? "an empty Reply chunk" : "no Reply chunk");
}

/* Reports RDMA_MSGP and RDMA_DONE in version 1, which are not used any more. RFC 8166, 4.6.1 and 4.6.2:
 * "senders MUST NOT send RDMA_MSGP procedures", "... RDMA_DONE messages". */
static void
header_procedure(const struct rr_judged *judged)
{
	const struct rr_rdma_header *header = &judged->message->header;
	bool is_retired = header->proc == RR_RDMA_MSGP || header->proc == RR_RDMA_DONE;

	if (header->vers == 1 && is_retired)
		rr_judge_message(judged, RR_RULE_RETIRED, "%s", rr_rdma_proc_name(1, header->proc));
}

/* ---- Read lists ---- */

/* Checks the positions of the Read chunks of an RDMA_MSG: they must not be 0, and no chunk may end behind the
 * RPC message. A position counts the octets of the whole RPC message, including those in Read chunks: total
 * is the size of that message. Reports only the first wrong position. */
static void
header_positions(const struct rr_judged *judged)
{
	const struct rr_message *message = judged->message;
	const struct rr_chunk_lists *lists = &message->lists;
	uint64_t total = message->payload.length;

	/* The octets in a Read chunk count with their padding to a multiple of four. */
	for (uint32_t i = 0; i < lists->read_count; i++)
		total += (lists->reads[i].target.length + UINT64_C(3)) & ~UINT64_C(3);
	for (uint32_t i = 0; i < lists->read_count; i++) {
		uint32_t position = lists->reads[i].position;

		if (message->header.proc == RR_RDMA_MSG && position == 0) {
			rr_judge_message(judged, RR_RULE_POSITION_ZERO, "read segment %u", i);
			return;
		}
		if (message->header.proc == RR_RDMA_MSG && position > total - lists->reads[i].target.length) {
			rr_judge_message(judged, RR_RULE_POSITION,
				"position %u, and %u octets follow the header", position,
				message->payload.length);
			return;
		}
	}
}

/* Reports the first segment without octets in the Reply chunk that a call offers. The kind of an RDMA_NOMSG
 * is not known here: it counts as a call if it has a Read list. */
static void
header_empty_segments(const struct rr_judged *judged)
{
	const struct rr_chunk_lists *lists = &judged->message->lists;
	bool is_offered = judged->message->kind == RR_MESSAGE_CALL || lists->read_count > 0;

	for (uint32_t i = 0; is_offered && lists->has_reply && i < lists->reply.count; i++) {
		if (lists->reply.segments[i].length > 0)
			continue;
		rr_judge_message(judged, RR_RULE_EMPTY_REPLY, "segment %u", i);
		return;
	}
}

/* Reports a header that is too short or malformed. A header of an unknown version, or with more chunks than
 * the decoder has room for, is not reported. */
static void
header_malformed(const struct rr_judged *judged)
{
	const struct rr_rdma_header *header = &judged->message->header;

	switch (judged->message->result) {
	case RR_HEADER_SHORT:
		rr_judge_find(judged->judge, RR_RULE_MALFORMED, judged->moment, NULL,
			"%u octets are too few for a header", judged->message->sent.size);
		return;
	case RR_HEADER_MALFORMED:
		rr_judge_message(judged, RR_RULE_MALFORMED, "version %u, procedure %u, %u octets",
			header->vers, header->proc, judged->message->sent.size);
		return;
	default: return; /* an unknown version, or more chunks than the decoder has room for, is no error */
	}
}

/* Checks the transport header of a message, and how it fits the RPC message behind it. If the header cannot
 * be decoded, only that is reported, and not for an RDMA_DONE of version 1, which was reported as such. */
void
rr_judge_header(const struct rr_judged *judged)
{
	header_procedure(judged);
	if (judged->message->result != RR_HEADER_OK) {
		if (judged->message->header.vers != 1 || judged->message->header.proc != RR_RDMA_DONE)
			header_malformed(judged);
		return;
	}
	if (judged->message->header.proc != RR_RDMA_MSG && judged->message->header.proc != RR_RDMA_NOMSG)
		return;
	header_xids(judged);
	header_body(judged);
	header_positions(judged);
	header_empty_segments(judged);
}
