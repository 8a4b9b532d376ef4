/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_EXPECT_H
#define RR_RPC_EXPECT_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of the size of a call's results, from its schema, its arguments, its upper-layer binding
 * and its flavor. */
struct rr_expected {
	/* Octets in the stream; max is RPCRDMA_XDR_UNBOUNDED if it is not known. */
	uint32_t min, max;
	uint32_t last;    /* octets in the stream of the last reply to that procedure; 0: not known */
	bool often_large; /* the binding says that results are often as large as the call allows */
	/* The flavor forbids placing, so results that the binding would have placed are in the stream. */
	bool whole;
};

/* Returns how many octets results are expected to have at least. If these are more than the inline threshold,
 * the caller offers a Reply chunk. If they are fewer, but the maximum is above the threshold, it depends on
 * the responder whether the caller offers one: if the responder can provide a Read chunk, the caller offers
 * none, and a reply that turns out large comes by such a Read chunk; else the caller offers a Reply chunk
 * (enum rr_reply_chunks in carrier/engine.h). */
uint32_t rr_expect_least(const struct rr_expected *expected);

#endif
