/* SPDX-License-Identifier: BSD-3-Clause */
/* This file handles calls that need an open file: it sends OPEN when the file is not open, and CLOSE when it
 * is not needed any more. */
#include "vfs/nfs/v4/session/compound.h"
#include "vfs/nfs/v4/session/session.h"

/* Moves the calls that wait for the open file to the front of the queue, in their order. If failed is true,
 * calls that were repeated too often end instead; their status becomes error. */
static void
waiting_again(struct rr_v4 *v4, struct rr_v4_open *open, bool failed, int error)
{
	while (!rr_list_empty(&open->waiters)) {
		struct rr_call *outer = rr_container(open->waiters.prev, struct rr_call, link);

		rr_list_remove(&outer->link);
		rr_list_prepend(&v4->queue, &outer->link);
		if (!failed || outer->losses++ < RR_V4_RETRIES)
			continue;
		rr_v4_set_status(outer, v4->config.work(outer), (nfsstat4)error);
		rr_v4_end_later(v4, outer, 0);
	}
}

/* Ends the calls that wait for the open file. error is negative, or is a status of NFS for their results. */
static void
waiting_fail(struct rr_v4 *v4, struct rr_v4_open *open, int error)
{
	while (!rr_list_empty(&open->waiters)) {
		struct rr_call *outer = rr_container(open->waiters.next, struct rr_call, link);

		if (error >= 0)
			rr_v4_set_status(outer, v4->config.work(outer), (nfsstat4)error);
		rr_v4_end_later(v4, outer, error < 0 ? error : 0);
	}
}

/* Tells whether OPEN or CLOSE is to be sent again after this error: the session was lost, or the server did
 * not keep the reply to a repeated call. */
static bool
waiting_is_worth_it(int error)
{
	return error >= 0 && (rr_v4_session_is_lost((nfsstat4)error) || error == NFS4ERR_RETRY_UNCACHED_REP);
}

/* Called when an OPEN ends: the calls that wait for the file go back to the queue, or end with the error of
 * OPEN. If OPEN failed, the file stays in the table of opens only if it was open before, or if calls in other
 * slots use the entry: they were sent with a stateid that the server has forgotten meanwhile. */
static void
waiting_open_end(struct rr_v4_slot *slot, int error)
{
	struct rr_v4 *v4 = slot->v4;
	struct rr_v4_open *open = slot->open;

	if (error == 0 || waiting_is_worth_it(error))
		waiting_again(v4, open, error != 0, error);
	else
		waiting_fail(v4, open, error);
	if (error == 0)
		return;
	/* The OPEN was for more access than the file has: the file stays open as it was. */
	if (open->access)
		open->state = RR_V4_OPEN_READY;
	else if (open->users > 0)
		open->state = RR_V4_OPEN_LOST;
	else
		rr_v4_open_forget(v4, open);
}

/* Called when a CLOSE ends. Calls for the file that came meanwhile go back to the queue, from where they open
 * the file again. The file leaves the table of opens, unless CLOSE is to be sent again, which is done so
 * often and no more: a server might refuse it for ever. */
static void
waiting_close_end(struct rr_v4_slot *slot, int error)
{
	struct rr_v4_open *open = slot->open;

	waiting_again(slot->v4, open, false, 0);
	if (waiting_is_worth_it(error) && open->losses++ < RR_V4_RETRIES)
		open->state = RR_V4_OPEN_READY;
	else
		rr_v4_open_forget(slot->v4, open);
}

static const struct rr_v4_work waiting_open = {
	.build = rr_v4_open_build, .take = rr_v4_opened, .end = waiting_open_end, .changes = true
};

static const struct rr_v4_work waiting_close = {
	.build = rr_v4_close_build, .take = rr_v4_nothing_take, .end = waiting_close_end, .changes = true
};

/* Sends OPEN or CLOSE of a file in the slot. state is RR_V4_OPEN_MAKING for OPEN, RR_V4_OPEN_CLOSING for
 * CLOSE. */
static void
waiting_send(struct rr_v4_slot *slot, struct rr_v4_open *open, enum rr_v4_open_state state)
{
	open->state = state;
	slot->open = open;
	rr_v4_slot_send(slot, state == RR_V4_OPEN_MAKING ? &waiting_open : &waiting_close);
}

/* Called because the table of opens has no room. Closes the file that was unused for the longest time, if
 * there is an unused one, in this slot; otherwise frees the slot. The call outer goes back to the front of
 * the queue. */
static enum rr_v4_wait
waiting_full(struct rr_v4_slot *slot, struct rr_call *outer)
{
	struct rr_v4_open *open = rr_v4_open_to_close(slot->v4, 0, 0);

	rr_list_prepend(&slot->v4->queue, &outer->link);
	if (open)
		waiting_send(slot, open, RR_V4_OPEN_CLOSING);
	else
		rr_v4_slot_put(slot);
	return RR_V4_WAIT_FULL;
}

enum rr_v4_wait
rr_v4_wait_open(struct rr_v4_slot *slot, struct rr_call *outer, const struct rr_v4_work *work)
{
	/* Of works without access, the arguments need not begin so: the handle is not used. */
	const uint32_t access = outer->args ? work->access : 0;
	const struct rpcrdma_bytes handle = access ? *(const nfs_fh4 *)outer->args : (nfs_fh4){ NULL, 0 };
	struct rr_v4 *v4 = slot->v4;
	struct rr_v4_open *open;

	if (work->makes && !rr_v4_open_has_room(v4))
		return waiting_full(slot, outer);
	v4->making += work->makes;
	if (!access)
		return RR_V4_WAIT_NOT;
	open = rr_v4_open_find(v4, handle);
	if (open && rr_v4_open_begin_use(v4, open, access)) {
		slot->open = open;
		return RR_V4_WAIT_NOT;
	}
	if (!open && rr_v4_open_has_room(v4))
		open = rr_v4_open_new(v4, handle);
	if (!open)
		return waiting_full(slot, outer);
	rr_list_append(&open->waiters, &outer->link);
	/* An OPEN or a CLOSE of the file is under way: its end wakes the calls that wait. */
	if (open->state != RR_V4_OPEN_LOST && open->state != RR_V4_OPEN_READY) {
		rr_v4_slot_put(slot);
		return RR_V4_WAIT_OPEN;
	}
	/* The file is not open, or not for this access. */
	open->wanted = open->access | access;
	waiting_send(slot, open, RR_V4_OPEN_MAKING);
	return RR_V4_WAIT_OPEN;
}

void
rr_v4_close_idle(struct rr_v4 *v4, uint32_t keep, uint64_t before)
{
	struct rr_v4_open *open;

	while ((open = rr_v4_open_to_close(v4, keep, before))) {
		struct rr_v4_slot *slot;

		if (open->state == RR_V4_OPEN_LOST) {
			rr_v4_open_forget(v4, open);
			continue;
		}
		slot = rr_v4_slot_get(v4);
		if (!slot)
			return;
		waiting_send(slot, open, RR_V4_OPEN_CLOSING);
	}
}
