/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a callback: the events that move it from phase to phase (the table callback_next), the slot
 * that it takes in a backchannel, and the answers of the client. */
#include <string.h>

#include "server/nfs4/tables/slot.h"

enum callback_event { CALLBACK_QUEUE, CALLBACK_SEND, CALLBACK_RETURN, CALLBACK_END, CALLBACK_EVENTS };

/* Nanoseconds until a callback that the client could not answer yet is sent again. */
#define CALLBACK_AGAIN RR_SECOND

static const enum rr_nfs4_callback_phase callback_next[RR_NFS4_CALLBACK_PHASES][CALLBACK_EVENTS] = {
	[RR_NFS4_CALLBACK_IDLE] = { RR_NFS4_CALLBACK_QUEUED, RR_NFS4_CALLBACK_IDLE, RR_NFS4_CALLBACK_IDLE,
		RR_NFS4_CALLBACK_IDLE },
	[RR_NFS4_CALLBACK_QUEUED] = { RR_NFS4_CALLBACK_QUEUED, RR_NFS4_CALLBACK_OUT, RR_NFS4_CALLBACK_QUEUED,
		RR_NFS4_CALLBACK_IDLE },
	[RR_NFS4_CALLBACK_OUT] = { RR_NFS4_CALLBACK_OUT, RR_NFS4_CALLBACK_OUT, RR_NFS4_CALLBACK_QUEUED,
		RR_NFS4_CALLBACK_IDLE },
};

static void
callback_set_phase(struct rr_nfs4_callback *callback, enum callback_event event)
{
	callback->phase = callback_next[callback->phase][event];
}

/* The most callbacks that are looked at at once; the others follow in later turns (rr_nfs4_callbacks_look()).
 */
enum { CALLBACK_LOOKS = 64 };

/* Frees the slot of the callback in the backchannel of its session. */
static void
callback_free_slot(const struct rr_nfs4_callback *callback)
{
	callback->session->back_slots[callback->slot].callback = NULL;
	callback->session->back_busy--;
}

/* Frees the slot that the callback occupies in the backchannel of a session, and releases that session. Does
 * nothing if the callback has no slot. */
static void
callback_drop_slot(struct rr_nfs4_callback *callback)
{
	struct rr_nfs4_session *session = callback->session;

	if (!session)
		return;
	callback_free_slot(callback);
	callback->session = NULL;
	rr_nfs4_session_release(session);
}

/* Ends a callback: removes it from its list, frees its slot if it has one, and calls ended() of its kind.
 * Then releases the session and the client to which the callback has references. */
static void
callback_end(struct rr_nfs4_callback *callback)
{
	struct rr_nfs4_client *client = callback->client;
	struct rr_nfs4_session *session = callback->session;

	rr_list_remove(&callback->link);
	/* A CB_NULL, which has no put(), has a session but no slot. */
	if (session && callback->kind->put)
		callback_free_slot(callback);
	callback->session = NULL;
	callback->client = NULL;
	callback_set_phase(callback, CALLBACK_END);
	callback->kind->ended(callback);
	/* The callback may have been freed with its owner by ended(), or goes with the session below: it is
	 * not touched again. */
	if (session)
		rr_nfs4_session_release(session);
	rr_nfs4_client_release(client);
}

void
rr_nfs4_callback_queue(struct rr_nfs4_callback *callback, const struct rr_nfs4_callback_kind *kind,
	struct rr_nfs4_sessions *sessions, struct rr_nfs4_client *client)
{
	if (callback->phase != RR_NFS4_CALLBACK_IDLE)
		return;
	callback->kind = kind;
	callback->sessions = sessions;
	callback->client = rr_nfs4_client_hold(client);
	callback->session = NULL;
	callback->not_before = 0;
	callback->cancelled = false;
	callback_set_phase(callback, CALLBACK_QUEUE);
	rr_list_append(&callback->sessions->callbacks, &callback->link);
}

/* Cancels the callback, unless it is idle. A callback without a slot, which waits in the queue, ends at once.
 * A callback with a slot is still sent, as the client may have seen its sequence ID, and ends after that. */
void
rr_nfs4_callback_cancel(struct rr_nfs4_callback *callback)
{
	if (callback->phase == RR_NFS4_CALLBACK_IDLE)
		return;
	callback->cancelled = true;
	if (callback->phase == RR_NFS4_CALLBACK_QUEUED && !callback->session)
		callback_end(callback);
}

/* Gives the callback a free slot of the session's backchannel, and a reference to the session. Returns false
 * if all slots are busy. */
static bool
callback_take_slot(struct rr_nfs4_callback *callback, struct rr_nfs4_session *session)
{
	if (session->back_busy >= session->back_slot_count)
		return false;
	for (uint32_t i = 0; i < session->back_slot_count; i++) {
		if (session->back_slots[i].callback)
			continue;
		session->back_slots[i].callback = callback;
		session->back_busy++;
		callback->slot = i;
		callback->session = rr_nfs4_session_hold(session);
		return true;
	}
	return false;
}

/* Returns a session over which the callback can be sent, and gives the callback a slot of that session if it
 * has no slot yet. A callback that has a session already is sent over no other session: the client may have
 * seen the sequence ID of its slot, and a CB_NULL tests its own session. Returns NULL if there is no session
 * over which the callback can be sent now. */
static struct rr_nfs4_session *
callback_choose(struct rr_nfs4_callback *callback)
{
	if (callback->session)
		return callback->session->back_count > 0 ? callback->session : NULL;
	rr_list_for_each (link, &callback->client->sessions) {
		struct rr_nfs4_session *session = rr_container(link, struct rr_nfs4_session, of_client);

		if (session->back_count > 0 && !session->cb_fault && callback_take_slot(callback, session))
			return session;
	}
	return NULL;
}

/* Puts the callbacks that were looked at behind those that are to be looked at. */
static void
callback_look_again(struct rr_nfs4_sessions *sessions)
{
	struct rr_list *list = &sessions->callbacks, *from = &sessions->looked_at;

	if (rr_list_empty(from))
		return;
	from->next->prev = list->prev;
	list->prev->next = from->next;
	from->prev->next = list;
	list->prev = from->prev;
	rr_list_init(from);
}

void
rr_nfs4_callbacks_look(struct rr_nfs4_sessions *sessions, uint32_t *looks)
{
	for (; *looks > 0 && !rr_list_empty(&sessions->callbacks); --*looks) {
		struct rr_nfs4_callback *callback =
			rr_container(rr_list_pop(&sessions->callbacks), struct rr_nfs4_callback, link);
		struct rr_nfs4_session *session = NULL;

		if (sessions->send && sessions->now >= callback->not_before)
			session = callback_choose(callback);
		if (!session) {
			rr_list_append(&sessions->looked_at, &callback->link);
			continue;
		}
		callback_set_phase(callback, CALLBACK_SEND);
		callback->conn = rr_nfs4_back_conn(session);
		sessions->send(callback);
	}
}

void
rr_nfs4_callbacks_go(struct rr_nfs4_sessions *sessions, uint64_t now)
{
	uint32_t looks = CALLBACK_LOOKS;

	if (now > sessions->now)
		sessions->now = now;
	callback_look_again(sessions);
	rr_nfs4_callbacks_look(sessions, &looks);
}

/*
 * Puts a callback back into the queue, to be sent at not_before or later: it could not be sent, its
 * connection or its session has ended or failed, or the client could not answer it yet. If it has no session
 * any more, or the session has ended, the callback waits for a slot of another session; but it ends if it was
 * cancelled, is a CB_NULL (which tests its own session only), or its client has ended.
 */
static void
callback_return(struct rr_nfs4_callback *callback, uint64_t not_before)
{
	bool slot_is_gone = !callback->session || rr_nfs4_session_ended(callback->session);

	rr_list_remove(&callback->link);
	callback->conn = NULL;
	/* A callback whose kind has no put() is a CB_NULL. */
	if (slot_is_gone &&
		(callback->cancelled || !callback->kind->put || callback->client->phase == RR_NFS4_ENDED)) {
		callback_end(callback);
		return;
	}
	if (slot_is_gone)
		callback_drop_slot(callback);
	callback_set_phase(callback, CALLBACK_RETURN);
	callback->not_before = not_before;
	rr_list_append(&callback->sessions->callbacks, &callback->link);
}

void
rr_nfs4_callback_lost(struct rr_nfs4_callback *callback)
{
	callback_return(callback, 0);
}

void
rr_nfs4_callback_failed(struct rr_nfs4_callback *callback)
{
	/* A callback that is out has a session, but the session may have ended meanwhile. */
	struct rr_nfs4_session *session = callback->session;

	if (!rr_nfs4_session_ended(session))
		rr_nfs4_unbind_back(session, callback->conn);
	callback_return(callback, 0);
}

/*
 * Marks the backchannel of the callback's session as faulty, so that no callback takes a slot there from now
 * on, and queues the callback again for another session. Runs when the answer to CB_SEQUENCE is an error, or
 * names another session, slot or sequence ID. RFC 8881, 18.46.3, of SEQ4_STATUS_BACKCHANNEL_FAULT: "The
 * server has encountered an unrecoverable fault with the backchannel (e.g., it has lost track of the sequence
 * ID for a slot in the backchannel)."
 */
static void
callback_fault(struct rr_nfs4_callback *callback)
{
	callback->session->cb_fault = true;
	callback_drop_slot(callback);
	callback_return(callback, 0);
}

/* Handles the success of CB_SEQUENCE: counts up the sequence ID of the slot, frees the slot and renews the
 * lease of the client. The callback is queued again if it was not cancelled and answered() of its kind
 * returns true; else it ends. status: the status of the CB_COMPOUND. */
static void
callback_advance(struct rr_nfs4_callback *callback, nfsstat4 status, uint64_t now)
{
	callback->session->back_slots[callback->slot].sequence++;
	callback->session->back_works = true;
	callback_drop_slot(callback);
	/* RFC 8881, 20.9.3: "when the server receives the CB_SEQUENCE reply, renew the lease of state related
	 * to the client ID". A lease that is over is not renewed here: only a call of the client shows that
	 * the client wants to come back. */
	if (rr_nfs4_client_in_lease(callback->client, now))
		rr_nfs4_client_renew(callback->client, now);
	if (!callback->cancelled && callback->kind->answered(callback, status))
		callback_return(callback, now + CALLBACK_AGAIN);
	else
		callback_end(callback);
}

/* Tells whether the result of CB_SEQUENCE names the session, slot and sequence ID of the callback. */
static bool
callback_is_answer(const struct rr_nfs4_callback *callback, const CB_COMPOUND4res *res)
{
	const CB_SEQUENCE4resok *ok = &res->resarray.values[0].u.opcbsequence.u.csr_resok4;

	return memcmp(ok->csr_sessionid, callback->session->id, sizeof(ok->csr_sessionid)) == 0 &&
	       ok->csr_slotid == callback->slot &&
	       ok->csr_sequenceid == callback->session->back_slots[callback->slot].sequence + 1;
}

void
rr_nfs4_callback_answered(struct rr_nfs4_callback *callback, const CB_COMPOUND4res *res, uint64_t now)
{
	nfsstat4 status;

	/* Any answer to CB_NULL shows that the backchannel works. */
	if (!res) {
		callback->session->back_works = true;
		callback_end(callback);
		return;
	}
	/* An answer without a result of CB_SEQUENCE comes from a client that does not take the minor
	 * version. */
	if (res->resarray.count == 0 || res->resarray.values[0].resop != OP_CB_SEQUENCE) {
		rr_nfs4_callback_failed(callback);
		return;
	}
	/* NFS4ERR_DELAY of CB_SEQUENCE: the slot keeps its sequence ID, and the callback is sent again. So it
	 * is if the client does not know the session yet: RFC 8881, 2.10.6.3: "It is possible for server
	 * callbacks to arrive at the client before the reply from related fore channel operations", here
	 * CREATE_SESSION. */
	status = res->resarray.values[0].u.opcbsequence.csr_status;
	if (status == NFS4ERR_DELAY || (status == NFS4ERR_BADSESSION && !callback->session->used))
		callback_return(callback, now + CALLBACK_AGAIN);
	else if (status != NFS4_OK || !callback_is_answer(callback, res))
		callback_fault(callback);
	else
		callback_advance(callback, res->status, now);
}

/* Tells whether the callback may reach the client before the answer to its origin does. It may not if the
 * client has used the slot again, which shows that the client has the answer, or if the session has ended. */
static bool
callback_may_overtake(const struct rr_nfs4_callback *callback)
{
	const struct rr_nfs4_call_name *origin = &callback->origin;
	const struct rr_nfs4_session *session;

	if (!callback->has_origin)
		return false;
	session = rr_nfs4_session_find(callback->sessions, origin->session);
	return session && rr_nfs4_slot_is_last(session, origin->slot, origin->sequence);
}

/* Writes the origin of the callback to *referring, and has the arguments of CB_SEQUENCE point there. */
static void
callback_refer(
	const struct rr_nfs4_callback *callback, struct rr_nfs4_referring *referring, CB_SEQUENCE4args *args)
{
	const struct rr_nfs4_call_name *origin = &callback->origin;

	referring->call = (referring_call4){ origin->sequence, origin->slot };
	memcpy(referring->list.rcl_sessionid, origin->session, sizeof(origin->session));
	referring->list.rcl_referring_calls.count = 1;
	referring->list.rcl_referring_calls.values = &referring->call;
	args->csa_referring_call_lists.count = 1;
	args->csa_referring_call_lists.values = &referring->list;
}

void
rr_nfs4_callback_sequence(
	const struct rr_nfs4_callback *callback, struct rr_nfs4_referring *referring, CB_SEQUENCE4args *args)
{
	const struct rr_nfs4_session *session = callback->session;

	memcpy(args->csa_sessionid, session->id, sizeof(args->csa_sessionid));
	args->csa_sequenceid = session->back_slots[callback->slot].sequence + 1;
	args->csa_slotid = callback->slot;
	for (uint32_t i = 0; i < session->back_slot_count; i++) {
		if (session->back_slots[i].callback)
			args->csa_highest_slotid = i;
	}
	/* RFC 8881, 2.10.6.3: "Until the time the { session ID, slot ID, sequence ID } request triple can be
	 * retired, any recalls of the associated object MUST carry an array of these referring
	 * identifiers" */
	args->csa_referring_call_lists.count = 0;
	if (callback_may_overtake(callback))
		callback_refer(callback, referring, args);
}

/* ---- Sessions ---- */

/* Does nothing: a CB_NULL that only tests the backchannel has no owner that must learn of its end. */
static void
callback_probe_ended(struct rr_nfs4_callback *callback)
{
	(void)callback;
}

static const struct rr_nfs4_callback_kind probe_kind = { .ended = callback_probe_ended };

void
rr_nfs4_back_probe(struct rr_nfs4_session *session, bool answered, uint64_t now)
{
	struct rr_nfs4_callback *probe = &session->probe;

	if (session->back_count > 0 && !session->back_works && probe->phase == RR_NFS4_CALLBACK_IDLE) {
		rr_nfs4_callback_queue(probe, &probe_kind, session->table, session->client);
		probe->session = rr_nfs4_session_hold(session);
		/* RFC 8881, 19.1.3: "the server will use CB_NULL to confirm the existence of a path". If
		 * `answered` is true, callbacks of another session have confirmed the path already. */
		session->back_works = answered;
	}
	rr_nfs4_callbacks_go(session->table, now);
}

bool
rr_nfs4_back_works(const struct rr_nfs4_client *client)
{
	rr_list_for_each (link, &client->sessions) {
		const struct rr_nfs4_session *session = rr_container(link, struct rr_nfs4_session, of_client);

		if (session->back_count > 0 && session->back_works && !session->cb_fault)
			return true;
	}
	return false;
}

void
rr_nfs4_callbacks_leave(struct rr_nfs4_session *session)
{
	for (uint32_t i = 0; i < session->back_slot_count; i++) {
		struct rr_nfs4_callback *callback = session->back_slots[i].callback;

		if (callback && callback->phase == RR_NFS4_CALLBACK_QUEUED)
			callback_return(callback, 0);
	}
	if (session->probe.phase == RR_NFS4_CALLBACK_QUEUED)
		callback_return(&session->probe, 0);
}

void
rr_nfs4_callbacks_end(struct rr_nfs4_sessions *sessions, const struct rr_nfs4_client *client)
{
	callback_look_again(sessions);
	rr_list_for_each (link, &sessions->callbacks) {
		struct rr_nfs4_callback *callback = rr_container(link, struct rr_nfs4_callback, link);

		if (callback->client == client)
			callback_end(callback);
	}
}
