/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_RESULT_H
#define RR_NFS4_RESULT_H

#include "rpc/server.h"
#include "ulb/nfs42.h"

/*
 * The result of a COMPOUND, encoded operation by operation as they end: its size is known before the next one
 * is executed, and a copy of it is what a session keeps for retries.
 */
struct rr_nfs4_result {
	nfsstat4 status;
	utf8str_cs tag;
	uint32_t count; /* of operations in the stream */
	/* The operations' results, and the marked items that are not in the stream. */
	struct rpcrdma_message message;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
	/* Instead of all of that: a reply that was given before. */
	bool replay;
	COMPOUND4res replayed;
};

/* The codec for struct rpcrdma_procedure. */
void rr_nfs4_put_result(struct rpcrdma_xdr_writer *writer, const void *value);

/* Octets of the COMPOUND4res, those of its items among them. */
uint32_t rr_nfs4_result_size(const struct rr_nfs4_result *result);

/* The COMPOUND4res, items in their places, into memory of rr_nfs4_result_size() octets. */
bool rr_nfs4_result_copy(const struct rr_nfs4_result *result, void *memory, uint32_t size);

/* Makes result the one that is encoded in length octets, which stay where they are; false: no memory in
 * arena. */
bool rr_nfs4_result_replay(
	struct rr_nfs4_result *result, const void *octets, uint32_t length, struct rpcrdma_arena *arena);

#endif
