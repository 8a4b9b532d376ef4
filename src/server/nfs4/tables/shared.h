/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_SHARED_H
#define RR_SERVER_NFS4_TABLES_SHARED_H

#include <pthread.h>

#include "base/text.h"
#include "server/nfs4/tables/tables.h"

/*
 * Each thread has a server of its own (server.h). The servers share this: the tables of clients, sessions and
 * states, and the identity by which clients know them as one server. The mutex of the locks of all
 * protocols (tables.locks) guards the tables; it is held during a function of the tables, never over storage
 * or I/O.
 */

struct rr_nfs4_shared_config {
	struct rr_nfs4_tables_config tables;
	/* The directory for the records of clients; NULL: records are not kept, so that nothing can be
	 * reclaimed after a restart. */
	const char *records;
};

struct rr_nfs4_shared {
	const struct rr_env *env;
	struct rr_nfs4_shared_config config;
	struct rr_nfs4_tables tables;
	uint32_t servers;               /* number of servers that use the tables and have not ended */
	struct rr_nfs4_record_dir *dir; /* NULL: records are not kept */
	/* RFC 8881, 2.10.4: the octets by which this server differs from all others, the same after a
	 * restart. */
	uint8_t identity[RR_NFS4_IDENTITY];
};

/* Makes what the servers of all threads share. If records name clients of the last start, a grace period
 * begins. Errors: NOMEM, SYSTEM; with text. */
int rr_nfs4_shared_new(const struct rr_env *env, const struct rr_nfs4_shared_config *config,
	struct rr_nfs4_shared **shared, struct rr_text *text);

/* Counts of what clients hold. */
struct rr_nfs4_held {
	uint32_t clients, sessions, opens, locks, delegations;
	bool grace; /* what was held before the start can still be reclaimed */
};
/* Counts what all clients hold now. */
void rr_nfs4_held(struct rr_nfs4_shared *shared, struct rr_nfs4_held *held);

/* Frees what the servers shared, when all these servers have gone. shared may be NULL. */
void rr_nfs4_shared_free(struct rr_nfs4_shared *shared);

#endif
