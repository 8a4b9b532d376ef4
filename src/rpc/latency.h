/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_RPC_LATENCY_H
#define RR_RPC_LATENCY_H

#include <rpcrdma/engine.h>

/* Adds a call that took ns to the histogram. */
void rr_latency_add(struct rpcrdma_latency *latency, uint64_t ns, bool failed);

#endif
