/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/remote.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool/ask.h"
#include "tool/report.h"
#include "tool/secure.h"
#include "tool/tool.h"

const struct rr_option rr_remote_options[] = {
	{ .letter = 'v',
		.name = "verbose",
		.help = "say on standard error what the connection goes over",
		.kind = RR_OPTION_COUNT,
		.at = offsetof(struct rr_remote, verbose) },
	{ 0 },
};

const struct rr_option rr_remote_list_options[] = {
	{ .letter = 'v',
		.name = "verbose",
		.help = "list what is done; -vv: also say on standard error what the connection goes over",
		.kind = RR_OPTION_COUNT,
		.at = offsetof(struct rr_remote, verbose) },
	{ 0 },
};

int
rr_remote_engine(const struct rr_engine_config *config, struct rpcrdma_engine **engine, struct rr_text *text)
{
	int error = rr_engine_new(&rr_env_system, config, engine);

	return error ? rr_fail(text, error, "the engine cannot start: %s", rpcrdma_strerror(error)) : 0;
}

static void
remote_say_over(const struct rr_remote *remote)
{
	struct rpcrdma_negotiated negotiated;

	rr_client_negotiated(rr_nfs_rpc(remote->nfs), &negotiated);
	fprintf(stderr, "%s: over %s", remote->name, negotiated.fabric);
	if (negotiated.tls) {
		fprintf(stderr, ", ");
		rr_report_security(stderr, &negotiated);
	}
	if (negotiated.principal) {
		fprintf(stderr, ", ");
		rr_report_flavor(stderr, &negotiated);
	}
	fputc('\n', stderr);
}

/* Has no core file tell the keys of the connection, where it has some. */
static void
remote_keep_keys(const struct rr_remote *remote)
{
	struct rpcrdma_negotiated negotiated;

	rr_client_negotiated(rr_nfs_rpc(remote->nfs), &negotiated);
	if (negotiated.tls || negotiated.principal)
		rr_tool_keep_core();
}

size_t
rr_remote_last(const struct rr_url *url)
{
	size_t end = strlen(url->path);

	while (end > 1 && url->path[end - 1] == '/')
		end--;
	while (end > 1 && url->path[end - 1] != '/')
		end--;
	return end;
}

bool
rr_remote_has_slash(const struct rr_remote *remote)
{
	const char *path = remote->url.path;

	return path[0] && path[strlen(path) - 1] == '/';
}

/* Asks the user whether the server is the one that is meant, which nobody here knows yet. */
static bool
remote_ask(void *ctx, const char *server, const char *fingerprint)
{
	(void)ctx;
	return rr_ask(&(struct rr_tool){ .name = "tls" },
		"%s is not known here; its key has the fingerprint %s, which the server prints at its start; "
		"trust it from now on (y or n)",
		server, fingerprint);
}

int
rr_remote_open(struct rpcrdma_engine *engine, const char *url, struct rr_remote *remote, struct rr_text *text)
{
	const struct rpcrdma_nfs_config config = { .interrupted = rr_tool_interrupted,
		.connections = remote->connections,
		.trust = isatty(STDIN_FILENO) ? remote_ask : NULL };
	char above[RR_URL_PATH];
	int error;

	snprintf(remote->name, sizeof(remote->name), "%.*s", (int)strcspn(url, "?"), url);
	error = rr_url_parse(url, &remote->url, text);
	if (error)
		return error;
	if (remote->tcp)
		rr_url_prefer_tcp(&remote->url);
	if (remote->version_3 && remote->url.version == RR_NFS_VERSION_ANY)
		remote->url.version = RR_NFS_VERSION_3;
	/* The path in front of the last name, which is mounted if `beside` is set. */
	snprintf(above, sizeof(above), "%.*s", (int)rr_remote_last(&remote->url), remote->url.path);
	error = rr_nfs_open_url(
		engine, &config, &remote->url, remote->beside ? above : remote->url.path, &remote->nfs, text);
	if (!error)
		error = rpcrdma_nfs_root(remote->nfs, &remote->root, &remote->rest);
	if (!error)
		remote_keep_keys(remote);
	if (!error && remote->verbose > remote->lists)
		remote_say_over(remote);
	return error;
}

void
rr_remote_close(struct rr_remote *remote)
{
	rpcrdma_nfs_close(remote->nfs);
	remote->nfs = NULL;
}
