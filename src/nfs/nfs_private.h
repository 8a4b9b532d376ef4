/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_NFS_PRIVATE_H
#define RR_NFS_NFS_PRIVATE_H

#include <rpcrdma/nfs.h>

#include "nfs/client_private.h"
#include "vfs/nfs/v3/work.h"
#include "vfs/nfs/v4/work.h"

/* An operation of vfs.h, as each version of NFS carries it out. */
struct rr_nfs_work {
	enum rr_vfs_operation operation;
	unsigned objects;            /* that it has: the first handles of the pending operation */
	const struct rr_v3_work *v3; /* NULL: version 3 has nothing for it */
	const struct rr_v4_work *v4;
};

/*
 * The public functions on names and file data (<rpcrdma/nfs.h>) share one structure for an operation under
 * way.
 *
 * A pending operation belongs to the library. It lies in memory of nfs->pendings and is in the list
 * nfs->pending from its start to its end; it is freed before done() is called. rpcrdma_nfs_close() cancels
 * the operations that are left.
 */
struct rr_nfs_pending {
	struct rr_list link;
	struct rpcrdma_nfs *nfs;
	struct rpcrdma_nfs_then then; /* done is NULL if rr_nfs_pending_wait() waits */
	bool over;                    /* the operation has ended with error */
	int error;
	/* Takes the result of a call that succeeded, and returns 0 or the error that the operation ends with;
	 * or starts another call by rr_nfs_pending_call(), and returns PENDING_GOES_ON. */
	int (*take)(struct rr_nfs_pending *pending);
	/* Looks at a status that the server answered to a call that may have been executed twice. Returns as
	 * take() does. NULL: the status is the result. */
	int (*repeated)(struct rr_nfs_pending *pending, int status);
	int status; /* the status that repeated() looks into. It is the operation's result, unless it turns
		       out that the call itself caused it. */

	/* What single operations have: the caller's memory for their results, and what they keep from one
	 * call to the next. */
	union {
		struct { /* of operations that find or make an object */
			struct rpcrdma_nfs_object *object;
			enum rr_vfs_type type; /* that the object must have; 0: any type */
			struct rr_vfs_id id; /* of a LINK that was sent twice: the object that has the name */
		};
		struct { /* of rpcrdma_nfs_readlink() */
			char *target;
			size_t target_size;
		};
		uint8_t *verifier;
		struct rpcrdma_nfs_space *space;
		struct rpcrdma_nfs_range *range;
		uint64_t *found;
		uint32_t *length, *granted;
	};

	const struct rr_nfs_work *work; /* whose call is under way; NULL: a procedure of procedure.h */
	enum rr_vfs_status verdict;     /* of its take() */
	uint64_t cookie;                /* of a list: behind which its next part begins */
	bool commit;                    /* of COPY: a COMMIT is to follow in the call */
	unsigned first;                 /* the number of the handle of its first object */
	uint32_t proc;                  /* of procedure.h, whose call is under way */
	struct rr_nfs_lists *lists;     /* of access lists: memory of the operation; NULL: it is another */
	struct rpcrdma_nfs_io *io;      /* of a read or a write; NULL: the operation is another */
	struct rr_nfs_retry retry;
	uint32_t reconnects; /* rr_nfs_repeats() when the call was sent for the first time */

	/* A new operation is zeroed up to here. Each member below is set before it is used. */
	struct rpcrdma_nfs_handle handles[2];
	char names[2][RR_NFS_NAME + 1];
	union {
		struct rr_nfs_io data; /* of a read or a write */
		struct rr_call call;   /* of a procedure of procedure.h */
		union {                /* of a work */
			struct rr_remote_job base;
			struct rr_v3_job v3;
			struct rr_v4_job v4;
		} job;
	};
	union { /* the input and the output of a work */
		struct rr_vfs_call call;
		struct rr_vfs_getattr getattr;
		struct rr_vfs_setattr setattr;
		struct rr_vfs_access access;
		struct rr_vfs_readlink readlink;
		struct rr_vfs_statfs statfs;
		struct rr_vfs_lookup lookup;
		struct rr_vfs_create create;
		struct rr_vfs_link link;
		struct rr_vfs_remove remove;
		struct rr_vfs_rename rename;
		struct rr_vfs_commit commit;
		struct rr_vfs_seek seek;
		struct rr_vfs_copy copy;
		struct rr_vfs_xattr xattr;
	} op;
	struct rpcrdma_bytes opened; /* the handle of the file that a work needs open, its last object */
	union {
		struct rr_v4_put_args put;
		struct rr_v4_acl_args acl;
		GETACL3args getacl;
		SETACL3args setacl;
	} args;
	union {
		nfsstat3 status;
		struct rr_v4_acl_result acl;
		GETACL3res getacl;
		SETACL3res setacl;
	} result;
	char path[RR_NFS_PATH]; /* the target of a symbolic link */
};

/* The operation has not ended: another call was sent. No error and no status has this number. */
enum { PENDING_GOES_ON = INT32_MAX };

/* Prepares nfs for operations. */
void rr_nfs_pending_init(struct rpcrdma_nfs *nfs);
/* Called when nfs is closed: cancels the operations that are under way, without calling done(), and frees the
 * memory that is kept for operations. */
void rr_nfs_pending_end(struct rpcrdma_nfs *nfs);

/* Makes a new operation. then is the argument of the public function; NULL: the public function will wait,
 * which it may not do inside a callback (INVAL). Errors, with a text: INVAL (also if then->done is NULL),
 * NOMEM. */
int rr_nfs_pending_new(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **pending);

/* Makes a new operation on an object, whose handle becomes handles[0]. Errors: also INVAL, if nfs or
 * handle is NULL. */
int rr_nfs_pending_on(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **pending);

/* Makes a new operation on a name in a directory, with handles[0] and names[0]. Errors: INVAL,
 * NOMEM, NFS3ERR_NAMETOOLONG. */
int rr_nfs_pending_named(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *directory,
	const char *name, const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **result);

/* Makes a new operation that only version 4.2 has. Errors besides those of rr_nfs_pending_new(): NOTSUP. */
int rr_nfs_newer_new(
	struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **pending);

/* Frees an operation that could not be started. Returns error, so that the caller can return it. */
int rr_nfs_pending_drop(struct rr_nfs_pending *pending, int error);

/* Sends the procedure proc with pending->args. Also notes rr_nfs_repeats(): if its value has changed when the
 * call is answered, the call may have been executed twice. */
void rr_nfs_pending_call(struct rr_nfs_pending *pending, uint32_t proc);

/* Begins the call of a work, whose input is in pending->op, on the objects in pending->handles. Also notes
 * rr_nfs_repeats(), as rr_nfs_pending_call() does. */
void rr_nfs_pending_ask(struct rr_nfs_pending *pending, const struct rr_nfs_work *work);
/* Begins the call of a work, and ends the public function as rr_nfs_pending_wait() does. */
int rr_nfs_pending_begin(
	struct rr_nfs_pending *pending, const struct rr_nfs_work *work, const struct rpcrdma_nfs_then *then);

/* Begins GETATTR of pending->handles[number]. Unless the caller then sets pending->take, its result becomes
 * that of the operation, as with rr_nfs_pending_lookup(); the attributes are in pending->op.getattr. */
void rr_nfs_pending_getattr(struct rr_nfs_pending *pending, unsigned number);

/* Ends the operation and calls done(), or lets rr_nfs_pending_wait() return. */
void rr_nfs_pending_finish(struct rr_nfs_pending *pending, int error);

/* Ends the public function that started the operation: returns 0, or if then is NULL, waits for the operation
 * and returns its result. */
int rr_nfs_pending_wait(struct rr_nfs_pending *pending, const struct rpcrdma_nfs_then *then);

/* Sends the procedure proc with pending->args, as rr_nfs_pending_call() does, and ends the public function as
 * rr_nfs_pending_wait() does. */
int rr_nfs_pending_start(struct rr_nfs_pending *pending, uint32_t proc, const struct rpcrdma_nfs_then *then);

/* Copies a name to pending->names[number]. Errors, with a text: INVAL, NFS3ERR_NAMETOOLONG. */
int rr_nfs_pending_name(struct rr_nfs_pending *pending, unsigned number, const char *name);

/* Copies an object that was found to the caller's structure, as far as the size that the caller has set there
 * reaches. Returns false if that size is too small. */
bool rr_nfs_object_give(struct rpcrdma_nfs_object *theirs, const struct rpcrdma_nfs_object *found);

/* Starts LOOKUP of pending->names[number] in pending->handles[number]. Unless the caller then sets
 * pending->take, the result of LOOKUP becomes that of the operation: the object is stored in
 * *pending->object, if that is not NULL. */
void rr_nfs_pending_lookup(struct rr_nfs_pending *pending, unsigned number);

/* nfs_change.c: translates the changes that the caller wants (theirs) into the attributes of a call. If
 * theirs is NULL, only the mode is set, or nothing if mode is 0. Errors: INVAL, NOTSUP. */
int rr_nfs_change_take(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_changes *theirs,
	struct rr_vfs_set *set, uint32_t mode);

/* nfs_acl.c: prepares a call about access lists, whose result may be large. */
void rr_nfs_acl_prepare(struct rr_nfs_pending *pending, struct rr_call *call);
/* nfs_acl.c: returns the error of a call about access lists: a server without NFSACL keeps none. */
int rr_nfs_acl_error(struct rr_nfs_pending *pending, int error);

/* Returns attributes that the call of a work has brought, with the names of the owner and the group. */
struct rr_nfs_attributes rr_nfs_pending_attributes(
	const struct rr_nfs_pending *pending, const struct rr_vfs_attributes *given);

#endif
