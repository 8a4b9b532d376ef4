/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/filters.h"

#include <string.h>

#include "fabric/filter/fault.h"
#include "fabric/filter/record.h"

/* Behind the values of enum rr_provider. */
enum { TRANSPORT_TCP = 3 };

/* Options that take one word of some; its place is the value of the enum. */
static const struct choice {
	int option;
	const char *name, *words[4];
} choices[] = {
	{ RR_OPT_TRANSPORT, "--transport",
		{ [RR_PROVIDER_AUTO] = "auto",
			[RR_PROVIDER_IWARP] = "iwarp",
			[RR_PROVIDER_VERBS] = "verbs",
			[TRANSPORT_TCP] = "tcp" } },
	{ RR_OPT_VERSION, "--rpcrdma-version",
		{ [RR_VERSIONS_1] = "1", [RR_VERSIONS_2] = "2", [RR_VERSIONS_AUTO] = "auto" } },
	{ RR_OPT_REPLY_CHUNKS, "--reply-chunks",
		{ [RR_REPLY_CHUNKS_AUTO] = "auto",
			[RR_REPLY_CHUNKS_ALWAYS] = "always",
			[RR_REPLY_CHUNKS_NEVER] = "never" } },
};

static void
choose(struct rr_filters *filters, int option, unsigned place)
{
	if (option == RR_OPT_TRANSPORT)
		filters->tcp = place == TRANSPORT_TCP;
	if (option == RR_OPT_TRANSPORT && !filters->tcp)
		filters->provider = (enum rr_provider)place;
	if (option == RR_OPT_VERSION)
		filters->versions = (enum rr_versions)place;
	if (option == RR_OPT_REPLY_CHUNKS)
		filters->reply_chunks = (enum rr_reply_chunks)place;
}

static int
parse_choice(const struct rr_tool *tool, struct rr_filters *filters, const struct choice *choice,
	const char *argument)
{
	bool four = choice->words[3] != NULL;

	for (unsigned i = 0; i < 4 && choice->words[i]; i++) {
		if (strcmp(argument, choice->words[i]) != 0)
			continue;
		choose(filters, choice->option, i);
		return RR_EXIT_OK;
	}
	return rr_tool_usage(tool, "%s takes %s, %s%s%s or %s, not '%s'", choice->name, choice->words[0],
		choice->words[1], four ? ", " : "", four ? choice->words[2] : "", choice->words[four ? 3 : 2],
		argument);
}

int
rr_filters_option(const struct rr_tool *tool, struct rr_filters *filters, int option, const char *argument)
{
	struct rr_text text;

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (choices[i].option == option)
			return parse_choice(tool, filters, &choices[i], argument);
	if (option == RR_OPT_CRC) {
		filters->crc = true;
		return RR_EXIT_OK;
	}
	if (option == RR_OPT_RECORD) {
		filters->path = argument;
		return RR_EXIT_OK;
	}
	if (rr_fault_parse(argument, &filters->script, &text) < 0)
		return rr_tool_usage(tool, "--fault: %s", text.text);
	filters->has_script = true;
	return RR_EXIT_OK;
}

/* The record is outermost: it has what the fault filter does, too. */
static int
filters_put(void *ctx, struct rr_fabric **fabric)
{
	const struct rr_filters *filters = ctx;
	int error = 0;

	if (filters->has_script)
		error = rr_fault_fabric_new(*fabric, &filters->script, fabric);
	if (!error && filters->record)
		error = rr_record_fabric_new(*fabric, filters->record, fabric);
	return error;
}

int
rr_filters_start(const struct rr_tool *tool, struct rr_filters *filters, struct rr_engine_config *config)
{
	struct rr_text text;

	config->provider = filters->provider;
	config->versions = filters->versions;
	config->reply_chunks = filters->reply_chunks;
	config->crc = filters->crc;
	if (filters->path && rr_record_open(filters->path, &filters->record, &text) < 0)
		return rr_tool_fail(tool, "--record: %s", text.text);
	config->crc |= filters->has_script && rr_fault_corrupts(&filters->script);
	if (filters->has_script || filters->record) {
		config->filter = filters_put;
		config->filter_ctx = filters;
	}
	return RR_EXIT_OK;
}

int
rr_filters_end(const struct rr_tool *tool, struct rr_filters *filters, int status)
{
	struct rr_text text;
	int error = rr_record_close(filters->record, &text);

	filters->record = NULL;
	return error ? rr_tool_fail(tool, "--record: %s", text.text) : status;
}
