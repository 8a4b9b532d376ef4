/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_COMPOUND_H
#define RR_NFS4_COMPOUND_H

#include "nfs4/args.h"
#include "nfs4/result.h"
#include "nfs4/server_private.h"

/*
 * A COMPOUND under way: RFC 8881, section 16.2. Its operations run one after the other; each may end at once,
 * or later, from the loop. So no operation is executed twice, and no thread waits for storage.
 *
 * Who owns what: the compound lies in memory of the server, from the call until its answer is complete. The
 * request is kept as long as an operation is under way. Encoded results grow from the beginning of the
 * request's arena, and what one operation needs meanwhile lies at its end.
 */

struct rr_nfs4_compound;

/* A step of an operation: its status, or RR_NFS4_PENDING, where another step will follow. */
typedef uint32_t rr_nfs4_step(struct rr_nfs4_compound *c);

enum { RR_NFS4_PENDING = 0x7ffffffe };

enum rr_nfs4_fh_kind { RR_NFS4_FH_NONE, RR_NFS4_FH_VFS, RR_NFS4_FH_PSEUDO };

struct rr_nfs4_fh {
	enum rr_nfs4_fh_kind kind;
	struct rr_vfs_handle handle;
	uint32_t pseudo; /* index of the pseudo directory */
	/* Attributes as they were in this compound, as long as nothing in it may have changed them. */
	bool known;
	struct rr_vfs_attributes attributes;
	struct rr_vfs_open
		*open; /* NULL; or the object has no name any more, and is worked with by this open */
	bool has_stateid;
	stateid4 stateid; /* the current stateid: section 16.2.3.1.2 */
};

/* The structure of the one storage operation that is under way. */
union rr_nfs4_vfs {
	struct rr_vfs_call call;
	struct rr_vfs_getattr getattr;
	struct rr_vfs_setattr setattr;
	struct rr_vfs_access access;
	struct rr_vfs_readlink readlink;
	struct rr_vfs_read read;
	struct rr_vfs_write write;
	struct rr_vfs_commit commit;
	struct rr_vfs_seek seek;
	struct rr_vfs_space space;
	struct rr_vfs_copy copy;
	struct rr_vfs_opening opening;
	struct rr_vfs_lock lock;
	struct rr_vfs_lease lease;
	struct rr_vfs_lookup lookup;
	struct rr_vfs_create create;
	struct rr_vfs_link link;
	struct rr_vfs_remove remove;
	struct rr_vfs_rename rename;
	struct rr_vfs_readdir readdir;
	struct rr_vfs_xattr xattr;
	struct rr_vfs_statfs statfs;
	struct rr_vfs_limits limits;
};

struct rr_nfs4_operation;

struct rr_nfs4_compound {
	struct rr_nfs4_server *server;
	struct rpcrdma_request *request;
	const struct rr_nfs4_args *args;
	struct rr_nfs4_result *result;
	struct rr_nfs4_connection *connection;
	struct rr_nfs4_turn turn;      /* turn.session: NULL where the compound began without SEQUENCE */
	struct rr_nfs4_client *client; /* of the session, held by it */
	struct rr_nfs4_principal principal;
	struct rr_gate_caller caller;
	struct rr_vfs_identity identity; /* of the caller, in the export of the current filehandle */
	/* Goes on behind a step that ended later, with what that step returned. */
	void (*resume)(struct rr_nfs4_compound *c, uint32_t status);
	uint32_t index; /* of the operation that runs */
	uint32_t asked; /* index of the operation that the identity was found out for by PUTFH before it; or 0
			 */
	bool kept;      /* the request is kept */
	uint32_t limit; /* octets that the result may have, by the session and by the room for the reply */

	struct rr_nfs4_opened *pinned; /* held: of a filehandle whose object has no name any more */
	struct rr_nfs4_state *state;   /* held, as the next two; or NULL */
	struct rr_nfs4_opened *opened[2];

	/* From here on, a new compound is not zeroed: each call would pay for it. */
	struct rr_nfs4_fh current, saved;

	/* Of the operation that runs. */
	const nfs_argop4 *op;
	const struct rr_nfs4_operation *operation;
	nfs_resop4 res;
	bool encoded; /* the operation wrote its result itself */
	rr_nfs4_step *then;
	struct rr_timer look; /* of a retry that waits for the call that it repeats */
	uint64_t look_until;
	struct rr_nfs4_fh *attributes_of; /* of rr_nfs4_attributes(), as the next one */
	rr_nfs4_step *attributes_then;
	union rr_nfs4_vfs vfs;
	enum rr_vfs_status vfs_status;
	bool vfs_pending;               /* it has begun and not ended */
	struct rr_nfs4_record *awaited; /* the operation goes on when that is on the disk; or NULL */
	void *op_memory;                /* what the operation needs over its steps */
	struct rr_nfs4_gathered *gathered;
	struct rr_vfs_set set;
	uint32_t read_size, lock_access;
	component4 lookup_name;
	rr_nfs4_step *lookup_then, *read_then;

	struct rpcrdma_xdr_writer writer; /* of the results */
	uint8_t *arena_end;               /* of the arena, when no operation runs */
	uint32_t payload_size, payload_used;
	struct rr_pool_waiter waiter; /* for payload memory */
	struct rr_list link;          /* in the server's list of those under way */
};

/* How an operation is treated: compound.c's table is in ops.c. */
enum {
	RR_NFS4_OP_FIRST = 1,     /* may be the first one, without SEQUENCE, and then the only one */
	RR_NFS4_OP_FH = 2,        /* needs a current filehandle */
	RR_NFS4_OP_SAVED = 4,     /* needs a saved filehandle */
	RR_NFS4_OP_CHANGES = 8,   /* changes something: it is not executed unless its reply fits */
	RR_NFS4_OP_VFS = 16,      /* fails for a directory of the pseudo root, with the status `pseudo` */
	RR_NFS4_OP_CONSUMES = 32, /* leaves no current filehandle */
	RR_NFS4_OP_RECALLS = 64,  /* changes what other clients may have a delegation of */
	RR_NFS4_OP_FILLS = 128    /* fills all of its result, which need not be zeroed before */
};

struct rr_nfs4_operation {
	rr_nfs4_step *run; /* NULL: NFS4ERR_NOTSUPP */
	uint32_t flags;
	/* The most octets that its result has, number and status of the operation among them; NULL: size. */
	uint32_t size;
	uint32_t (*estimate)(const nfs_argop4 *op);
	nfsstat4 pseudo;
};

extern const struct rr_nfs4_operation rr_nfs4_operations[OP_REMOVEXATTR + 1];

/* The handler of NFSPROC4_COMPOUND. */
enum rpcrdma_handled rr_nfs4_compound(
	void *ctx, struct rpcrdma_request *request, const void *args, void *result);

/* The most octets that the reply to a call can have in its stream: for struct rr_service. */
uint32_t rr_nfs4_reply_max(const struct rpcrdma_request *request, const void *args);

/* ---- for operations ---- */

/* Goes on with `then` when the storage operation has ended, whose function returned status: at once, or
 * later. */
uint32_t rr_nfs4_vfs(struct rr_nfs4_compound *c, enum rr_vfs_status status, rr_nfs4_step *then);

/* Prepares the structure for the next storage operation, zeroed, as the caller. */
union rr_nfs4_vfs *rr_nfs4_vfs_begin(struct rr_nfs4_compound *c);
/* The same, of an operation that is often called: size: of its own structure, which alone is zeroed. */
union rr_nfs4_vfs *rr_nfs4_vfs_begin_of(struct rr_nfs4_compound *c, size_t size);

/* Zeroed memory that lives until the operation ends; NULL: the arena is used up. */
void *rr_nfs4_alloc(struct rr_nfs4_compound *c, size_t size);

nfsstat4 rr_nfs4_status(enum rr_vfs_status status);

/* Whether the gate lets the caller in with this filehandle: a directory of the pseudo root is open to all.
 * The caller's identity from now on is that of the filehandle's export, or nobody's. */
enum rr_gate_answer rr_nfs4_ask(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh);

/* The status of an operation that has set the current filehandle, for which that is the gate's answer:
 * whether NFS4ERR_WRONGSEC is its status depends on the operation behind it. */
nfsstat4 rr_nfs4_security_put(const struct rr_nfs4_compound *c, enum rr_gate_answer answer);

/* The flavors that the caller may use the current filehandle with; their number. */
enum { RR_NFS4_FLAVORS = 2 };
uint32_t rr_nfs4_security_flavors(struct rr_nfs4_compound *c, uint32_t flavors[RR_NFS4_FLAVORS]);

/* The same, as a status of the operation: NFS4ERR_ACCESS, NFS4ERR_WRONGSEC. NFS4_OK also where the operation
 * may fail neither way; it then goes on as nobody, who reads only. */
nfsstat4 rr_nfs4_admit(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh);

/* Whether an entry of the pseudo root is there for the caller: it may use that export. */
bool rr_nfs4_sees(struct rr_nfs4_compound *c, const struct rr_pseudo_entry *entry);

/* ---- recall.c ---- */

/* Runs the operation, after a look for delegations of what it changes: NFS4ERR_DELAY while other clients have
 * some. */
uint32_t rr_nfs4_recall_first(struct rr_nfs4_compound *c);

/* The same for one file. writes: storage would not let it be written while the client itself has one. */
nfsstat4 rr_nfs4_recall(struct rr_nfs4_compound *c, const struct rr_vfs_id *id, bool writes);

/* ---- room.c ---- */

/* Octets of an operation's number and status. */
enum { RR_NFS4_ERROR_SIZE = 8 };

/* Octets of the reply so far, RPC header and data that is placed among them. */
uint32_t rr_nfs4_size(const struct rr_nfs4_compound *c);

/* Whether a reply of so many octets is allowed at this operation: NFS4ERR_REP_TOO_BIG,
 * NFS4ERR_REP_TOO_BIG_TO_CACHE. Behind it, there is to be room for another operation that fails. */
nfsstat4 rr_nfs4_check_size(const struct rr_nfs4_compound *c, uint64_t size);

/* Octets that the result of this operation may still have. */
uint32_t rr_nfs4_room(const struct rr_nfs4_compound *c);

/* ---- support.c ---- */

static inline struct rr_vfs_object
rr_nfs4_object(const struct rr_nfs4_fh *fh)
{
	return (struct rr_vfs_object){ { fh->handle.data, fh->handle.length }, fh->open };
}

/* The object is another one from now on. Section 16.2.3.1.2: operations that set the current filehandle
 * without a stateid leave an anonymous stateid as the current one. */
void rr_nfs4_set_fh(struct rr_nfs4_fh *fh, const struct rr_vfs_handle *handle);
/* The same; octets: of a handle, RR_VFS_HANDLE_MAX at most. */
void rr_nfs4_set_octets(struct rr_nfs4_fh *fh, nfs_fh4 octets);
void rr_nfs4_set_stateid(struct rr_nfs4_compound *c, const stateid4 *stateid);

/* The current filehandle becomes that of an entry of the pseudo root: a directory, or the root of an export.
 */
void rr_nfs4_set_entry(struct rr_nfs4_compound *c, uint32_t entry);

/* In the operation's stateid, the current one takes the place of the special stateid for it. */
nfsstat4 rr_nfs4_current_stateid(const struct rr_nfs4_compound *c, const stateid4 *given, stateid4 *stateid);

/*
 * The open that a stateid of the operation stands for is held in c->opened[index] until the operation ends;
 * it stays NULL for the special stateids. access: OPEN4_SHARE_ACCESS_*, what the open must allow.
 */
nfsstat4 rr_nfs4_use_stateid(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, const stateid4 *given,
	uint32_t access, uint32_t index);

/* For an operation that reads no octet: then() is called with c->vfs_status of whether its caller may read
 * the file, which an open that is held in c->opened[0] has asked already. */
uint32_t rr_nfs4_may_read(struct rr_nfs4_compound *c, rr_nfs4_step *then);

/* The state that a stateid of the operation names, for the current filehandle. The lock of the tables is
 * held. */
nfsstat4 rr_nfs4_find_state(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, const stateid4 *given,
	uint32_t kinds, struct rr_nfs4_state **state);

/* The object, as it was opened if c->opened[index] is there. */
static inline struct rr_vfs_object
rr_nfs4_object_as(const struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, uint32_t index)
{
	return (struct rr_vfs_object){ { fh->handle.data, fh->handle.length },
		c->opened[index] ? c->opened[index]->open : fh->open };
}

/* Whether the client may reclaim what it had before the server started: NFS4ERR_NO_GRACE,
 * NFS4ERR_RECLAIM_BAD. The lock of the tables is held. */
nfsstat4 rr_nfs4_may_reclaim(struct rr_nfs4_compound *c);

/* NFS4ERR_GRACE where something may still be reclaimed that the operation stands against. */
nfsstat4 rr_nfs4_no_grace(const struct rr_nfs4_compound *c);

stable_how4 rr_nfs4_committed(enum rr_vfs_stable stable);

/* NFS4_OK for a regular file; NFS4ERR_ISDIR, NFS4ERR_SYMLINK, NFS4ERR_WRONG_TYPE. */
nfsstat4 rr_nfs4_regular(const struct rr_nfs4_fh *fh);

/* The same for operations of RFC 7862, which make no difference: "If ... not a regular file, the operation
 * MUST fail and return NFS4ERR_WRONG_TYPE" (15.1.3, 15.2.3, 15.4.3, 15.13.3). */
nfsstat4 rr_nfs4_regular_only(const struct rr_nfs4_fh *fh);

/* What the operation did to a directory or file. */
void rr_nfs4_change_info(const struct rr_vfs_change *change, change_info4 *info);

/* A name: NFS4ERR_INVAL for none, BADCHAR, NAMETOOLONG, BADNAME. */
nfsstat4 rr_nfs4_name(component4 name);

/* The current filehandle's attributes: at once where they are known in this compound. */
uint32_t rr_nfs4_attributes(struct rr_nfs4_compound *c, struct rr_nfs4_fh *fh, rr_nfs4_step *then);

#endif
