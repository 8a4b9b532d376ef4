/* SPDX-License-Identifier: BSD-3-Clause */
/* This file makes calls of the NFS procedures: as version 3 defines them, or through a session of
 * version 4. */
#include "nfs/client_private.h"
#include "ulb/reply.h"

/* Begins a call of version 3. A server that answers no call on an open connection is given up after the time
 * for which a lost connection is tried again: nothing else would end the call. */
static void
send_3(struct rpcrdma_nfs *nfs, struct rr_call *call)
{
	if (call->proc == RR_V4_GETACL || call->proc == RR_V4_SETACL) {
		call->program = &rr_nfs_v3_acl_program;
		call->proc = call->proc == RR_V4_GETACL ? ACLPROC3_GETACL : ACLPROC3_SETACL;
	}
	if (!call->program)
		call->program = &rr_nfs_v3_program;
	if (call->timeout == 0) {
		call->timeout = nfs->config.rpc.retry;
		call->silence = true;
	}
	rr_client_call(nfs->client, call);
}

void
rr_nfs_send(struct rpcrdma_nfs *nfs, struct rr_call *call)
{
	if (nfs->v4)
		rr_v4_call(nfs->v4, call);
	else
		send_3(nfs, call);
}

void
rr_nfs_withdraw(struct rpcrdma_nfs *nfs, struct rr_call *call)
{
	if (nfs->v4)
		rr_v4_cancel(nfs->v4, call);
	else
		rr_client_cancel(nfs->client, call);
}

bool
rr_nfs_is_newer(const struct rpcrdma_nfs *nfs)
{
	return nfs->v4 && rr_v4_minor(nfs->v4) >= 2;
}

uint32_t
rr_nfs_reply_max(uint32_t proc, const void *args)
{
	return proc <= NFSPROC3_COMMIT ? rr_ulb_nfs3_reply_max(proc, args) : 0;
}

const char *
rr_nfs_why(const struct rpcrdma_nfs *nfs)
{
	return nfs->v4 ? rr_v4_error(nfs->v4) : rr_client_error(nfs->client);
}

/* Returns a count that changes when a call under way may have been executed twice: in version 3, how often
 * the connection was made again; in version 4, how many sessions were made. RFC 8881, 2.10.6.1: in one
 * session, a call that is sent again on another connection is executed once. */
uint32_t
rr_nfs_repeats(const struct rpcrdma_nfs *nfs)
{
	return nfs->v4 ? rr_v4_sessions(nfs->v4) : rr_client_reconnects(nfs->client);
}

int
rr_nfs_turn_until(struct rpcrdma_nfs *nfs, const bool *over)
{
	while (!*over) {
		int turned = rr_loop_turn(nfs->engine->loop, -1);

		if (*over)
			break;
		if (turned < 0)
			return rr_nfs_fail(nfs, turned, "the event loop failed");
		if (rr_nfs_interrupted(nfs))
			return rr_nfs_fail(nfs, -RPCRDMA_ERR_CANCELLED, "interrupted");
	}
	return 0;
}

struct send_wait {
	bool done;
	int error;
};

/* Called when a call ends, for which rr_nfs_send_and_wait() waits: notes the error, and that the wait is
 * over. */
static void
send_done(struct rr_call *call, int error)
{
	struct send_wait *wait = call->ctx;

	wait->done = true;
	wait->error = error;
}

int
rr_nfs_send_and_wait(struct rpcrdma_nfs *nfs, struct rr_call *call)
{
	struct send_wait wait = { .done = false };
	int error;

	if (nfs->cleaning)
		call->timeout = RR_NFS_CLEANING_TIME;
	call->done = send_done;
	call->ctx = &wait;
	rr_nfs_send(nfs, call);
	error = rr_nfs_turn_until(nfs, &wait.done);
	if (error) {
		rr_nfs_withdraw(nfs, call);
		return error;
	}
	return wait.error < 0 ? rr_nfs_fail(nfs, wait.error, "%s", rr_nfs_why(nfs)) : 0;
}
