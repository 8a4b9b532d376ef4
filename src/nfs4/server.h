/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_SERVER_H
#define RR_NFS4_SERVER_H

#include "base/pool.h"
#include "nfs4/shared.h"
#include "rpc/server.h"
#include "vfs/gate.h"

/*
 * NFS version 4, minor versions 1 and 2 (RFC 8881, RFC 7862, RFC 8276), as a service for an RPC server, over
 * what a provider of storage exports. One for each thread; what clients hold is shared.
 */
struct rr_nfs4_server;

struct rr_nfs4_server_config {
	struct rr_pool *pool; /* for the data of replies */
	struct rr_gate *gate; /* to what is exported; lives as long as the server does, as the next one */
	struct rr_nfs4_shared *shared;
};

/* Errors: NOMEM. */
int rr_nfs4_server_new(const struct rr_env *env, struct rr_loop *loop,
	const struct rr_nfs4_server_config *config, struct rr_nfs4_server **server, struct rr_text *text);

/* The RPC server has gone: what clients had open is closed, when the last server has ended. To be called
 * while the provider is still there. server may be NULL. */
void rr_nfs4_server_end(struct rr_nfs4_server *server);

/* Nothing may be under way, and the server has ended. server may be NULL. */
void rr_nfs4_server_free(struct rr_nfs4_server *server);

void rr_nfs4_server_service(struct rr_nfs4_server *server, struct rr_service *service);

#endif
