/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_SERVER_H
#define RR_SERVER_NFS4_SERVER_H

#include "base/share/pool.h"
#include "rpc/server.h"
#include "server/nfs4/minor.h"
#include "server/nfs4/tables/shared.h"
#include "vfs/door.h"
#include "vfs/gate.h"

/*
 * NFS version 4, minor versions 0, 1 and 2 (RFC 7530, RFC 8881, RFC 7862, RFC 8276), as a service for an RPC
 * server, over the exports of a storage provider. Each thread has a server; the servers share what clients
 * hold.
 */
struct rr_nfs4_server;

struct rr_nfs4_server_config {
	struct rr_pool *pool; /* for the data of replies */
	struct rr_gate *gate; /* to the exports; lives as long as the server does, as does `shared` */
	struct rr_nfs4_shared *shared;
	uint32_t minors; /* RR_NFS4_MINOR_*: the minor versions that are offered; 0: RR_NFS4_MINORS */
};

/* Makes the server of a thread. Errors: NOMEM; SYSTEM with text. */
int rr_nfs4_server_new(const struct rr_env *env, struct rr_loop *loop,
	const struct rr_nfs4_server_config *config, struct rr_nfs4_server **server, struct rr_text *text);

/* Ends the server after its RPC server has gone. When the last server ends, all that clients had open is
 * closed, so the storage must still be there. server may be NULL. */
void rr_nfs4_server_end(struct rr_nfs4_server *server);

/* Frees a server that has ended; no operation may be under way. server may be NULL. */
void rr_nfs4_server_free(struct rr_nfs4_server *server);

/* The operations are counted by their numbers, which are below RR_NFS4_COUNTS. The number RR_NFS4_UNKNOWN,
 * which no operation has, stands for all operations that no minor version defines. */
enum { RR_NFS4_COUNTS = 76, RR_NFS4_UNKNOWN = 0 };

/* Returns the histogram of the times that an operation took in COMPOUNDs, each from the operation's beginning
 * to its end, and how often it failed. operation must be below RR_NFS4_COUNTS. */
const struct rpcrdma_latency *rr_nfs4_server_latency(const struct rr_nfs4_server *server, uint32_t operation);

/* Returns the name of the operation that is counted at that number, such as "READ"; "ILLEGAL" for
 * RR_NFS4_UNKNOWN; NULL for a number that is not used. */
const char *rr_nfs4_counted_name(uint32_t operation);

/* Fills *service, by which an RPC server calls this server. */
void rr_nfs4_server_service(struct rr_nfs4_server *server, struct rr_service *service);

#endif
