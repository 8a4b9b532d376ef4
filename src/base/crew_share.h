/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_CREW_SHARE_H
#define RR_BASE_CREW_SHARE_H

#include "base/cache.h"
#include "base/list.h"
#include "base/map.h"
#include "base/payer.h"

/*
 * How the time of a crew's threads is shared among those for whom jobs are done: as the time of a loop is
 * (base/payer.h). An owner is a client's connection, mostly; owners of one peer address belong to one host.
 * The file system in which a job works has its own account of each of them, by the index of its entry in the
 * queue. An account exists while there are jobs of its owner in that file system, ready or at work.
 */

/* How much time of the threads an owner can save up: enough for several jobs that wait for the storage. */
#define RR_CREW_CREDIT (10 * RR_MILLISECOND)

enum { RR_CREW_INDEX_BITS = 5 }; /* of the index of a file system */

/* A host in a file system. */
struct rr_crew_host {
	struct rr_payer_host payer;
	struct rr_map_link by_key;
	uint32_t owners; /* accounts of its owners */
};

/* The account of an owner in a file system. */
struct rr_crew_owner {
	struct rr_payer payer;
	struct rr_crew_host *host;
	struct rr_map_link by_key;
	struct rr_list ready; /* its jobs that wait for a thread only, in their order */
	uint32_t jobs;        /* those, and its jobs at work */
};

/* The sharing of one file system's jobs. */
struct rr_crew_share {
	struct rr_payers payers; /* the owners that have jobs in `ready` */
	uint32_t owners;         /* accounts */
	uint64_t average;        /* time of a job */
	/* The account of all those for whom there was no memory, and of jobs for nobody. */
	struct rr_crew_owner others;
	struct rr_crew_host other_host;
};

/* The accounts of all file systems. */
struct rr_crew_accounts {
	struct rr_map owners, hosts;
	struct rr_cache free_owners, free_hosts;
};

/* Prepares the accounts. Returns 0 or -RPCRDMA_ERR_NOMEM; rr_crew_accounts_end() must be called even then. */
int rr_crew_accounts_init(struct rr_crew_accounts *accounts, const struct rr_env *env);
/* Frees the memory of the accounts. There must be no jobs any more. */
void rr_crew_accounts_end(struct rr_crew_accounts *accounts);

/* Prepares the sharing of a file system. */
void rr_crew_share_init(struct rr_crew_share *share);

/* Returns the account of the owner, of that host, in the file system with that index, and counts one more job
 * there. owner is a number that no other connection has; 0: the job is for nobody. */
struct rr_crew_owner *rr_crew_share_join(struct rr_crew_accounts *accounts, struct rr_crew_share *share,
	uint32_t index, uint64_t host, uint64_t owner);
/* Counts one job less in the account, and ends the account with its last job. */
void rr_crew_share_leave(
	struct rr_crew_accounts *accounts, struct rr_crew_share *share, struct rr_crew_owner *owner);

/* Charges the owner with the average time of a job, as one of its jobs begins. Returns that time. */
uint64_t rr_crew_share_begin(struct rr_crew_share *share, struct rr_crew_owner *owner);
/* Charges the owner with the time `spent`, which its job took, instead of the time that it was charged with.
 */
void rr_crew_share_end(
	struct rr_crew_share *share, struct rr_crew_owner *owner, uint64_t charged, uint64_t spent);

#endif
