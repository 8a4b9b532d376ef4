/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "ulb/reply.h"

/*
 * The client as a whole: it owns its rr_client, and all that one call that is
 * waited for needs. Pieces of file data (client_io.c) are their callers'.
 */

#define TICK          (250 * RR_MILLISECOND)
#define CLEANING_TIME (5 * RR_SECOND)
#define JUKEBOX_PAUSE (200 * RR_MILLISECOND)

int
rr_nfs_fail(struct rr_nfs *nfs, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(nfs->text.text, sizeof(nfs->text.text), format, args);
	va_end(args);
	return error;
}

struct rpcrdma_bytes
rr_nfs_string(const char *text)
{
	return (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) };
}

bool
rr_nfs_handle_set(struct rr_nfs_handle *handle, struct rpcrdma_bytes data)
{
	if (data.length == 0 || data.length > sizeof(handle->data))
		return false;
	handle->length = data.length;
	memcpy(handle->data, data.data, data.length);
	return true;
}

bool
rr_nfs_interrupted(const struct rr_nfs *nfs)
{
	return !nfs->cleaning && nfs->config.interrupted &&
	       nfs->config.interrupted(nfs->config.interrupted_ctx);
}

static bool
interrupted(void *ctx)
{
	return rr_nfs_interrupted(ctx);
}

int
rr_nfs_wait(struct rr_nfs *nfs, struct rr_client *client, struct rr_call *call)
{
	int error;

	if (nfs->cleaning)
		call->timeout = CLEANING_TIME;
	error = rr_client_call_and_wait(client, call, interrupted, nfs);
	if (error == -RPCRDMA_ERR_CANCELLED)
		return rr_nfs_fail(nfs, error, "interrupted");
	if (error < 0)
		return rr_nfs_fail(nfs, error, "%s", rr_client_error(client));
	return 0;
}

/* ---- NFS procedures ---- */

struct pause {
	struct rr_timer timer;
	bool over;
};

static void
pause_over(struct rr_timer *timer)
{
	rr_container(timer, struct pause, timer)->over = true;
}

/* True where the pause was waited out, false where it was interrupted. */
static bool
wait_a_moment(struct rr_nfs *nfs)
{
	struct rr_loop *loop = nfs->engine->loop;
	struct pause pause = { .over = false };

	rr_timer_init(&pause.timer, pause_over);
	rr_loop_arm(loop, &pause.timer, JUKEBOX_PAUSE);
	while (!pause.over && !rr_nfs_interrupted(nfs))
		rr_loop_turn(loop, -1);
	rr_loop_disarm(loop, &pause.timer);
	return pause.over;
}

int
rr_nfs_call_with(struct rr_nfs *nfs, struct rr_call *call)
{
	uint64_t until = rr_now(nfs->env) + (nfs->cleaning ? 0 : nfs->config.rpc.retry);
	struct rpcrdma_arena arena = call->arena;
	nfsstat3 status;
	int error;

	call->program = &NFS_V3_program;
	call->reply_max += rr_ulb_nfs3_reply_max(call->proc, call->args);
	for (;;) {
		call->arena = arena;
		error = rr_nfs_wait(nfs, nfs->client, call);
		if (error < 0)
			return error;
		status = *(const nfsstat3 *)call->result;
		/* RFC 1813, section 2.6: "The client should wait and then try the request with a new
		 * RPC transaction ID." */
		if (status != NFS3ERR_JUKEBOX || rr_now(nfs->env) >= until)
			break;
		if (!wait_a_moment(nfs))
			return rr_nfs_fail(nfs, -RPCRDMA_ERR_CANCELLED, "interrupted");
	}
	if (status != NFS3_OK)
		return rr_nfs_fail(nfs, (int)status, "%s", rr_nfs_status_text(status));
	return 0;
}

int
rr_nfs_call(struct rr_nfs *nfs, uint32_t proc, const void *args, void *result)
{
	struct rr_call call = {
		.proc = proc,
		.args = args,
		.result = result,
		.keep = nfs->keep,
		.keep_size = sizeof(nfs->keep),
		.arena = rpcrdma_arena(nfs->arena, sizeof(nfs->arena)),
	};

	return rr_nfs_call_with(nfs, &call);
}

/* ---- Opening ---- */

struct deadline {
	struct rr_nfs *nfs;
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
greet(struct rr_nfs *nfs)
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
	return rr_nfs_wait(nfs, nfs->client, &call);
}

/* FSINFO: how much a READ, a WRITE, a READDIR and a file may have. */
static int
ask_limits(struct rr_nfs *nfs)
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
	nfs->readdir_max = (uint32_t)rr_min(info->dtpref, READDIR_MAX);
	if (nfs->readdir_max < READDIR_LEAST)
		nfs->readdir_max = READDIR_LEAST;
	nfs->file_max = info->maxfilesize;
	return 0;
}

static void
tick(struct rr_timer *timer)
{
	struct rr_nfs *nfs = rr_container(timer, struct rr_nfs, tick);

	rr_loop_arm(nfs->engine->loop, timer, TICK);
}

static int
open_all(struct rr_nfs *nfs)
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
rr_nfs_open(struct rr_engine *engine, const struct rr_nfs_config *config, struct rr_nfs **out,
	struct rr_text *text)
{
	struct rr_nfs *nfs;
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
		rr_nfs_close(nfs);
		return error;
	}
	*out = nfs;
	return 0;
}

void
rr_nfs_close(struct rr_nfs *nfs)
{
	if (!nfs)
		return;
	rr_loop_disarm(nfs->engine->loop, &nfs->tick);
	rr_client_free(nfs->client);
	rr_free(nfs->env, nfs);
}

/* ---- What it is ---- */

const char *
rr_nfs_error(const struct rr_nfs *nfs)
{
	return nfs->text.text;
}

struct rr_client *
rr_nfs_rpc(const struct rr_nfs *nfs)
{
	return nfs->client;
}

const char *
rr_nfs_export(const struct rr_nfs *nfs)
{
	return nfs->export;
}

const char *
rr_nfs_rest(const struct rr_nfs *nfs)
{
	return nfs->path + strlen(nfs->export);
}

const struct rr_nfs_handle *
rr_nfs_root(const struct rr_nfs *nfs)
{
	return &nfs->root;
}

uint32_t
rr_nfs_read_max(const struct rr_nfs *nfs)
{
	return nfs->read_max;
}

uint32_t
rr_nfs_write_max(const struct rr_nfs *nfs)
{
	return nfs->write_max;
}

uint64_t
rr_nfs_file_max(const struct rr_nfs *nfs)
{
	return nfs->file_max;
}

void
rr_nfs_cleaning(struct rr_nfs *nfs, bool clean)
{
	nfs->cleaning = clean;
}
