/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/remote.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool/tool.h"

/* How long a server that was there and is gone is tried again, and how long a new one may take to answer at
 * all. */
#define RETRY   (120 * RR_SECOND)
#define TIMEOUT (20 * RR_SECOND)

enum { ADDRESSES = 8 };

const struct rr_option rr_remote_options[] = {
	{ .letter = 'v',
		.name = "verbose",
		.help = "say on standard error what the connection goes over",
		.kind = RR_OPTION_FLAG,
		.at = offsetof(struct rr_remote, verbose) },
	{ 0 },
};

int
rr_remote_engine(const struct rr_engine_config *config, struct rpcrdma_engine **engine, struct rr_text *text)
{
	int error = rr_engine_new(&rr_env_system, config, engine);

	return error ? rr_fail(text, error, "the engine cannot start: %s", rpcrdma_strerror(error)) : 0;
}

/* The caller as AUTH_SYS tells it: the user who runs the command, or the one that the URL names. */
static void
set_credential(const struct rr_url *url, const char *host, struct rr_auth_sys *cred)
{
	gid_t groups[RR_AUTH_SYS_GIDS];
	int count = url->has_uid || url->has_gid ? 0 : getgroups(RR_AUTH_SYS_GIDS, groups);

	cred->uid = url->has_uid ? url->uid : (uint32_t)geteuid();
	cred->gid = url->has_gid ? url->gid : (uint32_t)getegid();
	for (int i = 0; i < count; i++)
		cred->gids[cred->gid_count++] = (uint32_t)groups[i];
	cred->machine = (struct rpcrdma_bytes){ host, (uint32_t)strlen(host) };
}

static int
open_first(struct rpcrdma_engine *engine, struct rr_nfs_config *config, struct rr_remote *remote,
	struct rr_text *text)
{
	struct sockaddr_storage addresses[ADDRESSES];
	int count = rr_url_resolve(&remote->url, addresses, ADDRESSES, text), error = count;

	for (int i = 0; i < count; i++) {
		config->rpc.address = addresses[i];
		config->rpc.address_size = rr_url_address_size(&addresses[i]);
		error = rr_nfs_open(engine, config, &remote->nfs, text);
		if (error != -RPCRDMA_ERR_REFUSED && error != -RPCRDMA_ERR_UNREACHABLE &&
			error != -RPCRDMA_ERR_TIMEDOUT)
			return error;
	}
	return error;
}

static void
say_over(const struct rr_remote *remote)
{
	struct rpcrdma_negotiated negotiated;

	rr_client_negotiated(rr_nfs_rpc(remote->nfs), &negotiated);
	fprintf(stderr, "%s: over %s\n", remote->name, negotiated.fabric);
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

int
rr_remote_open(struct rpcrdma_engine *engine, const char *url, struct rr_remote *remote, struct rr_text *text)
{
	struct rr_nfs_config config = {
		.server = remote->url.host,
		.path = remote->url.path,
		.timeout = TIMEOUT,
		.interrupted = rr_tool_interrupted,
		.rpc.retry = RETRY,
	};
	char host[RR_AUTH_SYS_NAME + 1] = "", above[RR_URL_PATH];
	int error;

	snprintf(remote->name, sizeof(remote->name), "%.*s", (int)strcspn(url, "?"), url);
	error = rr_url_parse(url, &remote->url, text);
	if (error)
		return error;
	if (remote->tcp)
		rr_url_prefer_tcp(&remote->url);
	snprintf(above, sizeof(above), "%.*s", (int)rr_remote_last(&remote->url), remote->url.path);
	if (remote->beside)
		config.path = above;
	gethostname(host, sizeof(host) - 1);
	config.mount_port = remote->url.mount_port;
	config.rpc.transport = remote->url.transport;
	set_credential(&remote->url, host, &config.rpc.cred);
	error = open_first(engine, &config, remote, text);
	if (!error && remote->verbose)
		say_over(remote);
	return error;
}

void
rr_remote_close(struct rr_remote *remote)
{
	rr_nfs_close(remote->nfs);
	remote->nfs = NULL;
}
