/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_LOCK_H
#define RR_SERVER_NFS4_TABLES_LOCK_H

#include "server/nfs4/tables/state.h"

/* Byte-range locks, and those who wait for them: LOCK, LOCKT and LOCKU. */

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

#endif
