/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_CARRIER_RDMA_CORE_TRACE_H
#define RR_CARRIER_RDMA_CORE_TRACE_H

#include "base/loop.h"
#include "wire/rpcrdma1.h"
#include "wire/rpcrdma2.h"

/* The last headers that a connection sent and received. They are logged when the connection ends by an error
 * in the protocol.
 *
 * Records lie in blocks. An engine has no more than RR_TRACE_BLOCKS blocks for all of its connections. A
 * connection gets a block when a message comes for which its last block has no room. If the engine has all
 * blocks already, a connection with two or more blocks uses its own oldest block again, and any other
 * connection takes the oldest block of the engine. So idle connections keep headers only as long as there are
 * few connections, and a busy connection takes no blocks from others once it has two. Without memory for a
 * block, messages are not recorded. */
enum {
	RR_TRACE_ENTRIES = 256, /* entries that are shown */
	RR_TRACE_BLOCK = 32,    /* entries of a block */
	RR_TRACE_OWN = RR_TRACE_ENTRIES / RR_TRACE_BLOCK +
		       1, /* the most blocks of a connection; one of them is being filled */
	RR_TRACE_BLOCKS = 1024
};

/* A entry of one message. */
struct rr_trace_entry {
	uint64_t at;                       /* ns: rr_loop_now() */
	uint8_t fixed[RR_RDMA_FIXED_SIZE]; /* XID, version, credit, procedure: as they were on the wire */
	uint32_t length;                   /* octets of the message with its header */
	uint32_t octets;                   /* octets in all chunks; UINT32_MAX: that many or more */
	uint16_t reads, segments; /* read segments; segments of all Write chunks and of the Reply chunk */
	uint8_t writes, err;      /* 255: that many or more; err: of an RDMA_ERROR */
	bool sent : 1, has_reply : 1, parsed : 1;
};

struct rr_trace;

/* A block of entries. It belongs to one trace at a time. */
struct rr_trace_block {
	struct rr_list own; /* in the list of its trace */
	struct rr_list all; /* in the list of the engine */
	struct rr_trace *trace;
	uint32_t count;
	struct rr_trace_entry entries[RR_TRACE_BLOCK];
};

/* The blocks of an engine. */
struct rr_traces {
	const struct rr_env *env;
	struct rr_list blocks; /* in use; the block that was begun first is in front */
	uint32_t count, most;
};

/* The entries of one connection. */
struct rr_trace {
	struct rr_traces *traces;
	struct rr_list blocks;       /* the oldest first */
	struct rr_trace_block *last; /* the last of the blocks; NULL: there is no block */
	uint32_t block_count;
	uint64_t count; /* messages so far */
};

/* Prepares the memory that the traces of an engine share: at most `most` blocks. Every trace must be freed
 * before this memory. */
void rr_traces_init(struct rr_traces *traces, const struct rr_env *env, uint32_t most);

/* Makes an empty trace. It takes its blocks from traces. */
void rr_trace_init(struct rr_trace *trace, struct rr_traces *traces);

/* Records a message of length octets in the trace (the connection's last headers). data is the header. lists
 * is NULL if the chunk lists could not be parsed. */
void rr_trace_add(struct rr_trace *trace, struct rr_loop *loop, bool sent, const uint8_t *data,
	uint32_t length, const struct rr_chunk_lists *lists);

/* Describes an entry in one line, without line feed. The line says how old the entry is at the time now, in
 * ns. */
void rr_trace_text(const struct rr_trace_entry *entry, uint64_t now, char *text, size_t size);

/* Logs the last RR_TRACE_ENTRIES entries, oldest first, one line each. A peer cannot cause more lines than it
 * sent and received messages. */
void rr_trace_log(const struct rr_trace *trace, const struct rr_env *env, const char *peer);

/* Frees the blocks of the trace. Has no effect on zeroed memory. */
void rr_trace_free(struct rr_trace *trace);

#endif
