/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_STATE_H
#define RR_SERVER_NFS4_TABLES_STATE_H

#include <stdatomic.h>

#include "base/siphash.h"
#include "server/locks/table.h"
#include "server/nfs4/tables/grace.h"
#include "server/nfs4/tables/record.h"
#include "server/nfs4/tables/slot.h"
#include "vfs/door.h"

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

/* The kinds of states; functions take several of them as bits. */
enum rr_nfs4_kind { RR_NFS4_OPEN = 1, RR_NFS4_LOCK = 2, RR_NFS4_DELEGATION = 4 };

/* Whether a state is in effect. The reasons of a revocation are those of RFC 8881, 8.2.4. */
enum rr_nfs4_revoked {
	RR_NFS4_VALID,
	RR_NFS4_EXPIRED,        /* revoked, as the lease was over */
	RR_NFS4_ADMIN_REVOKED,  /* revoked by the administrator */
	RR_NFS4_RECALL_REVOKED, /* revoked, as the delegation was not returned in time */
	RR_NFS4_GONE            /* ended: no stateid names it any more */
};

struct rr_nfs4_tables;

struct rr_nfs4_state;

/* An open of the storage. */
struct rr_nfs4_opened {
	struct rr_nfs4_tables *tables;
	/* The delegation that is recalled when the storage's lease on this open breaks; NULL: there is
	 * none. */
	struct rr_nfs4_state *delegation;
	struct rr_list link; /* in the tables' list of opens that are not used any more */
	struct rr_vfs_open *open;
	struct rr_caller opener; /* kept: whose rights were checked when the state got its first open */
	uint32_t holders;        /* number of references: of the state, and of operations under way */
};

/* A file that has states. */
enum { RR_NFS4_SHARES = 4 };
struct rr_nfs4_file {
	struct rr_map_link by_id;
	struct rr_vfs_id id;
	struct rr_list states; /* of all clients */
	/* The opens that [0] have and [2] deny access to read, [1] have and [3] deny access to write; the
	 * newest first. */
	struct rr_list shares[RR_NFS4_SHARES];
	struct rr_locks_file *locks;   /* the locks of the file; NULL: there was no lock state yet */
	struct rr_list delegations[2]; /* [0] that were not recalled yet, [1] that are to be returned */
	uint64_t recalled;             /* time of the last recall of a delegation; 0: there was no recall */
};

/* An open, a lock or a delegation that a client has of a file. */
struct rr_nfs4_state {
	struct rr_nfs4_tables *tables;
	struct rr_map_link by_number, by_owner;
	struct rr_list of_client, of_file;
	struct rr_nfs4_client *client;
	struct rr_nfs4_file *file;
	enum rr_nfs4_kind kind;
	enum rr_nfs4_revoked revoked;
	uint32_t seqid, holders;
	struct rr_vfs_handle handle;   /* by which the client knows the file */
	struct rr_nfs4_opened *opened; /* the storage's open of the file; NULL: not opened yet */
	struct rr_avl_link of_opened;  /* in the client's tree `opened`, while the state has an open */
	/* OPEN4_SHARE_*: of an open. A delegation has access alone, and so has a lock: the access of its
	 * `opened`. */
	uint32_t access, deny;
	/* For an open: its places in the lists of its file; the combinations that its OPENs asked for, as
	 * bits access * 4 + deny; and its lock states. */
	struct rr_list of_shares[RR_NFS4_SHARES];
	uint32_t combinations;
	struct rr_list locks;
	struct rr_list ending; /* for an open that has ended: its place in the tables' list `ending` */
	/* The storage opens the file for this state: until that has ended, other operations that need such an
	 * open get NFS4ERR_DELAY. So no operation replaces an open by an open with less access, and an
	 * operation that fails undoes only its own change of the share. The ranges of a lock do not change
	 * meanwhile, unless the state ends. */
	bool opening;
	/* For a lock: its place in the open's locks, the open, and the locked ranges. */
	struct rr_list of_open;
	struct rr_nfs4_state *parent;
	struct rr_ranges ranges;
	/* For a delegation: its places in the list of its file and in the tables' recalls, the time of the
	 * recall, and the CB_RECALL. */
	struct rr_list of_delegations, recall;
	uint64_t recalled; /* 0: it is not recalled */
	struct rr_nfs4_callback callback;
	uint32_t owner_length;
	uint8_t owner[];
};

/* All tables of the version 4 service. */
struct rr_nfs4_tables {
	const struct rr_env *env;
	struct rr_nfs4_clients clients;
	struct rr_nfs4_sessions sessions;
	struct rr_nfs4_grace grace;
	struct rr_nfs4_records records;
	struct rr_map files, states, owners;
	/* Of ending.c: opens that have ended, and clients (by_lease), whose states are still to end. */
	struct rr_list ending, ending_clients;
	struct rr_list unused;          /* opens of the storage that are to be closed */
	_Atomic uint32_t unused_count;  /* of them; may be read without the lock */
	uint32_t start;                 /* of stateids: random for each start of the server */
	uint64_t number;                /* of states that were made */
	uint8_t secret[RR_SIPHASH_KEY]; /* of the hash that makes the numbers in stateids of that number */
	uint32_t count, opens, ranges;  /* numbers of all states, of opens in effect, and of locked ranges */
	struct rr_nfs4_quota states_quota, ranges_quota, delegations_quota;
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

/* ---- state.c and stateid.c: what all states have in common ---- */

/* Writes the stateid of the state, as the client knows it. */
void rr_nfs4_stateid(const struct rr_nfs4_state *state, stateid4 *stateid);
/* Counts up the seqid, as the state has changed, and writes the stateid. RFC 8881, 8.2.2: the seqid wraps to
 * 1, as 0 means the current seqid. */
void rr_nfs4_stateid_next(struct rr_nfs4_state *state, stateid4 *stateid);

enum rr_nfs4_special {
	RR_NFS4_NOT_SPECIAL,
	RR_NFS4_ANONYMOUS,
	RR_NFS4_BYPASS,
	RR_NFS4_CURRENT,
	RR_NFS4_INVALID,  /* the stateid that CLOSE returns */
	RR_NFS4_UNDEFINED /* all zeros or all ones with a seqid that has no meaning */
};

/* Tells which special stateid this is: RFC 8881, 8.2.3. */
enum rr_nfs4_special rr_nfs4_special(const stateid4 *stateid);

/* Finds the state that a stateid names, by the checks of RFC 8881, 8.2.4, in their order, and stores it in
 * *state. id: the object of the current filehandle; NULL if that does not matter. kinds: the kinds of state
 * that the caller accepts. Errors: NFS4ERR_BAD_STATEID; NFS4ERR_OLD_STATEID for an earlier seqid; the error
 * that names the reason of its revocation for a revoked state. */
nfsstat4 rr_nfs4_state_find(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const stateid4 *stateid, const struct rr_vfs_id *id, uint32_t kinds, struct rr_nfs4_state **state);

/* Returns an open that the client has of the file with that handle; NULL if the client has no such open. */
struct rr_nfs4_opened *rr_nfs4_opened_of(struct rr_nfs4_client *client, const struct rr_vfs_handle *handle);

/* Carry out TEST_STATEID, for one stateid, and FREE_STATEID: RFC 8881, 18.48 and 18.38. */
nfsstat4 rr_nfs4_test_stateid(
	const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client, const stateid4 *stateid);
nfsstat4 rr_nfs4_free_stateid(
	struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client, const stateid4 *stateid);

/* Tells whether the state is in effect: it has neither ended nor was it revoked, and so for its client, and
 * for the open that a lock state belongs to. */
bool rr_nfs4_state_lives(const struct rr_nfs4_state *state);

/* Ends the state with all that depends on it, and releases the reference of the tables: without another
 * reference the state is freed. The lock states of an open may be too many to end now: they have no effect
 * for their client any more, and end in later turns (ending.c). */
void rr_nfs4_state_end(struct rr_nfs4_state *state);
/* Ends the state in parts: first its lock states and locked ranges, one by one, then itself. Reduces *units,
 * the most steps, by those that were done. Returns false if the state has not ended, as no steps are left. */
bool rr_nfs4_state_end_part(struct rr_nfs4_state *state, uint32_t *units);
/* Revokes the state: it has no effect any more, and its open is released. Its stateid is still known, until
 * FREE_STATEID or the end of the client. */
void rr_nfs4_state_revoke(struct rr_nfs4_state *state, enum rr_nfs4_revoked revoked);

/* Releases the open that the state has of its file; the open is closed when nobody uses it any more. */
void rr_nfs4_state_close(struct rr_nfs4_state *state);

/* Take a reference to the state, and release it; the state is freed with its last reference. */
struct rr_nfs4_state *rr_nfs4_state_hold(struct rr_nfs4_state *state);
void rr_nfs4_state_release(struct rr_nfs4_state *state);

/* Gives the state an open of the storage, which the state owns from now on, and releases the former open of
 * the state. opener: the caller; a state that had an open keeps the opener of that one. Returns false if
 * there is no memory or the state has ended; then nothing has changed, and the caller still owns the open. */
bool rr_nfs4_state_opened(
	struct rr_nfs4_state *state, struct rr_vfs_open *open, const struct rr_caller *opener);
/* Take a reference to the open, and release it; without references the open comes to the list `unused`. */
struct rr_nfs4_opened *rr_nfs4_opened_hold(struct rr_nfs4_opened *opened);
void rr_nfs4_opened_release(struct rr_nfs4_tables *tables, struct rr_nfs4_opened *opened);
/* Gives back a reference to the open as rr_nfs4_opened_release() does; but where it was the last one, frees
 * the open, and returns the storage's open, which the caller closes. Returns NULL where it was not. */
struct rr_vfs_open *rr_nfs4_opened_take(struct rr_nfs4_opened *opened);
/* Removes an open that no state uses any more from the list of such opens, and returns it. The caller closes
 * and frees it. Returns NULL if there is no such open. */
struct rr_nfs4_opened *rr_nfs4_opened_unused(struct rr_nfs4_tables *tables);

/* ---- file.c ---- */

/* Returns the entry of the file in the table of files; NULL if the file has no states. */
struct rr_nfs4_file *rr_nfs4_file_find(const struct rr_nfs4_tables *tables, const struct rr_vfs_id *id);

/* Returns the quota that states of this kind are counted in. Delegations have a quota of their own: the
 * server gives them unasked, and they must not reduce the opens that a client may have. */
struct rr_nfs4_quota *rr_nfs4_state_quota(struct rr_nfs4_tables *tables, enum rr_nfs4_kind kind);

/* Returns how much of that quota a state takes whose owner has so many octets: 1, and 1 more for each
 * RR_NFS4_OWNER_UNIT octets, so that the quota bounds the memory of owners, too. */
enum { RR_NFS4_OWNER_UNIT = 256 };
uint32_t rr_nfs4_state_cost(uint32_t owner_length);

/* Makes a state of a file, and the entry of the file if there is none. The tables have the only reference to
 * the new state, until rr_nfs4_state_end(). Returns NULL if there is no memory, there are too many states, or
 * the client has ended. */
struct rr_nfs4_state *rr_nfs4_state_make(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, enum rr_nfs4_kind kind, struct rpcrdma_bytes owner);
/* Returns the state of that kind that an owner of the client has of a file; NULL if there is no such
 * state. */
struct rr_nfs4_state *rr_nfs4_state_of_owner(const struct rr_nfs4_tables *tables,
	const struct rr_nfs4_client *client, const struct rr_vfs_id *id, enum rr_nfs4_kind kind,
	struct rpcrdma_bytes owner);
/* Returns the hash by which a state is found: of the file, the client, the kind of the state and its owner.
 */
uint64_t rr_nfs4_owner_hash(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, enum rr_nfs4_kind kind, struct rpcrdma_bytes owner);
/* Removes the state from its file, and frees the entry of the file if this was its last state; state.c calls
 * this function. */
void rr_nfs4_file_leave(struct rr_nfs4_state *state);

/* ---- share.c: OPEN, OPEN_DOWNGRADE, CLOSE ---- */

struct rr_nfs4_share {
	const struct rr_vfs_id *id;
	const struct rr_vfs_handle *handle;
	struct rpcrdma_bytes owner;
	uint32_t access, deny;
	uint32_t once; /* access that the OPEN needs beside this, once: to truncate the file */
};

/* A share that was reserved for an OPEN. */
struct rr_nfs4_reserved {
	struct rr_nfs4_state *state;
	uint32_t access, deny, combinations; /* the share before; access 0: the state is new */
};
/* Reserves the share that an OPEN asks for: makes the open state, or raises its share. Stores in *reserved
 * the state, with a reference for the caller, and the share that it had before. Errors: NFS4ERR_SHARE_DENIED
 * if another open conflicts; NFS4ERR_DELAY if there is no memory or no quota, or state->opening is set. */
nfsstat4 rr_nfs4_share(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_nfs4_share *share, struct rr_nfs4_reserved *reserved);
/* Sets the share back to what *reserved says; if the operation has made the state, ends the state. Also
 * releases the reference to the state. The caller has not given the client a new stateid yet. */
void rr_nfs4_share_undo(struct rr_nfs4_reserved *reserved);

/* Lowers a share for OPEN_DOWNGRADE. Returns NFS4ERR_INVAL unless the new access and deny are the union of
 * what some OPENs in effect asked for. */
nfsstat4 rr_nfs4_downgrade(struct rr_nfs4_state *state, uint32_t access, uint32_t deny);

/* ---- lock.c: LOCK, LOCKT, LOCKU ---- */

_Static_assert((int)RR_LOCKS_OWNER_MAX >= (int)NFS4_OPAQUE_LIMIT, "any owner can be described");

/* Returns NFS4ERR_DENIED if another owner, of whatever protocol, has a lock that conflicts, and describes
 * that lock in *conflict. If only courtesy clients (whose leases are over) have such locks, these clients are
 * ended; NFS4ERR_DELAY: their locks are so many that they end in later turns. */
nfsstat4 rr_nfs4_lock_conflict(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner, struct rr_span span, bool write,
	struct rr_locks_holder *conflict);

/* Returns the lock state that the lock-owner has of the file of `open`; if there is none, makes it as a lock
 * state of this open. Returns NULL if there is no memory, if there are too many states, or if the lock state
 * that the lock-owner has ends with an open that was closed (ending.c). */
struct rr_nfs4_state *rr_nfs4_lock_state(
	struct rr_nfs4_tables *tables, struct rr_nfs4_state *open, struct rpcrdma_bytes owner);

/* The most ranges that a lock-owner may have of a file: a single lock or unlock may end all of them. All
 * owners together are bound by the quota alone, which is fair: a bound of the file would let one client keep
 * all others from locking it. */
enum { RR_NFS4_OWNER_RANGES = 4096 };

/* Lock and unlock a range. If there is no memory, or there are too many ranges, of the client or of the
 * lock-owner, they return NFS4ERR_SERVERFAULT, and nothing has changed. An unlock that makes no new
 * range is never refused for their number. */
nfsstat4 rr_nfs4_lock(struct rr_nfs4_state *state, struct rr_span span, bool write);
nfsstat4 rr_nfs4_unlock(struct rr_nfs4_state *state, struct rr_span span);

/* ---- wait.c ---- */

/* Notes that the lock-owner of the state waits for a range that another owner has locked, or a local program:
 * the client gets CB_NOTIFY_LOCK when the range is free. If the wait cannot be noted, the client just asks
 * again and again. */
void rr_nfs4_wait(const struct rr_nfs4_state *state, struct rr_span span, bool write, bool local);
/* Forgets the wait of a lock-owner that has got its lock, or does not ask for it any more. */
void rr_nfs4_wait_end(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner);
/* Forgets all waits of a client that ends. */
void rr_nfs4_waits_leave(struct rr_nfs4_client *client);

/* ---- ending.c ---- */

/* Ends the states of a client that has ended, as many as can be at once. Returns false if states are left,
 * which end in later turns; then rr_nfs4_client_gone() follows. */
bool rr_nfs4_ending_client(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client);
/* Ends the lock states of an open that ends, as many as can be at once; the others end in later turns. */
void rr_nfs4_ending_open(struct rr_nfs4_state *open);
/* Goes on with the ends that are left over. Reduces *units, the most steps, by those that were done. */
void rr_nfs4_ending_go(struct rr_nfs4_tables *tables, uint32_t *units);

/* The least time between two questions to the storage about one wait. */
#define RR_NFS4_PROBE_APART (800 * RR_MILLISECOND)

/* A question to the storage whether a local program still has a lock in the way of a wait. */
struct rr_nfs4_probe {
	struct rr_nfs4_wait *wait; /* NULL: the wait is over */
	struct rr_span span;
	bool write;
};

/* Fills the probe with the next wait about which the storage is to be asked. Returns an open for the
 * question, with a reference; NULL if there is no such wait now. */
struct rr_nfs4_opened *rr_nfs4_probe_next(
	struct rr_nfs4_tables *tables, struct rr_nfs4_probe *probe, uint64_t now);
/* Takes the answer of the storage: RR_VFS_LOCK while there is such a lock. If there is none any more, the
 * client gets CB_NOTIFY_LOCK. After an error the storage is not asked again. */
void rr_nfs4_probe_end(struct rr_nfs4_probe *probe, enum rr_vfs_status status);

/* ---- deleg.c ---- */

/*
 * Makes a delegation of the file for the client, and returns it with a reference for the caller. Returns
 * NULL, with the reason in *why, if the client cannot have a delegation now. The client learns of the
 * delegation by the first answer that names it, whose stateid rr_nfs4_stateid_next() writes. Until then, the
 * delegation ends without a recall if the operation of another client conflicts with it.
 */
struct rr_nfs4_state *rr_nfs4_deleg_make(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, const struct rr_vfs_handle *handle, uint64_t now,
	why_no_delegation4 *why);
/* Makes a delegation that the client had before the server started. Unlike rr_nfs4_deleg_make(), it does not
 * ask whether callbacks reach the client. Returns NULL if memory or quota is missing. */
struct rr_nfs4_state *rr_nfs4_deleg_reclaim(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, const struct rr_vfs_handle *handle);

/* Recalls the delegation by CB_RECALL; the client has a lease period to return it. A delegation that no
 * answer has named yet ends at once instead, and may be freed. Does nothing if the delegation was recalled or
 * revoked before. */
void rr_nfs4_deleg_recall(struct rr_nfs4_state *state, uint64_t now);
/* Begins the lease period in which the client has to return a delegation, but sends no CB_RECALL: the caller
 * sends it, or its answer tells the client that the delegation is recalled. Does nothing if the delegation
 * was recalled before. */
void rr_nfs4_deleg_lapse(struct rr_nfs4_state *state, uint64_t now);

/* Recalls the delegations that other clients have of a file that is to be changed; courtesy clients (whose
 * leases are over) that have one are ended. Returns true if there are any left. client: the client that makes
 * the change; NULL if no client does. */
bool rr_nfs4_deleg_conflict(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, uint64_t now);

/*
 * Recalls the client's own delegation of a file that the client itself is to change, and releases the
 * delegation's open, so that its lease in the storage ends at once: the lease would prevent the change.
 * Without the lease, local programs could change the file without the client's knowledge, so the delegation
 * may not stay.
 */
void rr_nfs4_deleg_own(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, uint64_t now);

/* Revokes the delegations that were not returned in time. */
void rr_nfs4_delegs_look(struct rr_nfs4_tables *tables, uint64_t now);

#endif
