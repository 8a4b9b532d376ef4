/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "tool/measure.h"

/* Writes a metric in the text format of Prometheus: a line with its type, and a line with its value. */
static void
prometheus_value(FILE *out, const char *type, const char *name, uint64_t value)
{
	fprintf(out, "# TYPE rpcrdma_%s %s\nrpcrdma_%s %" PRIu64 "\n", name, type, name, value);
}

static void
prometheus_counters(FILE *out, const struct rr_measure *measure)
{
	const char *name;

	for (uint32_t i = 0; (name = rpcrdma_counter_name(i)); i++) {
		fprintf(out,
			"# TYPE rpcrdma_%s_total counter\nrpcrdma_%s_total{side=\"client\"} %" PRIu64 "\n",
			name, name, rpcrdma_counter_value(&measure->counters, i));
		if (measure->is_gateway)
			fprintf(out, "rpcrdma_%s_total{side=\"server\"} %" PRIu64 "\n", name,
				rpcrdma_counter_value(&measure->server_side, i));
	}
}

/* Writes the times of a procedure's calls as a histogram of Prometheus: the count of each bucket includes the
 * calls of all smaller buckets, and the bucket's upper limit is written in seconds. */
static void
prometheus_histogram(FILE *out, const struct rr_measure_procedure *procedure)
{
	const struct rpcrdma_latency *latency = &procedure->latency;
	const char *name = procedure->program->procedures[procedure->number].name;
	const char *program = procedure->program->name;
	uint64_t sum = 0;

	name = name ? name : "NULL";
	for (uint32_t i = 0; i + 1 < RPCRDMA_LATENCY_BUCKETS; i++) {
		sum += latency->buckets[i];
		fprintf(out,
			"rpcrdma_procedure_seconds_bucket{program=\"%s\",procedure=\"%s\",le=\"%g\"} %" PRIu64
			"\n",
			program, name, (double)(UINT64_C(1) << i) / 1e6, sum);
	}
	fprintf(out,
		"rpcrdma_procedure_seconds_bucket{program=\"%s\",procedure=\"%s\",le=\"+Inf\"} %" PRIu64
		"\nrpcrdma_procedure_seconds_sum{program=\"%s\",procedure=\"%s\"} %.9f\n"
		"rpcrdma_procedure_seconds_count{program=\"%s\",procedure=\"%s\"} %" PRIu64 "\n",
		program, name, latency->calls, program, name, (double)latency->sum_ns / 1e9, program, name,
		latency->calls);
}

/* Writes the times of each procedure, as histograms and as percentiles. The lines of one metric must follow
 * each other, so that the list is gone through for each metric. */
static void
prometheus_procedures(FILE *out, const struct rr_measure *measure)
{
	static const unsigned percents[] = { 50, 90, 99 };

	fputs("# TYPE rpcrdma_procedure_seconds histogram\n", out);
	for (uint32_t i = 0; i < measure->procedure_count; i++)
		prometheus_histogram(out, &measure->procedures[i]);
	fputs("# TYPE rpcrdma_procedure_microseconds gauge\n", out);
	for (uint32_t i = 0; i < measure->procedure_count; i++) {
		const struct rr_measure_procedure *procedure = &measure->procedures[i];
		const char *name = procedure->program->procedures[procedure->number].name;

		for (uint32_t j = 0; j < sizeof(percents) / sizeof(percents[0]); j++)
			fprintf(out,
				"rpcrdma_procedure_microseconds{program=\"%s\",procedure=\"%s\",percentile="
				"\"%u\"} %" PRIu64 "\n",
				procedure->program->name, name ? name : "NULL", percents[j],
				rpcrdma_latency_percentile(&procedure->latency, percents[j]));
	}
}

/* Writes the number of connections, and metrics of each connection that is in the measure's list. The lines
 * of one metric must follow each other, so that the list is gone through for each metric. */
static void
prometheus_connections(FILE *out, const struct rr_measure *measure)
{
	prometheus_value(out, "gauge", "connections", measure->connections);
	fputs("# TYPE rpcrdma_connection_calls_total counter\n", out);
	for (uint32_t i = 0; i < measure->connection_count; i++)
		fprintf(out,
			"rpcrdma_connection_calls_total{peer=\"%s\",fabric=\"%s\",version=\"%" PRIu32
			"\"} %" PRIu64 "\n",
			measure->list[i].peer, measure->list[i].fabric, measure->list[i].version,
			measure->list[i].counters.calls);
	fputs("# TYPE rpcrdma_connection_octets_total counter\n", out);
	for (uint32_t i = 0; i < measure->connection_count; i++) {
		const struct rr_measure_connection *connection = &measure->list[i];

		fprintf(out,
			"rpcrdma_connection_octets_total{peer=\"%s\",path=\"inline\"} %" PRIu64
			"\nrpcrdma_connection_octets_total{peer=\"%s\",path=\"read\"} %" PRIu64
			"\nrpcrdma_connection_octets_total{peer=\"%s\",path=\"write\"} %" PRIu64 "\n",
			connection->peer, connection->counters.octets_inline, connection->peer,
			connection->counters.octets_rdma_read, connection->peer,
			connection->counters.octets_rdma_write);
	}
	fputs("# TYPE rpcrdma_connection_credits gauge\n", out);
	for (uint32_t i = 0; i < measure->connection_count; i++)
		fprintf(out, "rpcrdma_connection_credits{peer=\"%s\"} %" PRIu32 "\n", measure->list[i].peer,
			measure->list[i].credits_granted);
}

void
rr_measure_prometheus(FILE *out, const struct rr_measure *measure)
{
	fprintf(out, "# TYPE rpcrdma_info gauge\nrpcrdma_info{command=\"%s\"} 1\n", measure->command);
	prometheus_value(out, "gauge", "up_seconds", measure->up / RR_SECOND);
	prometheus_value(out, "gauge", "threads", measure->threads);
	prometheus_value(out, "gauge", "silent_threads", measure->silent);
	prometheus_connections(out, measure);
	prometheus_counters(out, measure);
	prometheus_procedures(out, measure);
	prometheus_value(out, "gauge", "memory_max_octets", measure->memory_max);
	fprintf(out,
		"# TYPE rpcrdma_memory_octets gauge\nrpcrdma_memory_octets{of=\"arrivals\"} %" PRIu64
		"\nrpcrdma_memory_octets{of=\"results\"} %" PRIu64
		"\nrpcrdma_memory_octets{of=\"replies\"} %" PRIu64 "\n",
		measure->arrivals, measure->results, measure->replies);
	if (!measure->has_state)
		return;
	prometheus_value(out, "gauge", "nfs4_clients", measure->state.clients);
	prometheus_value(out, "gauge", "nfs4_sessions", measure->state.sessions);
	prometheus_value(out, "gauge", "nfs4_opens", measure->state.opens);
	prometheus_value(out, "gauge", "nfs4_locks", measure->state.locks);
	prometheus_value(out, "gauge", "nfs4_delegations", measure->state.delegations);
	prometheus_value(out, "gauge", "nfs4_grace", measure->state.grace);
}
