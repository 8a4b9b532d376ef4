/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_RPCRDMA2_H
#define RR_WIRE_RPCRDMA2_H

#include "wire/rpcrdma.h"

/*
 * The RPC-over-RDMA version 2 transport header (draft-cel-nfsv4-rpcrdma-version-two-00, section 4.2), read
 * into and written from values. The draft's XDR declares rpcrdma2_chunk_lists and names it rpcrdma2_chunks
 * where it is used: they are one type, and that of version 1.
 */

enum { RR_RPCRDMA_VERSION_2 = 2 };

/* Section 2.3: "senders MUST assume a receiver's inline threshold is 4096 bytes". */
enum { RR_INLINE_DEFAULT_2 = 4096 };

enum { RR_RDMA_OPTIONAL_MIN = RR_RDMA_FIXED_SIZE + 8 }; /* and rdma_opttype, and no rdma_optinfo */

/* May an RPC Payload Stream follow the Transport Header Stream? (Section 4.2.) */
enum rr_payload { RR_PAYLOAD_NEVER, RR_PAYLOAD_MAY, RR_PAYLOAD_ALWAYS };

enum rr_payload rr_rdma2_payload(uint32_t proc);

/*
 * Reads a header from the front of reader and leaves the reader at the RPC Payload Stream, or at the end:
 * what lacks a payload that must follow, or has one that must not, is malformed, and so are a procedure
 * outside the XDR, an unknown err and a list that breaks off. Lists: see rr_rdma_get_lists().
 *
 * An RDMA_ERROR fills err and, for RDMA_ERR_VERS, the range. An RDMA_OPTIONAL fills opttype and optinfo,
 * which refers to the message; whether its type is known, and has a payload, is its feature's to say.
 *
 * A message is too short below what the XDR of its procedure takes: 28 octets, RDMA_OPTIONAL 24, RDMA_ERROR
 * 20, RDMA_MSGP and RDMA_DONE 16.
 */
enum rr_header_result rr_rdma2_get_header(
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists);

/*
 * Writes a header: of RDMA_MSG and RDMA_NOMSG with lists (NULL: all three are not present), of RDMA_ERROR
 * with err and range, of RDMA_OPTIONAL with opttype and optinfo, of RDMA_MSGP and RDMA_DONE the fixed words.
 * Fails for procedures and errors that there are not.
 */
void rr_rdma2_put_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists);

extern const struct rr_rdma_version rr_rdma_version_2;

/* NULL: there is no such version. */
const struct rr_rdma_version *rr_rdma_version(uint32_t number);

/* What that version calls a procedure, or the error of an RDMA_ERROR. */
const char *rr_rdma_proc_name(uint32_t vers, uint32_t proc);
const char *rr_rdma_err_name(uint32_t vers, uint32_t err);

/*
 * Both versions by the word that tells: reads versions 1 to highest (1 or 2), with RR_HEADER_VERS for others,
 * and writes that of header->vers.
 */
enum rr_header_result rr_rdma_get_any_header(struct rpcrdma_xdr_reader *reader, uint32_t highest,
	struct rr_rdma_header *header, struct rr_chunk_lists *lists);
void rr_rdma_put_any_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists);

#endif
