/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_ULB_REPLY_H
#define RR_ULB_REPLY_H

#include <stdbool.h>
#include <stdint.h>

/* The upper-layer binding of NFS version 3 to RPC-over-RDMA: RFC 8267, section 4. */

enum { RR_ULB_NFS3_PROCEDURES = 22 };

struct rr_ulb_procedure {
	/* The DDP-eligible data items, as TYPE.FIELD; NULL where there is none. */
	const char *argument, *result;
	/* draft-cel-nfsv4-rpcrdma-reliable-reply-02, 5.2.2: "The actual size of a READDIR reply is often
	 * unpredictable but is frequently large." */
	bool often_large;
};

extern const struct rr_ulb_procedure rr_ulb_nfs3[RR_ULB_NFS3_PROCEDURES];

/*
 * Reply size estimation (RFC 8267, section 4.1): the octets of stream that the results of procedure proc can
 * have at most, the octets of DDP-eligible items not counted (their length words are). args: what the call is
 * made with. 0 for a procedure without results, and for one that there is not.
 */
uint32_t rr_ulb_nfs3_reply_max(uint32_t proc, const void *args);

#endif
