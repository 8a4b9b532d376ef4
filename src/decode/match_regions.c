/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/checked.h"
#include "decode/match.h"

#include <string.h>

/* This file has the regions of transactions: the segments of the chunks that messages offer, in a map by
 * their handles. */

enum { SAME_HANDLES = 64 }; /* regions of one handle that are looked at for an operation, at most */

/* Returns the key of a region in the map. owner is the side whose memory the region is. The numbers of
 * connections have 31 bits. */
static uint64_t
region_key(uint32_t connection, uint8_t owner, uint32_t handle)
{
	return (uint64_t)connection << 33 | (uint64_t)owner << 32 | handle;
}

/* Adds a region (a segment of offered memory) to the transaction's call or reply; part says to which of them.
 * Enters the region in the map by its handle. If an earlier region has the same handle, the new region takes
 * its place in the map, and is linked with it. */
static void
region_add(struct rr_match *match, struct rr_match_transaction *transaction, uint32_t part,
	struct rr_decode_region region)
{
	uint8_t owner = part == RR_TRANSACTION_CALL ? transaction->caller : !transaction->caller;
	struct rr_decode_region *added = &transaction->regions[part][transaction->region_counts[part]++];
	uint64_t key = region_key(transaction->connection, owner, region.segment.handle);
	struct rr_map_link *link = rr_map_find(&match->regions, key);

	*added = region;
	added->transaction = transaction;
	rr_list_init(&added->same);
	if (link) {
		struct rr_decode_region *last = rr_container(link, struct rr_decode_region, link);

		rr_map_remove(&match->regions, link);
		last->is_last = false;
		/* In the ring, the new region now precedes the region that was the newest. */
		rr_list_append(&last->same, &added->same);
	}
	added->is_last = true;
	rr_map_add(&match->regions, &added->link, key);
}

/* Removes a region from the map of handles. If an earlier region has the same handle, the map has that region
 * from now on. */
static void
region_remove(struct rr_match *match, struct rr_decode_region *region)
{
	struct rr_decode_region *before = rr_container(region->same.next, struct rr_decode_region, same);

	if (region->is_last) {
		rr_map_remove(&match->regions, &region->link);
		if (before != region) {
			before->is_last = true;
			rr_map_add(&match->regions, &before->link, region->link.key);
		}
	}
	rr_list_remove(&region->same);
}

/* ---- The chunks of a message ---- */

/* Returns the purpose of a Read chunk with that position, in a call or a reply. */
static enum rr_region_kind
region_read_kind(uint32_t part, uint32_t position)
{
	if (part == RR_TRANSACTION_REPLY)
		return RR_REGION_PROVIDED;
	return position == 0 ? RR_REGION_CALL : RR_REGION_READ;
}

/* Adds the segments of a Read list as regions. Returns how many octets are at position 0, where the RPC
 * message itself is. RFC 8166, 3.4.5: segments with the same position are one Read chunk. */
static uint64_t
region_add_reads(struct rr_match *match, struct rr_match_transaction *transaction, uint32_t part,
	const struct rr_chunk_lists *lists)
{
	uint64_t at = 0, first = 0;

	for (uint32_t i = 0; i < lists->read_count; i++) {
		const struct rr_read_segment *read = &lists->reads[i];

		if (i > 0 && read->position != lists->reads[i - 1].position)
			at = 0;
		region_add(match, transaction, part,
			(struct rr_decode_region){ .segment = read->target,
				.kind = region_read_kind(part, read->position),
				.chunk = read->position,
				.at = at });
		at += read->target.length;
		first += read->position == 0 ? read->target.length : 0;
	}
	return first;
}

/* Adds the segments of a Write chunk or a Reply chunk of a call as regions. number is that of the chunk in
 * its list. */
static void
region_add_chunk(struct rr_match *match, struct rr_match_transaction *transaction,
	const struct rr_chunk *chunk, enum rr_region_kind kind, uint32_t number)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < chunk->count; i++) {
		region_add(match, transaction, RR_TRANSACTION_CALL,
			(struct rr_decode_region){
				.segment = chunk->segments[i], .kind = kind, .chunk = number, .at = at });
		at += chunk->segments[i].length;
	}
}

static void
region_free_head(struct rr_match *match, struct rr_head *head)
{
	rr_decode_free(match->memory, head->data, head->want);
	*head = (struct rr_head){ 0 };
}

bool
rr_match_add_regions(struct rr_match *match, struct rr_match_transaction *transaction, uint32_t part,
	const struct rr_message *message)
{
	const struct rr_chunk_lists *lists = &message->lists;
	uint32_t count = lists->read_count + (part == RR_TRANSACTION_CALL ? lists->segment_count : 0);
	uint64_t first;

	if (count == 0)
		return true;
	transaction->regions[part] = rr_decode_alloc(match->memory, count * sizeof(struct rr_decode_region));
	if (!transaction->regions[part])
		return false;
	transaction->region_sizes[part] = count * sizeof(struct rr_decode_region);
	/* If the reply lies in a Read chunk, the front that the call's Reply chunk gave is not that of the
	 * reply, and is dropped. */
	region_free_head(match, &transaction->heads[part]);
	first = region_add_reads(match, transaction, part, lists);
	transaction->heads[part].want = (uint32_t)rr_min(first, RR_MESSAGE_HEAD);
	if (part == RR_TRANSACTION_REPLY)
		return true;
	for (uint32_t i = 0; i < lists->write_count; i++)
		region_add_chunk(match, transaction, &lists->writes[i], RR_REGION_WRITE, i);
	if (lists->has_reply) {
		region_add_chunk(match, transaction, &lists->reply, RR_REGION_REPLY, 0);
		transaction->heads[RR_TRANSACTION_REPLY].want =
			(uint32_t)rr_min(rr_chunk_length(&lists->reply), RR_MESSAGE_HEAD);
	}
	return true;
}

void
rr_match_remove_regions(struct rr_match *match, struct rr_match_transaction *transaction)
{
	for (uint32_t part = 0; part < RR_TRANSACTION_PARTS; part++) {
		struct rr_decode_region *regions = transaction->regions[part];
		uint32_t count = transaction->region_counts[part];

		for (uint32_t i = 0; i < count; i++)
			region_remove(match, &regions[i]);
		rr_decode_free(match->memory, regions, transaction->region_sizes[part]);
		region_free_head(match, &transaction->heads[part]);
	}
}

/* ---- Operations ---- */

struct rr_decode_region *
rr_match_region(const struct rr_match *match, const struct rr_moment *moment, const struct rr_op *op)
{
	/* A Read Response comes from the owner of the memory; every other operation goes to the owner. */
	uint8_t owner = op->kind == RR_OP_READ_RESPONSE ? moment->from : !moment->from;
	struct rr_map_link *link =
		rr_map_find(&match->regions, region_key(moment->connection, owner, op->handle));
	struct rr_decode_region *region = link ? rr_container(link, struct rr_decode_region, link) : NULL;

	for (int i = 0; region && i < SAME_HANDLES; i++) {
		uint64_t at = op->offset - region->segment.offset;

		if (at <= region->segment.length && op->length <= region->segment.length - at)
			return region;
		/* From the oldest region, the ring leads back to the newest; i ends the loop. */
		region = rr_container(region->same.next, struct rr_decode_region, same);
	}
	return NULL;
}

/* Appends octets that the operation op moved by RDMA to head, which keeps the first octets of an RPC message,
 * head->want at most. at is the offset of the moved octets in that message. Octets that head has already are
 * skipped. Nothing is appended if there would be a gap, or if there is no memory; octets that were not
 * captured are a gap. */
static void
region_fill_head(struct rr_match *match, struct rr_head *head, uint64_t at, const struct rr_op *op)
{
	uint64_t end = at + op->known;
	uint32_t skip;

	if (at > head->have || end <= head->have || head->have == head->want)
		return;
	if (!head->data)
		head->data = rr_decode_alloc(match->memory, head->want);
	if (!head->data)
		return;
	skip = head->have - (uint32_t)at;
	end = rr_min(end, head->want);
	memcpy(head->data + head->have, op->data + skip, end - head->have);
	head->have = (uint32_t)end;
}

/* Returns the structure that keeps the first octets of the RPC message in the region's chunk. Returns NULL if
 * the chunk is for an argument or a result, not for an RPC message. */
static struct rr_head *
region_head(const struct rr_decode_region *region)
{
	switch (region->kind) {
	case RR_REGION_CALL: return &region->transaction->heads[RR_TRANSACTION_CALL];
	case RR_REGION_REPLY:
	case RR_REGION_PROVIDED: return &region->transaction->heads[RR_TRANSACTION_REPLY];
	default: return NULL;
	}
}

/* Tells whether the region, which is for an RPC message, is for the one that the transaction holds back: the
 * call, or the reply. If none is held back, the result does not matter, as rr_match_release() does nothing
 * then. */
static bool
region_is_of_held(const struct rr_decode_region *region)
{
	const struct rr_match_transaction *transaction = region->transaction;
	bool is_call = transaction->held.sent.moment.from == transaction->caller;

	return is_call == (region->kind == RR_REGION_CALL);
}

const struct rr_decode_region *
rr_match_moved(struct rr_match *match, const struct rr_moment *moment, const struct rr_op *op)
{
	struct rr_decode_region *region = rr_match_region(match, moment, op);
	struct rr_head *head;

	if (!region)
		return NULL;
	region->transaction->moved[region->kind] += op->length;
	head = region_head(region);
	if (head && op->length > 0)
		region_fill_head(match, head, region->at + (op->offset - region->segment.offset), op);
	if (head && head->have == head->want && region_is_of_held(region))
		rr_match_release(match, region->transaction);
	return region;
}
