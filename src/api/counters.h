/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_API_COUNTERS_H
#define RR_API_COUNTERS_H

#include <rpcrdma/client.h>

#include "carrier/carrier.h"
#include "rpc/latency.h"

/* Gives figures to a caller: errors as of rr_config_give(). A latency of NULL: nothing was counted. */
int rr_api_give_counters(struct rpcrdma_counters *counters, const struct rpcrdma_counters *mine);
int rr_api_give_latency(struct rpcrdma_latency *latency, const struct rpcrdma_latency *mine);

#endif
