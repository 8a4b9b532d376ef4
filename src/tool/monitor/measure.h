/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_TOOL_MONITOR_MEASURE_H
#define RR_TOOL_MONITOR_MEASURE_H

#include <stdio.h>

#include "gateway/gateway.h"
#include "rpc/server.h"
#include "server/nfs4/server.h"
#include "vfs/gate.h"

/* A measure: the counts of `rpcrdma serve` or `rpcrdma gateway`, summed over all their threads. Its size is
 * fixed. */

/* The most connections, procedures and exports that a measure lists. */
enum { RR_MEASURE_CONNECTIONS = 256, RR_MEASURE_PROCEDURES = 192, RR_MEASURE_EXPORTS = 64 };

/* A connection of a client. version: of RPC-over-RDMA; 0 for TCP. */
struct rr_measure_connection {
	char peer[RR_ADDRESS_TEXT];
	const char *fabric;
	struct rpcrdma_negotiated security; /* its members of TLS */
	uint32_t thread, version, credits_asked, credits_granted;
	struct rpcrdma_counters counters;
};

/* The calls of a procedure, of all threads. */
struct rr_measure_procedure {
	const struct rpcrdma_program *program;
	uint32_t number;
	struct rpcrdma_latency latency;
};

/* The counts of an export, of all threads. */
struct rr_measure_export {
	const char *name;
	struct rr_gate_count count;
};

struct rr_measure {
	const char *command;      /* the name of the sub-command */
	uint64_t up;              /* ns since the beginning of service */
	uint32_t threads, silent; /* silent: threads that did not answer in time, and are not in the sums */
	struct rpcrdma_counters counters;
	bool is_gateway;
	struct rpcrdma_counters server_side; /* of a gateway; `counters` is its client side */
	struct rr_gateway_counters gateway;  /* without the counters of both sides */
	/* All connections that are open; how many of them, and how many procedures, the lists below have. */
	uint32_t connections, connection_count, procedure_count;
	/* The first connections, and the procedures that were called. */
	struct rr_measure_connection list[RR_MEASURE_CONNECTIONS];
	struct rr_measure_procedure procedures[RR_MEASURE_PROCEDURES];
	/* All exports. */
	uint32_t export_count;
	struct rr_measure_export exports[RR_MEASURE_EXPORTS];
	/* The operations in COMPOUNDs of NFS version 4, by their numbers. */
	struct rpcrdma_latency operations[RR_NFS4_COUNTS];
	/* Octets of payload memory: in use, in each of the engines' three pools, and the limit. */
	uint64_t arrivals, results, replies, memory_max;
	/* The state of NFS version 4. */
	bool has_state;
	struct rr_nfs4_held state;
};

/* Adds the memory that the engine of a thread uses to the measure. */
void rr_measure_engine(struct rr_measure *measure, const struct rpcrdma_engine *engine);
/* Adds the counts of the server of a thread, which has `count` services, to the measure. */
void rr_measure_server(struct rr_measure *measure, uint32_t thread, const struct rpcrdma_server *server,
	const struct rr_service *services, uint32_t count);
/* Adds the counts of the gateway of a thread to the measure. */
void rr_measure_gateway(struct rr_measure *measure, const struct rr_gateway *gateway);

/* Adds the numbers of clients, sessions and states of NFS version 4, which all threads share, to the
 * measure. Does nothing if shared is NULL, as version 4 is not served. */
void rr_measure_state(struct rr_measure *measure, struct rr_nfs4_shared *shared);

/* Adds the counts of operations of a thread's server of NFS version 4 to the measure. Does nothing if server
 * is NULL, as version 4 is not served. */
void rr_measure_operations(struct rr_measure *measure, const struct rr_nfs4_server *server);

/* Adds what clients did in the exports, as the gate of a thread has counted it, to the measure. The names are
 * those of the provider behind the gate. */
void rr_measure_exports(struct rr_measure *measure, const struct rr_gate *gate);

/* Writes the measure as a JSON object, with a line feed. */
void rr_measure_json(FILE *out, const struct rr_measure *measure);

/* Writes the measure in the text format of Prometheus, 0.0.4. */
void rr_measure_prometheus(FILE *out, const struct rr_measure *measure);

#endif
