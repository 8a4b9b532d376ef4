/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/names.h"

#include <stdlib.h>
#include <string.h>

int
rr_names_fail(struct rr_names *names)
{
	return rr_outcome_fail(&names->outcome, names->tool, "%s: %s", names->remote.name,
		rr_nfs_explain(names->remote.nfs));
}

/* Splits the path of the URL into names->last, its last name, and names->path, the path above it. Returns an
 * exit status, after a message if the last name is too long, or is "." or "..". */
static int
names_split(struct rr_names *names)
{
	const struct rr_url *url = &names->remote.url;
	const char *last = url->path + rr_remote_last(url);
	size_t length = strcspn(last, "/");

	snprintf(names->path, sizeof(names->path), "%s", names->remote.rest);
	if (length > RR_NFS_NAME)
		return rr_outcome_fail(&names->outcome, names->tool, "%s: %s", names->remote.name,
			rr_nfs_status_text(names->remote.nfs, NFS3ERR_NAMETOOLONG));
	snprintf(names->last, sizeof(names->last), "%.*s", (int)length, last);
	if (strcmp(names->last, ".") != 0 && strcmp(names->last, "..") != 0)
		return RR_EXIT_OK;
	return rr_outcome_fail(&names->outcome, names->tool, "%s: a name is wanted, not '%s'",
		names->remote.name, names->last);
}

int
rr_names_open(struct rr_names *names, struct rpcrdma_engine *engine, const char *url)
{
	struct rr_text text;
	int error;

	names->remote.beside = true;
	error = rr_remote_open(engine, url, &names->remote, &text);
	if (!error)
		return names_split(names);
	rr_outcome_note(&names->outcome, names->remote.name, text.text);
	return rr_advice_fail(names->tool, &names->remote.url, names->remote.name, error, &text);
}

/* Opens the URL, calls each() for it, prints the outcome, and closes the connection. Returns an exit
 * status. */
static int
names_run_one(struct rr_names *names, struct rpcrdma_engine *engine, const char *url,
	int (*each)(struct rr_names *names))
{
	int status;

	rr_outcome_begin(&names->outcome);
	status = rr_names_open(names, engine, url);
	if (status == RR_EXIT_OK)
		status = each(names);
	rr_outcome_end(&names->outcome, stdout, status, names->remote.name, NULL);
	rr_remote_close(&names->remote);
	return status;
}

/* Makes the engine, and calls each() for every URL, until a signal comes. A URL that fails does not keep the
 * others from being handled. Returns an exit status. */
static int
names_run_all(struct rr_names *names, char **urls, int (*each)(struct rr_names *names))
{
	struct rr_engine_config config = rr_engine_config_default;
	struct rr_filters *filters = &names->filters;
	int status = rr_filters_start(names->tool, filters, &config);
	struct rpcrdma_engine *engine = NULL;
	struct rr_text text;

	if (status != RR_EXIT_OK)
		return status;
	rr_tool_catch_signals();
	rr_trail_prepare();
	names->remote.tcp = filters->transport == RR_TRANSPORT_TCP;
	if (rr_remote_engine(&config, &engine, &text) < 0)
		status = rr_tool_fail(names->tool, "%s", text.text);
	for (; engine && *urls && !rr_tool_interrupted(NULL); urls++)
		if (names_run_one(names, engine, *urls, each) != RR_EXIT_OK)
			status = RR_EXIT_FAILED;
	/* A signal has kept the other URLs from being handled. */
	if (engine && *urls)
		status = RR_EXIT_FAILED;
	rpcrdma_engine_free(engine);
	return rr_filters_end(names->tool, filters, rr_tool_end_output(names->tool, status));
}

int
rr_names_run(const struct rr_tool *tool, int argc, char **argv, int (*each)(struct rr_names *names))
{
	struct rr_names names = { .tool = tool, .remote.lists = tool == &rr_tool_rm };
	int status = rr_options_parse(tool, &names, &argc, &argv);

	return status == RR_OPTIONS_GO_ON ? names_run_all(&names, argv, each) : status;
}
