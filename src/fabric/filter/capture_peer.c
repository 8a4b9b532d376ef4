/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/filter/capture_private.h"

#include <stdlib.h>

#include "wire/rpc.h"

/* Derives the RDMA operations of the peer from the messages that say that they were done. */

/* Decodes the RPC-over-RDMA header of a message into header and the fabric's chunk lists; *payload becomes
 * the octets behind the header. Returns false if the header cannot be decoded. */
static bool
capture_decode(struct rr_capture_endpoint *endpoint, const void *data, uint32_t size,
	struct rr_rdma_header *header, struct rpcrdma_bytes *payload)
{
	struct rr_chunk_lists *lists = &rr_capture_fabric_of(&endpoint->filter)->lists;
	const struct rpcrdma_message stream = { .stream = data, .length = size };
	struct rpcrdma_xdr_reader reader;
	uint32_t left;

	rr_rdma_clear_lists(lists);
	rpcrdma_xdr_reader_init(&reader, &stream, NULL);
	if (rr_rdma_get_any_header(&reader, RR_RPCRDMA_VERSION_2, header, lists) != RR_HEADER_OK)
		return false;
	left = (uint32_t)rpcrdma_xdr_left(&reader);
	*payload = (struct rpcrdma_bytes){ (const uint8_t *)data + (size - left), left };
	return true;
}

/* Whether a message that this side sends is a call. Must only be called if this side has opened the
 * connection. An RDMA_NOMSG, which has no RPC message in its payload, counts as a call. */
static bool
capture_is_call(const struct rr_rdma_header *header, struct rpcrdma_bytes payload)
{
	uint32_t xid, type;

	return header->proc == RR_RDMA_NOMSG ||
	       (header->proc == RR_RDMA_MSG && rr_rpc_peek(payload.data, payload.length, &xid, &type) &&
		       type == RR_CALL);
}

void
rr_capture_expose(struct rr_capture_endpoint *endpoint, const struct rr_sge *sges, uint32_t count)
{
	struct rr_chunk_lists *lists = &rr_capture_fabric_of(&endpoint->filter)->lists;
	struct rr_capture_exposed *exposed;
	struct rr_rdma_header header;
	struct rpcrdma_bytes payload;

	/* A header lies in the first sge. */
	if (count == 0 || !capture_decode(endpoint, sges[0].addr, sges[0].length, &header, &payload))
		return;
	if (endpoint->own == 0 && capture_is_call(&header, payload))
		rr_capture_set_waiting(rr_capture_of(endpoint), true);
	/* capture_decode() has put the Read chunks of the message into lists. */
	if (lists->read_count == 0 || endpoint->exposed_count == RR_CAPTURE_EXPOSED)
		return;
	exposed = malloc(sizeof(*exposed) + lists->read_count * sizeof(exposed->segments[0]));
	if (!exposed)
		return;
	exposed->xid = header.xid;
	exposed->count = lists->read_count;
	for (uint32_t i = 0; i < lists->read_count; i++)
		exposed->segments[i] = lists->reads[i].target;
	rr_list_append(&endpoint->exposed, &exposed->link);
	endpoint->exposed_count++;
}

struct rr_capture_region *
rr_capture_find(const struct rr_capture_endpoint *endpoint, uint32_t handle)
{
	rr_list_for_each (link, &endpoint->regions) {
		struct rr_capture_region *region = rr_container(link, struct rr_capture_region, link);

		if (region->handle == handle)
			return region;
	}
	return NULL;
}

/* Returns the memory of this side that a segment of a chunk names. Returns NULL if the segment is not within
 * a region that the peer may reach. */
static const uint8_t *
capture_memory(const struct rr_capture_endpoint *endpoint, const struct rr_segment *segment)
{
	const struct rr_capture_region *region = rr_capture_find(endpoint, segment->handle);
	uint64_t at = region ? segment->offset - region->offset : 0;

	if (!region || at > region->length || segment->length > region->length - at)
		return NULL;
	return region->addr + at;
}

/* Called when the peer has answered a message, which is found by the XID of the answer. The peer must have
 * read the memory that the message offered: writes RDMA Reads of it to the capture, and forgets that memory.
 * If the answer is an error, the peer may not have read, and no Reads are written. */
static void
capture_was_read(struct rr_capture_endpoint *endpoint, const struct rr_rdma_header *header)
{
	rr_list_for_each (link, &endpoint->exposed) {
		struct rr_capture_exposed *exposed = rr_container(link, struct rr_capture_exposed, link);

		if (exposed->xid != header->xid)
			continue;
		for (uint32_t i = 0; i < exposed->count && header->proc != RR_RDMA_ERROR; i++) {
			const struct rr_segment *segment = &exposed->segments[i];
			const uint8_t *data = capture_memory(endpoint, segment);
			uint32_t sink;

			if (!data)
				continue;
			sink = rr_capture_read_request(rr_capture_of(endpoint), &endpoint->flow,
				!endpoint->own, segment->handle, segment->offset, segment->length);
			rr_capture_read_response(rr_capture_of(endpoint), &endpoint->flow, endpoint->own,
				sink, data, segment->length);
		}
		rr_list_remove(&exposed->link);
		free(exposed);
		endpoint->exposed_count--;
		return;
	}
}

/* Writes RDMA Writes of the peer to the capture, one for each segment that the peer's reply lists as
 * written. Leaves out segments that are empty or not within a known region. */
static void
capture_was_written(struct rr_capture_endpoint *endpoint)
{
	const struct rr_chunk_lists *lists = &rr_capture_fabric_of(&endpoint->filter)->lists;

	for (uint32_t i = 0; i < lists->segment_count; i++) {
		const struct rr_segment *segment = &lists->segments[i];
		const struct rr_sge sge = { capture_memory(endpoint, segment), segment->length };
		const struct rr_ddp_header header = { .tagged = true,
			.opcode = RR_RDMAP_WRITE,
			.stag = segment->handle,
			.to = segment->offset };

		if (sge.addr && sge.length > 0)
			rr_capture_message(
				rr_capture_of(endpoint), &endpoint->flow, !endpoint->own, header, &sge, 1);
	}
}

/* Whether a message of the peer is a reply, an error or an RDMA_DONE. After each of these the peer no longer
 * reads the chunks of the message that it answers. An RDMA_NOMSG with Read chunks is a call in version 1. In
 * version 2, it may be a reply that this side reads: it counts as a reply unless it also has segments to be
 * written. */
static bool
capture_is_reply(
	const struct rr_rdma_header *header, const struct rr_chunk_lists *lists, struct rpcrdma_bytes payload)
{
	uint32_t xid, type;

	if (header->proc == RR_RDMA_NOMSG)
		return lists->read_count == 0 || (header->vers != 1 && lists->segment_count == 0);
	return header->proc == RR_RDMA_ERROR || header->proc == RR_RDMA_DONE ||
	       (rr_rpc_peek(payload.data, payload.length, &xid, &type) && type == RR_REPLY);
}

void
rr_capture_received(struct rr_capture_endpoint *endpoint, const struct rr_event *event)
{
	const struct rr_chunk_lists *lists = &rr_capture_fabric_of(&endpoint->filter)->lists;
	const struct rr_ddp_header send = { .opcode = event->invalidated ? RR_RDMAP_SEND_INVALIDATE
									 : RR_RDMAP_SEND,
		.invalidate_stag = event->invalidated ? event->invalidated_handle : 0 };
	const struct rr_sge sge = { event->data, event->length };
	struct rr_rdma_header header;
	struct rpcrdma_bytes payload;

	if (capture_decode(endpoint, event->data, event->length, &header, &payload) &&
		capture_is_reply(&header, lists, payload)) {
		capture_was_read(endpoint, &header);
		/* An RDMA_MSG or an RDMA_NOMSG returns the chunks that were written; other messages have
		 * none. */
		if (header.proc <= RR_RDMA_NOMSG)
			capture_was_written(endpoint);
	}
	rr_capture_message(rr_capture_of(endpoint), &endpoint->flow, !endpoint->own, send, &sge, 1);
	rr_capture_set_waiting(rr_capture_of(endpoint), false);
}
