/* SPDX-License-Identifier: BSD-3-Clause */
/* SEQUENCE: the slots of a session, with the cached replies. RFC 8881, sections 2.10.6.1 and 18.46. */
#include "server/nfs4/tables/slot.h"

#include <string.h>

/*
 * A slot has the sequence ID of its last call and the reply to that call. The memory of a cached reply stays
 * with the slot, for the next reply; session.c has reserved as much as all slots may take.
 */
enum slot_state { SLOT_UNUSED, SLOT_BUSY, SLOT_DONE, SLOT_STATES };
enum slot_event { SLOT_BEGIN, SLOT_END, SLOT_EVENTS };

struct rr_nfs4_slot {
	enum slot_state state;
	sequenceid4 sequence;
	uint64_t digest;
	SEQUENCE4resok ok;
	bool cached; /* `reply` has the reply to the last call */
	uint8_t *reply;
	uint32_t length, size; /* octets of the reply; octets of the memory that `reply` points to */
};

static const enum slot_state slot_next[SLOT_STATES][SLOT_EVENTS] = {
	[SLOT_UNUSED] = { SLOT_BUSY, SLOT_UNUSED },
	[SLOT_BUSY] = { SLOT_BUSY, SLOT_DONE },
	[SLOT_DONE] = { SLOT_BUSY, SLOT_DONE },
};

static void
slot_set_state(struct rr_nfs4_slot *slot, enum slot_event event)
{
	slot->state = slot_next[slot->state][event];
}

uint32_t
rr_nfs4_slot_cost(const channel_attrs4 *fore)
{
	return (uint32_t)sizeof(struct rr_nfs4_slot) + fore->ca_maxresponsesize_cached;
}

bool
rr_nfs4_slots_make(struct rr_nfs4_session *session, const struct rr_env *env)
{
	session->slots = rr_alloc_array(env, session->fore.ca_maxrequests, sizeof(*session->slots));
	return session->slots != NULL;
}

void
rr_nfs4_slots_free(struct rr_nfs4_session *session)
{
	const struct rr_env *env = session->client->table->env;

	for (uint32_t i = 0; i < session->fore.ca_maxrequests; i++)
		rr_free(env, session->slots[i].reply);
	rr_free(env, session->slots);
}

bool
rr_nfs4_slot_is_last(const struct rr_nfs4_session *session, slotid4 slot, sequenceid4 sequence)
{
	return session->slots[slot].sequence == sequence;
}

/* Tells whether any session of the client has a connection for callbacks. */
static bool
client_has_back(const struct rr_nfs4_client *client)
{
	rr_list_for_each (link, &client->sessions) {
		if (rr_container(link, struct rr_nfs4_session, of_client)->back_count > 0)
			return true;
	}
	return false;
}

/*
 * Returns the flags of SEQUENCE's result. SEQ4_STATUS_CB_PATH_DOWN is set for a client that asked for a
 * backchannel and has no connection for one, not for a client that never asked.
 * SEQ4_STATUS_RESTART_RECLAIM_NEEDED is never set: no session outlives a restart of the server, so a client
 * learns of the restart by NFS4ERR_BADSESSION.
 */
uint32_t
rr_nfs4_status_flags(const struct rr_nfs4_session *session)
{
	uint32_t flags = session->client->status_flags;

	if (session->wants_back && session->back_count == 0) {
		flags |= SEQ4_STATUS_CB_PATH_DOWN_SESSION;
		if (!client_has_back(session->client))
			flags |= SEQ4_STATUS_CB_PATH_DOWN;
	}
	if (session->cb_fault)
		flags |= SEQ4_STATUS_BACKCHANNEL_FAULT;
	return flags;
}

/* Fills the result of a SEQUENCE. */
static void
slot_result(const struct rr_nfs4_session *session, const SEQUENCE4args *args, SEQUENCE4resok *ok)
{
	memcpy(ok->sr_sessionid, session->id, sizeof(ok->sr_sessionid));
	ok->sr_sequenceid = args->sa_sequenceid;
	ok->sr_slotid = args->sa_slotid;
	ok->sr_highest_slotid = ok->sr_target_highest_slotid = session->fore.ca_maxrequests - 1;
	ok->sr_status_flags = rr_nfs4_status_flags(session);
}

/* Checks, before any slot is changed, that the session has the slots sa_slotid and sa_highest_slotid. Returns
 * NFS4ERR_BADSLOT or NFS4ERR_BAD_HIGH_SLOT if it does not. */
static nfsstat4
slot_check_call(const struct rr_nfs4_session *session, const struct rr_nfs4_call *call)
{
	const SEQUENCE4args *args = call->args;

	if (args->sa_slotid >= session->fore.ca_maxrequests)
		return NFS4ERR_BADSLOT;
	if (args->sa_highest_slotid >= session->fore.ca_maxrequests)
		return NFS4ERR_BAD_HIGH_SLOT;
	return NFS4_OK;
}

/* Handles a call that repeats the sequence ID of its slot. *turn gets the cached reply, or says that the
 * reply was not cached. Returns NFS4ERR_DELAY if the first call is still under way. RFC 8881, 18.46.3: "If
 * sa_sequenceid and the cached sequence ID are the same, this is a retry". */
static nfsstat4
slot_retry(const struct rr_nfs4_slot *slot, const struct rr_nfs4_call *call, struct rr_nfs4_turn *turn)
{
	/* The slot has had no call yet: its sequence ID 0 belongs to no call that could be repeated. */
	if (slot->state == SLOT_UNUSED)
		return NFS4ERR_SEQ_MISORDERED;
	/* RFC 8881, 2.10.6.1.3.1: "If the replier determines the users are different between the original
	 * request and a retry, then the replier MUST return NFS4ERR_SEQ_FALSE_RETRY." */
	if (slot->digest != call->digest)
		return NFS4ERR_SEQ_FALSE_RETRY;
	/* RFC 8881, 2.10.6.2: the original request is still in progress. */
	if (slot->state == SLOT_BUSY) {
		turn->kind = RR_NFS4_UNDER_WAY;
		return NFS4ERR_DELAY;
	}
	turn->kind = slot->cached ? RR_NFS4_REPLAY : RR_NFS4_UNCACHED;
	turn->ok = slot->ok;
	turn->reply = slot->reply;
	turn->reply_length = slot->length;
	return NFS4_OK;
}

/* Takes the slot for a new call, or handles a retry; *turn says what is to be done with the call. A new call
 * has the sequence ID behind that of the last call, and its request and reply keep the limits of the session.
 * Any other call gets an error, and the slot is unchanged. */
static nfsstat4
slot_begin(struct rr_nfs4_session *session, const struct rr_nfs4_call *call, struct rr_nfs4_turn *turn)
{
	struct rr_nfs4_slot *slot = &session->slots[call->args->sa_slotid];

	if (call->args->sa_sequenceid == slot->sequence)
		return slot_retry(slot, call, turn);
	if (call->args->sa_sequenceid != slot->sequence + 1)
		return NFS4ERR_SEQ_MISORDERED;
	/* The client has not waited for its answer: its former call still uses the slot. */
	if (slot->state == SLOT_BUSY)
		return NFS4ERR_SEQ_MISORDERED;
	/* RFC 8881, 2.10.6.4: for a request that is too large, "the replier ... MUST NOT" touch the slot. */
	if (call->operations > session->fore.ca_maxoperations)
		return NFS4ERR_TOO_MANY_OPS;
	if (call->size > session->fore.ca_maxrequestsize)
		return NFS4ERR_REQ_TOO_BIG;
	if (call->least > session->fore.ca_maxresponsesize)
		return NFS4ERR_REP_TOO_BIG;
	if (call->args->sa_cachethis && call->least > session->fore.ca_maxresponsesize_cached)
		return NFS4ERR_REP_TOO_BIG_TO_CACHE;
	slot_set_state(slot, SLOT_BEGIN);
	slot->sequence++;
	slot->digest = call->digest;
	slot->cached = false;
	slot->length = 0;
	slot_result(session, call->args, &slot->ok);
	turn->kind = RR_NFS4_NEW;
	turn->ok = slot->ok;
	turn->slot = call->args->sa_slotid;
	turn->cache = call->args->sa_cachethis;
	turn->session = rr_nfs4_session_hold(session);
	session->busy++;
	return NFS4_OK;
}

nfsstat4
rr_nfs4_sequence_begin(
	struct rr_nfs4_sessions *sessions, const struct rr_nfs4_call *call, struct rr_nfs4_turn *turn)
{
	struct rr_nfs4_session *session = rr_nfs4_session_find(sessions, call->args->sa_sessionid);
	nfsstat4 status;

	*turn = (struct rr_nfs4_turn){ 0 };
	if (!session)
		return NFS4ERR_BADSESSION;
	/* RFC 8881, 15.1.11.6: "A Sequence operation was sent on a connection that has not been associated
	 * with the specified session, where the client specified that connection association was to be
	 * enforced with SP4_MACH_CRED or SP4_SSV state protection." */
	if (session->client->machine && rr_nfs4_bound(session, call->conn) == 0)
		return NFS4ERR_CONN_NOT_BOUND_TO_SESSION;
	status = slot_check_call(session, call);
	if (status == NFS4_OK)
		status = slot_begin(session, call, turn);
	if (status != NFS4_OK)
		return status;
	/* RFC 8881, 18.34.3: "simply sending a COMPOUND request with a SEQUENCE operation is sufficient to
	 * associate the connection with the session" */
	if (rr_nfs4_bound(session, call->conn) == 0)
		rr_nfs4_bind(session, call->conn, RR_NFS4_FORE);
	session->used = true;
	rr_nfs4_client_renew(session->client, call->now);
	return NFS4_OK;
}

/* Keeps a copy of the reply in the slot, in the memory of an earlier reply if that is large enough. If there
 * is no memory, the slot has no cached reply. */
static void
slot_remember(struct rr_nfs4_slot *slot, const struct rr_env *env, const void *reply, uint32_t length)
{
	uint8_t *memory = slot->reply;

	if (length > slot->size)
		memory = env->realloc(env->ctx, slot->reply, length);
	if (!memory)
		return;
	if (length > slot->size)
		slot->size = length;
	slot->reply = memcpy(memory, reply, length);
	slot->length = length;
	slot->cached = true;
}

void
rr_nfs4_sequence_end(struct rr_nfs4_turn *turn, const void *reply, uint32_t length)
{
	struct rr_nfs4_session *session = turn->session;
	struct rr_nfs4_slot *slot = &session->slots[turn->slot];

	turn->session = NULL;
	slot_set_state(slot, SLOT_END);
	if (reply && length <= session->fore.ca_maxresponsesize_cached)
		slot_remember(slot, session->client->table->env, reply, length);
	session->busy--;
	rr_nfs4_session_release(session);
}
