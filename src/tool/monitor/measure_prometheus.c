/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text format of Prometheus, 0.0.4. Names follow the conventions of Prometheus: base units (seconds,
 * bytes), and "_total" at the end of the name of each counter. All lines of a family follow each other.
 */
#include <inttypes.h>
#include <rpcrdma/version.h>
#include <stddef.h>

#include "tool/monitor/measure.h"

/* Begins a family: writes its help and its type. */
static void
prometheus_family(FILE *out, const char *type, const char *name, const char *help)
{
	fprintf(out, "# HELP rpcrdma_%s %s\n# TYPE rpcrdma_%s %s\n", name, help, name, type);
}

/* Writes a gauge without labels. */
static void
prometheus_gauge(FILE *out, const char *name, const char *help, uint64_t value)
{
	prometheus_family(out, "gauge", name, help);
	fprintf(out, "rpcrdma_%s %" PRIu64 "\n", name, value);
}

/* ---- Counters of the library ---- */

/* The family of each counter, in the order of the members of struct rpcrdma_counters. */
static const struct {
	const char *name, *help;
	bool is_time; /* the counter counts ns, the family seconds */
} families[] = {
	{ "calls_total", "RPC calls received from clients, or sent to the server." },
	{ "replies_total", "RPC replies sent to clients, or received from the server." },
	{ "inline_messages_total", "Messages that travelled as a whole in one Send." },
	{ "long_calls_total", "Calls as a position-zero Read chunk." },
	{ "long_replies_total", "Replies in a Reply chunk." },
	{ "read_chunks_total", "Read chunks of data that were used." },
	{ "write_chunks_total", "Write chunks of data that were used." },
	{ "inline_bytes_total", "Bytes of messages sent and received by Send, or over TCP." },
	{ "rdma_read_bytes_total", "Bytes of messages moved by RDMA Read." },
	{ "rdma_write_bytes_total", "Bytes of messages moved by RDMA Write." },
	{ "registrations_total", "Registrations of memory." },
	{ "invalidations_total", "Invalidations of memory by this side." },
	{ "remote_invalidations_total", "Invalidations of memory by the peer." },
	{ "credit_waits_total", "Calls that waited for a credit." },
	{ "credit_wait_seconds_total", "Time during which calls waited for a credit.", true },
	{ "memory_waits_total", "Calls that waited for payload memory." },
	{ "memory_wait_seconds_total", "Time during which calls waited for payload memory.", true },
	{ "errors_sent_total", "RDMA_ERROR messages sent." },
	{ "errors_received_total", "RDMA_ERROR messages received." },
	{ "discarded_total", "Messages that could not be used." },
	{ "why_arguments_total", "Read chunks, as a call with its argument did not fit inline." },
	{ "why_stream_total", "Long calls, as a call without a data item did not fit inline." },
	{ "why_rest_total", "Long calls, as a call did not fit inline even without its data items." },
	{ "why_sinks_total", "Calls with Write chunks, as the reply might not fit inline with its results." },
	{ "why_reply_total", "Calls with a Reply chunk, as the stream of the reply might not fit inline." },
	{ "why_many_total", "Calls with a Reply chunk, as the reply had more results than Write chunks." },
	{ "rdma_reads_total", "RDMA Reads posted." },
	{ "rdma_writes_total", "RDMA Writes posted." },
	{ "err_vers_sent_total", "ERR_VERS errors sent, among all RDMA_ERROR messages." },
	{ "err_vers_received_total", "ERR_VERS errors received, among all RDMA_ERROR messages." },
	{ "overruns_total", "Calls of a peer beyond the credits that it was granted." },
	{ "bad_replies_total", "Discarded messages that were no valid reply to the call with their XID." },
	{ "repeats_total", "Calls answered out of the duplicate request cache." },
	{ "replies_left_total",
		"Calls without a Reply chunk, so that the responder provides large replies." },
	{ "provided_replies_total", "Replies in a Read chunk of the responder." },
	{ "provided_refused_total",
		"Replies that became errors, as no Read chunk could be exposed for them." },
	{ "provided_timeouts_total", "Read chunks withdrawn, as the requester had not read them in time." },
	{ "done_sent_total", "RDMA_DONE messages sent." },
	{ "done_received_total", "RDMA_DONE messages received." },
	{ "done_unmatched_total", "RDMA_DONE messages received that named no Read chunk." },
	{ "err_inval_option_sent_total", "RDMA_ERR_INVAL_OPTION errors sent." },
	{ "err_inval_option_received_total", "RDMA_ERR_INVAL_OPTION errors received." },
};

/* Writes the value of a counter, for the connections on one side: those of clients, or those of a gateway to
 * its server. */
static void
prometheus_side(FILE *out, uint32_t index, const char *side, const struct rpcrdma_counters *counters)
{
	uint64_t value = rpcrdma_counter_value(counters, index);

	fprintf(out, "rpcrdma_%s{side=\"%s\"} ", families[index].name, side);
	if (families[index].is_time)
		fprintf(out, "%.9f\n", (double)value / RR_SECOND);
	else
		fprintf(out, "%" PRIu64 "\n", value);
}

static void
prometheus_counters(FILE *out, const struct rr_measure *measure)
{
	_Static_assert(sizeof(families) / sizeof(*families) ==
			       (sizeof(measure->counters) - offsetof(struct rpcrdma_counters, calls)) /
				       sizeof(measure->counters.calls),
		"a family for each counter");
	for (uint32_t i = 0; rpcrdma_counter_name(i); i++) {
		prometheus_family(out, "counter", families[i].name, families[i].help);
		prometheus_side(out, i, "client", &measure->counters);
		if (measure->is_gateway)
			prometheus_side(out, i, "server", &measure->server_side);
	}
}

/* ---- Procedures and operations ---- */

/* Writes the times of calls as a histogram of Prometheus: the count of each bucket includes the calls of all
 * smaller buckets, and the bucket's upper limit is written in seconds. labels: those that all lines have. */
static void
prometheus_histogram(FILE *out, const char *family, const char *labels, const struct rpcrdma_latency *latency)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i + 1 < RPCRDMA_LATENCY_BUCKETS; i++) {
		sum += latency->buckets[i];
		fprintf(out, "rpcrdma_%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", family, labels,
			(double)(UINT64_C(1) << i) / 1e6, sum);
	}
	fprintf(out,
		"rpcrdma_%s_bucket{%s,le=\"+Inf\"} %" PRIu64
		"\nrpcrdma_%s_sum{%s} %.9f\nrpcrdma_%s_count{%s} "
		"%" PRIu64 "\n",
		family, labels, latency->calls, family, labels, (double)latency->sum_ns / RR_SECOND, family,
		labels, latency->calls);
}

/* Enough for the names of a program and a procedure of a schema. */
enum { PROMETHEUS_LABELS = 512 };

/* Writes the labels of a procedure. Returns labels. */
static const char *
prometheus_labels(char labels[PROMETHEUS_LABELS], const struct rr_measure_procedure *procedure)
{
	const char *name = procedure->program->procedures[procedure->number].name;

	snprintf(labels, PROMETHEUS_LABELS, "program=\"%s\",procedure=\"%s\"", procedure->program->name,
		name ? name : "NULL");
	return labels;
}

static void
prometheus_procedures(FILE *out, const struct rr_measure *measure)
{
	char labels[PROMETHEUS_LABELS];

	prometheus_family(out, "histogram", "procedure_seconds",
		"Time from the arrival of a call of the procedure to its reply.");
	for (uint32_t i = 0; i < measure->procedure_count; i++)
		prometheus_histogram(out, "procedure_seconds",
			prometheus_labels(labels, &measure->procedures[i]), &measure->procedures[i].latency);
	prometheus_family(out, "counter", "procedure_errors_total",
		"Calls of the procedure that were answered by an error of RPC.");
	for (uint32_t i = 0; i < measure->procedure_count; i++)
		fprintf(out, "rpcrdma_procedure_errors_total{%s} %" PRIu64 "\n",
			prometheus_labels(labels, &measure->procedures[i]),
			measure->procedures[i].latency.errors);
}

static void
prometheus_operations(FILE *out, const struct rr_measure *measure)
{
	char labels[PROMETHEUS_LABELS];

	prometheus_family(out, "histogram", "nfs4_operation_seconds",
		"Time of an operation in COMPOUNDs of NFS version 4, from its beginning to its end.");
	for (uint32_t i = 0; i < RR_NFS4_COUNTS; i++) {
		if (measure->operations[i].calls == 0)
			continue;
		snprintf(labels, sizeof(labels), "operation=\"%s\"", rr_nfs4_counted_name(i));
		prometheus_histogram(out, "nfs4_operation_seconds", labels, &measure->operations[i]);
	}
	prometheus_family(out, "counter", "nfs4_operation_errors_total",
		"Operations in COMPOUNDs of NFS version 4 that ended with another status than NFS4_OK.");
	for (uint32_t i = 0; i < RR_NFS4_COUNTS; i++)
		if (measure->operations[i].calls > 0)
			fprintf(out, "rpcrdma_nfs4_operation_errors_total{operation=\"%s\"} %" PRIu64 "\n",
				rr_nfs4_counted_name(i), measure->operations[i].errors);
}

/* ---- Exports ---- */

/* Writes a text as the value of a label. Exposition formats: "label_value can be any sequence of UTF-8
 * characters, but the backslash (\), double-quote ("), and line feed (\n) characters have to be escaped". */
static void
prometheus_value(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else
			fprintf(out, "%s%c", *text == '\\' || *text == '"' ? "\\" : "", *text);
	}
}

/* Writes a family with one of the counts of each export, which is at `place` in struct rr_gate_count. */
static void
prometheus_export_family(
	FILE *out, const struct rr_measure *measure, const char *name, const char *help, size_t place)
{
	prometheus_family(out, "counter", name, help);
	for (uint32_t i = 0; i < measure->export_count; i++) {
		const char *count = (const char *)&measure->exports[i].count;

		fprintf(out, "rpcrdma_%s{export=\"", name);
		prometheus_value(out, measure->exports[i].name);
		fprintf(out, "\"} %" PRIu64 "\n", *(const uint64_t *)(const void *)(count + place));
	}
}

static void
prometheus_exports(FILE *out, const struct rr_measure *measure)
{
	prometheus_export_family(out, measure, "export_calls_total",
		"Calls in the export; a COMPOUND is one in each export in which it works.",
		offsetof(struct rr_gate_count, calls));
	prometheus_export_family(out, measure, "export_read_bytes_total",
		"Bytes of files that clients have read in the export.",
		offsetof(struct rr_gate_count, octets_read));
	prometheus_export_family(out, measure, "export_written_bytes_total",
		"Bytes of files that clients have written in the export.",
		offsetof(struct rr_gate_count, octets_written));
}

/* ---- Connections ---- */

/* Returns the value of a label: "" for a connection without TLS. */
static const char *
prometheus_text(const char *text)
{
	return text ? text : "";
}

/* Writes the number of connections, and metrics of each connection that is in the measure's list. */
static void
prometheus_connections(FILE *out, const struct rr_measure *measure)
{
	prometheus_gauge(out, "connections", "Connections of clients that are open.", measure->connections);
	prometheus_family(out, "counter", "connection_calls_total", "Calls that came over the connection.");
	for (uint32_t i = 0; i < measure->connection_count; i++)
		fprintf(out,
			"rpcrdma_connection_calls_total{peer=\"%s\",fabric=\"%s\",version=\"%" PRIu32
			"\",tls=\"%s\",cipher=\"%s\"} %" PRIu64 "\n",
			measure->list[i].peer, measure->list[i].fabric, measure->list[i].version,
			prometheus_text(measure->list[i].security.tls),
			prometheus_text(measure->list[i].security.tls_cipher),
			measure->list[i].counters.calls);
	prometheus_family(out, "counter", "connection_bytes_total",
		"Bytes of messages moved over the connection: inline, by RDMA Read, by RDMA Write.");
	for (uint32_t i = 0; i < measure->connection_count; i++) {
		const struct rr_measure_connection *connection = &measure->list[i];

		fprintf(out,
			"rpcrdma_connection_bytes_total{peer=\"%s\",path=\"inline\"} %" PRIu64
			"\nrpcrdma_connection_bytes_total{peer=\"%s\",path=\"read\"} %" PRIu64
			"\nrpcrdma_connection_bytes_total{peer=\"%s\",path=\"write\"} %" PRIu64 "\n",
			connection->peer, connection->counters.octets_inline, connection->peer,
			connection->counters.octets_rdma_read, connection->peer,
			connection->counters.octets_rdma_write);
	}
	prometheus_family(out, "gauge", "connection_credits", "Credits granted to the client.");
	for (uint32_t i = 0; i < measure->connection_count; i++)
		fprintf(out, "rpcrdma_connection_credits{peer=\"%s\"} %" PRIu32 "\n", measure->list[i].peer,
			measure->list[i].credits_granted);
}

/* ---- The whole ---- */

static void
prometheus_memory(FILE *out, const struct rr_measure *measure)
{
	prometheus_gauge(out, "memory_max_bytes", "Limit of payload memory.", measure->memory_max);
	prometheus_family(out, "gauge", "memory_bytes", "Payload memory in use.");
	fprintf(out,
		"rpcrdma_memory_bytes{of=\"arrivals\"} %" PRIu64
		"\nrpcrdma_memory_bytes{of=\"results\"} %" PRIu64
		"\nrpcrdma_memory_bytes{of=\"replies\"} %" PRIu64 "\n",
		measure->arrivals, measure->results, measure->replies);
}

static void
prometheus_state(FILE *out, const struct rr_nfs4_held *state)
{
	prometheus_gauge(out, "nfs4_clients", "Clients of NFS version 4.", state->clients);
	prometheus_gauge(out, "nfs4_sessions", "Sessions of NFS version 4.", state->sessions);
	prometheus_gauge(out, "nfs4_opens", "Files that clients of NFS version 4 hold open.", state->opens);
	prometheus_gauge(out, "nfs4_locks", "Locks that clients of NFS version 4 hold.", state->locks);
	prometheus_gauge(out, "nfs4_delegations", "Delegations that clients of NFS version 4 hold.",
		state->delegations);
	prometheus_gauge(
		out, "nfs4_grace", "1 in the time in which clients reclaim what they held.", state->grace);
}

void
rr_measure_prometheus(FILE *out, const struct rr_measure *measure)
{
	prometheus_family(out, "gauge", "info", "The command that runs, and its version.");
	fprintf(out, "rpcrdma_info{command=\"%s\",version=\"%s\"} 1\n", measure->command, RPCRDMA_VERSION);
	prometheus_gauge(out, "up_seconds", "Time since the service began.", measure->up / RR_SECOND);
	prometheus_gauge(out, "threads", "Threads that serve.", measure->threads);
	prometheus_gauge(
		out, "silent_threads", "Threads that did not answer, and are not counted.", measure->silent);
	prometheus_connections(out, measure);
	prometheus_counters(out, measure);
	prometheus_procedures(out, measure);
	prometheus_operations(out, measure);
	prometheus_exports(out, measure);
	prometheus_memory(out, measure);
	if (measure->has_state)
		prometheus_state(out, &measure->state);
}
