/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_OP_LOCK_H
#define RR_NFS4_OP_LOCK_H

#include "nfs4/ops.h"

/* The work of an operation on a range: LOCK in op_lock.c, LOCKT and LOCKU in op_lockt.c; lock_storage.c asks
 * the storage for LOCK and LOCKU. */
struct rr_lock_work {
	struct rr_nfs4_span span;
	bool write, made;                 /* made: no answer has named the lock state yet */
	struct rr_nfs4_conflict conflict; /* the lock that is in the way */
	/* Of rr_lock_restore(): the part of the span that is not restored yet, whether that is all, the
	 * status of the operation, and the step that follows. */
	struct rr_nfs4_span left;
	bool is_restored;
	nfsstat4 status;
	rr_nfs4_step *then;
};

/* Makes the struct rr_lock_work of an operation on this range, and stores it in c->op_memory. Returns
 * NFS4ERR_INVAL if there is no such range, and NFS4ERR_DELAY if there is no memory. */
nfsstat4 rr_lock_begin(struct rr_nfs4_compound *c, uint64_t offset, uint64_t length, bool write);

/* Tells whether the type is that of a lock to write; else it is that of a lock to read. */
bool rr_lock_is_write(nfs_lock_type4 type);

/* Fills `denied` with the conflicting lock that work->conflict describes, and returns NFS4ERR_DENIED. */
uint32_t rr_lock_denied(const struct rr_lock_work *work, LOCK4denied *denied);

/* Locks or unlocks the range in the storage by the lock-owner's own open, c->opened[1], and goes on with
 * `then`. If there is no such open, the storage is not asked, and c->vfs_status is RR_VFS_OK. */
uint32_t rr_lock_storage(struct rr_nfs4_compound *c, enum rr_vfs_lock_kind kind, rr_nfs4_step *then);

/* Gives the lock-owner, in the storage, the locks of the range that its lock state has, and no others; then
 * goes on with `then`, which finds `status` in work->status. Called for a LOCK or LOCKU that the storage has
 * carried out and the tables refuse: local programs must not see a lock that no client has. */
uint32_t rr_lock_restore(struct rr_nfs4_compound *c, nfsstat4 status, rr_nfs4_step *then);

#endif
