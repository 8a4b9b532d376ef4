/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_RPCRDMA_H
#define RR_WIRE_RPCRDMA_H

#include <rpcrdma/xdr.h>

/*
 * The parts that the RPC-over-RDMA transport headers of all versions have in common: the four fixed words and
 * the chunk lists. The headers themselves are in rpcrdma1.h and rpcrdma2.h.
 *
 * Chunk lists go into arrays of the caller, whose sizes bound the memory that a peer can take up.
 */

/* The procedures: RFC 8166, section 4.2.4. */
enum rr_rdma_proc {
	RR_RDMA_MSG = 0,
	RR_RDMA_NOMSG = 1,
	RR_RDMA_MSGP = 2,
	RR_RDMA_DONE = 3,
	RR_RDMA_ERROR = 4,
	RR_RDMA_OPTIONAL = 5 /* from version 2 on */
};

/* The errors of an RDMA_ERROR: RFC 8166, section 4.5, and draft-cel-nfsv4-rpcrdma-version-two-00,
 * section 4.2. */
enum rr_rdma_err {
	RR_ERR_VERS = 1,
	RR_ERR_CHUNK = 2,      /* version 1 */
	RR_ERR_BAD_HEADER = 2, /* version 2: it means the same */
	RR_ERR_INVAL_OPTION = 3
};

/* Sizes in octets. P, H, L and O are the words of a segment: position, handle, length, offset (two words). */
enum {
	RR_RDMA_FIXED_SIZE = 16,   /* xid, vers, credit, proc */
	RR_RDMA_HEADER_MIN = 28,   /* "a minimal size RPC-over-RDMA header (28 bytes)" */
	RR_READ_SEGMENT_SIZE = 24, /* in the Read list: 1 PHLOO */
	RR_SEGMENT_SIZE = 16,      /* HLOO */
};

/* A plain segment: Handle32 Length32 Offset64 (RFC 8166, section 3.4.3). */
struct rr_segment {
	uint32_t handle, length;
	uint64_t offset;
};

/* A segment of the Read list. */
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

/* A transport header without its chunk lists, decoded. */
struct rr_rdma_header {
	uint32_t xid, vers, credit, proc;
	uint32_t err, vers_low, vers_high; /* if proc is RR_RDMA_ERROR */
	uint32_t opttype;                  /* if proc is RR_RDMA_OPTIONAL */
	struct rpcrdma_bytes optinfo;      /* if proc is RR_RDMA_OPTIONAL; points into the message */
};

/* The result of reading a header. */
enum rr_header_result {
	RR_HEADER_OK,
	RR_HEADER_SHORT,     /* too few octets for a header at all: "MUST silently discard the message" */
	RR_HEADER_VERS,      /* a version that is not read here; the four fixed words are set */
	RR_HEADER_MALFORMED, /* the fixed words are set; a responder answers with an error, a requester
			      * discards */
	RR_HEADER_LIMIT, /* well-formed so far, with more segments than the caller's arrays hold; treated as
			    malformed */
};

/*
 * A version of the protocol: how its headers are read and written. The four fixed words mean the same in all
 * versions (RFC 8166, section 4.2): get() starts behind these words, put() writes them, too.
 */
struct rr_rdma_version {
	uint32_t number;
	/* The names of procedures, and of errors; NULL: there is no such number. */
	const char *procs[RR_RDMA_OPTIONAL + 1];
	const char *errs[RR_ERR_INVAL_OPTION + 1];
	/* The least octets of a message, by procedure; of any other procedure: RR_RDMA_HEADER_MIN. A shorter
	 * message is not parsed. */
	uint8_t least[RR_RDMA_OPTIONAL + 1];
	enum rr_header_result (*get)(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header,
		struct rr_chunk_lists *lists);
	/* lists may be NULL: then all three lists are empty. */
	void (*put)(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
		const struct rr_chunk_lists *lists);
};

/* Reads a whole header of that version: the four words that begin every header, and the rest by
 * version->get(). The result is RR_HEADER_SHORT if the message is too short, RR_HEADER_VERS if it has another
 * version, else that of version->get(). */
enum rr_header_result rr_rdma_get_of(const struct rr_rdma_version *version, struct rpcrdma_xdr_reader *reader,
	struct rr_rdma_header *header, struct rr_chunk_lists *lists);

/* Reads the four words that begin a header of any version (xid, version, credits and procedure), and sets all
 * other members of header to 0. Returns false, and does not move the reader, if there are fewer octets. */
bool rr_rdma_get_fixed(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header);
void rr_rdma_put_fixed(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header);

/* Writes the header of an RDMA_MSG or RDMA_NOMSG without chunks: RR_RDMA_HEADER_MIN octets, which are the
 * same in both versions. Most messages have this header. */
void rr_rdma_put_plain(uint8_t to[RR_RDMA_HEADER_MIN], const struct rr_rdma_header *header);

/* Makes the three chunk lists empty; their arrays and the sizes of the arrays remain. */
static inline void
rr_rdma_clear_lists(struct rr_chunk_lists *lists)
{
	lists->read_count = lists->write_count = lists->segment_count = 0;
	lists->reply = (struct rr_chunk){ NULL, 0 };
	lists->has_reply = false;
}

/* Reads the Read list, the Write list and the Reply chunk into the arrays of lists. The caller sets these
 * arrays and their sizes, and empties the lists by rr_rdma_clear_lists(). A position that is no multiple of
 * four is malformed (RFC 8166, section 3.4.5). */
enum rr_header_result rr_rdma_get_lists(struct rpcrdma_xdr_reader *reader, struct rr_chunk_lists *lists);

/* Whether there is any chunk: in the Read list, in the Write list, or a Reply chunk. */
static inline bool
rr_rdma_has_lists(const struct rr_chunk_lists *lists)
{
	return (lists->read_count | lists->write_count | lists->has_reply) != 0;
}

/* rr_rdma_lists_size() returns the octets that arrays for so many Read segments, Write chunks and other
 * segments take together. rr_rdma_place_lists() makes *lists empty, and lays its arrays, of these sizes, into
 * that much memory, which stays the caller's. */
size_t rr_rdma_lists_size(uint32_t reads, uint32_t writes, uint32_t segments);
void rr_rdma_place_lists(
	struct rr_chunk_lists *lists, void *memory, uint32_t reads, uint32_t writes, uint32_t segments);

/* Copies the lists into the arrays of *to, whose sizes are set. Returns false, and makes *to empty, if they
 * do not fit. */
bool rr_rdma_copy_lists(struct rr_chunk_lists *to, const struct rr_chunk_lists *from);

/* Writes the three lists. If lists is NULL, all three are written as empty. */
void rr_rdma_put_lists(struct rpcrdma_xdr_writer *writer, const struct rr_chunk_lists *lists);

/* Returns how many octets the header of an RDMA_MSG or RDMA_NOMSG takes, in versions 1 and 2. reads: the
 * number of segments in the Read list; writes: the number of Write chunks; segments: the number of segments
 * in all Write chunks and in the Reply chunk. The result is UINT32_MAX if the size is larger than that. */
uint32_t rr_rdma_header_size(uint32_t reads, uint32_t writes, bool has_reply, uint32_t segments);

/* Returns the sum of the lengths of a chunk's segments. */
uint64_t rr_chunk_length(const struct rr_chunk *chunk);

#endif
