/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_REPORT_H
#define RR_TOOL_REPORT_H

#include <stdio.h>

#include "gateway/gateway.h"
#include "rpc/server.h"
#include "server/nfs4/server.h"
#include "vfs/gate.h"

/* Reports of counters and latencies, as text or as JSON. */

/* Writes the counters as a JSON object. */
void rr_report_counters_json(FILE *out, const struct rpcrdma_counters *counters);
/* Writes the latency as a JSON object, or null if latency is NULL. "buckets" has a pair [upper limit in
 * microseconds, number of calls] for each bucket that is not empty. */
void rr_report_latency_json(FILE *out, const struct rpcrdma_latency *latency);

/* Writes what protects a connection: "plain", or the version of TLS and its cipher suite. The second function
 * writes members of a JSON object, with a comma in front. */
void rr_report_security(FILE *out, const struct rpcrdma_negotiated *negotiated);
void rr_report_security_json(FILE *out, const struct rpcrdma_negotiated *negotiated);
/* Writes the flavor of a client's calls, and the user whom it proves: "krb5p, as alice@EXAMPLE.ORG". */
void rr_report_flavor(FILE *out, const struct rpcrdma_negotiated *negotiated);

/* Writes the counts of a server with `count` services: its connections, the counters that are not 0, and the
 * procedures that were called. Writes all at once, so that the lines of several threads do not mix. */
void rr_report_server(FILE *out, uint32_t thread, const struct rpcrdma_server *server,
	const struct rr_service *services, uint32_t count);

/* Writes the counts of the operations in COMPOUNDs that the server has executed. server may be NULL. */
void rr_report_operations(FILE *out, const struct rr_nfs4_server *server);

/* Writes what clients did in each export that was used. The gate counts (gate->counts). */
void rr_report_exports(FILE *out, const struct rr_gate *gate);

/* Writes the counts of a gateway all at once, so that the lines of several threads do not mix. */
void rr_report_gateway(FILE *out, uint32_t thread, const struct rr_gateway *gateway);

#endif
