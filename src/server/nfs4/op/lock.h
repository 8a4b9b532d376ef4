/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_OP_LOCK_H
#define RR_SERVER_NFS4_OP_LOCK_H

#include "server/nfs4/ops.h"

/* The work of an operation on a range: LOCK in lock.c, LOCKT and LOCKU in lockt.c; lock_storage.c asks
 * the storage for LOCK and LOCKU. */
struct rr_lock_work {
	struct rr_span span;
	bool write, made;                /* made: no answer has named the lock state yet */
	bool reopens;                    /* for LOCK: rr_lock_reopen() is needed */
	struct rr_locks_holder conflict; /* the lock that is in the way */
	/* Of rr_lock_restore(): the part of the span that is not restored yet, whether that is all, the
	 * status of the operation, and the step that follows. */
	struct rr_span left;
	bool is_restored;
	nfsstat4 status;
	rr_nfs4_step *then; /* also of rr_lock_reopen() */
	/* Of rr_lock_reopen(): the new open, as long as it is not that of the lock state, and the next range
	 * that the storage is to lock by the new open. */
	struct rr_vfs_open *fresh;
	const struct rr_range *next;
};

/* Makes the struct rr_lock_work of an operation on this range, and stores it in c->op_memory. Returns
 * NFS4ERR_INVAL if there is no such range, and NFS4ERR_DELAY if there is no memory. */
nfsstat4 rr_lock_begin(struct rr_nfs4_compound *c, uint64_t offset, uint64_t length, bool write);

/* Tells whether the type is that of a lock to write; else it is that of a lock to read. */
bool rr_lock_is_write(nfs_lock_type4 type);

/* Fills `denied` with the conflicting lock that work->conflict describes, and returns NFS4ERR_DENIED. */
uint32_t rr_lock_denied(const struct rr_lock_work *work, LOCK4denied *denied);

/* Has the storage open the file for the lock-owner, with the access c->own.lock_access, and goes on with
 * `then`.
 */
uint32_t rr_lock_open(struct rr_nfs4_compound *c, rr_nfs4_step *then);

/* Has the storage open the file for the lock-owner once more, as c->opened[1], the open that the lock state
 * has, cannot lock for writing. Has the storage lock all ranges of the lock state by the new open, which then
 * becomes that of the lock state, and c->opened[1]; no range is unlocked for a moment. Goes on with `then`.
 * c->vfs_status tells `then` whether that succeeded; else the lock state keeps the open that it has. The
 * caller has set `opening` of the lock state, and no other LOCK or LOCKU uses its open. */
uint32_t rr_lock_reopen(struct rr_nfs4_compound *c, rr_nfs4_step *then);

/* Locks or unlocks the range in the storage by the lock-owner's own open, c->opened[1], and goes on with
 * `then`. If there is no such open, the storage is not asked, and c->vfs_status is RR_VFS_OK. */
uint32_t rr_lock_storage(struct rr_nfs4_compound *c, enum rr_vfs_lock_kind kind, rr_nfs4_step *then);

/* Gives the lock-owner, in the storage, the locks of the range that its lock state has, and no others; then
 * goes on with `then`, which finds `status` in work->status. Called for a LOCK or LOCKU that the storage has
 * carried out and the tables refuse: local programs must not see a lock that no client has. */
uint32_t rr_lock_restore(struct rr_nfs4_compound *c, nfsstat4 status, rr_nfs4_step *then);

#endif
