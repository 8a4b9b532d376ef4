/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/judge/judge_private.h"

#include <stdlib.h>
#include <string.h>

/* This file keeps the regions, which are the segments of memory that messages offer, in a map by their
 * handles. It checks RDMA operations against them. */

enum { SAME_HANDLES = 64 }; /* regions of one handle that are looked at for an operation, at most */

/* Returns the key of a region in the judge's map. owner is the side whose memory the region is. The numbers
 * of connections have 31 bits. */
static uint64_t
region_key(uint32_t connection, uint8_t owner, uint32_t handle)
{
	return (uint64_t)connection << 33 | (uint64_t)owner << 32 | handle;
}

/* ---- Offered memory ---- */

/* Sets *region to a segment that the call, or its reply, offers in the memory of owner, and enters the region
 * into the map. */
static void
region_add(struct rr_judge *judge, struct rr_judge_region *region, struct rr_judge_call *call, uint8_t owner,
	const struct rr_segment *segment, enum rr_region_kind kind)
{
	*region = (struct rr_judge_region){ .call = call, .segment = *segment, .kind = kind };
	rr_map_add(&judge->regions, &region->link, region_key(call->connection, owner, segment->handle));
}

/* Stores in the call how many segments each of its Write chunks has. Returns false if there is no memory. */
static bool
region_sizes(struct rr_judge *judge, struct rr_judge_call *call, const struct rr_chunk_lists *lists)
{
	call->write_count = lists->write_count;
	if (lists->write_count == 0)
		return true;
	call->write_sizes = rr_decode_alloc(&judge->memory, lists->write_count * sizeof(uint32_t));
	for (uint32_t i = 0; call->write_sizes && i < lists->write_count; i++)
		call->write_sizes[i] = lists->writes[i].count;
	return call->write_sizes;
}

/* Keeps the chunks that a call offers: a region for each segment, and how many segments each chunk has, for
 * comparison with the chunks that the reply will return. If there is no memory, the caller forgets the
 * call. */
bool
rr_judge_offer(struct rr_judge *judge, struct rr_judge_call *call, const struct rr_message *message)
{
	const struct rr_chunk_lists *lists = &message->lists;
	uint32_t count = lists->read_count + lists->segment_count, at = 0;
	uint32_t writes = lists->segment_count - (lists->has_reply ? lists->reply.count : 0);

	if (!region_sizes(judge, call, lists))
		return false;
	call->has_reply = lists->has_reply;
	call->reply_size = lists->has_reply ? lists->reply.count : 0;
	if (count == 0)
		return true;
	call->regions = rr_decode_alloc(&judge->memory, count * sizeof(*call->regions));
	if (!call->regions)
		return false;
	call->region_count = count;
	call->read_count = lists->read_count;
	for (uint32_t i = 0; i < lists->read_count; i++)
		region_add(judge, &call->regions[at++], call, call->caller, &lists->reads[i].target,
			lists->reads[i].position == 0 ? RR_REGION_CALL : RR_REGION_READ);
	/* lists->segments has the segments of all Write chunks, and then those of the Reply chunk. */
	for (uint32_t i = 0; i < lists->segment_count; i++)
		region_add(judge, &call->regions[at++], call, call->caller, &lists->segments[i],
			i < writes ? RR_REGION_WRITE : RR_REGION_REPLY);
	return true;
}

/* Keeps the Read chunks of a reply that lies in the responder's memory, as regions of that memory. If there
 * are such regions from an earlier reply already, keeps these. Returns false if there is no memory. */
bool
rr_judge_provide(struct rr_judge *judge, struct rr_judge_call *call, const struct rr_message *message)
{
	const struct rr_chunk_lists *lists = &message->lists;

	if (call->provided_regions)
		return true;
	call->provided_regions =
		rr_decode_alloc(&judge->memory, lists->read_count * sizeof(*call->provided_regions));
	if (!call->provided_regions)
		return false;
	call->provided_count = lists->read_count;
	for (uint32_t i = 0; i < lists->read_count; i++)
		region_add(judge, &call->provided_regions[i], call, !call->caller, &lists->reads[i].target,
			RR_REGION_PROVIDED);
	return true;
}

/* Removes the regions of an array, which may be NULL with count 0, from the map, and frees the array. */
static void
region_remove(struct rr_judge *judge, struct rr_judge_region *regions, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		rr_map_remove(&judge->regions, &regions[i].link);
	rr_decode_free(&judge->memory, regions, count * sizeof(*regions));
}

/* Frees all that the judge keeps about the chunks of a call and of its reply. RDMA to that memory is reported
 * as not offered from now on. */
void
rr_judge_withdraw(struct rr_judge *judge, struct rr_judge_call *call)
{
	region_remove(judge, call->regions, call->region_count);
	region_remove(judge, call->provided_regions, call->provided_count);
	rr_decode_free(&judge->memory, call->write_sizes, call->write_count * sizeof(uint32_t));
}

/* ---- Overlaps ---- */

/* Compares two segments for qsort(3): by their handles, then by their offsets. */
static int
region_compare(const void *a, const void *b)
{
	const struct rr_segment *one = a, *other = b;

	if (one->handle != other->handle)
		return one->handle < other->handle ? -1 : 1;
	return one->offset < other->offset ? -1 : one->offset > other->offset;
}

/* Reports the first two segments of a call that overlap. After sorting, segments that overlap are neighbours,
 * as segments without octets are left out. If there is no memory for that, nothing is checked. */
void
rr_judge_overlaps(const struct rr_judged *judged, const struct rr_judge_call *call)
{
	struct rr_decode_memory *memory = &judged->judge->memory;
	size_t size = call->region_count * sizeof(struct rr_segment);
	struct rr_segment *sorted = call->region_count > 1 ? rr_decode_alloc(memory, size) : NULL;
	uint32_t count = 0;

	if (!sorted)
		return;
	for (uint32_t i = 0; i < call->region_count; i++)
		if (call->regions[i].segment.length > 0)
			sorted[count++] = call->regions[i].segment;
	qsort(sorted, count, sizeof(*sorted), region_compare);
	for (uint32_t i = 1; i < count; i++) {
		const struct rr_segment *a = &sorted[i - 1], *b = &sorted[i];

		if (a->handle != b->handle || b->offset - a->offset >= a->length)
			continue;
		rr_judge_message(judged, RR_RULE_OVERLAP, "handle 0x%08x", a->handle);
		break;
	}
	rr_decode_free(memory, sorted, size);
}

/* ---- RDMA Reads and Writes ---- */

/* Tells whether all octets of an operation lie in the region. If the operation begins before the region, "at"
 * wraps to a very large number, and the result is false. */
static bool
region_contains(const struct rr_judge_region *region, const struct rr_op *op)
{
	uint64_t at = op->offset - region->segment.offset;

	return at <= region->segment.length && op->length <= region->segment.length - at;
}

/* Returns the region (a segment of offered memory) that an RDMA operation is for. Only regions with the
 * operation's handle are looked at, those that were offered last first. The first choice is a region that
 * contains the operation's octets and whose call has no reply yet, or that is part of a reply in a Read
 * chunk; then any region that contains the octets; then the region that was offered last. Returns NULL if the
 * handle was not offered. */
static struct rr_judge_region *
region_find(const struct rr_judge *judge, uint32_t connection, uint8_t owner, const struct rr_op *op)
{
	struct rr_map_link *link = rr_map_find(&judge->regions, region_key(connection, owner, op->handle));
	struct rr_judge_region *last = link ? rr_container(link, struct rr_judge_region, link) : NULL;
	struct rr_judge_region *fits = NULL;

	for (int i = 0; link && i < SAME_HANDLES; i++, link = rr_map_next(link)) {
		struct rr_judge_region *region = rr_container(link, struct rr_judge_region, link);

		if (!region_contains(region, op))
			continue;
		if (!region->call->answered || region->kind == RR_REGION_PROVIDED)
			return region;
		fits = fits ? fits : region;
	}
	return fits ? fits : last;
}

/* Checks an RDMA operation against the region (the segment of offered memory) that it is for: the direction,
 * the bounds, the order, and that the call has no reply yet. Notes how far the region is filled or read. */
static void
region_moved(struct rr_judge *judge, const struct rr_moment *moment, const struct rr_op *op,
	struct rr_judge_region *region)
{
	const uint32_t *xid = &region->call->xid;
	bool is_write = op->kind == RR_OP_WRITE;
	bool is_for_writes = region->kind == RR_REGION_WRITE || region->kind == RR_REGION_REPLY;
	uint64_t at = op->offset - region->segment.offset;

	if (is_write != is_for_writes) {
		rr_judge_find(judge, RR_RULE_DIRECTION, moment, xid, "handle 0x%08x", op->handle);
		return;
	}
	if (op->length == 0) {
		if (region->segment.length == 0)
			rr_judge_find(judge, RR_RULE_EMPTY_SEGMENT, moment, xid, "handle 0x%08x", op->handle);
		return;
	}
	if (!region_contains(region, op)) {
		rr_judge_find(judge, RR_RULE_OUTSIDE, moment, xid,
			"%u octets at 0x%llx, and the segment has %u at 0x%llx", op->length,
			(unsigned long long)op->offset, region->segment.length,
			(unsigned long long)region->segment.offset);
		return;
	}
	if (region->call->answered && region->kind != RR_REGION_PROVIDED) {
		rr_judge_find(judge, RR_RULE_LATE, moment, xid, "handle 0x%08x", op->handle);
		return;
	}
	if (is_write && at != region->moved)
		rr_judge_find(judge, RR_RULE_ORDER, moment, xid, "at octet %llu of the segment, after %llu",
			(unsigned long long)at, (unsigned long long)region->moved);
	region->moved = at + op->length;
}

/* Checks an RDMA Write or a Read Request of the side moment->from against the memory that the other side has
 * offered: reports it if no memory with its handle was offered; otherwise region_moved() checks it. A Read
 * Response is not checked, because its Request was. Nothing is checked unless the connection is whole
 * (judge_private.h), as the offer may be in a message that was not captured. */
void
rr_judge_operation(struct rr_judge *judge, const struct rr_judge_connection *connection,
	const struct rr_moment *moment, const struct rr_op *op)
{
	struct rr_judge_region *region;

	if (op->kind == RR_OP_READ_RESPONSE || !rr_judge_is_whole(connection))
		return;
	region = region_find(judge, connection->number, !moment->from, op);
	if (region) {
		region_moved(judge, moment, op, region);
		return;
	}
	/* RFC 6581, 4.1: the first operation of MPA's peer-to-peer mode may be empty. */
	if (op->length > 0)
		rr_judge_find(judge, RR_RULE_NOT_OFFERED, moment, NULL, "handle 0x%08x", op->handle);
}
