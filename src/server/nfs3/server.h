/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS3_SERVER_H
#define RR_SERVER_NFS3_SERVER_H

#include "rpc/server.h"
#include "server/mount/mounts.h"
#include "ulb/nfs3.h"
#include "vfs/door.h"
#include "vfs/gate.h"

/* This is a server of NFS version 3 (RFC 1813), MOUNT versions 1 to 3, NFSACL version 3 and
 * RQUOTA versions 1 and 2, as services for
 * an RPC server. It serves the exports of a provider. */

struct rr_nfs_server;

enum { RR_NFS_SERVICES = 7, RR_NFS_STREAM_SERVICES = 2 };

/* Makes a server. gate decides which caller may use which export, pool has memory for the data of READs; both
 * must exist as long as the server. Errors: NOMEM. */
int rr_nfs_server_new(
	const struct rr_env *env, struct rr_pool *pool, struct rr_gate *gate, struct rr_nfs_server **server);

/* Lets the server keep the list of mounts that DUMP returns. mounts must exist as long as the server. */
void rr_nfs_server_list_mounts(struct rr_nfs_server *server, struct rr_mounts *mounts);

/* Frees the server. No call may be at work: see struct rr_vfs_counters. server may be NULL. */
void rr_nfs_server_free(struct rr_nfs_server *server);

/* Fills in the services, which are valid as long as the server: first those that are
 * never served over UDP, NFS and NFSACL, then MOUNT in the versions 3, 2 and 1, and
 * RQUOTA in the versions 2 and 1. */
void rr_nfs_server_services(struct rr_nfs_server *server, struct rr_service services[RR_NFS_SERVICES]);

#endif
