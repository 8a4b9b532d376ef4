/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes the arguments of a COMPOUND, operation by operation. */
#include "server/nfs4/args.h"

#include <string.h>

#include "base/checked.h"
#include "base/endian.h"

enum { ARGS_DIGEST_MAX = 512 };

/* Returns the number of the next operation, and leaves the reader in front of it. Returns 0 if fewer than
 * four octets are left. */
static uint32_t
args_peek(const struct rpcrdma_xdr_reader *reader)
{
	return rpcrdma_xdr_left(reader) < 4 ? 0 : rr_get_be32(reader->next);
}

/* Returns an FNV-1a hash of `length` and of the data. To be fast, it reads at most the first ARGS_DIGEST_MAX
 * octets, and takes eight octets at a time. XDR data has a multiple of four octets, so the last step may take
 * four. */
static uint64_t
args_digest(const uint8_t *data, size_t length)
{
	const uint8_t *end = data + rr_min(length, ARGS_DIGEST_MAX);
	uint64_t hash = UINT64_C(14695981039346656037) ^ length;

	for (; end - data >= 8; data += 8)
		hash = (hash ^ rr_get_be64(data)) * UINT64_C(1099511628211);
	return end - data >= 4 ? (hash ^ rr_get_be32(data)) * UINT64_C(1099511628211) : hash;
}

/*
 * Ends the decoding, and stores in args that operation `number` fails with the error `fault`; NFS4_OK: no
 * operation is at fault, the rest of the arguments is just not decoded. The operations in front are still
 * executed. But if Read chunks hold data of an operation that is not decoded, this data stays unread, and the
 * whole call is refused: RFC 8166, 6.1: "The Responder MUST NOT process this RPC Call message".
 */
static void
args_fault(struct rpcrdma_xdr_reader *reader, struct rr_nfs4_args *args, nfsstat4 fault, uint32_t number)
{
	args->fault = fault;
	args->fault_op = number;
	reader->failed = false;
	reader->next = reader->end;
}

/* Tells whether an OPEN has what version 4.0 does not define: RFC 7531 has no EXCLUSIVE4_1, and no claims of
 * the current filehandle. */
static bool
args_is_later(const nfs_argop4 *op)
{
	const OPEN4args *open = &op->u.opopen;

	if (op->argop != OP_OPEN)
		return false;
	return open->claim.claim > CLAIM_DELEGATE_PREV ||
	       (open->openhow.opentype == OPEN4_CREATE && open->openhow.u.how.mode == EXCLUSIVE4_1);
}

/* Decodes the next operation into args->ops and returns true. Returns false if there is no further operation,
 * its number is unknown, or it does not decode; the error is then in args->fault. */
static bool
args_operation(struct rpcrdma_xdr_reader *reader, struct rr_nfs4_args *args)
{
	uint32_t number = args_peek(reader);

	if (rpcrdma_xdr_left(reader) < 4) {
		args_fault(reader, args, NFS4ERR_BADXDR, OP_ILLEGAL);
		return false;
	}
	if (!rr_nfs4_minor_has(args->minor, number)) {
		args_fault(reader, args, NFS4ERR_OP_ILLEGAL, OP_ILLEGAL);
		return false;
	}
	nfs42_get_nfs_argop4(reader, &args->ops[args->decoded]);
	if (reader->failed || (!args->minor->sessions && args_is_later(&args->ops[args->decoded]))) {
		args_fault(reader, args, NFS4ERR_BADXDR, number);
		return false;
	}
	args->decoded++;
	return true;
}

void
rr_nfs4_get_args(struct rpcrdma_xdr_reader *reader, void *value)
{
	struct rr_nfs4_args *args = value;
	uint32_t known;

	args->tag = rpcrdma_get_bytes(reader, RR_NFS4_TAG_MAX);
	args->minor = rr_nfs4_minor(rpcrdma_get_u32(reader));
	args->count = rpcrdma_get_count(reader, UINT32_MAX, 4);
	if (reader->failed)
		return;
	known = (uint32_t)rr_min(args->count, RR_NFS4_OPERATIONS);
	args->ops = known > 0 ? rpcrdma_get_array(reader, known, sizeof(*args->ops)) : NULL;
	if (reader->failed)
		return;
	/* RFC 8881, 16.2.3: "the NFS4ERR_MINOR_VERS_MISMATCH error takes precedence over all other errors."
	 * So of a COMPOUND of another minor version only the number of the version is used. The reader moves
	 * to the end, so that no operation is decoded. */
	if (!args->minor)
		args_fault(reader, args, NFS4_OK, 0);
	while (args->decoded < known && reader->next < reader->end) {
		if (!args_operation(reader, args))
			return;
		if (args->decoded == 1)
			args->digest = args_digest(reader->next, rpcrdma_xdr_left(reader));
	}
	if (args->decoded < known && args->minor)
		args_fault(reader, args, NFS4ERR_BADXDR, OP_ILLEGAL);
	/* No session allows more than RR_NFS4_OPERATIONS operations, and version 4.0 none here, so the first
	 * operation of this COMPOUND will fail, and the others are not needed. */
	if (args->count > known)
		args_fault(reader, args, NFS4_OK, 0);
}
