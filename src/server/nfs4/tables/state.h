/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_STATE_H
#define RR_SERVER_NFS4_TABLES_STATE_H

#include "server/locks/table.h"
#include "server/nfs4/tables/grace.h"
#include "server/nfs4/tables/record.h"
#include "server/nfs4/tables/slot.h"
#include "vfs/door.h"

/* Opens, locks and delegations of clients, each named by a stateid, and the files that they are of. The
 * functions need the lock of the tables (tables.h). */

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
	/* In version 4.0, the owner that numbers its requests (owner.h), in whose list of states it is; NULL
	 * elsewhere. */
	struct rr_nfs4_owner *seq_owner;
	struct rr_list of_owner;
	/* For a delegation: its places in the list of its file and in the tables' recalls, the time of the
	 * recall, and the CB_RECALL. */
	struct rr_list of_delegations, recall;
	uint64_t recalled; /* 0: it is not recalled */
	struct rr_nfs4_callback callback;
	uint32_t owner_length;
	uint8_t owner[];
};

/* ---- state.c and stateid.c: what all states have in common ---- */

/* Writes the stateid of the state, as the client knows it. */
void rr_nfs4_stateid(const struct rr_nfs4_state *state, stateid4 *stateid);
/* Returns the number of the state in a stateid; 0 if the stateid is of another start of the server. */
uint64_t rr_nfs4_stateid_number(const struct rr_nfs4_tables *tables, const stateid4 *stateid);
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

/* Finds the state of a client of version 4.0 that a stateid names, whatever its seqid is, and stores it in
 * *state. Errors: NFS4ERR_STALE_STATEID for a stateid of another start of the server; NFS4ERR_EXPIRED if its
 * client has ended; NFS4ERR_BAD_STATEID. */
nfsstat4 rr_nfs4_state_named(
	const struct rr_nfs4_tables *tables, const stateid4 *stateid, struct rr_nfs4_state **state);

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

#endif
