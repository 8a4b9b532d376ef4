/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_CALLBACK_H
#define RR_SERVER_NFS4_TABLES_CALLBACK_H

#include "base/list.h"
#include "ulb/nfs42.h"

struct rr_nfs4_client;
struct rr_nfs4_conn;
struct rr_nfs4_session;
struct rr_nfs4_sessions;

/*
 * Calls to clients: the session, slot and connection that a callback takes, and its way to its end: RFC 8881,
 * sections 2.10.6.1 and 20.9. No function here calls the system: server_callback.c makes the calls.
 *
 * Ownership: a callback is a member of its owner, the thing that it is about, which must stay until the
 * callback is idle again. The callback holds the session whose slot it has. A callback whose connection was
 * lost keeps its slot, and is sent again with the same sequence ID over the next connection, as the client
 * may have seen the sequence ID.
 */

enum rr_nfs4_callback_phase {
	RR_NFS4_CALLBACK_IDLE,
	RR_NFS4_CALLBACK_QUEUED, /* waits for a connection, a slot, or its time */
	RR_NFS4_CALLBACK_OUT,    /* given to send(); the thread of the connection has it */
	RR_NFS4_CALLBACK_PHASES
};

struct rr_nfs4_callback;

/* A kind says what a callback sends, and what follows its answer. */
struct rr_nfs4_callback_kind {
	/* Writes the operation. The memory that op points to stays as long as the callback is out. NULL: the
	 * callback is CB_NULL, which has no slot of a session. */
	void (*put)(struct rr_nfs4_callback *callback, nfs_cb_argop4 *op);
	/* The client has answered the callback with this status. True: the callback is to be sent again after
	 * a while. */
	bool (*answered)(struct rr_nfs4_callback *callback, nfsstat4 status);
	/* The callback is idle: it was answered, or cancelled, or there is no session for it any more. */
	void (*ended)(struct rr_nfs4_callback *callback);
};

/* A call of the client, by its session, slot and sequence ID. */
struct rr_nfs4_call_name {
	sessionid4 session;
	slotid4 slot;
	sequenceid4 sequence;
};

/* The memory of the referring call in the arguments of a CB_SEQUENCE. */
struct rr_nfs4_referring {
	referring_call_list4 list;
	referring_call4 call;
};

/* A callback is a call to a client, from the queue to its answer. */
struct rr_nfs4_callback {
	const struct rr_nfs4_callback_kind *kind;
	enum rr_nfs4_callback_phase phase;
	struct rr_list link; /* QUEUED: in a list of the sessions; OUT: for send() to use */
	struct rr_nfs4_sessions *sessions;
	struct rr_nfs4_client *client; /* held */
	/* Held: the session whose slot the callback has; NULL: the callback has no slot yet. A CB_NULL has
	 * the session that it tests here, and no slot. */
	struct rr_nfs4_session *session;
	uint32_t slot;
	struct rr_nfs4_conn *conn; /* OUT: the connection that the callback is sent over */
	/* QUEUED: the callback is not sent before this time. */
	uint64_t not_before;
	bool cancelled; /* the owner does not need the callback any more */
	/* has_origin: the client learns from the answer to the call `origin` what the callback is about. The
	 * owner sets both, before the callback is queued. */
	bool has_origin;
	struct rr_nfs4_call_name origin;
};

/* Puts the callback into the queue, from which rr_nfs4_callbacks_go() sends it. Does nothing if the callback
 * is not idle. */
void rr_nfs4_callback_queue(struct rr_nfs4_callback *callback, const struct rr_nfs4_callback_kind *kind,
	struct rr_nfs4_sessions *sessions, struct rr_nfs4_client *client);

/* Cancels the callback, which its owner does not need any more. ended() is called at once, or later if the
 * callback has a slot. */
void rr_nfs4_callback_cancel(struct rr_nfs4_callback *callback);

/* Gives queued callbacks that can be sent now to sessions->send(), and has the others looked at. It is called
 * when a callback was queued, or something has changed that lets callbacks go; now: the time, or 0 if it is
 * not known. Where very many are queued, rr_nfs4_callbacks_look() goes on. */
void rr_nfs4_callbacks_go(struct rr_nfs4_sessions *sessions, uint64_t now);
/* Looks at queued callbacks, and sends those that can be sent. Reduces *looks, the most of them, by the
 * number of those that it has looked at. */
void rr_nfs4_callbacks_look(struct rr_nfs4_sessions *sessions, uint32_t *looks);

/* ---- Callbacks that are out ---- */

/* Queues the callback again, as it could not be sent, or its connection has ended. */
void rr_nfs4_callback_lost(struct rr_nfs4_callback *callback);
/* Handles a callback whose call failed though its connection is still there: unbinds the connection from the
 * backchannel, so that no more callbacks go over it, and queues the callback again. */
void rr_nfs4_callback_failed(struct rr_nfs4_callback *callback);
/* Handles the answer of the client to the callback. res: the answer; NULL if the callback is CB_NULL. */
void rr_nfs4_callback_answered(struct rr_nfs4_callback *callback, const CB_COMPOUND4res *res, uint64_t now);

/* Fills the arguments of CB_SEQUENCE for the callback. They point to *referring if the callback may come
 * before the answer to its origin. */
void rr_nfs4_callback_sequence(
	const struct rr_nfs4_callback *callback, struct rr_nfs4_referring *referring, CB_SEQUENCE4args *args);

/* ---- Sessions ---- */

/* Sends a CB_NULL to find out whether the client answers callbacks, unless it has answered a callback of this
 * session already. Also sends the queued callbacks that can go now. The caller has just bound the session to
 * a connection for callbacks. answered: the client has answered callbacks of another session over that
 * connection, so the backchannel counts as working even before the answer to the CB_NULL. */
void rr_nfs4_back_probe(struct rr_nfs4_session *session, bool answered, uint64_t now);

/* Tells whether callbacks reach the client: a session of the client has answered a callback over a connection
 * that it still has. */
bool rr_nfs4_back_works(const struct rr_nfs4_client *client);

/* Takes the slots away from the queued callbacks of a session that has ended; these callbacks may then use
 * another session of the client. A callback that is out loses its slot later, when it is queued again.
 * session.c calls this function. */
void rr_nfs4_callbacks_leave(struct rr_nfs4_session *session);

/* Ends all queued callbacks of a client that has ended; its sessions have ended before. A callback that is
 * out ends later, when it was answered or has failed. */
void rr_nfs4_callbacks_end(struct rr_nfs4_sessions *sessions, const struct rr_nfs4_client *client);

#endif
