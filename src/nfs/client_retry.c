/* SPDX-License-Identifier: BSD-3-Clause */
/* This file repeats a call to a busy server (NFS3ERR_JUKEBOX; NFS4ERR_DELAY has the same number) after a
 * pause. */
#include "nfs/client_private.h"

#define RETRY_PAUSE (200 * RR_MILLISECOND)

void
rr_nfs_retry_init(struct rpcrdma_nfs *nfs, struct rr_nfs_retry *retry, void (*again)(struct rr_timer *later))
{
	retry->until = rr_now(nfs->env) + (nfs->cleaning ? RR_NFS_CLEANING_TIME : nfs->config.rpc.retry);
	rr_timer_init(&retry->later, again);
}

bool
rr_nfs_retry_later(struct rpcrdma_nfs *nfs, struct rr_nfs_retry *retry, nfsstat3 status)
{
	if (status != NFS3ERR_JUKEBOX || rr_now(nfs->env) >= retry->until)
		return false;
	/* RFC 1813, section 2.6: "The client should wait and then try the request with a new RPC transaction
	 * ID." */
	rr_loop_arm(nfs->engine->loop, &retry->later, RETRY_PAUSE);
	return true;
}

bool
rr_nfs_retry_cancel(struct rpcrdma_nfs *nfs, struct rr_nfs_retry *retry)
{
	if (!rr_timer_armed(&retry->later))
		return false;
	rr_loop_disarm(nfs->engine->loop, &retry->later);
	return true;
}
