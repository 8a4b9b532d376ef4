/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/connection.h"

#include "base/checked.h"

struct rr_moment
rr_decode_moment(const struct rr_decode_connections *shared, uint32_t connection, uint8_t from,
	const struct rr_packet_end *ends)
{
	return (struct rr_moment){ .frame = shared->frame,
		.time = shared->time,
		.connection = connection,
		.from = from,
		.ends = ends };
}

/* Returns the moment of the packet that is being decoded, for something that side "from" of the connection
 * sent. */
static struct rr_moment
connection_moment(const struct rr_decode_connections *shared, const struct rr_decode_connection *connection,
	uint8_t from)
{
	return rr_decode_moment(shared, connection->number, from, connection->ends);
}

void
rr_decode_lost(struct rr_decode_connections *shared, const struct rr_moment *moment)
{
	if (shared->sink->lost)
		shared->sink->lost(shared->sink->ctx, moment);
}

/* Passes a note to the sink, which says why octets that side "from" sent were not decoded. Also reports these
 * octets as lost. */
static void
connection_note(struct rr_decode_connections *shared, const struct rr_decode_connection *connection,
	uint8_t from, const char *text)
{
	struct rr_moment moment = connection_moment(shared, connection, from);

	shared->sink->note(shared->sink->ctx, &moment, text);
	rr_decode_lost(shared, &moment);
}

/* ---- RDMA operations ---- */

/* Decodes the RPC-over-RDMA message in a Send, as far as it was captured. Passes the message to the sink, and
 * then to rr_match_message(), which pairs calls with replies. An empty Send is ignored. */
static void
connection_send(struct rr_decode_connections *shared, const struct rr_moment *moment, const struct rr_op *op)
{
	struct rr_message message = { .sent = { .moment = *moment,
					      .size = op->length,
					      .msn = op->msn,
					      .is_cut = op->known < op->length,
					      .invalidates = op->invalidates,
					      .invalidated = op->invalidated } };
	struct rpcrdma_bytes data = { op->data, op->known };

	if (op->length == 0)
		return; /* a first, empty Send is a part of MPA's peer-to-peer mode (RFC 6581, 4.1) */
	rr_message_decode(&message, &shared->lists, data);
	if (shared->sink->sent)
		shared->sink->sent(shared->sink->ctx, &message);
	rr_match_message(shared->match, &message, data);
}

void
rr_decode_operation(
	struct rr_decode_connections *shared, const struct rr_moment *moment, const struct rr_op *op)
{
	const struct rr_decode_region *region = NULL;

	switch (op->kind) {
	case RR_OP_PART: return;
	case RR_OP_SEND: connection_send(shared, moment, op); return;
	case RR_OP_WRITE:
	case RR_OP_READ_RESPONSE: region = rr_match_moved(shared->match, moment, op); break;
	case RR_OP_READ_REQUEST: region = rr_match_region(shared->match, moment, op); break;
	case RR_OP_TERMINATE: break;
	}
	shared->sink->operation(shared->sink->ctx, moment, op, region);
}

/* Handles a DDP segment of side "from": passes the segment to the sink, adds it to the RDMA operation that it
 * is a part of, and passes that operation on if it is now complete. Reports octets as lost if a Send is
 * incomplete. */
static void
connection_segment(struct rr_decode_connections *shared, struct rr_decode_connection *connection,
	uint8_t from, const struct rr_fpdu *fpdu)
{
	struct rr_moment moment = connection_moment(shared, connection, from);
	const struct rr_stream *stream = &connection->sides[from].stream;
	struct rpcrdma_bytes payload = { fpdu->payload, fpdu->length };
	uint32_t at = (uint32_t)(fpdu->payload - stream->data);
	const struct rr_rdmap_segment segment = { &fpdu->header, payload,
		rr_stream_known(stream, at, at + fpdu->length) };
	uint64_t skipped = connection->sides[from].rdmap.skipped;
	struct rr_op op;

	if (shared->sink->segment)
		shared->sink->segment(shared->sink->ctx, &moment, &fpdu->header, payload);
	rr_rdmap_take(&connection->sides[from].rdmap, &connection->sides[!from].rdmap, shared->memory,
		&segment, &op);
	if (connection->sides[from].rdmap.skipped != skipped)
		rr_decode_lost(shared, &moment);
	rr_decode_operation(shared, &moment, &op);
}

/* ---- MPA ---- */

/* Sets whether each direction has CRCs and markers, as the MPA frames of both sides say. CRCs are in use in
 * both directions if either frame has the flag C. RFC 5044, 7.1.1: the flag M in the frame of a side declares
 * "a receiver's requirement for Markers", so it is about what the other side sends. A note says that markers
 * are not decoded. */
static void
connection_agree(struct rr_decode_connections *shared, struct rr_decode_connection *connection)
{
	struct rr_decode_connection_side *sides = connection->sides;
	bool crc = sides[0].frame.crc || sides[1].frame.crc;

	for (uint8_t from = 0; from < 2; from++) {
		rr_fpdus_agree(&sides[from].fpdus, crc, sides[!from].frame.markers);
		if (sides[!from].frame.markers)
			connection_note(shared, connection, from, "has MPA markers, which are not decoded");
	}
}

/* Handles the MPA frame with which side "from" opens the connection: stores the frame, and passes it to the
 * sink as a handshake. If the frame is a reply, then sets up decoding as the frames of both sides say. */
static void
connection_opened(struct rr_decode_connections *shared, struct rr_decode_connection *connection, uint8_t from,
	const struct rr_mpa_frame *frame)
{
	struct rr_moment moment = connection_moment(shared, connection, from);
	struct rr_decode_connection_side *side = &connection->sides[from];
	const struct rr_handshake handshake = { .kind = frame->reject  ? RR_HANDSHAKE_REJECT
							: frame->reply ? RR_HANDSHAKE_REPLY
								       : RR_HANDSHAKE_REQUEST,
		.mpa = frame,
		.has_depths = frame->enhanced,
		.ird = frame->ird,
		.ord = frame->ord,
		.private_data = { frame->private_data, frame->private_data_length } };

	side->frame = *frame;
	side->frame.private_data = NULL;
	shared->sink->opened(shared->sink->ctx, &moment, &handshake);
	if (frame->reply)
		connection_agree(shared, connection);
}

/* Handles an MPA frame that ends at the octet `end` of what side "from" has sent. A frame that was not
 * captured whole shows no private data. */
static void
connection_frame(struct rr_decode_connections *shared, struct rr_decode_connection *connection, uint8_t from,
	uint32_t end, struct rr_fpdu *fpdu)
{
	uint32_t size = (uint32_t)fpdu->used;

	if (rr_stream_known(&connection->sides[from].stream, end - size, end) < size) {
		fpdu->frame.private_data_length = 0;
		fpdu->frame.enhanced = false;
	}
	connection_opened(shared, connection, from, &fpdu->frame);
}

/* Gives up the FPDU and the Send that side "from" has begun, because octets of that side are missing in the
 * capture. Passes a note on this to the sink, unless the side's octets are ignored anyway. */
static void
connection_lose(struct rr_decode_connections *shared, struct rr_decode_connection *connection, uint8_t from)
{
	struct rr_decode_connection_side *side = &connection->sides[from];

	side->stream.broken = false;
	rr_fpdus_lose(&side->fpdus);
	rr_rdmap_lose(&side->rdmap);
	if (!rr_fpdus_are_ignored(&side->fpdus))
		connection_note(shared, connection, from, "octets are missing in the capture");
}

/* Called after rr_fpdus_next() has used the octets `data` of side "from". Reports them as lost if an FPDU is
 * or was searched for in them, as they then belong to no FPDU. If the stream is not MPA at all, passes them
 * to the sink until the sink wants no more. before: a copy of the side's fpdus from before the call. */
static void
connection_was_read(struct rr_decode_connections *shared, struct rr_decode_connection *connection,
	uint8_t from, const struct rr_fpdus *before, struct rpcrdma_bytes data)
{
	struct rr_moment moment = connection_moment(shared, connection, from);
	struct rr_decode_connection_side *side = &connection->sides[from];

	if (side->fpdus.state == RR_FPDUS_SEARCHING || side->fpdus.resyncs != before->resyncs)
		rr_decode_lost(shared, &moment);
	if (side->fpdus.state == RR_FPDUS_FOREIGN && shared->sink->foreign && !side->is_known)
		side->is_known = shared->sink->foreign(shared->sink->ctx, &moment, data);
}

/* Handles an FPDU of side "from", a segment or one with a wrong CRC (kind). The CRC of an FPDU that was not
 * captured whole says nothing. An FPDU whose header was not captured whole is given up. */
static void
connection_fpdu(struct rr_decode_connections *shared, struct rr_decode_connection *connection, uint8_t from,
	enum rr_fpdu_kind kind, const struct rr_fpdu *fpdu)
{
	struct rr_decode_connection_side *side = &connection->sides[from];
	uint32_t payload = (uint32_t)(fpdu->payload - side->stream.data);
	uint32_t header = RR_FPDU_LENGTH_SIZE + (uint32_t)rr_ddp_header_size(fpdu->header.tagged);
	uint32_t whole = (uint32_t)rr_fpdu_size(header - RR_FPDU_LENGTH_SIZE + fpdu->length);
	uint32_t known = rr_stream_known(&side->stream, payload - header, payload - header + whole);

	if (known < header) {
		rr_rdmap_lose(&side->rdmap);
		connection_note(shared, connection, from, "the header of an FPDU is cut in the capture");
		return;
	}
	if (kind == RR_FPDU_SEGMENT || known < whole) {
		connection_segment(shared, connection, from, fpdu);
		return;
	}
	side->wrong_crcs++;
	rr_rdmap_lose(&side->rdmap);
	connection_note(shared, connection, from, "an FPDU has a wrong CRC");
}

/* Decodes the octets of side "from" that have come without a gap, one MPA frame or FPDU after the other.
 * final is true if no more octets will come. */
static void
connection_read(struct rr_decode_connections *shared, struct rr_decode_connection *connection, uint8_t from,
	bool final)
{
	struct rr_decode_connection_side *side = &connection->sides[from];
	uint32_t size = rr_stream_size(&side->stream), used = 0;
	enum rr_fpdu_kind kind = RR_FPDU_OPENED;
	struct rr_fpdus before;
	struct rr_fpdu fpdu;

	/* Zeros in the place of an MPA frame do not show that the stream is not MPA. */
	if (side->stream.broken ||
		(side->fpdus.state == RR_FPDUS_OPENING &&
			rr_stream_known(&side->stream, 0, size) < rr_min(size, RR_MPA_HEADER_SIZE)))
		connection_lose(shared, connection, from);
	before = side->fpdus;
	while (used < size && kind != RR_FPDU_MORE) {
		kind = rr_fpdus_next(&side->fpdus, side->stream.data + used, size - used, final, &fpdu);
		used += (uint32_t)fpdu.used;
		if (kind == RR_FPDU_OPENED)
			connection_frame(shared, connection, from, used, &fpdu);
		if (kind == RR_FPDU_SEGMENT || kind == RR_FPDU_BAD_CRC)
			connection_fpdu(shared, connection, from, kind, &fpdu);
	}
	connection_was_read(shared, connection, from, &before,
		(struct rpcrdma_bytes){ side->stream.data, rr_stream_known(&side->stream, 0, used) });
	rr_stream_take(&side->stream, shared->memory, used);
}

/* ---- TCP ---- */

/* Handles the acknowledgement in a packet of side "from". If the packet acknowledges octets of the other side
 * that have not been captured so far, reports these as lost: they may have messages to which the next
 * messages of side "from" reply. One octet more is allowed, as a FIN counts as one octet. If a gap is given
 * up because the octets in it were acknowledged, decodes the octets behind the gap. */
static void
connection_acknowledged(struct rr_decode_connections *shared, struct rr_decode_connection *connection,
	uint8_t from, const struct rr_packet *packet)
{
	struct rr_stream *stream = &connection->sides[!from].stream;
	struct rr_moment moment = connection_moment(shared, connection, !from);

	if (!(packet->flags & RR_TCP_ACK))
		return;
	if (stream->started && (int32_t)(packet->acknowledged - stream->next - rr_stream_size(stream)) > 1)
		rr_decode_lost(shared, &moment);
	if (rr_stream_acknowledge(stream, packet->acknowledged))
		connection_read(shared, connection, !from, false);
}

/* Decodes a packet, which side "from" sent: adds its octets to the stream of that side, and decodes what of
 * the stream has come without a gap. Before that, handles a SYN and an acknowledgement. */
void
rr_decode_connection_packet(struct rr_decode_connections *shared, struct rr_decode_connection *connection,
	uint8_t from, const struct rr_packet *packet)
{
	struct rr_decode_connection_side *side = &connection->sides[from];
	struct rr_stream_segment segment = { packet->payload, packet->sequence, packet->length,
		packet->missing };

	if (packet->flags & RR_TCP_SYN) {
		segment.sequence++; /* the SYN itself takes a sequence number */
		if (!side->stream.started)
			rr_stream_start(&side->stream, segment.sequence);
		if (!side->fpdus.begun)
			side->first = segment.sequence;
		side->fpdus.begun = true;
	}
	connection_acknowledged(shared, connection, from, packet);
	if (segment.size + segment.missing == 0)
		return;
	if (segment.missing > 0) {
		struct rr_moment moment = connection_moment(shared, connection, from);

		rr_decode_lost(shared, &moment);
	}
	/* As long as there is no room for the segment, rr_stream_add() gives up a gap. The octets behind the
	 * gap are then decoded, which makes room. */
	while (!rr_stream_add(&side->stream, shared->memory, &segment))
		connection_read(shared, connection, from, false);
	connection_read(shared, connection, from, false);
}

void
rr_decode_connection_finish(struct rr_decode_connections *shared, struct rr_decode_connection *connection)
{
	for (uint8_t from = 0; from < 2; from++) {
		/* Decodes what comes before each gap, and then gives up the gap. */
		do {
			connection_read(shared, connection, from, true);
		} while (rr_stream_skip(&connection->sides[from].stream));
	}
}

void
rr_decode_connection_end(struct rr_decode_connections *shared, struct rr_decode_connection *connection)
{
	struct rr_decode_counters *counters = &shared->counters;

	rr_match_end_connection(shared->match, connection->number);
	for (uint8_t from = 0; from < 2; from++) {
		struct rr_decode_connection_side *side = &connection->sides[from];

		counters->lost += side->stream.lost;
		counters->uncaptured += side->stream.uncaptured;
		counters->searched += side->fpdus.searched;
		counters->wrong_crcs += side->wrong_crcs;
		counters->partial += side->rdmap.skipped;
		rr_stream_free(&side->stream, shared->memory);
		rr_rdmap_free(&side->rdmap, shared->memory);
	}
}
