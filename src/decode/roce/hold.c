/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/roce/hold.h"

#include <string.h>

/* Returns the octets of memory for a held copy of the packet. */
static size_t
hold_size(const struct rr_roce_packet *packet)
{
	return sizeof(struct rr_roce_held) + packet->payload.length;
}

bool
rr_roce_hold_add(
	struct rr_roce_hold *hold, struct rr_decode_memory *memory, const struct rr_roce_packet *packet)
{
	struct rr_roce_held **at = &hold->first, *held;

	while (*at && rr_roce_ahead(packet->psn, (*at)->packet.psn) < RR_ROCE_PSN_HALF) {
		if ((*at)->packet.psn == packet->psn)
			return true;
		at = &(*at)->next;
	}
	if (hold->count == RR_ROCE_HOLD_MAX)
		return false;
	held = rr_decode_alloc(memory, hold_size(packet));
	if (!held)
		return false;
	held->packet = *packet;
	if (packet->payload.length > 0)
		memcpy(held->payload, packet->payload.data, packet->payload.length);
	held->packet.payload.data = held->payload;
	held->next = *at;
	*at = held;
	hold->count++;
	return true;
}

struct rr_roce_held *
rr_roce_hold_pop(struct rr_roce_hold *hold)
{
	struct rr_roce_held *held = hold->first;

	if (!held)
		return NULL;
	hold->first = held->next;
	hold->count--;
	return held;
}

void
rr_roce_hold_free(struct rr_decode_memory *memory, struct rr_roce_held *held)
{
	rr_decode_free(memory, held, hold_size(&held->packet));
}

void
rr_roce_hold_clear(struct rr_roce_hold *hold, struct rr_decode_memory *memory)
{
	struct rr_roce_held *held;

	while ((held = rr_roce_hold_pop(hold)))
		rr_roce_hold_free(memory, held);
}
