/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_ESTIMATE_H
#define RR_ULB_ESTIMATE_H

#include <rpcrdma/xdr.h>

/* Reply size estimation (RFC 8267, sections 3, 4.1, 5.2 and 6.2) from an encoded call, by a walk
 * (ulb/walk.h). */

enum { RR_ESTIMATE_RESULTS = 64 };

/* The size of a reply. */
struct rr_reply_size {
	/* Octets that the results can have in the stream of a successful RPC reply. Marked items do not
	 * count, but their length words do. max is RPCRDMA_XDR_UNBOUNDED if it is not known. */
	uint32_t min, max;
	/* The call lists a directory. draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.2.2: "The actual size of
	 * a READDIR reply is often unpredictable but is frequently large." */
	bool often_large;
	/* The results that may bring a marked item, in their order: for each, the most octets that the item
	 * can have, or RPCRDMA_XDR_UNBOUNDED. Results beyond RR_ESTIMATE_RESULTS are only counted. */
	uint32_t result_count;
	uint32_t results[RR_ESTIMATE_RESULTS];
};

/* Estimates the size of the reply to a call. reader stands at the arguments of a call of procedure proc; the
 * function does not move it. Returns false if the walk fails or there is no such procedure; the size then has
 * the minimum 0 and no maximum. NFS version 4 does not limit some data; the estimate assumes that names of
 * users, groups, servers and network addresses have at most NFS4_OPAQUE_LIMIT octets, and bitmaps at most
 * four words. */
bool rr_ulb_reply_size(const struct rpcrdma_program *program, uint32_t proc,
	const struct rpcrdma_xdr_reader *reader, struct rr_reply_size *size);

#endif
