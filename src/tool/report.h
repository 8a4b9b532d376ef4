/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_REPORT_H
#define RR_TOOL_REPORT_H

#include <stdio.h>

#include "gateway/gateway.h"
#include "rpc/server.h"

/* What was counted, as text or as JSON. */

/* One JSON object each. latency may be NULL: null. */
void rr_report_counters_json(FILE *out, const struct rpcrdma_counters *counters);
void rr_report_latency_json(FILE *out, const struct rpcrdma_latency *latency);

/* All of a server of count services, in one write: connections, counters that are not 0, procedures that were
 * called. */
void rr_report_server(FILE *out, uint32_t thread, const struct rpcrdma_server *server,
	const struct rr_service *services, uint32_t count);

/* All of a gateway, likewise. */
void rr_report_gateway(FILE *out, uint32_t thread, const struct rr_gateway *gateway);

#endif
