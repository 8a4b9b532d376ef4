/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_API_COUNTERS_H
#define RR_API_COUNTERS_H

#include <rpcrdma/client.h>

#include "carrier/carrier.h"
#include "rpc/latency.h"

/* The same figures for the public. */
struct rpcrdma_negotiated rr_api_negotiated(const struct rr_negotiated *inner);
struct rpcrdma_counters rr_api_counters(const struct rr_counters *inner);

/* And given to a caller: errors as of rr_config_give(). inner may be NULL: nothing was counted. */
int rr_api_give_counters(struct rpcrdma_counters *counters, const struct rr_counters *inner);
int rr_api_give_latency(struct rpcrdma_latency *latency, const struct rr_latency *inner);

#endif
