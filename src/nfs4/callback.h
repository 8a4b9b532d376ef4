/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_CALLBACK_H
#define RR_NFS4_CALLBACK_H

#include "base/list.h"
#include "ulb/nfs42.h"

struct rr_nfs4_client;
struct rr_nfs4_conn;
struct rr_nfs4_session;
struct rr_nfs4_sessions;

/*
 * Calls to clients: which session, slot and connection a callback takes, and what becomes of it: RFC 8881,
 * sections 2.10.6.1 and 20.9. Pure, like client.h: server_callback.c makes the calls.
 *
 * Who owns what: a callback is a member of what it is about, its owner, which must stay until the callback is
 * idle again. The callback holds the session whose slot it has. A callback whose connection was lost keeps
 * its slot, and is sent again with the same sequence ID over the next connection: the client may have seen
 * it.
 */

enum rr_nfs4_callback_phase {
	RR_NFS4_CALLBACK_IDLE,
	RR_NFS4_CALLBACK_QUEUED, /* waits for a connection, a slot, or its time */
	RR_NFS4_CALLBACK_OUT,    /* given to send(); the thread of the connection has it */
	RR_NFS4_CALLBACK_PHASES
};

struct rr_nfs4_callback;

struct rr_nfs4_callback_kind {
	/* Writes the operation. The memory that op points to stays as long as the callback is out. NULL:
	 * the callback is CB_NULL, which has no session's slot. */
	void (*put)(struct rr_nfs4_callback *callback, nfs_cb_argop4 *op);
	/* The client has answered its operation so. True: the callback is to be sent again after a while. */
	bool (*answered)(struct rr_nfs4_callback *callback, nfsstat4 status);
	/* The callback is idle: it was answered, or cancelled, or there is no session for it any more. */
	void (*ended)(struct rr_nfs4_callback *callback);
};

struct rr_nfs4_callback {
	const struct rr_nfs4_callback_kind *kind;
	enum rr_nfs4_callback_phase phase;
	struct rr_list link; /* QUEUED: in the sessions' callbacks; OUT: send()'s */
	struct rr_nfs4_sessions *sessions;
	struct rr_nfs4_client *client;   /* held */
	struct rr_nfs4_session *session; /* held; NULL: it has no slot yet */
	uint32_t slot;
	struct rr_nfs4_conn *conn; /* OUT: over which it goes */
	uint64_t not_before;
	bool cancelled; /* its owner does not need it any more */
};

/* Queues the callback, if it is idle. */
void rr_nfs4_callback_queue(struct rr_nfs4_callback *callback, const struct rr_nfs4_callback_kind *kind,
	struct rr_nfs4_sessions *sessions, struct rr_nfs4_client *client);

/* Its owner does not need it any more: ended() comes, at once or later. */
void rr_nfs4_callback_cancel(struct rr_nfs4_callback *callback);

/* Gives to send() what can be sent by now. */
void rr_nfs4_callbacks_go(struct rr_nfs4_sessions *sessions, uint64_t now);

/* ---- of a callback that is out ---- */

/* It could not be sent, or its connection has ended. */
void rr_nfs4_callback_lost(struct rr_nfs4_callback *callback);
/* The call has failed though its connection is there: no callback goes over that connection any more. */
void rr_nfs4_callback_failed(struct rr_nfs4_callback *callback);
/* The call was answered; res: NULL for CB_NULL. */
void rr_nfs4_callback_answered(struct rr_nfs4_callback *callback, const CB_COMPOUND4res *res, uint64_t now);

/* The arguments of CB_SEQUENCE. */
void rr_nfs4_callback_sequence(const struct rr_nfs4_callback *callback, CB_SEQUENCE4args *args);

/* ---- of sessions ---- */

/* The session is bound to a connection for callbacks: finds out whether the client answers them. */
void rr_nfs4_back_probe(struct rr_nfs4_session *session, uint64_t now);

/* Whether callbacks reach the client: one of its sessions has answered one over the connection it has now. */
bool rr_nfs4_back_works(const struct rr_nfs4_client *client);

/* session.c's: the session has ended, and the callbacks that had a slot of it may take another session. */
void rr_nfs4_callbacks_leave(struct rr_nfs4_sessions *sessions, struct rr_nfs4_session *session);

/* The client has ended, and its sessions have: nothing waits for it any more. */
void rr_nfs4_callbacks_end(struct rr_nfs4_sessions *sessions, const struct rr_nfs4_client *client);

#endif
