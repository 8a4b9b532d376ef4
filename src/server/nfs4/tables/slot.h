/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_SERVER_NFS4_TABLES_SLOT_H
#define RR_SERVER_NFS4_TABLES_SLOT_H

#include "server/nfs4/tables/session.h"

/*
 * SEQUENCE, slots, and the cache of replies: RFC 8881, sections 2.10.6.1 and 18.46. No function here calls
 * the system, as in client.h.
 */

/* A COMPOUND that begins with SEQUENCE. */
struct rr_nfs4_call {
	const SEQUENCE4args *args;
	uint64_t digest; /* hash of the operations behind SEQUENCE and of the caller: a retry has the same */
	uint32_t operations; /* with SEQUENCE */
	uint32_t size;       /* octets of the RPC message, with those in chunks */
	uint32_t least;      /* octets of a reply that has the result of SEQUENCE alone */
	struct rr_nfs4_conn *conn;
	uint64_t now;
};

/* What is to be done with a call that begins with SEQUENCE. */
enum rr_nfs4_turn_kind {
	RR_NFS4_NEW,      /* it is executed; rr_nfs4_sequence_end() must follow */
	RR_NFS4_REPLAY,   /* a retry: `reply`, the octets of a COMPOUND4res, is the answer */
	RR_NFS4_UNCACHED, /* the answer is the result of SEQUENCE, and NFS4ERR_RETRY_UNCACHED_REP behind it */
	RR_NFS4_UNDER_WAY /* with NFS4ERR_DELAY: a retry of a call that has not ended yet */
};

/* A turn is the outcome of SEQUENCE: what is to be done with the call. (It is no turn of the event loop.) */
struct rr_nfs4_turn {
	enum rr_nfs4_turn_kind kind;
	struct rr_nfs4_session *session; /* held; NULL except for RR_NFS4_NEW */
	uint32_t slot;
	bool cache; /* sa_cachethis: the client asks for the reply to be kept */
	SEQUENCE4resok ok;
	const void *reply; /* lives until the slot is used again: copy it under the lock */
	uint32_t reply_length;
};

/* Begins a call in its slot, and stores in *turn what is to be done with the call. If this fails, SEQUENCE
 * answers with the error, and the slot is unchanged. If it succeeds, the connection is bound to the session,
 * and the lease of the client is renewed. */
nfsstat4 rr_nfs4_sequence_begin(
	struct rr_nfs4_sessions *sessions, const struct rr_nfs4_call *call, struct rr_nfs4_turn *turn);

/* Ends a call after its compound was executed, and releases the session. reply: the octets of the
 * COMPOUND4res, of which the slot keeps a copy; NULL if it is to keep none. Without a copy, a retry gets
 * NFS4ERR_RETRY_UNCACHED_REP. */
void rr_nfs4_sequence_end(struct rr_nfs4_turn *turn, const void *reply, uint32_t length);

/* Tells whether the slot has had no call after the one with this sequence ID. As long as that is so, the
 * client may not have seen the answer to this call: a client that has seen it may use the slot again. */
bool rr_nfs4_slot_is_last(const struct rr_nfs4_session *session, slotid4 slot, sequenceid4 sequence);

/* Returns the flags SEQ4_STATUS_* of SEQUENCE's result: RFC 8881, 18.46.3. */
uint32_t rr_nfs4_status_flags(const struct rr_nfs4_session *session);

/* Returns the octets that a slot of a session with these attributes takes, with the reply that it keeps. */
uint32_t rr_nfs4_slot_cost(const channel_attrs4 *fore);

/* Make and free the slots of a session, as many as session->fore has; session.c calls these functions. The
 * first one returns false if there is no memory. */
bool rr_nfs4_slots_make(struct rr_nfs4_session *session, const struct rr_env *env);
void rr_nfs4_slots_free(struct rr_nfs4_session *session);

#endif
