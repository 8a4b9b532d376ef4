/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V4_PROVIDER_H
#define RR_VFS_NFS_V4_PROVIDER_H

#include "vfs/nfs/remote/remote.h"

/*
 * This is the provider of directories of another server, by NFS version 4.1 or 4.2 (RFC 8881, RFC 7862). Each
 * operation is one COMPOUND, or as few as can be.
 *
 * The other server knows the opens, with their share reservations, and the locks of their owners. Reading and
 * writing without an open is done with the anonymous stateid. There are no leases (RR_VFS_NOTSUPP), as the
 * session has no backchannel. Version 4.1 has no holes, copies and extended attributes.
 */

/* Makes a provider for the loop of the engine: see rr_remote_new(). */
int rr_v4_provide(struct rpcrdma_engine *engine, struct rr_remote_shared *shared, struct rr_vfs **vfs,
	struct rr_text *text);

#endif
