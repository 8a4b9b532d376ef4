/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode/stream.h"

#include <string.h>

enum { STREAM_CAPACITY_MIN = 16384 };

void
rr_stream_start(struct rr_stream *stream, uint32_t sequence)
{
	stream->started = true;
	stream->next = sequence;
	stream->range_count = 0;
	stream->cut_count = 0;
	stream->acknowledged = 0;
}

uint32_t
rr_stream_size(const struct rr_stream *stream)
{
	return stream->range_count > 0 && stream->ranges[0].start == 0 ? stream->ranges[0].end : 0;
}

/* Returns the offset in the buffer behind the last octet that has come. */
static uint32_t
stream_end(const struct rr_stream *stream)
{
	return stream->range_count > 0 ? stream->ranges[stream->range_count - 1].end : 0;
}

/* Moves ranges of the buffer, of which size octets are removed from the front. Returns how many ranges are
 * left. */
static uint32_t
stream_move(struct rr_stream_range *ranges, uint32_t count, uint32_t size)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct rr_stream_range range = ranges[i];

		if (range.end <= size)
			continue;
		range.start = range.start > size ? range.start - size : 0;
		range.end -= size;
		ranges[kept++] = range;
	}
	return kept;
}

/* Removes size octets from the front of the buffer, and adjusts the ranges, which say which octets of the
 * buffer have come, and which of these were not captured. */
static void
stream_advance(struct rr_stream *stream, uint32_t size)
{
	uint32_t end = stream_end(stream);

	stream->range_count = stream_move(stream->ranges, stream->range_count, size);
	stream->cut_count = stream_move(stream->cuts, stream->cut_count, size);
	if (end > size)
		memmove(stream->data, stream->data + size, end - size);
	stream->next += size;
}

uint32_t
rr_stream_known(const struct rr_stream *stream, uint32_t start, uint32_t end)
{
	for (uint32_t i = 0; i < stream->cut_count; i++) {
		const struct rr_stream_range *cut = &stream->cuts[i];

		if (cut->end > start && cut->start < end)
			return cut->start > start ? cut->start - start : 0;
	}
	return end - start;
}

void
rr_stream_take(struct rr_stream *stream, struct rr_decode_memory *memory, uint32_t size)
{
	if (size == 0)
		return;
	stream_advance(stream, size);
	/* A large buffer that is empty now is freed, for other connections. */
	if (stream->range_count > 0 || stream->capacity <= STREAM_CAPACITY_MIN)
		return;
	rr_decode_free(memory, stream->data, stream->capacity);
	stream->data = NULL;
	stream->capacity = 0;
}

bool
rr_stream_skip(struct rr_stream *stream)
{
	uint32_t front = rr_stream_size(stream), start;

	/* Without octets at the front, there is a gap in front of the first range; else in front of the
	 * second. */
	if (stream->range_count < (front ? 2u : 1u))
		return false;
	start = stream->ranges[front ? 1 : 0].start;
	stream->lost += start - front;
	stream->broken = true;
	stream->acknowledged = 0;
	stream_advance(stream, start);
	return true;
}

bool
rr_stream_acknowledge(struct rr_stream *stream, uint32_t sequence)
{
	uint32_t front = rr_stream_size(stream);

	/* The range behind the first gap is the second one if there are octets at the front, else the first.
	 */
	if (stream->range_count < (front ? 2u : 1u))
		return false;
	if ((int32_t)(sequence - (stream->next + stream->ranges[front ? 1 : 0].start)) < 0)
		return false;
	stream->acknowledged++;
	return stream->acknowledged >= RR_STREAM_ACKNOWLEDGED && rr_stream_skip(stream);
}

/* Notes that the octets from start to end have come: adds a range, and unites it with the ranges that it
 * touches. The caller has made sure that there is room for one more range. */
static void
stream_note(struct rr_stream *stream, uint32_t start, uint32_t end)
{
	uint32_t kept = 0, i = 0;
	struct rr_stream_range ranges[RR_STREAM_RANGES + 1];

	for (; i < stream->range_count && stream->ranges[i].end < start; i++)
		ranges[kept++] = stream->ranges[i];
	for (; i < stream->range_count && stream->ranges[i].start <= end; i++) {
		start = stream->ranges[i].start < start ? stream->ranges[i].start : start;
		end = stream->ranges[i].end > end ? stream->ranges[i].end : end;
	}
	ranges[kept++] = (struct rr_stream_range){ start, end };
	for (; i < stream->range_count; i++)
		ranges[kept++] = stream->ranges[i];
	memcpy(stream->ranges, ranges, kept * sizeof(*ranges));
	stream->range_count = kept;
}

/* Makes sure that the buffer has room for size octets. Returns false if there is no memory. */
static bool
stream_reserve(struct rr_stream *stream, struct rr_decode_memory *memory, uint32_t size)
{
	uint32_t capacity = stream->capacity ? stream->capacity : STREAM_CAPACITY_MIN;
	uint8_t *data;

	if (size <= stream->capacity)
		return true;
	while (capacity < size)
		capacity *= 2;
	data = rr_decode_resize(memory, stream->data, stream->capacity, capacity);
	if (!data)
		return false;
	stream->data = data;
	stream->capacity = capacity;
	return true;
}

/* Notes that the octets from start to end were not captured. If there are RR_STREAM_RANGES ranges of such
 * octets, the last one becomes larger, so that it has these octets, too. */
static void
stream_cut(struct rr_stream *stream, uint32_t start, uint32_t end)
{
	struct rr_stream_range *cuts = stream->cuts;
	uint32_t at = stream->cut_count;

	if (at == RR_STREAM_RANGES) {
		struct rr_stream_range *last = &cuts[--at];

		start = last->start < start ? last->start : start;
		end = last->end > end ? last->end : end;
	}
	while (at > 0 && cuts[at - 1].start > start) {
		cuts[at] = cuts[at - 1];
		at--;
	}
	cuts[at] = (struct rr_stream_range){ start, end };
	stream->cut_count += stream->cut_count < RR_STREAM_RANGES;
}

/* Writes zeros to the octets of the buffer from start to end, except those that have come, and counts them as
 * not captured. */
static void
stream_clear(struct rr_stream *stream, uint32_t start, uint32_t end)
{
	for (uint32_t i = 0; i <= stream->range_count && start < end; i++) {
		bool is_last = i == stream->range_count;
		uint32_t until = is_last || stream->ranges[i].start > end ? end : stream->ranges[i].start;

		if (until > start) {
			memset(stream->data + start, 0, until - start);
			stream_cut(stream, start, until);
			stream->uncaptured += until - start;
		}
		if (!is_last && stream->ranges[i].end > start)
			start = stream->ranges[i].end;
	}
}

/* Copies the octets of a segment into the buffer, with zeros for octets that were not captured and have not
 * come before, and without octets that were read already. If octets can be read now that could not be read
 * before, the first gap has become smaller or is closed, so stream->acknowledged begins to count anew.
 * Returns false if there is no memory. */
static bool
stream_store(
	struct rr_stream *stream, struct rr_decode_memory *memory, const struct rr_stream_segment *segment)
{
	uint32_t skip = 0, size = segment->size + segment->missing, at = segment->sequence - stream->next;
	uint32_t front = rr_stream_size(stream), captured;

	if ((int32_t)at < 0) {
		skip = -at < size ? -at : size;
		stream->repeated += skip;
		at = 0;
	}
	if (skip == size)
		return true;
	if (!stream_reserve(stream, memory, at + size - skip))
		return false;
	captured = segment->size > skip ? segment->size - skip : 0;
	if (captured > 0)
		memcpy(stream->data + at, segment->data + skip, captured);
	stream_clear(stream, at + captured, at + size - skip);
	stream_note(stream, at, at + size - skip);
	if (rr_stream_size(stream) > front)
		stream->acknowledged = 0;
	return true;
}

/* Tells whether a segment that lies outside of the window is to be ignored. Returns false after several such
 * segments in a row: octets of the stream were then not captured, and the stream begins anew at this segment.
 * ahead is how far the segment lies ahead of the stream; it is negative if the segment lies behind. */
static bool
stream_is_stray(struct rr_stream *stream, uint32_t sequence, int32_t ahead)
{
	if (++stream->strays < RR_STREAM_STRAYS)
		return true;
	stream->lost += ahead > 0 ? (uint32_t)ahead : 0;
	stream->broken = true;
	rr_stream_start(stream, sequence);
	return false;
}

/* The first gap is given up if there are too many gaps, if there is no memory, or if the segment ends behind
 * the window (the RR_STREAM_WINDOW octets from stream->next on), but begins less than two windows ahead:
 * reading on moves the window towards it. Any other segment outside of the window is ignored, or begins the
 * stream anew (stream_is_stray()). If there is no memory and no gap, the octets of the segment count as
 * lost. */
bool
rr_stream_add(
	struct rr_stream *stream, struct rr_decode_memory *memory, const struct rr_stream_segment *segment)
{
	int32_t size = (int32_t)(segment->size + segment->missing), ahead;

	if (!stream->started)
		rr_stream_start(stream, segment->sequence);
	ahead = (int32_t)(segment->sequence - stream->next);
	if (ahead > RR_STREAM_WINDOW - size && ahead < 2 * RR_STREAM_WINDOW && rr_stream_skip(stream))
		return false;
	if (stream->range_count >= RR_STREAM_RANGES && rr_stream_skip(stream))
		return false;
	if (ahead <= -RR_STREAM_WINDOW || ahead > RR_STREAM_WINDOW - size) {
		if (stream_is_stray(stream, segment->sequence, ahead))
			return true;
	}
	stream->strays = 0;
	if (stream_store(stream, memory, segment))
		return true;
	if (rr_stream_skip(stream))
		return false;
	stream->lost += (uint32_t)size;
	return true;
}

void
rr_stream_free(struct rr_stream *stream, struct rr_decode_memory *memory)
{
	rr_decode_free(memory, stream->data, stream->capacity);
	*stream = (struct rr_stream){
		.lost = stream->lost, .repeated = stream->repeated, .uncaptured = stream->uncaptured
	};
}
