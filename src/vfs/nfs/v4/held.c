/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is open at the other server. Each open of vfs.h has an open-owner of its own there, but those that
 * replace another open or stand beside one share it: so their share reservations are one, as RFC 8881, 9.7
 * has it for the OPENs of one owner. Locks belong to the open of vfs.h, which has a lock-owner of its own.
 */
#include <stdio.h>

#include "vfs/nfs/v4/provider_private.h"

static uint64_t
held_key(const struct rr_v4_vfs *vfs, const struct rr_remote_handle *file)
{
	return rr_siphash_64(vfs->base.shared->handles.check, file->data, file->length);
}

void
rr_v4_name_owner(struct rr_v4_vfs *vfs, char owner[RR_V4_OWNER])
{
	snprintf(owner, RR_V4_OWNER, "open %llx", (unsigned long long)++vfs->owners);
}

struct rr_v4_held *
rr_v4_held_new(struct rr_v4_job *job)
{
	struct rr_v4_vfs *vfs = rr_v4_vfs(job);
	struct rr_v4_held *held = rr_alloc(vfs->base.env, sizeof(*held));

	if (!held)
		return NULL;
	held->vfs = vfs;
	held->file = job->base.objects[0];
	held->user = job->base.user;
	held->users = 1;
	rr_v4_name_owner(vfs, held->owner);
	rr_list_init(&held->opens);
	rr_list_append(&vfs->held, &held->link);
	rr_map_add(&vfs->by_file, &held->by_file, held_key(vfs, &held->file));
	return held;
}

void
rr_v4_held_take(struct rr_v4_held *held, const OPEN4resok *ok)
{
	const open_delegation4 *delegation = &ok->delegation;

	held->stateid = ok->stateid;
	held->open = true;
	if (delegation->delegation_type == OPEN_DELEGATE_READ)
		held->delegation = delegation->u.read.stateid;
	if (delegation->delegation_type == OPEN_DELEGATE_WRITE)
		held->delegation = delegation->u.write.stateid;
	held->delegated |= delegation->delegation_type == OPEN_DELEGATE_READ ||
			   delegation->delegation_type == OPEN_DELEGATE_WRITE;
}

void
rr_v4_open_op(struct rr_v4_slot *slot, const struct rr_v4_held *held, open_claim_type4 claim, uint32_t access,
	uint32_t deny)
{
	OPEN4args *args = &rr_v4_op(slot, OP_OPEN, RR_V4_OPEN_MAX)->u.opopen;

	_Static_assert((int)OPEN4_SHARE_ACCESS_READ == (int)RR_VFS_SHARE_READ &&
			       (int)OPEN4_SHARE_DENY_WRITE == (int)RR_VFS_SHARE_WRITE,
		"the same bits");
	rr_v4_open_owner(slot, args, access);
	args->share_deny = deny;
	args->owner.owner = (struct rpcrdma_bytes){ held->owner, (uint32_t)strlen(held->owner) };
	args->claim.claim = claim;
}

/* ---- The stateids that operations use ---- */

/* Returns what is open of the file with this access, or NULL. */
static struct rr_v4_held *
held_find(struct rr_v4_vfs *vfs, const struct rr_remote_handle *file, uint32_t access)
{
	struct rr_map_link *link = rr_map_find(&vfs->by_file, held_key(vfs, file));

	for (; link; link = rr_map_next(link)) {
		struct rr_v4_held *held = rr_container(link, struct rr_v4_held, by_file);

		if (held->open && held->access & access && rr_remote_same(&held->file, file))
			return held;
	}
	return NULL;
}

/* RFC 8881, 8.2.2: the seqid zero stands for the most recent one. */
stateid4
rr_v4_stateid(struct rr_v4_slot *slot, const struct rr_vfs_object *object, int index, uint32_t access)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_v4_held *held;
	stateid4 stateid = { 0 };

	/* RFC 7862, 15.2.3, of COPY: "ca_src_stateid MUST refer to a stateid that is valid for a READ
	 * operation": the anonymous one is. Calls that needed two open files could wait for each other
	 * without end. */
	if (slot->open && slot->work->access & access)
		stateid = slot->open->stateid;
	stateid.seqid = 0;
	if (job->base.lean)
		return stateid;

	held = object->open ? object->open->held : NULL;
	/* The other of two opens, which another thread has made. */
	if (held && held->vfs != job->on)
		return stateid;

	if (!held && object->reserved)
		held = held_find(rr_v4_vfs(job), &job->base.objects[index], access);
	if (!held || !held->open)
		return stateid;
	if (object->open)
		job->held = held;
	stateid = held->stateid;
	stateid.seqid = 0;
	return stateid;
}

/* ---- Lost states ---- */

bool
rr_v4_is_lost(const struct rr_v4_job *job)
{
	if (!job->held || job->again || job->base.operation == RR_VFS_OP_OPEN)
		return false;
	switch (job->status) {
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_OLD_STATEID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_EXPIRED:
	case NFS4ERR_ADMIN_REVOKED: return true;
	default: return false;
	}
}

static void
held_again_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_held *held = rr_v4_job(slot)->held;

	rr_v4_putfh(slot, rr_remote_fh(&held->file));
	rr_v4_open_op(slot, held, CLAIM_FH, held->access, held->deny);
	slot->call.user = &held->user;
}

static int
held_again_take(struct rr_v4_slot *slot)
{
	rr_v4_held_take(rr_v4_job(slot)->held, &rr_v4_res(slot, OP_OPEN)->u.opopen.u.resok4);
	return 0;
}

static const struct rr_v4_work held_again = {
	.build = held_again_build, .take = held_again_take, .result = sizeof(nfsstat4), .changes = true
};

/* Returns the open, unless it was closed meanwhile: then NULL. */
static struct rr_vfs_open *
held_still(const struct rr_v4_held *held, struct rr_vfs_open *open)
{
	rr_list_for_each (link, &held->opens)
		if (rr_container(link, struct rr_vfs_open, of_held) == open)
			return open;
	return NULL;
}

static void
held_lock_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	job->relocking = rr_v4_locks_next(job->held);
	rr_v4_putfh(slot, rr_remote_fh(&job->held->file));
	if (job->relocking)
		rr_v4_lock_again_op(slot, job->relocking, false);
	slot->call.user = &job->held->user;
}

static int
held_lock_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	if (held_still(job->held, job->relocking))
		rr_v4_lock_again_take(slot, job->relocking);
	return 0;
}

static const struct rr_v4_work held_lock = {
	.build = held_lock_build, .take = held_lock_take, .result = sizeof(nfsstat4), .changes = true
};

/* Locks the ranges of the file's opens again, one by one, and then repeats what has found the state lost. An
 * open whose ranges another client has meanwhile is broken. */
static void
held_lock_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	const struct rr_vfs_open *own = job->base.open;

	job->relocking = held_still(job->held, job->relocking);
	if (status != RR_VFS_OK && status != RR_VFS_BUSY && job->relocking)
		rr_v4_lock_broken(job->relocking);
	if (status != RR_VFS_BUSY && rr_v4_locks_next(job->held))
		rr_v4_ask(job, &held_lock, held_lock_then);
	else if (status == RR_VFS_BUSY || (own && own->broken))
		job->lost.then(job, status == RR_VFS_BUSY ? RR_VFS_BUSY : RR_VFS_IO);
	else
		rr_v4_ask(job, job->lost.work, job->lost.then);
}

static void
held_again_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	job->relocking = NULL;
	if (status == RR_VFS_OK)
		held_lock_then(job, RR_VFS_OK);
	else
		job->lost.then(job, status == RR_VFS_BUSY ? RR_VFS_BUSY : RR_VFS_IO);
}

void
rr_v4_open_again(struct rr_v4_job *job)
{
	rr_v4_locks_lost(job->held);
	job->again = true;
	job->lost.work = job->work;
	job->lost.then = job->then;
	rr_v4_ask(job, &held_again, held_again_then);
}

/* ---- After a restart of the other server ---- */

void
rr_v4_forgotten(void *ctx)
{
	struct rr_v4_vfs *vfs = ctx;
	struct rr_list *link;

	while ((link = rr_list_pop(&vfs->held)))
		rr_list_append(&vfs->reclaim, link);
	/* Also those that were not reclaimed yet when the server restarted again. */
	rr_list_for_each (other, &vfs->reclaim) {
		struct rr_v4_held *held = rr_container(other, struct rr_v4_held, link);

		held->back = false;
		rr_v4_locks_lost(held);
	}
}

static struct rr_v4_held *
held_first(struct rr_v4_vfs *vfs)
{
	return rr_container(vfs->reclaim.next, struct rr_v4_held, link);
}

/* RFC 8881, 9.11: "the client uses an OPEN request of claim type CLAIM_PREVIOUS". */
static void
held_reclaim_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_held *held = slot->reclaims;

	rr_v4_putfh(slot, rr_remote_fh(&held->file));
	rr_v4_open_op(slot, held, CLAIM_PREVIOUS, held->access, held->deny);
	slot->call.user = &held->user;
}

static int
held_reclaim_take(struct rr_v4_slot *slot)
{
	struct rr_v4_held *held = slot->reclaims;

	rr_v4_held_take(held, &rr_v4_res(slot, OP_OPEN)->u.opopen.u.resok4);
	held->back = true;
	return 0;
}

/* Goes on to the next file. One that was not reclaimed is opened again when it is used, with its locks. */
static void
held_reclaimed(struct rr_v4_slot *slot)
{
	struct rr_v4_held *held = slot->reclaims;

	/* Without users, it is being closed, and is in no list. */
	if (held->users == 0)
		return;
	rr_list_remove(&held->link);
	rr_list_append(&held->vfs->held, &held->link);
}

static const struct rr_v4_work held_reclaim = {
	.build = held_reclaim_build, .take = held_reclaim_take, .fail = held_reclaimed, .changes = true
};

/* RFC 8881, 9.11: "the client uses ... LOCK requests with the reclaim parameter set to TRUE". */
static void
held_relock_build(struct rr_v4_slot *slot)
{
	struct rr_v4_held *held = slot->reclaims;

	held->relocking = rr_v4_locks_next(held);
	rr_v4_putfh(slot, rr_remote_fh(&held->file));
	if (held->relocking)
		rr_v4_lock_again_op(slot, held->relocking, true);
	slot->call.user = &held->user;
}

static int
held_relock_take(struct rr_v4_slot *slot)
{
	struct rr_v4_held *held = slot->reclaims;

	if (held_still(held, held->relocking))
		rr_v4_lock_again_take(slot, held->relocking);
	return 0;
}

static void
held_relock_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_held *held = slot->reclaims;

	if (held_still(held, held->relocking))
		rr_v4_lock_broken(held->relocking);
}

static const struct rr_v4_work held_relock = {
	.build = held_relock_build, .take = held_relock_take, .fail = held_relock_fail, .changes = true
};

const struct rr_v4_work *
rr_v4_reclaim_next(void *ctx, struct rr_v4_slot *slot)
{
	struct rr_v4_vfs *vfs = ctx;

	while (!rr_list_empty(&vfs->reclaim)) {
		struct rr_v4_held *held = held_first(vfs);

		slot->reclaims = held;
		/* A file that is being opened is not open at the server yet. */
		if (held->open && !held->back)
			return &held_reclaim;
		if (held->back && rr_v4_locks_next(held))
			return &held_relock;
		held_reclaimed(slot);
	}
	return NULL;
}
