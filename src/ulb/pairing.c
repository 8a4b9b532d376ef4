/* SPDX-License-Identifier: BSD-3-Clause */
#include "ulb/pairing.h"

static uint32_t
find_chunk(const struct rr_walk_item *items, uint32_t i, const uint32_t *chunks, uint32_t chunk_count)
{
	uint32_t result = items[i].result;

	if (i > 0 && items[i - 1].result == result)
		return RR_PAIRING_INLINE;
	/* RFC 8267, 6.4.1: operations "that have no matching Write chunk MUST return their results inline" */
	if (result >= chunk_count)
		return RR_PAIRING_INLINE;
	/* And: with "an empty matching Write chunk, then the corresponding READ operation MUST return all of
	 * its result data items inline." */
	return chunks[result] > 0 ? result : RR_PAIRING_INLINE;
}

enum rr_pairing
rr_pair(const struct rr_walk_item *items, uint32_t count, const uint32_t *chunks, uint32_t chunk_count,
	uint32_t *chunk_of)
{
	for (uint32_t i = 0; i < count; i++) {
		chunk_of[i] = find_chunk(items, i, chunks, chunk_count);
		if (chunk_of[i] != RR_PAIRING_INLINE && items[i].length > chunks[chunk_of[i]])
			return RR_PAIRING_TOO_SMALL;
	}
	return RR_PAIRED;
}

enum rr_pairing
rr_pairing_check(
	const struct rr_walk_item *items, uint32_t count, const uint32_t *chunks, uint32_t chunk_count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t chunk = find_chunk(items, i, chunks, chunk_count);
		bool expected = chunk != RR_PAIRING_INLINE && items[i].length > 0;

		/* RFC 8267, 6.4.1: with "a matching non-empty Write chunk, then the corresponding READ
		 * operation MUST return its DDP-eligible data item using that chunk." */
		if (expected != items[i].reduced)
			return RR_PAIRING_VIOLATED;
		if (expected && items[i].length > chunks[chunk])
			return RR_PAIRING_VIOLATED;
	}
	return RR_PAIRED;
}
