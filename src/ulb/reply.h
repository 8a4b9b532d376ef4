/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_REPLY_H
#define RR_ULB_REPLY_H

#include <stdbool.h>
#include <stdint.h>

/* The upper-layer binding of NFS version 3 to RPC-over-RDMA: RFC 8267, section 4. */

enum { RR_ULB_NFS3_PROCEDURES = 22 };

/* The binding of a procedure. */
struct rr_ulb_procedure {
	/* The DDP-eligible data items, as TYPE.FIELD; NULL: there is no such item. */
	const char *argument, *result;
	/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.2.2: "The actual size of a READDIR reply is often
	 * unpredictable but is frequently large." */
	bool often_large;
	/* The most octets of the result, as in struct rpcrdma_procedure. It is here, too, because the table
	 * of the schema has the codecs of servers. */
	uint32_t result_max;
};

extern const struct rr_ulb_procedure rr_ulb_nfs3[RR_ULB_NFS3_PROCEDURES];

/* Returns how many octets the results of procedure proc take at most in the stream (reply size estimation,
 * RFC 8267, section 4.1); args are the decoded arguments of the call, of the type that nfs3.x has for them.
 * Data that may travel in a chunk do not count, but their length words do. Returns 0 if the procedure has no
 * results, or if there is no such procedure. */
uint32_t rr_ulb_nfs3_reply_max(uint32_t proc, const void *args);

#endif
