/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_SERVER_H
#define RR_NFS4_SERVER_H

#include "base/pool.h"
#include "nfs4/shared.h"
#include "rpc/server.h"
#include "vfs/gate.h"

/*
 * NFS version 4, minor versions 1 and 2 (RFC 8881, RFC 7862, RFC 8276), as a service for an RPC server, over
 * the exports of a storage provider. Each thread has a server; the servers share what clients hold.
 */
struct rr_nfs4_server;

struct rr_nfs4_server_config {
	struct rr_pool *pool; /* for the data of replies */
	struct rr_gate *gate; /* to the exports; lives as long as the server does, as does `shared` */
	struct rr_nfs4_shared *shared;
};

/* Makes the server of a thread. Errors: NOMEM; SYSTEM with text. */
int rr_nfs4_server_new(const struct rr_env *env, struct rr_loop *loop,
	const struct rr_nfs4_server_config *config, struct rr_nfs4_server **server, struct rr_text *text);

/* Ends the server after its RPC server has gone. When the last server ends, all that clients had open is
 * closed, so the storage must still be there. server may be NULL. */
void rr_nfs4_server_end(struct rr_nfs4_server *server);

/* Frees a server that has ended; no operation may be under way. server may be NULL. */
void rr_nfs4_server_free(struct rr_nfs4_server *server);

/* Fills *service, by which an RPC server calls this server. */
void rr_nfs4_server_service(struct rr_nfs4_server *server, struct rr_service *service);

#endif
