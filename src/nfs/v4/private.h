/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_V4_PRIVATE_H
#define RR_NFS_V4_PRIVATE_H

#include "nfs/v4/newer.h"
#include "nfs/v4/v4.h"
#include "ulb/nfs3.h"
#include "ulb/nfs42.h"
#include "vfs/fattr4/attr.h"

/*
 * The words: a session, its slots, the sequence ID of a slot and a stateid are those of RFC 8881. An open is
 * a file that this client has opened at the server, or is about to. A procedure is what the caller calls, of
 * nfs/procedure.h or of newer.h. The caller's call ("outer") is carried out by the call that a slot makes: a
 * COMPOUND.
 *
 * struct rr_v4 owns its slots and its opens; their memory is a part of it. A call of the caller is in one
 * place at a time: v4->queue, the list of an open that is being made, a slot, or v4->ending. The list link
 * and the timer of struct rr_call, which the RPC client uses for the calls that it makes itself, hold it
 * there: the RPC client never sees the caller's call, only the slot's.
 *
 * Calls inside this folder go down: v4.c, session.c, dispatch.c, open.c, proc_*.c, compound.c, attr.c. Calls
 * up go through struct rr_v4_work.
 */

enum {
	RR_V4_SLOTS = 64,
	RR_V4_OPS = 12,        /* operations of a COMPOUND, at most */
	RR_V4_PUT_OPS = 11,    /* operations of RR_V4_PUT */
	RR_V4_OPENS = 160,     /* files that are open at a time: `rpcrdma cp` has 128 under way */
	RR_V4_OPENS_IDLE = 16, /* of these, files that may stay open without being read or written */
	RR_V4_RETRIES = 16,    /* how often one call is made again in a new session, or with a new open */
	RR_V4_SESSIONS =
		16, /* attempts at a client ID or a session, one after the other, while no call succeeded */
};

/* ---- attr.c ---- */

extern const bitmap4 rr_v4_attr_object; /* all that struct rr_nfs_attributes has */
extern const bitmap4 rr_v4_attr_entry;  /* the same, and attributes of an entry of a directory */
extern const bitmap4 rr_v4_attr_limits, rr_v4_attr_space;

enum { RR_V4_VALUES = 128 }; /* octets of the attributes that one call can set */

/* ---- opens ---- */

enum rr_v4_open_state {
	RR_V4_OPEN_FREE,    /* the entry is not in use */
	RR_V4_OPEN_MAKING,  /* OPEN is under way, and calls wait */
	RR_V4_OPEN_READY,   /* the file is open */
	RR_V4_OPEN_LOST,    /* the server has forgotten the open: it is made again when it is needed */
	RR_V4_OPEN_RECLAIM, /* the server restarted: the open is to be reclaimed in its grace period */
	RR_V4_OPEN_CLOSING  /* CLOSE is under way */
};

struct rr_v4_open {
	struct rr_list link; /* in v4->opens, the last used first; or in v4->open_free */
	enum rr_v4_open_state state;
	uint32_t access, wanted; /* OPEN4_SHARE_ACCESS_...: granted; asked for by the OPEN under way */
	uint32_t users;          /* calls in slots that use its stateid */
	uint32_t losses;         /* how often CLOSE is to be sent again, as the session was lost */
	uint64_t used;           /* when it was last used */
	stateid4 stateid, delegation;
	bool has_delegation;
	bool once;              /* made by another open-owner: no call uses it, and it is to be closed */
	struct rr_list waiters; /* list of struct rr_call */
	uint8_t handle[NFS4_FHSIZE];
	uint32_t handle_length;
};

/* ---- slots ---- */

struct rr_v4_slot;

/* The work of a slot: a procedure for the caller, or a COMPOUND of the session itself. */
struct rr_v4_work {
	/* Appends the operations to the COMPOUND. */
	void (*build)(struct rr_v4_slot *slot);
	/* Called when all operations succeeded. Returns 0, or a negative error. For a procedure it fills in
	 * the caller's result. */
	int (*take)(struct rr_v4_slot *slot);
	/* NULL, or for a procedure: called when an operation failed; slot->result has the results up to that
	 * operation. */
	void (*fail)(struct rr_v4_slot *slot);
	/* For work of the session itself: called at its end, with a negative error, a status, or 0 from
	 * take(). */
	void (*end)(struct rr_v4_slot *slot, int error);
	uint32_t access; /* OPEN4_SHARE_ACCESS_... that the file must be open with; 0: it need not be open */
	bool makes;      /* the procedure opens a file that is not in the table of opens */
	bool changes;    /* the work is not idempotent: the server is to keep its reply */
	bool alone;      /* the COMPOUND has no SEQUENCE */
};

struct rr_v4_slot {
	struct rr_v4 *v4;
	uint32_t number, generation; /* its number; the session that its call was sent in */
	bool busy;
	const struct rr_v4_work *work;
	struct rr_call *outer;   /* the caller's call; NULL for work of the session itself */
	struct rr_v4_open *open; /* the file that the call uses, or that the work opens or closes; or NULL */
	uint32_t kept;           /* octets used of outer->keep */
	uint32_t reply_max;      /* octets of the results of the operations appended so far, at most */
	uint32_t misordered;     /* number of answers NFS4ERR_SEQ_MISORDERED to its call */
	uint64_t until;          /* the time from which the call is not repeated to a busy server */
	struct rr_timer later;   /* armed while the call waits to be repeated */
	struct rr_call call;
	COMPOUND4args args;
	COMPOUND4res result;
	nfs_argop4 ops[RR_V4_OPS];
	struct rr_attr_mask set; /* attributes to be set, with their values */
	uint8_t values[RR_V4_VALUES];
	char owner[24];  /* of an open that the COMPOUND closes itself */
	uint8_t size[8]; /* the size that a file must have, for VERIFY */
	uint8_t arena[8192] __attribute__((aligned(16)));
};

/* The identity of a server: RFC 8881, 2.10.4. */
struct rr_v4_server {
	uint32_t major_length, scope_length; /* major_length 0: the server did not say */
	uint8_t major[NFS4_OPAQUE_LIMIT], scope[NFS4_OPAQUE_LIMIT];
};

/* The states of a session, by the COMPOUND that is under way. */
enum rr_v4_state {
	RR_V4_IDLE,       /* none: there is no session, and no call asks for one */
	RR_V4_EXCHANGING, /* EXCHANGE_ID */
	RR_V4_CREATING,   /* CREATE_SESSION */
	RR_V4_RECLAIMING, /* OPEN, for each file that was open when the server restarted */
	RR_V4_COMPLETING, /* RECLAIM_COMPLETE */
	RR_V4_READY,      /* none: the session is in use by calls */
	RR_V4_CLOSING,    /* CLOSE, for each open file */
	RR_V4_DESTROYING, /* DESTROY_SESSION */
	RR_V4_FORGETTING, /* DESTROY_CLIENTID */
	RR_V4_STATES
};

struct rr_v4 {
	struct rr_v4_config config;
	const struct rr_env *env;
	struct rr_loop *loop;
	struct rr_text text;
	enum rr_v4_state state;
	int error;        /* why the state is RR_V4_IDLE */
	nfsstat4 refusal; /* if that error is REJECTED: the status of the server */

	/* The client and its session. */
	uint8_t owner[128]; /* the name by which servers know this client */
	uint32_t owner_length;
	verifier4 verifier;
	clientid4 clientid;
	struct rr_v4_server server;
	sequenceid4 create_sequence; /* of the next CREATE_SESSION */
	sessionid4 session;
	uint32_t generation, fruitless; /* sessions made so far; attempts since the last success */
	uint32_t slots, request_max, reply_max, operations; /* of the session; operations of a COMPOUND */
	uint32_t message; /* octets of the largest message that this client can send or receive */
	sequenceid4 sequence[RR_V4_SLOTS]; /* the sequence ID that was used last, of each slot */
	uint64_t until;          /* the time from which a busy server is not asked again for a session */
	uint64_t lease, renewed; /* ns that the lease lasts; when the server last renewed it */
	struct rr_timer renewal; /* of session_tick() */

	bool *gone; /* set while a caller's done() runs: becomes true if done() frees this client; else
		       NULL */
	uint64_t free, doubt; /* bitmaps: free slots; slots whose last call was given up */
	uint32_t highest;     /* the highest slot that the server wants to be used */
	/* Calls of the caller (by their link): those that wait for a slot, and those that the timer ends with
	 * their error in a later turn of the loop. */
	struct rr_list queue, ending;
	struct rr_timer ends;

	struct rr_list opens, open_free; /* the table of opens; entries that are not in use */
	uint32_t open_count, making;     /* entries in opens; calls in slots that will each make one more */
	struct rr_v4_open open[RR_V4_OPENS];
	struct rr_v4_slot control; /* for the work that makes and ends a session */
	struct rr_v4_slot slot[RR_V4_SLOTS];
};

/* ---- compound.c ---- */

/* Appends an operation to the COMPOUND, and returns its arguments, which the caller fills in. Its result
 * takes at most result_max octets, without its number and its status. */
nfs_argop4 *rr_v4_op(struct rr_v4_slot *slot, nfs_opnum4 op, uint32_t result_max);

/* Appends PUTFH of a handle, or PUTROOTFH if the handle is empty. */
void rr_v4_putfh(struct rr_v4_slot *slot, struct rpcrdma_bytes handle);
/* Appends GETATTR of the attributes in asked. */
void rr_v4_getattr(struct rr_v4_slot *slot, const bitmap4 *asked);

/* Returns the result of the last operation of this number. The call must have such an operation, and the
 * server must have executed it. */
const nfs_resop4 *rr_v4_res(const struct rr_v4_slot *slot, nfs_opnum4 op);

/* Decodes the result of the last GETATTR; asked is what the call asked for. Returns false if the result is
 * malformed. */
bool rr_v4_res_attributes(
	const struct rr_v4_slot *slot, const bitmap4 *asked, struct rr_attr_values *attributes);

/* Sends a COMPOUND: a SEQUENCE, unless the work is alone, and the operations that the work builds. */
void rr_v4_send(struct rr_v4_slot *slot, void (*done)(struct rr_call *call, int error));

/* Tells whether the reply fits the call: its results are those of the call's operations, in this slot, and
 * its status is that of the operation that failed, or NFS4_OK. */
bool rr_v4_reply_is_sound(const struct rr_v4_slot *slot);
/* Tells whether SEQUENCE is the operation that failed, so that the slot's sequence ID was not used. A
 * COMPOUND that was refused without any result counts as that, too. */
bool rr_v4_failed_in_sequence(const struct rr_v4_slot *slot);

/* ---- proc_*.c: the procedures ---- */

extern const struct rr_v4_work *const rr_v4_procedures[]; /* NULL: version 4 has no such procedure */
extern const uint32_t rr_v4_procedure_count;

extern const struct rr_v4_work rr_v4_getattr3, rr_v4_setattr3, rr_v4_lookup3, rr_v4_access3, rr_v4_readlink3,
	rr_v4_read3, rr_v4_write3, rr_v4_create3, rr_v4_mkdir3, rr_v4_symlink3, rr_v4_mknod3, rr_v4_remove3,
	rr_v4_rmdir3, rr_v4_rename3, rr_v4_link3, rr_v4_readdir3, rr_v4_readdirplus3, rr_v4_fsstat3,
	rr_v4_fsinfo3, rr_v4_commit3, rr_v4_walk, rr_v4_read_once, rr_v4_put, rr_v4_seek, rr_v4_copy,
	rr_v4_clone, rr_v4_getxattr, rr_v4_setxattr, rr_v4_removexattr, rr_v4_listxattrs;

/* Returns the size of the C type of the procedure's results. */
size_t rr_v4_result_size(uint32_t proc);

/* Appends GETFH and GETATTR, for the handle and the attributes of the object that was found or made. */
void rr_v4_find(struct rr_v4_slot *slot);
/* Takes the results of GETFH and GETATTR into that of the caller, a struct rr_nfs_found. Returns 0, or a
 * negative error: LIMIT if the caller's memory has no room for the handle and the names, PEER if the results
 * are malformed. */
int rr_v4_found(struct rr_v4_slot *slot);

/* Appends the READ that the caller's arguments describe. Its data is to be placed in the caller's sinks. */
void rr_v4_read_op(struct rr_v4_slot *slot, stateid4 stateid);
/* Takes the result of READ into that of the caller. Returns 0. */
int rr_v4_read_take(struct rr_v4_slot *slot);

/* Encodes attributes that are to be set, in memory of the slot. */
fattr4 rr_v4_attr_set(struct rr_v4_slot *slot, const struct rr_vfs_set *set);

/* Gives the caller the attributes that a server sent, with their names copied as rr_v4_keep() does. A name
 * that is too long for the client's objects, or has a zero in it, is left out. */
int rr_v4_give_attributes(
	struct rr_v4_slot *slot, const struct rr_attr_values *values, struct rr_nfs_attributes *attributes);
/* Copies octets of a result into the caller's memory (outer->keep), and makes *bytes point there, so that
 * they stay valid after the call. Error LIMIT: there is no room. */
int rr_v4_keep(struct rr_v4_slot *slot, struct rpcrdma_bytes *bytes);

/* Sets the error text for a malformed answer. Returns PEER. */
int rr_v4_broken(struct rr_v4 *v4, const char *what);

/* ---- open.c: the table of opens ---- */

void rr_v4_opens_init(struct rr_v4 *v4);

/* Returns the entry of the table of opens, in whatever state, that calls share for the file with this handle,
 * or NULL if there is none. Entries with `once`, which no call may use, are left out. */
struct rr_v4_open *rr_v4_open_find(struct rr_v4 *v4, struct rpcrdma_bytes handle);

/* Tells whether the table has room for one more open, besides those that calls in slots will make. */
bool rr_v4_open_has_room(const struct rr_v4 *v4);

/* Enters a file in the table of opens, in the state RR_V4_OPEN_LOST: the file is not open yet. Returns NULL
 * if the table is full, or the handle is too long for version 4. */
struct rr_v4_open *rr_v4_open_new(struct rr_v4 *v4, struct rpcrdma_bytes handle);

/* Notes the result of an OPEN for access: the file is open with this stateid, and with the delegation that
 * the server may have given. */
void rr_v4_open_take(struct rr_v4 *v4, struct rr_v4_open *open, const OPEN4resok *answered, uint32_t access);

/* Counts a user of the open's stateid, until rr_v4_slot_end_use(). Returns false, and counts nothing, if the
 * stateid cannot be used for access. */
bool rr_v4_open_begin_use(struct rr_v4 *v4, struct rr_v4_open *open, uint32_t access);

/* Removes the open from the table of opens: its memory is free for another open. */
void rr_v4_open_forget(struct rr_v4 *v4, struct rr_v4_open *open);

/* Returns the open file to close next: the one that was unused for the longest time, if more than keep open
 * files are idle, or if its last use was before the given time. Returns NULL if no file is to be closed. */
struct rr_v4_open *rr_v4_open_to_close(struct rr_v4 *v4, uint32_t keep, uint64_t before);

/* Returns an open in this state, or NULL if there is none. */
struct rr_v4_open *rr_v4_open_in(struct rr_v4 *v4, enum rr_v4_open_state state);

/* Called when the server has restarted, and has forgotten all opens and delegations: files that were open are
 * to be reclaimed. */
void rr_v4_opens_reclaim(struct rr_v4 *v4);
/* Notes that the server revoked the open, or does not know it: it is made again when it is needed. */
void rr_v4_open_lose(struct rr_v4_open *open);

/* Fills in the arguments that all OPENs of this client have in common: they deny others no access, and ask
 * for no delegation, because there is no backchannel by which the server could recall a delegation. access is
 * OPEN4_SHARE_ACCESS_... */
void rr_v4_open_owner(struct rr_v4_slot *slot, OPEN4args *args, uint32_t access);

/* ---- proc_open.c: OPEN and CLOSE of slot->open ---- */

/* The most octets of a result of OPEN: it is the largest with a delegation to write. */
enum { RR_V4_OPEN_MAX = 16 + 20 + 4 + (4 + 16) + 4 + (16 + 4 + 12 + 12 + 4 + 256) };

/* Appends OPEN of slot->open, for the access in slot->open->wanted. */
void rr_v4_open_build(struct rr_v4_slot *slot);
/* Takes the result of that OPEN: slot->open is open. Returns 0. */
int rr_v4_opened(struct rr_v4_slot *slot);
/* Appends CLOSE of slot->open, and the return of its delegation, if it has one. */
void rr_v4_close_build(struct rr_v4_slot *slot);
/* Is the take() of a COMPOUND whose results are not used. Returns 0. */
int rr_v4_nothing_take(struct rr_v4_slot *slot);

/* ---- slots.c ---- */

/* Returns a bitmap of the session's slots, of which there are 1 to 64. */
uint64_t rr_v4_slots_of(const struct rr_v4 *v4);
/* Returns a bitmap of the slots that the server allows at present: sr_target_highest_slotid. */
uint64_t rr_v4_slots_allowed(const struct rr_v4 *v4);

/* Reserves the lowest free slot for a call. Returns NULL if none of the slots that the server allows is free.
 */
struct rr_v4_slot *rr_v4_slot_get(struct rr_v4 *v4);
/* Makes the slot free again, unless its last call was given up in the present session. */
void rr_v4_slot_put(struct rr_v4_slot *slot);

/* Called when the caller's call ends, before its done(): the call does not use its open file any more, nor
 * the room that the table of opens has kept for a file that the call makes. slot->outer becomes NULL. */
void rr_v4_slot_end_use(struct rr_v4_slot *slot);

/* Notes in v4->doubt that it is not known what the server did with the call in the slot: the slot is not used
 * again in this session. Does nothing if the call was sent in an earlier session. */
void rr_v4_slot_doubt(struct rr_v4_slot *slot);

/* Cancels the call in the slot: that of the caller without calling its done(); work of the session itself
 * ends with CANCELLED. The slot stays unused for the rest of its session. */
void rr_v4_slot_give_up(struct rr_v4_slot *slot);

/* ---- dispatch.c: calls into slots ---- */

/* Called when a call was put into the queue, when a slot became free, and when a session was made: sends the
 * calls of the queue that can be sent now, while there is a session; if there is none, and the queue is not
 * empty, begins to make one. Closes idle files if the queue is empty. If calls were given up in all slots,
 * makes another session. */
void rr_v4_pump(struct rr_v4 *v4);

/* Sends the call in the slot again, at the end of the pause for a busy server. */
void rr_v4_slot_later(struct rr_timer *timer);
/* Sends the work in the slot, for the first time: counts its answers NFS4ERR_SEQ_MISORDERED from 0, and
 * begins the time (slot->until) for which it is repeated if the server is busy. */
void rr_v4_slot_send(struct rr_v4_slot *slot, const struct rr_v4_work *work);

/* Moves a call from its list to v4->ending, so that it ends with this error in a later turn of the loop; with
 * the error 0, its result has a status already. */
void rr_v4_end_later(struct rr_v4 *v4, struct rr_call *outer, int error);

/* Empties the caller's result, and sets its status. */
void rr_v4_set_status(struct rr_call *outer, nfsstat4 status);

/* Tells whether the status means that the session does not exist any more, or is out of step with this
 * client. */
bool rr_v4_session_is_lost(nfsstat4 status);

/* ---- waiting.c: calls that need an open file ---- */

enum rr_v4_wait {
	RR_V4_WAIT_NOT,  /* slot->open is set, if the work needs access */
	RR_V4_WAIT_OPEN, /* the call waits in the list of the open that it needs (open->waiters) */
	RR_V4_WAIT_FULL  /* the call is the first of the queue again: a file is to be closed before */
};

/* Called when the caller's call outer has just left the queue, to be sent in the slot: finds out whether the
 * call needs an open file, and whether it must wait until the file is open. If the call must wait, this
 * function puts it into a list (as the result says), and either frees the slot, or uses the slot to open or
 * close a file. If the call need not wait, it is in no list, and the slot is the call's. */
enum rr_v4_wait rr_v4_wait_open(
	struct rr_v4_slot *slot, struct rr_call *outer, const struct rr_v4_work *work);

/* Closes the files that rr_v4_open_to_close() names, until it names none or no slot is free. An open that the
 * server has forgotten needs no CLOSE, and is only removed from the table. */
void rr_v4_close_idle(struct rr_v4 *v4, uint32_t keep, uint64_t before);

/* ---- steps.c: the COMPOUNDs that make and end a session ---- */

extern const struct rr_v4_work rr_v4_exchange_step, rr_v4_create_step, rr_v4_reclaim_step,
	rr_v4_complete_step, rr_v4_close_step, rr_v4_destroy_step, rr_v4_forget_step;

/* ---- session.c ---- */

/* The events of a session: a call needs it; the work of the state is done; the session is lost; the server
 * has forgotten the client ID, or all opens; this client leaves the server; the work has failed. */
enum rr_v4_event { RR_V4_START, RR_V4_OK, RR_V4_LOST, RR_V4_STALE, RR_V4_LEAVE, RR_V4_FAILED, RR_V4_EVENTS };

/* Prepares the timers of the session, and begins the regular ticks, which renew the lease and close idle
 * files. */
void rr_v4_session_init(struct rr_v4 *v4);

/* Passes an event to the state machine of the session, which enters the next state and acts on it. An event
 * that the present state does not list ends the attempt: the state becomes RR_V4_IDLE. */
void rr_v4_event(struct rr_v4 *v4, enum rr_v4_event event);

#endif
