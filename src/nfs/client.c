/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/client_private.h"

#include <stdio.h>
#include <string.h>

#include "ulb/reply.h"

/* This file has the client as a whole: it owns its rr_client, and the memory for the call that is being
 * waited for. Pieces of file data (client_io.c) belong to their callers. */

int
rr_nfs_fail(struct rpcrdma_nfs *nfs, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(nfs->text.text, sizeof(nfs->text.text), format, args);
	va_end(args);
	nfs->refused = 0;
	return error;
}

struct rpcrdma_bytes
rr_nfs_string(const char *text)
{
	return (struct rpcrdma_bytes){ text, (uint32_t)strlen(text) };
}

bool
rr_nfs_handle_set(struct rpcrdma_nfs_handle *handle, struct rpcrdma_bytes data)
{
	if (data.length == 0 || data.length > sizeof(handle->data))
		return false;
	handle->length = data.length;
	memcpy(handle->data, data.data, data.length);
	return true;
}

bool
rr_nfs_interrupted(const struct rpcrdma_nfs *nfs)
{
	return !nfs->cleaning && nfs->config.interrupted &&
	       nfs->config.interrupted(nfs->config.interrupted_ctx);
}

/* Tells the RPC client, which calls this while it waits, whether the user has interrupted the NFS client. */
static bool
client_interrupted(void *ctx)
{
	return rr_nfs_interrupted(ctx);
}

int
rr_nfs_wait(struct rpcrdma_nfs *nfs, struct rpcrdma_client *client, struct rr_call *call)
{
	int error;

	if (nfs->cleaning)
		call->timeout = RR_NFS_CLEANING_TIME;
	error = rr_client_call_and_wait(client, call, client_interrupted, nfs);
	if (error == -RPCRDMA_ERR_CANCELLED)
		return rr_nfs_fail(nfs, error, "interrupted");
	if (error < 0)
		return rr_nfs_fail(nfs, error, "%s", rr_client_error(client));
	return 0;
}

/* ---- NFS procedures ---- */

/* The pause after which a call to a busy server is repeated. */
struct client_pause {
	struct rr_nfs_retry retry;
	bool over;
};

/* Called by the loop at the end of the pause for a busy server: rr_nfs_call_with() stops waiting, and repeats
 * the call. */
static void
client_pause_over(struct rr_timer *timer)
{
	rr_container(timer, struct client_pause, retry.later)->over = true;
}

/* Sends the call and waits for its answer. Returns the status of NFS in the answer, or a negative error if no
 * valid answer came. */
static int
client_try(struct rpcrdma_nfs *nfs, struct rr_call *call)
{
	int error = rr_nfs_send_and_wait(nfs, call);

	return error < 0 ? error : (int)*(const nfsstat3 *)call->result;
}

int
rr_nfs_call_with(struct rpcrdma_nfs *nfs, struct rr_call *call)
{
	const struct rpcrdma_arena arena = call->arena;
	struct client_pause pause;
	int status, error;

	call->reply_max += rr_nfs_reply_max(call->proc, call->args);
	call->often_large = call->proc <= NFSPROC3_COMMIT && rr_ulb_nfs3[call->proc].often_large;
	rr_nfs_retry_init(nfs, &pause.retry, client_pause_over);
	status = client_try(nfs, call);
	while (status > 0 && rr_nfs_retry_later(nfs, &pause.retry, (nfsstat3)status)) {
		pause.over = false;
		error = rr_nfs_turn_until(nfs, &pause.over);
		if (error) {
			rr_nfs_retry_cancel(nfs, &pause.retry);
			return error;
		}
		/* The next answer may use the whole arena again. */
		call->arena = arena;
		status = client_try(nfs, call);
	}
	return status > 0 ? rr_nfs_fail(nfs, status, "%s", rr_nfs_status_text(nfs, status)) : status;
}

int
rr_nfs_call(struct rpcrdma_nfs *nfs, uint32_t proc, const void *args, void *result)
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

/* ---- Properties ---- */

const char *
rpcrdma_nfs_error(const struct rpcrdma_nfs *nfs)
{
	return nfs ? nfs->text.text : "there is no client: the pointer to it is NULL";
}

struct rpcrdma_client *
rr_nfs_rpc(const struct rpcrdma_nfs *nfs)
{
	return nfs->client;
}

const struct rr_client_config *
rr_nfs_service(const struct rpcrdma_nfs *nfs)
{
	return &nfs->config.rpc;
}

const char *
rr_nfs_export(const struct rpcrdma_nfs *nfs)
{
	return nfs->export;
}

const char *
rr_nfs_rest(const struct rpcrdma_nfs *nfs)
{
	/* The path begins with that of the export. */
	return nfs->path + strlen(nfs->export);
}

const struct rpcrdma_nfs_handle *
rr_nfs_root(const struct rpcrdma_nfs *nfs)
{
	return &nfs->root;
}

uint32_t
rr_nfs_read_max(const struct rpcrdma_nfs *nfs)
{
	return nfs->read_max;
}

uint32_t
rr_nfs_write_max(const struct rpcrdma_nfs *nfs)
{
	return nfs->write_max;
}

uint64_t
rr_nfs_file_max(const struct rpcrdma_nfs *nfs)
{
	return nfs->file_max;
}

void
rr_nfs_cleaning(struct rpcrdma_nfs *nfs, bool clean)
{
	nfs->cleaning = clean;
}
