/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_PROC_H
#define RR_NFS_PROC_H

#include "nfs/server.h"
#include "nfs/storer.h"

/*
 * What the procedures share: the server, how they are called, and the steps
 * that many of them take.
 *
 * Every procedure runs with the caller's identity; what it opens, it opens
 * with that. The steps that need the server's own identity (they say so) go
 * back to the caller's, or come last.
 */

struct rr_nfs_server;

/* Completes the result of a call when all that it changed has been stored. */
typedef void rr_nfs_completion(struct rr_nfs_server *server, void *result);

struct rr_nfs_server {
	const struct rr_env *env;
	struct rr_pool *pool;
	struct rr_tree *tree;
	struct rr_hand *hand; /* does the procedures' work; NULL: this thread does */
	struct rr_nfs_shared *shared;
	struct rr_loop *loop; /* or NULL */
	struct rr_timer timer;
	struct rr_storer *storer; /* NULL: calls store what they changed */
	bool slice_due;           /* of a search: the timer is armed for it */
	bool read_only;
	/* Of the call being served. */
	struct rr_stores stores;
	rr_nfs_completion *stored; /* where all was stored; or NULL */
};

/* Octets of the status behind the header of a reply. */
enum { RR_NFS_STATUS_SIZE = 4 };

/* args and result are of the procedure's C types; result is zeroed. */
typedef enum rr_handled rr_nfs_procedure(
	struct rr_nfs_server *server, struct rr_request *request, const void *args, void *result);

rr_nfs_procedure rr_proc_getattr, rr_proc_setattr, rr_proc_lookup, rr_proc_access, rr_proc_readlink,
	rr_proc_read, rr_proc_write, rr_proc_create, rr_proc_mkdir, rr_proc_symlink, rr_proc_mknod,
	rr_proc_remove, rr_proc_rmdir, rr_proc_rename, rr_proc_link, rr_proc_readdir, rr_proc_readdirplus,
	rr_proc_fsstat, rr_proc_fsinfo, rr_proc_pathconf, rr_proc_commit;
rr_nfs_procedure rr_proc_mnt, rr_proc_dump, rr_proc_umnt, rr_proc_umntall, rr_proc_export;

/* The caller's identity comes into force; where it cannot, the server's own does, and -1 is returned. */
int rr_nfs_as_caller(struct rr_nfs_server *server, const struct rr_request *request);

/* Zeroed memory that lives until the reply was sent; NULL where the request's arena is used up. */
void *rr_nfs_alloc(struct rr_request *request, size_t size);

/* The handle of object, in the request's memory; false where that is used up. */
bool rr_nfs_handle(struct rr_nfs_server *server, struct rr_request *request, const struct rr_object *object,
	nfs_fh3 *handle);

/*
 * A name that an entry of a directory is to be made, changed or removed under. dot and dotdot: what "." and
 * ".." get. NFS3ERR_ROFS on a server that changes nothing.
 */
nfsstat3 rr_nfs_entry_name(
	struct rr_nfs_server *server, filename3 name, nfsstat3 dot, nfsstat3 dotdot, char text[256]);

/* What a procedure changed is to reach stable storage before the call is answered: the file that fd refers to
 * (or, data alone, its data), or all that object is and holds. rr_nfs_store() leaves the server's own
 * identity in force. */
void rr_nfs_store_fd(struct rr_nfs_server *server, int fd, bool data);
void rr_nfs_store(struct rr_nfs_server *server, struct rr_object *object);

/* Answers the request of the procedure that has just run when all that it noted has been stored: now, or
 * later. */
enum rr_handled rr_nfs_answer(struct rr_nfs_server *server, struct rr_request *request);

/* The write verifier of this moment. */
void rr_nfs_verifier(const struct rr_nfs_server *server, writeverf3 verifier);

/* Room for /proc/self/fd/N, which names an O_PATH descriptor for the calls that want a path. */
enum { RR_NFS_PROC_PATH = 32 };
void rr_nfs_proc_path(int fd, char path[RR_NFS_PROC_PATH]);

#endif
