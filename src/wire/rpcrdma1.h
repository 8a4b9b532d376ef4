/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_RPCRDMA1_H
#define RR_WIRE_RPCRDMA1_H

#include <rpcrdma/xdr.h>

/*
 * The RPC-over-RDMA version 1 transport header (RFC 8166, section 4.1.2),
 * read into and written from values. The chunk lists go into arrays of the
 * caller, whose sizes bound what a peer can make us keep.
 */

enum { RR_RPCRDMA_VERSION_1 = 1 };

/* RFC 8166, section 4.2.4. */
enum rr_rdma_proc {
	RR_RDMA_MSG = 0,
	RR_RDMA_NOMSG = 1,
	RR_RDMA_MSGP = 2,
	RR_RDMA_DONE = 3,
	RR_RDMA_ERROR = 4
};

/* RFC 8166, section 4.5. */
enum rr_rdma_err { RR_ERR_VERS = 1, RR_ERR_CHUNK = 2 };

enum {
	RR_RDMA_FIXED_SIZE = 16,   /* xid, vers, credit, proc */
	RR_RDMA_HEADER_MIN = 28,   /* "a minimal size RPC-over-RDMA header (28 bytes)" */
	RR_READ_SEGMENT_SIZE = 24, /* in the Read list: 1 PHLOO */
	RR_SEGMENT_SIZE = 16,      /* HLOO */
	RR_INLINE_DEFAULT = 1024,  /* RFC 8166, section 3.3.3 */
};

/* A plain segment: Handle32 Length32 Offset64 (section 3.4.3). */
struct rr_segment {
	uint32_t handle, length;
	uint64_t offset;
};

struct rr_read_segment {
	uint32_t position;
	struct rr_segment target;
};

/* A Write chunk or the Reply chunk: a counted array of segments. */
struct rr_chunk {
	struct rr_segment *segments; /* in the segment array of the lists */
	uint32_t count;
};

/* The chunk lists of a header, in arrays that the caller owns. */
struct rr_chunk_lists {
	struct rr_read_segment *reads;
	struct rr_chunk *writes;
	struct rr_segment *segments; /* of all Write chunks and of the Reply chunk, in this order */
	uint32_t read_max, write_max, segment_max;
	uint32_t read_count, write_count, segment_count;
	struct rr_chunk reply;
	bool has_reply;
};

struct rr_rdma_header {
	uint32_t xid, vers, credit, proc;
	uint32_t err, vers_low, vers_high; /* where proc is RR_RDMA_ERROR */
};

enum rr_header_result {
	RR_HEADER_OK,
	RR_HEADER_SHORT,     /* too few octets for a header at all: "MUST silently discard the message" */
	RR_HEADER_VERS,      /* a version that is not 1; the four fixed words are set, proc among them */
	RR_HEADER_MALFORMED, /* the fixed words are set; a responder answers ERR_CHUNK, a requester discards
			      */
	RR_HEADER_LIMIT, /* well-formed so far, and more segments than the caller's arrays hold; as malformed
			  */
};

/*
 * Reads a header from the front of reader and leaves the reader at what follows it (the RPC message of an
 * RDMA_MSG). lists must have its arrays and maxima set; counts are set here and never exceed the maxima.
 * Positions that are no multiple of four are malformed (section 3.4.5).
 *
 * An RDMA_ERROR fills err and, for ERR_VERS, the range; an unknown err is malformed. Of RDMA_DONE, RDMA_MSGP
 * and unknown procedures only the fixed words are read. Below 28 octets a message is too short, except that
 * an RDMA_ERROR may have 20 and an RDMA_DONE 16, all that their XDR takes. Does not judge procedures or
 * combinations: only the shape.
 */
enum rr_header_result rr_rdma_get_header(
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists);

/*
 * Writes a header: of RDMA_MSG and RDMA_NOMSG with lists (NULL: all three are not present), of RDMA_ERROR
 * with err and range, of others the fixed words.
 */
void rr_rdma_put_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists);

/* The octets that a header takes with these counts. writes: the number of Write chunks, segments: in all of
 * them and in the Reply chunk. UINT32_MAX where it is more than that. */
uint32_t rr_rdma_header_size(uint32_t reads, uint32_t writes, bool has_reply, uint32_t segments);

/* Sum of the lengths of a chunk's segments. */
uint64_t rr_chunk_length(const struct rr_chunk *chunk);

#endif
