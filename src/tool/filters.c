/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/filters.h"

#include "fabric/filter/record.h"

int
rr_filters_option(const struct rr_tool *tool, struct rr_filters *filters, int option, const char *argument)
{
	struct rr_text text;

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
