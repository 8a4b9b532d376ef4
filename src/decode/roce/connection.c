/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/roce/roce_private.h"

#include <string.h>

#include "base/endian.h"

/* So many acknowledgements show that requests were missed by the capture. MO_NONE is an offset that no
 * segment of a Send has: rdmap.h skips the Send. */
enum { ACKNOWLEDGED_MAX = 4, MO_NONE = INT32_MAX };

void
rr_roce_segment(const struct rr_roce_at *at, const struct rr_rdmap_segment *segment)
{
	struct rr_roce_side *sides = at->connection->sides;
	struct rr_moment moment =
		rr_decode_moment(at->shared, at->connection->number, at->from, at->connection->ends);
	struct rr_op op;

	rr_rdmap_take(&sides[at->from].rdmap, &sides[!at->from].rdmap, at->shared->memory, segment, &op);
	rr_decode_operation(at->shared, &moment, &op);
}

/* Passes a note, a text for people, to the sink. The note is about packets that side at->from sent. */
static void
roce_note(const struct rr_roce_at *at, const char *text)
{
	struct rr_moment moment =
		rr_decode_moment(at->shared, at->connection->number, at->from, at->connection->ends);

	at->shared->sink->note(at->shared->sink->ctx, &moment, text);
}

/* ---- Requests, in order ---- */

/* Translates a packet of a Send into the DDP segment that iWARP has for it, and passes that segment on. side
 * is that of the sender. Its member mo is the offset of the next segment of the Send under way. */
static void
roce_send(const struct rr_roce_at *at, struct rr_roce_side *side, const struct rr_roce_packet *packet)
{
	struct rr_ddp_header header = { .opcode = packet->invalidates ? RR_RDMAP_SEND_INVALIDATE
								      : RR_RDMAP_SEND,
		.last = packet->last,
		.queue = RR_DDP_QUEUE_SEND };

	side->msn += packet->first;
	header.msn = side->msn;
	header.mo = packet->first ? 0 : side->mo;
	/* The beginning of this Send was not captured: with this offset, the rest of the Send is skipped. */
	if (!packet->first && side->mo == 0)
		header.mo = MO_NONE;
	header.invalidate_stag = packet->invalidated;
	side->mo = packet->last || header.mo == MO_NONE ? 0 : header.mo + packet->payload.length;
	rr_roce_segment(at, &(struct rr_rdmap_segment){ &header, packet->payload, packet->known });
}

/* Translates a packet of an RDMA Write into the DDP segment that iWARP has for it, and passes that segment
 * on. The packet is dropped if the first packet of its RDMA Write was not captured. */
static void
roce_write(const struct rr_roce_at *at, struct rr_roce_side *side, const struct rr_roce_packet *packet)
{
	struct rr_ddp_header header = { .tagged = true, .opcode = RR_RDMAP_WRITE, .last = packet->last };

	if (packet->first) {
		side->has_write = true;
		side->handle = packet->handle;
		side->offset = packet->offset;
	}
	if (!side->has_write)
		return;
	header.stag = side->handle;
	header.to = side->offset;
	side->offset += packet->payload.length;
	side->has_write = !packet->last;
	rr_roce_segment(at, &(struct rr_rdmap_segment){ &header, packet->payload, packet->known });
}

/* Remembers a Read Request of `side` until its response comes, and passes on the Read Request that iWARP has
 * for it. If too many Requests are remembered, forgets the oldest. In iWARP, a Read Request also names the
 * requester's memory for the data (the sink). In InfiniBand it does not, so its PSN is used as the handle of
 * that memory. Also sets side->next, the PSN that the next request of the side has. */
static void
roce_read_request(const struct rr_roce_at *at, struct rr_roce_side *side, const struct rr_roce_packet *packet)
{
	const struct rr_ddp_header header = {
		.opcode = RR_RDMAP_READ_REQUEST, .last = true, .queue = RR_DDP_QUEUE_READ_REQUEST
	};
	const struct rr_read_request request = { .sink_stag = packet->psn,
		.size = packet->length,
		.source_stag = packet->handle,
		.source_to = packet->offset };
	uint32_t mtu = at->connection->mtu;
	uint8_t octets[RR_READ_REQUEST_SIZE];

	if (side->read_count == RR_RDMAP_READS)
		memmove(&side->reads[0], &side->reads[1], --side->read_count * sizeof(side->reads[0]));
	side->reads[side->read_count++] = (struct rr_roce_read){ .psn = packet->psn,
		.size = packet->length,
		.packets = mtu ? rr_roce_packets(packet->length, mtu) : 0 };
	side->next =
		(packet->psn + rr_roce_packets(packet->length, mtu ? mtu : UINT32_MAX)) & RR_ROCE_PSN_MASK;
	/* A Read Request takes as many PSNs as its response has packets. If the MTU is not known, that is at
	 * least one PSN, and at most the number that the smallest MTU needs: slack is the difference. */
	side->slack = mtu ? 0 : rr_roce_packets(packet->length, RR_ROCE_MTU_MIN) - 1;
	rr_read_request_put(octets, &request);
	rr_roce_segment(
		at, &(struct rr_rdmap_segment){ &header, { octets, sizeof(octets) }, sizeof(octets) });
}

/* Decodes the request (Send, RDMA Write or Read Request) that comes next in the order of PSNs. */
static void
roce_request(const struct rr_roce_at *at, const struct rr_roce_packet *packet)
{
	struct rr_roce_side *side = &at->connection->sides[at->from];

	side->next = (packet->psn + 1) & RR_ROCE_PSN_MASK;
	side->slack = 0;
	side->acknowledged = 0;
	switch (packet->kind) {
	case RR_ROCE_SEND: roce_send(at, side, packet); return;
	case RR_ROCE_WRITE: roce_write(at, side, packet); return;
	case RR_ROCE_READ_REQUEST: roce_read_request(at, side, packet); return;
	default: return; /* atomic operations are not used by RPC-over-RDMA */
	}
}

/* Gives up requests that are missing; "packets" says how many packets they had. Counts and reports these, and
 * ends the Send or RDMA Write under way. */
static void
roce_lose(const struct rr_roce_at *at, uint32_t packets)
{
	struct rr_roce_side *side = &at->connection->sides[at->from];
	struct rr_moment moment =
		rr_decode_moment(at->shared, at->connection->number, at->from, at->connection->ends);

	at->shared->counters.lost_packets += packets;
	rr_rdmap_lose(&side->rdmap);
	side->has_write = false;
	side->mo = 0;
	roce_note(at, "packets are missing in the capture");
	rr_decode_lost(at->shared, &moment);
}

/* Decodes the held requests of the side at->from that come next in the order of PSNs. A request is held if
 * earlier requests have not come. It comes next if its PSN is side->next, or, behind a Read Request whose
 * number of packets is not known, up to side->slack larger. If skip is true, gives up the requests that are
 * missing before the first held request, because they will not come; a later gap among the held requests
 * still stops the function. */
static void
roce_requests(const struct rr_roce_at *at, bool skip)
{
	struct rr_roce_side *side = &at->connection->sides[at->from];

	while (side->requests.first) {
		uint32_t ahead = rr_roce_ahead(side->requests.first->packet.psn, side->next);
		struct rr_roce_held *held;

		if (ahead > side->slack && ahead < RR_ROCE_PSN_HALF) {
			if (!skip)
				return;
			skip = false;
			roce_lose(at, ahead);
		}
		held = rr_roce_hold_pop(&side->requests);
		/* Otherwise the request was repeated. */
		if (ahead < RR_ROCE_PSN_HALF)
			roce_request(at, &held->packet);
		rr_roce_hold_free(at->shared->memory, held);
	}
}

/* ---- Packets ---- */

/* Passes a note on a negative acknowledgement to the sink. If the acknowledgement says that no Receive was
 * posted, also calls the sink's starved(). */
static void
roce_refused(const struct rr_roce_at *at, uint8_t syndrome, const char *nak)
{
	struct rr_moment moment =
		rr_decode_moment(at->shared, at->connection->number, at->from, at->connection->ends);

	roce_note(at, nak);
	if (rr_roce_is_starved(syndrome) && at->shared->sink->starved)
		at->shared->sink->starved(at->shared->sink->ctx, &moment);
}

/* Handles an acknowledgement that the side at->from sent, for requests of the other side. A negative one is
 * only noted. A positive one says that its sender has received these requests up to a PSN. Requests among
 * them that were not captured are reported as lost. They will not be sent again, so held requests that wait
 * for them are decoded without them, but only after ACKNOWLEDGED_MAX acknowledgements, because an
 * acknowledgement may have been captured before the requests. */
static void
roce_acknowledged(const struct rr_roce_at *at, const struct rr_roce_packet *packet)
{
	const struct rr_roce_at other = { at->shared, at->connection, !at->from };
	struct rr_roce_side *side = &at->connection->sides[!at->from];
	const char *nak = rr_roce_nak_name(packet->syndrome);
	struct rr_moment moment =
		rr_decode_moment(at->shared, at->connection->number, !at->from, at->connection->ends);

	if (packet->kind == RR_ROCE_ACKNOWLEDGE && nak) {
		roce_refused(at, packet->syndrome, nak);
		return;
	}
	if (side->has_next && rr_roce_ahead(packet->psn, side->next) < RR_ROCE_PSN_HALF &&
		rr_roce_ahead(packet->psn, side->next) >= side->slack)
		rr_decode_lost(at->shared, &moment);
	if (!side->requests.first ||
		rr_roce_ahead(packet->psn, side->requests.first->packet.psn) >= RR_ROCE_PSN_HALF)
		return;
	if (++side->acknowledged < ACKNOWLEDGED_MAX)
		return;
	side->acknowledged = 0;
	roce_requests(&other, true);
}

/* Handles a captured request: decodes it if it comes next in the order of PSNs (side->next, or up to
 * side->slack larger), ignores it if it is repeated, and otherwise holds it until the requests before it have
 * come. If no more requests can be held, gives up the missing ones: decodes all held requests, and then this
 * one. */
static void
roce_take_request(const struct rr_roce_at *at, const struct rr_roce_packet *packet)
{
	struct rr_roce_side *side = &at->connection->sides[at->from];
	uint32_t ahead;

	rr_roce_learn_mtu(at->connection, packet);
	if (!side->has_next) {
		side->has_next = true;
		side->next = packet->psn;
	}
	ahead = rr_roce_ahead(packet->psn, side->next);
	if (ahead > side->slack && ahead < RR_ROCE_PSN_HALF) {
		if (rr_roce_hold_add(&side->requests, at->shared->memory, packet))
			return;
		while (side->requests.first)
			roce_requests(at, true);
		ahead = rr_roce_ahead(packet->psn, side->next);
		if (ahead > side->slack && ahead < RR_ROCE_PSN_HALF)
			roce_lose(at, ahead);
	}
	if (ahead >= RR_ROCE_PSN_HALF)
		return; /* the request was repeated */
	roce_request(at, packet);
	if (side->requests.first)
		roce_requests(at, false);
}

/* A Read Response counts as an acknowledgement, too. */
void
rr_roce_connection_packet(struct rr_decode_connections *shared, struct rr_roce_connection *connection,
	uint8_t from, const struct rr_roce_packet *packet)
{
	const struct rr_roce_at at = { shared, connection, from };

	if (rr_roce_is_request(packet)) {
		roce_take_request(&at, packet);
		return;
	}
	if (packet->kind == RR_ROCE_READ_RESPONSE)
		rr_roce_response(&at, packet);
	roce_acknowledged(&at, packet);
}

void
rr_roce_connection_finish(struct rr_decode_connections *shared, struct rr_roce_connection *connection)
{
	for (uint8_t from = 0; from < 2; from++) {
		const struct rr_roce_at at = { shared, connection, from };

		while (connection->sides[from].requests.first)
			roce_requests(&at, true);
		rr_roce_responses(&at, true);
	}
}

void
rr_roce_connection_end(struct rr_decode_connections *shared, struct rr_roce_connection *connection)
{
	rr_match_end_connection(shared->match, connection->number);
	for (uint8_t from = 0; from < 2; from++) {
		struct rr_roce_side *side = &connection->sides[from];

		shared->counters.partial += side->rdmap.skipped;
		rr_roce_hold_clear(&side->requests, shared->memory);
		rr_roce_hold_clear(&side->responses, shared->memory);
		rr_rdmap_free(&side->rdmap, shared->memory);
	}
}
