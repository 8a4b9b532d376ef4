/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V3_LOCK_H
#define RR_VFS_NFS_V3_LOCK_H

#include "server/locks/range.h"
#include "ulb/nlm4.h"
#include "vfs/nfs/remote/remote.h"

/*
 * Locks by NLM version 4 (RFC 1813, appendix II, and XNFS, chapter 10). NLM serves this client without NSM
 * and calls nothing back: a lock is asked for without waiting, and who waits asks again. Whether the other
 * server has started anew is learnt from lost connections: after each, all ranges are locked again, and
 * reclaimed where the server answers NLM4_DENIED_GRACE_PERIOD. While there are locks, a call of NULL every
 * RR_V3_WATCH looks at the connection.
 */
#define RR_V3_WATCH (15 * RR_SECOND)

enum { RR_V3_COOKIE = 8, RR_V3_OH = 16 };

struct rr_v3_vfs;
struct rr_vfs_open;

/* The arguments and the result of a call of NLM. */
struct rr_v3_nlm {
	uint8_t cookie[RR_V3_COOKIE];
	union {
		netobj cookie; /* all begin with it */
		nlm4_lockargs lock;
		nlm4_testargs test;
		nlm4_unlockargs unlock;
	} args;
	union {
		netobj cookie; /* all begin with it */
		nlm4_res res;
		nlm4_testres test;
	} result;
};

/*
 * The lock-owner of an open at the other server (svid and oh), made for its first lock.
 * Ownership: it belongs to the open and lies in vfs->locks.owners; after the open it lies in
 * vfs->locks.closings, until the other server has unlocked all.
 */
struct rr_v3_owner {
	struct rr_list link;
	struct rr_v3_vfs *vfs;
	struct rr_remote_handle file;
	struct rpcrdma_auth_sys user;
	int32_t svid;
	uint8_t oh[RR_V3_OH];
	struct rr_locked locked;
	struct rr_ranges ranges;
	bool broken;       /* a range of its was lost: another client may have it */
	bool relocks;      /* its ranges are to be locked again, */
	uint64_t relocked; /* from this offset on */
	struct rr_v3_nlm nlm;
	struct rr_call rpc; /* the UNLOCK of its end */
};

/* What the provider has for locks. client NULL: there is no NLM, and all locks are granted here. */
struct rr_v3_locks {
	struct rpcrdma_client *client;
	struct rr_list owners, closings;
	uint64_t cookies;
	int32_t svids;
	uint8_t id[RR_V3_OH]; /* of this provider, in the owners' oh */
	uint32_t reconnects;  /* of the client, when its ranges were locked last */
	struct rr_timer watch;
	struct rr_v3_owner *relocking;
	bool asked;   /* again is under way */
	bool reclaim; /* the next call of again reclaims */
	struct rr_v3_nlm nlm;
	struct rr_call again;
};

/* ---- nlm.c: calls of NLM ---- */

/* Sets what is common to all calls of the procedure; args are set, but for their cookies. */
void rr_v3_nlm_call(struct rr_v3_vfs *vfs, struct rr_v3_nlm *nlm, struct rr_call *call, uint32_t procedure);
/* Returns the lock of the owner as an argument of a call. */
nlm4_lock rr_v3_nlm_lock(const struct rr_v3_owner *owner, uint64_t offset, uint64_t length);
/* Returns the status of an operation whose call of NLM has ended with the error, or with the result. */
enum rr_vfs_status rr_v3_nlm_status(const struct rr_v3_nlm *nlm, int error, nlm4_stats stat);

/* ---- owner.c: lock-owners, from the first lock to the last unlock ---- */

/* Returns 0 or an error of rr_client_new(), with text. */
int rr_v3_locks_begin(struct rr_v3_vfs *vfs, struct rpcrdma_engine *engine, struct rr_text *text);
/* Ends it. Files that are being unlocked get some time for that: NLM has no leases, and would keep the locks.
 */
void rr_v3_locks_end(struct rr_v3_vfs *vfs);
/* Returns the lock-owner of the open, made if it has none; or NULL. */
struct rr_v3_owner *rr_v3_owner(struct rr_v3_vfs *vfs, struct rr_vfs_open *open);
/* Unlocks all that the owner has; its open is gone. */
void rr_v3_owner_end(struct rr_v3_owner *owner);

/* ---- again.c: after a lost connection ---- */

/* Called after each answer of the other server: looks whether the connection was another one before. */
void rr_v3_locks_look(struct rr_v3_vfs *vfs);
/* Looks at the connection after RR_V3_WATCH, and so on. */
void rr_v3_locks_watch(struct rr_timer *timer);

#endif
