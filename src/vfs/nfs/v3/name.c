/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on entries of directories, but for their creation. */
#include <string.h>

#include "vfs/nfs/v3/v3_private.h"

#define INPUT(job, type) rr_container((job)->base.call, struct rr_vfs_##type, call)

/* Returns RR_VFS_OK, or why there can be no entry of that name. */
static enum rr_vfs_status
name_is_bad(struct rpcrdma_bytes name)
{
	char text[RR_VFS_NAME_MAX + 1];

	return rr_vfs_name(name, text);
}

/* Returns the name of an entry as an argument. */
static diropargs3
name_entry(const struct rr_remote_handle *directory, struct rpcrdma_bytes name)
{
	return (diropargs3){ rr_v3_fh(directory), name };
}

/* ---- LOOKUP ---- */

/* Ends a lookup whose object's attributes were asked for by GETATTR. */
static void
name_found_attributes(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_lookup *lookup = INPUT(job, lookup);

	if (status == RR_VFS_OK &&
		!rr_v3_attributes(&job->result.getattr.u.resok.obj_attributes, &lookup->attributes))
		status = RR_VFS_IO;
	/* "." and ".." were not looked up, but are entries of directories alone. */
	if (status == RR_VFS_OK && job->base.created && lookup->attributes.type != RR_VFS_DIRECTORY)
		status = RR_VFS_NOTDIR;
	rr_remote_end(&job->base, status);
}

static void
name_look_build(struct rr_v3_job *job)
{
	job->args.lookup.what = name_entry(&job->base.objects[0], INPUT(job, lookup)->name);
}

static enum rr_vfs_status
name_look_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_lookup *lookup = INPUT(job, lookup);
	const LOOKUP3res *result = &job->result.lookup;
	const post_op_attr *attributes = &result->u.resok.obj_attributes;

	rr_v3_known(status == RR_VFS_OK ? &result->u.resok.dir_attributes : &result->u.resfail.dir_attributes,
		&lookup->directory_after);
	if (status != RR_VFS_OK)
		return status;
	job->known = attributes->attributes_follow &&
		     rr_v3_take(job, &attributes->u.attributes, &lookup->attributes);
	return rr_remote_found(&job->base, result->u.resok.object.data, &lookup->handle);
}

const struct rr_v3_work rr_v3_work_lookup = { NFSPROC3_LOOKUP, 0, name_look_build, name_look_take };

static void
name_found(struct rr_v3_job *job, enum rr_vfs_status status)
{
	if (status != RR_VFS_OK || job->known) {
		rr_remote_end(&job->base, status);
		return;
	}
	job->args.getattr.object = rr_v3_fh(&job->base.objects[1]);
	rr_v3_call(job, NFSPROC3_GETATTR, name_found_attributes);
}

/* Nothing above the root of an export is looked up. */
enum rr_vfs_status
rr_v3_lookup(struct rr_v3_job *job)
{
	struct rr_vfs_lookup *lookup = INPUT(job, lookup);
	enum rr_vfs_status status = name_is_bad(lookup->name);
	diropargs3 what = name_entry(&job->base.objects[0], lookup->name);
	bool itself = status == RR_VFS_BAD_NAME &&
		      (lookup->name.length == 1 || rr_remote_is_root(job->base.vfs, &job->base.objects[0]));

	if (itself) {
		job->base.created = true;
		status = rr_remote_encode(&job->base.vfs->shared->handles, job->base.objects[0].export,
			what.dir.data, &lookup->handle);
		job->args.getattr.object = what.dir;
		return status == RR_VFS_OK ? rr_v3_call(job, NFSPROC3_GETATTR, name_found_attributes)
					   : status;
	}
	if (status != RR_VFS_OK && status != RR_VFS_BAD_NAME)
		return status;
	return rr_v3_ask(job, &rr_v3_work_lookup, name_found);
}

/* ---- LINK ---- */

static void
name_link_build(struct rr_v3_job *job)
{
	job->args.link = (LINK3args){ rr_v3_fh(&job->base.objects[0]),
		name_entry(&job->base.objects[1], INPUT(job, link)->name) };
}

static enum rr_vfs_status
name_link_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_link *link = INPUT(job, link);
	const LINK3resok *ok = &job->result.link.u.resok;

	rr_v3_known(&ok->file_attributes, &link->file_after);
	rr_v3_change(&ok->linkdir_wcc, &link->directory_change);
	if ((status == RR_VFS_INVAL || status == RR_VFS_PERM) && link->file_after.valid &&
		link->file_after.attributes.type == RR_VFS_DIRECTORY)
		status = RR_VFS_ISDIR;
	return status;
}

const struct rr_v3_work rr_v3_work_link = { NFSPROC3_LINK, 0, name_link_build, name_link_take };

enum rr_vfs_status
rr_v3_link(struct rr_v3_job *job)
{
	enum rr_vfs_status status = name_is_bad(INPUT(job, link)->name);

	return status == RR_VFS_OK ? rr_v3_ask(job, &rr_v3_work_link, rr_v3_end) : status;
}

/* ---- REMOVE and RMDIR ---- */

/* The arguments and the results of both have one form. */
static void
name_remove_build(struct rr_v3_job *job)
{
	job->args.remove.object = name_entry(&job->base.objects[0], INPUT(job, remove)->name);
}

static enum rr_vfs_status
name_remove_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	rr_v3_change(&job->result.remove.u.resok.dir_wcc, &INPUT(job, remove)->directory_change);
	return status;
}

const struct rr_v3_work rr_v3_work_remove = { NFSPROC3_REMOVE, 0, name_remove_build, name_remove_take };
const struct rr_v3_work rr_v3_work_rmdir = { NFSPROC3_RMDIR, 0, name_remove_build, name_remove_take };

/* Removes an entry of which it is known whether it is that of a directory. */
static void
name_remove(struct rr_v3_job *job, enum rr_vfs_status status)
{
	const post_op_attr *attributes = &job->result.lookup.u.resok.obj_attributes;
	bool directory;

	if (status != RR_VFS_OK) {
		rr_v3_known(&job->result.lookup.u.resfail.dir_attributes,
			&INPUT(job, remove)->directory_change.after);
		rr_remote_end(&job->base, status);
		return;
	}
	directory = attributes->attributes_follow && attributes->u.attributes.type == NF3DIR;
	rr_v3_ask(job, directory ? &rr_v3_work_rmdir : &rr_v3_work_remove, rr_v3_end);
}

enum rr_vfs_status
rr_v3_remove(struct rr_v3_job *job)
{
	const struct rr_vfs_remove *remove = INPUT(job, remove);
	enum rr_vfs_status status = name_is_bad(remove->name);

	if (status != RR_VFS_OK)
		return status;
	if (remove->what != RR_VFS_REMOVE_ANY)
		return rr_v3_ask(job,
			remove->what == RR_VFS_REMOVE_FILE ? &rr_v3_work_remove : &rr_v3_work_rmdir,
			rr_v3_end);
	job->args.lookup.what = name_entry(&job->base.objects[0], remove->name);
	return rr_v3_call(job, NFSPROC3_LOOKUP, name_remove);
}

/* ---- RENAME ---- */

static void
name_rename_build(struct rr_v3_job *job)
{
	const struct rr_vfs_rename *rename = INPUT(job, rename);

	job->args.rename = (RENAME3args){ name_entry(&job->base.objects[0], rename->old_name),
		name_entry(&job->base.objects[1], rename->new_name) };
}

static enum rr_vfs_status
name_rename_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_rename *rename = INPUT(job, rename);
	const RENAME3resok *ok = &job->result.rename.u.resok;

	rr_v3_change(&ok->fromdir_wcc, &rename->from_change);
	rr_v3_change(&ok->todir_wcc, &rename->to_change);
	return status;
}

const struct rr_v3_work rr_v3_work_rename = { NFSPROC3_RENAME, 0, name_rename_build, name_rename_take };

enum rr_vfs_status
rr_v3_rename(struct rr_v3_job *job)
{
	const struct rr_vfs_rename *rename = INPUT(job, rename);
	enum rr_vfs_status status = name_is_bad(rename->old_name);

	if (status == RR_VFS_OK)
		status = name_is_bad(rename->new_name);
	return status == RR_VFS_OK ? rr_v3_ask(job, &rr_v3_work_rename, rr_v3_end) : status;
}
