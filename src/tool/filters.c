/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/filters.h"

#include <string.h>

#include "fabric/filter/record.h"

static int
parse_provider(const struct rr_tool *tool, struct rr_filters *filters, const char *name)
{
	static const char *const names[] = {
		[RR_PROVIDER_AUTO] = "auto", [RR_PROVIDER_IWARP] = "iwarp", [RR_PROVIDER_VERBS] = "verbs"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		filters->provider = (enum rr_provider)i;
		return RR_EXIT_OK;
	}
	return rr_tool_usage(tool, "--transport takes auto, iwarp or verbs, not '%s'", name);
}

static int
parse_versions(const struct rr_tool *tool, struct rr_filters *filters, const char *argument)
{
	static const char *const names[] = {
		[RR_VERSIONS_AUTO] = "auto", [RR_VERSIONS_1] = "1", [RR_VERSIONS_2] = "2"
	};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]) != 0)
			continue;
		filters->versions = (enum rr_versions)i;
		return RR_EXIT_OK;
	}
	return rr_tool_usage(tool, "--rpcrdma-version takes 1, 2 or auto, not '%s'", argument);
}

static int
parse_reply_chunks(const struct rr_tool *tool, struct rr_filters *filters, const char *argument)
{
	static const char *const names[] = { [RR_REPLY_CHUNKS_AUTO] = "auto",
		[RR_REPLY_CHUNKS_ALWAYS] = "always",
		[RR_REPLY_CHUNKS_NEVER] = "never" };

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(argument, names[i]) != 0)
			continue;
		filters->reply_chunks = (enum rr_reply_chunks)i;
		return RR_EXIT_OK;
	}
	return rr_tool_usage(tool, "--reply-chunks takes auto, always or never, not '%s'", argument);
}

int
rr_filters_option(const struct rr_tool *tool, struct rr_filters *filters, int option, const char *argument)
{
	struct rr_text text;

	if (option == RR_OPT_TRANSPORT)
		return parse_provider(tool, filters, argument);
	if (option == RR_OPT_VERSION)
		return parse_versions(tool, filters, argument);
	if (option == RR_OPT_REPLY_CHUNKS)
		return parse_reply_chunks(tool, filters, argument);
	if (option == RR_OPT_RECORD) {
		filters->path = argument;
		return RR_EXIT_OK;
	}
	if (rr_fault_parse(argument, &filters->script, &text) < 0)
		return rr_tool_usage(tool, "--fault: %s", text.text);
	filters->has_script = true;
	return RR_EXIT_OK;
}

int
rr_filters_start(const struct rr_tool *tool, struct rr_filters *filters, struct rr_engine_config *config)
{
	struct rr_text text;

	config->provider = filters->provider;
	config->versions = filters->versions;
	config->reply_chunks = filters->reply_chunks;
	if (filters->has_script)
		config->fault = &filters->script;
	if (filters->path && rr_record_open(filters->path, &filters->record, &text) < 0)
		return rr_tool_fail(tool, "--record: %s", text.text);
	config->record = filters->record;
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
