/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_REMOTE_REMOTE_H
#define RR_VFS_NFS_REMOTE_REMOTE_H

#include <pthread.h>
#include <string.h>

#include "base/map.h"
#include "base/siphash.h"
#include "rpc/client.h"
#include "vfs/door.h"
#include "vfs/reserve.h"

/*
 * This is what the providers of directories of another NFS server have in common, whatever version of NFS
 * they speak: the handles that clients see, the order of operations, and an operation from its beginning to
 * its end.
 *
 * A handle contains that of the other server, with a check made with the key, if it is short enough; else a
 * name for it in a table of this process, which keeps the RR_REMOTE_LONG_HANDLES that were used last. So
 * handles of up to RR_REMOTE_HANDLE_MAX octets stay valid over restarts.
 *
 * The providers act as their callers do, with AUTH_SYS: the other server must believe it.
 */

/* RR_REMOTE_HANDLE: the most octets of a handle of the other server, in NFS version 4. */
enum {
	RR_REMOTE_HANDLE = 128,
	RR_REMOTE_HANDLE_MAX = 51,
	RR_REMOTE_LONG_HANDLES = 65536,
	RR_REMOTE_KEY = 32
};

struct rr_remote_export {
	const char *name; /* what clients mount */
	/* The handle of its root at the other server. */
	uint8_t root[RR_REMOTE_HANDLE];
	uint32_t root_length;
};

struct rr_remote_config {
	const struct rr_remote_export *exports; /* they must stay as long as what is made of this */
	uint32_t export_count;                  /* at most 64 */
	uint8_t key[RR_REMOTE_KEY];
	bool read_only;
	uint32_t read_max, write_max; /* octets of a READ and of a WRITE */
	uint32_t minor;               /* of version 4: 1 or 2 */
	struct rr_client_config rpc;  /* of the NFS service of the other server */
	struct rr_client_config
		nlm; /* of its NLM, for version 3; no address: locks are not asked for there */
};

struct rr_remote_vfs;
struct rr_remote_job;

/* A handle of the other server, and the export that it was found in. */
struct rr_remote_handle {
	uint32_t export; /* its number */
	uint32_t length;
	uint8_t data[RR_REMOTE_HANDLE];
};

/* A struct rr_vfs_open of these providers begins with this. */
struct rr_remote_open {
	struct rr_reservation reservation;
	struct rr_remote_handle handle;
	struct rpcrdma_auth_sys user; /* who has opened the file */
};

/* ---- handle.c: the handles that clients see ---- */

/* The names of handles that are too long, the one used last in front. */
struct rr_remote_handles {
	const struct rr_env *env;
	pthread_mutex_t lock; /* of longs and used */
	uint8_t check[RR_SIPHASH_KEY];
	struct rr_map longs; /* by the first half of the name */
	struct rr_list used;
	uint32_t hashes[64]; /* of the names of the exports */
	uint32_t export_count;
};

int rr_remote_handles_init(
	struct rr_remote_handles *handles, const struct rr_env *env, const struct rr_remote_config *config);
void rr_remote_handles_end(struct rr_remote_handles *handles);
/* Writes the handle that clients see. Returns RR_VFS_OK; RR_VFS_BUSY: no memory; RR_VFS_FAULT: the other
 * server gave a handle without octets, or one that is too long. */
enum rr_vfs_status rr_remote_encode(struct rr_remote_handles *handles, uint32_t export,
	struct rpcrdma_bytes given, struct rr_vfs_handle *handle);
/* Finds the handle of the other server. Errors: RR_VFS_BAD_HANDLE, and RR_VFS_STALE for a name that is not in
 * the table any more. */
enum rr_vfs_status rr_remote_decode(
	struct rr_remote_handles *handles, struct rpcrdma_bytes handle, struct rr_remote_handle *found);
uint32_t rr_remote_export_of(const struct rr_remote_handles *handles, struct rpcrdma_bytes handle);

/* Returns the handle as an argument of a call. */
static inline struct rpcrdma_bytes
rr_remote_fh(const struct rr_remote_handle *handle)
{
	return (struct rpcrdma_bytes){ handle->data, handle->length };
}

/* Keeps a handle that the other server gave, of at most RR_REMOTE_HANDLE octets. */
static inline void
rr_remote_keep(struct rr_remote_handle *kept, uint32_t export, struct rpcrdma_bytes given)
{
	kept->export = export;
	kept->length = given.length;
	memcpy(kept->data, given.data, given.length);
}

/* Tells whether two handles of the other server are the same. */
static inline bool
rr_remote_same(const struct rr_remote_handle *a, const struct rr_remote_handle *b)
{
	return a->length == b->length && memcmp(a->data, b->data, a->length) == 0;
}

/* ---- order.c: the order of operations ---- */

struct rr_remote_queue;

enum rr_remote_kind { RR_REMOTE_CHANGES, RR_REMOTE_WRITES, RR_REMOTE_COMMITS };

/* The place of a job in the queue of an object. */
struct rr_remote_place {
	struct rr_list link;
	struct rr_remote_queue *queue; /* NULL: it is in none */
	struct rr_remote_job *job;
	enum rr_remote_kind kind;
};

/* Puts the job into the queues of the objects that it changes. Returns whether it may go on at once; else
 * sets *status: RR_VFS_PENDING, and rr_remote_go() will be called; or RR_VFS_BUSY where there is no memory.
 */
bool rr_remote_order(struct rr_remote_job *job, enum rr_vfs_status *status);
/* Takes the job out of its queues, and has those go on that have waited for it. */
void rr_remote_leave(struct rr_remote_job *job);

/* ---- job.c: an operation under way ---- */

enum { RR_REMOTE_ARENA = 256 << 10 }; /* octets, for the entries of a part of a listing */

/*
 * An operation, which makes one call of the other server after another. Each call is followed by a step,
 * which reads the result, and begins the next call, or ends the operation. The provider's structure of an
 * operation begins with this.
 *
 * Ownership: a job lies in vfs->jobs from its beginning to its end.
 */
struct rr_remote_job {
	struct rr_list link;
	struct rr_remote_vfs *vfs;
	struct rr_vfs_call *call;
	enum rr_vfs_operation operation;
	struct rpcrdma_auth_sys user;
	struct rr_remote_handle objects[2];
	struct rr_vfs_open *open; /* by which the call names the first object; or NULL */
	struct rr_call rpc;
	struct rr_remote_place places[2];
	struct rr_task ending; /* of a cancelled operation */
	uint32_t piece;        /* octets that the READ or WRITE under way is to move */
	uint64_t verifier;     /* of the last WRITE that was answered */
	uint32_t moved; /* octets of a READ or WRITE; of a refused operation, its objects that were looked at
			 */
	/* The operation is one of <rpcrdma/nfs.h>: there is no provider (vfs is NULL), and only what the
	 * operation is for is asked for, not the attributes of objects that it changes or passes. */
	bool lean;
	bool called; /* a call was made */
	bool cancelled;
	bool created; /* the object was made by this operation; of a lookup: "." or ".." was not looked up */
	uint64_t cookie; /* of a listing, as the next: behind which the part begins */
	struct rr_vfs_readdir_room room;
	uint8_t *arena; /* RR_REMOTE_ARENA octets; NULL: not taken yet */
};

/* What a version of NFS does. */
struct rr_remote_version {
	struct rr_vfs_ops ops;
	size_t job_size; /* of its structure for an operation */
	/* Begins the first call of the operation, and returns RR_VFS_PENDING; or the status with which the
	 * operation ends at once. */
	enum rr_vfs_status (*begin)(struct rr_remote_job *job);
	/* Asks for the attributes of an object of a refused operation: rr_remote_looked() follows. */
	void (*look)(struct rr_remote_job *job, int index);
	/* Withdraws the call that is under way. */
	void (*withdraw)(struct rr_remote_job *job);
	/* NULL, or tells whether the operation goes on in another thread: it is not cancelled then. */
	bool (*is_away)(const struct rr_remote_job *job);
	/* NULL, or have the opens that a call names stay until its end. */
	void (*take_opens)(struct rr_remote_job *job);
	void (*drop_opens)(struct rr_remote_job *job);
};

/* Returns the status of an operation whose call has failed with a negative error. */
enum rr_vfs_status rr_remote_unanswered(int error);
/* Goes on with a refused operation: the attributes of the object are known, unless status is a failure. */
void rr_remote_looked(struct rr_remote_job *job, enum rr_vfs_status status, const struct rr_vfs_known *known);
/* Tells whether the operation has not made a call yet. */
bool rr_remote_is_waiting(const struct rr_remote_job *job);
/* Has an operation begin that has waited for its turn. */
void rr_remote_go(struct rr_remote_job *job);
/* Ends the operation. job must not be used after this. */
void rr_remote_end(struct rr_remote_job *job, enum rr_vfs_status status);
/* Ends all operations, without waiting for the other server. */
void rr_remote_end_all(struct rr_remote_vfs *vfs);

/* What versions put into their struct rr_vfs_ops. */
enum rr_vfs_status rr_remote_begin(
	struct rr_vfs *vfs, enum rr_vfs_operation operation, struct rr_vfs_call *call);
void rr_remote_cancel(struct rr_vfs *vfs, struct rr_vfs_call *call);
void rr_remote_root(struct rr_vfs *vfs, uint32_t number, struct rr_vfs_handle *handle);
uint32_t rr_remote_number(const struct rr_vfs *vfs, struct rpcrdma_bytes handle);

/* ---- object.c: objects, whatever the version says of them ---- */

/* Returns the attributes of a new object. Without a mode, it is 0600, of a directory 0700. */
struct rr_vfs_set rr_remote_new_set(const struct rr_vfs_create *create);
/* Keeps the handle of an object that was found or made as job->objects[1], and writes the one that clients of
 * the provider see. Returns RR_VFS_OK, or as rr_remote_encode() does. */
enum rr_vfs_status rr_remote_found(
	struct rr_remote_job *job, struct rpcrdma_bytes given, struct rr_vfs_handle *handle);
/* Returns the status of a READ or WRITE that failed: RR_VFS_INVAL may say that the object is no regular file.
 */
enum rr_vfs_status rr_remote_data_status(enum rr_vfs_status status, const struct rr_vfs_known *known);
/* Returns why an object of this type is not opened. */
enum rr_vfs_status rr_remote_openable(enum rr_vfs_type type);
/* Makes the open of the job's operation, of size octets, with its share reservation, for an object whose
 * attributes are in the operation's output. Errors: RR_VFS_BUSY (no memory); those of rr_reserve_open(). */
enum rr_vfs_status rr_remote_open_new(const struct rr_remote_job *job, size_t size);

/* ---- remote.c: the provider ---- */

/* What the providers of all threads have in common. */
struct rr_remote_shared {
	const struct rr_env *env;
	struct rr_remote_config config;
	struct rr_vfs_export *names;
	struct rr_remote_handles handles;
	struct rr_reserve reserve;
};

/* Errors: INVAL (two exports have the same name), NOMEM; with text. */
int rr_remote_shared_new(const struct rr_env *env, const struct rr_remote_config *config,
	struct rr_remote_shared **shared, struct rr_text *text);
/* Frees what the providers have in common, when they are destroyed. shared may be NULL. */
void rr_remote_shared_free(struct rr_remote_shared *shared);

/* Directories whose listings want a verifier: the last one of each that was listed. */
enum { RR_REMOTE_LISTED = 256, RR_REMOTE_VERIFIER = 8 };
struct rr_remote_listed {
	uint64_t directory; /* a hash of its handle */
	uint8_t verifier[RR_REMOTE_VERIFIER];
};

/* A provider's own structure begins with this. */
struct rr_remote_vfs {
	struct rr_vfs base;
	const struct rr_env *env;
	const struct rr_remote_version *version;
	struct rpcrdma_client *client;
	struct rr_remote_shared *shared;
	/* rr_remote_encode(). It is reached by this, as a program that has only the client of <rpcrdma/nfs.h>
	 * need not have the handles of providers. */
	enum rr_vfs_status (*encode)(struct rr_remote_handles *handles, uint32_t export,
		struct rpcrdma_bytes given, struct rr_vfs_handle *handle);
	struct rr_list jobs;
	struct rr_map queues; /* of objects that are being changed */
	struct rr_remote_listed listed[RR_REMOTE_LISTED];
};

/* Makes a provider, of which only the beginning is set, for the loop of the engine, and begins to connect.
 * While there is no connection, operations wait for it. Errors: NOMEM, and those of rr_client_new(); with
 * text. */
int rr_remote_new(struct rpcrdma_engine *engine, struct rr_remote_shared *shared,
	const struct rr_remote_version *version, size_t size, struct rr_remote_vfs **vfs,
	struct rr_text *text);
void rr_remote_free(struct rr_remote_vfs *vfs);

/* Returns the verifier for a listing of the directory from the cookie on: that which came with the last part
 * of the listing, if it is known, else zeros. */
const uint8_t *rr_remote_verifier(
	const struct rr_remote_vfs *vfs, const struct rr_remote_handle *directory, uint64_t cookie);
/* Keeps the verifier that came with a part of a listing. */
void rr_remote_note_verifier(struct rr_remote_vfs *vfs, const struct rr_remote_handle *directory,
	const uint8_t verifier[RR_REMOTE_VERIFIER]);

/* Tells whether the handle is that of an export's root. */
static inline bool
rr_remote_is_root(const struct rr_remote_vfs *vfs, const struct rr_remote_handle *handle)
{
	const struct rr_remote_export *export = &vfs->shared->config.exports[handle->export];

	return handle->length == export->root_length &&
	       memcmp(handle->data, export->root, handle->length) == 0;
}

#endif
