/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V3_V3_H
#define RR_VFS_NFS_V3_V3_H

#include "vfs/nfs/remote/remote.h"

/*
 * This is the provider of directories of another server, by NFS version 3 (RFC 1813).
 *
 * Version 3 has no opens: share reservations (of opens alone) and locks hold within this server, and an
 * opened file that another client removes is gone. There are no leases, holes, copies or extended attributes
 * (RR_VFS_NOTSUPP).
 */

/* Makes a provider for the loop of the engine: see rr_remote_new(). */
int rr_v3_new(struct rpcrdma_engine *engine, struct rr_remote_shared *shared, struct rr_vfs **vfs,
	struct rr_text *text);

#endif
