/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS_V4_PRIVATE_H
#define RR_NFS_V4_PRIVATE_H

#include "nfs/v4/newer.h"
#include "nfs/v4/v4.h"
#include "ulb/nfs3.h"
#include "ulb/nfs42.h"

/*
 * Who owns what: struct rr_v4 owns its slots and its opens; both have their memory from the beginning. A call
 * of the caller is in one place at a time: v4->queue, the list of an open that is being made, a slot, or
 * v4->ending. The list link and the timer of struct rr_call, which the RPC client uses for the calls that it
 * makes itself, hold it there: the RPC client never sees the caller's call, only the slot's.
 *
 * Calls inside this folder go down: v4.c, session.c, dispatch.c, open.c, proc_*.c, compound.c, attr.c. Calls
 * up go through struct rr_v4_work.
 */

enum {
	RR_V4_SLOTS = 64,
	RR_V4_OPS = 12,
	RR_V4_PUT_OPS = 11,    /* of RR_V4_PUT */
	RR_V4_OPENS = 160,     /* files that are open at a time: `rpcrdma cp` has 128 under way */
	RR_V4_OPENS_IDLE = 16, /* of these, files that nothing is read from or written to */
	RR_V4_RETRIES = 16,    /* how often one call is made again in a new session, or with a new open */
	RR_V4_SESSIONS =
		16,     /* attempts at a client ID or a session, in a row, after which no call succeeded */
	RR_V4_WORDS = 3 /* of a bitmap of attributes */
};

/* ---- attr.c ---- */

/* What a server said of an object. */
struct rr_v4_attributes {
	uint32_t have[RR_V4_WORDS]; /* which of them it said */
	fattr3 attributes;
	struct rpcrdma_bytes handle;
	uint32_t error; /* rdattr_error */
	uint32_t lease;
	uint64_t mounted_on, read_max, write_max, file_max;
	uint64_t space_total, space_free, space_avail, files_total, files_free, files_avail;
};

extern const bitmap4 rr_v4_attr_object; /* all that fattr3 has */
extern const bitmap4 rr_v4_attr_entry;  /* and what a directory says of its entries */
extern const bitmap4 rr_v4_attr_limits, rr_v4_attr_space;

bool rr_v4_attr_in(const uint32_t have[RR_V4_WORDS], uint32_t number);

/* Takes what was answered. False where that is broken, or more than was asked for. */
bool rr_v4_attr_take(const fattr4 *given, const bitmap4 *asked, struct rr_v4_attributes *taken);

enum { RR_V4_VALUES = 128 };

/* Attributes to be set, as version 4 has them. words and values are what fattr4 then refers to. */
fattr4 rr_v4_attr_set(const sattr3 *attributes, uint32_t words[RR_V4_WORDS], uint8_t values[RR_V4_VALUES]);

/* ---- opens ---- */

enum rr_v4_open_state {
	RR_V4_OPEN_FREE,
	RR_V4_OPEN_MAKING, /* OPEN is under way: calls wait */
	RR_V4_OPEN_READY,
	RR_V4_OPEN_LOST,    /* the server forgot it: to be made again when it is needed */
	RR_V4_OPEN_RECLAIM, /* the server restarted: to be reclaimed in its grace period */
	RR_V4_OPEN_CLOSING
};

struct rr_v4_open {
	struct rr_list link; /* in v4->opens, the last used one first; or in v4->open_free */
	enum rr_v4_open_state state;
	uint32_t access, wanted; /* what it is open for; what OPEN is under way for */
	uint32_t users;          /* calls in slots that use its stateid */
	uint64_t used;           /* when it was last used */
	stateid4 stateid, delegation;
	bool has_delegation;
	bool once;              /* of another owner: for no call, and to be closed */
	struct rr_list waiters; /* struct rr_call */
	uint8_t handle[NFS4_FHSIZE];
	uint32_t handle_length;
};

/* ---- slots ---- */

struct rr_v4_slot;

/* What goes into a slot: a procedure of the caller's, or a work of the session's own. */
struct rr_v4_work {
	/* Appends the operations. */
	void (*build)(struct rr_v4_slot *slot);
	/* All operations succeeded: 0, or a negative error. Of a procedure: fills in the caller's result. */
	int (*take)(struct rr_v4_slot *slot);
	/* Of a procedure, or NULL: an operation was refused, slot->result has the results up to that one. */
	void (*fail)(struct rr_v4_slot *slot);
	/* Of the session's own: it is over, by a negative error, a status, or 0 from take(). */
	void (*end)(struct rr_v4_slot *slot, int error);
	uint32_t access; /* the OPEN4_SHARE_ACCESS_... that the file must be open with; 0: none */
	bool makes;      /* it opens a file that is not in the table of opens */
	bool changes;    /* it is not idempotent: the server is to keep its reply */
	bool alone;      /* without SEQUENCE */
};

struct rr_v4_slot {
	struct rr_v4 *v4;
	uint32_t number, generation; /* of the session that its call was sent in */
	bool busy;
	const struct rr_v4_work *work;
	struct rr_call *outer; /* the caller's; NULL for the session's own */
	struct rr_v4_open *open;
	uint32_t kept; /* octets used of the caller's memory for results */
	uint32_t reply_max;
	uint32_t misordered;   /* answers NFS4ERR_SEQ_MISORDERED to its call */
	uint64_t until;        /* when a server that asks to come back later is no longer asked */
	struct rr_timer later; /* until it is asked again */
	struct rr_call call;
	COMPOUND4args args;
	COMPOUND4res result;
	nfs_argop4 ops[RR_V4_OPS];
	uint32_t words[RR_V4_WORDS];
	uint8_t values[RR_V4_VALUES];
	char owner[24];  /* of an open that the COMPOUND closes itself */
	uint8_t size[8]; /* that a file is to have */
	uint8_t arena[8192] __attribute__((aligned(16)));
};

/* Which server it is: RFC 8881, 2.10.4. */
struct rr_v4_server {
	uint32_t major_length, scope_length; /* major_length 0: the server did not say */
	uint8_t major[NFS4_OPAQUE_LIMIT], scope[NFS4_OPAQUE_LIMIT];
};

enum rr_v4_state {
	RR_V4_IDLE, /* there is no session, and nothing asks for one */
	RR_V4_EXCHANGING,
	RR_V4_CREATING,
	RR_V4_RECLAIMING,
	RR_V4_COMPLETING,
	RR_V4_READY,
	RR_V4_CLOSING,
	RR_V4_DESTROYING,
	RR_V4_FORGETTING,
	RR_V4_STATES
};

struct rr_v4 {
	struct rr_v4_config config;
	const struct rr_env *env;
	struct rr_loop *loop;
	struct rr_text text;
	enum rr_v4_state state;
	int error; /* why it is RR_V4_IDLE */

	/* The client and its session. */
	uint8_t owner[128];
	uint32_t owner_length;
	verifier4 verifier;
	clientid4 clientid;
	struct rr_v4_server server;
	sequenceid4 create_sequence;
	sessionid4 session;
	uint32_t generation, fruitless; /* sessions that were made; attempts since the last success */
	uint32_t slots, request_max, reply_max, operations; /* of a COMPOUND */
	uint32_t message;                  /* octets of the largest message that this side carries */
	sequenceid4 sequence[RR_V4_SLOTS]; /* that was used last */
	uint64_t until;                    /* when a server that asks to come back later is no longer asked */
	uint64_t lease, renewed;
	struct rr_timer renewal;

	bool *gone; /* while a caller's done() runs: set to true where it ends this client; else NULL */
	uint64_t free, doubt; /* bits: slots that are free; slots whose last call was given up */
	uint32_t highest;     /* the highest slot that the server wants to be used */
	struct rr_list queue, ending;
	struct rr_timer ends;

	struct rr_list opens, open_free;
	uint32_t open_count, making; /* entries in opens; calls in slots that will make one more each */
	struct rr_v4_open open[RR_V4_OPENS];
	struct rr_v4_slot control;
	struct rr_v4_slot slot[RR_V4_SLOTS];
};

/* ---- compound.c ---- */

/* Appends an operation, whose result has at most so many octets behind its number and its status. */
nfs_argop4 *rr_v4_op(struct rr_v4_slot *slot, nfs_opnum4 op, uint32_t result_max);

void rr_v4_putfh(struct rr_v4_slot *slot, struct rpcrdma_bytes handle);
void rr_v4_getattr(struct rr_v4_slot *slot, const bitmap4 *asked);

/* The result of the last operation of this number. */
const nfs_resop4 *rr_v4_res(const struct rr_v4_slot *slot, nfs_opnum4 op);

/* What the last GETATTR answered; asked as it was in the call. */
bool rr_v4_res_attributes(
	const struct rr_v4_slot *slot, const bitmap4 *asked, struct rr_v4_attributes *attributes);

/* Begins a COMPOUND, with a SEQUENCE unless the work is alone, and sends what the work builds. */
void rr_v4_send(struct rr_v4_slot *slot, void (*done)(struct rr_call *call, int error));

/* Whether the reply is one to the call: as many results as there can be, of these operations, in this slot.
 * Then status is that of the operation that failed, in_sequence where that is SEQUENCE. */
bool rr_v4_reply_is_sound(const struct rr_v4_slot *slot);
bool rr_v4_failed_in_sequence(const struct rr_v4_slot *slot);

/* ---- proc_*.c: the procedures ---- */

extern const struct rr_v4_work *const rr_v4_procedures[]; /* NULL: there is no such thing in version 4 */
extern const uint32_t rr_v4_procedure_count;

extern const struct rr_v4_work rr_v4_getattr3, rr_v4_setattr3, rr_v4_lookup3, rr_v4_access3, rr_v4_readlink3,
	rr_v4_read3, rr_v4_write3, rr_v4_create3, rr_v4_mkdir3, rr_v4_symlink3, rr_v4_remove3, rr_v4_rmdir3,
	rr_v4_rename3, rr_v4_link3, rr_v4_readdir3, rr_v4_readdirplus3, rr_v4_fsstat3, rr_v4_fsinfo3,
	rr_v4_commit3, rr_v4_walk, rr_v4_read_once, rr_v4_put, rr_v4_seek, rr_v4_copy, rr_v4_clone,
	rr_v4_getxattr, rr_v4_setxattr, rr_v4_removexattr, rr_v4_listxattrs;

/* Octets of the C type that the procedure's results have. */
size_t rr_v4_result_size(uint32_t proc);

/* Appends GETFH and GETATTR; takes what they answered. */
void rr_v4_find(struct rr_v4_slot *slot);
int rr_v4_found(struct rr_v4_slot *slot, nfs_fh3 *handle, post_op_attr *attributes);

/* Appends the READ that the caller's arguments describe; takes what it answered. */
void rr_v4_read_op(struct rr_v4_slot *slot, stateid4 stateid);
int rr_v4_read_take(struct rr_v4_slot *slot);

/* Octets of a result that live as long as the caller's call says: an error LIMIT where there is no room. */
int rr_v4_keep(struct rr_v4_slot *slot, struct rpcrdma_bytes *bytes);

/* Sets the error text; returns PEER. */
int rr_v4_broken(struct rr_v4 *v4, const char *what);

/* ---- open.c: the table of opens ---- */

void rr_v4_opens_init(struct rr_v4 *v4);

/* The open of a file; NULL: there is none. */
struct rr_v4_open *rr_v4_open_find(struct rr_v4 *v4, struct rpcrdma_bytes handle);

/* True where there is room for one more than the calls in slots will take. */
bool rr_v4_open_has_room(const struct rr_v4 *v4);

/* A new one, in RR_V4_OPEN_LOST. NULL: all are in use. */
struct rr_v4_open *rr_v4_open_new(struct rr_v4 *v4, struct rpcrdma_bytes handle);

/* Notes what an OPEN for access answered. */
void rr_v4_open_take(struct rr_v4 *v4, struct rr_v4_open *open, const OPEN4resok *answered, uint32_t access);

/* Counts a user of a stateid that is good for access; false where it is not. */
bool rr_v4_open_begin_use(struct rr_v4 *v4, struct rr_v4_open *open, uint32_t access);

void rr_v4_open_forget(struct rr_v4 *v4, struct rr_v4_open *open);

/* The open file to close next: the one that was not used for the longest time, if more than keep open
 * files are idle, or if its last use was before the given time. NULL: no file is to be closed. */
struct rr_v4_open *rr_v4_open_to_close(struct rr_v4 *v4, uint32_t keep, uint64_t before);

/* Some open in this state; NULL: there is none. */
struct rr_v4_open *rr_v4_open_in(struct rr_v4 *v4, enum rr_v4_open_state state);

void rr_v4_opens_reclaim(struct rr_v4 *v4);
void rr_v4_open_lose(struct rr_v4_open *open);

/* Fills in what all OPENs of this client have in common. */
void rr_v4_open_owner(struct rr_v4_slot *slot, OPEN4args *args, uint32_t access);

/* ---- proc_open.c: OPEN and CLOSE of slot->open ---- */

/* A delegation to write is the largest of the results that OPEN may have. */
enum { RR_V4_OPEN_MAX = 16 + 20 + 4 + (4 + 16) + 4 + (16 + 4 + 12 + 12 + 4 + 256) };

void rr_v4_open_build(struct rr_v4_slot *slot);
int rr_v4_opened(struct rr_v4_slot *slot);
void rr_v4_close_build(struct rr_v4_slot *slot);
int rr_v4_nothing_take(struct rr_v4_slot *slot);

/* ---- slots.c ---- */

/* A bit for each slot of the session that there is, which has at least one and at most 64. */
uint64_t rr_v4_slots_of(const struct rr_v4 *v4);

/* A slot for a call; NULL: there is none now. */
struct rr_v4_slot *rr_v4_slot_get(struct rr_v4 *v4);
void rr_v4_slot_put(struct rr_v4_slot *slot);

/* The caller's call does not use its open files any more. */
void rr_v4_slot_end_use(struct rr_v4_slot *slot);

/* What the server did with the call in it is not known. */
void rr_v4_slot_doubt(struct rr_v4_slot *slot);

/* The call in it ends without done(). */
void rr_v4_slot_give_up(struct rr_v4_slot *slot);

/* ---- dispatch.c: calls into slots ---- */

/* Sends what can be sent. */
void rr_v4_pump(struct rr_v4 *v4);

void rr_v4_slot_later(struct rr_timer *timer);
void rr_v4_slot_send(struct rr_v4_slot *slot, const struct rr_v4_work *work);

/* Ends a call from the loop, some time later. */
void rr_v4_end_later(struct rr_v4 *v4, struct rr_call *outer, int error);

/* Makes the caller's result one of this status. */
void rr_v4_set_status(struct rr_call *outer, nfsstat4 status);

/* The session does not exist any more, or is in a state that this side does not understand. */
bool rr_v4_session_is_lost(nfsstat4 status);

/* ---- waiting.c: calls that need an open file ---- */

enum rr_v4_wait {
	RR_V4_WAIT_NOT,  /* slot->open is set, if the work has access */
	RR_V4_WAIT_OPEN, /* the call is with the open that it needs */
	RR_V4_WAIT_FULL  /* the call is the first of the queue: another file is to be closed before */
};

/* A call wants to use a slot; where it waits, the slot is free again, or has other work. */
enum rr_v4_wait rr_v4_wait_open(
	struct rr_v4_slot *slot, struct rr_call *outer, const struct rr_v4_work *work);

/* Closes files that nothing was read from or written to for a while. */
void rr_v4_close_idle(struct rr_v4 *v4, uint32_t keep, uint64_t before);

/* ---- steps.c: the COMPOUNDs that make a session, and end it ---- */

extern const struct rr_v4_work rr_v4_exchange_step, rr_v4_create_step, rr_v4_reclaim_step,
	rr_v4_complete_step, rr_v4_close_step, rr_v4_destroy_step, rr_v4_forget_step;

/* ---- session.c ---- */

enum rr_v4_event { RR_V4_START, RR_V4_OK, RR_V4_LOST, RR_V4_STALE, RR_V4_LEAVE, RR_V4_FAILED, RR_V4_EVENTS };

void rr_v4_session_init(struct rr_v4 *v4);

/* Something happens to the session. */
void rr_v4_event(struct rr_v4 *v4, enum rr_v4_event event);

#endif
