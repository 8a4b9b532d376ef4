/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and checks the Read list of a message: chunks.h. The chunks are in the order of their positions.
 * */
#include "carrier/rdma/core/chunks.h"

#include "base/checked.h"

/* Returns the index of the first chunk whose position is not below `position`, or chunks->count if there is
 * no such chunk. */
static uint32_t
chunks_find(const struct rr_read_chunks *chunks, uint32_t position)
{
	uint32_t i = 0;

	while (i < chunks->count && chunks->chunks[i].position < position)
		i++;
	return i;
}

/* Adds the segment to the chunk that has its position. If there is no such chunk, inserts a new chunk, in the
 * order of positions. Returns false if there are too many chunks, or the chunk's length overflows. */
static bool
chunks_add(struct rr_read_chunks *chunks, const struct rr_read_segment *segment)
{
	uint32_t i = chunks_find(chunks, segment->position);
	struct rr_read_chunk *chunk = &chunks->chunks[i];

	if (i < chunks->count && chunk->position == segment->position)
		return rr_add_u32(chunk->length, segment->target.length, &chunk->length);
	if (chunks->count == sizeof(chunks->chunks) / sizeof(chunks->chunks[0]))
		return false;
	for (uint32_t j = chunks->count++; j > i; j--)
		chunks->chunks[j] = chunks->chunks[j - 1];
	*chunk = (struct rr_read_chunk){ .position = segment->position, .length = segment->target.length };
	return true;
}

/* Rounds octets up to a multiple of `multiple`, which is a power of two. */
static uint64_t
chunks_round_up(uint64_t octets, uint32_t multiple)
{
	return (octets + multiple - 1) & ~(uint64_t)(multiple - 1);
}

/* Sets where each chunk lies in memory. For the chunks from index `first` on, also sets at which octet of the
 * reduced stream (of `body` octets) the chunk belongs: at its position in the unreduced stream, less the
 * octets of the chunks before it, with padding. Returns false if that octet is outside the stream or before
 * that of the previous chunk, or if the whole message has more than max octets. */
static bool
chunks_locate(struct rr_read_chunks *chunks, uint32_t first, uint32_t body, uint32_t max)
{
	uint64_t taken = 0, memory = 0, octets = body;

	for (uint32_t i = 0; i < chunks->count; i++) {
		struct rr_read_chunk *chunk = &chunks->chunks[i];

		chunk->at = (uint32_t)memory;
		memory = chunks_round_up(memory + chunk->length, 8);
		if (i < first)
			continue;
		if (chunk->position < taken || chunk->position - taken > body)
			return false;
		chunk->offset = (uint32_t)(chunk->position - taken);
		if (i > first && chunk->offset < chunk[-1].offset)
			return false;
		taken += chunks_round_up(chunk->length, 4);
		octets += chunks_round_up(chunk->length, 4);
		if (octets > max)
			return false;
	}
	chunks->memory = (uint32_t)memory;
	return true;
}

bool
rr_read_chunks(const struct rr_chunk_lists *lists, bool long_call, uint32_t body, uint32_t max,
	struct rr_read_chunks *chunks)
{
	bool zero;

	chunks->count = chunks->memory = 0;
	if (lists->read_count == 0)
		return !long_call && body <= max;
	for (uint32_t i = 0; i < lists->read_count; i++) {
		if (lists->reads[i].target.length > 0 && !chunks_add(chunks, &lists->reads[i]))
			return false;
	}
	/* RFC 8166, 3.5.3: "Every RDMA read segment in this chunk MUST contain zero in its Position field.
	 * Thus, this chunk is known as a 'Position Zero Read chunk'." */
	zero = chunks->count > 0 && chunks->chunks[0].position == 0;
	if (zero != long_call || (!long_call && chunks->count > RR_MESSAGE_ITEMS))
		return false;
	if (long_call)
		body = chunks->chunks[0].length;
	/* The first chunk of a long call is the stream itself, so it has no place in the stream: the chunks
	 * that have one begin with index 1, which is the value of long_call. */
	return body <= max && chunks_locate(chunks, long_call, body, max);
}

uint32_t
rr_read_chunks_next(struct rr_read_chunks *chunks, const struct rr_read_segment *segment)
{
	struct rr_read_chunk *chunk = &chunks->chunks[chunks_find(chunks, segment->position)];
	uint32_t at = chunk->at + chunk->filled;

	chunk->filled += segment->target.length;
	return at;
}
