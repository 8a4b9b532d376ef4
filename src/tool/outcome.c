/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/outcome.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "tool/remote.h"

const struct rr_option rr_outcome_options[] = {
	{ .name = "json",
		.help = "print a JSON object for each operand, on a line of its own",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_outcome, json) },
	{ 0 },
};

void
rr_outcome_begin(struct rr_outcome *outcome)
{
	*outcome = (struct rr_outcome){ .json = outcome->json, .began = rr_now(&rr_env_system) };
}

int
rr_outcome_fail(struct rr_outcome *outcome, const struct rr_tool *tool, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (outcome->failed++ == 0)
		snprintf(outcome->first, sizeof(outcome->first), "%s", length < 0 ? "out of memory" : text);
	rr_tool_fail(tool, "%s", length < 0 ? "out of memory" : text);
	if (length >= 0)
		free(text);
	return RR_EXIT_FAILED;
}

void
rr_outcome_note(struct rr_outcome *outcome, const char *name, const char *why)
{
	if (outcome->failed++ == 0)
		snprintf(outcome->first, sizeof(outcome->first), "%s: %s", name, why);
}

/* Prints the member "to" of the JSON object: the path that the operand went to. */
static void
outcome_print_to(FILE *out, const struct rr_outcome_to *to)
{
	char whole[RR_REMOTE_NAME + 256];
	size_t length = strlen(to->directory);
	bool slash = to->name[0] && (length == 0 || to->directory[length - 1] != '/');

	snprintf(whole, sizeof(whole), "%s%s%s", to->directory, slash ? "/" : "", to->name);
	putc(',', out);
	rr_tool_json_name(out, "to", whole);
}

void
rr_outcome_end(const struct rr_outcome *outcome, FILE *out, int status, const char *url,
	const struct rr_outcome_to *to)
{
	double seconds = (double)(rr_now(&rr_env_system) - outcome->began) / (double)RR_SECOND;

	if (!outcome->json)
		return;
	putc('{', out);
	rr_tool_json_name(out, "url", url);
	if (to)
		outcome_print_to(out, to);
	fprintf(out,
		",\"done\":%s,\"files\":%" PRIu64 ",\"directories\":%" PRIu64 ",\"octets\":%" PRIu64
		",\"failed\":%" PRIu32 ",\"seconds\":%.6f",
		status == RR_EXIT_OK ? "true" : "false", outcome->files, outcome->directories,
		outcome->octets, outcome->failed, seconds);
	if (outcome->failed) {
		fputs(",\"error\":", out);
		rr_tool_json_string(out, outcome->first);
	}
	fputs("}\n", out);
}
