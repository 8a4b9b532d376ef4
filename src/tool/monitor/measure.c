/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/monitor/measure.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "carrier/counters.h"
#include "tool/report.h"
#include "tool/tool.h"

/* ---- Sums ---- */

void
rr_measure_engine(struct rr_measure *measure, const struct rpcrdma_engine *engine)
{
	measure->arrivals += rr_pool_used(engine->arrivals);
	measure->results += rr_pool_used(engine->results);
	measure->replies += rr_pool_used(engine->pool);
	measure->memory_max += engine->config.memory_max;
}

struct measure_visit {
	struct rr_measure *measure;
	uint32_t thread;
};

/* Called for each connection of a server: adds the connection, with its counters, to the list in
 * visit->measure. Does nothing if the list is full. */
static void
measure_connection(void *ctx, const struct rr_carrier *carrier)
{
	const struct measure_visit *visit = ctx;
	struct rr_measure *measure = visit->measure;
	struct rr_measure_connection *connection = &measure->list[measure->connection_count];
	struct rpcrdma_negotiated negotiated;

	if (measure->connection_count == RR_MEASURE_CONNECTIONS)
		return;
	measure->connection_count++;
	rr_carrier_negotiated(carrier, &negotiated);
	/* Not all of it, as it is large. */
	*connection = (struct rr_measure_connection){ .fabric = negotiated.fabric,
		.security = { .tls = negotiated.tls,
			.tls_cipher = negotiated.tls_cipher,
			.tls_mutual = negotiated.tls_mutual },
		.thread = visit->thread,
		.version = negotiated.version,
		.credits_asked = negotiated.credits_asked,
		.credits_granted = negotiated.credits_granted,
		.counters = carrier->counters };
	memcpy(connection->security.tls_peer, negotiated.tls_peer, sizeof(negotiated.tls_peer));
	snprintf(connection->peer, sizeof(connection->peer), "%s", carrier->peer);
}

static void
measure_add_latency(struct rpcrdma_latency *sum, const struct rpcrdma_latency *latency)
{
	sum->calls += latency->calls;
	sum->errors += latency->errors;
	sum->sum_ns += latency->sum_ns;
	for (uint32_t i = 0; i < RPCRDMA_LATENCY_BUCKETS; i++)
		sum->buckets[i] += latency->buckets[i];
}

/* Adds the counts of a procedure's calls to the counts that the measure has of the same procedure. Does
 * nothing if there were no calls, or if the measure has no room for one more procedure. */
static void
measure_procedure(struct rr_measure *measure, const struct rpcrdma_program *program, uint32_t number,
	const struct rpcrdma_latency *latency)
{
	struct rr_measure_procedure *procedure = NULL;

	if (!latency || latency->calls == 0)
		return;
	for (uint32_t i = 0; i < measure->procedure_count && !procedure; i++)
		if (measure->procedures[i].program == program && measure->procedures[i].number == number)
			procedure = &measure->procedures[i];
	if (!procedure && measure->procedure_count == RR_MEASURE_PROCEDURES)
		return;
	if (!procedure) {
		procedure = &measure->procedures[measure->procedure_count++];
		*procedure = (struct rr_measure_procedure){ .program = program, .number = number };
	}
	measure_add_latency(&procedure->latency, latency);
}

void
rr_measure_server(struct rr_measure *measure, uint32_t thread, const struct rpcrdma_server *server,
	const struct rr_service *services, uint32_t count)
{
	struct measure_visit visit = { measure, thread };
	struct rpcrdma_counters counters;

	rr_server_counters(server, &counters);
	rr_counters_add(&measure->counters, &counters);
	measure->connections += rr_server_connections(server);
	rr_server_each_connection(server, measure_connection, &visit);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < services[i].program->procedure_count; j++)
			measure_procedure(measure, services[i].program, j, rr_server_latency(server, i, j));
}

void
rr_measure_gateway(struct rr_measure *measure, const struct rr_gateway *gateway)
{
	struct rr_gateway_counters counters;

	rr_gateway_counters(gateway, &counters);
	measure->is_gateway = true;
	measure->connections += counters.open;
	measure->gateway.pairs += counters.pairs;
	measure->gateway.calls += counters.calls;
	measure->gateway.callbacks += counters.callbacks;
	measure->gateway.repeated += counters.repeated;
	measure->gateway.failed += counters.failed;
	rr_counters_add(&measure->counters, &counters.client_side);
	rr_counters_add(&measure->server_side, &counters.server_side);
}

void
rr_measure_state(struct rr_measure *measure, struct rr_nfs4_shared *shared)
{
	if (!shared)
		return;
	measure->has_state = true;
	rr_nfs4_held(shared, &measure->state);
}

void
rr_measure_operations(struct rr_measure *measure, const struct rr_nfs4_server *server)
{
	for (uint32_t i = 0; server && i < RR_NFS4_COUNTS; i++)
		measure_add_latency(&measure->operations[i], rr_nfs4_server_latency(server, i));
}

void
rr_measure_exports(struct rr_measure *measure, const struct rr_gate *gate)
{
	const struct rr_vfs *vfs = gate->vfs;

	measure->export_count = (uint32_t)rr_min(vfs->export_count, RR_MEASURE_EXPORTS);
	for (uint32_t i = 0; gate->counts && i < measure->export_count; i++) {
		struct rr_measure_export *export = &measure->exports[i];

		export->name = vfs->exports[i].name;
		export->count.calls += gate->counts[i].calls;
		export->count.octets_read += gate->counts[i].octets_read;
		export->count.octets_written += gate->counts[i].octets_written;
	}
}

/* ---- JSON ---- */

/* Writes the time within which half, 90 and 99 of 100 calls were done, and the latency itself. */
static void
measure_json_times(FILE *out, const struct rpcrdma_latency *latency)
{
	fprintf(out, ",\"us_50\":%" PRIu64 ",\"us_90\":%" PRIu64 ",\"us_99\":%" PRIu64 ",\"latency\":",
		rpcrdma_latency_percentile(latency, 50), rpcrdma_latency_percentile(latency, 90),
		rpcrdma_latency_percentile(latency, 99));
	rr_report_latency_json(out, latency);
}

static void
measure_json_connections(FILE *out, const struct rr_measure *measure)
{
	fprintf(out, ",\"connections\":%" PRIu32 ",\"connection\":[", measure->connections);
	for (uint32_t i = 0; i < measure->connection_count; i++) {
		const struct rr_measure_connection *connection = &measure->list[i];

		fprintf(out, "%s{\"peer\":", i ? "," : "");
		rr_tool_json_string(out, connection->peer);
		rr_report_security_json(out, &connection->security);
		fprintf(out,
			",\"thread\":%" PRIu32 ",\"fabric\":\"%s\",\"version\":%" PRIu32
			",\"credits_asked\":%" PRIu32 ",\"credits_granted\":%" PRIu32 ",\"counters\":",
			connection->thread, connection->fabric, connection->version,
			connection->credits_asked, connection->credits_granted);
		rr_report_counters_json(out, &connection->counters);
		fputc('}', out);
	}
	fputc(']', out);
}

static void
measure_json_procedures(FILE *out, const struct rr_measure *measure)
{
	fputs(",\"procedures\":[", out);
	for (uint32_t i = 0; i < measure->procedure_count; i++) {
		const struct rr_measure_procedure *procedure = &measure->procedures[i];
		const char *name = procedure->program->procedures[procedure->number].name;

		fprintf(out, "%s{\"program\":\"%s\",\"procedure\":\"%s\"", i ? "," : "",
			procedure->program->name, name ? name : "NULL");
		measure_json_times(out, &procedure->latency);
		fputc('}', out);
	}
	fputc(']', out);
}

/* Writes the operations of COMPOUNDs that were executed. */
static void
measure_json_operations(FILE *out, const struct rr_measure *measure)
{
	const char *comma = "";

	fputs(",\"operations\":[", out);
	for (uint32_t i = 0; i < RR_NFS4_COUNTS; i++) {
		if (measure->operations[i].calls == 0)
			continue;
		fprintf(out, "%s{\"operation\":\"%s\"", comma, rr_nfs4_counted_name(i));
		measure_json_times(out, &measure->operations[i]);
		fputc('}', out);
		comma = ",";
	}
	fputc(']', out);
}

static void
measure_json_exports(FILE *out, const struct rr_measure *measure)
{
	fputs(",\"exports\":[", out);
	for (uint32_t i = 0; i < measure->export_count; i++) {
		const struct rr_gate_count *count = &measure->exports[i].count;

		fprintf(out, "%s{\"export\":", i ? "," : "");
		rr_tool_json_string(out, measure->exports[i].name);
		fprintf(out,
			",\"calls\":%" PRIu64 ",\"octets_read\":%" PRIu64 ",\"octets_written\":%" PRIu64 "}",
			count->calls, count->octets_read, count->octets_written);
	}
	fputc(']', out);
}

void
rr_measure_json(FILE *out, const struct rr_measure *measure)
{
	fprintf(out, "{\"command\":\"%s\",\"up_ns\":%" PRIu64 ",\"threads\":%" PRIu32 ",\"silent\":%" PRIu32,
		measure->command, measure->up, measure->threads, measure->silent);
	measure_json_connections(out, measure);
	fputs(",\"counters\":", out);
	rr_report_counters_json(out, &measure->counters);
	if (measure->is_gateway) {
		fprintf(out,
			",\"sessions\":%" PRIu64 ",\"calls\":%" PRIu64 ",\"callbacks\":%" PRIu64
			",\"repeated\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"server_side\":",
			measure->gateway.pairs, measure->gateway.calls, measure->gateway.callbacks,
			measure->gateway.repeated, measure->gateway.failed);
		rr_report_counters_json(out, &measure->server_side);
	}
	measure_json_procedures(out, measure);
	measure_json_operations(out, measure);
	measure_json_exports(out, measure);
	fprintf(out,
		",\"memory\":{\"arrivals\":%" PRIu64 ",\"results\":%" PRIu64 ",\"replies\":%" PRIu64
		",\"max\":%" PRIu64 "}",
		measure->arrivals, measure->results, measure->replies, measure->memory_max);
	if (measure->has_state)
		fprintf(out,
			",\"state\":{\"clients\":%" PRIu32 ",\"sessions\":%" PRIu32 ",\"opens\":%" PRIu32
			",\"locks\":%" PRIu32 ",\"delegations\":%" PRIu32 ",\"grace\":%s}",
			measure->state.clients, measure->state.sessions, measure->state.opens,
			measure->state.locks, measure->state.delegations,
			measure->state.grace ? "true" : "false");
	fputs("}\n", out);
}
