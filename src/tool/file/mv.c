/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tool/ask.h"
#include "tool/pairs.h"

/* `rpcrdma mv` gives objects other names or directories; no data moves. */

/* Called if the new name does not exist, and a slash follows it: it can only become the name of a directory.
 * `above` is the directory of the source. Returns an exit status, after a message if the source is no
 * directory. */
static int
mv_check_directory(struct rr_pairs *pairs, const struct rpcrdma_nfs_handle *above)
{
	struct rpcrdma_nfs *nfs = pairs->source.remote.nfs;
	struct rpcrdma_nfs_object object = { .size = sizeof(object) };

	if (rpcrdma_nfs_lookup(nfs, above, pairs->source.last, &object, NULL) != 0)
		return rr_pairs_fail(pairs, rpcrdma_nfs_error(nfs));
	if (object.type == RPCRDMA_NFS_DIRECTORY)
		return RR_EXIT_OK;
	return rr_pairs_fail_there(pairs, "there is no such directory");
}

/* With --verbose, and without --json, prints the old name, and the new one. */
static void
mv_say(const struct rr_pairs *pairs, const char *name)
{
	const char *to = pairs->to.name;
	bool whole = pairs->name[0], slash = !whole && to[0] && to[strlen(to) - 1] != '/';

	if (pairs->to.verbose == 0 || pairs->source.outcome.json)
		return;
	printf("move ");
	rr_tool_put_name(stdout, pairs->source.remote.name);
	printf(" -> ");
	rr_tool_put_name(stdout, to);
	printf("%s", slash ? "/" : "");
	rr_tool_put_name(stdout, whole ? "" : name);
	putchar('\n');
}

/* Gives the current source the name `name` in the directory of the destination. With --no-clobber, an object
 * that has the name already is an error; without it, the object is replaced. Returns an exit status, after a
 * message if it is not OK. */
static int
mv_one(struct rr_pairs *pairs, const char *name)
{
	struct rpcrdma_nfs *nfs = pairs->source.remote.nfs;
	struct rpcrdma_nfs_object from = { .size = sizeof(from) }, there = { .size = sizeof(there) };
	const struct rpcrdma_nfs_handle *to = &pairs->directory.handle;
	int error = rr_nfs_find(nfs, pairs->source.path, true, &from);

	if (!error && rr_pairs_want_directory(pairs) && mv_check_directory(pairs, &from.handle) != RR_EXIT_OK)
		return RR_EXIT_FAILED;
	if (!error && (pairs->keep || pairs->ask)) {
		error = rpcrdma_nfs_lookup(nfs, to, name, &there, NULL);
		if (!error && pairs->keep)
			return rr_pairs_fail_both(pairs, "its new name exists already");
		if (!error && !rr_ask(pairs->tool, "replace %s by %s", name, pairs->source.remote.name))
			return RR_EXIT_OK;
		error = error == RPCRDMA_NFS_NOENT ? 0 : error;
	}
	if (!error)
		error = rpcrdma_nfs_rename(nfs, &from.handle, pairs->source.last, to, name, NULL);
	if (error)
		return rr_pairs_fail_both(pairs, rr_nfs_explain(nfs));
	mv_say(pairs, name);
	return RR_EXIT_OK;
}

/* Take -f, -i and -n: the last of the three counts. */
static int
mv_take(void *state, bool keep, bool ask)
{
	struct rr_pairs *pairs = state;

	pairs->keep = keep;
	pairs->ask = ask;
	return RR_EXIT_OK;
}

static int
mv_take_keep(const struct rr_tool *tool, void *state, const char *argument)
{
	(void)tool, (void)argument;
	return mv_take(state, true, false);
}

static int
mv_take_ask(const struct rr_tool *tool, void *state, const char *argument)
{
	(void)tool, (void)argument;
	return mv_take(state, false, true);
}

static int
mv_take_force(const struct rr_tool *tool, void *state, const char *argument)
{
	(void)tool, (void)argument;
	return mv_take(state, false, false);
}

static int
mv_run(const struct rr_tool *tool, int argc, char **argv)
{
	return rr_pairs_run(tool, argc, argv, mv_one);
}

static const struct rr_option mv_options[] = {
	{ .letter = 'n',
		.name = "no-clobber",
		.help = "leave a file that has the new name already; that is an error",
		.kind = RR_OPTION_CALL,
		.take = mv_take_keep },
	{ .letter = 'i',
		.name = "interactive",
		.help = "ask before a file that has the new name already is replaced",
		.kind = RR_OPTION_CALL,
		.take = mv_take_ask },
	{ .letter = 'f',
		.name = "force",
		.help = "replace a file that has the new name already, which is done without options, too",
		.kind = RR_OPTION_CALL,
		.take = mv_take_force },
	{ 0 },
};

const struct rr_tool rr_tool_mv = {
	.name = "mv",
	.run = mv_run,
	.help = "Give files and directories of a server other names.",
	.operands = "SOURCE... DESTINATION",
	.least = 2,
	.most = RR_TOOL_ANY,
	.notes = "SOURCE and DESTINATION are URLs of one server. A file that has the new name is\n"
		 "replaced.\n",
	.groups = {
		{ mv_options, 0 },
		{ rr_outcome_options, offsetof(struct rr_pairs, source.outcome) },
		{ rr_remote_list_options, offsetof(struct rr_pairs, to) },
		{ rr_filters_transport, offsetof(struct rr_pairs, filters) },
		{ rr_filters_options, offsetof(struct rr_pairs, filters) },
		{ rr_filters_calls, offsetof(struct rr_pairs, filters) },
	},
};
