/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_RPCRDMA2_H
#define RR_WIRE_RPCRDMA2_H

#include "wire/rpcrdma.h"

/*
 * The RPC-over-RDMA version 2 transport header (draft-cel-nfsv4-rpcrdma-version-two-00, section 4.2), read
 * into and written from values. The draft's XDR declares the type rpcrdma2_chunk_lists and uses it under the
 * name rpcrdma2_chunks: its chunk lists are those of version 1.
 */

enum { RR_RPCRDMA_VERSION_2 = 2 };

/* Section 2.3: "senders MUST assume a receiver's inline threshold is 4096 bytes". */
enum { RR_INLINE_DEFAULT_2 = 4096 };

/* The fixed words, rdma_opttype, and an empty rdma_optinfo. */
enum { RR_RDMA_OPTIONAL_MIN = RR_RDMA_FIXED_SIZE + 8 };

/* Says whether an RPC Payload Stream may follow the Transport Header Stream (section 4.2). */
enum rr_payload { RR_PAYLOAD_NEVER, RR_PAYLOAD_MAY, RR_PAYLOAD_ALWAYS };

/* Returns whether an RPC message (payload) follows the header of procedure proc: always, never, or maybe. */
enum rr_payload rr_rdma2_payload(uint32_t proc);

/*
 * Reads a header of version 2 and moves the reader behind it: to the RPC Payload Stream, if there is one. The
 * caller prepares lists as for rr_rdma_get_lists(). A message is malformed if it lacks a payload that its
 * procedure requires, has a payload that its procedure forbids, or has an unknown procedure, an unknown error
 * or an incomplete list.
 *
 * An RDMA_ERROR sets header->err and, for RDMA_ERR_VERS, the range of versions. An RDMA_OPTIONAL sets
 * header->opttype and header->optinfo, which refers to the message. The optional feature of that type decides
 * whether it knows the type, and whether a payload must follow.
 *
 * A message is too short if it has fewer octets than the XDR of its procedure takes: 24 for RDMA_OPTIONAL, 20
 * for RDMA_ERROR, 16 for RDMA_MSGP and RDMA_DONE, 28 for any other procedure.
 */
enum rr_header_result rr_rdma2_get_header(
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists);

/* Writes a header of version 2. RDMA_MSG and RDMA_NOMSG have the chunk lists (if lists is NULL, all three are
 * empty), RDMA_ERROR has err and the range of versions, RDMA_OPTIONAL has opttype and optinfo. RDMA_MSGP and
 * RDMA_DONE have only the four words that begin each header. The writer fails for any other procedure or
 * error. */
void rr_rdma2_put_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists);

extern const struct rr_rdma_version rr_rdma_version_2;

/* Returns the version of RPC-over-RDMA with that number, or NULL if the library does not have that
 * version. */
const struct rr_rdma_version *rr_rdma_version(uint32_t number);

/* Return the name of a procedure of version vers, and the name of the error in an RDMA_ERROR. The result is
 * never NULL. */
const char *rr_rdma_proc_name(uint32_t vers, uint32_t proc);
const char *rr_rdma_err_name(uint32_t vers, uint32_t err);

/*
 * Read and write headers of either version. The reading function takes versions 1 to highest (1 or 2), and
 * returns RR_HEADER_VERS for others. The writing function writes a header of version header->vers.
 */
enum rr_header_result rr_rdma_get_any_header(struct rpcrdma_xdr_reader *reader, uint32_t highest,
	struct rr_rdma_header *header, struct rr_chunk_lists *lists);
void rr_rdma_put_any_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists);

#endif
