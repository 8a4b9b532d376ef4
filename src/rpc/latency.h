/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_LATENCY_H
#define RR_RPC_LATENCY_H

#include <rpcrdma/engine.h>

/* What is known of the calls of a procedure so far. */
struct rr_history {
	struct rpcrdma_latency latency;
	uint32_t reply; /* octets of the stream of the last reply; 0: there was no reply */
};

/* Counts a call that took ns nanoseconds in the histogram, and whether the call failed. */
void rr_latency_add(struct rpcrdma_latency *latency, uint64_t ns, bool failed);

/* Counts a call that took next to no time, in fewer instructions. */
static inline void
rr_latency_add_brief(struct rpcrdma_latency *latency, bool failed)
{
	latency->calls++;
	latency->errors += failed;
	latency->buckets[0]++;
}

#endif
