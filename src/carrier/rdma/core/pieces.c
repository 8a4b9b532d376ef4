/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the pieces of memory of which a message consists: pieces.h. */
#include "carrier/rdma/core/pieces.h"

#include <rpcrdma/error.h>

#include "base/checked.h"

static const uint8_t zeroes[3];

int
rr_message_check(const struct rpcrdma_message *message, uint32_t max, uint32_t *octets)
{
	uint64_t total = message->length;
	uint32_t last = 0;

	if (message->item_count > RR_MESSAGE_ITEMS)
		return -RPCRDMA_ERR_INVAL;
	for (uint32_t i = 0; i < message->item_count; i++) {
		const struct rpcrdma_item *item = &message->items[i];

		if (item->offset < last || item->offset > message->length || item->offset % 4 != 0)
			return -RPCRDMA_ERR_INVAL;
		last = item->offset;
		total += rr_item_octets(item);
	}
	if (total > max)
		return -RPCRDMA_ERR_LIMIT;
	*octets = (uint32_t)total;
	return 0;
}

/* Appends a piece, that is, a part of a message in memory, unless it is empty. Returns how many pieces there
 * are then. pieces may be NULL: the piece is then only counted. */
static uint32_t
pieces_add(struct rr_piece *pieces, uint32_t count, const void *data, uint32_t length, bool item)
{
	if (length == 0)
		return count;
	if (pieces)
		pieces[count] = (struct rr_piece){ data, length, item };
	return count + 1;
}

/* RFC 8166, 3.5.3: chunks that hold a Payload stream "MUST include appropriate XDR roundup padding to
 * maintain proper XDR alignment of their contents." */
uint32_t
rr_pieces(const struct rpcrdma_message *message, uint64_t reduced, struct rr_piece *pieces)
{
	const uint8_t *stream = message->stream;
	uint32_t count = 0, at = 0;

	for (uint32_t i = 0; i < message->item_count; i++) {
		const struct rpcrdma_item *item = &message->items[i];

		if (reduced & rr_item_bit(i))
			continue;
		count = pieces_add(pieces, count, stream + at, item->offset - at, false);
		count = pieces_add(pieces, count, item->data, item->length, true);
		count = pieces_add(pieces, count, zeroes, rr_pad(item->length), false);
		at = item->offset;
	}
	return pieces_add(pieces, count, stream + at, message->length - at, false);
}

/* RFC 8166, 3.4.5: "The Position value MUST be computed from the beginning of the unreduced Payload
 * stream". */
uint32_t
rr_item_position(const struct rpcrdma_message *message, uint32_t index)
{
	uint64_t position = message->items[index].offset;

	for (uint32_t i = 0; i < index; i++)
		position += rr_item_octets(&message->items[i]);
	return (uint32_t)position;
}
