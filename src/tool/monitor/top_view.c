/* SPDX-License-Identifier: BSD-3-Clause */
#include <rpcrdma/engine.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/loop.h"
#include "tool/monitor/top.h"
#include "tool/tool.h"

/* VIEW_ROWS: the most connections that are shown. VIEW_LONG: microseconds, where the last bucket of a
 * histogram begins. */
enum {
	VIEW_ROWS = 16,
	VIEW_MEGABYTE = 1000000,
	VIEW_MEBIBYTE = 1048576,
	VIEW_MICROSECONDS = 1000000, /* in a second */
	VIEW_LONG = 1 << (RPCRDMA_LATENCY_BUCKETS - 2)
};

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

/* Prints the value with this key as a number of things, "3 threads"; name: of one of them. */
static void
view_count(FILE *out, const struct rr_top_sample *sample, const char *key, const char *name)
{
	double count = view_get(sample, key);

	fprintf(out, "%.0f %s%s", count, name, rr_tool_plural((uint64_t)count));
}

/* Prints how much state of NFS version 4 clients hold, if there is such a client. */
static void
view_state(FILE *out, const struct rr_top_sample *sample)
{
	static const char *const parts[][2] = { { "nfs4_clients", "client" }, { "nfs4_sessions", "session" },
		{ "nfs4_opens", "open" }, { "nfs4_locks", "lock" }, { "nfs4_delegations", "delegation" } };

	if (view_get(sample, "nfs4_clients") <= 0)
		return;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		fputs(i > 0 ? ", " : "NFS version 4: ", out);
		view_count(out, sample, parts[i][0], parts[i][1]);
	}
	fprintf(out, "%s\n", view_get(sample, "nfs4_grace") > 0 ? ", grace period" : "");
}

/* Prints the lines above the tables, with the rates since the sample `before`, or since the server began if
 * `before` is NULL. In the keys, the side "client" has the connections of clients; only a gateway has another
 * side, its connections to the server. */
static void
view_summary(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before)
{
	static const struct {
		const char *name, *key;
	} paths[] = { { "inline", "inline_bytes_total{side=\"client\"}" },
		{ "RDMA Read", "rdma_read_bytes_total{side=\"client\"}" },
		{ "RDMA Write", "rdma_write_bytes_total{side=\"client\"}" } };
	double memory = view_get(sample, "memory_bytes{of=\"arrivals\"}") +
			view_get(sample, "memory_bytes{of=\"results\"}") +
			view_get(sample, "memory_bytes{of=\"replies\"}");

	fprintf(out, "up %.0f s, ", view_get(sample, "up_seconds"));
	view_count(out, sample, "threads", "thread");
	if (view_get(sample, "silent_threads") > 0)
		fprintf(out, " (%.0f do not answer)", view_get(sample, "silent_threads"));
	fputs(", ", out);
	view_count(out, sample, "connections", "connection");
	fprintf(out, ", memory %.1f of %.0f MiB\n", memory / VIEW_MEBIBYTE,
		view_get(sample, "memory_max_bytes") / VIEW_MEBIBYTE);
	fprintf(out, "%.0f calls/s", view_rate(sample, before, "calls_total{side=\"client\"}"));
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		fprintf(out, ", %s %.1f MB/s", paths[i].name,
			view_rate(sample, before, paths[i].key) / VIEW_MEGABYTE);
	fprintf(out, ", errors sent %.0f, received %.0f\n",
		view_get(sample, "errors_sent_total{side=\"client\"}"),
		view_get(sample, "errors_received_total{side=\"client\"}"));
	view_state(out, sample);
}

/* Returns the time, in microseconds, within which `percent` of 100 of the calls of a histogram were done,
 * rounded up to the end of a bucket: of the calls since the sample `before`, or of all calls if `before` is
 * NULL. Returns -1 if there were no such calls. count: the index of the histogram's count in the sample, in
 * front of which the buckets lie, the largest one last. */
static double
view_percentile(const struct rr_top_sample *sample, const struct rr_top_sample *before, uint32_t count,
	unsigned percent)
{
	const char *last = sample->values[count].key;
	double calls = sample->values[count].value - view_get(before, last), time = -1;
	size_t family = strcspn(last, "{") - strlen("count");
	char end[32];

	for (uint32_t i = count; i-- > 0 && strncmp(sample->values[i].key, last, family) == 0;) {
		const struct rr_top_value *value = &sample->values[i];

		if (!view_label(value->key, "le", end, sizeof(end)))
			continue;
		if (calls <= 0 || (value->value - view_get(before, value->key)) * 100 < calls * percent)
			break;
		time = strtod(end, NULL) * VIEW_MICROSECONDS;
		/* The smallest bucket ends the histogram. */
		if (i > 0 && strstr(sample->values[i - 1].key, "_bucket{") == NULL)
			break;
	}
	return time;
}

/* Prints a time of view_percentile(). The bucket without an end counts times from VIEW_LONG on. */
static void
view_time(FILE *out, double time)
{
	if (time < 0)
		fprintf(out, " %10s", "-");
	else if (time > VIEW_LONG)
		fprintf(out, " %10s", "> 16 s");
	else
		fprintf(out, " %10.0f", time);
}

/* Prints the columns behind the name of a procedure or an operation. count: the index of its histogram's
 * count in the sample. */
static void
view_calls(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before, uint32_t count)
{
	const struct rr_top_value *value = &sample->values[count];

	fprintf(out, " %10.1f %12.0f", view_rate(sample, before, value->key), value->value);
	view_time(out, view_percentile(sample, before, count, 50));
	view_time(out, view_percentile(sample, before, count, 99));
	fputc('\n', out);
}

/* Prints a table with a line for each histogram of that family in the sample, and nothing if there is none.
 * family: the beginning of the key of the histogram's count. label: the label that has the name. */
static void
view_table(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before,
	const char *family, const char *label, const char *title)
{
	char program[64], name[64];
	bool has_rows = false;

	for (uint32_t i = 0; i < sample->count; i++) {
		const char *key = sample->values[i].key;

		if (strncmp(key, family, strlen(family)) != 0 || !view_label(key, label, name, sizeof(name)))
			continue;
		if (!has_rows)
			fprintf(out, "\n%-32s %10s %12s %10s %10s\n", title, "calls/s", "calls", "50 % us",
				"99 % us");
		has_rows = true;
		if (view_label(key, "program", program, sizeof(program)))
			fprintf(out, "%-8.8s %-23.23s", program, name);
		else
			fprintf(out, "%-32.32s", name);
		view_calls(out, sample, before, i);
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
		snprintf(key, sizeof(key), "connection_bytes_total{peer=\"%s\",path=\"read\"}", peer);
		fprintf(out, " %10.1f", view_rate(sample, before, key) / VIEW_MEGABYTE);
		snprintf(key, sizeof(key), "connection_bytes_total{peer=\"%s\",path=\"write\"}", peer);
		fprintf(out, " %10.1f\n", view_rate(sample, before, key) / VIEW_MEGABYTE);
	}
}

/* Prints the line of an export, whose calls are the value at this index; label: of its key, from the brace
 * on. */
static void
view_export(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before, uint32_t index,
	const char *label)
{
	const struct rr_top_value *calls = &sample->values[index];
	char key[RR_TOP_KEY], name[33];

	/* The text goes to the end of the key: marks within it are escaped. */
	snprintf(name, sizeof(name), "%s", label + strlen("{export=\""));
	if (strlen(label) < sizeof(name) + strlen("{export=\""))
		name[strlen(name) - strlen("\"}")] = '\0';
	fprintf(out, "%-32s %10.1f %12.0f", rr_tool_mask(name), view_rate(sample, before, calls->key),
		calls->value);
	snprintf(key, sizeof(key), "export_read_bytes_total%s", label);
	fprintf(out, " %10.1f", view_rate(sample, before, key) / VIEW_MEGABYTE);
	snprintf(key, sizeof(key), "export_written_bytes_total%s", label);
	fprintf(out, " %10.1f\n", view_rate(sample, before, key) / VIEW_MEGABYTE);
}

/* Prints a line for each export that was used, and nothing if there is none. */
static void
view_exports(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before)
{
	static const char family[] = "export_calls_total";
	bool has_rows = false;

	for (uint32_t i = 0; i < sample->count; i++) {
		const char *label = sample->values[i].key + sizeof(family) - 1;

		if (strncmp(sample->values[i].key, family, sizeof(family) - 1) != 0 ||
			strncmp(label, "{export=\"", strlen("{export=\"")) != 0 ||
			sample->values[i].value <= 0)
			continue;
		if (!has_rows)
			fprintf(out, "\n%-32s %10s %12s %10s %10s\n", "EXPORT", "calls/s", "calls",
				"Read MB/s", "Write MB/s");
		has_rows = true;
		view_export(out, sample, before, i, label);
	}
}

void
rr_top_show(FILE *out, const struct rr_top_sample *sample, const struct rr_top_sample *before)
{
	view_summary(out, sample, before);
	view_table(out, sample, before, "procedure_seconds_count{", "procedure", "PROCEDURE");
	view_table(out, sample, before, "nfs4_operation_seconds_count{", "operation",
		"OPERATION (NFS version 4)");
	view_exports(out, sample, before);
	view_connections(out, sample, before);
	fflush(out);
}
