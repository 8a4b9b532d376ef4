/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NLM_OP_H
#define RR_SERVER_NLM_OP_H

#include "server/nlm/wait.h"
#include "ulb/nlm4.h"
#include "vfs/door.h"
#include "vfs/gate.h"

/*
 * An operation of NLM, of whatever version: it is steps between operations of vfs.h. Each step ends with
 * rr_nlm_op_end(), goes on at once, or goes on when the storage has answered or a short time is over.
 *
 * A lock is in the tables, where it stands against the locks of other owners, and in the storage, where local
 * programs see it. Each claim has its own open of the file, made for the lock.
 */

struct rr_nlm_server;
struct rr_nlm_op;

enum rr_nlm_what { RR_NLM_TEST, RR_NLM_LOCK, RR_NLM_CANCEL, RR_NLM_UNLOCK, RR_NLM_SHARE, RR_NLM_UNSHARE };

struct rr_nlm_op {
	struct rr_list link; /* in the server's operations */
	struct rr_nlm_server *server;
	/* in: what is asked by whom; the memory stays until ended() */
	enum rr_nlm_what what;
	struct rpcrdma_request
		*request; /* NULL: no host asks, the server has a lock set for one that waits */
	struct rr_nlm_way way;
	struct rpcrdma_bytes name;
	struct rr_nlm_owner owner;
	struct rr_span span;
	bool write, block, reclaim;
	bool monitored; /* the host is to be notified of a restart: its name must be on the disk first */
	int32_t state;
	uint32_t access, deny;    /* of a share */
	struct rr_nlm_wait *wait; /* that the lock is set for; NULL: none */
	void (*ended)(struct rr_nlm_op *op);
	/* out; holder: with NLM4_DENIED of RR_NLM_TEST */
	nlm4_stats stat;
	struct rr_locks_holder holder;

	/* What follows belongs to the operation. */
	bool over, kept;
	struct rr_vfs_identity identity;
	struct rr_nlm_host *host;
	struct rr_nlm_claim *claim; /* it is busy for this operation */
	struct rr_timer timer;
	uint32_t tries;
	void (*again)(struct rr_nlm_op *op), (*then)(struct rr_nlm_op *op), (*recorded)(struct rr_nlm_op *op);
	void (*step)(struct rr_nlm_op *op, enum rr_vfs_status status);
	struct rr_vfs_open *fresh; /* an open that is not the claim's yet */
	/* Of op_open.c: the first octet that is not locked by the new open yet; the range there is unlocked
	 * by the old one; there is no further range. */
	uint64_t moved;
	bool is_moved, is_last;
	union {
		struct rr_vfs_call call;
		struct rr_vfs_getattr getattr;
		struct rr_vfs_opening opening;
		struct rr_vfs_lock lock;
	} vfs;
};

/* Begins the operation, which is zeroed but for its input. ended() is called once, maybe before this function
 * returns. */
void rr_nlm_op_begin(struct rr_nlm_op *op);
/* Has the lock of op->wait set, whose claim is not being ended. */
void rr_nlm_op_grant(struct rr_nlm_op *op);
/* Unlocks the range of op->wait, of which the host does not want to know, and ends the wait. */
void rr_nlm_op_return(struct rr_nlm_op *op);

/* ---- for the files op*.c ---- */

/* Enters a new operation into the list of its server. */
void rr_nlm_op_enlist(struct rr_nlm_op *op);
/* Ends the operation. */
void rr_nlm_op_end(struct rr_nlm_op *op, nlm4_stats stat);
/* Calls again() after a short time, but not for ever. */
void rr_nlm_op_retry(struct rr_nlm_op *op, void (*again)(struct rr_nlm_op *op));
/* Goes on with step() when the storage has answered: at once, unless status is RR_VFS_PENDING. */
void rr_nlm_op_vfs(struct rr_nlm_op *op, enum rr_vfs_status status,
	void (*step)(struct rr_nlm_op *op, enum rr_vfs_status status));
/* Zeroes the call of the storage for its next use. */
void rr_nlm_op_clear(struct rr_nlm_op *op);
/* Makes the operation the one that uses the claim. Returns false if another does. The mutex is held. */
bool rr_nlm_op_use(struct rr_nlm_op *op, struct rr_nlm_claim *claim);
/* Returns the status that a host gets for a failure of the storage. */
nlm4_stats rr_nlm_op_stat(enum rr_vfs_status status);
/* Finds the host and the claim that the call names, for an operation that makes none. Returns true if the
 * operation uses the claim now; false if it has ended, with GRANTED, as there is nothing, or is tried again.
 */
bool rr_nlm_op_find(struct rr_nlm_op *op, void (*again)(struct rr_nlm_op *op));

/* op_lock.c, op_share.c, op_test.c: begin when the file is known to be a regular one. */
void rr_nlm_lock_begin(struct rr_nlm_op *op);
void rr_nlm_share_begin(struct rr_nlm_op *op);
void rr_nlm_test_begin(struct rr_nlm_op *op);
/* op_unlock.c */
void rr_nlm_unlock_begin(struct rr_nlm_op *op);
void rr_nlm_cancel_begin(struct rr_nlm_op *op);
void rr_nlm_unshare_begin(struct rr_nlm_op *op);
/* op_open.c: gives the claim an open with the access, and goes on with then(). */
void rr_nlm_open(struct rr_nlm_op *op, uint32_t access, void (*then)(struct rr_nlm_op *op));

#endif
