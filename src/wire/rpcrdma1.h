/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_WIRE_RPCRDMA1_H
#define RR_WIRE_RPCRDMA1_H

#include "wire/rpcrdma.h"

/*
 * The RPC-over-RDMA version 1 transport header (RFC 8166, section 4.1.2),
 * read into and written from values.
 */

enum { RR_RPCRDMA_VERSION_1 = 1 };

enum { RR_INLINE_DEFAULT = 1024 }; /* RFC 8166, section 3.3.3 */

extern const struct rr_rdma_version rr_rdma_version_1;

/*
 * Reads a header of version 1 and moves the reader behind it: to the RPC message, if it is an RDMA_MSG. The
 * caller prepares lists as for rr_rdma_get_lists().
 *
 * An RDMA_ERROR sets header->err and, for ERR_VERS, the range of versions; an unknown error is malformed. Of
 * RDMA_DONE, RDMA_MSGP and unknown procedures, only the four words that begin each header are read. A message
 * of less than 28 octets is too short, but an RDMA_ERROR may have 20 octets and an RDMA_DONE 16, as their XDR
 * needs no more. The function checks the form of a header alone, not whether its procedure or its chunks are
 * allowed.
 */
enum rr_header_result rr_rdma_get_header(
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists);

/* Writes a header of version 1. RDMA_MSG and RDMA_NOMSG have the chunk lists (if lists is NULL, all three are
 * empty), RDMA_ERROR has err and the range of versions, any other procedure has only the four words that
 * begin each header. */
void rr_rdma_put_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists);

#endif
