/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/tool.h"

void
rr_report_counters_json(FILE *out, const struct rpcrdma_counters *counters)
{
	const char *name;

	for (uint32_t i = 0; (name = rpcrdma_counter_name(i)); i++)
		fprintf(out, "%c\"%s\":%" PRIu64, i > 0 ? ',' : '{', name,
			rpcrdma_counter_value(counters, i));
	fputc('}', out);
}

void
rr_report_latency_json(FILE *out, const struct rpcrdma_latency *latency)
{
	bool first = true;

	if (!latency) {
		fputs("null", out);
		return;
	}
	fprintf(out, "{\"calls\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"sum_ns\":%" PRIu64 ",\"buckets\":[",
		latency->calls, latency->errors, latency->sum_ns);
	for (uint32_t i = 0; i < RPCRDMA_LATENCY_BUCKETS; i++) {
		if (latency->buckets[i] == 0)
			continue;
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", first ? "" : ",", UINT64_C(1) << i,
			latency->buckets[i]);
		first = false;
	}
	fputs("]}", out);
}

/* Prints the counters that are not 0, one on each line, with the text `before` in front. */
static void
report_counters(FILE *out, const char *before, const struct rpcrdma_counters *counters)
{
	const char *name;

	for (uint32_t i = 0; (name = rpcrdma_counter_name(i)); i++) {
		uint64_t value = rpcrdma_counter_value(counters, i);

		if (value > 0)
			fprintf(out, "%s%s %" PRIu64 "\n", before, name, value);
	}
}

void
rr_report_security(FILE *out, const struct rpcrdma_negotiated *n)
{
	if (n->tls)
		fprintf(out, "%s with %s%s%s%s", n->tls, n->tls_cipher, n->tls_mutual ? ", mutual" : "",
			n->tls_peer[0] ? ", certificate of " : "", n->tls_peer);
	else
		fprintf(out, "plain");
}

void
rr_report_flavor(FILE *out, const struct rpcrdma_negotiated *n)
{
	fprintf(out, "%s%s%s", n->flavor, n->principal ? ", as " : "", n->principal ? n->principal : "");
}

/* Writes what TLS does for the connection. */
static void
report_tls_json(FILE *out, const struct rpcrdma_negotiated *n)
{
	if (!n->tls) {
		fprintf(out, ",\"tls\":null");
		return;
	}
	fprintf(out, ",\"tls\":\"%s\",\"tls_cipher\":\"%s\",\"tls_mutual\":%s,\"tls_peer\":", n->tls,
		n->tls_cipher, n->tls_mutual ? "true" : "false");
	if (n->tls_peer[0])
		rr_tool_json_string(out, n->tls_peer);
	else
		fprintf(out, "null");
}

void
rr_report_security_json(FILE *out, const struct rpcrdma_negotiated *n)
{
	report_tls_json(out, n);
	if (!n->flavor)
		return;
	fprintf(out, ",\"flavor\":\"%s\",\"principal\":", n->flavor);
	if (n->principal)
		rr_tool_json_string(out, n->principal);
	else
		fprintf(out, "null");
}

/* Called for each connection of a server: prints what was negotiated, and its counters. */
static void
report_connection(void *ctx, const struct rr_carrier *carrier)
{
	struct rpcrdma_negotiated n;
	FILE *out = ctx;

	rr_carrier_negotiated(carrier, &n);
	fprintf(out, "  %s: %s", carrier->peer, n.fabric);
	/* The version is 0 over TCP, which has none of these values. */
	if (n.version > 0)
		fprintf(out,
			" version %u, thresholds %u and %u (own %u and %u, peer's %u and %u%s), credits "
			"asked %u, "
			"granted %u (%u to %u), remote invalidation %s",
			n.version, n.inline_call, n.inline_reply, n.own_send, n.own_receive, n.peer_send,
			n.peer_receive, n.private_data ? "" : " by default", n.credits_asked,
			n.credits_granted, n.credits_min, n.credits_max,
			n.remote_invalidation ? "yes" : "no");
	if (n.tls) {
		fprintf(out, ", ");
		rr_report_security(out, &n);
	}
	if (n.provided_peak > 0)
		fprintf(out, ", replies in Read chunks %u (up to %u)", n.provided, n.provided_peak);
	fputc('\n', out);
	report_counters(out, "    ", &carrier->counters);
}

/* Prints the numbers and times of the calls of a procedure or an operation, if there were any. */
static void
report_latency(FILE *out, const char *program, const char *name, const struct rpcrdma_latency *latency)
{
	if (!latency || latency->calls == 0)
		return;
	fprintf(out,
		"  %s %s: %" PRIu64 " call%s, %" PRIu64 " error%s, mean %" PRIu64 " us, half below %" PRIu64
		" us, 99 of 100 below %" PRIu64 " us\n",
		program, name ? name : "NULL", latency->calls, rr_tool_plural(latency->calls),
		latency->errors, rr_tool_plural(latency->errors), latency->sum_ns / latency->calls / 1000,
		rpcrdma_latency_percentile(latency, 50), rpcrdma_latency_percentile(latency, 99));
}

static void
report(FILE *out, uint32_t thread, const struct rpcrdma_server *server, const struct rr_service *services,
	uint32_t count)
{
	struct rpcrdma_counters counters;

	fprintf(out, "thread %u: %u connection%s\n", thread, rr_server_connections(server),
		rr_tool_plural(rr_server_connections(server)));
	rr_server_each_connection(server, report_connection, out);
	rr_server_counters(server, &counters);
	report_counters(out, "  ", &counters);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < services[i].program->procedure_count; j++)
			report_latency(out, services[i].program->name,
				services[i].program->procedures[j].name, rr_server_latency(server, i, j));
	}
}

void
rr_report_server(FILE *out, uint32_t thread, const struct rpcrdma_server *server,
	const struct rr_service *services, uint32_t count)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	report(memory, thread, server, services, count);
	if (fclose(memory) == 0)
		fputs(text, out);
	free(text);
}

void
rr_report_operations(FILE *out, const struct rr_nfs4_server *server)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	for (uint32_t i = 0; server && i < RR_NFS4_COUNTS; i++)
		report_latency(
			memory, "operation", rr_nfs4_counted_name(i), rr_nfs4_server_latency(server, i));
	if (fclose(memory) == 0)
		fputs(text, out);
	free(text);
}

void
rr_report_exports(FILE *out, const struct rr_gate *gate)
{
	for (uint32_t i = 0; i < gate->vfs->export_count; i++) {
		const struct rr_gate_count *count = &gate->counts[i];

		if (count->calls == 0)
			continue;
		fputs("  export ", out);
		rr_tool_put_name(out, gate->vfs->exports[i].name);
		fprintf(out, ": %" PRIu64 " call%s, %" PRIu64 " bytes read, %" PRIu64 " written\n",
			count->calls, rr_tool_plural(count->calls), count->octets_read,
			count->octets_written);
	}
}

void
rr_report_gateway(FILE *out, uint32_t thread, const struct rr_gateway *gateway)
{
	struct rr_gateway_counters counters;
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	rr_gateway_counters(gateway, &counters);
	fprintf(memory,
		"thread %u: %u connection%s, %" PRIu64 " so far; %" PRIu64 " call%s, %" PRIu64
		" came again; %" PRIu64 " callback%s; %" PRIu64 " answered here\n",
		thread, counters.open, rr_tool_plural(counters.open), counters.pairs, counters.calls,
		rr_tool_plural(counters.calls), counters.repeated, counters.callbacks,
		rr_tool_plural(counters.callbacks), counters.failed);
	report_counters(memory, "  client side: ", &counters.client_side);
	report_counters(memory, "  server side: ", &counters.server_side);
	if (fclose(memory) == 0)
		fputs(text, out);
	free(text);
}
