/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes a message that arrived, and finds out its kind: arrival.h. */
#include "carrier/rdma/arrival.h"

#include "base/checked.h"
#include "wire/rpc.h"
#include "wire/rpcrdma1.h"
#include "wire/rpcrdma2.h"

/* ---- Arrays ---- */

/* Returns the most chunks or segments that a received header can have, if each takes `size` octets: as many
 * as fit into a Receive buffer of this side, but at most segment_max. */
static uint32_t
arrival_holds(const struct rr_room *room, uint32_t size)
{
	uint32_t receive = room->receive_size;

	return (uint32_t)rr_min(room->base.engine->config.segment_max, receive / size);
}

struct rr_arrival_sizes
rr_arrival_sizes(const struct rr_room *room)
{
	return (struct rr_arrival_sizes){
		.reads = arrival_holds(room, RR_READ_SEGMENT_SIZE),
		.writes = room->base.engine->config.chunk_max,
		.segments = arrival_holds(room, RR_SEGMENT_SIZE),
	};
}

int
rr_arrival_prepare(struct rr_room *room)
{
	const struct rr_arrival_sizes sizes = rr_arrival_sizes(room);
	void *memory;

	if (room->arrival_lists.segments)
		return 0;
	memory = rr_alloc(
		room->base.engine->env, rr_rdma_lists_size(sizes.reads, sizes.writes, sizes.segments));
	if (!memory)
		return -RPCRDMA_ERR_NOMEM;
	rr_rdma_place_lists(&room->arrival_lists, memory, sizes.reads, sizes.writes, sizes.segments);
	return 0;
}

void
rr_arrival_unprepare(struct rr_room *room)
{
	/* The segments lie at the beginning of the one piece of memory that all arrays share. */
	rr_free(room->base.engine->env, room->arrival_lists.segments);
	room->arrival_lists = (struct rr_chunk_lists){ 0 };
}

/* ---- Kinds ---- */

/* Returns whether the RPC message behind the header is a call or a reply, by the second word of the message
 * (RFC 5531, 9). Returns RR_ARRIVAL_UNCLEAR if the message is too short or is neither of them. */
static enum rr_arrival_kind
arrival_kind_of_message(const struct rr_arrival *arrival)
{
	uint32_t xid, type;

	if (!rr_rpc_peek(arrival->payload.data, arrival->payload.length, &xid, &type))
		return RR_ARRIVAL_UNCLEAR;
	switch (type) {
	case RR_CALL: return RR_ARRIVAL_CALL;
	case RR_REPLY: return RR_ARRIVAL_REPLY;
	default: return RR_ARRIVAL_UNCLEAR;
	}
}

/* Returns the kind of a message whose header could be decoded, from the procedure in the header. */
static enum rr_arrival_kind
arrival_kind_of_good(const struct rr_arrival *arrival)
{
	bool is_version_2 = arrival->header.vers >= RR_RPCRDMA_VERSION_2;

	switch (arrival->header.proc) {
	case RR_RDMA_MSG: return arrival_kind_of_message(arrival);
	/* The message lies in the Read list of a Long Call or in the Reply chunk of a Long Reply. The lists
	 * do not tell which, as they may be wrong, and in version 2 a reply may have a Read list
	 * (draft-cel-nfsv4-rpcrdma-reliable-reply-02, 4.1). */
	case RR_RDMA_NOMSG: return RR_ARRIVAL_UNCLEAR;
	case RR_RDMA_ERROR: return RR_ARRIVAL_ERROR;
	/* RFC 8166, 4.6.2: "Receivers MUST silently discard RDMA_DONE messages." */
	case RR_RDMA_DONE: return is_version_2 ? RR_ARRIVAL_DONE : RR_ARRIVAL_JUNK;
	case RR_RDMA_OPTIONAL: return is_version_2 ? RR_ARRIVAL_OPTIONAL : RR_ARRIVAL_UNCLEAR;
	default: return RR_ARRIVAL_UNCLEAR;
	}
}

/* Returns the kind of a message whose header is wrong or has an unknown version. In an unknown version only
 * RDMA_ERROR is sure to mean the same as in the known versions. */
static enum rr_arrival_kind
arrival_kind_of_bad(const struct rr_arrival *arrival)
{
	bool is_known = arrival->result != RR_HEADER_VERS;

	switch (arrival->header.proc) {
	/* RFC 8166, 4.5: "A receiver MUST silently discard an RDMA_ERROR procedure that it cannot
	 * decode." */
	case RR_RDMA_ERROR: return RR_ARRIVAL_JUNK;
	case RR_RDMA_DONE: return is_known ? RR_ARRIVAL_JUNK : RR_ARRIVAL_UNCLEAR;
	case RR_RDMA_OPTIONAL: return is_known ? RR_ARRIVAL_OPTIONAL : RR_ARRIVAL_UNCLEAR;
	default: return RR_ARRIVAL_UNCLEAR;
	}
}

/* Returns the kind of the message. A message that is too short is RR_ARRIVAL_JUNK: RFC 8166, 4.5: "If an
 * incoming RPC-over-RDMA message is not as long as a minimal size RPC-over-RDMA header (28 bytes), the
 * receiver cannot trust the value of the XID field; therefore, it MUST silently discard the message before
 * performing any parsing." Exceptions are RDMA_ERROR, RDMA_DONE and RDMA_OPTIONAL, which can be shorter, and
 * an RDMA_MSGP of version 2, which is refused later. */
static enum rr_arrival_kind
arrival_kind(const struct rr_arrival *arrival)
{
	const struct rr_rdma_header *header = &arrival->header;
	bool is_whole = arrival->length >= RR_RDMA_HEADER_MIN ||
			(arrival->result != RR_HEADER_VERS && header->vers == RR_RPCRDMA_VERSION_2 &&
				header->proc == RR_RDMA_MSGP);
	enum rr_arrival_kind kind;

	if (arrival->result == RR_HEADER_SHORT)
		return RR_ARRIVAL_JUNK;
	kind = arrival->result == RR_HEADER_OK ? arrival_kind_of_good(arrival) : arrival_kind_of_bad(arrival);
	/* The kinds up to UNCLEAR are calls and replies: their headers have 28 octets at least. */
	return kind <= RR_ARRIVAL_UNCLEAR && !is_whole ? RR_ARRIVAL_JUNK : kind;
}

void
rr_arrival_decode(struct rr_arrival *arrival, struct rr_version_range versions,
	const struct rr_chunk_lists *lists, const struct rr_event *event)
{
	const struct rpcrdma_message message = { .stream = event->data, .length = event->length };
	struct rpcrdma_xdr_reader reader;
	uint32_t left;

	arrival->receive = event->data;
	arrival->length = event->length;
	arrival->invalidated = event->invalidated;
	arrival->invalidated_handle = event->invalidated_handle;
	arrival->lists = *lists;
	rpcrdma_xdr_reader_init(&reader, &message, NULL);
	arrival->result = rr_rdma_get_any_header(&reader, versions.high, &arrival->header, &arrival->lists);
	left = (uint32_t)rpcrdma_xdr_left(&reader);
	arrival->payload = (struct rpcrdma_bytes){ event->data + (event->length - left), left };
	arrival->kind = arrival_kind(arrival);
	if (arrival->result == RR_HEADER_OK && !rr_version_in(arrival->header.vers, versions))
		arrival->result = RR_HEADER_VERS;
}
