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
 * Reads a header from the front of reader and leaves the reader behind it, at the RPC message of an RDMA_MSG.
 * Lists: see rr_rdma_get_lists().
 *
 * An RDMA_ERROR fills err and, for ERR_VERS, the range; an unknown err is malformed. Of RDMA_DONE, RDMA_MSGP
 * and unknown procedures only the fixed words are read. Below 28 octets a message is too short, except that
 * an RDMA_ERROR may have 20 and an RDMA_DONE 16, all that their XDR takes. The function judges the form of a
 * header alone, not whether its procedure or its chunks are allowed.
 */
enum rr_header_result rr_rdma_get_header(
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists);

/* Writes a header of version 1. RDMA_MSG and RDMA_NOMSG have the chunk lists (lists NULL: all three are
 * empty), RDMA_ERROR has err and the range of versions, any other procedure has the fixed words alone. */
void rr_rdma_put_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists);

#endif
