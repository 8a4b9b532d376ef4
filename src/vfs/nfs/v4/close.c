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

/* Frees what has ended, with its call. */
static void
close_end(struct rr_v4_closing *closing)
{
	struct rr_v4_held *held = closing->held;
	struct rr_v4_vfs *vfs = held->vfs;
	struct rr_vfs_call *call = closing->done;
	bool last = closing->last;

	rr_list_remove(&closing->link);
	rr_free(vfs->base.env, closing->open);
	if (last)
		rr_free(vfs->base.env, held);
	rr_vfs_ended(&vfs->base.base, call, RR_VFS_OK);
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

/* Begins to close what an open, or an operation that makes one, does not use any more. Returns false, and
 * frees it, where the other server knows nothing of it. */
static bool
close_begin(struct rr_v4_held *held, struct rr_vfs_open *open, struct rr_vfs_call *done)
{
	struct rr_v4_vfs *vfs = held->vfs;
	struct rr_v4_closing *closing = open ? &open->closing : &held->closing;
	bool last;

	if (open)
		rr_list_remove(&open->of_held);
	*closing = (struct rr_v4_closing){ .held = held, .open = open, .done = done };
	closing->last = last = --held->users == 0;
	if (last) {
		rr_list_remove(&held->link);
		rr_map_remove(&vfs->by_file, &held->by_file);
	}
	if (!(last && held->open) && !(open && open->locks)) {
		rr_free(vfs->base.env, open);
		if (last)
			rr_free(vfs->base.env, held);
		return false;
	}
	closing->call = (struct rr_call){ .result = &closing->status,
		.user = open ? &open->remote.user : &held->user,
		.done = close_answered,
		.ctx = closing };
	rr_list_append(&vfs->closings, &closing->link);
	rr_v4_call(vfs->v4, &closing->call);
	return true;
}

void
rr_v4_held_close(struct rr_v4_held *held)
{
	struct rr_vfs *vfs = &held->vfs->base.base;

	if (close_begin(held, NULL, NULL))
		rr_vfs_goes_on(vfs);
}

/* ---- Opens and the operations that use them ---- */

/* Calls each() for the opens that a call names. */
static void
close_each(struct rr_remote_job *job, void (*each)(struct rr_vfs_open *open))
{
	const struct rr_vfs_row *row = &rr_vfs_rows[job->operation];
	struct rr_vfs_open **only = rr_vfs_member(job->call, row->open);

	if (only)
		each(*only);
	for (int i = 0; i < 2; i++) {
		const struct rr_vfs_object *object = rr_vfs_member(job->call, row->objects[i]);

		if (object && object->open)
			each(object->open);
	}
}

static void
close_take(struct rr_vfs_open *open)
{
	open->users++;
}

static void
close_drop(struct rr_vfs_open *open)
{
	struct rr_vfs *vfs;

	if (--open->users > 0)
		return;
	vfs = &open->held->vfs->base.base;
	if (close_begin(open->held, open, NULL))
		rr_vfs_goes_on(vfs);
}

void
rr_v4_take_opens(struct rr_remote_job *job)
{
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
	/* The provider that has made it is gone. */
	if (!open->held) {
		rr_free(((struct rr_v4_vfs *)vfs)->base.env, open);
		return RR_VFS_OK;
	}
	if (--open->users > 0)
		return RR_VFS_OK;
	return close_begin(open->held, open, call) ? RR_VFS_PENDING : RR_VFS_OK;
}

void
rr_v4_close_all(struct rr_v4_vfs *vfs)
{
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
