/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/loop.h"
#include "tool/top.h"

/* VIEW_ROWS: the most connections that are shown. */
enum { VIEW_ROWS = 16, VIEW_MEGABYTE = 1000000, VIEW_MEBIBYTE = 1048576 };

void
rr_top_parse(struct rr_top_sample *sample, const char *text)
{
	static const char prefix[] = "rpcrdma_";

	sample->count = 0;
	while (*text && sample->count < RR_TOP_VALUES) {
		size_t length = strcspn(text, "\n"), key = length;
		struct rr_top_value *value = &sample->values[sample->count];

		while (key > 0 && text[key] != ' ')
			key--;
		if (strncmp(text, prefix, sizeof(prefix) - 1) == 0 && key > sizeof(prefix) - 1 &&
			key - (sizeof(prefix) - 1) < sizeof(value->key)) {
			snprintf(value->key, sizeof(value->key), "%.*s", (int)(key - (sizeof(prefix) - 1)),
				text + sizeof(prefix) - 1);
			value->value = strtod(text + key, NULL);
			sample->count++;
		}
		text += length + (text[length] == '\n');
	}
}

/* Returns the value that the sample has for this key; 0 if the sample has no such value, or is NULL. */
static double
view_get(const struct rr_top_sample *sample, const char *key)
{
	for (uint32_t i = 0; sample && i < sample->count; i++)
		if (strcmp(sample->values[i].key, key) == 0)
			return sample->values[i].value;
	return 0;
}

/* Returns by how much the value with this key grew in each second, on average: since the sample `before`, or
 * since the server began if `before` is NULL. Returns 0 if the value did not grow. */
static double
view_rate(const struct rr_top_sample *sample, const struct rr_top_sample *before, const char *key)
{
	double up = view_get(sample, "up_seconds");
	double seconds = before ? (double)(sample->at - before->at) / RR_SECOND : up;
	double change = view_get(sample, key) - view_get(before, key);

	return seconds > 0 && change > 0 ? change / seconds : 0;
}

/* Copies to out the text that a label has in the key: the text of the label procedure in procedure="READ" is
 * READ. Returns false if the key has no such label. */
static bool
view_label(const char *key, const char *label, char *out, size_t size)
{
	char wanted[32];
	const char *at;

	snprintf(wanted, sizeof(wanted), "%s=\"", label);
	at = strstr(key, wanted);
	if (!at)
		return false;
	at += strlen(wanted);
	snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
	return true;
}

/* Prints the lines above the tables, with the rates since the sample `before`, or since the server began if
 * `before` is NULL. In the keys, the side "client" has the connections of clients; only a gateway has another
 * side, its connections to the server. */
static void
view_summary(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before)
{
	static const struct {
		const char *name, *key;
	} paths[] = { { "inline", "octets_inline_total{side=\"client\"}" },
		{ "RDMA Read", "octets_rdma_read_total{side=\"client\"}" },
		{ "RDMA Write", "octets_rdma_write_total{side=\"client\"}" } };
	double memory = view_get(sample, "memory_octets{of=\"arrivals\"}") +
			view_get(sample, "memory_octets{of=\"results\"}") +
			view_get(sample, "memory_octets{of=\"replies\"}");

	fprintf(out, "up %.0f s, %.0f threads", view_get(sample, "up_seconds"), view_get(sample, "threads"));
	if (view_get(sample, "silent_threads") > 0)
		fprintf(out, " (%.0f do not answer)", view_get(sample, "silent_threads"));
	fprintf(out, ", %.0f connections, memory %.1f of %.0f MiB\n", view_get(sample, "connections"),
		memory / VIEW_MEBIBYTE, view_get(sample, "memory_max_octets") / VIEW_MEBIBYTE);
	fprintf(out, "%.0f calls/s", view_rate(sample, before, "calls_total{side=\"client\"}"));
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		fprintf(out, ", %s %.1f MB/s", paths[i].name,
			view_rate(sample, before, paths[i].key) / VIEW_MEGABYTE);
	fprintf(out, ", errors sent %.0f, received %.0f\n",
		view_get(sample, "errors_sent_total{side=\"client\"}"),
		view_get(sample, "errors_received_total{side=\"client\"}"));
	if (view_get(sample, "nfs4_clients") > 0)
		fprintf(out,
			"NFS version 4: %.0f clients, %.0f sessions, %.0f opens, %.0f locks, %.0f "
			"delegations%s\n",
			view_get(sample, "nfs4_clients"), view_get(sample, "nfs4_sessions"),
			view_get(sample, "nfs4_opens"), view_get(sample, "nfs4_locks"),
			view_get(sample, "nfs4_delegations"),
			view_get(sample, "nfs4_grace") > 0 ? ", grace period" : "");
}

static double
view_percentile(const struct rr_top_sample *sample, const char *program, const char *name, unsigned percent)
{
	char key[RR_TOP_KEY];

	snprintf(key, sizeof(key),
		"procedure_microseconds{program=\"%s\",procedure=\"%s\",percentile=\"%u\"}", program, name,
		percent);
	return view_get(sample, key);
}

/* Prints a line for each procedure that has a count of calls in the sample. */
static void
view_procedures(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before)
{
	static const char count[] = "procedure_seconds_count{";
	char program[64], name[64];

	fprintf(out, "\n%-36s %10s %12s %10s %10s\n", "PROCEDURE", "calls/s", "calls", "50 % us", "99 % us");
	for (uint32_t i = 0; i < sample->count; i++) {
		const struct rr_top_value *value = &sample->values[i];

		if (strncmp(value->key, count, sizeof(count) - 1) != 0 ||
			!view_label(value->key, "program", program, sizeof(program)) ||
			!view_label(value->key, "procedure", name, sizeof(name)))
			continue;
		fprintf(out, "%-12.12s %-23.23s %10.1f %12.0f %10.0f %10.0f\n", program, name,
			view_rate(sample, before, value->key), value->value,
			view_percentile(sample, program, name, 50),
			view_percentile(sample, program, name, 99));
	}
}

/* Prints a line for each connection that is in the sample, for VIEW_ROWS connections at most. */
static void
view_connections(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before)
{
	static const char calls[] = "connection_calls_total{";
	char peer[64], fabric[16], key[RR_TOP_KEY];
	uint32_t rows = 0;

	fprintf(out, "\n%-32s %-6s %7s %10s %10s %10s\n", "CONNECTION", "over", "credits", "calls/s",
		"Read MB/s", "Write MB/s");
	for (uint32_t i = 0; i < sample->count && rows < VIEW_ROWS; i++) {
		const struct rr_top_value *value = &sample->values[i];

		if (strncmp(value->key, calls, sizeof(calls) - 1) != 0 ||
			!view_label(value->key, "peer", peer, sizeof(peer)) ||
			!view_label(value->key, "fabric", fabric, sizeof(fabric)))
			continue;
		rows++;
		snprintf(key, sizeof(key), "connection_credits{peer=\"%s\"}", peer);
		fprintf(out, "%-32.32s %-6s %7.0f %10.1f", peer, fabric, view_get(sample, key),
			view_rate(sample, before, value->key));
		snprintf(key, sizeof(key), "connection_octets_total{peer=\"%s\",path=\"read\"}", peer);
		fprintf(out, " %10.1f", view_rate(sample, before, key) / VIEW_MEGABYTE);
		snprintf(key, sizeof(key), "connection_octets_total{peer=\"%s\",path=\"write\"}", peer);
		fprintf(out, " %10.1f\n", view_rate(sample, before, key) / VIEW_MEGABYTE);
	}
}

void
rr_top_show(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before)
{
	view_summary(out, sample, before);
	view_procedures(out, sample, before);
	view_connections(out, sample, before);
	fflush(out);
}
