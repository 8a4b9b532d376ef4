/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_ARGS_H
#define RR_NFS4_ARGS_H

#include "ulb/nfs42.h"

/*
 * The arguments of a COMPOUND, decoded operation by operation: one that is unknown, or does not decode, fails
 * alone, and those in front of it are executed (RFC 8881, section 15.2). Nothing is allocated but in the
 * arena of the call, and no more operations are decoded than any session may ask for.
 */

enum { RR_NFS4_OPERATIONS = 128 };

struct rr_nfs4_args {
	utf8str_cs tag;
	uint32_t minor;
	uint32_t count; /* of operations, as the peer said; those beyond RR_NFS4_OPERATIONS are not decoded */
	uint32_t decoded; /* operations in ops */
	nfs_argop4 *ops;
	nfsstat4 fault;    /* of the operation behind them: NFS4ERR_OP_ILLEGAL, NFS4ERR_BADXDR, or NFS4_OK */
	uint32_t fault_op; /* its number; OP_ILLEGAL where there is no such operation */
	uint64_t digest;   /* of what stands behind the first operation */
};

/* The codec for struct rpcrdma_procedure. */
void rr_nfs4_get_args(struct rpcrdma_xdr_reader *reader, void *value);

/* Whether there is an operation of that number in the minor version. */
bool rr_nfs4_is_operation(uint32_t number, uint32_t minor);

#endif
