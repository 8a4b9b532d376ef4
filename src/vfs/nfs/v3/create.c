/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creation of entries. Version 3 does not say whether an UNCHECKED creation has made the file: the file is
 * made GUARDED, and where it exists, it is looked up, and gets the size. An EXCLUSIVE creation sets no
 * attributes: they are set when the file is there.
 */
#include <string.h>

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

/* Keeps the handle of the object. Returns a status. */
static enum rr_vfs_status
create_take(struct rr_v3_job *job, nfs_fh3 given)
{
	struct rr_vfs_create *create = INPUT(job);
	struct rr_remote_handle *object = &job->base.objects[1];
	enum rr_vfs_status status = rr_remote_encode(
		&job->base.vfs->shared->handles, job->base.objects[0].export, given.data, &create->handle);

	if (status != RR_VFS_OK)
		return status;
	object->length = given.data.length;
	memcpy(object->data, given.data.data, given.data.length);
	return RR_VFS_OK;
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
		status = create_take(job, ok->object);
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

/* CREATE, MKDIR, SYMLINK and MKNOD have results of one form. */
static void
create_made(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_create *create = INPUT(job);
	const CREATE3res *result = &job->result.create;

	rr_v3_change(status == RR_VFS_OK ? &result->u.resok.dir_wcc : &result->u.resfail.dir_wcc,
		&create->directory_change);
	if (status == RR_VFS_EXIST && create->type == RR_VFS_FILE && create->how == RR_VFS_UNCHECKED) {
		create_look(job);
		return;
	}
	if (status != RR_VFS_OK) {
		rr_remote_end(&job->base, status);
		return;
	}
	job->base.created = true;
	rr_v3_known(&result->u.resok.obj_attributes, &create->object_after);
	if (!result->u.resok.obj.handle_follows || !create->object_after.valid) {
		create_look(job);
		return;
	}
	status = create_take(job, result->u.resok.obj.u.handle);
	if (status == RR_VFS_OK)
		create_known(job);
	else
		rr_remote_end(&job->base, status);
}

/* ---- The procedures ---- */

static enum rr_vfs_status
create_file(struct rr_v3_job *job, diropargs3 where, const sattr3 *attributes)
{
	const struct rr_vfs_create *create = INPUT(job);
	CREATE3args *args = &job->args.create;

	args->where = where;
	if (create->how == RR_VFS_EXCLUSIVE) {
		args->how.mode = EXCLUSIVE;
		memcpy(args->how.u.verf, create->verifier, sizeof(args->how.u.verf));
	} else {
		args->how.mode = GUARDED;
		args->how.u.obj_attributes = *attributes;
	}
	return rr_v3_call(job, NFSPROC3_CREATE, create_made);
}

static enum rr_vfs_status
create_node(struct rr_v3_job *job, diropargs3 where, const sattr3 *attributes)
{
	static const ftype3 types[] = {
		[RR_VFS_BLOCK_DEVICE] = NF3BLK,
		[RR_VFS_CHARACTER_DEVICE] = NF3CHR,
		[RR_VFS_SOCKET] = NF3SOCK,
		[RR_VFS_FIFO] = NF3FIFO,
	};
	const struct rr_vfs_create *create = INPUT(job);
	MKNOD3args *args = &job->args.mknod;

	args->where = where;
	args->what.type = types[create->type];
	if (create->type == RR_VFS_BLOCK_DEVICE || create->type == RR_VFS_CHARACTER_DEVICE) {
		args->what.u.device.dev_attributes = *attributes;
		args->what.u.device.spec = (specdata3){ create->device[0], create->device[1] };
	} else {
		args->what.u.pipe_attributes = *attributes;
	}
	return rr_v3_call(job, NFSPROC3_MKNOD, create_made);
}

enum rr_vfs_status
rr_v3_create(struct rr_v3_job *job)
{
	const struct rr_vfs_create *create = INPUT(job);
	const struct rr_vfs_set set = rr_remote_new_set(create);
	diropargs3 where = { rr_v3_fh(&job->base.objects[0]), create->name };
	char text[RR_VFS_NAME_MAX + 1];
	sattr3 attributes;
	enum rr_vfs_status status = rr_vfs_name(create->name, text);

	job->base.objects[1].export = job->base.objects[0].export;
	if (status == RR_VFS_OK)
		status = rr_v3_set(&set, &attributes);
	if (status != RR_VFS_OK)
		return status;
	switch (create->type) {
	case RR_VFS_FILE: return create_file(job, where, &attributes);
	case RR_VFS_DIRECTORY:
		job->args.mkdir = (MKDIR3args){ where, attributes };
		return rr_v3_call(job, NFSPROC3_MKDIR, create_made);
	case RR_VFS_LINK:
		job->args.symlink = (SYMLINK3args){ where, { attributes, create->target } };
		return rr_v3_call(job, NFSPROC3_SYMLINK, create_made);
	case RR_VFS_BLOCK_DEVICE:
	case RR_VFS_CHARACTER_DEVICE:
	case RR_VFS_SOCKET:
	case RR_VFS_FIFO: return create_node(job, where, &attributes);
	}
	return RR_VFS_WRONG_TYPE;
}
