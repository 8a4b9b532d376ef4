/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V4_PROVIDER_PRIVATE_H
#define RR_VFS_NFS_V4_PROVIDER_PRIVATE_H

#include <stdatomic.h>

#include <rpcrdma/engine.h>

#include "server/locks/range.h"
#include "vfs/nfs/v4/provider.h"
#include "vfs/nfs/v4/session/compound.h"
#include "vfs/nfs/v4/session/open.h"
#include "vfs/nfs/v4/work.h"

struct rr_v4_vfs {
	struct rr_remote_vfs base;
	struct rpcrdma_engine *engine;
	struct rr_v4 *v4;
	struct rr_list held, reclaim; /* of struct rr_v4_held: at the server; to be reclaimed */
	struct rr_map by_file;        /* those of held, by their files */
	struct rr_list closings;      /* of struct rr_v4_closing */
	struct rr_list guests;        /* of struct rr_v4_job: of providers of other threads */
	struct rr_list elsewhere; /* of struct rr_v4_closing: those that other threads close for this one */
	bool leaving;             /* the provider is being destroyed */
	uint64_t owners;          /* names of owners that were given out */
};

/* ---- attributes.c: attributes and statuses ---- */

/* Appends GETATTR of an object, and returns its place in the COMPOUND. */
uint8_t rr_v4_ask_attributes(struct rr_v4_slot *slot, const bitmap4 *asked);
/* The same for an object that the operation changes or passes. Returns 0, and appends nothing, where that is
 * not wanted (job->base.lean). */
uint8_t rr_v4_ask_known(struct rr_v4_slot *slot);
/* Decodes the result of the GETATTR at this place. Returns false if there is none (place 0, or an operation
 * in front of it failed), or if it makes no sense. */
bool rr_v4_take_values(const struct rr_v4_slot *slot, uint8_t place, struct rr_attr_values *values);
/* Decodes the attributes likewise. Of the object that is found or made (job->at.object), also notes the names
 * of its owner and group. */
void rr_v4_take_known(const struct rr_v4_slot *slot, uint8_t place, struct rr_vfs_known *known);
/* Completes attributes that a server sent. Returns false if they lack the type or the number. */
bool rr_v4_complete(const struct rr_attr_values *values, struct rr_vfs_attributes *attributes);
/* Takes the change of an object from the GETATTRs before and after an operation. info: what the server says
 * of it, or NULL. */
void rr_v4_take_change(const struct rr_v4_slot *slot, uint8_t before, uint8_t after, const change_info4 *info,
	struct rr_vfs_change *change);
/* Returns the RR_VFS_SET_* bits of the attributes in the bitmap, among those of set. */
uint32_t rr_v4_applied(const bitmap4 *bitmap, const struct rr_vfs_set *set);
enum rr_vfs_status rr_v4_status(nfsstat4 status);

/* ---- call.c: an operation under way, and its COMPOUNDs ---- */

typedef enum rr_vfs_status rr_v4_step(struct rr_v4_job *job);
rr_v4_step rr_v4_do_setattr, rr_v4_do_readlink, rr_v4_do_read, rr_v4_do_write, rr_v4_do_seek, rr_v4_do_open,
	rr_v4_do_lock, rr_v4_do_lookup, rr_v4_do_create, rr_v4_do_link, rr_v4_do_remove, rr_v4_do_rename,
	rr_v4_do_readdir, rr_v4_do_listxattr, rr_v4_do_getacl, rr_v4_do_setacl;

/* Sends a COMPOUND; then() is called with the status of its result. Returns RR_VFS_PENDING. */
enum rr_vfs_status rr_v4_ask(struct rr_v4_job *job, const struct rr_v4_work *work,
	void (*then)(struct rr_v4_job *job, enum rr_vfs_status status));
/* Is the then() of operations that end with the status. */
void rr_v4_end(struct rr_v4_job *job, enum rr_vfs_status status);

/* Returns the work of a job, for struct rr_v4_config. */
const struct rr_v4_work *rr_v4_job_work(const struct rr_call *call);
/* For struct rr_remote_version. */
void rr_v4_look(struct rr_remote_job *job, int index);
void rr_v4_withdraw(struct rr_remote_job *job);

static inline struct rr_v4_vfs *
rr_v4_vfs(const struct rr_v4_job *job)
{
	return job->on;
}

/* ---- away.c: operations on an open that another thread has made ---- */

/* Sends the operation to the thread whose provider has made the open that the call names. Returns false if
 * that is this thread. Errors of the operation come in *status. */
bool rr_v4_go_away(struct rr_v4_job *job, enum rr_vfs_status *status);
/* Tells whether the operation goes on in another thread. */
bool rr_v4_is_away(const struct rr_remote_job *job);
/* Has operations come back, when the threads have ended: those of this provider, and those of others that go
 * on here. */
void rr_v4_come_back(struct rr_v4_vfs *vfs);
/* Gets the memory of a READ from the caller. Returns RR_VFS_NO_BUFFER if there is none. */
enum rr_vfs_status rr_v4_read_memory(struct rr_v4_job *job);

/* ---- held.c: what is open at the server ---- */

enum { RR_V4_OWNER = 24 }; /* octets of an owner's name */

/* What is being closed: a file at the server, the locks of an open, or both. */
struct rr_v4_closing {
	struct rr_list link; /* in vfs->closings */
	const struct rr_env *env;
	struct rr_v4_held *held;
	struct rr_vfs_open *open; /* NULL: there is none, as an operation that would make it has failed */
	struct rr_vfs_call *done; /* ends with this; may be NULL */
	/* The provider that counts this until it ends; another thread's if that has closed the open. NULL: it
	 * is gone. */
	struct rr_v4_vfs *counts;
	struct rr_list of_elsewhere; /* in counts->elsewhere, if that is another thread's */
	struct rpcrdma_post post;    /* to the thread that closes, and back */
	bool last;                   /* nothing else uses the file: it is closed */
	struct rr_call call;
	nfsstat4 status;
};

/* A file that is open at the server, for one open or several that share it. */
struct rr_v4_held {
	struct rr_list link; /* in vfs->held or vfs->reclaim */
	struct rr_map_link by_file;
	struct rr_v4_vfs *vfs;
	struct rr_remote_handle file;
	struct rpcrdma_auth_sys user;
	char owner[RR_V4_OWNER];
	uint32_t access, deny; /* RR_VFS_SHARE_*, as at the server */
	uint32_t users;        /* opens, and operations that make one */
	bool open;             /* the stateid is valid, or was before it was lost */
	bool back;             /* of a file in vfs->reclaim: it was reclaimed */
	bool delegated;        /* the server gave a delegation, though it was asked not to */
	stateid4 stateid, delegation;
	struct rr_list opens;          /* of struct rr_vfs_open */
	struct rr_vfs_open *relocking; /* of a file that was reclaimed: the open whose range is, too */
	/* Opens of the file that are being closed while others remain, and the closing of the last one, which
	 * waits for them. */
	uint32_t closers;
	struct rr_v4_closing *waiting;
	struct rr_v4_closing closing;
};

struct rr_vfs_open {
	struct rr_remote_open remote;
	struct rr_v4_held *held; /* NULL: the provider that has made the open is gone */
	struct rr_list of_held;
	_Atomic uint32_t users;  /* the caller, and the operations that use the open */
	char owner[RR_V4_OWNER]; /* of its locks */
	bool locks;              /* it has a stateid for locks */
	stateid4 lock;
	struct rr_locked locked; /* the ranges that it has locked */
	struct rr_ranges ranges;
	/* Of an open whose ranges are to be locked again: the offset from which on they are. */
	bool relocks;
	uint64_t relocked;
	bool broken; /* it had locks, and another client may have had them since: it is of no use any more */
	struct rr_v4_closing closing;
};

struct rr_v4_held *rr_v4_held_new(struct rr_v4_job *job);
/* Notes the result of an OPEN at the server. */
void rr_v4_held_take(struct rr_v4_held *held, const OPEN4resok *ok);
/* Gives an owner a name that no other of this client has. */
void rr_v4_name_owner(struct rr_v4_vfs *vfs, char owner[RR_V4_OWNER]);
/* Appends OPEN of a file by its handle. */
void rr_v4_open_op(struct rr_v4_slot *slot, const struct rr_v4_held *held, open_claim_type4 claim,
	uint32_t access, uint32_t deny);

/* Returns the stateid for input and output on an object of the job, its first or second (index): that of its
 * open; where the caller has reserved the access, that of any open of the file; of a job without a provider,
 * that of the file which the session has opened for the call; else the anonymous one (RFC 8881, 8.2.3). */
stateid4 rr_v4_stateid(
	struct rr_v4_slot *slot, const struct rr_vfs_object *object, int index, uint32_t access);
/* Tells whether the server does not know the stateid any more that the job has used. */
bool rr_v4_is_lost(const struct rr_v4_job *job);
/* Opens the file again whose state the server has lost, and then repeats the COMPOUND. */
void rr_v4_open_again(struct rr_v4_job *job);

/* For struct rr_v4_config: after a restart of the server, the states are reclaimed one by one. */
void rr_v4_forgotten(void *ctx);
const struct rr_v4_work *rr_v4_reclaim_next(void *ctx, struct rr_v4_slot *slot);

/* ---- lock.c: locks of opens ---- */

void rr_v4_locks_init(struct rr_vfs_open *open);
void rr_v4_locks_end(struct rr_vfs_open *open, const struct rr_env *env);
/* Called when the server does not know the locks of the file's opens any more: they are to be locked again.
 */
void rr_v4_locks_lost(struct rr_v4_held *held);
/* Returns the next open of the file that has a range to be locked again, or NULL. */
struct rr_vfs_open *rr_v4_locks_next(struct rr_v4_held *held);
/* Appends LOCK of that range, and takes its result. reclaim: in the grace period of the server. */
void rr_v4_lock_again_op(struct rr_v4_slot *slot, struct rr_vfs_open *open, bool reclaim);
void rr_v4_lock_again_take(struct rr_v4_slot *slot, struct rr_vfs_open *open);
/* Called when the server refuses that: the open is broken. */
void rr_v4_lock_broken(struct rr_vfs_open *open);

/* ---- close.c: opens end ---- */

/* Have the opens that a job names stay until the job has ended. */
void rr_v4_take_opens(struct rr_remote_job *job);
void rr_v4_drop_opens(struct rr_remote_job *job);
enum rr_vfs_status rr_v4_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call);
/* Counts a user of it less, of an operation that has made no open: without users, the file is closed. */
void rr_v4_held_close(struct rr_v4_held *held);
extern const struct rr_v4_work rr_v4_closing_work;
/* Frees what is open, at the end of the provider. */
void rr_v4_close_all(struct rr_v4_vfs *vfs);

#endif
