/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V3_V3_H
#define RR_VFS_NFS_V3_V3_H

#include "vfs/nfs/remote/remote.h"

/*
 * This is the provider of directories of another server, by NFS version 3 (RFC 1813).
 *
 * Version 3 has no opens: share reservations (of opens alone) hold within this server, and an opened file
 * that another client removes is gone. Locks are those of the other server if the configuration names its NLM
 * (lock.h); there must be one provider alone then, as its locks belong to it. Else they hold within this
 * server, which keeps those of its clients in tables. There are no leases, holes, copies or extended
 * attributes (RR_VFS_NOTSUPP).
 */

/* Makes a provider for the loop of the engine: see rr_remote_new(). */
int rr_v3_new(struct rpcrdma_engine *engine, struct rr_remote_shared *shared, struct rr_vfs **vfs,
	struct rr_text *text);

#endif
