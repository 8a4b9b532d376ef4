/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "tool/filters.h"
#include "tool/progress.h"
#include "tool/remote.h"
#include "tool/tool.h"

/* `rpcrdma df` shows how large file systems of servers are, and how full. */

enum { DF_NUMBER = 24 };

struct df {
	const struct rr_tool *tool;
	bool human, objects, json; /* the options -h, -i and --json */
	size_t printed;            /* number of URLs that were shown */
	struct rr_filters filters;
	struct rr_remote remote; /* how each URL is opened */
};

static const struct rr_option df_options[] = {
	{ .letter = 'h',
		.name = "human-readable",
		.help = "print sizes as 12.3 GB, and not in octets",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct df, human) },
	{ .letter = 'i',
		.name = "inodes",
		.help = "count files and directories, and not octets",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct df, objects) },
	{ .name = "json",
		.help = "print a JSON array, with both",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct df, json) },
	{ 0 },
};

/* Returns the octets or files in use; 0 if the server claims that more is free than there is in total. */
static uint64_t
df_used(uint64_t total, uint64_t free)
{
	return total > free ? total - free : 0;
}

static const char *
df_number(const struct df *df, uint64_t number, char text[DF_NUMBER])
{
	if (df->human && !df->objects)
		return rr_progress_octets(number, text, DF_NUMBER);
	snprintf(text, DF_NUMBER, "%" PRIu64, number);
	return text;
}

/* Prints the line of a URL, and above the first line the titles of the columns. With -i (df->objects), the
 * numbers are those of files instead of octets. */
static void
df_print_text(struct df *df, const char *url, const struct rpcrdma_nfs_space *space)
{
	uint64_t total = df->objects ? space->files : space->total;
	uint64_t used = df->objects ? df_used(total, space->files_free) : df_used(total, space->free);
	uint64_t left = df->objects ? space->files_left : space->available;
	double all = (double)used + (double)left;
	char texts[3][DF_NUMBER], percent[8] = "-";

	if (!df->printed++)
		printf("%20s %20s %20s %5s  %s\n", df->objects ? "Files" : "Size", "Used", "Available",
			"Use%", "URL");
	/* As df(1): the part of what the caller could ever use, rounded up. */
	if (all > 0)
		snprintf(percent, sizeof(percent), "%u%%", (unsigned)((double)used * 100 / all + 0.99));
	printf("%20s %20s %20s %5s  ", df_number(df, total, texts[0]), df_number(df, used, texts[1]),
		df_number(df, left, texts[2]), percent);
	rr_tool_put_name(stdout, url);
	printf("\n");
}

static void
df_print_json(struct df *df, const char *url, const struct rpcrdma_nfs_space *space)
{
	printf("%s{", df->printed++ ? ",\n" : "");
	rr_tool_json_name(stdout, "url", url);
	printf(",\"size\":%" PRIu64 ",\"used\":%" PRIu64 ",\"free\":%" PRIu64 ",\"available\":%" PRIu64,
		space->total, df_used(space->total, space->free), space->free, space->available);
	printf(",\"files\":%" PRIu64 ",\"files_used\":%" PRIu64 ",\"files_free\":%" PRIu64
	       ",\"files_available\":%" PRIu64 "}",
		space->files, df_used(space->files, space->files_free), space->files_free, space->files_left);
}

static int
df_show(struct df *df, const struct rr_remote *remote)
{
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };
	struct rpcrdma_nfs_space space = { .size = sizeof(space) };

	if (rr_nfs_find(remote->nfs, remote->rest, true, &object) != 0 ||
		rpcrdma_nfs_statfs(remote->nfs, &object.handle, &space, NULL) != 0)
		return rr_tool_fail(df->tool, "%s: %s", remote->name, rr_nfs_explain(remote->nfs));
	/* With --json, both octets and files are printed. */
	(df->json ? df_print_json : df_print_text)(df, remote->name, &space);
	return RR_EXIT_OK;
}

/* Connects to the server of the URL, and shows its file system. Returns an exit status, after a message if it
 * is not OK; after a signal, RR_EXIT_FAILED without a message. */
static int
df_url(struct df *df, struct rpcrdma_engine *engine, const char *url)
{
	struct rr_remote remote = df->remote;
	struct rr_text text;
	int error, status;

	if (rr_tool_interrupted(NULL))
		return RR_EXIT_FAILED;
	error = rr_remote_open(engine, url, &remote, &text);
	status = error ? rr_advice_fail(df->tool, &remote.url, remote.name, error, &text)
		       : df_show(df, &remote);
	rr_remote_close(&remote);
	return status;
}

/* Shows the file system of each URL. If that fails for a URL, reports the failure and goes on with the next
 * URL. Returns an exit status. */
static int
df_urls(struct df *df, struct rpcrdma_engine *engine, int count, char **urls)
{
	int status = RR_EXIT_OK;

	if (df->json)
		printf("[");
	for (int i = 0; i < count; i++)
		if (df_url(df, engine, urls[i]) != RR_EXIT_OK)
			status = RR_EXIT_FAILED;
	if (df->json)
		printf("]\n");
	return rr_tool_end_output(df->tool, status);
}

static int
df_run(const struct rr_tool *tool, int argc, char **argv)
{
	struct rr_engine_config config = rr_engine_config_default;
	struct df df = { .tool = tool };
	struct rpcrdma_engine *engine;
	struct rr_text text;
	int status = rr_options_parse(tool, &df, &argc, &argv);

	if (status != RR_OPTIONS_GO_ON)
		return status;
	rr_tool_catch_signals();
	status = rr_filters_start(tool, &df.filters, &config);
	if (status != RR_EXIT_OK)
		return status;
	df.remote.tcp = df.filters.transport == RR_TRANSPORT_TCP;
	if (rr_remote_engine(&config, &engine, &text) < 0)
		return rr_filters_end(tool, &df.filters, rr_tool_fail(tool, "%s", text.text));
	status = df_urls(&df, engine, argc, argv);
	rpcrdma_engine_free(engine);
	return rr_filters_end(tool, &df.filters, status);
}

const struct rr_tool rr_tool_df = {
	.name = "df",
	.run = df_run,
	.help = "Show how large and how full file systems of servers are.",
	.operands = "URL...",
	.least = 1,
	.most = RR_TOOL_ANY,
	.urls = true,
	.groups = {
		{ df_options, 0 },
		{ rr_remote_options, offsetof(struct df, remote) },
		{ rr_filters_transport, offsetof(struct df, filters) },
		{ rr_filters_options, offsetof(struct df, filters) },
		{ rr_filters_calls, offsetof(struct df, filters) },
	},
};
