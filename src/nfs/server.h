/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_SERVER_H
#define RR_NFS_SERVER_H

#include "nfs/mounts.h"
#include "rpc/server.h"
#include "ulb/nfs3.h"
#include "vfs/gate.h"

/*
 * NFS version 3 (RFC 1813) and MOUNT version 3, as services for an RPC server,
 * of what a provider exports.
 */

struct rr_nfs_server;

enum { RR_NFS_SERVICES = 2 };

/* gate: to what is exported. pool: for the data of READs. Both are there as long as the server is. Errors:
 * NOMEM. */
int rr_nfs_server_new(
	const struct rr_env *env, struct rr_pool *pool, struct rr_gate *gate, struct rr_nfs_server **server);

/* Has the server keep the list of mounts that DUMP tells, which is there as long as the server is. */
void rr_nfs_server_list_mounts(struct rr_nfs_server *server, struct rr_mounts *mounts);

/* No call may be at work: see struct rr_vfs_counters. server may be NULL. */
void rr_nfs_server_free(struct rr_nfs_server *server);

void rr_nfs_server_services(struct rr_nfs_server *server, struct rr_service services[RR_NFS_SERVICES]);

#endif
