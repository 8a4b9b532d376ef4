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
 * The records, 10 KiB, are allocated with the first message, not with the
 * connection: one that never carries anything costs nothing, and a thousand
 * that carried something cost 10 MiB. Where there is no memory, nothing is
 * kept.
 */
enum { RR_TRACE_RECORDS = 256 };

struct rr_trace_record {
	uint64_t at;                       /* ns: rr_loop_now() */
	uint8_t fixed[RR_RDMA_FIXED_SIZE]; /* XID, version, credit, procedure: as they were on the wire */
	uint32_t length;                   /* octets of the message, its header with them */
	uint32_t octets;                   /* in all chunks; UINT32_MAX: or more */
	uint16_t reads, segments; /* read segments; plain ones of all Write chunks and of the Reply chunk */
	uint8_t writes, err;      /* 255: or more; err: of an RDMA_ERROR */
	bool sent : 1, has_reply : 1, parsed : 1;
};

struct rr_trace {
	struct rr_trace_record *records; /* NULL before the first message */
	uint64_t count;                  /* of messages so far; the next record's place, modulo the size */
};

/* Keeps what there is to see of the message of length octets, of which data holds the header. lists: NULL
 * where it could not be parsed. */
void rr_trace_add(struct rr_trace *trace, struct rr_loop *loop, bool sent, const uint8_t *data,
	uint32_t length, const struct rr_chunk_lists *lists);

/* One line, without line feed. */
void rr_trace_text(const struct rr_trace_record *record, uint64_t now, char *text, size_t size);

/* Logs all records, oldest first, one line each. A peer gets fewer lines for it than it sent and received
 * messages. */
void rr_trace_log(const struct rr_trace *trace, const struct rr_env *env, const char *peer);

void rr_trace_free(struct rr_trace *trace, const struct rr_env *env);

#endif
