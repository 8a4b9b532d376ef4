/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_DECODE_RDMAP_H
#define RR_DECODE_RDMAP_H

#include <rpcrdma/xdr.h>

#include "decode/memory.h"
#include "wire/ddp.h"

/* This makes RDMA operations of DDP segments, for each direction of a connection: it puts the segments of a
 * Send together, and finds out where the octets of a Read Response were read. */

enum {
	RR_RDMAP_SEND_MAX = 512 * 1024, /* twice the largest inline threshold of RFC 8797 */
	RR_RDMAP_READS = 256            /* RDMA Reads under way that are remembered */
};

enum rr_op_kind {
	RR_OP_PART, /* no complete operation */
	RR_OP_SEND,
	RR_OP_WRITE,
	RR_OP_READ_REQUEST,
	RR_OP_READ_RESPONSE,
	RR_OP_TERMINATE
};

/* An operation: a whole Send, or one segment of an RDMA Write or of a Read Response. */
struct rr_op {
	enum rr_op_kind kind;
	const uint8_t *data;
	uint32_t length;
	uint32_t known;   /* octets of data that were captured, in front of the first one that was not */
	bool last;        /* the RDMA Write or the Read Response is complete */
	bool invalidates; /* a Send with Invalidate */
	uint32_t invalidated;
	uint32_t msn; /* of a Send */
	/* The place that the octets of a Write go to, or that the octets of a Read come from. */
	uint32_t handle;
	uint64_t offset;
	struct rr_read_request request; /* of a Read Request */
};

/* The state of what one side sends. */
struct rr_rdmap {
	uint8_t *send; /* the Send under way */
	uint32_t length, capacity;
	uint32_t known; /* its octets that were captured, in front of the first one that was not */
	bool skipping;  /* the rest of a Send is skipped, whose beginning is missing or that is too long */
	/* Requests of this side that are not answered; NULL: there was no Request */
	struct rr_read_request *reads;
	uint32_t read_first, read_count;
	uint64_t skipped; /* Sends that were not complete */
};

/* A DDP segment. Of its payload, "known" octets were captured, in front of the first one that was not. */
struct rr_rdmap_segment {
	const struct rr_ddp_header *header;
	struct rpcrdma_bytes payload;
	uint32_t known;
};

/* Handles a segment that side sent, and describes the operation that it completes in *op (RR_OP_PART if there
 * is none). peer is the other side, whose Read Requests are answered. Memory that op points to is valid until
 * the next segment of side. */
void rr_rdmap_take(struct rr_rdmap *side, struct rr_rdmap *peer, struct rr_decode_memory *memory,
	const struct rr_rdmap_segment *segment, struct rr_op *op);

/* Notes that segments of side are missing: the Send under way, if any, is skipped. rr_rdmap_free() frees the
 * memory of side. */
void rr_rdmap_lose(struct rr_rdmap *side);
void rr_rdmap_free(struct rr_rdmap *side, struct rr_decode_memory *memory);

#endif
