/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_TABLES_H
#define RR_SERVER_NFS4_TABLES_TABLES_H

#include <stdatomic.h>

#include "base/siphash.h"
#include "server/nfs4/tables/state.h"

/*
 * What clients hold: opens, byte-range locks and delegations, each named by a stateid, in tables of clients
 * and of files: RFC 8881, sections 8, 9 and 10. The functions take no lock, ask no clock, and call neither
 * system nor storage.
 *
 * The tables are shared by all threads of a server. The caller holds one mutex, the lock of the tables
 * (rr_nfs4_lock_tables()), around each function here, and never holds it over storage or I/O: all of these
 * functions are short.
 *
 * Ownership: a state belongs to its client and its file, and leaves all tables at once when it ends. A caller
 * that uses a state or its open without the lock must have a reference: rr_nfs4_state_hold(),
 * rr_nfs4_opened_hold(). An open without any reference comes to the list `unused`: the thread that takes it
 * from there closes it.
 */

/* All tables of the version 4 service. */
struct rr_nfs4_tables {
	const struct rr_env *env;
	struct rr_nfs4_clients clients;
	struct rr_nfs4_sessions sessions;
	struct rr_nfs4_grace grace;
	struct rr_nfs4_records records;
	struct rr_map files, states, owners;
	/* Of owner.c: the owners of version 4.0 by their names, and by the open states that their last CLOSE
	 * has ended; those that are forgotten after a lease, see rr_nfs4_owners_look(), and when [0] became
	 * [1]. */
	struct rr_map names, closed;
	struct rr_list aging[2];
	uint64_t aged;
	/* Of ending.c: opens that have ended, and clients (by_lease), whose states are still to end. */
	struct rr_list ending, ending_clients;
	struct rr_list unused;          /* opens of the storage that are to be closed */
	_Atomic uint32_t unused_count;  /* of them; may be read without the lock */
	uint32_t start;                 /* of stateids: random for each start of the server */
	uint64_t number;                /* of states that were made */
	uint32_t plain_number;          /* of states of clients of version 4.0 that were made */
	uint8_t secret[RR_SIPHASH_KEY]; /* of the hash that makes the numbers in stateids of that number */
	uint32_t count, opens, ranges;  /* numbers of all states, of opens in effect, and of locked ranges */
	struct rr_nfs4_quota states_quota, ranges_quota, delegations_quota, owners_quota;
	struct rr_list recalls; /* delegations that are to be returned, in the order of their recalls */
	uint32_t delegations;   /* number of all delegations in effect */
	/* The locks of all files, of all protocols, with the mutex that guards these tables, too; and the
	 * same if it is the tables' own, else NULL. */
	struct rr_locks *locks, *own_locks;
	/* Of waits for locks, kept by wait.c: the waits, those about which the storage is asked, the first of
	 * them that it was asked about longest ago, and the number of all waits, with those whose clients are
	 * being notified. */
	struct rr_map waits;
	struct rr_list probes;
	uint32_t wait_count;
};

/* The lease period, and the most that all clients together may have of each kind. */
struct rr_nfs4_tables_config {
	uint64_t lease; /* nanoseconds */
	uint32_t clients, sessions, states, ranges, delegations;
	uint32_t owners;  /* of version 4.0, in units of 256 octets */
	uint64_t replies; /* octets of replies that are kept for retries */
	/* The locks of all protocols, which outlive the tables; NULL: the tables make a table of their own.
	 */
	struct rr_locks *locks;
};

extern const struct rr_nfs4_tables_config rr_nfs4_tables_config_default;

/* Makes empty tables. Errors: NOMEM. */
int rr_nfs4_tables_init(
	struct rr_nfs4_tables *tables, const struct rr_env *env, const struct rr_nfs4_tables_config *config);
/* Ends all clients; their records stay, as the clients may reclaim after the next start. */
void rr_nfs4_tables_end(struct rr_nfs4_tables *tables);
/* Ends all clients that are left, and frees the tables. */
void rr_nfs4_tables_free(struct rr_nfs4_tables *tables);

/* Does work that operations have left over, in `units` steps at most, and returns whether more is left. The
 * caller comes again in its next turn, so that no turn takes longer the more clients have made. */
bool rr_nfs4_go_on(struct rr_nfs4_tables *tables, uint32_t units);
/* Tells whether there is such work. */
bool rr_nfs4_is_left(const struct rr_nfs4_tables *tables);

/* Begins the grace period, which lasts `lease`, if the records of the last start name a client, or clients of
 * NLM may reclaim. */
void rr_nfs4_grace_start(struct rr_nfs4_tables *tables, uint64_t now, uint64_t lease);

/* Handles leases that are over, delegations that were not returned in time, and the end of the grace period,
 * and sends the callbacks whose time has come. Called from time to time. */
void rr_nfs4_look(struct rr_nfs4_tables *tables, uint64_t now);

/* Handles the report that a thread has tried to write or to remove the record. The thread got the record from
 * rr_nfs4_records_next(). done: whether that succeeded. */
void rr_nfs4_recorded(struct rr_nfs4_tables *tables, struct rr_nfs4_record *record, bool done);

/* ---- ending.c ---- */

/* Ends the states of a client that has ended, as many as can be at once. Returns false if states are left,
 * which end in later turns; then rr_nfs4_client_gone() follows. */
bool rr_nfs4_ending_client(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client);
/* Ends the lock states of an open that ends, as many as can be at once; the others end in later turns. */
void rr_nfs4_ending_open(struct rr_nfs4_state *open);
/* Goes on with the ends that are left over. Reduces *units, the most steps, by those that were done. */
void rr_nfs4_ending_go(struct rr_nfs4_tables *tables, uint32_t *units);

#endif
