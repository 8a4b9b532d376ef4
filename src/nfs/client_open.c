/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "nfs/client_internal.h"
#include "nfs/nfs_private.h"

/* The way to a mounted export: connect, greet, mount, ask for the limits. */

#define TICK (250 * RR_MILLISECOND)

struct deadline {
	struct rpcrdma_nfs *nfs;
	uint64_t at; /* 0: none */
};

static bool
late_or_interrupted(void *ctx)
{
	const struct deadline *deadline = ctx;

	return (deadline->at && rr_now(deadline->nfs->env) >= deadline->at) ||
	       rr_nfs_interrupted(deadline->nfs);
}

/* Waits for the connection and for an answer to NULL: an RPC server that serves NFS version 3 is there. */
static int
greet(struct rpcrdma_nfs *nfs)
{
	struct rr_call call = {
		.program = &NFS_V3_program, .proc = NFSPROC3_NULL, .timeout = nfs->config.timeout
	};
	struct deadline deadline = { nfs, nfs->config.timeout ? rr_now(nfs->env) + nfs->config.timeout : 0 };
	int error = rr_client_wait_connected(nfs->client, late_or_interrupted, &deadline);

	if (error == -RPCRDMA_ERR_CANCELLED && !rr_nfs_interrupted(nfs))
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_TIMEDOUT,
			"no answer; check the port, and that an NFS server for this transport listens there");
	if (error == -RPCRDMA_ERR_CANCELLED)
		return rr_nfs_fail(nfs, error, "interrupted");
	if (error < 0)
		return rr_nfs_fail(nfs, error, "%s", rr_client_error(nfs->client));
	error = rr_nfs_wait(nfs, nfs->client, &call);
	if (error == -RPCRDMA_ERR_DISCONNECTED)
		return rr_nfs_fail(nfs, error, "%.150s; is an NFS server of this transport at this port?",
			rr_client_error(nfs->client));
	return error;
}

/* FSINFO: how much a READ, a WRITE, a READDIR and a file may have. */
static int
ask_limits(struct rpcrdma_nfs *nfs)
{
	enum { READDIR_MAX = 32 << 10, READDIR_LEAST = 4096, IO_LEAST = 512 };
	FSINFO3args args = { .fsroot = rr_nfs_fh(&nfs->root) };
	FSINFO3res result;
	const FSINFO3resok *info = &result.u.resok;
	int error = rr_nfs_call(nfs, NFSPROC3_FSINFO, &args, &result);

	if (error)
		return error;
	if (info->rtmax < IO_LEAST || info->wtmax < IO_LEAST)
		return rr_nfs_fail(nfs, -RPCRDMA_ERR_PEER,
			"the server takes no READ of more than %u and no WRITE "
			"of more than %u octets, which is no use",
			info->rtmax, info->wtmax);
	nfs->read_max = (uint32_t)rr_min(info->rtmax, RR_NFS_IO_MAX);
	nfs->write_max = (uint32_t)rr_min(info->wtmax, RR_NFS_IO_MAX);
	nfs->entries_max = RR_NFS_ENTRIES;
	nfs->readdir_max = (uint32_t)rr_min(info->dtpref, READDIR_MAX);
	if (nfs->readdir_max < READDIR_LEAST)
		nfs->readdir_max = READDIR_LEAST;
	nfs->file_max = info->maxfilesize;
	return 0;
}

static void
tick(struct rr_timer *timer)
{
	struct rpcrdma_nfs *nfs = rr_container(timer, struct rpcrdma_nfs, tick);

	rr_loop_arm(nfs->engine->loop, timer, TICK);
}

static int
open_all(struct rpcrdma_nfs *nfs)
{
	int error = rr_client_new(nfs->engine, &nfs->config.rpc, &nfs->client, &nfs->text);

	if (!error)
		error = greet(nfs);
	if (!error)
		error = rr_nfs_mount(nfs);
	if (!error)
		error = ask_limits(nfs);
	return error;
}

int
rr_nfs_open(struct rpcrdma_engine *engine, const struct rr_nfs_config *config, struct rpcrdma_nfs **out,
	struct rr_text *text)
{
	struct rpcrdma_nfs *nfs;
	int error;

	if (config->path[0] != '/' || strlen(config->path) >= RR_NFS_PATH)
		return rr_fail(text, -RPCRDMA_ERR_INVAL,
			"the path must begin with '/' and be shorter than %d octets", RR_NFS_PATH);
	nfs = rr_alloc(engine->env, sizeof(*nfs));
	if (!nfs)
		return rr_fail(text, -RPCRDMA_ERR_NOMEM, "%s", rpcrdma_strerror(-RPCRDMA_ERR_NOMEM));
	nfs->engine = engine;
	nfs->env = engine->env;
	nfs->config = *config;
	rr_nfs_pending_init(nfs);
	rr_engine_use(engine);
	snprintf(nfs->server, sizeof(nfs->server), "%s", config->server);
	strcpy(nfs->path, config->path);
	nfs->config.server = nfs->server;
	nfs->config.path = nfs->path;
	rr_timer_init(&nfs->tick, tick);
	if (config->interrupted)
		rr_loop_arm(engine->loop, &nfs->tick, TICK);
	error = open_all(nfs);
	if (error) {
		rr_fail(text, error, "%s", nfs->text.text);
		rpcrdma_nfs_close(nfs);
		return error;
	}
	*out = nfs;
	return 0;
}

void
rpcrdma_nfs_close(struct rpcrdma_nfs *nfs)
{
	struct rpcrdma_engine *engine;

	if (!nfs)
		return;
	engine = nfs->engine;
	rr_nfs_pending_end(nfs);
	rr_loop_disarm(engine->loop, &nfs->tick);
	rr_client_free(nfs->client);
	rr_free(nfs->env, nfs);
	rr_engine_leave(engine);
}
