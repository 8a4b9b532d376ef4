/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on an object and its attributes, and on its file system. */
#include <string.h>

#include "base/checked.h"
#include "vfs/fattr3.h"
#include "vfs/nfs/v3/v3_private.h"

/* Returns the structure of the operation. */
#define INPUT(job, type) rr_container((job)->base.call, struct rr_vfs_##type, call)

/* ---- GETATTR ---- */

static void
object_get_build(struct rr_v3_job *job)
{
	job->args.getattr.object = rr_v3_fh(&job->base.objects[0]);
}

static enum rr_vfs_status
object_get_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	if (status == RR_VFS_OK && !rr_v3_take(job, &job->result.getattr.u.resok.obj_attributes,
					   &INPUT(job, getattr)->attributes))
		status = RR_VFS_IO;
	return status;
}

const struct rr_v3_work rr_v3_work_getattr = { NFSPROC3_GETATTR, 0, object_get_build, object_get_take };

/* ---- SETATTR ---- */

static void
object_set_build(struct rr_v3_job *job)
{
	const struct rr_vfs_setattr *setattr = INPUT(job, setattr);
	SETATTR3args *args = &job->args.setattr;

	args->object = rr_v3_fh(&job->base.objects[0]);
	args->guard.check = setattr->guarded;
	args->guard.u.obj_ctime = (nfstime3){ (uint32_t)setattr->guard.seconds, setattr->guard.nanoseconds };
	rr_v3_set(&setattr->set, &args->new_attributes);
}

static enum rr_vfs_status
object_set_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_setattr *setattr = INPUT(job, setattr);

	rr_v3_change(&job->result.setattr.u.resok.obj_wcc, &setattr->change);
	if (status == RR_VFS_OK)
		setattr->applied = setattr->set.mask;
	if (setattr->change.after.valid && setattr->change.after.attributes.type == RR_VFS_LINK)
		setattr->applied &= ~(uint32_t)RR_VFS_SET_MODE;
	return status;
}

const struct rr_v3_work rr_v3_work_setattr = { NFSPROC3_SETATTR, 0, object_set_build, object_set_take };

enum rr_vfs_status
rr_v3_setattr(struct rr_v3_job *job)
{
	const struct rr_vfs_setattr *setattr = INPUT(job, setattr);

	/* Only what the open gives, the size, is set as the user that has opened the file. */
	if (job->base.open && setattr->set.mask & ~(uint32_t)RR_VFS_SET_SIZE) {
		job->base.user.uid = job->base.call->caller->uid;
		job->base.user.gid = job->base.call->caller->gid;
	}
	return rr_fattr3_can_set(&setattr->set) ? rr_v3_ask(job, &rr_v3_work_setattr, rr_v3_end)
						: RR_VFS_INVAL;
}

/* ---- ACCESS ---- */

/* Returns the rights that make sense for an object of the type. */
static uint32_t
object_rights(enum rr_vfs_type type)
{
	return type == RR_VFS_DIRECTORY
		       ? RR_VFS_MAY_READ | RR_VFS_MAY_LOOKUP | RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND |
				 RR_VFS_MAY_DELETE
		       : RR_VFS_MAY_READ | RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND | RR_VFS_MAY_EXECUTE;
}

static void
object_may_build(struct rr_v3_job *job)
{
	const uint32_t all = ACCESS3_READ | ACCESS3_LOOKUP | ACCESS3_MODIFY | ACCESS3_EXTEND |
			     ACCESS3_DELETE | ACCESS3_EXECUTE;

	job->args.access = (ACCESS3args){ rr_v3_fh(&job->base.objects[0]), INPUT(job, access)->asked & all };
}

static enum rr_vfs_status
object_may_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_access *access = INPUT(job, access);
	const ACCESS3resok *ok = &job->result.access.u.resok;

	rr_v3_known(&ok->obj_attributes, &access->object_after);
	if (status != RR_VFS_OK)
		return status;
	access->supported = access->asked & job->args.access.access;
	if (access->object_after.valid)
		access->supported &= object_rights(access->object_after.attributes.type);
	access->granted = ok->access & access->supported;
	if (!job->base.lean && rr_vfs_is_read_only(&job->base.vfs->base, job->base.call))
		access->granted &= ~(uint32_t)(RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND | RR_VFS_MAY_DELETE);
	return RR_VFS_OK;
}

const struct rr_v3_work rr_v3_work_access = { NFSPROC3_ACCESS, 0, object_may_build, object_may_take };

/* ---- READLINK ---- */

static void
object_target_build(struct rr_v3_job *job)
{
	job->args.readlink.symlink = rr_v3_fh(&job->base.objects[0]);
}

static enum rr_vfs_status
object_target_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_readlink *readlink = INPUT(job, readlink);
	const READLINK3resok *ok = &job->result.readlink.u.resok;

	rr_v3_known(&ok->symlink_attributes, &readlink->object_after);
	/* RFC 1813, 3.3.5: "NFS3ERR_INVAL The READLINK operation is only valid for symbolic links." */
	if (status == RR_VFS_INVAL)
		status = RR_VFS_WRONG_TYPE;
	if (status == RR_VFS_OK && ok->data.length > readlink->size)
		status = RR_VFS_IO;
	if (status != RR_VFS_OK)
		return status;
	readlink->length = ok->data.length;
	if (ok->data.length > 0)
		memcpy(readlink->target, ok->data.data, ok->data.length);
	return RR_VFS_OK;
}

/* The target is small, and Linux's servers use a Write chunk for it wrongly, so it may come in a Reply
 * chunk. */
const struct rr_v3_work rr_v3_work_readlink = { NFSPROC3_READLINK, RR_VFS_TARGET_MAX + 1, object_target_build,
	object_target_take };

/* ---- File systems ---- */

static void
object_space_build(struct rr_v3_job *job)
{
	job->args.fsstat.fsroot = rr_v3_fh(&job->base.objects[0]);
}

static enum rr_vfs_status
object_space_take(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_statfs *statfs = INPUT(job, statfs);
	const FSSTAT3resok *ok = &job->result.fsstat.u.resok;

	rr_v3_known(&ok->obj_attributes, &statfs->object_after);
	if (status != RR_VFS_OK)
		return status;
	statfs->octets = ok->tbytes;
	statfs->octets_free = ok->fbytes;
	statfs->octets_for_all = ok->abytes;
	statfs->files = ok->tfiles;
	statfs->files_free = ok->ffiles;
	statfs->files_for_all = ok->afiles;
	return RR_VFS_OK;
}

const struct rr_v3_work rr_v3_work_statfs = { NFSPROC3_FSSTAT, 0, object_space_build, object_space_take };

/* A server that says how many entries a list has serves lists. */
static void
object_lists(struct rr_v3_job *job, enum rr_vfs_status status)
{
	INPUT(job, limits)->acls = status == RR_VFS_OK;
	rr_remote_end(&job->base, status == RR_VFS_BUSY ? status : RR_VFS_OK);
}

static void
object_names(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_limits *limits = INPUT(job, limits);
	const PATHCONF3resok *ok = &job->result.pathconf.u.resok;

	rr_v3_known(&ok->obj_attributes, &limits->object_after);
	if (status != RR_VFS_OK) {
		rr_remote_end(&job->base, status);
		return;
	}
	limits->link_max = ok->linkmax;
	limits->name_max = (uint32_t)rr_min(ok->name_max, RR_VFS_NAME_MAX);
	limits->case_insensitive = ok->case_insensitive;
	limits->case_preserving = ok->case_preserving;
	job->args.getacl = (GETACL3args){ rr_v3_fh(&job->base.objects[0]), NA_ACLCNT };
	rr_v3_acl_call(job, ACLPROC3_GETACL, object_lists);
}

static void
object_sizes(struct rr_v3_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_limits *limits = INPUT(job, limits);
	const FSINFO3resok *ok = &job->result.fsinfo.u.resok;

	if (status != RR_VFS_OK) {
		rr_remote_end(&job->base, status);
		return;
	}
	limits->file_max = ok->maxfilesize;
	limits->time_delta = (struct rr_vfs_time){ ok->time_delta.seconds, ok->time_delta.nseconds };
	limits->clone_block = 0;
	limits->xattrs = false;
	job->args.pathconf.object = rr_v3_fh(&job->base.objects[0]);
	rr_v3_call(job, NFSPROC3_PATHCONF, object_names);
}

enum rr_vfs_status
rr_v3_limits(struct rr_v3_job *job)
{
	job->args.fsinfo.fsroot = rr_v3_fh(&job->base.objects[0]);
	return rr_v3_call(job, NFSPROC3_FSINFO, object_sizes);
}
