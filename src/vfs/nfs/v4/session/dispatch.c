/* SPDX-License-Identifier: BSD-3-Clause */
/* This file moves calls from the queue into slots of the session, and ends them with the server's answer. */
#include <string.h>

#include "vfs/nfs/v4/session/compound.h"
#include "vfs/nfs/v4/session/session.h"

/* The pause before a call is sent again in its slot, and how often it is after NFS4ERR_SEQ_MISORDERED. */
#define DISPATCH_PAUSE (100 * RR_MILLISECOND)

enum { DISPATCH_MISORDERED = 20 };

static void dispatch_done(struct rr_call *call, int error);

void
rr_v4_slot_send(struct rr_v4_slot *slot, const struct rr_v4_work *work)
{
	slot->work = work;
	slot->misordered = 0;
	slot->until = rr_loop_now(slot->v4->loop) + slot->v4->config.retry;
	rr_v4_send(slot, dispatch_done);
}

/* ---- The end of a call ---- */

void
rr_v4_end_later(struct rr_v4 *v4, struct rr_call *outer, int error)
{
	outer->error = error;
	rr_list_remove(&outer->link);
	rr_list_append(&v4->ending, &outer->link);
	if (!rr_timer_armed(&v4->ends))
		rr_loop_arm(v4->loop, &v4->ends, 0);
}

/* Empties the result of the caller's call and sets its status. The statuses have the same numbers in NFS
 * versions 3 and 4. Only NFS4ERR_GRACE becomes NFS4ERR_DELAY, after which the caller repeats the call. */
void
rr_v4_set_status(struct rr_call *outer, const struct rr_v4_work *work, nfsstat4 status)
{
	memset(outer->result, 0, work->result);
	*(nfsstat4 *)outer->result = (status == NFS4ERR_GRACE ? NFS4ERR_DELAY : status);
}

/* Ends the caller's call, which the slot has carried out: calls its done(), frees the slot, and sends waiting
 * calls. done() may start further calls, and may free v4; after that, v4 is not used any more. */
static void
dispatch_finish(struct rr_v4_slot *slot, int error)
{
	struct rr_v4 *v4 = slot->v4;
	struct rr_call *outer = slot->outer;
	bool gone = false;

	outer->placed = slot->call.placed;
	outer->pulled = slot->call.pulled;
	rr_v4_slot_end_use(slot);
	rr_loop_disarm(v4->loop, &outer->timer);
	v4->gone = &gone;
	outer->done(outer, error);
	if (gone)
		return;
	v4->gone = NULL;
	rr_v4_slot_put(slot);
	rr_v4_pump(v4);
}

/* Ends the work in the slot: a call of the caller, or work of the session itself. error is negative, or is a
 * status of NFS. */
static void
dispatch_end(struct rr_v4_slot *slot, int error)
{
	struct rr_v4 *v4 = slot->v4;

	if (slot->outer) {
		if (error >= 0)
			rr_v4_set_status(slot->outer, slot->work, (nfsstat4)error);
		dispatch_finish(slot, error < 0 ? error : 0);
		return;
	}
	slot->work->end(slot, error);
	rr_v4_slot_put(slot);
	rr_v4_pump(v4);
}

/* Ends the work of a COMPOUND that succeeded. For a call of the caller, the result becomes empty with the
 * status NFS4_OK, and the function take() of the work fills in the rest from the results of the
 * operations. */
static void
dispatch_succeed(struct rr_v4_slot *slot)
{
	int error;

	if (slot->outer)
		rr_v4_set_status(slot->outer, slot->work, NFS4_OK);
	error = slot->work->take(slot);
	if (slot->outer)
		dispatch_finish(slot, error);
	else
		dispatch_end(slot, error);
}

/* Puts the caller's call back to the front of the queue, to be made again in another session or with another
 * open file. If the call was repeated too often, or the slot has no call of the caller, ends the work with
 * the status. */
static void
dispatch_again(struct rr_v4_slot *slot, nfsstat4 status)
{
	struct rr_v4 *v4 = slot->v4;
	struct rr_call *outer = slot->outer;

	if (!outer || outer->losses++ >= RR_V4_RETRIES) {
		dispatch_end(slot, (int)status);
		return;
	}
	rr_v4_slot_put(slot);
	rr_list_prepend(&v4->queue, &outer->link);
	rr_v4_pump(v4);
}

/* ---- Answers ---- */

bool
rr_v4_session_is_lost(nfsstat4 status)
{
	switch (status) {
	case NFS4ERR_BADSESSION:
	case NFS4ERR_DEADSESSION:
	case NFS4ERR_BADSLOT:
	case NFS4ERR_BAD_HIGH_SLOT:
	case NFS4ERR_SEQ_MISORDERED:
	case NFS4ERR_SEQ_FALSE_RETRY:
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION: return true;
	default: return false;
	}
}

/* Tells whether the status means that the server does not know the stateid of the open file any more. */
static bool
dispatch_open_is_lost(nfsstat4 status)
{
	switch (status) {
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_OLD_STATEID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_EXPIRED:
	case NFS4ERR_ADMIN_REVOKED:
	case NFS4ERR_DELEG_REVOKED: return true;
	default: return false;
	}
}

/* Passes an event to the state machine of the session if the session is ready. If many calls find the session
 * lost, only the first of them finds it still ready, so the event is passed once. */
static void
dispatch_session_event(struct rr_v4 *v4, enum rr_v4_event event)
{
	if (v4->state == RR_V4_READY)
		rr_v4_event(v4, event);
}

/* Sends the call in the slot again after a pause, with the same sequence ID, as the server would otherwise
 * execute it twice. If the session was lost meanwhile, makes the call again in another session. RFC 8881,
 * 2.10.6.2: "A retry might be sent while the original request is still in progress on the replier. The
 * replier SHOULD deal with the issue by returning NFS4ERR_DELAY as the reply to SEQUENCE". */
void
rr_v4_slot_later(struct rr_timer *timer)
{
	struct rr_v4_slot *slot = rr_container(timer, struct rr_v4_slot, later);

	if (slot->generation == slot->v4->generation && slot->v4->state == RR_V4_READY)
		rr_v4_send(slot, dispatch_done);
	else if (slot->generation == slot->v4->generation && slot->v4->state == RR_V4_BINDING)
		rr_loop_arm(slot->v4->loop, &slot->later, DISPATCH_PAUSE);
	else
		dispatch_again(slot, NFS4ERR_DELAY);
}

/* Tells whether a call that SEQUENCE refused is to be sent again in its slot, as its answer may still come:
 * for some time after NFS4ERR_DELAY, and a few times after NFS4ERR_SEQ_MISORDERED. A server may answer a
 * retry with either of them; RFC 8881, 2.10.6.2: "but implementations MAY return NFS4ERR_MISORDERED". */
static bool
dispatch_may_come(struct rr_v4_slot *slot, nfsstat4 status)
{
	if (slot->generation != slot->v4->generation)
		return false;
	if (status == NFS4ERR_SEQ_MISORDERED)
		return slot->misordered++ < DISPATCH_MISORDERED;
	return status == NFS4ERR_DELAY && rr_loop_now(slot->v4->loop) < slot->until;
}

/* Handles an error of SEQUENCE itself: the sequence ID counts as not used. The call is sent again later in
 * its slot, if its answer may still come; it is sent in another session, if this one is lost; otherwise it
 * ends. RFC 8881, 18.46.3: "If SEQUENCE returns an error, then the state of the slot (sequence ID, cached
 * reply) MUST NOT change". */
static void
dispatch_refused(struct rr_v4_slot *slot, nfsstat4 status)
{
	struct rr_v4 *v4 = slot->v4;

	/* If the generations differ, the call was sent in a session that is gone, with its sequence IDs. */
	if (slot->generation == v4->generation)
		v4->sequence[slot->number]--;
	/* The call goes on in its slot, over the connection as it is bound then: the server may have executed
	 * it already, and has the answer there. */
	if (status == NFS4ERR_CONN_NOT_BOUND_TO_SESSION && slot->generation == v4->generation &&
		(v4->state == RR_V4_READY || v4->state == RR_V4_BINDING)) {
		rr_loop_arm(v4->loop, &slot->later, v4->state == RR_V4_BINDING ? DISPATCH_PAUSE : 0);
		v4->unbound = v4->state == RR_V4_BINDING ? v4->unbound : slot->call.client;
		dispatch_session_event(v4, RR_V4_UNBOUND);
		return;
	}
	if (dispatch_may_come(slot, status)) {
		rr_loop_arm(v4->loop, &slot->later, DISPATCH_PAUSE);
		return;
	}
	if (!rr_v4_session_is_lost(status)) {
		dispatch_end(slot, (int)status);
		return;
	}
	if (slot->generation == v4->generation)
		dispatch_session_event(v4, RR_V4_LOST);
	dispatch_again(slot, status);
}

/* Notes what the result of SEQUENCE says of the session: that the lease is renewed, which slot is the highest
 * that the server wants to be used, and whether the server has restarted. A result from an earlier session is
 * ignored. */
static void
dispatch_note(struct rr_v4_slot *slot)
{
	const SEQUENCE4resok *ok = &slot->result.resarray.values[0].u.opsequence.u.sr_resok4;
	struct rr_v4 *v4 = slot->v4;

	if (slot->generation != v4->generation)
		return;
	v4->fruitless = 0;
	v4->renewed = rr_loop_now(v4->loop);
	/* RFC 8881, 18.46.3: "the highest slot ID the server would prefer the client use" */
	v4->highest = ok->sr_target_highest_slotid < v4->slots ? ok->sr_target_highest_slotid : v4->slots - 1;
	/* RFC 8881, 18.46.3: "the server has ... restarted", but it has kept the session. */
	if (ok->sr_status_flags & SEQ4_STATUS_RESTART_RECLAIM_NEEDED)
		dispatch_session_event(v4, RR_V4_STALE);
}

/* Called when the call in a slot ends: checks the reply, and ends the work of the slot, or makes the call
 * again if the session or the open file was lost. */
static void
dispatch_done(struct rr_call *call, int error)
{
	struct rr_v4_slot *slot = call->ctx;
	struct rr_v4 *v4 = slot->v4;
	nfsstat4 status = slot->result.status;

	if (error < 0) {
		rr_fail(&v4->text, error, "%s", rr_client_error(v4->config.client));
		rr_v4_slot_doubt(slot);
		dispatch_end(slot, error);
		return;
	}
	if (!rr_v4_reply_is_sound(slot)) {
		rr_v4_slot_doubt(slot);
		dispatch_end(slot, rr_v4_broken(v4, "its results are not those of its operations"));
		return;
	}
	if (rr_v4_failed_in_sequence(slot)) {
		dispatch_refused(slot, status);
		return;
	}
	dispatch_note(slot);
	if (status == NFS4_OK) {
		dispatch_succeed(slot);
		return;
	}
	if (slot->work->fail)
		slot->work->fail(slot);
	if (slot->outer && slot->open && dispatch_open_is_lost(status)) {
		rr_v4_open_lose(slot->open);
		dispatch_again(slot, status);
		return;
	}
	/* RFC 8881, 2.10.6.1.3: the call was executed, and its reply was not kept. The server keeps the
	 * replies of calls that change something, so this call can be repeated. */
	if (status == NFS4ERR_RETRY_UNCACHED_REP)
		dispatch_again(slot, status);
	else
		dispatch_end(slot, (int)status);
}

/* ---- The queue ---- */

/* Sends the caller's call in the slot, unless the call must wait for its file to be opened. Returns false if
 * a file must be closed first, so that no more calls can be sent now. */
static bool
dispatch_outer(struct rr_v4_slot *slot, struct rr_call *outer)
{
	const struct rr_v4_work *work = slot->v4->config.work(outer);

	enum rr_v4_wait wait = rr_v4_wait_open(slot, outer, work);

	if (wait != RR_V4_WAIT_NOT)
		return wait == RR_V4_WAIT_OPEN;
	slot->outer = outer;
	rr_v4_slot_send(slot, work);
	return true;
}

void
rr_v4_pump(struct rr_v4 *v4)
{
	/* The calls in the queue came after the end of the session, or were made again after it. */
	if (v4->state == RR_V4_IDLE && !rr_list_empty(&v4->queue))
		rr_v4_event(v4, RR_V4_START);
	while (v4->state == RR_V4_READY && !rr_list_empty(&v4->queue)) {
		struct rr_v4_slot *slot = rr_v4_slot_get(v4);

		if (!slot)
			break;
		if (!dispatch_outer(slot, rr_container(rr_list_pop(&v4->queue), struct rr_call, link)))
			break;
	}
	if (v4->state == RR_V4_READY && rr_list_empty(&v4->queue))
		rr_v4_close_idle(v4, RR_V4_OPENS_IDLE, 0);
	/* Calls were given up in all slots that the server allows. Another session has usable slots again. */
	if (v4->state == RR_V4_READY && (rr_v4_slots_allowed(v4) & ~v4->doubt) == 0)
		rr_v4_event(v4, RR_V4_LOST);
}
