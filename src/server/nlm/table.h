/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NLM_TABLE_H
#define RR_SERVER_NLM_TABLE_H

#include "base/address.h"
#include "base/siphash.h"
#include "server/locks/table.h"

/*
 * The clients of NLM, here called hosts, and what they hold. The functions make no system call and wait for
 * nothing; the mutex of the locks of all protocols (server/locks/table.h) is held around each of them.
 *
 * A host is an address together with the name by which the caller calls itself (caller_name): a name alone
 * proves nothing, as anybody can say it. A lock-owner is svid and oh of a host: XNFS, 10: "svid" identifies
 * the process, and "oh" the owner, and clients exist for which only both together differ.
 *
 * Ownership: a claim belongs to its host. A claim that ends comes to the list `unused`, from which a server
 * takes it, closes its open, and frees it. A claim that is busy (an operation of the storage uses it) ends
 * when the operation has ended.
 */

enum {
	RR_NLM_HOSTS = 1024,       /* hosts in all, */
	RR_NLM_HOSTS_ADDRESS = 8,  /* and of an address */
	RR_NLM_NAME = 255,         /* octets of a host's name that are kept */
	RR_NLM_OWNER_RANGES = 4096 /* ranges of an owner in a file */
};

/* Something of which there is a bounded number for all hosts. Each host may have `own` of it, as long as
 * there is any, and else as much as is still free; and an address has few hosts. */
struct rr_nlm_bound {
	uint32_t free, own;
};

enum rr_nlm_bounded { RR_NLM_CLAIMS, RR_NLM_RANGES, RR_NLM_WAITS, RR_NLM_OCTETS, RR_NLM_BOUNDS };

struct rr_nlm_claim;

struct rr_nlm_tables {
	const struct rr_env *env;
	struct rr_locks *locks;
	struct rr_map hosts, claims; /* hosts by their address alone */
	struct rr_list all;          /* hosts, the one that was used longest ago first */
	struct rr_list sweeps;       /* hosts of which claims are to end */
	struct rr_list unused;       /* claims that have ended, whose opens are to be closed */
	uint32_t host_count;
	uint64_t host_number;
	uint8_t secret[RR_SIPHASH_KEY];
	struct rr_nlm_bound bounds[RR_NLM_BOUNDS];
};

/* Whether the name of a host is on the disk, so that the host can be notified of a restart. */
enum rr_nlm_recorded { RR_NLM_ABSENT, RR_NLM_WRITING, RR_NLM_PRESENT, RR_NLM_REMOVING };

struct rr_nlm_host {
	struct rr_map_link by_address;
	struct rr_list of_all, of_sweeps;
	struct rr_nlm_tables *tables;
	uint64_t number; /* no other host has or had it */
	struct rr_source source;
	int32_t state; /* of the host's NSM, as it said last; 0: it has not said */
	/* Locks that were taken before the host started anew, as its state says, have an older epoch. They
	 * end when the host says itself, by its NSM, that it has restarted. */
	uint32_t epoch;
	bool swept;        /* claims of an older epoch end */
	uint32_t to_sweep; /* claims that are still to be looked at for that */
	struct rr_list claims;
	uint32_t held[RR_NLM_BOUNDS];
	uint32_t users;   /* operations under way */
	uint64_t used;    /* when it was last used */
	bool may_reclaim; /* it was on the list at the start */
	enum rr_nlm_recorded recorded;
	uint32_t name_length;
	char name[];
};

/* The lock-owner, or the owner of a share reservation, of a file: as a call names it. */
struct rr_nlm_owner {
	bool share; /* else a lock */
	int32_t svid;
	struct rpcrdma_bytes oh, fh;
};

struct rr_nlm_claim {
	struct rr_map_link by_owner;
	struct rr_list link; /* in claims of the host, or in `unused` */
	struct rr_nlm_host *host;
	struct rr_locks_file *file; /* NULL: of a share */
	struct rr_ranges ranges;
	struct rr_ranges intent; /* the range that the storage is being asked for */
	struct rr_list waits;    /* struct rr_nlm_wait */
	struct rr_vfs_open *open;
	uint32_t access;
	uint32_t epoch;
	bool share;
	bool busy; /* an operation uses it, which alone changes it */
	bool dead; /* it ends when it is not busy any more */
	int32_t svid;
	uint32_t fh_length, oh_length;
	uint8_t octets[]; /* the file handle and oh */
};

/* claims: the most claims of all hosts; each takes a descriptor. Errors: NOMEM. */
int rr_nlm_tables_init(
	struct rr_nlm_tables *tables, const struct rr_env *env, struct rr_locks *locks, uint32_t claims);
/* Ends all hosts, and frees the tables. The claims stay in `unused` and have been taken from there before. */
void rr_nlm_tables_free(struct rr_nlm_tables *tables);

/* Return the host of this address and name; rr_nlm_host_make() makes it where there is none. NULL: there is
 * none, or there can be none (no memory, too many). */
struct rr_nlm_host *rr_nlm_host_find(
	const struct rr_nlm_tables *tables, const struct rr_source *source, struct rpcrdma_bytes name);
struct rr_nlm_host *rr_nlm_host_make(struct rr_nlm_tables *tables, const struct rr_source *source,
	struct rpcrdma_bytes name, uint64_t now);
/* Returns the host of this address that a message of its NSM, or FREE_ALL, is about: the one whose name is
 * the same, case and what follows the first dot apart, or the only one. NULL: there is none. */
struct rr_nlm_host *rr_nlm_host_meant(
	const struct rr_nlm_tables *tables, const struct rr_source *source, struct rpcrdma_bytes name);
/* Frees a host that nobody uses, and that has nothing. */
void rr_nlm_host_free(struct rr_nlm_host *host);
static inline bool
rr_nlm_host_is_idle(const struct rr_nlm_host *host)
{
	return host->users == 0 && rr_list_empty(&host->claims) && host->recorded == RR_NLM_ABSENT;
}

/* Notes the state that a call of the host named: 0, or a number that the host's NSM changes when it starts.
 */
void rr_nlm_host_state(struct rr_nlm_host *host, int32_t state);
/* Ends what the host had before its NSM came to this state. */
void rr_nlm_host_restarted(struct rr_nlm_host *host, int32_t state);
/* Ends all that the host has now. */
void rr_nlm_host_end(struct rr_nlm_host *host);

/* Take from, and give back to, what a host may have. rr_nlm_take() returns false if that is too much. */
bool rr_nlm_take(struct rr_nlm_host *host, enum rr_nlm_bounded what, uint32_t count);
void rr_nlm_give(struct rr_nlm_host *host, enum rr_nlm_bounded what, uint32_t count);

struct rr_nlm_claim *rr_nlm_claim_find(const struct rr_nlm_host *host, const struct rr_nlm_owner *owner);
/* Returns the claim of the owner, and makes it where there is none. id: of the file; NULL for a share. NULL:
 * there is no memory, or there are too many. */
struct rr_nlm_claim *rr_nlm_claim_make(
	struct rr_nlm_host *host, const struct rr_nlm_owner *owner, const struct rr_vfs_id *id);
/* Ends the claim: nobody finds it any more, and its ranges and waits end. It comes to `unused`, at once or,
 * while it is busy, with rr_nlm_claim_leave(). */
void rr_nlm_claim_end(struct rr_nlm_claim *claim);
/* The claim is not busy any more. Ends it if it has no range, no wait and no share, or if it is dead. */
void rr_nlm_claim_leave(struct rr_nlm_claim *claim);
/* Whether the claim is among those that end as the host restarted. */
bool rr_nlm_claim_is_stale(const struct rr_nlm_claim *claim);

/* Lock and unlock a range of a claim, in the table alone. Return false if there is no memory, or there are
 * too many ranges: nothing has changed then. */
bool rr_nlm_claim_lock(struct rr_nlm_claim *claim, struct rr_span span, bool write);
bool rr_nlm_claim_unlock(struct rr_nlm_claim *claim, struct rr_span span);
/* Set and remove the intent of a claim. rr_nlm_claim_intend() returns false if there is no memory. */
bool rr_nlm_claim_intend(struct rr_nlm_claim *claim, struct rr_span span, bool write);
void rr_nlm_claim_forget(struct rr_nlm_claim *claim);

/* Goes on with the ends that are left over, in `units` steps at most, and returns the steps that are left. */
uint32_t rr_nlm_sweep(struct rr_nlm_tables *tables, uint32_t units);

#endif
