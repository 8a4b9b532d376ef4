/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS3_PROC_H
#define RR_SERVER_NFS3_PROC_H

#include "base/share/pool.h"
#include "server/nfs3/server.h"
#include "vfs/idmap/groups.h"

/* The procedures of the server share this. Each is an operation of a provider (vfs/vfs.h): it is begun with
 * the arguments of the call, and ends, at once or in a later turn, with the call's result. The memory that an
 * operation needs is that of its request. */

struct rr_nfs_server {
	const struct rr_env *env;
	struct rr_pool *pool;
	struct rr_vfs *vfs;
	struct rr_gate *gate;     /* to the exports of vfs */
	struct rr_mounts *mounts; /* NULL: no list is kept */
};

/* A listing for READDIR or READDIRPLUS: see list.h. */
struct rr_nfs_listing {
	struct rr_vfs_readdir readdir;
	uint32_t room;         /* octets of the result that are left */
	uint32_t names;        /* octets of names and cookies that are left, for READDIRPLUS */
	entry3 *first, **next; /* the entries, and the place of the next entry */
	entryplus3 *first_plus, **next_plus;
};

/* The path of a mount request, which is looked up one component after the other. */
struct rr_nfs_walk {
	struct rr_vfs_lookup lookup; /* of the present component */
	struct rr_vfs_handle at;     /* the directory that was reached */
	struct rpcrdma_bytes rest;   /* the components that are left */
	struct rr_right right;       /* of the caller in the export */
};

/* The quota of a file system: its path is looked up first. */
struct rr_nfs_quota {
	union {
		struct rr_nfs_walk walk; /* as op.walk */
		struct rr_vfs_quota quota;
	} is;
	struct rr_vfs_handle of; /* the object that the path names */
	bool asked;              /* is.quota is in use */
};

/* The handles of a call; NULL: the call has no such handle. */
struct rr_nfs_handles {
	const nfs_fh3 *first, *second;
};

/* A call that is being executed. It lies in the memory of its request, and ends with the request. */
struct rr_nfs_work {
	struct rr_nfs_server *server;
	struct rpcrdma_request *request;
	const struct rr_nfs_procedure *procedure;
	const void *args;
	void *result;
	struct rr_pool_waiter waiter;  /* for memory */
	struct rr_idmap_waiter groups; /* for the groups of the caller */
	struct rr_nfs_handles handles;
	bool lost;                       /* the client does not wait for the answer any more */
	struct rr_vfs_identity identity; /* of the caller, in the export that the call is about */
	union {                          /* zeroed, as far as the procedure's size says */
		struct rr_vfs_call call;
		struct rr_vfs_getattr getattr;
		struct rr_vfs_setattr setattr;
		struct rr_vfs_access access;
		struct rr_vfs_readlink readlink;
		struct rr_vfs_read read;
		struct rr_vfs_write write;
		struct rr_vfs_commit commit;
		struct rr_vfs_create create;
		struct rr_vfs_link link;
		struct rr_vfs_remove remove;
		struct rr_vfs_rename rename;
		struct rr_vfs_lookup lookup;
		struct rr_vfs_statfs statfs;
		struct rr_vfs_limits limits;
		struct rr_vfs_getacl getacl;
		struct rr_vfs_setacl setacl;
		struct rr_nfs_listing listing;
		struct rr_nfs_walk walk;
		struct rr_nfs_quota quota;
	} op;
};

struct rr_nfs_procedure {
	/* Begins the operation with the arguments in work->args. Returns the provider's status, or a status
	 * of its own. */
	enum rr_vfs_status (*begin)(struct rr_nfs_work *work);
	/* Completes the result, which is zeroed, when the operation has ended. RPCRDMA_HANDLE_KEPT: it began
	 * another operation. RPCRDMA_HANDLE_LATER: there was no memory, and the procedure is to be begun
	 * again. */
	enum rpcrdma_handled (*end)(struct rr_nfs_work *work, enum rr_vfs_status status);
	size_t size; /* of the member of op that the procedure uses */
	/* The procedure changes something and must be done once: it goes on when its client has lost the
	 * connection, as the client comes again for the answer. */
	bool once;
};

extern const struct rr_nfs_procedure rr_proc_getattr, rr_proc_setattr, rr_proc_lookup, rr_proc_access,
	rr_proc_readlink, rr_proc_read, rr_proc_write, rr_proc_create, rr_proc_mkdir, rr_proc_symlink,
	rr_proc_mknod, rr_proc_remove, rr_proc_rmdir, rr_proc_rename, rr_proc_link, rr_proc_readdir,
	rr_proc_readdirplus, rr_proc_fsstat, rr_proc_fsinfo, rr_proc_pathconf, rr_proc_commit;
extern const struct rr_nfs_procedure rr_proc_getacl, rr_proc_setacl; /* of NFSACL */
extern const struct rr_nfs_procedure rr_proc_mnt;

/* Octets of the status, which follows the header of a reply. */
enum { RR_NFS_STATUS_SIZE = 4 };

/* Returns zeroed memory that is valid until the reply was sent, or NULL if the request's arena is used up. */
void *rr_nfs_alloc(struct rpcrdma_request *request, size_t size);

/* Returns the caller of a request for the gate, which decides on access to exports. */
struct rr_gate_caller rr_nfs_caller(const struct rpcrdma_request *request);

/* Begins a procedure if the gate lets the caller use the exports of all handles of the call. A procedure
 * whose call has no handle asks the gate itself. A caller that is not let in gets RR_VFS_ACCESS, and no
 * attributes of the object; a caller with a flavor that the export does not accept gets AUTH_TOOWEAK. If work
 * is NULL, because there was no memory for it, the call fails with SYSTEM_ERR. Returns what a handler
 * returns: RPCRDMA_HANDLE_KEPT if the operation is under way. */
enum rpcrdma_handled rr_nfs_run(struct rr_nfs_work *work, const struct rr_nfs_handles *handles);

/* Allocates the state of a call that is to be executed, in the request's memory. Returns NULL if the request
 * has no more memory. */
struct rr_nfs_work *rr_nfs_work(struct rr_nfs_server *server, const struct rr_nfs_procedure *procedure,
	struct rpcrdma_request *request, const void *args, void *result);

/* Called when an operation ends in a later turn of the loop than that in which it began: completes the result
 * and answers the request. If the operation was cancelled, drops the request. */
void rr_nfs_done(struct rr_vfs_call *call);

/* Copies a handle into the request's memory. Returns false if that memory is used up. */
bool rr_nfs_handle(struct rr_nfs_work *work, const struct rr_vfs_handle *given, nfs_fh3 *handle);

/* Returns the structure by which an operation of the file system names an object: only the handle in it is
 * set. */
static inline struct rr_vfs_object
rr_nfs_object(nfs_fh3 handle)
{
	return (struct rr_vfs_object){ .handle = handle.data };
}

/* Translates the status of an operation into that of a reply. */
nfsstat3 rr_nfs_status(enum rr_vfs_status status);

/* Translates the status, which may be any, of an operation that makes, changes or removes an entry, as
 * rr_nfs_status() does, except RR_VFS_BAD_NAME: the result is then dot if the name is ".", and dotdot if it
 * is
 * "..". */
nfsstat3 rr_nfs_entry_status(enum rr_vfs_status status, filename3 name, nfsstat3 dot, nfsstat3 dotdot);

#endif
