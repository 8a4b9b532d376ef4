/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/xdr.h>

#include <endian.h>
#include <string.h>

#include "base/checked.h"
#include "base/endian.h"
#include "wire/room.h"

/*
 * XDR in memory. Readers and writers own nothing. A failure leaves them without room: a failed reader has no
 * octets left, a failed writer no space, so that the checks against the end of the memory are the only checks
 * that are needed.
 */

/* ---- Reading ---- */

void
rpcrdma_xdr_reader_init(
	struct rpcrdma_xdr_reader *reader, const struct rpcrdma_message *message, struct rpcrdma_arena *arena)
{
	*reader = (struct rpcrdma_xdr_reader){
		.start = message->stream,
		.next = message->stream,
		.end = message->stream,
		.items = message->items,
		.items_end = message->items,
		.arena = arena,
	};
	/* An empty stream, or an empty list of items, may be NULL, to which nothing may be added. */
	if (message->length > 0)
		reader->end += message->length;
	if (message->item_count > 0)
		reader->items_end += message->item_count;
}

void
rpcrdma_xdr_fail(struct rpcrdma_xdr_reader *reader)
{
	reader->failed = true;
	reader->next = reader->end;
}

bool
rpcrdma_xdr_done(const struct rpcrdma_xdr_reader *reader)
{
	if (reader->failed || reader->next != reader->end)
		return false;
	/* An empty item that is left over is a chunk that was not used. Any other item that is left over has
	 * data that nothing asked for. */
	for (const struct rpcrdma_item *item = reader->items; item < reader->items_end; item++) {
		if (item->length > 0)
			return false;
	}
	return true;
}

size_t
rpcrdma_xdr_left(const struct rpcrdma_xdr_reader *reader)
{
	return (size_t)(reader->end - reader->next);
}

/*
 * Returns the next size octets of the stream, and moves the reader behind them and behind their padding to a
 * multiple of four. Returns NULL if the stream ends before. RFC 4506, section 3, has senders pad with
 * "residual zero bytes"; the reader accepts any octets, as RFC 8166, 8.2.2.3, says: "XDR padding octets are
 * often zero bytes, but they don't have to be."
 */
static const uint8_t *
xdr_take_padded(struct rpcrdma_xdr_reader *reader, uint32_t size)
{
	return rr_xdr_octets(reader, (uint64_t)size + rr_pad(size));
}

uint32_t
rpcrdma_get_u32(struct rpcrdma_xdr_reader *reader)
{
	const uint8_t *octets = rr_xdr_octets(reader, 4);
	uint32_t value;

	if (!octets)
		return 0;
	memcpy(&value, octets, 4);
	return be32toh(value);
}

uint64_t
rpcrdma_get_u64(struct rpcrdma_xdr_reader *reader)
{
	const uint8_t *octets = rr_xdr_octets(reader, 8);
	uint64_t value;

	if (!octets)
		return 0;
	memcpy(&value, octets, 8);
	return be64toh(value);
}

bool
rpcrdma_get_bool(struct rpcrdma_xdr_reader *reader)
{
	uint32_t value = rpcrdma_get_u32(reader);

	if (value > 1)
		rpcrdma_xdr_fail(reader);
	return value == 1;
}

float
rpcrdma_get_float(struct rpcrdma_xdr_reader *reader)
{
	uint32_t bits = rpcrdma_get_u32(reader);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

double
rpcrdma_get_double(struct rpcrdma_xdr_reader *reader)
{
	uint64_t bits = rpcrdma_get_u64(reader);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

void
rpcrdma_get_fixed(struct rpcrdma_xdr_reader *reader, void *data, uint32_t size)
{
	const uint8_t *octets = xdr_take_padded(reader, size);

	if (size == 0)
		return;
	if (octets)
		memcpy(data, octets, size);
	else
		memset(data, 0, size);
}

/* Returns length octets of opaque data that lie in the stream, behind the length word that was just read. The
 * result is empty if the stream ends before. */
static struct rpcrdma_bytes
xdr_get_inline(struct rpcrdma_xdr_reader *reader, uint32_t length)
{
	const uint8_t *octets = xdr_take_padded(reader, length);

	return (struct rpcrdma_bytes){ octets, octets ? length : 0 };
}

/* Returns the length word of an opaque<max>, read from the stream. For a length above max, the reader fails
 * and the result is 0. */
static uint32_t
xdr_get_length(struct rpcrdma_xdr_reader *reader, uint32_t max)
{
	uint32_t length = rpcrdma_get_u32(reader);

	if (length <= max)
		return length;
	rpcrdma_xdr_fail(reader);
	return 0;
}

struct rpcrdma_bytes
rpcrdma_get_bytes(struct rpcrdma_xdr_reader *reader, uint32_t max)
{
	return xdr_get_inline(reader, xdr_get_length(reader, max));
}

/* Returns the item (data that came in a chunk, not in the stream) for the opaque whose length word was just
 * read, and moves the reader to the next item. Returns NULL if the data of the opaque lie in the stream. The
 * item of a Read chunk has an offset, which is its place in the stream. The item of a Write chunk has
 * RPCRDMA_ITEM_NEXT, and is for the next opaque that may come in a chunk. Items without data for earlier
 * places in the stream come from chunks that were not used: they are skipped. */
static const struct rpcrdma_item *
xdr_take_item(struct rpcrdma_xdr_reader *reader, uint32_t length)
{
	uint32_t offset = (uint32_t)(reader->next - reader->start);
	const struct rpcrdma_item *item;

	while (reader->items < reader->items_end && reader->items->offset < offset &&
		reader->items->length == 0)
		reader->items++;
	item = reader->items;
	if (item == reader->items_end || (item->offset != offset && item->offset != RPCRDMA_ITEM_NEXT))
		return NULL;
	/* RFC 8166, 4.3.2.2: a result without data leaves a chunk unconsumed, and "If there is a subsequent
	 * DDP-eligible result data item in the RPC Reply message, it MUST be placed in that unconsumed Write
	 * chunk." The item belongs to a later opaque. */
	if (item->offset == RPCRDMA_ITEM_NEXT && item->length > 0 && length == 0)
		return NULL;
	reader->items++;
	/* The Write chunk was provided for this opaque, and came back unused. */
	if (item->offset == RPCRDMA_ITEM_NEXT && item->length == 0)
		return NULL;
	return item;
}

/* Whether the item (data that came in a chunk) can be an opaque of length octets. RFC 8166, section 3.4.5.2:
 * a Read chunk may include the padding of its data, or not, so its length may be with or without padding. A
 * Write chunk (RPCRDMA_ITEM_NEXT) has no padding. */
static bool
xdr_fits(const struct rpcrdma_item *item, uint32_t length)
{
	if (item->length == length)
		return true;
	return item->offset != RPCRDMA_ITEM_NEXT && item->length == (uint64_t)length + rr_pad(length);
}

struct rpcrdma_bytes
rpcrdma_get_item(struct rpcrdma_xdr_reader *reader, uint32_t max)
{
	uint32_t length = xdr_get_length(reader, max);
	const struct rpcrdma_item *item;

	if (reader->failed)
		return (struct rpcrdma_bytes){ NULL, 0 };
	item = xdr_take_item(reader, length);
	if (!item) {
		reader->inlined += length > 0;
		return xdr_get_inline(reader, length);
	}
	if (xdr_fits(item, length))
		return (struct rpcrdma_bytes){ item->data, length };
	rpcrdma_xdr_fail(reader);
	return (struct rpcrdma_bytes){ NULL, 0 };
}

void *
rpcrdma_get_array(struct rpcrdma_xdr_reader *reader, uint32_t count, size_t size)
{
	struct rpcrdma_arena *arena = reader->arena;
	size_t total, pad, left;
	uint8_t *array;

	if (reader->failed || count == 0)
		return NULL;
	if (!arena || __builtin_mul_overflow((size_t)count, size, &total)) {
		reader->starved = true;
		rpcrdma_xdr_fail(reader);
		return NULL;
	}
	left = (size_t)(arena->end - arena->next);
	pad = -(uintptr_t)arena->next & (_Alignof(max_align_t) - 1);
	if (left < pad || left - pad < total) {
		reader->starved = true;
		rpcrdma_xdr_fail(reader);
		return NULL;
	}
	array = arena->next + pad;
	arena->next = array + total;
	return memset(array, 0, total);
}

uint32_t
rpcrdma_get_count(struct rpcrdma_xdr_reader *reader, uint32_t max, uint32_t least)
{
	uint32_t count = rpcrdma_get_u32(reader);

	if (count <= max && (uint64_t)count * least <= rpcrdma_xdr_left(reader))
		return count;
	rpcrdma_xdr_fail(reader);
	return 0;
}

/* ---- Writing ---- */

void
rpcrdma_xdr_writer_init(struct rpcrdma_xdr_writer *writer, void *memory, size_t size,
	struct rpcrdma_item *items, uint32_t item_max)
{
	*writer = (struct rpcrdma_xdr_writer){
		.start = memory,
		.next = memory,
		.end = memory,
		.items = items,
		.item_max = item_max,
	};
	/* A message counts its octets in 32 bits. */
	if (size > 0)
		writer->end += rr_min(size, UINT32_MAX);
}

struct rpcrdma_message
rpcrdma_xdr_written(const struct rpcrdma_xdr_writer *writer)
{
	return (struct rpcrdma_message){
		.stream = writer->start,
		.length = (uint32_t)rpcrdma_xdr_length(writer),
		.item_count = writer->item_count,
		.items = writer->items,
	};
}

size_t
rpcrdma_xdr_length(const struct rpcrdma_xdr_writer *writer)
{
	return (size_t)(writer->next - writer->start);
}

void
rpcrdma_xdr_writer_fail(struct rpcrdma_xdr_writer *writer)
{
	writer->failed = true;
	writer->end = writer->next;
}

void
rpcrdma_put_u32(struct rpcrdma_xdr_writer *writer, uint32_t value)
{
	uint8_t *octets = rr_xdr_room(writer, 4);

	value = htobe32(value);
	if (octets)
		memcpy(octets, &value, 4);
}

void
rpcrdma_put_u64(struct rpcrdma_xdr_writer *writer, uint64_t value)
{
	uint8_t *octets = rr_xdr_room(writer, 8);

	value = htobe64(value);
	if (octets)
		memcpy(octets, &value, 8);
}

void
rpcrdma_put_bool(struct rpcrdma_xdr_writer *writer, bool value)
{
	rpcrdma_put_u32(writer, value ? 1 : 0);
}

void
rpcrdma_put_float(struct rpcrdma_xdr_writer *writer, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	rpcrdma_put_u32(writer, bits);
}

void
rpcrdma_put_double(struct rpcrdma_xdr_writer *writer, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	rpcrdma_put_u64(writer, bits);
}

/* Copies size octets, at least one, to `to`, and fills up with zeroes to a multiple of four: the last word is
 * cleared before the octets are copied. */
static void
xdr_copy_padded(uint8_t *to, const void *data, uint32_t size)
{
	memset(to + (size - 1) / 4 * (size_t)4, 0, 4);
	memcpy(to, data, size);
}

void
rpcrdma_put_fixed(struct rpcrdma_xdr_writer *writer, const void *data, uint32_t size)
{
	uint8_t *octets = rr_xdr_room(writer, (uint64_t)size + rr_pad(size));

	if (octets && size > 0)
		xdr_copy_padded(octets, data, size);
}

/* Writes the length word of an opaque<max>. Returns false, and the writer fails, if length is above max or
 * there is no room. */
static bool
xdr_put_length(struct rpcrdma_xdr_writer *writer, uint32_t length, uint32_t max)
{
	if (length > max)
		rpcrdma_xdr_writer_fail(writer);
	rpcrdma_put_u32(writer, length);
	return !writer->failed;
}

/* Writes the length word of bytes. Returns false, and the writer fails, if the length is above max, there is
 * no room, or bytes has a length but no data. */
static bool
xdr_put_bytes_length(struct rpcrdma_xdr_writer *writer, struct rpcrdma_bytes bytes, uint32_t max)
{
	if (!bytes.data && bytes.length > 0)
		rpcrdma_xdr_writer_fail(writer);
	return xdr_put_length(writer, bytes.length, max);
}

void
rpcrdma_put_bytes(struct rpcrdma_xdr_writer *writer, struct rpcrdma_bytes bytes, uint32_t max)
{
	uint8_t *to;

	if (bytes.length > max || (!bytes.data && bytes.length > 0)) {
		rpcrdma_xdr_writer_fail(writer);
		return;
	}
	to = rr_xdr_room(writer, 4 + (uint64_t)bytes.length + rr_pad(bytes.length));
	if (!to)
		return;
	rr_put_be32(to, bytes.length);
	if (bytes.length > 0)
		xdr_copy_padded(to + 4, bytes.data, bytes.length);
}

/*
 * Writes the length word of bytes, and records the octets as an item, which is to travel in a chunk; if the
 * writer has no place for one more item, the octets are written into the stream. RFC 8166, 3.4.4.1: "the
 * count of array elements MUST remain in the Payload stream, while the array elements MUST be moved to the
 * chunk". RFC 8166, 3.4.4.4: "the sender MUST remove XDR roundup padding for that data item from the Payload
 * stream". An item of no octets is recorded, too, as it uses up a Write chunk, RFC 8267, 6.4.1: "The first
 * chunk in the Write list MUST be used by the first READ operation in an NFS version 4 COMPOUND procedure.
 * The next Write chunk is used by the next READ operation, and so on".
 */
void
rpcrdma_put_item(struct rpcrdma_xdr_writer *writer, struct rpcrdma_bytes bytes, uint32_t max)
{
	if (!xdr_put_bytes_length(writer, bytes, max))
		return;
	if (writer->item_count == writer->item_max) {
		rpcrdma_put_fixed(writer, bytes.data, bytes.length);
		return;
	}
	writer->items[writer->item_count++] =
		(struct rpcrdma_item){ bytes.data, bytes.length, (uint32_t)rpcrdma_xdr_length(writer) };
}
