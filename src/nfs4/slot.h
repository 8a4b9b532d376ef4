/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_NFS4_SLOT_H
#define RR_NFS4_SLOT_H

#include "nfs4/session.h"

/*
 * SEQUENCE, slots, and the cache of replies: RFC 8881, sections 2.10.6.1 and 18.46. Pure, like client.h.
 */

/* A COMPOUND that begins with SEQUENCE. */
struct rr_nfs4_call {
	const SEQUENCE4args *args;
	uint64_t digest;     /* of the operations behind SEQUENCE and of the caller */
	uint32_t operations; /* SEQUENCE among them */
	uint32_t size;       /* octets of the RPC message, those in chunks too */
	uint32_t least;      /* octets of a reply with the result of SEQUENCE alone */
	struct rr_nfs4_conn *conn;
	uint64_t now;
};

enum rr_nfs4_turn_kind {
	RR_NFS4_NEW,      /* to be executed; rr_nfs4_sequence_end() is due */
	RR_NFS4_REPLAY,   /* reply, the octets of a COMPOUND4res, is the answer */
	RR_NFS4_UNCACHED, /* the result of SEQUENCE is the answer, and NFS4ERR_RETRY_UNCACHED_REP behind it */
	RR_NFS4_UNDER_WAY /* with NFS4ERR_DELAY: a retry of a call that has not ended yet */
};

struct rr_nfs4_turn {
	enum rr_nfs4_turn_kind kind;
	struct rr_nfs4_session *session; /* held; NULL but for RR_NFS4_NEW */
	uint32_t slot;
	bool cache;
	SEQUENCE4resok ok;
	const void *reply; /* lives until the slot is used again: copy it under the lock */
	uint32_t reply_length;
};

/* Errors are SEQUENCE's own: the slot is as it was. */
nfsstat4 rr_nfs4_sequence_begin(
	struct rr_nfs4_sessions *sessions, const struct rr_nfs4_call *call, struct rr_nfs4_turn *turn);

/* The compound has been executed. reply: the octets of its COMPOUND4res, where turn->cache; they are copied.
 * Where there is no memory for a copy, a retry gets NFS4ERR_RETRY_UNCACHED_REP. The session is let go. */
void rr_nfs4_sequence_end(struct rr_nfs4_turn *turn, const void *reply, uint32_t length);

/* The flags of SEQUENCE's result: section 18.46.3. */
uint32_t rr_nfs4_status_flags(const struct rr_nfs4_session *session);

/* session.c's: room for the slots that session->fore has; false: no memory. */
bool rr_nfs4_slots_make(struct rr_nfs4_session *session, const struct rr_env *env);
void rr_nfs4_slots_free(struct rr_nfs4_session *session);

#endif
