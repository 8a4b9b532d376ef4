/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens end. An open ends when its caller has closed it and no operation uses it any more: then its locks are
 * given back, and the file is closed at the other server where no other open shares it.
 */
#include <rpcrdma/error.h>

#include "vfs/nfs/v4/provider_private.h"

/* ---- At the other server ---- */

static void
close_build(struct rr_v4_slot *slot)
{
	static const stateid4 current = { .seqid = 1 };
	const struct rr_v4_closing *closing = slot->outer->ctx;
	const struct rr_v4_held *held = closing->held;

	rr_v4_putfh(slot, rr_remote_fh(&held->file));
	/* RFC 8881, 18.2.3: "The client SHOULD NOT close a file if locks are held": all are given back. */
	if (closing->open && closing->open->locks) {
		rr_v4_op(slot, OP_LOCKU, sizeof(stateid4))->u.oplocku = (LOCKU4args){
			.locktype = WRITE_LT, .lock_stateid = closing->open->lock, .length = UINT64_MAX
		};
		rr_v4_op(slot, OP_FREE_STATEID, 0)->u.opfree_stateid.fsa_stateid = current;
	}
	if (closing->last && held->delegated)
		rr_v4_op(slot, OP_DELEGRETURN, 0)->u.opdelegreturn.deleg_stateid = held->delegation;
	if (closing->last)
		rr_v4_op(slot, OP_CLOSE, sizeof(stateid4))->u.opclose.open_stateid = held->stateid;
}

const struct rr_v4_work rr_v4_closing_work = {
	.build = close_build, .take = rr_v4_nothing_take, .result = sizeof(nfsstat4), .changes = true
};

static void
close_free(struct rr_vfs_open *open, const struct rr_env *env)
{
	if (open)
		rr_v4_locks_end(open, env);
	rr_free(env, open);
}

/* Frees what has ended, with its call, in the thread whose provider has counted it. */
static void
close_over(void *ctx)
{
	struct rr_v4_closing *closing = ctx;
	struct rr_v4_held *held = closing->held;
	struct rr_v4_vfs *counts = closing->counts;
	const struct rr_env *env = closing->env;
	struct rr_vfs_call *call = closing->done;
	bool last = closing->last;

	rr_list_remove(&closing->of_elsewhere);
	close_free(closing->open, env);
	if (last)
		rr_free(env, held);
	if (counts)
		rr_vfs_ended(&counts->base.base, call, RR_VFS_OK);
}

static void close_send(struct rr_v4_closing *closing);

static void
close_end(struct rr_v4_closing *closing)
{
	struct rr_v4_vfs *counts = closing->counts;
	struct rr_v4_held *held = closing->held;

	rr_list_remove(&closing->link);
	/* The last closing frees what the others look at, and closes the file when their locks have been
	 * given back. */
	if (!closing->last && --held->closers == 0 && held->waiting && !held->vfs->leaving)
		close_send(held->waiting);
	closing->post = (struct rpcrdma_post){ .run = close_over, .ctx = closing };
	if (!counts || counts == closing->held->vfs ||
		rpcrdma_engine_post(counts->engine, &closing->post) < 0)
		close_over(closing);
}

/* Where the locks could not be given back, as the other server does not know them any more, the file is still
 * to be closed. */
static void
close_answered(struct rr_call *call, int error)
{
	struct rr_v4_closing *closing = call->ctx;

	if (!error && closing->status != NFS4_OK && closing->open && closing->open->locks && closing->last) {
		closing->open->locks = false;
		rr_v4_call(closing->held->vfs->v4, call);
		return;
	}
	close_end(closing);
}

/* Counts a user of what is open less. Without users, nothing finds it any more. */
static void
close_leave(struct rr_v4_closing *closing)
{
	struct rr_v4_held *held = closing->held;

	closing->last = --held->users == 0;
	if (!closing->last)
		return;
	rr_list_remove(&held->link);
	rr_map_remove(&held->vfs->by_file, &held->by_file);
}

/* Gives back at the other server what is held there. */
static void
close_send(struct rr_v4_closing *closing)
{
	struct rr_v4_held *held = closing->held;
	struct rr_vfs_open *open = closing->open;

	held->waiting = NULL;
	if (!(closing->last && held->open) && !(open && open->locks)) {
		close_end(closing);
		return;
	}
	closing->call = (struct rr_call){ .result = &closing->status,
		.user = open ? &open->remote.user : &held->user,
		.done = close_answered,
		.ctx = closing };
	rr_v4_call(held->vfs->v4, &closing->call);
}

/* Begins to close, in the thread that has made the open. */
static void
close_begin(void *ctx)
{
	struct rr_v4_closing *closing = ctx;
	struct rr_v4_held *held = closing->held;
	struct rr_vfs_open *open = closing->open;

	if (open)
		rr_list_remove(&open->of_held);
	close_leave(closing);
	rr_list_append(&held->vfs->closings, &closing->link);
	held->closers += !closing->last;
	if (closing->last && held->closers > 0)
		held->waiting = closing;
	else
		close_send(closing);
}

/* Prepares the closing of what is open, which the provider `counts` counts. */
static struct rr_v4_closing *
close_prepare(
	struct rr_v4_vfs *counts, struct rr_v4_held *held, struct rr_vfs_open *open, struct rr_vfs_call *done)
{
	struct rr_v4_closing *closing = open ? &open->closing : &held->closing;

	*closing = (struct rr_v4_closing){
		.held = held, .open = open, .done = done, .counts = counts, .env = counts->base.env
	};
	rr_list_init(&closing->link);
	rr_list_init(&closing->of_elsewhere);
	return closing;
}

/* Begins to close an open that has no users any more. Returns false if the other server knows nothing of it:
 * then all is over. */
static bool
close_start(struct rr_v4_vfs *own, struct rr_vfs_open *open, struct rr_vfs_call *done)
{
	struct rr_v4_held *held = open->held;
	struct rr_v4_closing *closing;

	if (held->vfs == own && !(held->users == 1 && held->open) && !open->locks) {
		closing = close_prepare(own, held, open, NULL);
		rr_list_remove(&open->of_held);
		close_leave(closing);
		if (closing->last)
			rr_free(own->base.env, held);
		close_free(open, own->base.env);
		return false;
	}
	closing = close_prepare(own, held, open, done);
	if (held->vfs == own) {
		close_begin(closing);
		return true;
	}
	rr_list_append(&own->elsewhere, &closing->of_elsewhere);
	closing->post = (struct rpcrdma_post){ .run = close_begin, .ctx = closing };
	rpcrdma_engine_post(held->vfs->engine, &closing->post);
	return true;
}

void
rr_v4_held_close(struct rr_v4_held *held)
{
	rr_vfs_goes_on(&held->vfs->base.base);
	close_begin(close_prepare(held->vfs, held, NULL, NULL));
}

/* ---- Opens and the operations that use them ---- */

/* Calls each() for the opens that a call names. */
static void
close_each(struct rr_remote_job *job, void (*each)(struct rr_v4_vfs *own, struct rr_vfs_open *open))
{
	const struct rr_vfs_row *row = &rr_vfs_rows[job->operation];
	struct rr_vfs_open **only = rr_vfs_member(job->call, row->open);
	struct rr_v4_vfs *own = (struct rr_v4_vfs *)job->vfs;

	if (only)
		each(own, *only);
	for (int i = 0; i < 2; i++) {
		const struct rr_vfs_object *object = rr_vfs_member(job->call, row->objects[i]);

		if (object && object->open)
			each(own, object->open);
	}
}

static void
close_take(struct rr_v4_vfs *own, struct rr_vfs_open *open)
{
	(void)own;
	atomic_fetch_add(&open->users, 1);
}

static void
close_drop(struct rr_v4_vfs *own, struct rr_vfs_open *open)
{
	if (atomic_fetch_sub(&open->users, 1) > 1)
		return;
	if (!open->held)
		close_free(open, own->base.env);
	else if (close_start(own, open, NULL))
		rr_vfs_goes_on(&own->base.base);
}

void
rr_v4_take_opens(struct rr_remote_job *job)
{
	((struct rr_v4_job *)job)->on = (struct rr_v4_vfs *)job->vfs;
	close_each(job, close_take);
}

void
rr_v4_drop_opens(struct rr_remote_job *job)
{
	close_each(job, close_drop);
}

enum rr_vfs_status
rr_v4_close(struct rr_vfs *vfs, struct rr_vfs_open *open, struct rr_vfs_call *call)
{
	struct rr_v4_vfs *own = (struct rr_v4_vfs *)vfs;

	if (atomic_fetch_sub(&open->users, 1) > 1)
		return RR_VFS_OK;
	/* The provider that has made it is gone. */
	if (!open->held) {
		close_free(open, own->base.env);
		return RR_VFS_OK;
	}
	return close_start(own, open, call) ? RR_VFS_PENDING : RR_VFS_OK;
}

/* Ends the calls whose files another thread closes, which goes on there. */
static void
close_leave_elsewhere(struct rr_v4_vfs *vfs)
{
	struct rr_list *link;

	while ((link = rr_list_pop(&vfs->elsewhere))) {
		struct rr_v4_closing *closing = rr_container(link, struct rr_v4_closing, of_elsewhere);

		closing->counts = NULL;
		rr_vfs_ended(&vfs->base.base, closing->done, RR_VFS_OK);
	}
}

void
rr_v4_close_all(struct rr_v4_vfs *vfs)
{
	close_leave_elsewhere(vfs);
	while (!rr_list_empty(&vfs->closings))
		close_end(rr_container(vfs->closings.next, struct rr_v4_closing, link));
	while (!rr_list_empty(&vfs->held)) {
		struct rr_v4_held *held = rr_container(vfs->held.next, struct rr_v4_held, link);

		rr_list_for_each (link, &held->opens)
			rr_container(link, struct rr_vfs_open, of_held)->held = NULL;
		rr_list_remove(&held->link);
		rr_map_remove(&vfs->by_file, &held->by_file);
		rr_free(vfs->base.env, held);
	}
}
