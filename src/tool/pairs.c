/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/pairs.h"

#include <string.h>
#include <strings.h>

/* Returns what messages call the current source: the text of a symbolic link, else the URL. */
static const char *
pairs_source(const struct rr_pairs *pairs)
{
	return pairs->symbolic ? pairs->text : pairs->source.remote.name;
}

int
rr_pairs_fail(struct rr_pairs *pairs, const char *why)
{
	return rr_outcome_fail(&pairs->source.outcome, pairs->tool, "%s: %s", pairs_source(pairs), why);
}

int
rr_pairs_fail_both(struct rr_pairs *pairs, const char *why)
{
	return rr_outcome_fail(&pairs->source.outcome, pairs->tool, "%s -> %s: %s", pairs_source(pairs),
		pairs->to.name, why);
}

int
rr_pairs_fail_there(struct rr_pairs *pairs, const char *why)
{
	return rr_outcome_fail(&pairs->source.outcome, pairs->tool, "%s: %s", pairs->to.name, why);
}

/* pairs_find() refuses an object that exists under such a name, unless it is a directory, which leaves
 * pairs->name empty. */
bool
rr_pairs_want_directory(const struct rr_pairs *pairs)
{
	return pairs->name[0] && rr_remote_has_slash(&pairs->to);
}

/* ---- The destination ---- */

/* Copies the last name of a path: "b" of "a/b/". The name becomes empty if the path has no last name, or one
 * that no file can have. Returns the offset at which the last name begins in path. */
static size_t
pairs_last(const char *path, char name[RR_NFS_NAME + 1])
{
	size_t end = strlen(path), start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	name[0] = '\0';
	if (end - start <= RR_NFS_NAME)
		snprintf(name, RR_NFS_NAME + 1, "%.*s", (int)(end - start), path + start);
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		name[0] = '\0';
	return start;
}

/* Called when the destination is no directory, or does not exist: copies the last name of the destination to
 * pairs->name, and finds the directory above it. Returns an exit status, after a message if it is not OK. */
static int
pairs_find_above(struct rr_pairs *pairs)
{
	char above[RR_URL_PATH];
	size_t length = pairs_last(pairs->to.rest, pairs->name);

	if (pairs->name[0] == '\0')
		return rr_pairs_fail_there(pairs, "this is no name that a file can have");
	snprintf(above, sizeof(above), "%.*s", (int)length, pairs->to.rest);
	if (rr_nfs_find(pairs->to.nfs, above, true, &pairs->directory) != 0)
		return rr_pairs_fail_there(pairs, rr_nfs_explain(pairs->to.nfs));
	return RR_EXIT_OK;
}

/* Finds the directory that the new names are made in: the destination, if the destination is a directory,
 * otherwise the directory above it. With several sources, the destination must be a directory. Returns an
 * exit status, after a message if it is not OK. */
static int
pairs_find(struct rr_pairs *pairs, bool several)
{
	struct rpcrdma_nfs_object *object = &pairs->directory;
	int error;

	object->size = sizeof(*object);
	error = rr_nfs_find(pairs->to.nfs, pairs->to.rest, true, object);
	if (!error && object->type == RPCRDMA_NFS_DIRECTORY)
		return RR_EXIT_OK;
	if (error && error != RPCRDMA_NFS_NOENT)
		return rr_pairs_fail_there(pairs, rr_nfs_explain(pairs->to.nfs));
	if (!error && rr_remote_has_slash(&pairs->to))
		return rr_pairs_fail_there(pairs, "it is no directory");
	if (several)
		return rr_pairs_fail_there(pairs, "several sources need a directory to go to");
	return pairs_find_above(pairs);
}

/* ---- Sources ---- */

/* Tells whether both URLs name the same server, port and version of NFS. On another server, the file handle
 * of a source would be unknown, or belong to another file. */
static bool
pairs_same_server(const struct rr_url *a, const struct rr_url *b)
{
	return strcasecmp(a->host, b->host) == 0 && a->port == b->port && a->version == b->version;
}

/* Opens the directory of the current source, which is a URL, and copies the source's last name to `last`. It
 * is an error if the source is on another server than the destination. Returns an exit status, after a
 * message if it is not OK. */
static int
pairs_open_source(struct rr_pairs *pairs, struct rpcrdma_engine *engine, char last[RR_NFS_NAME + 1])
{
	struct rr_names *source = &pairs->source;
	int status = rr_names_open(source, engine, pairs->text);

	if (status != RR_EXIT_OK)
		return status;
	if (!pairs_same_server(&source->remote.url, &pairs->to.url))
		return rr_pairs_fail(pairs,
			"it is on another server than the destination, or reached in another way; "
			"`rpcrdma cp` copies");
	strcpy(last, source->last);
	return last[0] ? RR_EXIT_OK : rr_pairs_fail(pairs, "an export has no name in a directory");
}

/* Opens the current source, unless it is the text of a symbolic link, and calls each() with the name that is
 * to be made. This name is the last name of the destination if the destination is no directory, otherwise
 * the last name of the source; it is stored in `last`. Returns an exit status, after a message if it is not
 * OK; after a signal, RR_EXIT_FAILED without a message. */
static int
pairs_run_one(struct rr_pairs *pairs, struct rpcrdma_engine *engine,
	int (*each)(struct rr_pairs *, const char *), char last[RR_NFS_NAME + 1])
{
	int status = RR_EXIT_OK;

	if (rr_tool_interrupted(NULL))
		return RR_EXIT_FAILED;
	if (pairs->symbolic)
		pairs_last(pairs->text, last);
	else
		status = pairs_open_source(pairs, engine, last);
	if (status != RR_EXIT_OK)
		return status;
	if (pairs->name[0])
		strcpy(last, pairs->name);
	return last[0] ? each(pairs, last)
		       : rr_pairs_fail(pairs, "it has no last name: the destination must say the name");
}

/* Opens the current source, calls each() for it, prints the outcome, and closes the source. In the outcome,
 * the new name follows the destination, unless the destination itself is the new name (pairs->name). Returns
 * an exit status. */
static int
pairs_run_next(
	struct rr_pairs *pairs, struct rpcrdma_engine *engine, int (*each)(struct rr_pairs *, const char *))
{
	char name[RR_NFS_NAME + 1] = "";
	int status;

	rr_outcome_begin(&pairs->source.outcome);
	status = pairs_run_one(pairs, engine, each, name);
	pairs->source.outcome.files = status == RR_EXIT_OK;
	rr_outcome_end(&pairs->source.outcome, stdout, status,
		pairs->symbolic ? pairs->text : pairs->source.remote.name,
		&(struct rr_outcome_to){ pairs->to.name, pairs->name[0] ? "" : name });
	rr_remote_close(&pairs->source.remote);
	return status;
}

/* Connects to the server of the destination and finds the directory for the new names. Returns an exit
 * status. If it is not OK, a message was printed, and the command must end. */
static int
pairs_open_destination(struct rr_pairs *pairs, struct rpcrdma_engine *engine, const char *url, bool several)
{
	struct rr_outcome *outcome = &pairs->source.outcome;
	struct rr_text text;
	int error, status;

	rr_outcome_begin(outcome);
	error = rr_remote_open(engine, url, &pairs->to, &text);
	if (!error)
		status = pairs_find(pairs, several);
	else {
		rr_outcome_note(outcome, pairs->to.name, text.text);
		status = rr_advice_fail(pairs->tool, &pairs->to.url, pairs->to.name, error, &text);
	}
	if (status != RR_EXIT_OK)
		rr_outcome_end(outcome, stdout, status, pairs->to.name, NULL);
	return status;
}

/* Opens the destination, and calls each() for every source. Here sources[count] is the destination. Returns
 * an exit status: a source that fails does not keep the others from being handled. */
static int
pairs_run_sources(struct rr_pairs *pairs, struct rpcrdma_engine *engine, int count, char **sources,
	int (*each)(struct rr_pairs *, const char *))
{
	int status = pairs_open_destination(pairs, engine, sources[count], count > 1);

	if (status != RR_EXIT_OK)
		return status;
	for (int i = 0; i < count; i++) {
		pairs->text = sources[i];
		if (pairs_run_next(pairs, engine, each) != RR_EXIT_OK)
			status = RR_EXIT_FAILED;
	}
	return status;
}

/* Makes the engine, and handles all operands; the last one is the destination. The options of connections,
 * which were stored for the destination, count for the sources, too. Returns an exit status. */
static int
pairs_run_all(struct rr_pairs *pairs, int argc, char **argv, int (*each)(struct rr_pairs *, const char *))
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rpcrdma_engine *engine;
	struct rr_text text;
	int status = rr_filters_start(pairs->tool, &pairs->filters, &config);

	if (status != RR_EXIT_OK)
		return status;
	rr_tool_catch_signals();
	pairs->to.tcp = pairs->filters.transport == RR_TRANSPORT_TCP;
	pairs->source.tool = pairs->tool;
	pairs->source.remote.tcp = pairs->to.tcp;
	pairs->source.remote.verbose = pairs->to.verbose;
	pairs->source.remote.lists = pairs->to.lists = pairs->tool == &rr_tool_mv;
	if (rr_remote_engine(&config, &engine, &text) < 0)
		return rr_filters_end(
			pairs->tool, &pairs->filters, rr_tool_fail(pairs->tool, "%s", text.text));
	status = pairs_run_sources(pairs, engine, argc - 1, argv, each);
	rr_remote_close(&pairs->to);
	rpcrdma_engine_free(engine);
	return rr_filters_end(pairs->tool, &pairs->filters, rr_tool_end_output(pairs->tool, status));
}

int
rr_pairs_run(const struct rr_tool *tool, int argc, char **argv,
	int (*each)(struct rr_pairs *pairs, const char *name))
{
	struct rr_pairs pairs = { .tool = tool };
	int status = rr_options_parse(tool, &pairs, &argc, &argv);

	if (status != RR_OPTIONS_GO_ON)
		return status;
	/* All operands are URLs; of symbolic links, only the destination, which is the last operand. */
	for (int i = pairs.symbolic ? argc - 1 : 0; i < argc; i++)
		if (rr_options_url(tool, argv[i]) != RR_EXIT_OK)
			return RR_EXIT_USAGE;
	return pairs_run_all(&pairs, argc, argv, each);
}
