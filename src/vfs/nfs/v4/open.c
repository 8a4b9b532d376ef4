/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens are made. */
#include "vfs/nfs/v4/provider_private.h"

/* Makes the open, of a file that the other server has opened. */
static enum rr_vfs_status
open_make(struct rr_v4_job *job)
{
	struct rr_vfs_open *open;
	enum rr_vfs_status status = rr_remote_open_new(&job->base, sizeof(*open));

	if (status != RR_VFS_OK)
		return status;
	open = RR_V4_INPUT(job, opening)->open;
	open->held = job->held;
	open->users = 1;
	rr_v4_locks_init(open);
	rr_v4_name_owner(rr_v4_vfs(job), open->owner);
	rr_list_append(&job->held->opens, &open->of_held);
	job->held = NULL;
	return RR_VFS_OK;
}

/* Tells whether the owner of the file was refused the open. vfs.h: "The owner of a file may open it whatever
 * its mode says", and the server lets it read and write without an open: so this open is none at the server.
 */
static bool
open_is_owners(const struct rr_v4_job *job, const struct rr_vfs_known *known)
{
	return known->valid && known->attributes.type == RR_VFS_FILE &&
	       known->attributes.uid == job->base.user.uid && !job->held->open;
}

/* Ends the operation. A file that the other server has opened is closed where there is no open for it. */
static void
open_end(struct rr_v4_job *job, enum rr_vfs_status status)
{
	const struct rr_vfs_known *known = &RR_V4_INPUT(job, opening)->object_after;

	/* RFC 8881, 18.16.3: what is no regular file is NFS4ERR_SYMLINK or NFS4ERR_WRONG_TYPE. */
	if ((status == RR_VFS_INVAL || status == RR_VFS_SYMLINK || status == RR_VFS_OK) && known->valid &&
		known->attributes.type != RR_VFS_FILE)
		status = rr_remote_openable(known->attributes.type);
	else if (status == RR_VFS_OK && !known->valid)
		status = RR_VFS_IO;
	else if (status == RR_VFS_ACCESS && open_is_owners(job, known))
		status = RR_VFS_OK;
	if (status == RR_VFS_OK)
		status = open_make(job);
	if (job->held)
		rr_v4_held_close(job->held);
	rr_v4_end(job, status);
}

static void
open_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_known(slot, job->at.before[0], &RR_V4_INPUT(job, opening)->object_after);
}

/* ---- An open of its own ---- */

static void
open_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_opening *opening = RR_V4_INPUT(job, opening);

	rr_v4_put_object(slot, 0);
	job->at.before[0] = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
	/* An open that replaces another, and could not be had from it: see below. */
	if (job->held->open)
		rr_v4_op(slot, OP_CLOSE, sizeof(stateid4))->u.opclose.open_stateid = job->held->stateid;
	rr_v4_open_op(slot, job->held, CLAIM_FH, opening->access, opening->deny);
	job->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

static int
open_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_opening *opening = RR_V4_INPUT(job, opening);

	rr_v4_take_known(slot, job->at.object, &opening->object_after);
	rr_v4_held_take(job->held, &rr_v4_res(slot, OP_OPEN)->u.opopen.u.resok4);
	job->held->access = opening->access;
	job->held->deny = opening->deny;
	return 0;
}

static const struct rr_v4_work open_work = {
	.build = open_build, .take = open_take, .fail = open_fail, .result = sizeof(nfsstat4), .changes = true
};

/* ---- An open that replaces another ---- */

/*
 * Appends OPEN and OPEN_DOWNGRADE, as far as they are needed. RFC 8881, 9.7, of OPEN: "This checking of share
 * reservations on OPEN is done with no exception for an existing OPEN for the same open-owner." So where the
 * earlier open denies what the new one wants, only what is new is asked for. 18.18.3, of OPEN_DOWNGRADE: "The
 * bits ... must be ... the union of the share_access and share_deny bits in effect for some subset of the
 * OPENs": where it can be, the OPEN in front is one of these.
 */
static void
open_replace_build(struct rr_v4_slot *slot)
{
	static const stateid4 current = { .seqid = 1 }; /* RFC 8881, 8.2.3 */
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_opening *opening = RR_V4_INPUT(job, opening);
	const struct rr_v4_held *held = job->held;
	uint32_t access = opening->access, deny = opening->deny;
	uint32_t new_access = access & ~held->access, new_deny = deny & ~held->deny;
	bool conflict = (access & held->deny) || (deny & held->access), opens;

	if (conflict) {
		access = new_access ? new_access : access & ~held->deny;
		deny = new_deny;
	}
	opens = !conflict || new_access || new_deny;
	rr_v4_put_object(slot, 0);
	job->at.before[0] = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
	if (opens)
		rr_v4_open_op(slot, held, CLAIM_FH, access ? access : opening->access, deny);
	if (held->access & ~opening->access || held->deny & ~opening->deny)
		rr_v4_op(slot, OP_OPEN_DOWNGRADE, sizeof(stateid4))->u.opopen_downgrade =
			(OPEN_DOWNGRADE4args){ opens ? current : held->stateid, 0, opening->access,
				opening->deny };
	job->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

static int
open_replace_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_opening *opening = RR_V4_INPUT(job, opening);

	rr_v4_take_known(slot, job->at.object, &opening->object_after);
	for (uint32_t i = 0; i < slot->args.argarray.count; i++) {
		const nfs_resop4 *res = &slot->result.resarray.values[i];

		if (res->resop == OP_OPEN)
			rr_v4_held_take(job->held, &res->u.opopen.u.resok4);
		if (res->resop == OP_OPEN_DOWNGRADE)
			job->held->stateid = res->u.opopen_downgrade.u.resok4.open_stateid;
	}
	job->held->access = opening->access;
	job->held->deny = opening->deny;
	return 0;
}

static const struct rr_v4_work open_replace = { .build = open_replace_build,
	.take = open_replace_take,
	.fail = open_fail,
	.result = sizeof(nfsstat4),
	.changes = true };

/* Where the other server has not seen such an OPEN alone, the file is closed and opened again: there are no
 * locks that this would end. */
static void
open_replaced(struct rr_v4_job *job, enum rr_vfs_status status)
{
	const struct rr_vfs_known *known = &RR_V4_INPUT(job, opening)->object_after;
	bool shared = job->held->users > 2 || job->base.open->locks;

	if (status == RR_VFS_INVAL && !shared && known->valid && known->attributes.type == RR_VFS_FILE)
		rr_v4_ask(job, &open_work, open_end);
	else
		open_end(job, status);
}

/* ---- An open beside another ---- */

static void
open_beside_build(struct rr_v4_slot *slot)
{
	rr_v4_put_object(slot, 0);
	rr_v4_job(slot)->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

static int
open_beside_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_known(slot, job->at.object, &RR_V4_INPUT(job, opening)->object_after);
	return 0;
}

static const struct rr_v4_work open_beside = {
	.build = open_beside_build, .take = open_beside_take, .result = sizeof(nfsstat4)
};

enum rr_vfs_status
rr_v4_do_open(struct rr_v4_job *job)
{
	const struct rr_vfs_opening *opening = RR_V4_INPUT(job, opening);
	struct rr_vfs_open *other = opening->relation == RR_VFS_ANOTHER ? NULL : job->base.open;

	job->held = other ? other->held : rr_v4_held_new(job);
	if (!job->held)
		return RR_VFS_BUSY;
	if (!other)
		return rr_v4_ask(job, &open_work, open_end);
	job->held->users++;
	if (opening->relation == RR_VFS_BESIDE)
		return rr_v4_ask(job, &open_beside, open_end);
	return rr_v4_ask(job, job->held->open ? &open_replace : &open_work,
		job->held->open ? open_replaced : open_end);
}
