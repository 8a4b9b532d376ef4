/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files and ports that a server uses beside what all services do. Rules stay as they are while it runs:
 * SIGHUP adds no directories to a server, so none needs a rule then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/confine/helper.h"
#include "rpc/auth/gss_server.h"
#include "rpc/auth/gss_user.h"
#include "server/locks/keep.h"
#include "tool/sandbox.h"
#include "tool/serve/serve.h"
#include "vfs/idmap/idmap.h"

enum { SANDBOX_THREADS = 16 }; /* of the helper, for each kind of question */

/* A port of 0 is chosen by the system when the first thread listens. Clients that have locks of version 3 are
 * called at ports of their own, and other servers have ports that are asked for. */
static struct rr_confine_tcp
sandbox_tcp(const struct rr_serve *serve)
{
	struct rr_confine_tcp tcp = { .connects_anywhere = serve->version3 || serve->provider->connects };

	for (uint32_t i = 0; i < serve->address_count; i++)
		tcp.listens_anywhere |=
			rr_address_port((const struct sockaddr *)&serve->addresses[i].rdma) == 0;
	return tcp;
}

static void
sandbox_ports(const struct rr_serve *serve, struct rr_confine *confine)
{
	for (uint32_t i = 0; i < serve->address_count; i++)
		rr_confine_listens(
			confine, rr_address_port((const struct sockaddr *)&serve->addresses[i].rdma));
	if (serve->tcp_port)
		rr_confine_listens(confine, (uint16_t)serve->tcp_port);
}

/* What is kept for the time after a restart. Errors come again, and are reported, when it is opened. */
static void
sandbox_state(const struct rr_serve *serve, struct rr_confine *confine)
{
	char path[PATH_MAX];
	struct rr_text text;

	if (rr_serve_state(serve, path, &text) == 0 && rr_keep_make(path, &text) == 0)
		rr_confine_path(confine, path, RR_CONFINE_WRITE);
}

/* Makes the helper. Its threads are as many as the crews of a worker have for such questions (vfs/idmap,
 * rpc/auth), for a few workers. */
static int
sandbox_helper(const struct rr_tool *tool, const struct rr_serve *serve)
{
	const struct rr_helper_config config = {
		.desks = { [RR_HELPER_USERS] = { rr_idmap_help, NULL },
			[RR_HELPER_HOSTS] = { rr_idmap_help, NULL },
			[RR_HELPER_ADDRESSES] = { rr_address_help, NULL },
			[RR_HELPER_KERBEROS] = { serve->gss ? rr_gss_help : NULL,
				serve->gss ? serve->gss->acceptor : NULL } },
		.threads = SANDBOX_THREADS
	};
	struct rr_text text;

	return rr_helper_start(&config, &text) < 0 ? rr_tool_fail(tool, "%s", text.text) : RR_EXIT_OK;
}

int
rr_serve_confine(const struct rr_tool *tool, const struct rr_serve *serve)
{
	const struct rr_sandbox sandbox = { &serve->workers, &serve->filters, &serve->secure,
		serve->config.path };
	const struct rr_confine_tcp tcp = sandbox_tcp(serve);
	struct rr_confine confine = { .rules = -1 };
	int status;

	if (serve->workers.no_sandbox)
		return RR_EXIT_OK;
	status = sandbox_helper(tool, serve);
	if (status != RR_EXIT_OK)
		return status;
	rr_sandbox_begin(&sandbox, &tcp, &confine);
	sandbox_ports(serve, &confine);
	sandbox_state(serve, &confine);
	serve->provider->confine(serve, &confine);
	rr_sandbox_enter(&sandbox, RR_CONFINE_FILES, &confine);
	return RR_EXIT_OK;
}
