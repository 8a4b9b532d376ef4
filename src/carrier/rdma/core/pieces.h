/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_PIECES_H
#define RR_CARRIER_RDMA_CORE_PIECES_H

#include "carrier/carrier.h"

/* A message consists of pieces of memory: parts of the stream, items, and the roundup padding behind them.
 * Items that travel in the stream are pieces between its parts; items that travel in chunks of their own (the
 * set `reduced`) are left out. RR_PIECES_MAX: each item has a part of the stream in front of it, its data and
 * its padding; the last part of the stream is behind all items. */
enum { RR_PIECES_MAX = 1 + 3 * RR_MESSAGE_ITEMS };

struct rr_piece {
	const void *data;
	uint32_t length; /* above 0 */
	bool item;       /* the data of an item, neither stream nor padding */
};

/* Checks that message can be sent: at most RR_MESSAGE_ITEMS items, in order, at multiples of four octets,
 * within the stream. Stores the length of the message, with all items and their padding, in *octets. Returns
 * 0, -RPCRDMA_ERR_LIMIT if that length is above max, or -RPCRDMA_ERR_INVAL for any other fault. */
int rr_message_check(const struct rpcrdma_message *message, uint32_t max, uint32_t *octets);

/* Fills in the pieces of a message that passed rr_message_check(), in the order in which they are sent: each
 * item stands at its place in the stream, with its padding behind it. Item i is left out if bit i of reduced
 * is set. Returns how many pieces there are. pieces has room for RR_PIECES_MAX of them, or is NULL: they are
 * then only counted. */
uint32_t rr_pieces(const struct rpcrdma_message *message, uint64_t reduced, struct rr_piece *pieces);

/* Returns at which octet of the unreduced stream the item with that index begins: the Position of its Read
 * chunk. */
uint32_t rr_item_position(const struct rpcrdma_message *message, uint32_t index);

/* Returns the bit of item i in a set of items. */
static inline uint64_t
rr_item_bit(uint32_t i)
{
	return UINT64_C(1) << i;
}

/* Returns how many octets an item takes with its roundup padding. */
static inline uint64_t
rr_item_octets(const struct rpcrdma_item *item)
{
	return ((uint64_t)item->length + 3) & ~UINT64_C(3);
}

#endif
