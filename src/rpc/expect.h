/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_EXPECT_H
#define RR_RPC_EXPECT_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of the results of a call: from its schema, its arguments, its upper-layer binding and its
 * flavor. */
struct rr_expected {
	/* Octets in the stream; max is RPCRDMA_XDR_UNBOUNDED where it cannot be known. */
	uint32_t min, max;
	bool often_large; /* the binding says that results are often as large as the call lets them be */
	bool whole; /* results that the binding would have placed are in the stream: the flavor forbids it */
};

/*
 * The one policy of how a large reply is to travel, for all who call: the octets of results that a requester
 * takes the reply to have at least. Above the inline threshold, a Reply chunk is offered; below, and with a
 * maximum above it, a responder that can provide a Read chunk decides (enum rr_reply_chunks in
 * carrier/engine.h).
 */
uint32_t rr_expect_least(const struct rr_expected *expected);

#endif
