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

/* Says whether an RPC message (payload) follows the header of procedure proc: always, never, or maybe. */
enum rr_payload rr_rdma2_payload(uint32_t proc);

/*
 * Reads a header from the front of reader and leaves the reader at the RPC Payload Stream, or at the end. A
 * message is malformed where a payload is absent that must follow, or is there and must not follow, and where
 * it has a procedure outside the XDR, an unknown err or a list that breaks off. Lists: see
 * rr_rdma_get_lists().
 *
 * An RDMA_ERROR fills err and, for RDMA_ERR_VERS, the range. An RDMA_OPTIONAL fills opttype and optinfo,
 * which refers to the message; the feature of that type decides whether the type is known, and whether it has
 * a payload.
 *
 * A message is too short below the octets that the XDR of its procedure takes: 28, RDMA_OPTIONAL 24,
 * RDMA_ERROR 20, RDMA_MSGP and RDMA_DONE 16.
 */
enum rr_header_result rr_rdma2_get_header(
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists);

/*
 * Writes a header of version 2. RDMA_MSG and RDMA_NOMSG have the chunk lists (lists NULL: all three are
 * empty), RDMA_ERROR has err and the range of versions, RDMA_OPTIONAL has opttype and optinfo, RDMA_MSGP and
 * RDMA_DONE have the fixed words alone. The writer fails for any other procedure or error.
 */
void rr_rdma2_put_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists);

extern const struct rr_rdma_version rr_rdma_version_2;

/* Returns the protocol version with that number, or NULL if there is no such version. */
const struct rr_rdma_version *rr_rdma_version(uint32_t number);

/* Return the name of a procedure, or of the error of an RDMA_ERROR, in that version; never NULL. */
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
