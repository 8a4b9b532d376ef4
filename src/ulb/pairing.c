/* SPDX-License-Identifier: BSD-3-Clause */
#include "ulb/pairing.h"

/* Returns the size of the Write chunk that the call offered for items[i], or 0 if it offered none, or an
 * empty one. Each result of the reply has one chunk, which is for the first item of that result. */
static uint32_t
pairing_chunk_for(const struct rr_walk_item *items, uint32_t i, const uint32_t *chunks, uint32_t chunk_count)
{
	uint32_t result = items[i].result;

	if (i > 0 && items[i - 1].result == result)
		return 0;
	/* RFC 8267, 6.4.1: operations "that have no matching Write chunk MUST return their results inline".
	 * With "an empty matching Write chunk, then the corresponding READ operation MUST return all of its
	 * result data items inline." */
	return result < chunk_count ? chunks[result] : 0;
}

bool
rr_results_are_paired(
	const struct rr_walk_item *items, uint32_t count, const uint32_t *chunks, uint32_t chunk_count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t chunk = pairing_chunk_for(items, i, chunks, chunk_count);

		/* RFC 8267, 6.4.1: with "a matching non-empty Write chunk, then the corresponding READ
		 * operation MUST return its DDP-eligible data item using that chunk." */
		if (items[i].reduced != (chunk > 0 && items[i].length > 0))
			return false;
		if (items[i].reduced && items[i].length > chunk)
			return false;
	}
	return true;
}
