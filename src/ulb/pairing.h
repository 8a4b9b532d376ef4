/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_PAIRING_H
#define RR_ULB_PAIRING_H

#include "ulb/walk.h"

/* Tells whether the items of a reply (its data that may travel in chunks) are in the Write chunks to which
 * they belong, by RFC 8267, section 6.4.1: the first chunk belongs to the first result that may have items,
 * and so on (rr_walk_item.result). If a result has several items, the first one belongs into the chunk, the
 * others stay inline.
 *
 * items: all items that a walk found in the reply as it came (ulb/binding.h). chunks: the size of each Write
 * chunk that the call offered; 0 is an empty chunk. A chunk for which the reply has no item is no violation:
 * its operation failed, had no data, or was not in the call.
 *
 * Returns false if the reply violates DDP-eligibility. RFC 8166, 6.1: "A Responder does not reduce a
 * DDP-eligible result data item into an available Write chunk. The Requester MUST terminate the pending RPC
 * transaction". */
bool rr_results_are_paired(
	const struct rr_walk_item *items, uint32_t count, const uint32_t *chunks, uint32_t chunk_count);

#endif
