/* SPDX-License-Identifier: BSD-3-Clause */
/* What was negotiated and counted, as the public has it. */
#include "api/counters.h"

#include "base/config.h"

int
rr_api_give_counters(struct rpcrdma_counters *counters, const struct rpcrdma_counters *mine)
{
	return rr_config_give(counters, mine, sizeof(*mine), sizeof(*mine));
}

int
rr_api_give_latency(struct rpcrdma_latency *latency, const struct rpcrdma_latency *mine)
{
	static const struct rpcrdma_latency none;

	mine = mine ? mine : &none;
	return rr_config_give(latency, mine, sizeof(*mine), sizeof(*mine));
}
