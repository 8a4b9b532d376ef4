/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_COMPOUND_H
#define RR_SERVER_NFS4_COMPOUND_H

#include "server/nfs4/args.h"
#include "server/nfs4/result.h"
#include "server/nfs4/server_private.h"

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
	struct rr_nfs4_connection *connection; /* NULL: the connection has ended meanwhile */
	struct rr_nfs4_turn turn;      /* turn.session: NULL where the compound began without SEQUENCE */
	struct rr_nfs4_client *client; /* of the session, held by it */
	struct rr_nfs4_principal principal;
	struct rr_gate_caller caller;
	struct rr_vfs_identity identity; /* of the caller, in the export of the current filehandle */
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

	/* The members from here to `set` belong to the operation that runs. */
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
	/* For SEQUENCE, in a retry that waits for the call that it repeats: the timer of the next look, and
	 * the time to give up. */
	struct rr_timer look;
	uint64_t look_until;
	struct rr_nfs4_fh *attributes_of; /* for rr_nfs4_attributes(), as the next member */
	rr_nfs4_step *attributes_then;
	union rr_nfs4_vfs vfs;
	enum rr_vfs_status vfs_status;
	bool vfs_pending;               /* the storage operation has begun and not ended */
	struct rr_nfs4_record *awaited; /* the operation goes on when this record is on the disk; or NULL */
	void *op_memory;                /* memory that the operation needs over its steps */
	struct rr_nfs4_gathered *gathered; /* for rr_nfs4_gather() */
	struct rr_vfs_set set;             /* for SETATTR: the attributes to set */
	uint32_t read_size, lock_access;   /* for READ: octets to read; for LOCK: access of the open */
	component4 lookup_name;            /* for LOOKUP and OPEN, as lookup_then */
	rr_nfs4_step *lookup_then, *read_then;

	/* The writer of the results. While an operation runs, writer.end is the beginning of the memory that
	 * the operation has taken; arena_end is the end of the arena, to which writer.end returns. */
	struct rpcrdma_xdr_writer writer;
	uint8_t *arena_end;
	/* For the data of all READs: the octets of the buffer request->payload, and how many of them are
	 * used. */
	uint32_t payload_size, payload_used;
	struct rr_pool_waiter waiter; /* for a READ that waits for memory of the pool */
	struct rr_list link;          /* in the server's list of compounds under way */
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
	RR_NFS4_OP_FILLS = 128 /* fills all of its result, so that the result need not be zeroed before */
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

/* ---- For operations ---- */

/* Goes on with `then` when a storage operation has ended, at once or later. status: what the function that
 * began the storage operation has returned. Returns what `then` returns, or RR_NFS4_PENDING. */
uint32_t rr_nfs4_vfs(struct rr_nfs4_compound *c, enum rr_vfs_status status, rr_nfs4_step *then);

/* Goes on with the compound when an operation that had to wait has ended, with that status. With
 * RR_NFS4_PENDING, the operation is still under way, and nothing is done. */
void rr_nfs4_resume_with(struct rr_nfs4_compound *c, uint32_t status);

/* Returns the zeroed structure for the next storage operation, with the caller's identity filled in. */
union rr_nfs4_vfs *rr_nfs4_vfs_begin(struct rr_nfs4_compound *c);
/* Like rr_nfs4_vfs_begin(), for operations that are often called: zeroes only `size` octets, the size of the
 * operation's own structure. */
union rr_nfs4_vfs *rr_nfs4_vfs_begin_of(struct rr_nfs4_compound *c, size_t size);

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

/* Lists the flavors with which the caller may use the current filehandle, and returns their number. */
enum { RR_NFS4_FLAVORS = 2 };
uint32_t rr_nfs4_security_flavors(struct rr_nfs4_compound *c, uint32_t flavors[RR_NFS4_FLAVORS]);

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

/* ---- recall.c ---- */

/* Recalls the delegations that other clients have of the objects that the operation changes, then runs the
 * operation. Returns NFS4ERR_DELAY as long as other clients have such delegations. */
uint32_t rr_nfs4_recall_first(struct rr_nfs4_compound *c);

/* Recalls the delegations that other clients have of a file. Returns NFS4ERR_DELAY if there are any, else
 * NFS4_OK. writes: the operation writes the file, so the client's own delegation is recalled, too: a
 * delegation has a lease of the storage, which lets nobody write. */
nfsstat4 rr_nfs4_recall(struct rr_nfs4_compound *c, const struct rr_vfs_id *id, bool writes);

/* ---- room.c ---- */

/* Octets that the number and the status of an operation take. */
enum { RR_NFS4_ERROR_SIZE = 8 };

/* Returns the number of octets that the reply has in front of the first result, with the RPC header. */
uint32_t rr_nfs4_size_in_front(const struct rr_nfs4_compound *c);

/* Returns the number of octets that the reply has so far, with the RPC header and the data outside the
 * stream. */
static inline uint32_t
rr_nfs4_size(const struct rr_nfs4_compound *c)
{
	uint32_t size = c->front + (uint32_t)(c->writer.next - c->writer.start);

	for (uint32_t i = 0; i < c->writer.item_count; i++)
		size += (c->result->items[i].length + 3) & ~3u;
	return size;
}

/* Returns NFS4_OK if `size`, the octets of the reply up to the end of this operation's result, is within the
 * limits of the session; else NFS4ERR_REP_TOO_BIG or NFS4ERR_REP_TOO_BIG_TO_CACHE. If further operations
 * follow, room for the error of one of them is kept free. */
nfsstat4 rr_nfs4_check_size(const struct rr_nfs4_compound *c, uint64_t size);

/* Returns the number of octets that this operation's result can have at most, with its number and status: as
 * many as the results in front leave of the limits of the reply. If further operations follow, room for the
 * error of one of them is kept free. */
uint32_t rr_nfs4_room(const struct rr_nfs4_compound *c);

/* ---- support.c ---- */

/* Returns the object of the filehandle in the form that the storage takes: the handle and the open, if there
 * is one. */
static inline struct rr_vfs_object
rr_nfs4_object(const struct rr_nfs4_fh *fh)
{
	return (struct rr_vfs_object){ { fh->handle.data, fh->handle.length }, fh->open };
}

/* Sets the filehandle to another object. RFC 8881, 16.2.3.1.2: operations that set the current filehandle
 * without a stateid leave an anonymous stateid as the current stateid. fh->has_stateid is then false, and an
 * operation that asks for the current stateid gets NFS4ERR_BAD_STATEID: RFC 8881, 8.2.3. */
void rr_nfs4_set_fh(struct rr_nfs4_fh *fh, const struct rr_vfs_handle *handle);
/* Like rr_nfs4_set_fh(), from the octets of a handle, which are RR_VFS_HANDLE_MAX at most. */
void rr_nfs4_set_octets(struct rr_nfs4_fh *fh, nfs_fh4 octets);
/* Sets the current stateid, which belongs to the current filehandle. */
void rr_nfs4_set_stateid(struct rr_nfs4_compound *c, const stateid4 *stateid);

/* Sets the current filehandle to an entry of the pseudo root: a directory, or the root of an export. */
void rr_nfs4_set_entry(struct rr_nfs4_compound *c, uint32_t entry);

/* Copies the stateid `given` to *stateid; if it is the special stateid that stands for the current stateid,
 * copies the current stateid instead. */
nfsstat4 rr_nfs4_current_stateid(const struct rr_nfs4_compound *c, const stateid4 *given, stateid4 *stateid);

/* Finds the open that a stateid of the operation stands for and holds it in c->opened[index] until the
 * operation ends; c->opened[index] stays NULL for the special stateids. Returns an error if the stateid does
 * not allow the operation now. access: OPEN4_SHARE_ACCESS_*, what the open must allow; 0: nothing. */
nfsstat4 rr_nfs4_use_stateid(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, const stateid4 *given,
	uint32_t access, uint32_t index);

/* Asks the storage whether the caller may read the file, for an operation that itself reads no octet: then()
 * runs with the answer in c->vfs_status. If c->opened[0] holds an open, the storage is not asked again. */
uint32_t rr_nfs4_may_read(struct rr_nfs4_compound *c, rr_nfs4_step *then);

/* Finds the state that the stateid `given` of the operation names, and stores it in *state. kinds: the kinds
 * of state that are accepted. The state must be of the file that fh belongs to. If the attributes of fh are
 * not known, only a state that was made with this very filehandle is found; for any other state, the caller
 * gets NFS4ERR_BAD_STATEID and may try again with the attributes. The caller holds the lock of the tables. */
nfsstat4 rr_nfs4_find_state(struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, const stateid4 *given,
	uint32_t kinds, struct rr_nfs4_state **state);

/* Returns the object of the filehandle in the form that the storage takes: the handle, with the open in
 * c->opened[index] if there is one, else with the open of the filehandle. */
static inline struct rr_vfs_object
rr_nfs4_object_as(const struct rr_nfs4_compound *c, const struct rr_nfs4_fh *fh, uint32_t index)
{
	return (struct rr_vfs_object){ { fh->handle.data, fh->handle.length },
		c->opened[index] ? c->opened[index]->open : fh->open, c->reserved[index] };
}

/* Called by an operation that reclaims. Returns NFS4_OK if the client may reclaim what it had before the
 * server started; the end of the grace period is then delayed. Else returns NFS4ERR_NO_GRACE or
 * NFS4ERR_RECLAIM_BAD. The caller holds the lock of the tables. */
nfsstat4 rr_nfs4_may_reclaim(struct rr_nfs4_compound *c);

/* Returns NFS4ERR_GRACE in the grace period, as a client may still reclaim a state that conflicts with the
 * operation; else NFS4_OK. The caller does not hold the lock of the tables, which this function takes. */
nfsstat4 rr_nfs4_no_grace(const struct rr_nfs4_compound *c);

/* Returns the value of NFS for how safely the storage keeps data that it has written. */
stable_how4 rr_nfs4_committed(enum rr_vfs_stable stable);

/* Returns NFS4_OK for a regular file, else NFS4ERR_ISDIR, NFS4ERR_SYMLINK or NFS4ERR_WRONG_TYPE. */
nfsstat4 rr_nfs4_regular(const struct rr_nfs4_fh *fh);

/* Returns NFS4_OK for a regular file, else NFS4ERR_WRONG_TYPE, as the operations of RFC 7862 demand: "If ...
 * not a regular file, the operation MUST fail and return NFS4ERR_WRONG_TYPE" (15.1.3, 15.2.3, 15.4.3,
 * 15.13.3). */
nfsstat4 rr_nfs4_regular_only(const struct rr_nfs4_fh *fh);

/* Fills *info, which tells the client how the operation has changed a directory or file. */
void rr_nfs4_change_info(const struct rr_vfs_change *change, change_info4 *info);

/* Checks a name, and returns NFS4_OK or an error: NFS4ERR_INVAL if it is empty or not UTF-8, NFS4ERR_BADCHAR,
 * NFS4ERR_NAMETOOLONG, NFS4ERR_BADNAME. */
nfsstat4 rr_nfs4_name(component4 name);

/* Reads the attributes of the filehandle's object into fh->attributes, and goes on with `then`; at once if
 * this compound knows the attributes already. c->vfs_status tells `then` whether that succeeded. */
uint32_t rr_nfs4_attributes(struct rr_nfs4_compound *c, struct rr_nfs4_fh *fh, rr_nfs4_step *then);

#endif
