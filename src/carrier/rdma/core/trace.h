/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_TRACE_H
#define RR_CARRIER_RDMA_CORE_TRACE_H

#include "base/loop.h"
#include "wire/rpcrdma1.h"
#include "wire/rpcrdma2.h"

/*
 * The last headers that a connection sent and received, kept for the moment
 * when it dies of an error in the protocol.
 *
 * Records lie in blocks, of which an engine has no more than RR_TRACE_BLOCKS
 * for all of its connections. A connection gets a block when a message comes
 * for which its last block has no room. Where the engine has all blocks already, a connection that has
 * two or more uses its own oldest block again, and any other one takes the
 * oldest block of the engine: so connections that are idle keep headers only
 * as long as there are few connections, and a busy connection takes no blocks
 * from others once it has two. Where there is no memory, nothing is kept.
 */
enum {
	RR_TRACE_RECORDS = 256, /* that are shown */
	RR_TRACE_BLOCK = 32,    /* records of a block */
	RR_TRACE_OWN = RR_TRACE_RECORDS / RR_TRACE_BLOCK +
		       1, /* blocks of a connection at most; one is being filled */
	RR_TRACE_BLOCKS = 1024
};

struct rr_trace_record {
	uint64_t at;                       /* ns: rr_loop_now() */
	uint8_t fixed[RR_RDMA_FIXED_SIZE]; /* XID, version, credit, procedure: as they were on the wire */
	uint32_t length;                   /* octets of the message, its header with them */
	uint32_t octets;                   /* in all chunks; UINT32_MAX: or more */
	uint16_t reads, segments; /* read segments; plain ones of all Write chunks and of the Reply chunk */
	uint8_t writes, err;      /* 255: or more; err: of an RDMA_ERROR */
	bool sent : 1, has_reply : 1, parsed : 1;
};

struct rr_trace;

struct rr_trace_block {
	struct rr_list own; /* in its trace's blocks */
	struct rr_list all; /* in those of the engine */
	struct rr_trace *trace;
	uint32_t count;
	struct rr_trace_record records[RR_TRACE_BLOCK];
};

/* The blocks of an engine. */
struct rr_traces {
	const struct rr_env *env;
	struct rr_list blocks; /* in use, the one that was begun first in front */
	uint32_t count, most;
};

struct rr_trace {
	struct rr_traces *traces;
	struct rr_list blocks;       /* the oldest first */
	struct rr_trace_block *last; /* of them; NULL: there is no block */
	uint32_t block_count;
	uint64_t count; /* of messages so far */
};

/* At most so many blocks. Every trace of them must be freed before their memory is. */
void rr_traces_init(struct rr_traces *traces, const struct rr_env *env, uint32_t most);

void rr_trace_init(struct rr_trace *trace, struct rr_traces *traces);

/* Keeps what there is to see of the message of length octets, of which data holds the header. lists: NULL
 * where it could not be parsed. */
void rr_trace_add(struct rr_trace *trace, struct rr_loop *loop, bool sent, const uint8_t *data,
	uint32_t length, const struct rr_chunk_lists *lists);

/* One line, without line feed. */
void rr_trace_text(const struct rr_trace_record *record, uint64_t now, char *text, size_t size);

/* Logs all records, oldest first, one line each. A peer gets fewer lines for it than it sent and received
 * messages. */
void rr_trace_log(const struct rr_trace *trace, const struct rr_env *env, const char *peer);

/* Gives its blocks back. No effect on zeroed memory. */
void rr_trace_free(struct rr_trace *trace);

#endif
