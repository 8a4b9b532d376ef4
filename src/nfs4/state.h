/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_STATE_H
#define RR_NFS4_STATE_H

#include "nfs4/grace.h"
#include "nfs4/range.h"
#include "nfs4/record.h"
#include "nfs4/slot.h"
#include "vfs/vfs.h"

/*
 * What clients hold: opens, byte-range locks and delegations, each named by a stateid, in tables of clients
 * and of files: RFC 8881, sections 8, 9 and 10. Pure: no clock, no lock, no system call, no storage.
 *
 * The tables are shared by all threads of a server. Their caller takes one mutex around each function here,
 * and never holds it over storage or I/O: all of these functions are short.
 *
 * Who owns what: a state belongs to its client and its file, and leaves all tables at once when it ends. What
 * uses a state or its open while the mutex is not held holds that one. An open that nobody holds any more
 * comes to the list `unused`: the thread that takes it from there closes it.
 */

enum rr_nfs4_kind { RR_NFS4_OPEN = 1, RR_NFS4_LOCK = 2, RR_NFS4_DELEGATION = 4 };

enum rr_nfs4_revoked {
	RR_NFS4_VALID,
	RR_NFS4_EXPIRED,
	RR_NFS4_ADMIN_REVOKED,
	RR_NFS4_RECALL_REVOKED,
	RR_NFS4_GONE
};

struct rr_nfs4_tables;

struct rr_nfs4_state;

/* An open of the storage. */
struct rr_nfs4_opened {
	struct rr_nfs4_tables *tables;
	struct rr_nfs4_state *delegation; /* which ends with the storage's lease; NULL: there is none */
	struct rr_list link;              /* in the tables' list of those that are not used any more */
	struct rr_vfs_open *open;
	uint32_t holders;
};

struct rr_nfs4_file {
	struct rr_map_link by_id;
	struct rr_vfs_id id;
	struct rr_list states;
	/* Opens by what they have and what they deny: [0] reading, [1] writing. */
	uint32_t access[2], deny[2];
	uint32_t lock_count; /* lock states, whether they lock anything or not */
	uint32_t delegations;
	uint64_t recalled; /* when a delegation of it was last recalled; 0: never */
};

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
	struct rr_nfs4_opened *opened; /* as which the file is used; NULL: not yet */
	uint32_t access, deny;         /* OPEN4_SHARE_*: of an open; of a delegation access alone */
	/* Of an open: the combinations that an OPEN asked for, bit access * 4 + deny; its locks. */
	uint32_t combinations;
	struct rr_list locks;
	/* Of a lock: its place in the open's locks. */
	struct rr_list of_open;
	struct rr_nfs4_state *parent;
	struct rr_nfs4_ranges ranges;
	/* Of a delegation: its place in the tables' recalls, since when, and the CB_RECALL. */
	struct rr_list recall;
	uint64_t recalled; /* 0: it is not recalled */
	struct rr_nfs4_callback callback;
	uint32_t owner_length;
	uint8_t owner[];
};

struct rr_nfs4_tables {
	const struct rr_env *env;
	struct rr_nfs4_clients clients;
	struct rr_nfs4_sessions sessions;
	struct rr_nfs4_grace grace;
	struct rr_nfs4_records records;
	struct rr_map files, states, owners;
	struct rr_list unused;
	uint32_t start;  /* of stateids: random for each start of the server */
	uint64_t number; /* of the last stateid */
	uint32_t count, ranges;
	struct rr_nfs4_quota states_quota, ranges_quota, delegations_quota;
	struct rr_list recalls; /* delegations that are to be returned: the one recalled first first */
	uint32_t delegations;
	struct rr_list waits; /* for locks: wait.c's */
	uint32_t wait_count;
};

struct rr_nfs4_tables_config {
	uint64_t lease; /* nanoseconds */
	uint32_t clients, sessions, states, ranges, delegations;
	uint64_t replies; /* octets of replies kept for retries */
};

extern const struct rr_nfs4_tables_config rr_nfs4_tables_config_default;

/* Errors: NOMEM. */
int rr_nfs4_tables_init(
	struct rr_nfs4_tables *tables, const struct rr_env *env, const struct rr_nfs4_tables_config *config);
/* All clients end; their records stay, as they may reclaim what they had. */
void rr_nfs4_tables_end(struct rr_nfs4_tables *tables);
void rr_nfs4_tables_free(struct rr_nfs4_tables *tables);

/* From time to time: leases that are over, and the end of the grace period. */
void rr_nfs4_look(struct rr_nfs4_tables *tables, uint64_t now);

/* What rr_nfs4_records_next() gave has been done, or failed. */
void rr_nfs4_recorded(struct rr_nfs4_tables *tables, struct rr_nfs4_record *record, bool done);

/* ---- state.c: what all states have in common ---- */

/* The stateid as the client knows it. */
void rr_nfs4_stateid(const struct rr_nfs4_state *state, stateid4 *stateid);
/* The same with the next seqid: the state has changed. RFC 8881, 8.2.2: wraps to 1, as 0 means the current
 * one. */
void rr_nfs4_stateid_next(struct rr_nfs4_state *state, stateid4 *stateid);

enum rr_nfs4_special {
	RR_NFS4_NOT_SPECIAL,
	RR_NFS4_ANONYMOUS,
	RR_NFS4_BYPASS,
	RR_NFS4_CURRENT,
	RR_NFS4_INVALID,  /* the one that CLOSE returns */
	RR_NFS4_UNDEFINED /* all zeros or all ones with a seqid that has no meaning */
};

/* RFC 8881, 8.2.3. */
enum rr_nfs4_special rr_nfs4_special(const stateid4 *stateid);

/*
 * The state that a stateid names, by the checks of section 8.2.4 in their order. id: of the current
 * filehandle's object, NULL where that does not matter. kinds: enum rr_nfs4_kind, those that make sense.
 */
nfsstat4 rr_nfs4_state_find(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const stateid4 *stateid, const struct rr_vfs_id *id, uint32_t kinds, struct rr_nfs4_state **state);

/* An open that the client has of the file with that handle; NULL: it has none. */
struct rr_nfs4_opened *rr_nfs4_opened_of(
	const struct rr_nfs4_client *client, const struct rr_vfs_handle *handle);

/* TEST_STATEID and FREE_STATEID: sections 18.48 and 18.38. */
nfsstat4 rr_nfs4_test_stateid(
	const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client, const stateid4 *stateid);
nfsstat4 rr_nfs4_free_stateid(
	struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client, const stateid4 *stateid);

/* The state and what depends on it go. */
void rr_nfs4_state_end(struct rr_nfs4_state *state);
/* The state is revoked: it has no effect any more, and its stateid stays until it is freed. */
void rr_nfs4_state_revoke(struct rr_nfs4_state *state, enum rr_nfs4_revoked revoked);

/* The open of the state is closed when nobody uses it any more. */
void rr_nfs4_state_close(struct rr_nfs4_state *state);

struct rr_nfs4_state *rr_nfs4_state_hold(struct rr_nfs4_state *state);
void rr_nfs4_state_release(struct rr_nfs4_state *state);

/* Holds open, which is the caller's, as an open of the state from now on; the one before is let go. False: no
 * memory, or the state has ended: nothing has changed. */
bool rr_nfs4_state_opened(struct rr_nfs4_state *state, struct rr_vfs_open *open);
struct rr_nfs4_opened *rr_nfs4_opened_hold(struct rr_nfs4_opened *opened);
void rr_nfs4_opened_release(struct rr_nfs4_tables *tables, struct rr_nfs4_opened *opened);
/* The next open that is to be closed, and freed by the caller; NULL: there is none. */
struct rr_nfs4_opened *rr_nfs4_opened_unused(struct rr_nfs4_tables *tables);

/* ---- file.c ---- */

bool rr_nfs4_id_same(const struct rr_vfs_id *a, const struct rr_vfs_id *b);

/* A file that has states; NULL where there are none. */
struct rr_nfs4_file *rr_nfs4_file_find(const struct rr_nfs4_tables *tables, const struct rr_vfs_id *id);

/* The quota of states of that kind: delegations have their own, as the server gives them unasked, and a
 * client is not to lose opens by them. */
struct rr_nfs4_quota *rr_nfs4_state_quota(struct rr_nfs4_tables *tables, enum rr_nfs4_kind kind);

/* A new state of a file, which is made if there is none of it; NULL: no memory, or too many. */
struct rr_nfs4_state *rr_nfs4_state_make(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, enum rr_nfs4_kind kind, struct rpcrdma_bytes owner);
/* That of an owner in a file; NULL: there is none. */
struct rr_nfs4_state *rr_nfs4_state_of_owner(const struct rr_nfs4_tables *tables,
	const struct rr_nfs4_client *client, const struct rr_vfs_id *id, enum rr_nfs4_kind kind,
	struct rpcrdma_bytes owner);
/* state.c's: the state leaves its file, which goes with the last one. */
void rr_nfs4_file_leave(struct rr_nfs4_state *state);

/* ---- share.c: OPEN, OPEN_DOWNGRADE, CLOSE ---- */

struct rr_nfs4_share {
	const struct rr_vfs_id *id;
	const struct rr_vfs_handle *handle;
	struct rpcrdma_bytes owner;
	uint32_t access, deny;
};

/*
 * Reserves the share for the owner, who may have the file open already: *state is held. Undone by
 * rr_nfs4_share_undo() as long as nobody has seen the new stateid. NFS4ERR_SHARE_DENIED; courtesy clients
 * that are in the way end.
 */
struct rr_nfs4_reserved {
	struct rr_nfs4_state *state;
	uint32_t access, deny, combinations; /* what it was before; access 0: the state is new */
};
nfsstat4 rr_nfs4_share(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_nfs4_share *share, struct rr_nfs4_reserved *reserved);
void rr_nfs4_share_undo(struct rr_nfs4_reserved *reserved);

/* OPEN_DOWNGRADE: NFS4ERR_INVAL unless some OPENs asked for what is left. */
nfsstat4 rr_nfs4_downgrade(struct rr_nfs4_state *state, uint32_t access, uint32_t deny);

/* ---- lock.c: LOCK, LOCKT, LOCKU ---- */

struct rr_nfs4_conflict {
	struct rr_nfs4_span span;
	bool write;
	clientid4 client;
	uint32_t owner_length;
	uint8_t owner[NFS4_OPAQUE_LIMIT];
};

/* Whether somebody else than the owner has a lock in the way. Courtesy clients that have one end. */
bool rr_nfs4_lock_conflict(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner, struct rr_nfs4_span span, bool write,
	struct rr_nfs4_conflict *conflict);

/* The lock state of an owner for an open, made if there is none. NULL: no memory, or too many. */
struct rr_nfs4_state *rr_nfs4_lock_state(
	struct rr_nfs4_tables *tables, struct rr_nfs4_state *open, struct rpcrdma_bytes owner);

/* Both: NFS4ERR_SERVERFAULT where there is no memory, or there are too many ranges; then nothing has changed.
 */
nfsstat4 rr_nfs4_lock(struct rr_nfs4_state *state, struct rr_nfs4_span span, bool write);
nfsstat4 rr_nfs4_unlock(struct rr_nfs4_state *state, struct rr_nfs4_span span);

/* Whether somebody else than the owner has a lock in the way, a courtesy client or not. */
bool rr_nfs4_is_locked(const struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner, struct rr_nfs4_span span, bool write);

/* ---- wait.c ---- */

/* The owner of a lock state waits for the range, which somebody else has: CB_NOTIFY_LOCK comes when that one
 * lets go of it. Where that is not possible, the client asks again and again. */
void rr_nfs4_wait(const struct rr_nfs4_state *state, struct rr_nfs4_span span, bool write);
/* The owner has got its lock, or asks for none any more. */
void rr_nfs4_wait_end(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, struct rpcrdma_bytes owner);
void rr_nfs4_waits_leave(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client);
/* Something of the file was unlocked. */
void rr_nfs4_waits_look(struct rr_nfs4_tables *tables, const struct rr_vfs_id *id);

/* ---- deleg.c ---- */

/*
 * A delegation of the file for the client, held: given when the first answer names it, by
 * rr_nfs4_stateid_next(). Until then it ends where something comes in its way. NULL: it cannot have any, and
 * why.
 */
struct rr_nfs4_state *rr_nfs4_deleg_make(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, const struct rr_vfs_handle *handle, uint64_t now,
	why_no_delegation4 *why);
/* The same of what the client had before the server started: there is no need for a way to recall it. */
struct rr_nfs4_state *rr_nfs4_deleg_reclaim(struct rr_nfs4_tables *tables, struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, const struct rr_vfs_handle *handle);

/* The client is to return the delegation: CB_RECALL, and a lease period for it. */
void rr_nfs4_deleg_recall(struct rr_nfs4_state *state, uint64_t now);
/* The same where the client learns of it otherwise. */
void rr_nfs4_deleg_lapse(struct rr_nfs4_state *state, uint64_t now);

/* Whether other clients have delegations of a file that is to be changed, which are recalled. client: NULL
 * where none has made the request. */
bool rr_nfs4_deleg_conflict(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, uint64_t now);

/*
 * The client itself is to change a file that it may have a delegation of: that is recalled, but stands in the
 * way of nothing. The storage's lease would, and it goes at once: so local programs could change the file
 * without the client's knowledge, from then on.
 */
void rr_nfs4_deleg_own(struct rr_nfs4_tables *tables, const struct rr_nfs4_client *client,
	const struct rr_vfs_id *id, uint64_t now);

/* Delegations that were not returned in time are revoked. */
void rr_nfs4_delegs_look(struct rr_nfs4_tables *tables, uint64_t now);

#endif
