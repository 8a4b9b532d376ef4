/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes records of octets, and octets of records: record.h. */
#include "carrier/tcp/record.h"

#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "wire/rpc.h"

/* Removes that many octets from the front of in. */
static void
record_advance(struct rpcrdma_bytes *in, uint32_t octets)
{
	in->data = (const uint8_t *)in->data + octets;
	in->length -= octets;
}

/* Keeps the first octets of a record that is skipped, up to RR_RECORD_HEAD of them, as they have the XID of
 * its message. */
static void
record_keep_head(struct rr_record *record, const void *octets, uint32_t length)
{
	uint32_t kept = (uint32_t)rr_min(length, RR_RECORD_HEAD - record->head_length);

	memcpy(record->head + record->head_length, octets, kept);
	record->head_length += kept;
}

/* Begins to skip a record that is too long, and keeps the first octets of it, if some were gathered already.
 * Returns RR_RECORD_LARGE. */
static enum rr_record_result
record_begin_to_skip(struct rr_record *record)
{
	record->skipping = true;
	record->head_length = 0;
	if (record->length > 0)
		record_keep_head(record, record->data, record->length);
	return RR_RECORD_LARGE;
}

/* Reads the record mark of a fragment at the front of `in`. If the record has one fragment, of at most
 * in_place octets, stores it whole in *whole, without a copy, once all of it is in `in`. Otherwise begins the
 * fragment and returns RR_RECORD_ROOM, as the record needs memory. A record of more than max octets is
 * skipped. */
static enum rr_record_result
record_take_mark(struct rr_record *record, struct rpcrdma_bytes *in, uint32_t in_place, uint32_t max,
	struct rpcrdma_bytes *whole)
{
	uint32_t mark = rr_get_be32(in->data);
	uint32_t left = mark & ~RR_RECORD_LAST;
	bool last = mark & RR_RECORD_LAST;

	if (left > max || record->length > max - left)
		return record_begin_to_skip(record);
	/* The whole record is one small fragment: it stays where it is. */
	if (last && record->fragments == 0 && left <= in_place - RR_RECORD_MARK_SIZE) {
		if (in->length - RR_RECORD_MARK_SIZE < left)
			return RR_RECORD_MORE;
		record_advance(in, RR_RECORD_MARK_SIZE);
		*whole = (struct rpcrdma_bytes){ in->data, left };
		record_advance(in, left);
		return RR_RECORD_WHOLE;
	}
	if (++record->fragments > RR_RECORD_FRAGMENTS)
		return RR_RECORD_SHREDDED;
	record_advance(in, RR_RECORD_MARK_SIZE);
	record->open = true;
	record->last = last;
	record->left = left;
	/* Memory of the record's whole size is wanted. The size is known only if this is the last fragment;
	 * otherwise memory of the largest size that a record may have is wanted. */
	record->wanted = last ? record->length + left : max;
	return RR_RECORD_ROOM;
}

/* Reads the record mark of a fragment of a record that is skipped, and begins the fragment. Returns
 * RR_RECORD_ROOM if the fragment was begun, RR_RECORD_MORE if the mark has not come as a whole, or
 * RR_RECORD_SHREDDED if the record has too many fragments. */
static enum rr_record_result
record_skip_mark(struct rr_record *record, struct rpcrdma_bytes *in)
{
	uint32_t mark;

	if (in->length < RR_RECORD_MARK_SIZE)
		return RR_RECORD_MORE;
	if (++record->fragments > RR_RECORD_FRAGMENTS)
		return RR_RECORD_SHREDDED;
	mark = rr_get_be32(in->data);
	record_advance(in, RR_RECORD_MARK_SIZE);
	record->open = true;
	record->last = mark & RR_RECORD_LAST;
	record->left = mark & ~RR_RECORD_LAST;
	return RR_RECORD_ROOM;
}

/* Removes the octets of a record that is too long from `in`, and keeps only the record's first octets. At the
 * end of the record, sets *whole to these first octets and returns RR_RECORD_SKIPPED. Before the end, returns
 * RR_RECORD_MORE, or RR_RECORD_SHREDDED if the record has too many fragments. */
static enum rr_record_result
record_skip(struct rr_record *record, struct rpcrdma_bytes *in, struct rpcrdma_bytes *whole)
{
	do {
		uint32_t octets;

		if (!record->open) {
			enum rr_record_result result = record_skip_mark(record, in);

			if (result != RR_RECORD_ROOM)
				return result;
		}
		octets = (uint32_t)rr_min(in->length, record->left);
		record_keep_head(record, in->data, octets);
		record_advance(in, octets);
		record->left -= octets;
		if (record->left > 0)
			return RR_RECORD_MORE;
		record->open = false;
	} while (!record->last);
	*whole = (struct rpcrdma_bytes){ record->head, record->head_length };
	record->skipping = false;
	record->length = record->fragments = 0;
	return RR_RECORD_SKIPPED;
}

enum rr_record_result
rr_record_take(struct rr_record *record, struct rpcrdma_bytes *in, uint32_t in_place, uint32_t max,
	struct rpcrdma_bytes *whole)
{
	if (record->skipping)
		return record_skip(record, in, whole);
	for (;;) {
		uint32_t octets;

		if (!record->open) {
			enum rr_record_result result;

			if (in->length < RR_RECORD_MARK_SIZE)
				return RR_RECORD_MORE;
			result = record_take_mark(record, in, in_place, max, whole);
			if (result != RR_RECORD_ROOM)
				return result;
		}
		/* The record has no memory, or its memory is full and more octets of the fragment are
		 * there. */
		if (!record->data || (record->length == record->room && record->left > 0 && in->length > 0))
			return RR_RECORD_ROOM;
		octets = (uint32_t)rr_min(rr_min(in->length, record->left), record->room - record->length);
		memcpy(record->data + record->length, in->data, octets);
		record_advance(in, octets);
		rr_record_filled(record, octets);
		if (record->left > 0 && in->length > 0)
			continue;
		if (record->left > 0)
			return RR_RECORD_MORE;
		record->open = false;
		if (record->last)
			break;
	}
	*whole = (struct rpcrdma_bytes){ record->data, record->length };
	*record = (struct rr_record){ 0 };
	return RR_RECORD_WHOLE;
}

bool
rr_record_has_begun(struct rpcrdma_bytes in, uint32_t octets, uint32_t max)
{
	uint32_t fragments = 0;

	if (in.length >= octets)
		return true;
	while (in.length >= RR_RECORD_MARK_SIZE) {
		uint32_t mark = rr_get_be32(in.data), left = mark & ~RR_RECORD_LAST;

		if (left > max || ++fragments > RR_RECORD_FRAGMENTS)
			return true;
		if (left > in.length - RR_RECORD_MARK_SIZE)
			return false;
		if (mark & RR_RECORD_LAST)
			return true;
		record_advance(&in, RR_RECORD_MARK_SIZE + left);
	}
	return false;
}

void
rr_record_room(struct rr_record *record, void *memory, uint32_t room)
{
	record->data = memory;
	record->room = room;
}

void *
rr_record_direct(const struct rr_record *record, uint32_t *octets)
{
	*octets = record->data ? (uint32_t)rr_min(record->left, record->room - record->length) : 0;
	return *octets > 0 ? record->data + record->length : NULL;
}

void
rr_record_filled(struct rr_record *record, uint32_t octets)
{
	record->length += octets;
	record->left -= octets;
}

uint64_t
rr_record_length(const struct rpcrdma_message *message)
{
	uint64_t length = message->length;

	for (uint32_t i = 0; i < message->item_count; i++)
		length += (uint64_t)message->items[i].length + rr_pad(message->items[i].length);
	return length;
}

/* Collects the pieces of a record in iov, without the first skip octets. */
struct record_pieces {
	struct iovec *iov;
	uint32_t count, max;
	uint64_t skip, *octets;
};

/* Adds the memory of the next part of the record to iov, without the octets of it that are to be skipped.
 * Adds nothing if all elements of iov are in use. */
static void
record_add(struct record_pieces *pieces, const void *data, uint64_t length)
{
	uint64_t skip = length < pieces->skip ? length : pieces->skip;

	pieces->skip -= skip;
	if (skip == length || pieces->count == pieces->max)
		return;
	/* struct iovec serves readv(2), too: its pointer is not const. */
	pieces->iov[pieces->count].iov_base = (uint8_t *)(uintptr_t)data + skip;
	pieces->iov[pieces->count++].iov_len = length - skip;
	*pieces->octets += length - skip;
}

/* Does what rr_record_gather() does, for any record. */
static uint32_t
record_gather(struct record_pieces pieces, const uint8_t mark[4], const struct rpcrdma_message *message)
{
	static const uint8_t zeroes[3];
	const uint8_t *stream = message->stream;
	uint32_t done = 0;

	record_add(&pieces, mark, RR_RECORD_MARK_SIZE);
	for (uint32_t i = 0; i < message->item_count; i++) {
		const struct rpcrdma_item *item = &message->items[i];

		record_add(&pieces, stream + done, item->offset - done);
		record_add(&pieces, item->data, item->length);
		record_add(&pieces, zeroes, rr_pad(item->length));
		done = item->offset;
	}
	if (message->length > done)
		record_add(&pieces, stream + done, message->length - done);
	return pieces.count;
}

uint32_t
rr_record_gather(const uint8_t mark[4], const struct rpcrdma_message *message, uint64_t skip,
	struct iovec *iov, uint32_t max, uint64_t *octets)
{
	/* Most records have no items, and none of their octets was sent: they are the mark and the stream. */
	if (skip == 0 && message->item_count == 0 && message->length > 0 && max >= 2) {
		iov[0] = (struct iovec){ (uint8_t *)(uintptr_t)mark, RR_RECORD_MARK_SIZE };
		iov[1] = (struct iovec){ (uint8_t *)(uintptr_t)message->stream, message->length };
		*octets += RR_RECORD_MARK_SIZE + message->length;
		return 2;
	}
	return record_gather((struct record_pieces){ .iov = iov, .max = max, .skip = skip, .octets = octets },
		mark, message);
}
