/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NLM_SERVER_H
#define RR_SERVER_NLM_SERVER_H

#include "rpc/server.h"
#include "server/locks/table.h"
#include "vfs/door.h"
#include "vfs/gate.h"

/*
 * The locks of NFS version 3: NLM (XNFS, chapter 10, and RFC 1813, appendix II) in the versions 1, 3 and 4,
 * and NSM version 1 (XNFS, chapter 11), as services for an RPC server. RFC 8267, 5.1, of MOUNT, NLM and NSM:
 * "a Legacy NFS server MUST provide support for these protocols via TCP."
 *
 * Each thread has a server; the servers share what hosts hold.
 */

struct rr_nlm_shared;
struct rr_nlm_server;

struct rr_nlm_config {
	struct rr_locks *locks; /* of all protocols; outlives the servers */
	/* The directory for the names of hosts that have locks, and for the state of this NSM; NULL: they are
	 * not kept, and no host is notified of a restart. */
	const char *records;
	uint64_t grace;   /* ns: how long hosts may reclaim after a restart */
	uint32_t claims;  /* the most opens for locks and shares; each takes a descriptor */
	uint16_t rpcbind; /* the port of the hosts' rpcbind; 0: 111 */
};

enum { RR_NLM_SERVICES = 4 };

/* Makes what the servers of all threads share. If names of hosts were kept, a grace period begins. Errors:
 * NOMEM, SYSTEM; with text. */
int rr_nlm_shared_new(const struct rr_env *env, const struct rr_nlm_config *config,
	struct rr_nlm_shared **shared, struct rr_text *text);
/* Frees it when all servers have gone. shared may be NULL. */
void rr_nlm_shared_free(struct rr_nlm_shared *shared);

/* Counts of what hosts hold. */
struct rr_nlm_held {
	uint32_t hosts, claims, ranges, waits;
	bool grace;
};
void rr_nlm_held(struct rr_nlm_shared *shared, struct rr_nlm_held *held);

/* Makes the server of a thread. Errors: NOMEM, SYSTEM; with text. */
int rr_nlm_server_new(struct rpcrdma_engine *engine, struct rr_gate *gate, struct rr_nlm_shared *shared,
	struct rr_nlm_server **server, struct rr_text *text);
/* Ends the server after its RPC server has gone, while the storage is still there. server may be NULL. */
void rr_nlm_server_end(struct rr_nlm_server *server);
/* Frees a server that has ended, when the storage has gone. server may be NULL. */
void rr_nlm_server_free(struct rr_nlm_server *server);

/* Fills in the services, which are valid as long as the server. */
void rr_nlm_server_services(struct rr_nlm_server *server, struct rr_service services[RR_NLM_SERVICES]);

#endif
