/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_LATENCY_H
#define RR_RPC_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How long the calls of one procedure took: a histogram by powers of two.
 * Bucket 0 counts what took less than 1 us, bucket i what took from 2^(i-1)
 * to less than 2^i us, the last one all that took longer.
 */
enum { RR_LATENCY_BUCKETS = 26 };

struct rr_latency {
	uint64_t calls, errors; /* errors are among the calls */
	uint64_t sum;           /* ns */
	uint64_t buckets[RR_LATENCY_BUCKETS];
};

void rr_latency_add(struct rr_latency *latency, uint64_t ns, bool failed);

/* The upper end, in us, of the bucket in which the call lies than which that many of 100 were not slower; 0
 * where there were no calls. */
uint64_t rr_latency_percentile(const struct rr_latency *latency, unsigned percent);

#endif
