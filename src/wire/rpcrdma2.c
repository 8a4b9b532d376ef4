/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/rpcrdma2.h"

#include "wire/rpcrdma1.h"

enum { ERROR_SIZE_MIN = RR_RDMA_FIXED_SIZE + 4 };

/*
 * draft-cel-nfsv4-rpcrdma-version-two-00, 4.2: "When the rdma_proc field has the value RDMA_MSG, an RPC
 * Payload Stream MUST follow the Transport Header Stream in the Send buffer. When the rdma_proc field has the
 * value RDMA_OPTIONAL, an RPC Payload Stream MAY follow [...]. When the rdma_proc field has any other value,
 * an RPC Payload Stream MUST NOT follow the Transport Header Stream."
 */
enum rr_payload
rr_rdma2_payload(uint32_t proc)
{
	switch (proc) {
	case RR_RDMA_MSG: return RR_PAYLOAD_ALWAYS;
	case RR_RDMA_OPTIONAL: return RR_PAYLOAD_MAY;
	default: return RR_PAYLOAD_NEVER;
	}
}

/* ---- Reading ---- */

static enum rr_header_result
get_error(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header)
{
	header->err = rpcrdma_get_u32(reader);
	switch (header->err) {
	case RR_ERR_VERS:
		header->vers_low = rpcrdma_get_u32(reader);
		header->vers_high = rpcrdma_get_u32(reader);
		break;
	case RR_ERR_BAD_HEADER:
	case RR_ERR_INVAL_OPTION: break;
	default: return RR_HEADER_MALFORMED;
	}
	return reader->failed ? RR_HEADER_MALFORMED : RR_HEADER_OK;
}

static enum rr_header_result
get_optional(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header)
{
	header->opttype = rpcrdma_get_u32(reader);
	header->optinfo = rpcrdma_get_bytes(reader, UINT32_MAX);
	return reader->failed ? RR_HEADER_MALFORMED : RR_HEADER_OK;
}

static enum rr_header_result
get_body(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists)
{
	switch (header->proc) {
	case RR_RDMA_MSG:
	case RR_RDMA_NOMSG: return rr_rdma_get_lists(reader, lists);
	case RR_RDMA_MSGP:
	case RR_RDMA_DONE: return RR_HEADER_OK;
	case RR_RDMA_ERROR: return get_error(reader, header);
	case RR_RDMA_OPTIONAL: return get_optional(reader, header);
	default: return RR_HEADER_MALFORMED;
	}
}

/* The least octets of a message, by the XDR of its procedure. */
static size_t
least_size(uint32_t proc)
{
	switch (proc) {
	case RR_RDMA_MSGP:
	case RR_RDMA_DONE: return RR_RDMA_FIXED_SIZE;
	case RR_RDMA_ERROR: return ERROR_SIZE_MIN;
	case RR_RDMA_OPTIONAL: return RR_RDMA_OPTIONAL_MIN;
	default: return RR_RDMA_HEADER_MIN;
	}
}

static bool
is_payload_wrong(uint32_t proc, bool follows)
{
	enum rr_payload payload = rr_rdma2_payload(proc);

	return payload == (follows ? RR_PAYLOAD_NEVER : RR_PAYLOAD_ALWAYS);
}

enum rr_header_result
rr_rdma2_get_header(
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists)
{
	size_t size = rpcrdma_xdr_left(reader);
	enum rr_header_result result;

	rr_rdma_clear_lists(lists);
	/* 4.2: "Error handling works the same way in RPC-over-RDMA Version Two as it does in RPC-over-RDMA
	 * Version One", and so what is too short to be a header is discarded. */
	if (!rr_rdma_get_fixed(reader, header) || size < least_size(header->proc))
		return RR_HEADER_SHORT;
	if (header->vers != RR_RPCRDMA_VERSION_2)
		return RR_HEADER_VERS;
	result = get_body(reader, header, lists);
	if (result == RR_HEADER_OK && is_payload_wrong(header->proc, rpcrdma_xdr_left(reader) > 0))
		return RR_HEADER_MALFORMED;
	return result;
}

/* ---- Writing ---- */

static void
put_error(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header)
{
	rpcrdma_put_u32(writer, header->err);
	switch (header->err) {
	case RR_ERR_VERS:
		rpcrdma_put_u32(writer, header->vers_low);
		rpcrdma_put_u32(writer, header->vers_high);
		break;
	case RR_ERR_BAD_HEADER:
	case RR_ERR_INVAL_OPTION: break;
	default: rpcrdma_xdr_writer_fail(writer);
	}
}

void
rr_rdma2_put_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists)
{
	rr_rdma_put_fixed(writer, header);
	switch (header->proc) {
	case RR_RDMA_MSG:
	case RR_RDMA_NOMSG: rr_rdma_put_lists(writer, lists); break;
	case RR_RDMA_MSGP:
	case RR_RDMA_DONE: break;
	case RR_RDMA_ERROR: put_error(writer, header); break;
	case RR_RDMA_OPTIONAL:
		rpcrdma_put_u32(writer, header->opttype);
		rpcrdma_put_bytes(writer, header->optinfo, UINT32_MAX);
		break;
	default: rpcrdma_xdr_writer_fail(writer);
	}
}

/* ---- Either version ---- */

enum rr_header_result
rr_rdma_get_any_header(struct rpcrdma_xdr_reader *reader, uint32_t highest, struct rr_rdma_header *header,
	struct rr_chunk_lists *lists)
{
	struct rpcrdma_xdr_reader ahead = *reader;

	rr_rdma_get_fixed(&ahead, header);
	if (header->vers == RR_RPCRDMA_VERSION_2 && highest >= RR_RPCRDMA_VERSION_2)
		return rr_rdma2_get_header(reader, header, lists);
	return rr_rdma_get_header(reader, header, lists);
}

void
rr_rdma_put_any_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists)
{
	if (header->vers == RR_RPCRDMA_VERSION_2)
		rr_rdma2_put_header(writer, header, lists);
	else
		rr_rdma_put_header(writer, header, lists);
}
