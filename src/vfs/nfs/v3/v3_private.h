/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V3_V3_PRIVATE_H
#define RR_VFS_NFS_V3_V3_PRIVATE_H

#include <pthread.h>
#include <string.h>

#include "base/map.h"
#include "base/siphash.h"
#include "ulb/nfs3.h"
#include "vfs/door.h"
#include "vfs/nfs/v3/v3.h"
#include "vfs/reserve.h"

struct rr_v3_vfs;
struct rr_v3_job;

/* A handle of the other server, and the export that it was found in. */
struct rr_v3_handle {
	uint32_t export; /* its number */
	uint32_t length;
	uint8_t data[NFS3_FHSIZE];
};

struct rr_vfs_open {
	struct rr_reservation reservation;
	struct rr_v3_handle handle;
	struct rpcrdma_auth_sys user; /* who has opened the file */
};

/* ---- handle.c: the handles that clients see ---- */

struct rr_v3_long;

/* The names of handles that are too long, the one used last in front. */
struct rr_v3_handles {
	const struct rr_env *env;
	pthread_mutex_t lock; /* of longs and used */
	uint8_t check[RR_SIPHASH_KEY];
	struct rr_map longs; /* by the first half of the name */
	struct rr_list used;
	uint32_t hashes[64]; /* of the names of the exports */
	uint32_t export_count;
};

int rr_v3_handles_init(
	struct rr_v3_handles *handles, const struct rr_env *env, const struct rr_v3_config *config);
void rr_v3_handles_end(struct rr_v3_handles *handles);
/* Writes the handle that clients see. Returns RR_VFS_OK; RR_VFS_BUSY: no memory; RR_VFS_FAULT: the other
 * server gave a handle without octets. */
enum rr_vfs_status rr_v3_encode(
	struct rr_v3_handles *handles, uint32_t export, nfs_fh3 given, struct rr_vfs_handle *handle);
/* Finds the handle of the other server. Errors: RR_VFS_BAD_HANDLE, and RR_VFS_STALE for a name that is not in
 * the table any more. */
enum rr_vfs_status rr_v3_decode(
	struct rr_v3_handles *handles, struct rpcrdma_bytes handle, struct rr_v3_handle *found);
uint32_t rr_v3_export_of(const struct rr_v3_handles *handles, struct rpcrdma_bytes handle);

/* ---- attributes.c: attributes and statuses ---- */

/* Stores the attributes. Returns false where they make no sense. */
bool rr_v3_attributes(const fattr3 *given, struct rr_vfs_attributes *attributes);
void rr_v3_known(const post_op_attr *given, struct rr_vfs_known *known);
void rr_v3_change(const wcc_data *given, struct rr_vfs_change *change);
/* Stores what version 3 can set. Returns RR_VFS_INVAL for a time that it does not hold: before 1970, or after
 * 2106. */
enum rr_vfs_status rr_v3_set(const struct rr_vfs_set *set, sattr3 *attributes);
enum rr_vfs_status rr_v3_status(nfsstat3 status);

/* ---- order.c: the order of operations ---- */

struct rr_v3_queue;

enum rr_v3_kind { RR_V3_CHANGES, RR_V3_WRITES, RR_V3_COMMITS };

/* The place of a job in the queue of an object. */
struct rr_v3_place {
	struct rr_list link;
	struct rr_v3_queue *queue; /* NULL: it is in none */
	struct rr_v3_job *job;
	enum rr_v3_kind kind;
};

/* Puts the job into the queues of the objects that it changes. Returns whether it may go on at once; else
 * sets *status: RR_VFS_PENDING, and rr_v3_go() will be called; or RR_VFS_BUSY where there is no memory. */
bool rr_v3_order(struct rr_v3_job *job, enum rr_vfs_status *status);
/* Takes the job out of its queues, and has those go on that have waited for it. */
void rr_v3_leave(struct rr_v3_job *job);

/* ---- job.c: an operation under way ---- */

enum { RR_V3_ARENA = 256 << 10 }; /* octets, for the entries of a part of a listing */

/*
 * An operation, which makes one call of the other server after another. Each call is followed by a step,
 * which reads the result, and begins the next call, or ends the operation.
 *
 * Ownership: a job lies in vfs->jobs from its beginning to its end.
 */
struct rr_v3_job {
	struct rr_list link;
	struct rr_v3_vfs *vfs;
	struct rr_vfs_call *call;
	enum rr_vfs_operation operation;
	struct rpcrdma_auth_sys user;
	struct rr_v3_handle objects[2];
	struct rr_vfs_open *open; /* by which the call names the first object; or NULL */
	struct rr_call rpc;
	void (*then)(struct rr_v3_job *job, enum rr_vfs_status status);
	struct rr_v3_place places[2];
	struct rr_task ending; /* of a cancelled operation */
	uint32_t moved; /* octets of a READ or WRITE; of a refused operation, its objects that were looked at
			 */
	bool cancelled;
	bool created; /* the object was made by this operation; of a lookup: "." or ".." was not looked up */
	bool plain;   /* of a listing: by READDIR */
	uint64_t cookie; /* of a listing, as the next: behind which the part begins */
	struct rr_vfs_readdir_room room;
	union {
		GETATTR3args getattr;
		SETATTR3args setattr;
		LOOKUP3args lookup;
		ACCESS3args access;
		READLINK3args readlink;
		READ3args read;
		WRITE3args write;
		CREATE3args create;
		MKDIR3args mkdir;
		SYMLINK3args symlink;
		MKNOD3args mknod;
		REMOVE3args remove;
		RMDIR3args rmdir;
		RENAME3args rename;
		LINK3args link;
		READDIR3args readdir;
		READDIRPLUS3args readdirplus;
		FSSTAT3args fsstat;
		FSINFO3args fsinfo;
		PATHCONF3args pathconf;
		COMMIT3args commit;
	} args;
	union {
		nfsstat3 status; /* each result begins with it */
		GETATTR3res getattr;
		SETATTR3res setattr;
		LOOKUP3res lookup;
		ACCESS3res access;
		READLINK3res readlink;
		READ3res read;
		WRITE3res write;
		CREATE3res create;
		MKDIR3res mkdir;
		SYMLINK3res symlink;
		MKNOD3res mknod;
		REMOVE3res remove;
		RMDIR3res rmdir;
		RENAME3res rename;
		LINK3res link;
		READDIR3res readdir;
		READDIRPLUS3res readdirplus;
		FSSTAT3res fsstat;
		FSINFO3res fsinfo;
		PATHCONF3res pathconf;
		COMMIT3res commit;
	} result;
	uint8_t *arena; /* RR_V3_ARENA octets; NULL: not taken yet */
};

/* The first steps of the operations: each begins a call, and returns RR_VFS_PENDING; or the status with which
 * the operation ends at once. */
typedef enum rr_vfs_status rr_v3_step(struct rr_v3_job *job);
rr_v3_step rr_v3_getattr, rr_v3_setattr, rr_v3_access, rr_v3_readlink, rr_v3_read, rr_v3_write, rr_v3_commit,
	rr_v3_open, rr_v3_lock, rr_v3_lookup, rr_v3_create, rr_v3_link, rr_v3_remove, rr_v3_rename,
	rr_v3_readdir, rr_v3_statfs, rr_v3_limits;

/* Calls a procedure of the other server, whose arguments are in job->args; then() is called with the status
 * of its result, which is in job->result. Returns RR_VFS_PENDING. */
enum rr_vfs_status rr_v3_call(
	struct rr_v3_job *job, uint32_t procedure, void (*then)(struct rr_v3_job *job, enum rr_vfs_status));
/* Tells whether the operation has not made a call yet. */
bool rr_v3_is_waiting(const struct rr_v3_job *job);
/* Has an operation begin that has waited for its turn. */
void rr_v3_go(struct rr_v3_job *job);
/* Ends the operation. job must not be used after this. */
void rr_v3_end(struct rr_v3_job *job, enum rr_vfs_status status);

enum rr_vfs_status rr_v3_begin(struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call);
void rr_v3_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call);
/* Ends all operations, without waiting for the other server. */
void rr_v3_end_all(struct rr_v3_vfs *vfs);

/* Returns the handle as an argument of a call. */
static inline nfs_fh3
rr_v3_fh(const struct rr_v3_handle *handle)
{
	return (nfs_fh3){ .data = { handle->data, handle->length } };
}

/* Tells whether two handles of the other server are the same. */
static inline bool
rr_v3_same(const struct rr_v3_handle *a, const struct rr_v3_handle *b)
{
	return a->length == b->length && memcmp(a->data, b->data, a->length) == 0;
}

/* ---- v3.c: the provider ---- */

/* Directories whose listings want a verifier: the last one of each that was listed. */
enum { RR_V3_LISTED = 256 };
struct rr_v3_listed {
	uint64_t directory; /* a hash of its handle */
	uint8_t verifier[NFS3_COOKIEVERFSIZE];
};

struct rr_v3_shared {
	const struct rr_env *env;
	struct rr_v3_config config;
	struct rr_vfs_export *names;
	struct rr_v3_handles handles;
	struct rr_reserve reserve;
};

struct rr_v3_vfs {
	struct rr_vfs base;
	const struct rr_env *env;
	struct rpcrdma_client *client;
	struct rr_v3_shared *shared;
	rr_v3_step *const *steps; /* by the numbers of the operations */
	struct rr_list jobs;
	struct rr_map queues; /* of objects that are being changed */
	struct rr_v3_listed listed[RR_V3_LISTED];
};

/* Tells whether the handle is that of an export's root. */
static inline bool
rr_v3_is_root(const struct rr_v3_vfs *vfs, const struct rr_v3_handle *handle)
{
	const struct rr_v3_export *export = &vfs->shared->config.exports[handle->export];

	return handle->length == export->root_length &&
	       memcmp(handle->data, export->root, handle->length) == 0;
}

#endif
