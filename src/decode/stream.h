/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_STREAM_H
#define RR_DECODE_STREAM_H

#include "decode/memory.h"

/* A stream is one direction of a TCP connection, assembled from segments that come in any order, repeatedly,
 * or never. The octets that are kept lie in one buffer of at most RR_STREAM_WINDOW, with a list of its parts
 * that have come. The octets in front of the first gap can be read. A gap that is not closed is given up. */
enum {
	RR_STREAM_RANGES = 64,
	RR_STREAM_WINDOW = 4 << 20,
	RR_STREAM_STRAYS =
		3, /* after so many segments outside of the window in a row, the stream goes on there */
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
	/* Segments outside of the window, in a row; and packets that acknowledged the first gap, since octets
	 * came for it. */
	uint32_t strays, acknowledged;
	uint32_t range_count;
	struct rr_stream_range ranges[RR_STREAM_RANGES]; /* ascending, never adjacent */
	/* The octets of the buffer that were not captured; ascending. If there are too many ranges, the last
	 * one also has octets that were captured. */
	uint32_t cut_count;
	struct rr_stream_range cuts[RR_STREAM_RANGES];
	/* Octets of gaps that were given up; octets that came again; octets that were not captured and count
	 * as 0. */
	uint64_t lost, repeated, uncaptured;
};

/* A segment of at most 64 KiB: size octets of data were captured, and the "missing" octets behind them were
 * not. */
struct rr_stream_segment {
	const uint8_t *data;
	uint32_t sequence, size, missing;
};

/* Sets the sequence number with which the stream begins. */
void rr_stream_start(struct rr_stream *stream, uint32_t sequence);

/* Adds a segment to the stream. The first segment starts a stream that was not started. Returns true if the
 * segment was handled: stored, ignored or lost. Returns false if only a gap was given up: the caller then
 * reads what can be read, and adds the segment again. */
bool rr_stream_add(
	struct rr_stream *stream, struct rr_decode_memory *memory, const struct rr_stream_segment *segment);

/* Notes that the peer acknowledges all octets before sequence. The peer has them, so those of a gap will not
 * be sent again, and the first gap can be given up. That is done only after RR_STREAM_ACKNOWLEDGED such
 * calls, as an acknowledgement may be captured before the octets. Returns true if the gap was given up. */
bool rr_stream_acknowledge(struct rr_stream *stream, uint32_t sequence);

/* Returns how many octets can be read: those at the front of the buffer, up to the first gap. */
uint32_t rr_stream_size(const struct rr_stream *stream);

/* Returns how many of the octets of the buffer from start to end were captured in front of the first one that
 * was not. */
uint32_t rr_stream_known(const struct rr_stream *stream, uint32_t start, uint32_t end);

/* Removes size octets, which the caller has read, from the front of the stream. */
void rr_stream_take(struct rr_stream *stream, struct rr_decode_memory *memory, uint32_t size);

/* Gives up the first gap, and removes it from the stream together with the octets in front of it. Returns
 * false if there is no gap. */
bool rr_stream_skip(struct rr_stream *stream);

/* Frees the stream's buffer. The counters of octets remain. */
void rr_stream_free(struct rr_stream *stream, struct rr_decode_memory *memory);

#endif
