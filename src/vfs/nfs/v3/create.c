/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creation of entries. Version 3 does not say whether an UNCHECKED creation has made the file: the file is
 * made GUARDED, and where it exists, it is looked up, and gets the size. An EXCLUSIVE creation sets no
 * attributes: they are set when the file is there.
 */
#include <string.h>

#include "vfs/fattr3.h"
#include "vfs/nfs/v3/v3_private.h"

#define INPUT(job) rr_container((job)->base.call, struct rr_vfs_create, call)

/* The attributes that are set later, after an EXCLUSIVE creation: the times hold the verifier. */
enum {
	CREATE_TIMES = RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_TIME |
		       RR_VFS_SET_MODIFY_NOW
};

static void
create_undone(struct rr_v3_job *job, enum rr_vfs_status status)
{
	(void)status;
	rr_remote_end(&job->base, RR_VFS_PERM);
}

/* Removes the object again, whose owner is not the wanted one. */
static void
create_undo(struct rr_v3_job *job)
{
	const struct rr_vfs_create *create = INPUT(job);

	job->args.remove.object = (diropargs3){ rr_v3_fh(&job->base.objects[0]), create->name };
	rr_v3_call(job, create->type == RR_VFS_DIRECTORY ? NFSPROC3_RMDIR : NFSPROC3_REMOVE, create_undone);
}

/* Notes which attributes the object has as they were wanted, and ends the operation. */
static void
create_end(struct rr_v3_job *job)
{
	struct rr_vfs_create *create = INPUT(job);
	const struct rr_vfs_attributes *attributes = &create->object_after.attributes;
	const struct rr_vfs_set *set = &create->set;
	bool uid = !(set->mask & RR_VFS_SET_UID) || attributes->uid == set->uid;
	bool gid = !(set->mask & RR_VFS_SET_GID) || attributes->gid == set->gid;

	if (job->base.created && create->object_after.valid && create->must_own && !(uid && gid)) {
		create_undo(job);
		return;
	}
	create->created = job->base.created;
	create->applied = job->base.created ? set->mask : set->mask & RR_VFS_SET_SIZE;
	if (create->type == RR_VFS_LINK)
		create->applied &= ~(uint32_t)(RR_VFS_SET_MODE | RR_VFS_SET_UMASK);
	if (create->how == RR_VFS_EXCLUSIVE && create->type == RR_VFS_FILE)
		create->applied &= ~(uint32_t)CREATE_TIMES;
	if (job->base.created && create->object_after.valid)
		create->applied &= ~(uint32_t)((uid ? 0 : RR_VFS_SET_UID) | (gid ? 0 : RR_VFS_SET_GID));
	rr_remote_end(&job->base, RR_VFS_OK);
}

/* ---- The object that was made, or found ---- */

static void
create_set_later(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_create *create = INPUT(job);

	if (status != RR_VFS_OK) {
		rr_remote_end(&job->base, status);
		return;
	}
	rr_v3_known(&job->result.setattr.u.resok.obj_wcc.after, &create->object_after);
	create_end(job);
}

/* Goes on when the object is known: sets what could not be set before. */
static void
create_known(struct rr_v3_job *job)
{
	const struct rr_vfs_create *create = INPUT(job);
	bool exclusive = create->how == RR_VFS_EXCLUSIVE && create->type == RR_VFS_FILE;
	struct rr_vfs_set set = exclusive ? rr_remote_new_set(create) : create->set;

	set.mask &= exclusive ? ~(uint32_t)CREATE_TIMES : job->base.created ? 0 : RR_VFS_SET_SIZE;
	if (set.mask == 0) {
		create_end(job);
		return;
	}
	job->args.setattr = (SETATTR3args){ .object = rr_v3_fh(&job->base.objects[1]) };
	rr_v3_set(&set, &job->args.setattr.new_attributes);
	rr_v3_call(job, NFSPROC3_SETATTR, create_set_later);
}

/* Goes on with the answer to a LOOKUP of the entry: of a file that existed, or of one that was made and whose
 * handle the other server did not give. */
static void
create_found(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_create *create = INPUT(job);
	const LOOKUP3resok *ok = &job->result.lookup.u.resok;

	if (status == RR_VFS_OK) {
		rr_v3_known(&ok->obj_attributes, &create->object_after);
		status = rr_remote_found(&job->base, ok->object.data, &create->handle);
	}
	if (status == RR_VFS_OK && !job->base.created &&
		(!create->object_after.valid || create->object_after.attributes.type != RR_VFS_FILE))
		status = RR_VFS_EXIST;
	if (status == RR_VFS_OK)
		create_known(job);
	else
		rr_remote_end(&job->base, status);
}

static void
create_look(struct rr_v3_job *job)
{
	job->args.lookup.what = (diropargs3){ rr_v3_fh(&job->base.objects[0]), INPUT(job)->name };
	rr_v3_call(job, NFSPROC3_LOOKUP, create_found);
}

static void
create_made(struct rr_v3_job *job, enum rr_vfs_status status)
{
	const struct rr_vfs_create *create = INPUT(job);

	if (status == RR_VFS_EXIST && create->type == RR_VFS_FILE && create->how == RR_VFS_UNCHECKED)
		create_look(job);
	else if (status != RR_VFS_OK)
		rr_remote_end(&job->base, status);
	else if (job->base.objects[1].length == 0 || !create->object_after.valid)
		create_look(job);
	else
		create_known(job);
}

/* ---- The procedures ---- */

/* Returns where the object is made. */
static diropargs3
create_where(const struct rr_v3_job *job)
{
	return (diropargs3){ rr_v3_fh(&job->base.objects[0]), INPUT(job)->name };
}

/* Returns the attributes with which the object is made. */
static sattr3
create_attributes(const struct rr_v3_job *job)
{
	const struct rr_vfs_set set = job->base.lean ? INPUT(job)->set : rr_remote_new_set(INPUT(job));
	sattr3 attributes;

	rr_v3_set(&set, &attributes);
	return attributes;
}

static void
create_file_build(struct rr_v3_job *job)
{
	const struct rr_vfs_create *create = INPUT(job);
	CREATE3args *args = &job->args.create;

	args->where = create_where(job);
	if (create->how == RR_VFS_EXCLUSIVE) {
		args->how.mode = EXCLUSIVE;
		memcpy(args->how.u.verf, create->verifier, sizeof(args->how.u.verf));
	} else {
		args->how.mode = GUARDED;
		args->how.u.obj_attributes = create_attributes(job);
	}
}

static void
create_directory_build(struct rr_v3_job *job)
{
	job->args.mkdir = (MKDIR3args){ create_where(job), create_attributes(job) };
}

static void
create_link_build(struct rr_v3_job *job)
{
	job->args.symlink =
		(SYMLINK3args){ create_where(job), { create_attributes(job), INPUT(job)->target } };
}

static void
create_node_build(struct rr_v3_job *job)
{
	static const ftype3 types[] = {
		[RR_VFS_BLOCK_DEVICE] = NF3BLK,
		[RR_VFS_CHARACTER_DEVICE] = NF3CHR,
		[RR_VFS_SOCKET] = NF3SOCK,
		[RR_VFS_FIFO] = NF3FIFO,
	};
	const struct rr_vfs_create *create = INPUT(job);
	MKNOD3args *args = &job->args.mknod;

	args->where = create_where(job);
	args->what.type = types[create->type];
	if (create->type == RR_VFS_BLOCK_DEVICE || create->type == RR_VFS_CHARACTER_DEVICE) {
		args->what.u.device.dev_attributes = create_attributes(job);
		args->what.u.device.spec = (specdata3){ create->device[0], create->device[1] };
	} else {
		args->what.u.pipe_attributes = create_attributes(job);
	}
}

/* The results of all of them are of one form. */
static enum rr_vfs_status
create_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_create *create = INPUT(job);
	const CREATE3res *result = &job->result.create;
	const CREATE3resok *ok = &result->u.resok;

	rr_v3_change(
		status == RR_VFS_OK ? &ok->dir_wcc : &result->u.resfail.dir_wcc, &create->directory_change);
	if (status != RR_VFS_OK)
		return status;
	job->base.created = true;
	create->object_after.valid =
		ok->obj_attributes.attributes_follow &&
		rr_v3_take(job, &ok->obj_attributes.u.attributes, &create->object_after.attributes);
	job->base.objects[1].length = 0;
	return ok->obj.handle_follows ? rr_remote_found(&job->base, ok->obj.u.handle.data, &create->handle)
				      : RR_VFS_OK;
}

const struct rr_v3_work rr_v3_work_create = { NFSPROC3_CREATE, 0, create_file_build, create_take };
const struct rr_v3_work rr_v3_work_mkdir = { NFSPROC3_MKDIR, 0, create_directory_build, create_take };
const struct rr_v3_work rr_v3_work_symlink = { NFSPROC3_SYMLINK, 0, create_link_build, create_take };
const struct rr_v3_work rr_v3_work_mknod = { NFSPROC3_MKNOD, 0, create_node_build, create_take };

enum rr_vfs_status
rr_v3_create(struct rr_v3_job *job)
{
	const struct rr_vfs_create *create = INPUT(job);
	char text[RR_VFS_NAME_MAX + 1];
	enum rr_vfs_status status = rr_vfs_name(create->name, text);

	job->base.objects[1].export = job->base.objects[0].export;
	if (status == RR_VFS_OK && !rr_fattr3_can_set(&create->set))
		status = RR_VFS_INVAL;
	if (status != RR_VFS_OK)
		return status;
	switch (create->type) {
	case RR_VFS_FILE: return rr_v3_ask(job, &rr_v3_work_create, create_made);
	case RR_VFS_DIRECTORY: return rr_v3_ask(job, &rr_v3_work_mkdir, create_made);
	case RR_VFS_LINK: return rr_v3_ask(job, &rr_v3_work_symlink, create_made);
	case RR_VFS_BLOCK_DEVICE:
	case RR_VFS_CHARACTER_DEVICE:
	case RR_VFS_SOCKET:
	case RR_VFS_FIFO: return rr_v3_ask(job, &rr_v3_work_mknod, create_made);
	}
	return RR_VFS_WRONG_TYPE;
}
