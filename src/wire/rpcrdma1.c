/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the transport header of version 1: the parts that version 2 does not share. */
#include "wire/rpcrdma1.h"

/* The octets of an RDMA_ERROR with ERR_CHUNK. */
enum { ERROR_SIZE_MIN = RR_RDMA_FIXED_SIZE + 4 };

/* Reads the rest of an RDMA_ERROR of version 1, behind the four words that begin every header: the error and,
 * for ERR_VERS, the range of versions that the peer supports. An unknown error is malformed. */
static enum rr_header_result
rdma1_get_error(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header)
{
	header->err = rpcrdma_get_u32(reader);
	if (header->err == RR_ERR_VERS) {
		header->vers_low = rpcrdma_get_u32(reader);
		header->vers_high = rpcrdma_get_u32(reader);
	} else if (header->err != RR_ERR_CHUNK) {
		return RR_HEADER_MALFORMED;
	}
	return reader->failed ? RR_HEADER_MALFORMED : RR_HEADER_OK;
}

/* Reads the rest of a header of version 1, behind the four words that begin every header: the chunk lists,
 * the error, or nothing, as the procedure demands. */
static enum rr_header_result
rdma1_get_rest(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists)
{
	switch (header->proc) {
	case RR_RDMA_MSG:
	case RR_RDMA_NOMSG: return rr_rdma_get_lists(reader, lists);
	case RR_RDMA_ERROR: return rdma1_get_error(reader, header);
	default: return RR_HEADER_OK;
	}
}

enum rr_header_result
rr_rdma_get_header(
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists)
{
	return rr_rdma_get_of(&rr_rdma_version_1, reader, header, lists);
}

/* Writes the rest of an RDMA_ERROR of version 1, behind the four words that begin every header. The writer
 * fails for an error that version 1 does not have. */
static void
rdma1_put_error(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header)
{
	rpcrdma_put_u32(writer, header->err);
	if (header->err == RR_ERR_VERS) {
		rpcrdma_put_u32(writer, header->vers_low);
		rpcrdma_put_u32(writer, header->vers_high);
	} else if (header->err != RR_ERR_CHUNK) {
		rpcrdma_xdr_writer_fail(writer);
	}
}

/* RFC 8166, 4: the header "MUST be XDR encoded." */
void
rr_rdma_put_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists)
{
	rr_rdma_put_fixed(writer, header);
	switch (header->proc) {
	case RR_RDMA_MSG:
	case RR_RDMA_NOMSG: rr_rdma_put_lists(writer, lists); break;
	case RR_RDMA_ERROR: rdma1_put_error(writer, header); break;
	default: break;
	}
}

const struct rr_rdma_version rr_rdma_version_1 = {
	.number = RR_RPCRDMA_VERSION_1,
	.procs = { "RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP", "RDMA_DONE", "RDMA_ERROR" },
	.errs = { [RR_ERR_VERS] = "ERR_VERS", [RR_ERR_CHUNK] = "ERR_CHUNK" },
	/*
	 * The least octets of a message: "a minimal size RPC-over-RDMA header (28 bytes)" (RFC 8166, 4.5),
	 * but by the XDR of section 4.1.2 an RDMA_DONE ends with its fixed words, and an RDMA_ERROR with
	 * ERR_CHUNK takes one more.
	 */
	.least = { RR_RDMA_HEADER_MIN, RR_RDMA_HEADER_MIN, RR_RDMA_HEADER_MIN, RR_RDMA_FIXED_SIZE,
		ERROR_SIZE_MIN, RR_RDMA_HEADER_MIN },
	.get = rdma1_get_rest,
	.put = rr_rdma_put_header,
};
