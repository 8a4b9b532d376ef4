/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_PAIRING_H
#define RR_ULB_PAIRING_H

#include "ulb/walk.h"

/*
 * Which Write chunk conveys which result: RFC 8267, section 6.4.1, and RFC 8166, section 4.3.2. Pure
 * functions over the items that a walk found (all of them; ulb/binding.h) and the sizes of the chunks that
 * the call offered, 0 for an empty chunk.
 *
 * One chunk is one operation's. READ_PLUS can return several pieces of data: the first goes into the chunk,
 * the others stay inline.
 */

enum rr_pairing {
	RR_PAIRED,
	/* An item is larger than its chunk. The responder answers ERR_CHUNK (RFC 8267, 3.1). */
	RR_PAIRING_TOO_SMALL,
	/* RFC 8166, 6.1: "A Responder does not reduce a DDP-eligible result data item into an available Write
	 * chunk", or used one that is not the item's. The requester ends the transaction with an error. */
	RR_PAIRING_VIOLATED
};

/* An item without a chunk. */
#define RR_PAIRING_INLINE UINT32_MAX

/*
 * The responder's side: chunk_of[i] becomes the chunk of items[i], or RR_PAIRING_INLINE. A chunk that is no
 * item's is returned with nothing in it: that of an operation that failed, or had no data, or was not asked
 * for.
 */
enum rr_pairing rr_pair(const struct rr_walk_item *items, uint32_t count, const uint32_t *chunks,
	uint32_t chunk_count, uint32_t *chunk_of);

/* The requester's side: whether items, walked in a reply as it came, are where the chunks of the call want
 * them. */
enum rr_pairing rr_pairing_check(
	const struct rr_walk_item *items, uint32_t count, const uint32_t *chunks, uint32_t chunk_count);

#endif
