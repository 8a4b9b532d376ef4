/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/cp.h"

/* `rpcrdma sync` copies as `rpcrdma cp -a` does, but only what has changed, and can remove what the source
 * does not have. */

static int
sync_run(const struct rr_tool *tool, int argc, char **argv)
{
	return rr_cp_run(tool, argc, argv, true);
}

/* Takes -a, which changes nothing. */
static int
sync_take_archive(const struct rr_tool *tool, void *state, const char *argument)
{
	(void)tool, (void)state, (void)argument;
	return RR_EXIT_OK;
}

static const struct rr_option sync_options[] = {
	{ .letter = 'a',
		.name = "archive",
		.help = "keep all that can be kept, which is done in any case",
		.kind = RR_OPTION_CALL,
		.take = sync_take_archive },
	{ .letter = 'd',
		.name = "delete",
		.help = "remove what the source does not have",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, remove) },
	{ .letter = 'n',
		.name = "dry-run",
		.help = "change nothing: print what would be done, a line each",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, dry) },
	{ .letter = 'c',
		.name = "checksum",
		.help = "compare contents of files, not their times of modification",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, checksum) },
	{ .letter = 'q',
		.name = "quiet",
		.help = "no progress bar, and no summary",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, quiet) },
	{ .name = "json",
		.help = "print the summary, and what a dry run would do, as JSON objects",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, json) },
	{ 0 },
};

const struct rr_tool rr_tool_sync = {
	.name = "sync",
	.run = sync_run,
	.help = "Make a tree equal to another one, to, from and between servers.",
	.operands = "SOURCE DESTINATION",
	.least = 2,
	.most = 2,
	.notes = "What is in SOURCE goes into DESTINATION itself. Files of the same size and time\n"
		 "of modification are left; all that `rpcrdma cp -a` keeps is kept.\n",
	.groups = {
		{ sync_options, 0 },
		{ rr_exclude_options, offsetof(struct rr_cp, excludes) },
		{ rr_cp_both, 0 },
		{ rr_remote_list_options, offsetof(struct rr_cp, remotes) },
		{ rr_filters_transport, offsetof(struct rr_cp, filters) },
		{ rr_filters_options, offsetof(struct rr_cp, filters) },
		{ rr_filters_calls, offsetof(struct rr_cp, filters) },
	},
};
