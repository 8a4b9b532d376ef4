/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms of the times that calls took. */
#include "rpc/latency.h"

/* Returns the bucket of the histogram for a time: bucket i counts times from 2^(i-1) to below 2^i
 * microseconds. The last bucket also counts all longer times. */
static uint32_t
latency_bucket_of(uint64_t ns)
{
	uint64_t us = ns / 1000;
	uint32_t bucket = us > 0 ? 64 - (uint32_t)__builtin_clzll(us) : 0;

	return bucket < RPCRDMA_LATENCY_BUCKETS ? bucket : RPCRDMA_LATENCY_BUCKETS - 1;
}

void
rr_latency_add(struct rpcrdma_latency *latency, uint64_t ns, bool failed)
{
	latency->calls++;
	latency->errors += failed;
	latency->sum_ns += ns;
	latency->buckets[latency_bucket_of(ns)]++;
}

uint64_t
rpcrdma_latency_percentile(const struct rpcrdma_latency *latency, unsigned percent)
{
	uint64_t wanted, seen = 0;

	if (!latency || latency->calls == 0)
		return 0;
	wanted = (latency->calls * percent + 99) / 100;
	for (uint32_t i = 0; i < RPCRDMA_LATENCY_BUCKETS; i++) {
		seen += latency->buckets[i];
		if (seen >= wanted)
			return UINT64_C(1) << i;
	}
	return 0;
}
