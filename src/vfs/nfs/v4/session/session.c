/* SPDX-License-Identifier: BSD-3-Clause */
/* This file makes and ends the session, from EXCHANGE_ID to DESTROY_CLIENTID, and makes it anew after a loss
 * (RFC 8881, sections 2.10 and 8.4). */
#include <stdio.h>
#include <string.h>

#include "vfs/nfs/v4/session/compound.h"
#include "vfs/nfs/v4/session/session.h"

#define SESSION_PAUSE (100 * RR_MILLISECOND)

static void session_enter(struct rr_v4 *v4, enum rr_v4_state state);
static void session_done(struct rr_call *call, int error);

/* ---- The states ---- */

/* Called when the server refuses to let a file be reclaimed: the file counts as not open, and is opened again
 * when it is needed. */
static void
session_reclaim_refused(struct rr_v4 *v4)
{
	rr_v4_open_lose(v4->control.open);
}

/* Called when the CLOSE of a file was done, or refused: the file is not open any more. */
static void
session_close_over(struct rr_v4 *v4)
{
	rr_v4_open_forget(v4, v4->control.open);
}

/* Returns the next open file that is to be reclaimed, or NULL if there is none. */
static struct rr_v4_open *
session_next_to_reclaim(struct rr_v4 *v4)
{
	return rr_v4_open_in(v4, RR_V4_OPEN_RECLAIM);
}

/* Returns the next open file that is to be closed, or NULL if there is none. */
static struct rr_v4_open *
session_next_to_close(struct rr_v4 *v4)
{
	return rr_v4_open_in(v4, RR_V4_OPEN_READY);
}

/* For each state: the COMPOUND that is sent in it, and the state that follows each event. An event that the
 * state does not list leads to RR_V4_IDLE, which is 0. */
static const struct session_state {
	const struct rr_v4_work *work;
	struct rr_v4_open *(*next)(struct rr_v4 *v4); /* the work is done for each of these opens */
	void (*over)(struct rr_v4 *v4);               /* called when the work was done, or refused */
	void (*refused)(struct rr_v4 *v4);            /* NULL, or called after a refusal, before over() */
	bool lenient;                                 /* a refusal is treated as a success */
	enum rr_v4_state after[RR_V4_EVENTS];
} session_states[RR_V4_STATES] = {
/* Without a session, the client makes another one; without its client ID, it begins with that. */
#define BACK [RR_V4_LOST] = RR_V4_CREATING, [RR_V4_STALE] = RR_V4_EXCHANGING
	[RR_V4_IDLE] = { .after = { [RR_V4_START] = RR_V4_EXCHANGING } },
	[RR_V4_EXCHANGING] = { .work = &rr_v4_exchange_step, .after = { [RR_V4_OK] = RR_V4_CREATING, BACK } },
	[RR_V4_CREATING] = { .work = &rr_v4_create_step, .after = { [RR_V4_OK] = RR_V4_RECLAIMING, BACK } },
	[RR_V4_RECLAIMING] = { .work = &rr_v4_reclaim_step,
		.next = session_next_to_reclaim,
		.refused = session_reclaim_refused,
		.lenient = true,
		.after = { [RR_V4_OK] = RR_V4_COMPLETING, BACK } },
	/* A refusal is NFS4ERR_COMPLETE_ALREADY: the server knew the client before. */
	[RR_V4_COMPLETING] = { .work = &rr_v4_complete_step,
		.lenient = true,
		.after = { [RR_V4_OK] = RR_V4_READY, BACK } },
	[RR_V4_READY] = { .after = { [RR_V4_LEAVE] = RR_V4_CLOSING, [RR_V4_UNBOUND] = RR_V4_BINDING, BACK } },
	[RR_V4_BINDING] = { .work = &rr_v4_bind_step, .after = { [RR_V4_OK] = RR_V4_READY, BACK } },
	[RR_V4_CLOSING] = { .work = &rr_v4_close_step,
		.next = session_next_to_close,
		.over = session_close_over,
		.lenient = true,
		.after = { [RR_V4_OK] = RR_V4_DESTROYING } },
	[RR_V4_DESTROYING] = { .work = &rr_v4_destroy_step,
		.lenient = true,
		.after = { [RR_V4_OK] = RR_V4_FORGETTING } },
	[RR_V4_FORGETTING] = { .work = &rr_v4_forget_step, .lenient = true },
};

/* Ends the attempt to make or end a session: notes why, and goes to the state RR_V4_IDLE, in which waiting
 * calls end with that error. */
static void
session_fail(struct rr_v4 *v4, int error)
{
	v4->error = error;
	rr_v4_event(v4, RR_V4_FAILED);
}

/* Sends the COMPOUND of the session's present state in the control slot, which is for work of the session
 * itself. */
static void
session_send(struct rr_v4 *v4)
{
	/* The control slot borrows the number and the sequence ID of a free slot, or of slot 0 if no slot is
	 * free: no calls are sent in slots now. */
	v4->control.number = v4->free ? (uint32_t)__builtin_ctzll(v4->free) : 0;
	v4->control.busy = true;
	rr_v4_send(&v4->control, session_done);
}

/* Returns the work of the session's present state. Some states have work for each of several open files:
 * first for those in the table of opens, then for those that the caller has opened itself. Returns NULL if no
 * file is left. */
static const struct rr_v4_work *
session_work(struct rr_v4 *v4)
{
	const struct session_state *state = &session_states[v4->state];

	v4->control.open = state->next ? state->next(v4) : NULL;
	if (!state->next || v4->control.open)
		return state->work;
	return v4->state == RR_V4_RECLAIMING && v4->config.reclaim
		       ? v4->config.reclaim(v4->config.keeper, &v4->control)
		       : NULL;
}

/* Sends the COMPOUND of the session's present state, if the state has one. Some states have work for each of
 * several open files: they send the COMPOUND for the next of these files, and end if no file is left. */
static void
session_begin(struct rr_v4 *v4)
{
	v4->control.work = session_work(v4);
	if (v4->control.work)
		session_send(v4);
	else
		rr_v4_event(v4, RR_V4_OK);
}

/* Ends all calls that wait for a session, with the error because of which there is no session. */
static void
session_end_calls(struct rr_v4 *v4)
{
	while (!rr_list_empty(&v4->queue))
		rr_v4_end_later(v4, rr_container(v4->queue.next, struct rr_call, link), v4->error);
}

/* Enters a state of the session. In the state READY there is a session, and the calls in the queue are sent.
 * In the state IDLE there is none, and these calls end. In any other state, sends the state's COMPOUND. Fails
 * after too many attempts at a session in a row without a success. Where the client begins to make or end a
 * session, also begins the time (v4->until) for which a busy server is asked again. */
static void
session_enter(struct rr_v4 *v4, enum rr_v4_state state)
{
	bool begins = v4->state == RR_V4_IDLE || v4->state == RR_V4_READY;

	v4->state = state;
	if (begins)
		v4->until = rr_loop_now(v4->loop) + v4->config.retry;
	if (state == RR_V4_IDLE)
		session_end_calls(v4);
	else if (state == RR_V4_READY)
		rr_v4_pump(v4);
	else if ((state == RR_V4_EXCHANGING || state == RR_V4_CREATING || state == RR_V4_BINDING) &&
		 ++v4->fruitless > RR_V4_SESSIONS)
		session_fail(v4, rr_fail(&v4->text, -RPCRDMA_ERR_PEER,
					 "the server ends each session as soon as it is made"));
	else
		session_begin(v4);
}

void
rr_v4_event(struct rr_v4 *v4, enum rr_v4_event event)
{
	session_enter(v4, session_states[v4->state].after[event]);
}

/* ---- Answers ---- */

/* Called by the loop after the pause for a busy server: sends the COMPOUND of the state again. */
static void
session_again(struct rr_timer *timer)
{
	session_send(rr_container(timer, struct rr_v4_slot, later)->v4);
}

/* Goes on after the COMPOUND of a state has succeeded, or after a refusal that does not matter. If the state
 * goes through open files, goes on to the next file, else to the next state. */
static void
session_step_over(struct rr_v4 *v4)
{
	const struct session_state *state = &session_states[v4->state];

	if (state->over)
		state->over(v4);
	if (state->next)
		session_begin(v4);
	else
		rr_v4_event(v4, RR_V4_OK);
}

/* Returns a text that describes the status; number: memory for it. */
static const char *
session_status(const struct rr_v4 *v4, nfsstat4 status, char number[16])
{
	if (v4->config.status_text)
		return v4->config.status_text((int)status);
	snprintf(number, 16, "status %d", (int)status);
	return number;
}

/* Called when the server has refused the COMPOUND of the session's state. If the server does not know the
 * client ID or the session any more, makes another. Otherwise, if the state is lenient (its refusals do not
 * matter), goes on as after a success; if it is not lenient, gives up: the waiting calls fail. */
static void
session_refused(struct rr_v4 *v4, nfsstat4 status)
{
	const struct session_state *state = &session_states[v4->state];
	char number[16];

	if (status == NFS4ERR_MINOR_VERS_MISMATCH) {
		session_fail(v4, rr_fail(&v4->text, -RPCRDMA_ERR_PROG_MISMATCH,
					 "the server does not speak NFS version 4.%u", v4->config.minor));
		return;
	}
	/* A server need not have SP4_MACH_CRED; what it says then differs. */
	if (v4->state == RR_V4_EXCHANGING && v4->asks_machine && status != NFS4ERR_DELAY) {
		v4->bare = true;
		session_send(v4);
		return;
	}
	if (v4->state == RR_V4_BINDING) {
		rr_v4_event(v4, RR_V4_LOST);
		return;
	}
	/* RFC 8881, 18.36.3: where CREATE_SESSION returns a wrong sequence ID, the client ID is out of
	 * step. */
	if (status == NFS4ERR_STALE_CLIENTID ||
		(v4->state == RR_V4_CREATING && status == NFS4ERR_SEQ_MISORDERED)) {
		rr_v4_event(v4, RR_V4_STALE);
		return;
	}
	if (!state->work->alone && rr_v4_session_is_lost(status)) {
		rr_v4_event(v4, RR_V4_LOST);
		return;
	}
	if (!state->lenient) {
		v4->refusal = status;
		session_fail(v4, rr_fail(&v4->text, -RPCRDMA_ERR_REJECTED,
					 "the server gives no session of NFS version 4.%u: %s",
					 v4->config.minor, session_status(v4, status, number)));
		return;
	}
	if (v4->control.work->fail)
		v4->control.work->fail(&v4->control);
	else if (state->refused)
		state->refused(v4);
	session_step_over(v4);
}

/* Called when the COMPOUND of a state has succeeded: uses its results, and goes on. */
static void
session_succeeded(struct rr_v4 *v4)
{
	int error = v4->control.work->take(&v4->control);

	if (error < 0) {
		session_fail(v4, error);
		return;
	}
	session_step_over(v4);
}

/* Called when the COMPOUND of a state ends: checks the reply, and handles success or refusal. After
 * NFS4ERR_DELAY, sends the COMPOUND again after a pause, for a limited time. */
static void
session_done(struct rr_call *call, int error)
{
	struct rr_v4_slot *slot = call->ctx;
	struct rr_v4 *v4 = slot->v4;
	nfsstat4 status = slot->result.status;

	slot->busy = false;
	if (error < 0) {
		session_fail(v4, rr_fail(&v4->text, error, "%s", rr_client_error(v4->config.client)));
		return;
	}
	if (!rr_v4_reply_is_sound(slot)) {
		session_fail(v4, rr_v4_broken(v4, "its results are not those of its operations"));
		return;
	}
	/* The sequence ID counts as not used if SEQUENCE itself failed. */
	if (rr_v4_failed_in_sequence(slot))
		v4->sequence[slot->number]--;
	if (status == NFS4ERR_DELAY && rr_loop_now(v4->loop) < v4->until) {
		rr_loop_arm(v4->loop, &slot->later, SESSION_PAUSE);
		return;
	}
	v4->renewed = rr_loop_now(v4->loop);
	if (status == NFS4_OK)
		session_succeeded(v4);
	else
		session_refused(v4, status);
}

/* ---- The lease ---- */

/* The time between two calls of session_tick(), and the time after which an unused file is closed. */
#define SESSION_TICK (2 * RR_SECOND)
#define SESSION_IDLE (5 * RR_SECOND)

/* The COMPOUND that renews the lease needs only the SEQUENCE with which every COMPOUND in a session begins.
 * Unless the lease is known, it also asks how long that lasts. */
static void
session_renew_build(struct rr_v4_slot *slot)
{
	static uint32_t words[] = { 1 << FATTR4_LEASE_TIME };
	static const bitmap4 lease = { 1, words };

	if (slot->v4->lease_known)
		return;
	rr_v4_op(slot, OP_PUTROOTFH, 0);
	rr_v4_getattr(slot, &lease);
}

static int
session_renew_take(struct rr_v4_slot *slot)
{
	struct rr_attr_values values;

	if (slot->args.argarray.count > 1 &&
		rr_v4_res_attributes(slot, &slot->ops[2].u.opgetattr.attr_request, &values))
		rr_v4_note_lease(slot->v4, &values);
	return 0;
}

void
rr_v4_note_lease(struct rr_v4 *v4, const struct rr_attr_values *values)
{
	if (!rr_attr_in(&values->have, FATTR4_LEASE_TIME) || values->lease == 0)
		return;
	v4->lease = values->lease * RR_SECOND;
	v4->lease_known = true;
}

/* A server that does not say how long its lease is has one as most servers have it. dispatch.c has noted the
 * result of SEQUENCE. */
static void
session_renew_end(struct rr_v4_slot *slot, int error)
{
	slot->v4->lease_known |= error > 0;
}

static const struct rr_v4_work renew_work = {
	.build = session_renew_build, .take = session_renew_take, .end = session_renew_end
};

/* Called at regular intervals: closes idle files, and renews the lease if no call has done so for a third of
 * its time. RFC 8881, 8.3: "a COMPOUND consisting of a single SEQUENCE operation will suffice". */
static void
session_tick(struct rr_timer *timer)
{
	struct rr_v4 *v4 = rr_container(timer, struct rr_v4, renewal);
	uint64_t now = rr_loop_now(v4->loop);
	struct rr_v4_slot *slot;

	rr_loop_arm(v4->loop, timer, SESSION_TICK);
	if (v4->state != RR_V4_READY)
		return;
	rr_v4_close_idle(v4, RR_V4_OPENS_IDLE, now > SESSION_IDLE ? now - SESSION_IDLE : 0);
	if (v4->lease_known && now - v4->renewed < v4->lease / 3)
		return;
	slot = rr_v4_slot_get(v4);
	/* If no slot is free, their calls renew the lease, or the next tick tries again. */
	if (!slot)
		return;
	v4->renewed = now;
	rr_v4_slot_send(slot, &renew_work);
}

void
rr_v4_session_init(struct rr_v4 *v4)
{
	rr_timer_init(&v4->control.later, session_again);
	rr_timer_init(&v4->renewal, session_tick);
	rr_loop_arm(v4->loop, &v4->renewal, SESSION_TICK);
}
