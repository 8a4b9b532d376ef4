/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_ARGS_H
#define RR_SERVER_NFS4_ARGS_H

#include "server/nfs4/minor.h"

/*
 * The arguments of a COMPOUND, decoded operation by operation: an operation that is unknown, or does not
 * decode, fails alone, and the operations in front of it are executed (RFC 8881, section 15.2). All memory
 * comes from the arena of the call, and no more operations are decoded than any session may ask for.
 */

/* The most operations, and the most octets of a tag: the reply has the tag again, so a longer one makes the
 * arguments garbage. The tags of known clients have at most 20 octets, and Linux takes at most 128. */
enum { RR_NFS4_OPERATIONS = 128, RR_NFS4_TAG_MAX = 1024 };

struct rr_nfs4_args {
	utf8str_cs tag;                    /* at most RR_NFS4_TAG_MAX octets */
	const struct rr_nfs4_minor *minor; /* NULL: the minor version is not served */
	uint32_t count; /* of operations, as the peer said; those beyond RR_NFS4_OPERATIONS are not decoded */
	uint32_t decoded; /* operations that ops holds */
	nfs_argop4 *ops;
	/* The error of the operation that follows the decoded ones, NFS4ERR_OP_ILLEGAL or NFS4ERR_BADXDR, and
	 * the number of that operation (OP_ILLEGAL if no operation has its number). NFS4_OK: there is no such
	 * error. */
	nfsstat4 fault;
	uint32_t fault_op;
	uint64_t digest; /* hash of the octets behind the first operation: SEQUENCE knows a retry by it */
};

/* Decodes the arguments of a COMPOUND into a struct rr_nfs4_args. struct rpcrdma_procedure points to this
 * function. */
void rr_nfs4_get_args(struct rpcrdma_xdr_reader *reader, void *value);

#endif
