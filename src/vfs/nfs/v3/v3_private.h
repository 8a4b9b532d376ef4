/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V3_V3_PRIVATE_H
#define RR_VFS_NFS_V3_V3_PRIVATE_H

#include "vfs/nfs/v3/v3.h"
#include "vfs/nfs/v3/work.h"

struct rr_vfs_open {
	struct rr_remote_open remote;
	uint32_t users;            /* its caller, and locks under way */
	struct rr_v3_owner *owner; /* NULL: it has asked for no lock yet */
};

struct rr_v3_vfs {
	struct rr_remote_vfs base;
	struct rr_v3_locks locks;
};

/* ---- attributes.c: attributes and statuses ---- */

/* Stores the attributes. Returns false where they make no sense. */
bool rr_v3_attributes(const fattr3 *given, struct rr_vfs_attributes *attributes);
/* Stores the attributes of an object that an operation of the job is for, as rr_v3_attributes() does; of a
 * job without a provider, whatever they are. */
bool rr_v3_take(const struct rr_v3_job *job, const fattr3 *given, struct rr_vfs_attributes *attributes);
void rr_v3_known(const post_op_attr *given, struct rr_vfs_known *known);
void rr_v3_change(const wcc_data *given, struct rr_vfs_change *change);
/* Stores what version 3 can set. Returns RR_VFS_INVAL for a time that it does not hold: before 1970, or after
 * 2106. */
enum rr_vfs_status rr_v3_set(const struct rr_vfs_set *set, sattr3 *attributes);

/* ---- call.c: an operation under way, and its calls ---- */

/* The first steps of the operations: each begins a call, and returns RR_VFS_PENDING; or the status with which
 * the operation ends at once. */
typedef enum rr_vfs_status rr_v3_step(struct rr_v3_job *job);
rr_v3_step rr_v3_setattr, rr_v3_read, rr_v3_write, rr_v3_open, rr_v3_lock, rr_v3_lookup, rr_v3_create,
	rr_v3_link, rr_v3_remove, rr_v3_rename, rr_v3_readdir, rr_v3_getacl, rr_v3_setacl, rr_v3_limits;

/* Calls a procedure of the other server, whose arguments are in job->args; then() is called with the status
 * of its result, which is in job->result. Returns RR_VFS_PENDING. */
enum rr_vfs_status rr_v3_call(
	struct rr_v3_job *job, uint32_t procedure, void (*then)(struct rr_v3_job *job, enum rr_vfs_status));

/* Begins the call of a work; then() is called with the status of its take(). Returns RR_VFS_PENDING. */
enum rr_vfs_status rr_v3_ask(struct rr_v3_job *job, const struct rr_v3_work *work,
	void (*then)(struct rr_v3_job *job, enum rr_vfs_status));
/* Is the then() of operations that end with the status. */
void rr_v3_end(struct rr_v3_job *job, enum rr_vfs_status status);

/* Calls a procedure of NFSACL likewise. Where the other server has none, the status is RR_VFS_NOTSUPP. */
enum rr_vfs_status rr_v3_acl_call(
	struct rr_v3_job *job, uint32_t procedure, void (*then)(struct rr_v3_job *job, enum rr_vfs_status));

/* What struct rr_remote_version wants. */
void rr_v3_look(struct rr_remote_job *job, int index);
void rr_v3_withdraw(struct rr_remote_job *job);
void rr_v3_take_opens(struct rr_remote_job *job);
void rr_v3_drop_opens(struct rr_remote_job *job);
/* Frees the open when nobody uses it any more. */
void rr_v3_drop_open(struct rr_remote_vfs *vfs, struct rr_vfs_open *open);

#endif
