/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_COMPOUND_H
#define RR_SERVER_NFS4_COMPOUND_H

#include "server/nfs4/args.h"
#include "server/nfs4/result.h"
#include "server/nfs4/server_private.h"
#include "vfs/fattr4/attr.h"

/*
 * A COMPOUND under way: RFC 8881, section 16.2. Its operations run in their order; each may end at once, or
 * later, from the loop. So each operation is executed once, and no thread waits for storage.
 *
 * Ownership: the compound lies in memory of the server, from the call until its answer is complete. The
 * request is kept as long as an operation is under way. Encoded results grow from the beginning of the
 * request's arena; the memory that an operation needs meanwhile lies at the end of the arena.
 */

struct rr_nfs4_compound;

/* A step of an operation. It returns the status of the operation, an nfsstat4, or RR_NFS4_PENDING if another
 * step will follow later. */
typedef uint32_t rr_nfs4_step(struct rr_nfs4_compound *c);

enum { RR_NFS4_PENDING = 0x7ffffffe };

enum rr_nfs4_fh_kind { RR_NFS4_FH_NONE, RR_NFS4_FH_VFS, RR_NFS4_FH_PSEUDO };

/* A current or saved filehandle. */
struct rr_nfs4_fh {
	enum rr_nfs4_fh_kind kind;
	struct rr_vfs_handle handle;
	uint32_t pseudo; /* index of the pseudo directory */
	/* Attributes that this compound has read, kept until an operation may have changed them. */
	bool known;
	struct rr_vfs_attributes attributes;
	/* The object has no name any more, and is reached by this open, not by its handle; NULL: by its
	 * handle. */
	struct rr_vfs_open *open;
	bool has_stateid;
	stateid4 stateid; /* the current stateid: RFC 8881, 16.2.3.1.2 */
};

struct rr_nfs4_operation;

/* What the operation that runs keeps from one of its steps to the next, named for the operations that use it.
 */
union rr_nfs4_own {
	struct {
		component4 name;
		rr_nfs4_step *then;
	} lookup; /* LOOKUP; of OPEN, the name */
	struct {
		uint32_t size; /* octets to read */
		rr_nfs4_step *then;
	} read; /* READ and READ_PLUS */
	struct {
		struct rr_vfs_set set; /* the attributes to set */
		struct rr_attr_acl acl;
		uint32_t applied; /* RR_VFS_SET_*, RR_ATTR_SET_ACL: what was set */
	} setattr;
	struct rr_nfs4_gathered *gathered; /* GETATTR, READDIR, VERIFY and NVERIFY: see rr_nfs4_gather() */
	uint32_t lock_access;              /* LOCK: the access of the open */
	/* SEQUENCE, in a retry that waits for the call that it repeats, and an operation of version 4.0 that
	 * waits for another of its owner: the time to give up */
	uint64_t look_until;
};

struct rr_nfs4_compound {
	struct rr_nfs4_server *server;
	struct rpcrdma_request *request;
	const struct rr_nfs4_args *args;
	struct rr_nfs4_result *result;
	struct rr_nfs4_connection *connection; /* NULL: the connection has ended meanwhile */
	struct rr_nfs4_turn turn; /* turn.session: NULL where the compound began without SEQUENCE */
	/* Of the session, held by it. In version 4.0, the client of the operation, held until the next one,
	 * and the owners whose request the operation is, held until it ends: see identify.h. */
	struct rr_nfs4_client *client;
	struct rr_nfs4_owner *owners[2];
	struct rr_gate_caller caller;
	struct rr_vfs_identity identity; /* of the caller, in the export of the current filehandle */
	uint32_t counted;                /* the export whose calls were counted last; UINT32_MAX: none yet */
	/* Called from the loop when what the operation has waited for has come: goes on with the step, when
	 * it is the turn of the client's connection. */
	void (*resume)(struct rr_nfs4_compound *c, rr_nfs4_step *step);
	rr_nfs4_step *step; /* the step with which the compound goes on; NULL: with the next operation */
	uint32_t ended;     /* for rr_nfs4_resume_with() */
	uint32_t index;     /* of the operation that runs */
	uint64_t begun;     /* when that operation began, unless it is brief: ns of rr_loop_now() */
	/* Index of the operation for which PUTFH has asked the gate already, so that rr_nfs4_admit() need not
	 * ask again; 0: there is none. */
	uint32_t asked;
	bool is_known;  /* the groups of the caller are those that it acts with */
	bool late;      /* the first operation fails with NFS4ERR_DELAY: see names.h */
	bool kept;      /* rr_nfs4_compound() has returned; rr_request_end() sends the answer */
	uint32_t limit; /* octets that the reply may have, by the session and by the room for the reply */
	uint32_t front; /* octets of the reply in front of the first result */

	/* Held until the compound ends: the open of the first filehandle whose object has no name any more;
	 * or NULL. */
	struct rr_nfs4_opened *pinned;
	/* Held until the operation ends: the state and the opens that it uses; or NULL. opened[0] is mostly
	 * the open of the stateid in the arguments. OPEN, LOCK and COPY have two opens: op/open_share.c,
	 * op/lock.c and op/copy.c say which is which. */
	struct rr_nfs4_state *state;
	struct rr_nfs4_opened *opened[2];

	/* From `current` on, a new compound is not zeroed, as zeroing would cost time in each call. */
	struct rr_nfs4_fh current, saved;

	/* The members from here to `own` belong to the operation that runs. */
	const nfs_argop4 *op;
	const struct rr_nfs4_operation *operation;
	nfs_resop4 res;
	bool encoded; /* the operation wrote its result itself */
	/* The stateid for which opened[] stays NULL is that of an open by another user: see support_use(). */
	bool reserved[2];
	/* For an operation that changes the object of the current filehandle: the attributes after that, from
	 * its storage operation in `vfs`; NULL: the operation does not learn them. */
	const struct rr_vfs_known *after;
	rr_nfs4_step *then;
	struct rr_timer look; /* for an operation that waits for another one: the timer of the next look */
	struct rr_nfs4_fh *attributes_of; /* for rr_nfs4_attributes(), as the next member */
	rr_nfs4_step *attributes_then;
	union rr_vfs_any vfs; /* the structure of the one storage operation that is under way */
	enum rr_vfs_status vfs_status;
	bool vfs_pending;               /* the storage operation has begun and not ended */
	struct rr_nfs4_record *awaited; /* the operation goes on when this record is on the disk; or NULL */
	void *op_memory;                /* memory that the operation needs over its steps */
	union rr_nfs4_own own;

	/* The writer of the results. While an operation runs, writer.end is the beginning of the memory that
	 * the operation has taken; arena_end is the end of the arena, to which writer.end returns. */
	struct rpcrdma_xdr_writer writer;
	uint8_t *arena_end;
	/* For the data of all READs: the octets of the buffer request->payload, and how many of them are
	 * used. */
	uint32_t payload_size, payload_used;
	struct rr_pool_waiter waiter; /* for a READ that waits for memory of the pool */
	struct rr_idmap_waiter names; /* for an answer of the directory of users, and the step after that */
	rr_nfs4_step *names_then;
	struct rr_list link; /* in the server's list of compounds under way */
};

/* Flags that say how an operation is treated. The table of operations is in ops.c. */
enum {
	RR_NFS4_OP_FIRST = 1,     /* may be the first one, without SEQUENCE, and then the only one */
	RR_NFS4_OP_FH = 2,        /* needs a current filehandle */
	RR_NFS4_OP_SAVED = 4,     /* needs a saved filehandle */
	RR_NFS4_OP_CHANGES = 8,   /* changes something: it is not executed unless its reply fits */
	RR_NFS4_OP_VFS = 16,      /* fails for a directory of the pseudo root, with the status `pseudo` */
	RR_NFS4_OP_CONSUMES = 32, /* leaves no current filehandle */
	RR_NFS4_OP_RECALLS = 64,  /* changes an object that other clients may have a delegation of */
	/* takes next to no time, unless it has to wait: no time is counted for it */
	RR_NFS4_OP_BRIEF = 256,
	RR_NFS4_OP_PLAIN = 512, /* belongs to version 4.0 alone */
	RR_NFS4_OP_FILLS = 128  /* fills all of its result, so that the result need not be zeroed before */
};

/* An entry of the table of operations. */
struct rr_nfs4_operation {
	rr_nfs4_step *run; /* NULL: NFS4ERR_NOTSUPP */
	uint32_t flags;    /* RR_NFS4_OP_* */
	/* The most octets that the result has, with the number and the status of the operation. estimate()
	 * gives them from the arguments; NULL: they are `size`. */
	uint32_t size;
	uint32_t (*estimate)(const nfs_argop4 *op);
	nfsstat4 pseudo; /* see RR_NFS4_OP_VFS */
};

extern const struct rr_nfs4_operation rr_nfs4_operations[OP_REMOVEXATTR + 1];

/* Executes a call of the procedure NFSPROC4_COMPOUND: args is a struct rr_nfs4_args, result a struct
 * rr_nfs4_result. Returns RPCRDMA_HANDLED if the result is complete, RPCRDMA_HANDLE_KEPT if rr_request_end()
 * answers the call later, and RPCRDMA_HANDLE_SYSTEM_ERR if there is no memory, or no sessions can be bound to
 * the connection. */
enum rpcrdma_handled rr_nfs4_compound(
	void *ctx, struct rpcrdma_request *request, const void *args, void *result);

/* Returns the most octets that the reply to a call can have in its stream; struct rr_service points here. */
uint32_t rr_nfs4_reply_max(const struct rpcrdma_request *request, const void *args);

/* Returns the octets of memory in which the results are made; 0: the arena of any request is enough. */
uint32_t rr_nfs4_arena_max(const struct rpcrdma_request *request, const void *args);

/* Tells whether a repetition of the call must not be executed: one of version 4.0 that changes something. The
 * calls of sessions have slots for that. struct rr_service points here. */
bool rr_nfs4_is_once(const void *args);

/* ---- For operations ---- */

/* Goes on with `then` when a storage operation has ended, at once or later. status: what the function that
 * began the storage operation has returned. Returns what `then` returns, or RR_NFS4_PENDING. */
uint32_t rr_nfs4_vfs(struct rr_nfs4_compound *c, enum rr_vfs_status status, rr_nfs4_step *then);

/* Has the record of the client of c written to the disk, as after a restart the server knows by the record
 * alone that the client may reclaim. Returns true if c has to wait for that: the operation returns
 * RR_NFS4_PENDING, and `then` runs when the record is on the disk (c->vfs_status is RR_VFS_OK) or could not
 * be written. Returns false if c need not wait; then *status is NFS4_OK, or NFS4ERR_DELAY if the record
 * cannot be written now, or another thread's server has it written. The caller holds the lock of the tables.
 * In server_house.c. */
bool rr_nfs4_house_await(struct rr_nfs4_compound *c, rr_nfs4_step *then, nfsstat4 *status);

/* Goes on with the compound when an operation that had to wait has ended, with that status. With
 * RR_NFS4_PENDING, the operation is still under way, and nothing is done. */
void rr_nfs4_resume_with(struct rr_nfs4_compound *c, uint32_t status);

/* Returns the zeroed structure for the next storage operation, with the caller's identity filled in. */
union rr_vfs_any *rr_nfs4_vfs_begin(struct rr_nfs4_compound *c);
/* Like rr_nfs4_vfs_begin(), for operations that are often called: zeroes only `size` octets, the size of the
 * operation's own structure. */
union rr_vfs_any *rr_nfs4_vfs_begin_of(struct rr_nfs4_compound *c, size_t size);

/* Tells whether the attributes of a new object name an owner or a group that is not the caller's: the storage
 * is then to make the object with that owner, or not at all. */
bool rr_nfs4_owner_differs(const struct rr_nfs4_compound *c, const struct rr_vfs_set *set);

/* Returns zeroed memory from the end of the arena, which lives until the result of the operation is encoded;
 * NULL if the arena is used up. */
void *rr_nfs4_alloc(struct rr_nfs4_compound *c, size_t size);
/* Returns how many octets of the arena are left for the result of the operation and for more memory. A result
 * that does not fit there becomes NFS4ERR_REP_TOO_BIG: it never overwrites memory of the operation. */
uint32_t rr_nfs4_left(const struct rr_nfs4_compound *c);

/* Returns the status of NFS for a status of the storage. */
nfsstat4 rr_nfs4_status(enum rr_vfs_status status);

/* Asks the gate whether the caller may use this filehandle; a directory of the pseudo root is open to all.
 * From now on the caller's identity is that of the filehandle's export, or nobody's. */
enum rr_gate_answer rr_nfs4_ask(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh);

/* Returns the status of an operation that has set the current filehandle. answer: what the gate has said
 * about the caller. If the caller uses a wrong flavor, the next operation decides whether NFS4ERR_WRONGSEC is
 * returned. */
nfsstat4 rr_nfs4_security_put(const struct rr_nfs4_compound *c, enum rr_gate_answer answer);

/* Tells whether the caller may send this operation for the opens and locks of others, and with a flavor that
 * the export does not have, as the client has SP4_MACH_CRED. */
bool rr_nfs4_machine_may(const struct rr_nfs4_compound *c, uint32_t op);

/* Lists the flavors with which the caller may use the current filehandle, in the order of rr_right_flavors(),
 * and returns their number. */
uint32_t rr_nfs4_security_flavors(struct rr_nfs4_compound *c, uint32_t flavors[RR_RIGHT_FLAVORS]);

/* Asks the gate as rr_nfs4_ask() does and returns a status for the operation: NFS4_OK, NFS4ERR_ACCESS or
 * NFS4ERR_WRONGSEC. If the gate refuses an operation for which the RFCs allow neither error, returns NFS4_OK,
 * and the operation runs as nobody, who may only read. */
nfsstat4 rr_nfs4_admit(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh);

/* Tells whether the caller sees an entry of the pseudo root: each directory, and each export that the caller
 * may use. */
bool rr_nfs4_sees(struct rr_nfs4_compound *c, const struct rr_pseudo_entry *entry);

/* Finds the entry of that name in the current filehandle, which is a directory above the exports, and stores
 * its index in *entry. NFS4ERR_NOENT: there is no such entry. NFS4ERR_ACCESS: the caller may not use the
 * export of that name. A caller who may not use all exports gets NFS4ERR_ACCESS for every name that it does
 * not see, and so does not learn which of them exist. MNT of version 3 answers alike. */
nfsstat4 rr_nfs4_find_entry(struct rr_nfs4_compound *c, component4 name, uint32_t *entry);

#endif
