/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_SERVER_H
#define RR_NFS_SERVER_H

#include "base/loop.h"
#include "nfs/limits.h"
#include "nfs/shared.h"
#include "nfs/tree.h"
#include "rpc/server.h"

/*
 * NFS version 3 (RFC 1813) and MOUNT version 3 over a tree, as services for
 * an RPC server.
 */

struct rr_nfs_server;

enum { RR_NFS_SERVICES = 2 };

/* shared: the same for the servers of all threads that export the same directories; there as long as they
 * are.
 */
int rr_nfs_server_new(const struct rr_env *env, struct rr_pool *pool, const struct rr_tree_config *config,
	struct rr_nfs_shared *shared, struct rr_nfs_server **server, struct rr_text *text);
void rr_nfs_server_free(struct rr_nfs_server *server);

/*
 * From now on the procedures run in a thread of their own, for which the caller's waits; to be called before
 * the first of them. A server that acts as its callers needs that where its thread also uses RDMA adapters:
 * the kernel takes their commands only from a thread whose credentials are those it opened them with, and a
 * change is one also when it was undone. No effect on other servers. Errors: NOMEM, SYSTEM.
 */
int rr_nfs_server_apart(struct rr_nfs_server *server, struct rr_text *text);

/*
 * From now on the server uses loop, that of the thread in which it is called: calls that changed something
 * are answered in a later turn, when a thread beside has brought that to stable storage, together with what
 * other calls changed; what calls began and did not wait for goes on, and descriptors that are not used any
 * more are closed. Without a loop, calls store what they change, and only calls get on with the rest. Errors:
 * NOMEM, SYSTEM.
 */
int rr_nfs_server_attend(struct rr_nfs_server *server, struct rr_loop *loop, struct rr_text *text);

void rr_nfs_server_services(struct rr_nfs_server *server, struct rr_service services[RR_NFS_SERVICES]);

#endif
