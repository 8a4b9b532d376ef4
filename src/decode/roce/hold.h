/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_ROCE_HOLD_H
#define RR_DECODE_ROCE_HOLD_H

#include "decode/memory.h"
#include "decode/roce/roce.h"

/* A hold keeps packets that came too early, before packets with smaller PSNs. It keeps them in the order of
 * their PSNs. */

/* The most packets in a hold; and half of the 1 << 24 PSNs. */
enum { RR_ROCE_HOLD_MAX = 64, RR_ROCE_PSN_HALF = 1 << 23 };

struct rr_roce_held {
	struct rr_roce_held *next;
	struct rr_roce_packet packet; /* its payload is the array below */
	uint8_t payload[];
};

struct rr_roce_hold {
	struct rr_roce_held *first;
	uint32_t count;
};

/* Returns how far psn is ahead of the PSN "from". PSNs have 24 bits: a result of RR_ROCE_PSN_HALF or more
 * means that psn is behind. */
static inline uint32_t
rr_roce_ahead(uint32_t psn, uint32_t from)
{
	return (psn - from) & RR_ROCE_PSN_MASK;
}

/* Keeps a copy of the packet and of its payload. Returns true, too, if the hold has a packet with the same
 * PSN already, which then stays. Returns false if the hold is full or there is no memory. */
bool rr_roce_hold_add(
	struct rr_roce_hold *hold, struct rr_decode_memory *memory, const struct rr_roce_packet *packet);

/* Removes the packet with the smallest PSN from the hold and returns it, or returns NULL if the hold is
 * empty. The caller frees the packet by rr_roce_hold_free(). rr_roce_hold_clear() frees all packets. */
struct rr_roce_held *rr_roce_hold_pop(struct rr_roce_hold *hold);
void rr_roce_hold_free(struct rr_decode_memory *memory, struct rr_roce_held *held);
void rr_roce_hold_clear(struct rr_roce_hold *hold, struct rr_decode_memory *memory);

#endif
