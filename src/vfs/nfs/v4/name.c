/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on entries of directories, but for their creation. */
#include "vfs/nfs/v4/provider_private.h"

/* Returns the status of a change of the entries of a directory. Where others may not remove what is not
 * theirs (RFC 8881 has NFS4ERR_ACCESS for that, and no NFS4ERR_PERM), it is RR_VFS_PERM. */
static enum rr_vfs_status
name_status(enum rr_vfs_status status, const struct rr_vfs_change *change)
{
	const uint32_t sticky = 01000 | 0002;

	if (status == RR_VFS_SYMLINK)
		return RR_VFS_NOTDIR;
	return status == RR_VFS_ACCESS && change->after.valid &&
			       (change->after.attributes.mode & sticky) == sticky
		       ? RR_VFS_PERM
		       : status;
}

/* Returns RR_VFS_OK, or why there can be no entry of that name. */
static enum rr_vfs_status
name_is_bad(struct rpcrdma_bytes name)
{
	char text[RR_VFS_NAME_MAX + 1];

	return rr_vfs_name(name, text);
}

/* ---- LOOKUP ---- */

/* Looks up names, each in the directory of the one before it: the client of <rpcrdma/nfs.h> asks for several
 * at a time, with '/' between them. RFC 8881, 2.3: "multi-component look up requests can be constructed by
 * combining multiple LOOKUP operations." For "..", there is LOOKUPP (18.13.4). */
static void
name_look_ops(struct rr_v4_slot *slot, struct rpcrdma_bytes names)
{
	const char *at = names.data, *end = at + names.length;

	while (at < end) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		const struct rpcrdma_bytes name = { at, (uint32_t)((slash ? slash : end) - at) };

		if (name.length == 2 && memcmp(at, "..", 2) == 0)
			rr_v4_op(slot, OP_LOOKUPP, 0);
		else if (name.length > 0)
			rr_v4_op(slot, OP_LOOKUP, 0)->u.oplookup.objname = name;
		at += name.length + 1;
	}
}

/* Nothing above the root of an export is looked up. job->base.created: "." or "..". */
static void
name_look_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_lookup *lookup = RR_V4_INPUT(job, lookup);
	bool itself = job->base.created &&
		      (lookup->name.length == 1 || rr_remote_is_root(job->base.vfs, &job->base.objects[0]));

	rr_v4_put_object(slot, 0);
	job->at.before[0] = rr_v4_ask_known(slot);
	if (!itself)
		name_look_ops(slot, lookup->name);
	rr_v4_op(slot, OP_GETFH, 4 + NFS4_FHSIZE);
	job->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

static void
name_look_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_known(slot, job->at.before[0], &RR_V4_INPUT(job, lookup)->directory_after);
}

static int
name_look_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_lookup *lookup = RR_V4_INPUT(job, lookup);
	struct rr_vfs_known known;

	name_look_fail(slot);
	rr_v4_take_known(slot, job->at.object, &known);
	lookup->attributes = known.attributes;
	job->verdict =
		!known.valid ? RR_VFS_IO
			     : rr_remote_found(&job->base,
				       rr_v4_res(slot, OP_GETFH)->u.opgetfh.u.resok4.object, &lookup->handle);
	/* "." is an entry of directories alone. */
	if (job->verdict == RR_VFS_OK && job->base.created && lookup->attributes.type != RR_VFS_DIRECTORY)
		job->verdict = RR_VFS_NOTDIR;
	return 0;
}

const struct rr_v4_work rr_v4_work_lookup = {
	.build = name_look_build, .take = name_look_take, .fail = name_look_fail, .result = sizeof(nfsstat4)
};

/* RFC 8881, 18.13.3: NFS4ERR_SYMLINK where the directory is a symbolic link. */
static void
name_look_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	rr_v4_end(job, status == RR_VFS_SYMLINK ? RR_VFS_NOTDIR : status);
}

enum rr_vfs_status
rr_v4_do_lookup(struct rr_v4_job *job)
{
	enum rr_vfs_status status = name_is_bad(RR_V4_INPUT(job, lookup)->name);

	if (status != RR_VFS_OK && status != RR_VFS_BAD_NAME)
		return status;
	job->base.created = status == RR_VFS_BAD_NAME;
	return rr_v4_ask(job, &rr_v4_work_lookup, name_look_then);
}

/* ---- LINK ---- */

static void
name_link_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_put_object(slot, 0);
	job->at.before[0] = rr_v4_ask_known(slot);
	rr_v4_op(slot, OP_SAVEFH, 0);
	rr_v4_put_object(slot, 1);
	job->at.before[1] = rr_v4_ask_known(slot);
	rr_v4_op(slot, OP_LINK, XDR_MAX_change_info4)->u.oplink.newname = RR_V4_INPUT(job, link)->name;
	job->at.after[1] = rr_v4_ask_known(slot);
	if (job->base.lean)
		return;
	rr_v4_op(slot, OP_RESTOREFH, 0);
	job->at.object = rr_v4_ask_known(slot);
}

static void
name_link_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_link *link = RR_V4_INPUT(job, link);

	rr_v4_take_known(slot, job->at.before[0], &link->file_after);
	rr_v4_take_change(slot, job->at.before[1], 0, NULL, &link->directory_change);
}

static int
name_link_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_link *link = RR_V4_INPUT(job, link);

	rr_v4_take_known(slot, job->at.object, &link->file_after);
	rr_v4_take_change(slot, job->at.before[1], job->at.after[1],
		&rr_v4_res(slot, OP_LINK)->u.oplink.u.resok4.cinfo, &link->directory_change);
	return 0;
}

const struct rr_v4_work rr_v4_work_link = { .build = name_link_build,
	.take = name_link_take,
	.fail = name_link_fail,
	.result = sizeof(nfsstat4),
	.changes = true };

/* Some servers say of a directory what link(2) does. */
static void
name_link_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	const struct rr_vfs_known *file = &RR_V4_INPUT(job, link)->file_after;

	if ((status == RR_VFS_INVAL || status == RR_VFS_PERM) && file->valid &&
		file->attributes.type == RR_VFS_DIRECTORY)
		status = RR_VFS_ISDIR;
	rr_v4_end(job, status == RR_VFS_SYMLINK ? RR_VFS_NOTDIR : status);
}

enum rr_vfs_status
rr_v4_do_link(struct rr_v4_job *job)
{
	enum rr_vfs_status status = name_is_bad(RR_V4_INPUT(job, link)->name);

	return status == RR_VFS_OK ? rr_v4_ask(job, &rr_v4_work_link, name_link_then) : status;
}

/* ---- REMOVE ---- */

/* Appends operations that make the COMPOUND fail where the entry is, or is not, a directory. RFC 8881,
 * 18.25.4: "NFSv4.1 REMOVE can be used to delete any directory entry independent of its file type", so "the
 * implementor can produce a COMPOUND call that includes a LOOKUP/VERIFY sequence of operations to verify the
 * file type before a REMOVE operation". */
static void
name_verify(struct rr_v4_slot *slot, const struct rr_vfs_remove *remove)
{
	static uint32_t words[] = { 1 << FATTR4_TYPE };
	static const uint8_t directory[] = { 0, 0, 0, NF4DIR };
	const fattr4 is_directory = { { 1, words }, { directory, sizeof(directory) } };

	rr_v4_op(slot, OP_LOOKUP, 0)->u.oplookup.objname = remove->name;
	if (remove->what == RR_VFS_REMOVE_DIRECTORY)
		rr_v4_op(slot, OP_VERIFY, 0)->u.opverify.obj_attributes = is_directory;
	else
		rr_v4_op(slot, OP_NVERIFY, 0)->u.opnverify.obj_attributes = is_directory;
	rr_v4_put_object(slot, 0);
}

static void
name_remove_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_remove *remove = RR_V4_INPUT(job, remove);

	rr_v4_put_object(slot, 0);
	job->at.before[0] = rr_v4_ask_known(slot);
	if (remove->what != RR_VFS_REMOVE_ANY)
		name_verify(slot, remove);
	rr_v4_op(slot, OP_REMOVE, XDR_MAX_change_info4)->u.opremove.target = remove->name;
	job->at.after[0] = rr_v4_ask_known(slot);
}

static void
name_remove_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_change(slot, job->at.before[0], 0, NULL, &RR_V4_INPUT(job, remove)->directory_change);
	/* The type is the wrong one. */
	job->base.created = slot->result.status == NFS4ERR_SAME || slot->result.status == NFS4ERR_NOT_SAME;
}

static int
name_remove_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_change(slot, job->at.before[0], job->at.after[0],
		&rr_v4_res(slot, OP_REMOVE)->u.opremove.u.resok4.cinfo,
		&RR_V4_INPUT(job, remove)->directory_change);
	return 0;
}

const struct rr_v4_work rr_v4_work_remove = { .build = name_remove_build,
	.take = name_remove_take,
	.fail = name_remove_fail,
	.result = sizeof(nfsstat4),
	.changes = true };

static void
name_remove_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	bool directory = RR_V4_INPUT(job, remove)->what == RR_VFS_REMOVE_DIRECTORY;

	if (job->base.created)
		status = directory ? RR_VFS_NOTDIR : RR_VFS_ISDIR;
	rr_v4_end(job, name_status(status, &RR_V4_INPUT(job, remove)->directory_change));
}

enum rr_vfs_status
rr_v4_do_remove(struct rr_v4_job *job)
{
	enum rr_vfs_status status = name_is_bad(RR_V4_INPUT(job, remove)->name);

	return status == RR_VFS_OK ? rr_v4_ask(job, &rr_v4_work_remove, name_remove_then) : status;
}

/* ---- RENAME ---- */

static void
name_rename_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_rename *rename = RR_V4_INPUT(job, rename);

	rr_v4_put_object(slot, 0);
	job->at.before[0] = rr_v4_ask_known(slot);
	rr_v4_op(slot, OP_SAVEFH, 0);
	rr_v4_put_object(slot, 1);
	job->at.before[1] = rr_v4_ask_known(slot);
	rr_v4_op(slot, OP_RENAME, 2 * XDR_MAX_change_info4)->u.oprename =
		(RENAME4args){ rename->old_name, rename->new_name };
	job->at.after[1] = rr_v4_ask_known(slot);
	if (job->base.lean)
		return;
	rr_v4_op(slot, OP_RESTOREFH, 0);
	job->at.after[0] = rr_v4_ask_known(slot);
}

static void
name_rename_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_rename *rename = RR_V4_INPUT(job, rename);

	rr_v4_take_change(slot, job->at.before[0], 0, NULL, &rename->from_change);
	rr_v4_take_change(slot, job->at.before[1], 0, NULL, &rename->to_change);
}

static int
name_rename_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_rename *rename = RR_V4_INPUT(job, rename);
	const RENAME4resok *ok = &rr_v4_res(slot, OP_RENAME)->u.oprename.u.resok4;

	rr_v4_take_change(slot, job->at.before[0], job->at.after[0], &ok->source_cinfo, &rename->from_change);
	rr_v4_take_change(slot, job->at.before[1], job->at.after[1], &ok->target_cinfo, &rename->to_change);
	return 0;
}

const struct rr_v4_work rr_v4_work_rename = { .build = name_rename_build,
	.take = name_rename_take,
	.fail = name_rename_fail,
	.result = sizeof(nfsstat4),
	.changes = true };

static void
name_rename_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	rr_v4_end(job, name_status(name_status(status, &RR_V4_INPUT(job, rename)->from_change),
			       &RR_V4_INPUT(job, rename)->to_change));
}

enum rr_vfs_status
rr_v4_do_rename(struct rr_v4_job *job)
{
	const struct rr_vfs_rename *rename = RR_V4_INPUT(job, rename);
	enum rr_vfs_status status = name_is_bad(rename->old_name);

	if (status == RR_VFS_OK)
		status = name_is_bad(rename->new_name);
	return status == RR_VFS_OK ? rr_v4_ask(job, &rr_v4_work_rename, name_rename_then) : status;
}
