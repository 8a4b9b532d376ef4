/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the transport header of version 2, and chooses between the versions. */
#include "wire/rpcrdma2.h"

#include "base/endian.h"
#include "wire/rpcrdma1.h"

/* The octets of an RDMA_ERROR without a range of versions. */
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

/* Reads the rest of an RDMA_ERROR of version 2, behind the four words that begin every header: the error and,
 * for RDMA_ERR_VERS, the range of versions that the peer supports. An unknown error is malformed. */
static enum rr_header_result
rdma2_get_error(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header)
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

/* Reads the rest of an RDMA_OPTIONAL, behind the four words that begin every header: the type and its opaque
 * data. header->optinfo then points into the message. */
static enum rr_header_result
rdma2_get_optional(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header)
{
	header->opttype = rpcrdma_get_u32(reader);
	header->optinfo = rpcrdma_get_bytes(reader, UINT32_MAX);
	return reader->failed ? RR_HEADER_MALFORMED : RR_HEADER_OK;
}

/* Reads the rest of a header of version 2, behind the four words that begin every header, as its procedure
 * demands. An unknown procedure is malformed. */
static enum rr_header_result
rdma2_get_body(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists)
{
	switch (header->proc) {
	case RR_RDMA_MSG:
	case RR_RDMA_NOMSG: return rr_rdma_get_lists(reader, lists);
	case RR_RDMA_MSGP:
	case RR_RDMA_DONE: return RR_HEADER_OK;
	case RR_RDMA_ERROR: return rdma2_get_error(reader, header);
	case RR_RDMA_OPTIONAL: return rdma2_get_optional(reader, header);
	default: return RR_HEADER_MALFORMED;
	}
}

/* Whether a message has an RPC payload although its procedure proc forbids that, or has none although its
 * procedure requires one. follows says whether a payload follows the header. */
static bool
rdma2_is_payload_wrong(uint32_t proc, bool follows)
{
	enum rr_payload payload = rr_rdma2_payload(proc);

	return payload == (follows ? RR_PAYLOAD_NEVER : RR_PAYLOAD_ALWAYS);
}

/* Reads the rest of a header of version 2, behind the four words that begin every header. The message is
 * malformed also if it has an RPC payload that its procedure forbids, or lacks one that its procedure
 * requires. */
static enum rr_header_result
rdma2_get_rest(struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists)
{
	enum rr_header_result result = rdma2_get_body(reader, header, lists);

	if (result == RR_HEADER_OK && rdma2_is_payload_wrong(header->proc, rpcrdma_xdr_left(reader) > 0))
		return RR_HEADER_MALFORMED;
	return result;
}

enum rr_header_result
rr_rdma2_get_header(
	struct rpcrdma_xdr_reader *reader, struct rr_rdma_header *header, struct rr_chunk_lists *lists)
{
	return rr_rdma_get_of(&rr_rdma_version_2, reader, header, lists);
}

/* ---- Writing ---- */

/* Writes the rest of an RDMA_ERROR of version 2, behind the four words that begin every header. The writer
 * fails for an error that version 2 does not have. */
static void
rdma2_put_error(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header)
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
	case RR_RDMA_ERROR: rdma2_put_error(writer, header); break;
	case RR_RDMA_OPTIONAL:
		rpcrdma_put_u32(writer, header->opttype);
		rpcrdma_put_bytes(writer, header->optinfo, UINT32_MAX);
		break;
	default: rpcrdma_xdr_writer_fail(writer);
	}
}

const struct rr_rdma_version rr_rdma_version_2 = {
	.number = RR_RPCRDMA_VERSION_2,
	.procs = { "RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP", "RDMA_DONE", "RDMA_ERROR", "RDMA_OPTIONAL" },
	.errs = { [RR_ERR_VERS] = "RDMA_ERR_VERS",
		[RR_ERR_BAD_HEADER] = "RDMA_ERR_BAD_HEADER",
		[RR_ERR_INVAL_OPTION] = "RDMA_ERR_INVAL_OPTION" },
	/* The least octets that the XDR of each procedure takes. */
	.least = { RR_RDMA_HEADER_MIN, RR_RDMA_HEADER_MIN, RR_RDMA_FIXED_SIZE, RR_RDMA_FIXED_SIZE,
		ERROR_SIZE_MIN, RR_RDMA_OPTIONAL_MIN },
	.get = rdma2_get_rest,
	.put = rr_rdma2_put_header,
};

/* ---- Either version ---- */

enum { VERSION_AT = 4 }; /* octets in front of rdma_vers */

const struct rr_rdma_version *
rr_rdma_version(uint32_t number)
{
	switch (number) {
	case RR_RPCRDMA_VERSION_1: return &rr_rdma_version_1;
	case RR_RPCRDMA_VERSION_2: return &rr_rdma_version_2;
	default: return NULL;
	}
}

/* Returns the version of RPC-over-RDMA whose names of procedures and errors are used for version `number`:
 * that version itself, or version 1 if the number is unknown. */
static const struct rr_rdma_version *
rdma2_version_for_names(uint32_t number)
{
	const struct rr_rdma_version *version = rr_rdma_version(number);

	return version ? version : &rr_rdma_version_1;
}

const char *
rr_rdma_proc_name(uint32_t vers, uint32_t proc)
{
	const char *name = proc <= RR_RDMA_OPTIONAL ? rdma2_version_for_names(vers)->procs[proc] : NULL;

	return name ? name : "unknown procedure";
}

const char *
rr_rdma_err_name(uint32_t vers, uint32_t err)
{
	const char *name = err <= RR_ERR_INVAL_OPTION ? rdma2_version_for_names(vers)->errs[err] : NULL;

	return name ? name : "unknown error";
}

enum rr_header_result
rr_rdma_get_any_header(struct rpcrdma_xdr_reader *reader, uint32_t highest, struct rr_rdma_header *header,
	struct rr_chunk_lists *lists)
{
	const struct rr_rdma_version *version = NULL;
	uint32_t number;

	if (rpcrdma_xdr_left(reader) >= RR_RDMA_FIXED_SIZE) {
		number = rr_get_be32(reader->next + VERSION_AT);
		version = number <= highest ? rr_rdma_version(number) : NULL;
	}
	/* A message of an unknown version must have the sizes of version 1 at least. */
	return rr_rdma_get_of(version ? version : &rr_rdma_version_1, reader, header, lists);
}

void
rr_rdma_put_any_header(struct rpcrdma_xdr_writer *writer, const struct rr_rdma_header *header,
	const struct rr_chunk_lists *lists)
{
	const struct rr_rdma_version *version = rr_rdma_version(header->vers);

	(version ? version : &rr_rdma_version_1)->put(writer, header, lists);
}
