/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/cp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const cp_sparse[] = {
	[RR_SPARSE_AUTO] = "auto",
	[RR_SPARSE_ALWAYS] = "always",
	[RR_SPARSE_NEVER] = "never",
	NULL,
};

/* Takes the argument of --bwlimit. */
static int
cp_take_limit(const struct rr_tool *tool, void *state, const char *argument)
{
	struct rr_cp *cp = state;

	if (rr_rate_parse(argument, &cp->limit) == 0)
		return RR_EXIT_OK;
	return rr_tool_usage(tool,
		"--bwlimit takes a number of KiB per second, from 1 to 1024G, or with M or G behind it of "
		"MiB or GiB, "
		"not '%s'",
		argument);
}

const struct rr_option rr_cp_both[] = {
	{ .name = "bwlimit",
		.argument = "RATE",
		.help = "move at most RATE KiB of data per second; with M or G behind it, MiB or GiB",
		.kind = RR_OPTION_CALL,
		.take = cp_take_limit },
	{ .name = "connections",
		.argument = "N",
		.help = "connections to each server, over which calls are spread (1)",
		.kind = RR_OPTION_NUMBER,
		.low = 1,
		.high = RPCRDMA_CONNECTIONS_MAX,
		.at = offsetof(struct rr_cp, connections) },
	{ 0 },
};

/* Takes -n, or -i: the last of the two counts. */
static int
cp_take_keep(const struct rr_tool *tool, void *state, const char *argument)
{
	struct rr_cp *cp = state;

	(void)tool, (void)argument;
	cp->keep = true;
	cp->ask = false;
	return RR_EXIT_OK;
}

static int
cp_take_ask(const struct rr_tool *tool, void *state, const char *argument)
{
	struct rr_cp *cp = state;

	(void)tool, (void)argument;
	cp->keep = false;
	cp->ask = true;
	return RR_EXIT_OK;
}

static const struct rr_option cp_options[] = {
	{ .letter = 'r',
		.name = "recursive",
		.help = "copy directories with all that is in them; links are copied as links",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, recursive) },
	{ .letter = 'R',
		.help = "the same as -r",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, recursive) },
	{ .letter = 'a',
		.name = "archive",
		.help = "the same as -r, and keep owners, hard links and extended attributes, too",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, archive) },
	{ .letter = 'p',
		.help = "keep modes, owners and times",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, preserve) },
	{ .letter = 'n',
		.name = "no-clobber",
		.help = "leave files that are there, whatever they are",
		.kind = RR_OPTION_CALL,
		.take = cp_take_keep },
	{ .letter = 'i',
		.name = "interactive",
		.help = "ask before a file that is there is written over",
		.kind = RR_OPTION_CALL,
		.take = cp_take_ask },
	{ .letter = 'f',
		.name = "force",
		.help = "replace files that are there and cannot be written",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, force) },
	{ .letter = 'u',
		.name = "update",
		.help = "leave files that are there and not older than their source",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, update) },
	{ .letter = 'c',
		.name = "checksum",
		.help = "leave files that are there with the same contents",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, checksum) },
	{ .name = "resume",
		.help = "go on with what an interrupted copy left; leave what is copied when interrupted",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, resume) },
	{ .letter = 'q',
		.name = "quiet",
		.help = "no progress bar, and no summary",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, quiet) },
	{ .name = "json",
		.help = "print the summary as a JSON object",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_cp, json) },
	{ .name = "sparse",
		.argument = "auto|always|never",
		.help = "auto: holes stay holes; always: zeroes become holes; never (auto)",
		.kind = RR_OPTION_WORD,
		.words = cp_sparse,
		.at = offsetof(struct rr_cp, sparse) },
	{ 0 },
};

/* ---- Both ends ---- */

/* The fewest octets of zeroes that become a hole. Local: a block of a file system. Remote: so many that a
 * further WRITE behind the hole is worth its cost. */
enum { HOLE_LOCAL = 4 << 10, HOLE_REMOTE = 64 << 10 };

/* Removes the slashes at the end of a path, except for a path "/". Callers append a slash and a name to the
 * path. */
static void
cp_cut_slashes(char *name)
{
	size_t length = strlen(name);

	while (length > 1 && name[length - 1] == '/')
		name[--length] = '\0';
}

/* Sets up one end of the copy: the local file system for a local path, or the server of a URL. Connects to
 * that server. Writes the path or URL into name, for messages. Returns an exit status, after a message if it
 * is not OK. */
static int
cp_open_side(struct rr_cp *cp, const char *argument, struct rr_remote *remote, struct rr_side *side,
	char *name, size_t size)
{
	struct rr_text text;
	int error;

	*side = (struct rr_side){
		.ops = &rr_side_local,
		.loop = cp->engine->loop,
		.piece_max = RR_PUMP_PIECE,
		.hole_unit = HOLE_LOCAL,
		.source = side == &cp->from,
		.archive = cp->preserve,
		.keep_uid = cp->preserve,
		.keep_gid = cp->preserve,
	};
	snprintf(name, size, "%s", argument);
	cp_cut_slashes(name);
	if (!rr_url_is(argument))
		return RR_EXIT_OK;
	side->ops = &rr_side_remote;
	remote->tcp = cp->filters.transport == RR_TRANSPORT_TCP;
	remote->connections = cp->connections;
	error = rr_remote_open(cp->engine, argument, remote, &text);
	if (error)
		return rr_advice_fail(cp->tool, &remote->url, remote->name, error, &text);
	snprintf(name, size, "%s", remote->name);
	cp_cut_slashes(name);
	side->nfs = remote->nfs;
	side->hole_unit = HOLE_REMOTE;
	side->piece_max = side == &cp->from ? rr_nfs_read_max(remote->nfs) : rr_nfs_write_max(remote->nfs);
	return RR_EXIT_OK;
}

/* Opens a source of the command line and copies it to the destination. Returns false if the source could not
 * be opened, after a message. Returns true also if the copy itself fails; its errors are reported and
 * counted. */
static bool
cp_copy_one(struct rr_cp *cp, const char *source, const char *destination)
{
	rr_cp_count(cp, &cp->remotes[0]);
	rr_remote_close(&cp->remotes[0]);
	if (cp_open_side(cp, source, &cp->remotes[0], &cp->from, cp->from_name, sizeof(cp->from_name))) {
		cp->sums.failed++;
		return false;
	}
	snprintf(cp->to_name, sizeof(cp->to_name), "%s", cp->to.nfs ? cp->remotes[1].name : destination);
	cp_cut_slashes(cp->to_name);
	cp->pump.within = cp->pump.clones = rpcrdma_nfs_is_same_server(cp->from.nfs, cp->to.nfs);
	cp->pump.within_proved = false;
	rr_cp_top(cp, source, destination);
	rr_cp_archive_end(cp);
	return true;
}

/* Warns, once in a run, of the access lists that cp -a could not keep. */
static void
cp_warn_of_lists(const struct rr_cp *cp)
{
	if (cp->listed > 0)
		rr_tool_warn(cp->tool,
			"access lists (ACLs) are not kept where the destination takes none: %" PRIu64
			" of the files and directories have one, and "
			"their copies give the group no more than that allows",
			cp->listed);
}

/* Warns, once in a run, of the owners whom this machine does not know. */
static void
cp_warn_of_owners(const struct rr_cp *cp)
{
	if (cp->unowned > 0)
		rr_tool_warn(cp->tool,
			"owners are not kept where nobody has their name here: %" PRIu64
			" of the files and directories have such an owner or group; their copies belong to "
			"the user who made them. The domain of names is that of /etc/idmapd.conf, or of this "
			"machine",
			cp->unowned);
}

/* Opens the destination, copies each source to it, and prints the summary. Returns an exit status, after
 * messages if it is not OK. */
static int
cp_copy(struct rr_cp *cp, int count, char **sources, const char *destination)
{
	bool opened = false;

	if (cp_open_side(cp, destination, &cp->remotes[1], &cp->to, cp->to_name, sizeof(cp->to_name)))
		return RR_EXIT_FAILED;
	rr_progress_init(&cp->progress, !cp->quiet);
	if (rr_pump_init(&cp->pump, cp->engine, &cp->progress) < 0 || rr_cp_small_init(cp) < 0) {
		rr_pump_free(&cp->pump);
		rr_cp_small_free(cp);
		return rr_tool_fail(cp->tool, "out of memory");
	}
	cp->pump.sparse = cp->sparse;
	cp->pump.rate.limit = cp->limit;
	cp->several = count > 1;
	for (int i = 0; i < count && !cp->stop; i++)
		opened |= cp_copy_one(cp, sources[i], destination);
	rr_progress_hide(&cp->progress);
	cp_warn_of_lists(cp);
	cp_warn_of_owners(cp);
	rr_pump_free(&cp->pump);
	rr_cp_small_free(cp);
	if (opened && !cp->quiet && !cp->stop &&
		(cp->json || cp->sums.files + cp->sums.directories + cp->sums.links + cp->sums.specials +
					     cp->sums.skipped >
				     0))
		rr_cp_summary(cp);
	return rr_tool_end_output(cp->tool, cp->sums.failed || cp->stop ? RR_EXIT_FAILED : RR_EXIT_OK);
}

/* Checks the sources and the destination of the command line: none is empty, each URL is valid, and either
 * the destination or each source is a URL. Returns an exit status, after a message if it is not OK. */
static int
cp_check_ends(const struct rr_cp *cp, int count, char **sources, const char *destination)
{
	const struct rr_tool *tool = cp->tool;

	for (int i = 0; i < count; i++) {
		if (sources[i][0] == '\0' || destination[0] == '\0')
			return rr_tool_usage(tool, "the source or the destination is empty");
		if (!rr_url_is(sources[i]) && !rr_url_is(destination))
			return rr_tool_usage(tool,
				"one side must be a URL (nfs://HOST[:PORT]/PATH); cp(1) copies "
				"files on this machine");
		if (cp->ask && strcmp(sources[i], "-") == 0)
			return rr_tool_usage(tool, "-i asks standard input, which is a source, too");
		if (rr_url_is(sources[i]) && rr_options_url(tool, sources[i]) != RR_EXIT_OK)
			return RR_EXIT_USAGE;
	}
	return rr_url_is(destination) ? rr_options_url(tool, destination) : RR_EXIT_OK;
}

/* Runs the command once its options are known: argv has count sources, and the destination behind them.
 * Returns an exit status. */
static int
cp_parsed(struct rr_cp *cp, int count, char **argv)
{
	struct rr_engine_config config = rr_engine_config_default;
	int status = cp_check_ends(cp, count, argv, argv[count]);
	struct rr_text text;

	if (status != RR_EXIT_OK)
		return status;
	status = rr_filters_start(cp->tool, &cp->filters, &config);
	if (status != RR_EXIT_OK)
		return status;
	rr_tool_catch_signals();
	rr_trail_prepare();
	/* The option --verbose sets only the member of remotes[0], and is for both; -a is -r and more. */
	cp->remotes[1].verbose = cp->remotes[0].verbose;
	cp->recursive |= cp->archive;
	cp->preserve |= cp->archive;
	if (rr_remote_engine(&config, &cp->engine, &text) < 0)
		status = rr_tool_fail(cp->tool, "%s", text.text);
	else
		status = cp_copy(cp, count, argv, argv[count]);
	rr_remote_close(&cp->remotes[0]);
	rr_remote_close(&cp->remotes[1]);
	rpcrdma_engine_free(cp->engine);
	return rr_filters_end(cp->tool, &cp->filters, status);
}

int
rr_cp_run(const struct rr_tool *tool, int argc, char **argv, bool sync)
{
	struct rr_cp *cp = calloc(1, sizeof(*cp));
	int status;

	if (!cp)
		return rr_tool_fail(tool, "out of memory");
	cp->tool = tool;
	cp->sync = cp->archive = sync;
	cp->remotes[0].lists = cp->remotes[1].lists = true;
	/* The umask can only be read by setting it. */
	cp->umask = umask(0);
	umask((mode_t)cp->umask);
	status = rr_options_parse(tool, cp, &argc, &argv);
	if (status == RR_OPTIONS_GO_ON)
		status = cp_parsed(cp, argc - 1, argv);
	free(cp);
	return status;
}

static int
cp_run(const struct rr_tool *tool, int argc, char **argv)
{
	return rr_cp_run(tool, argc, argv, false);
}

const struct rr_tool rr_tool_cp = {
	.name = "cp",
	.run = cp_run,
	.help = "Copy files and trees to, from and between servers.",
	.operands = "SOURCE... DESTINATION",
	.least = 2,
	.most = RR_TOOL_ANY,
	.notes = "A file that exists is written in place: it keeps its owner, mode, access lists\n"
		 "and links. SOURCE and DESTINATION can be devices and pipes, and - for standard\n"
		 "input or output. A local name such as a:/b is written ./a:/b.\n",
	.groups = {
		{ cp_options, 0 },
		{ rr_exclude_options, offsetof(struct rr_cp, excludes) },
		{ rr_cp_both, 0 },
		{ rr_remote_list_options, offsetof(struct rr_cp, remotes) },
		{ rr_filters_transport, offsetof(struct rr_cp, filters) },
		{ rr_filters_options, offsetof(struct rr_cp, filters) },
		{ rr_filters_calls, offsetof(struct rr_cp, filters) },
	},
};
