/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/roce/roce_private.h"

#include <string.h>

/* This file decodes Read Responses. "Reader" is the side that sent the Read Request and receives the
 * response; at->from is the side that sends the response. */

/* Returns the RDMA Read whose response has a packet with this PSN, or NULL if there is none. A response whose
 * number of packets is not known counts as one packet. */
static struct rr_roce_read *
response_find_read(struct rr_roce_side *side, uint32_t psn)
{
	for (uint32_t i = 0; i < side->read_count; i++) {
		struct rr_roce_read *read = &side->reads[i];

		if (rr_roce_ahead(psn, read->psn) < (read->packets ? read->packets : 1))
			return read;
	}
	return NULL;
}

void
rr_roce_learn_mtu(struct rr_roce_connection *connection, const struct rr_roce_packet *packet)
{
	if (connection->mtu || packet->last || packet->payload.length < RR_ROCE_MTU_MIN)
		return;
	connection->mtu = packet->payload.length;
	for (uint8_t i = 0; i < 2; i++) {
		struct rr_roce_side *side = &connection->sides[i];

		for (uint32_t j = 0; j < side->read_count; j++)
			side->reads[j].packets = rr_roce_packets(side->reads[j].size, connection->mtu);
	}
}

/* Forgets a Read whose response is complete, and the Reads before it. */
static void
response_read_done(struct rr_roce_side *side, const struct rr_roce_read *read)
{
	uint32_t done = (uint32_t)(read - side->reads) + 1;

	side->read_count -= done;
	memmove(side->reads, side->reads + done, side->read_count * sizeof(side->reads[0]));
}

/* Tells whether a packet of a Read Response is due, which means that it is the next one in order. Its Read
 * must be the oldest one, because Reads are answered in the order of their Requests; and index, its number in
 * the response, must be that of the packet that comes next. */
static bool
response_is_due(const struct rr_roce_side *reader, const struct rr_roce_read *read, uint32_t index)
{
	return read == reader->reads && index == read->next;
}

/* Translates a packet of a Read Response into the DDP segment that iWARP has for it, and passes that segment
 * on. roce_read_request() used the PSN of the Request as the name of the reader's memory, so that PSN stands
 * for the memory here, too. The last packet ends the Read. */
static void
response_deliver(const struct rr_roce_at *at, struct rr_roce_read *read, const struct rr_roce_packet *packet)
{
	struct rr_roce_side *reader = &at->connection->sides[!at->from];
	struct rr_ddp_header header = { .tagged = true, .opcode = RR_RDMAP_READ_RESPONSE, .stag = read->psn };
	uint32_t index = rr_roce_ahead(packet->psn, read->psn);

	header.to = (uint64_t)index * at->connection->mtu;
	read->next = index + 1;
	header.last = read->next == (read->packets ? read->packets : 1);
	if (header.last)
		response_read_done(reader, read);
	rr_roce_segment(at, &(struct rr_rdmap_segment){ &header, packet->payload, packet->known });
}

/* Takes each packet out of the hold, in the order of the PSNs. Delivers it if it is due, that is, the next
 * one in order; with `all`, delivers it if it is not a repetition. Keeps packets that still wait for earlier
 * ones in `later`, which becomes the hold. Drops repeated packets, and packets whose Read is not known any
 * more. */
void
rr_roce_responses(const struct rr_roce_at *at, bool all)
{
	struct rr_roce_side *reader = &at->connection->sides[!at->from];
	struct rr_roce_hold later = { NULL, 0 };
	struct rr_roce_held *held;

	while ((held = rr_roce_hold_pop(&reader->responses))) {
		struct rr_roce_read *read = response_find_read(reader, held->packet.psn);
		uint32_t index = read ? rr_roce_ahead(held->packet.psn, read->psn) : 0;

		if (read && (all ? index >= read->next : response_is_due(reader, read, index)))
			response_deliver(at, read, &held->packet);
		else if (read && index >= read->next)
			rr_roce_hold_add(&later, at->shared->memory, &held->packet);
		rr_roce_hold_free(at->shared->memory, held);
	}
	reader->responses = later;
}

/* Handles a captured packet of a Read Response. If it is due, which means that it is the next one in order,
 * delivers it and then the held packets that come next. If earlier packets are missing, holds it. Drops a
 * packet that was repeated, or whose Read is not known. Returns false if the packet has to be held and there
 * is no room. */
static bool
response_take(const struct rr_roce_at *at, const struct rr_roce_packet *packet)
{
	struct rr_roce_side *reader = &at->connection->sides[!at->from];
	struct rr_roce_read *read = response_find_read(reader, packet->psn);
	uint32_t index = read ? rr_roce_ahead(packet->psn, read->psn) : 0;

	if (!read || index < read->next)
		return true;
	if (!response_is_due(reader, read, index))
		return rr_roce_hold_add(&reader->responses, at->shared->memory, packet);
	response_deliver(at, read, packet);
	if (reader->responses.first)
		rr_roce_responses(at, false);
	return true;
}

void
rr_roce_response(const struct rr_roce_at *at, const struct rr_roce_packet *packet)
{
	rr_roce_learn_mtu(at->connection, packet);
	if (response_take(at, packet))
		return;
	/* There is no room to hold the packet. So the missing packets are given up, and all held packets are
	 * decoded. After that the packet is due, or can be held; it is dropped if there is no memory. */
	rr_roce_responses(at, true);
	(void)response_take(at, packet);
}
