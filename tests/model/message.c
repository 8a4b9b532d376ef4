/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <string.h>

#include "base/endian.h"

/* Every message is a stretch of one row of octets in which no two stretches look alike. */
enum { ROW = 1 << 17, STARTS = ROW - MODEL_MESSAGE_MAX };

static uint8_t row[ROW], wanted[MODEL_MESSAGE_MAX], heard[MODEL_MESSAGE_MAX];

static const uint8_t *
octets(const struct said *said)
{
	uint32_t number = said->xid * 31 + said->type * 7919 + said->attempt * 104729 + said->end * 1299709;

	if (!row[0]) {
		uint32_t state = 1;

		for (uint32_t i = 0; i < ROW; i++) {
			state = state * 1664525 + 1013904223;
			row[i] = (uint8_t)(state >> 24 | !i);
		}
	}
	return row + number % STARTS;
}

uint32_t
model_padded(uint32_t length)
{
	return (length + 3) & ~UINT32_C(3);
}

void
model_say_stream(const struct said *said, uint8_t *to)
{
	memcpy(to, octets(said), said->length);
	rr_put_be32(to, said->xid);
	rr_put_be32(to + 4, said->type);
	rr_put_be32(to + 8, said->attempt);
	rr_put_be32(to + 12, said->end);
}

void
model_say_item(const struct said *said, uint32_t index, uint8_t *to)
{
	memcpy(to, octets(said) + index * 5 + 1, said->lengths[index]);
}

static uint32_t
put(uint8_t *to, uint32_t used, const uint8_t *data, uint32_t length)
{
	memcpy(to + used, data, length);
	memset(to + used + length, 0, model_padded(length) - length);
	return used + model_padded(length);
}

static uint32_t
flatten_said(const struct said *said)
{
	static uint8_t stream[MODEL_MESSAGE_MAX], item[MODEL_MESSAGE_MAX];
	uint32_t used = 0, at = 0;

	model_say_stream(said, stream);
	for (uint32_t i = 0; i < said->item_count; i++) {
		used = put(wanted, used, stream + at, said->offsets[i] - at);
		at = said->offsets[i];
		model_say_item(said, i, item);
		used = put(wanted, used, item, said->lengths[i]);
	}
	return put(wanted, used, stream + at, said->length - at);
}

/* Where an item that was placed belongs: placed are the first of those that are not empty. */
static uint32_t
offset_of(const struct said *said, const struct rpcrdma_message *message, uint32_t index)
{
	uint32_t number = 0;

	if (message->items[index].offset != RPCRDMA_ITEM_NEXT)
		return message->items[index].offset;
	for (uint32_t i = 0; i < said->item_count; i++) {
		if (said->lengths[i] > 0 && number++ == index)
			return said->offsets[i];
	}
	return UINT32_MAX;
}

static bool
flatten_heard(const struct said *said, const struct rpcrdma_message *message, uint32_t *length)
{
	uint32_t used = 0, at = 0;

	for (uint32_t i = 0; i < message->item_count; i++) {
		const struct rpcrdma_item *item = &message->items[i];
		uint32_t offset = offset_of(said, message, i);

		if (offset < at || offset > message->length ||
			used + message->length + item->length + 8 > sizeof(heard))
			return false;
		used = put(heard, used, (const uint8_t *)message->stream + at, offset - at);
		at = offset;
		used = put(heard, used, item->data, item->length);
	}
	if (used + message->length - at > sizeof(heard) - 4)
		return false;
	*length = put(heard, used, (const uint8_t *)message->stream + at, message->length - at);
	return true;
}

bool
model_hears(const struct said *said, const struct rpcrdma_message *message)
{
	uint32_t length = 0, want = flatten_said(said);

	return flatten_heard(said, message, &length) && length == want && memcmp(heard, wanted, want) == 0;
}
