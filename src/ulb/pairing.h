/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_PAIRING_H
#define RR_ULB_PAIRING_H

#include "ulb/walk.h"

/*
 * Which Write chunk conveys which result: RFC 8267, section 6.4.1. One chunk is one operation's. Of a result
 * that has several marked items, the first goes into the chunk, the others stay inline.
 *
 * Whether items, all that a walk found in a reply as it came (ulb/binding.h), are where the Write chunks that
 * the call offered want them. These have so many octets each, 0 is an empty chunk. A chunk that is no item's
 * is that of an operation that failed, or had no data, or was not asked for.
 *
 * Where they are not, it is a violation of DDP-eligibility. RFC 8166, 6.1: "A Responder does not reduce a
 * DDP-eligible result data item into an available Write chunk. The Requester MUST terminate the pending RPC
 * transaction".
 */
bool rr_results_are_paired(
	const struct rr_walk_item *items, uint32_t count, const uint32_t *chunks, uint32_t chunk_count);

#endif
