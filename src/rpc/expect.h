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

/* Returns how many octets results are expected to have at least. The caller stores this number, with the
 * reply's header, in transaction->reply_min. Unless the engine is configured otherwise (enum rr_reply_chunks
 * in carrier/engine.h), the carrier offers a Reply chunk if that is above the inline threshold. If it is
 * below, but the maximum is above, the carrier offers one only if the responder cannot provide a Read chunk.
 */
uint32_t rr_expect_least(const struct rr_expected *expected);

#endif
