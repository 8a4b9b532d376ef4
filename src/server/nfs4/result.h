/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_RESULT_H
#define RR_SERVER_NFS4_RESULT_H

#include "rpc/server.h"
#include "ulb/nfs42.h"

/*
 * The result of a COMPOUND, encoded operation by operation as they end: so its size is known before the next
 * operation is executed, and a session can keep a copy of it for retries.
 */
struct rr_nfs4_result {
	nfsstat4 status;
	utf8str_cs tag;
	uint32_t count; /* of operations in the stream */
	/* The encoded results of the operations, and their items: data of READ and READLINK outside of the
	 * stream. */
	struct rpcrdma_message message;
	struct rpcrdma_item items[RR_MESSAGE_ITEMS];
	/* True: the answer is `replayed`, a reply that was given before, and not the members above. */
	bool replay;
	COMPOUND4res replayed;
};

/* Encodes a struct rr_nfs4_result, the result of a COMPOUND. struct rpcrdma_procedure points to this
 * function. */
void rr_nfs4_put_result(struct rpcrdma_xdr_writer *writer, const void *value);

/* Returns the number of octets of the encoded COMPOUND4res, including its items, the data that lies outside
 * the stream. */
uint32_t rr_nfs4_result_size(const struct rr_nfs4_result *result);

/* Encodes the COMPOUND4res, with the data of its items in the stream, into memory of rr_nfs4_result_size()
 * octets. Returns whether that succeeded. */
bool rr_nfs4_result_copy(const struct rr_nfs4_result *result, void *memory, uint32_t size);

/* Makes `result` the reply that `octets` encode, an earlier reply that is given again. The octets must stay
 * where they are, as the result points to them. Returns false if `arena` has too little memory. */
bool rr_nfs4_result_replay(
	struct rr_nfs4_result *result, const void *octets, uint32_t length, struct rpcrdma_arena *arena);

#endif
