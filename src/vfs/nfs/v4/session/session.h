/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_VFS_NFS_V4_SESSION_SESSION_H
#define RR_VFS_NFS_V4_SESSION_SESSION_H

#include "vfs/nfs/v4/session/open.h"
#include "vfs/nfs/v4/session/v4.h"

/*
 * The words: a session, its slots, the sequence ID of a slot and a stateid are those of RFC 8881. An open is
 * a file that this client has opened at the server, or is about to. A procedure is what the caller calls, a
 * number in the table of works of its struct rr_v4_config. The caller's call ("outer") is carried out by the
 * call that a slot makes: a COMPOUND.
 *
 * struct rr_v4 owns its slots and its opens; their memory is a part of it. A call of the caller is in one
 * place at a time: v4->queue, the list of an open that is being made, a slot, or v4->ending. The list link
 * and the timer of struct rr_call, which the RPC client uses for the calls that it makes itself, hold it
 * there: the RPC client never sees the caller's call, only the slot's.
 *
 * Calls inside this folder go down: v4.c, session.c, dispatch.c, waiting.c, open.c, opening.c, compound.c.
 * Calls up go through struct rr_v4_work.
 */

enum {
	RR_V4_RETRIES = 16, /* how often one call is made again in a new session, or with a new open */
	RR_V4_SESSIONS =
		16, /* attempts at a client ID or a session, one after the other, while no call succeeded */
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
	RR_V4_BINDING,    /* BIND_CONN_TO_SESSION, for another connection */
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
	/* SP4_MACH_CRED: the client has asked for it; the server has refused; the server wants more
	 * operations protected than those without a SEQUENCE. */
	bool asks_machine, bare, guards_all;
	struct rpcrdma_client *unbound; /* the member client of a call whose connection is to be bound */
	sequenceid4 create_sequence;    /* of the next CREATE_SESSION */
	sessionid4 session;
	uint32_t generation, fruitless; /* sessions made so far; attempts since the last success */
	uint32_t slots, request_max, reply_max, operations; /* of the session; operations of a COMPOUND */
	uint32_t message; /* octets of the largest message that this client can send or receive */
	sequenceid4 sequence[RR_V4_SLOTS]; /* the sequence ID that was used last, of each slot */
	uint64_t until;          /* the time from which a busy server is not asked again for a session */
	bool lease_known;        /* the server has said how long its lease lasts */
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

/* Empties the result of the caller's call, which is of this work, and sets its status. */
void rr_v4_set_status(struct rr_call *outer, const struct rr_v4_work *work, nfsstat4 status);

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

extern const struct rr_v4_work rr_v4_exchange_step, rr_v4_create_step, rr_v4_bind_step, rr_v4_reclaim_step,
	rr_v4_complete_step, rr_v4_close_step, rr_v4_destroy_step, rr_v4_forget_step;

/* ---- session.c ---- */

/* The events of a session: a call needs it; the work of the state is done; the session is lost; the server
 * has forgotten the client ID, or all opens; the connection is not bound to the session; this client leaves
 * the server; the work has failed. */
enum rr_v4_event {
	RR_V4_START,
	RR_V4_OK,
	RR_V4_LOST,
	RR_V4_STALE,
	RR_V4_UNBOUND,
	RR_V4_LEAVE,
	RR_V4_FAILED,
	RR_V4_EVENTS
};

/* Notes how long the lease lasts, if that is among the attributes that the server sent. */
void rr_v4_note_lease(struct rr_v4 *v4, const struct rr_attr_values *values);

/* Prepares the timers of the session, and begins the regular ticks, which renew the lease and close idle
 * files. */
void rr_v4_session_init(struct rr_v4 *v4);

/* Passes an event to the state machine of the session, which enters the next state and acts on it. An event
 * that the present state does not list ends the attempt: the state becomes RR_V4_IDLE. */
void rr_v4_event(struct rr_v4 *v4, enum rr_v4_event event);

#endif
