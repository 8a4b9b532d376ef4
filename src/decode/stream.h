/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_STREAM_H
#define RR_DECODE_STREAM_H

#include "decode/memory.h"

/*
 * One direction of a TCP connection, put together from segments that come in any order, repeatedly, or never.
 * The octets that are kept lie in one buffer of at most RR_STREAM_WINDOW, with the list of the parts of it
 * that have come. The octets in front of the first gap can be read. A gap that does not close is given up.
 */
enum {
	RR_STREAM_RANGES = 64,
	RR_STREAM_WINDOW = 4 << 20,
	RR_STREAM_STRAYS = 3, /* so many segments outside of the window in a row, and the stream is there */
	RR_STREAM_ACKNOWLEDGED = 16 /* packets that acknowledge a gap, until it is given up */
};

struct rr_stream_range {
	uint32_t start, end; /* offsets in the buffer */
};

struct rr_stream {
	uint8_t *data;
	uint32_t capacity;
	uint32_t next; /* sequence number of data[0] */
	bool started;
	bool broken; /* octets in front of data[0] are missing; set here, cleared by the reader */
	uint32_t strays, acknowledged;
	uint32_t range_count;
	struct rr_stream_range ranges[RR_STREAM_RANGES]; /* ascending, never adjacent */
	/* Octets: of gaps that were given up, that came again, and that were not captured and count as 0. */
	uint64_t lost, repeated, uncaptured;
};

/* A segment of at most 64 KiB: size octets of data were captured, and behind them missing ones were not. */
struct rr_stream_segment {
	const uint8_t *data;
	uint32_t sequence, size, missing;
};

/* The stream begins with this sequence number. */
void rr_stream_start(struct rr_stream *stream, uint32_t sequence);

/* Takes a segment. The first one starts a stream that was not started. False: a gap had to
 * be given up first; what can be read now is to be read, and the segment to be added again. */
bool rr_stream_add(
	struct rr_stream *stream, struct rr_decode_memory *memory, const struct rr_stream_segment *segment);

/* The peer acknowledges all that is before sequence: it has it, so that octets of a gap will not be repeated.
 * True where a gap was given up therefore. */
bool rr_stream_acknowledge(struct rr_stream *stream, uint32_t sequence);

/* Octets that can be read. */
uint32_t rr_stream_size(const struct rr_stream *stream);

/* Those so many were read. */
void rr_stream_take(struct rr_stream *stream, struct rr_decode_memory *memory, uint32_t size);

/* Gives up what is in front of the first gap, and the gap. False where there is no gap. */
bool rr_stream_skip(struct rr_stream *stream);

void rr_stream_free(struct rr_stream *stream, struct rr_decode_memory *memory);

#endif
