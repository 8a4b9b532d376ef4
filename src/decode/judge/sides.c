/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "decode/judge/judge_private.h"

#include <string.h>

#include "wire/private_data.h"
#include "wire/properties.h"

/* This file keeps what each side of a connection has announced and granted, and checks messages against it.
 */

static uint32_t
side_larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* ---- Handshakes ---- */

/* Tells whether two ends have the same address, with any port. */
static bool
side_same_host(const struct rr_packet_end *a, const struct rr_packet_end *b)
{
	return a->family == b->family && memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

/* Returns the inline threshold of messages from this side: the smaller of the size that it sends and the size
 * that the other side receives. */
static uint32_t
side_threshold(const struct rr_judge_connection *connection, uint8_t from)
{
	return rr_min(connection->sides[from].send_size, connection->sides[!from].receive_size);
}

/* Remembers the inline thresholds of a connection, for later connections between the same hosts. */
static void
side_remember(struct rr_judge *judge, const struct rr_judge_connection *connection)
{
	struct rr_judge_past *past = &judge->pasts[judge->past_next++ % RR_JUDGE_PASTS];

	memcpy(past->ends, connection->ends, sizeof(past->ends));
	past->thresholds[0] = side_threshold(connection, 0);
	past->thresholds[1] = side_threshold(connection, 1);
}

/* Notes that the handshake of the side moment->from was captured, and what its private data announces. After
 * a reply, both sides have announced, and the inline thresholds of the connection are remembered for later
 * connections. */
void
rr_judge_opened(struct rr_judge *judge, struct rr_judge_connection *connection,
	const struct rr_moment *moment, const struct rr_handshake *handshake)
{
	struct rr_judge_side *side = &connection->sides[moment->from];
	const struct rpcrdma_bytes *bytes = &handshake->private_data;
	struct rr_private_data data;

	side->opened = true;
	rr_private_data_get(bytes->data, bytes->length, &data);
	side->send_size = data.send_size;
	side->receive_size = data.receive_size;
	side->invalidates = data.remote_invalidation;
	if (handshake->kind == RR_HANDSHAKE_REPLY)
		side_remember(judge, connection);
}

/* ---- Inline thresholds ---- */

/* Tells whether the inline threshold of an earlier connection between the same hosts allowed a Send of size
 * octets. */
static bool
side_was_allowed(const struct rr_judged *judged, uint32_t size)
{
	const struct rr_packet_end *ends = judged->connection->ends;

	for (uint32_t i = 0; i < RR_JUDGE_PASTS; i++) {
		const struct rr_judge_past *past = &judged->judge->pasts[i];

		if (side_same_host(&past->ends[0], &ends[0]) && side_same_host(&past->ends[1], &ends[1]) &&
			size <= past->thresholds[judged->from])
			return true;
	}
	return false;
}

/* Reports a Send that is larger than its inline threshold allows. If an earlier connection between the same
 * hosts allowed that size, the rule that is reported is RR_RULE_OLD_THRESHOLD: the sender probably still uses
 * the old threshold. Nothing is checked if one of the two handshakes was not captured. */
void
rr_judge_size(const struct rr_judged *judged)
{
	const struct rr_judge_connection *connection = judged->connection;
	uint32_t size = judged->message->sent.size, limit = side_threshold(connection, judged->from);

	if (!connection->sides[0].opened || !connection->sides[1].opened)
		return;
	/* The limit of version 2: draft-cel-nfsv4-rpcrdma-version-two-00, 2.3, and transport properties of
	 * -03, 5.2.1. */
	if (judged->message->result != RR_HEADER_SHORT &&
		judged->message->header.vers == RR_RPCRDMA_VERSION_2)
		limit = side_larger(limit, connection->sides[!judged->from].limit_2);
	if (size <= limit)
		return;
	rr_judge_message(judged, side_was_allowed(judged, size) ? RR_RULE_OLD_THRESHOLD : RR_RULE_THRESHOLD,
		"%u octets, where %u are allowed", size, limit);
}

/* ---- Credits ---- */

/* Counts a call, and reports it if its sender has more calls without a reply than it has credits. RFC 8166,
 * 3.3.1: "A Requester MUST NOT send unacknowledged requests in excess of the Responder's granted credit
 * limit." The larger one of the last two grants counts, because the last grant may not have reached the
 * sender by then. */
void
rr_judge_call_begins(const struct rr_judged *judged)
{
	struct rr_judge_side *side = &judged->connection->sides[judged->from];
	uint32_t limit = side_larger(side->grant, side->last_grant);

	side->calls = true;
	side->outstanding++;
	if (!rr_judge_is_whole(judged->connection) || side->outstanding <= limit)
		return;
	rr_judge_message(judged, RR_RULE_CREDITS, "%u calls, where %u are granted", side->outstanding, limit);
}

/* Counts a reply, or an error, to a call of the other side: one call less of that side is without a reply.
 * The grant in the message becomes the number of that side's credits. A grant of 0, which rr_judge_grant()
 * reports, counts as one. */
void
rr_judge_call_ends(const struct rr_judged *judged)
{
	struct rr_judge_side *caller = &judged->connection->sides[!judged->from];
	uint32_t grant = judged->message->header.credit;

	caller->outstanding -= caller->outstanding > 0;
	caller->replies++;
	caller->last_grant = caller->grant;
	caller->grant = grant ? grant : 1;
}

/* Reports a reply that grants no credit. RFC 8166, 3.3.1: "The granted value MUST NOT be zero". */
void
rr_judge_grant(const struct rr_judged *judged)
{
	if (judged->message->header.credit == 0)
		rr_judge_message(judged, RR_RULE_GRANT, "rdma_credit is 0");
}

/* ---- Optional messages of version 2 ---- */

/* Notes the transport properties of version 2 that a side announced: the size of the messages that the side
 * receives, and whether the side supports replies in Read chunks, and Sends that invalidate handles. The
 * larger one of the old and the new size counts, because either may be in use from then on. */
static void
side_properties(struct rr_judge_side *side, const struct rr_property_set *set)
{
	if (set->has & 1u << RR_PROPERTY_RECEIVE_SIZE)
		side->limit_2 = side_larger(side->limit_2, set->values[RR_PROPERTY_RECEIVE_SIZE]);
	if (set->has & 1u << RR_PROPERTY_READ_CHUNKS)
		side->announced_reads = set->values[RR_PROPERTY_READ_CHUNKS] != 0;
	if (set->has & 1u << RR_PROPERTY_INVALIDATION)
		side->invalidates = set->values[RR_PROPERTY_INVALIDATION] != 0;
}

/* Notes what an optional message of version 2 changes: the credits that side 1 grants by it, the transport
 * properties that its sender announces, or the size that its sender asks the peer to receive (RR_REQPROP). */
void
rr_judge_optional(const struct rr_judged *judged)
{
	const struct rr_rdma_header *header = &judged->message->header;
	struct rr_judge_side *side = &judged->connection->sides[judged->from];
	struct rr_judge_side *peer = &judged->connection->sides[!judged->from];
	struct rr_property_message message;

	/* The CONNPROP of side 1 answers that of side 0, and grants credits as a reply does, unless side 1
	 * has refused a version. */
	if (side->refused == 0 && header->opttype == RR_CONNPROP && judged->from == 1 && header->credit > 0) {
		peer->last_grant = peer->grant;
		peer->grant = header->credit;
	}
	if (header->opttype < RR_CONNPROP || header->opttype > RR_UPDPROP ||
		!rr_property_get((enum rr_property_operation)header->opttype, header->optinfo, &message))
		return;
	if (header->opttype == RR_REQPROP) {
		if (message.set.has & 1u << RR_PROPERTY_RECEIVE_SIZE)
			peer->limit_2 =
				side_larger(peer->limit_2, message.set.values[RR_PROPERTY_RECEIVE_SIZE]);
		return;
	}
	side_properties(side, &message.set);
}
