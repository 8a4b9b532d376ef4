/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_CLIENT_PRIVATE_H
#define RR_NFS_CLIENT_PRIVATE_H

#include "nfs/client.h"
#include "nfs/v3.h"
#include "nfs/v4/newer.h"
#include "rpc/auth/gss_client.h"
#include "vfs/nfs/v4/session/v4.h"

/* The files of the NFS client share these declarations. */

/* The time that a call may take while rr_nfs_cleaning() is on. */
#define RR_NFS_CLEANING_TIME (5 * RR_SECOND)

/* Octets of memory for the results of a call: keep has the reply itself, arena the lists and arrays that are
 * made of it (struct rr_call). */
enum { RR_NFS_KEEP = 64 << 10, RR_NFS_ARENA = 64 << 10 };

struct rpcrdma_nfs {
	struct rpcrdma_engine *engine;
	const struct rr_env *env;
	struct rpcrdma_client *client;
	struct rr_v4 *v4;            /* a session of version 4; NULL: version 3 is used */
	struct rr_nfs_config config; /* its strings are server and path below */
	char server[256], path[RR_NFS_PATH];
	struct rr_secure secure;       /* config.rpc.secure points to it, if the client uses TLS */
	struct rr_secure mount_secure; /* the same for MOUNT at a port of its own */
	struct rr_tls *own_tls;        /* that of secure, if rr_nfs_open_url() made it */
	struct rr_gss_client *gss; /* whose flavor config.rpc.auth is, of rr_nfs_open_url(); NULL: without */
	char export[RR_NFS_PATH];
	struct rpcrdma_nfs_handle root;
	struct rpcrdma_nfs_handle start; /* what path names; no octets: it was not looked for yet */
	uint32_t read_max, write_max, readdir_max;
	uint64_t file_max;
	uint64_t entries_max; /* most entries of a directory */
	bool no_readdirplus;
	/* What the server exports, as rr_nfs_exports() found it, and the file system of the root, which it
	 * needs for that; of version 4. */
	bool exports_known;
	char exports[112];
	struct rpcrdma_nfs_filesystem root_fsid;
	/* The text is that of a LOOKUP which rr_nfs_refused() has noted: its status and path; 0: of another
	 * failure. */
	int refused;
	char refused_path[64];
	bool cleaning;
	struct rr_list pending;   /* of struct rr_nfs_pending: operations under way */
	struct rr_cache pendings; /* the memory of pending operations */
	struct rr_timer tick;     /* wakes the loop regularly, as a signal may come between the check for
				     interruption and the wait */
	struct rr_text text;
	/* The memory of the call that is being waited for. Its result is valid until the next call. */
	uint8_t keep[RR_NFS_KEEP];
	uint8_t arena[RR_NFS_ARENA] __attribute__((aligned(16)));
};

/* Sets the client's error text. Returns error. */
int rr_nfs_fail(struct rpcrdma_nfs *nfs, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- client_send.c: calls of the NFS procedures, by the version that the client uses ---- */

/* Starts a call of a procedure of procedure.h or of nfs/v4/newer.h; done() is always called, from the loop.
 * The caller need not set the program. */
void rr_nfs_send(struct rpcrdma_nfs *nfs, struct rr_call *call);

/* Cancels a call without calling its done(). */
void rr_nfs_withdraw(struct rpcrdma_nfs *nfs, struct rr_call *call);

/* Returns the reason why the last call failed. */
const char *rr_nfs_why(const struct rpcrdma_nfs *nfs);

/* Returns the most octets that the results of a call can have, without marked results (results that RDMA may
 * move). Returns 0 for a procedure that version 3 does not have. */
uint32_t rr_nfs_reply_max(uint32_t proc, const void *args);

/* Returns a count that changes if a call under way may have been executed twice. */
uint32_t rr_nfs_repeats(const struct rpcrdma_nfs *nfs);

/* Turns the loop until *over is true. Fails, with the error text of nfs set, if the loop fails or the user
 * interrupts the client before. */
int rr_nfs_turn_until(struct rpcrdma_nfs *nfs, const bool *over);

/* Starts the call by rr_nfs_send(), and turns the loop until it is done; while rr_nfs_cleaning() is on, for
 * RR_NFS_CLEANING_TIME at most. If the wait fails, cancels the call. Returns 0, or a negative error, with the
 * error text of nfs set. */
int rr_nfs_send_and_wait(struct rpcrdma_nfs *nfs, struct rr_call *call);

/* ---- client_retry.c: repeats calls to a busy server ---- */

/* Begins the time in which a call may be repeated to a busy server. It is as long as the time for which the
 * client tries to make a lost connection again (config.rpc.retry); while rr_nfs_cleaning() is on,
 * RR_NFS_CLEANING_TIME. again() is to send the call once more. */
void rr_nfs_retry_init(
	struct rpcrdma_nfs *nfs, struct rr_nfs_retry *retry, void (*again)(struct rr_timer *later));

/* Returns true if the status is NFS3ERR_JUKEBOX and the time for repetitions is not over: again() will then
 * be called after a pause. */
bool rr_nfs_retry_later(struct rpcrdma_nfs *nfs, struct rr_nfs_retry *retry, nfsstat3 status);

/* Ends the pause, if there is one, without calling again(). Returns false if there was no pause. */
bool rr_nfs_retry_cancel(struct rpcrdma_nfs *nfs, struct rr_nfs_retry *retry);

/* Makes the call by the RPC client "client", and waits for its end; while rr_nfs_cleaning() is on, for
 * RR_NFS_CLEANING_TIME at most. The caller has set what to call, but not done and ctx. Returns 0, or a
 * negative error, with the error text of nfs set. */
int rr_nfs_wait(struct rpcrdma_nfs *nfs, struct rpcrdma_client *client, struct rr_call *call);

/* Calls an NFS procedure and waits. result begins with its nfsstat3, as all results except that of NULL do,
 * and points into nfs->keep and nfs->arena. The call is repeated after NFS3ERR_JUKEBOX, for the time of
 * rr_nfs_retry_init(). Returns 0, a negative error, or the status, with the error text of nfs set. */
int rr_nfs_call(struct rpcrdma_nfs *nfs, uint32_t proc, const void *args, void *result);

/* Calls and waits as rr_nfs_call() does, with memory of the caller, who has set proc, args, result, keep,
 * arena and sinks of the call. The caller has also set reply_max: to the octets of marked results (results
 * that RDMA may move) for which there is no sink. The octets of other results are added to that. */
int rr_nfs_call_with(struct rpcrdma_nfs *nfs, struct rr_call *call);

/* ---- client_object.c ---- */

/* Sets all of the object but its handle, which stays as it is. */
void rr_nfs_object_describe(struct rpcrdma_nfs_object *object, const struct rr_nfs_attributes *attributes);

/* Translates the attributes that are to be set. Error: NOTSUP, with the error text of nfs set, if version 3
 * is used and does not hold a time. */
int rr_nfs_change_set(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_changes *changes, struct rr_vfs_set *set);

/* Copies a server's file handle. Returns false if the handle is empty or too long. */
bool rr_nfs_handle_set(struct rpcrdma_nfs_handle *handle, struct rpcrdma_bytes data);

static inline nfs_fh3
rr_nfs_fh(const struct rpcrdma_nfs_handle *handle)
{
	return (nfs_fh3){ .data = { handle->data, handle->length } };
}

/* Returns text in the form of the schema's strings. */
struct rpcrdma_bytes rr_nfs_string(const char *text);

/* ---- client_exports.c: what a server of version 4 exports ---- */

/* Returns the list of the server's exports, as "/a, /b", for an error message; "" if the root of the server's
 * tree is itself an export, so that there is no list of them, or if version 3 is used. The server is asked
 * once; the error text stays as it is. */
const char *rr_nfs_exports(struct rpcrdma_nfs *nfs);

/* Notes, for rr_nfs_explain(), that the server has refused a LOOKUP in the directory `here` on the way along
 * `path`, if an export could be there. The next failure ends the note. Returns status. */
int rr_nfs_refused(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_object *here, const char *path, int status);

/* Tells whether the object is on the file system of the root. */
bool rr_nfs_is_at_root(const struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_object *object);

/* Looks up a path as rr_nfs_walk() does, following links, and notes no refusal. *last gets the object that
 * was found, or else the last one on the way. */
int rr_nfs_reach(struct rpcrdma_nfs *nfs, const char *path, struct rpcrdma_nfs_object *last);

/* client_mount.c: cuts the last name off path, so that MOUNT can be asked for the directory above: "/a/b/"
 * becomes "/a", and "/a" becomes "/". Returns false, and leaves path as it is, if path is "/" already. */
bool rr_nfs_cut(char *path);

/* Finds the export that config.path is in, by MOUNT, and sets export (its path) and root (its handle).
 * Returns 0, a negative error, or the status with which the server refused. */
int rr_nfs_mount(struct rpcrdma_nfs *nfs);

#endif
