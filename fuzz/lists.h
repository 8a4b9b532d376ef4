/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_FUZZ_LISTS_H
#define RR_FUZZ_LISTS_H

#include "fuzz.h"
#include "wire/rpcrdma.h"

/* Chunk lists of a header that is read, with small arrays of their own. */

enum { FUZZ_READS = 8, FUZZ_WRITES = 4, FUZZ_SEGMENTS = 16 };

struct fuzz_lists {
	struct rr_read_segment reads[FUZZ_READS];
	struct rr_chunk writes[FUZZ_WRITES];
	struct rr_segment segments[FUZZ_SEGMENTS];
};

static inline struct rr_chunk_lists
fuzz_lists(struct fuzz_lists *room)
{
	return (struct rr_chunk_lists){
		.reads = room->reads,
		.writes = room->writes,
		.segments = room->segments,
		.read_max = FUZZ_READS,
		.write_max = FUZZ_WRITES,
		.segment_max = FUZZ_SEGMENTS,
	};
}

/* What was read stays inside the arrays. */
static inline void
fuzz_lists_check(const struct rr_chunk_lists *lists)
{
	rr_require(lists->read_count <= FUZZ_READS && lists->write_count <= FUZZ_WRITES &&
		   lists->segment_count <= FUZZ_SEGMENTS);
}

#endif
