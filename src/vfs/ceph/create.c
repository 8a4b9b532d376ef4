/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation create. vfs.h describes it, with its arguments and results. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "vfs/ceph/ceph_private.h"

enum { MODE_BITS = 07777 };

/* The object that a call is to make. */
struct create_plan {
	struct rr_ceph_job *job;
	struct rr_vfs_create *create;
	struct rr_vfs_set set; /* for a file made exclusively, the times contain the verifier */
	bool exclusive;        /* a regular file, with RR_VFS_EXCLUSIVE */
	mode_t mode;           /* the permissions, without the type */
	char text[RR_VFS_NAME_MAX + 1], target[RR_VFS_TARGET_MAX + 1]; /* name, and target of a link */
	struct Inode *inode;  /* of the object, once it was found or made; with a reference */
	struct ceph_statx st; /* of the directory at first, then of the object */
};

/* Puts the client's verifier into the times that are to be set on the new file. By the verifier a repeated
 * exclusive creation is recognized. */
static void
create_verifier(struct create_plan *plan)
{
	struct rr_vfs_set *set = &plan->set;
	struct rr_vfs_time times[2];

	set->mask &= ~(uint32_t)(RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_NOW);
	set->mask |= RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_MODIFY_TIME;
	rr_vfs_verifier_times(plan->create->verifier, times);
	set->access_time = times[0];
	set->modify_time = times[1];
}

/* Checks the arguments of a create call, and fills the plan: the attributes of the directory, the name, the
 * target of a symbolic link, and the mode of the new object. Where the call gives no mode, only the owner may
 * use the object. */
static enum rr_vfs_status
create_check(struct create_plan *plan)
{
	struct rr_ceph_job *job = plan->job;
	enum rr_vfs_status status = rr_ceph_stat(job, job->object.inode, &plan->st);

	if (rr_vfs_mode_of(plan->create->type) == 0)
		return RR_VFS_WRONG_TYPE;
	if (status == RR_VFS_OK && !S_ISDIR(plan->st.stx_mode))
		status = RR_VFS_NOTDIR;
	if (status == RR_VFS_OK)
		status = rr_vfs_name(plan->create->name, plan->text);
	if (status == RR_VFS_OK && plan->create->type == RR_VFS_LINK)
		status = rr_vfs_target(plan->create->target, plan->target);
	plan->mode = plan->create->type == RR_VFS_DIRECTORY ? 0700 : 0600;
	if (plan->set.mask & RR_VFS_SET_MODE)
		plan->mode = plan->set.mode & MODE_BITS;
	if (plan->set.mask & RR_VFS_SET_UMASK)
		plan->mode &= ~plan->set.umask;
	/* A new directory inherits the set-group-id bit of its directory, whatever the caller's mode says. */
	if (plan->create->type == RR_VFS_DIRECTORY)
		plan->mode |= plan->st.stx_mode & S_ISGID;
	return status;
}

/* Makes the new object with its name in the directory, and stores its inode and attributes in the plan. Only
 * user 0 may make a device. Returns 0 or a negative errno. */
static int
create_entry(struct create_plan *plan)
{
	const struct rr_ceph *ceph = plan->job->ceph;
	const struct rr_ceph_library *lib = &ceph->lib;
	struct Inode *directory = plan->job->object.inode;
	const UserPerm *caller = plan->job->caller;
	const unsigned want = CEPH_STATX_ALL_STATS;
	mode_t type = rr_vfs_mode_of(plan->create->type);
	dev_t device = makedev(plan->create->device[0], plan->create->device[1]);
	struct Fh *file;
	int result;

	if ((type == S_IFBLK || type == S_IFCHR) && plan->job->base.call->caller->uid != 0)
		return -EPERM;
	if (type == S_IFDIR)
		return lib->ll_mkdir(ceph->mount, directory, plan->text, plan->mode, &plan->inode, &plan->st,
			want, 0, caller);
	if (type == S_IFLNK)
		return lib->ll_symlink(ceph->mount, directory, plan->text, plan->target, &plan->inode,
			&plan->st, want, 0, caller);
	if (type != S_IFREG)
		return lib->ll_mknod(ceph->mount, directory, plan->text, type | plan->mode, device,
			&plan->inode, &plan->st, want, 0, caller);
	result = lib->ll_create(ceph->mount, directory, plan->text, plan->mode, O_CREAT | O_EXCL | O_RDWR,
		&plan->inode, &file, &plan->st, want, 0, caller);
	if (result == 0)
		lib->ll_close(ceph->mount, file);
	return result;
}

/* Sets those attributes of the new object that could not be given when the object was made, brings the object
 * to stable storage, and notes in create->applied which of the wanted attributes are set. */
static enum rr_vfs_status
create_adjust(struct create_plan *plan)
{
	struct rr_vfs_set set = plan->set;
	uint32_t applied = set.mask & (RR_VFS_SET_MODE | RR_VFS_SET_UMASK);
	enum rr_vfs_status status = RR_VFS_OK;

	set.mask &= ~(uint32_t)(RR_VFS_SET_MODE | RR_VFS_SET_UMASK);
	/* A symbolic link has no mode of its own. */
	if (plan->create->type == RR_VFS_LINK)
		applied = 0;
	/* Setting an owner removes bits of the mode, so the mode is set again. */
	if ((plan->st.stx_mode & MODE_BITS) != plan->mode || (set.mask & (RR_VFS_SET_UID | RR_VFS_SET_GID))) {
		set.mask |= RR_VFS_SET_MODE;
		set.mode = plan->mode;
	}
	if ((set.mask & RR_VFS_SET_SIZE) && plan->create->type == RR_VFS_FILE) {
		status = rr_ceph_set_size(plan->job, plan->inode, set.size);
		applied |= RR_VFS_SET_SIZE;
	}
	if (status == RR_VFS_OK)
		status = rr_ceph_set(plan->job, plan->inode, &set, !plan->create->must_own, &applied);
	if (status == RR_VFS_OK)
		status = rr_ceph_sync(plan->job, plan->inode, false);
	plan->create->applied = applied & plan->create->set.mask;
	if (plan->exclusive)
		plan->create->applied &= ~(uint32_t)(RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_MODIFY_TIME);
	return status;
}

/* Removes a new object again, because its attributes could not be set. The caller then returns the error of
 * that setting; an error of the removal is ignored, as it leaves nothing more to do. */
static void
create_undo(const struct create_plan *plan)
{
	const struct rr_ceph *ceph = plan->job->ceph;
	struct Inode *directory = plan->job->object.inode;

	plan->create->applied = 0;
	if (plan->create->type == RR_VFS_DIRECTORY)
		ceph->lib.ll_rmdir(ceph->mount, directory, plan->text, ceph->self);
	else
		ceph->lib.ll_unlink(ceph->mount, directory, plan->text, ceph->self);
}

/* Looks up the name, and decides whether the call may use the existing object: a file that this exclusive
 * creation, sent before by the same client, has made, or, for RR_VFS_UNCHECKED, any regular file. In the
 * latter case also sets the size of the file where the call asks for that. Returns RR_VFS_NOENT if the name
 * does not exist, and RR_VFS_EXIST if its object may not be used. */
static enum rr_vfs_status
create_existing(struct create_plan *plan)
{
	struct rr_ceph_job *job = plan->job;
	const struct rr_ceph *ceph = job->ceph;
	const struct ceph_statx *st = &plan->st;
	enum rr_vfs_status status = RR_VFS_EXIST;
	int result = ceph->lib.ll_lookup(ceph->mount, job->object.inode, plan->text, &plan->inode, &plan->st,
		CEPH_STATX_ALL_STATS, 0, job->caller);

	if (result < 0)
		return rr_ceph_status(result);
	if (plan->create->type != RR_VFS_FILE || !S_ISREG(st->stx_mode))
		return RR_VFS_EXIST;
	if (plan->exclusive && st->stx_atime.tv_sec == plan->set.access_time.seconds &&
		st->stx_mtime.tv_sec == plan->set.modify_time.seconds &&
		st->stx_atime.tv_nsec == plan->set.access_time.nanoseconds &&
		st->stx_mtime.tv_nsec == plan->set.modify_time.nanoseconds)
		status = RR_VFS_OK;
	if (plan->create->how != RR_VFS_UNCHECKED)
		return status;
	if (!(plan->set.mask & RR_VFS_SET_SIZE))
		return RR_VFS_OK;
	status = rr_ceph_may_use_found(job, st, RR_VFS_SHARE_WRITE);
	if (status == RR_VFS_OK)
		status = rr_ceph_set_size(job, plan->inode, plan->set.size);
	if (status != RR_VFS_OK)
		return status;
	plan->create->applied = RR_VFS_SET_SIZE;
	return rr_ceph_sync(job, plan->inode, false);
}

/* Uses the existing object that has the name where the call allows that; else makes a new object and sets its
 * attributes. A new object whose attributes cannot be set is removed again. */
static enum rr_vfs_status
create_do(struct create_plan *plan)
{
	enum rr_vfs_status status = create_existing(plan);
	int result;

	if (status != RR_VFS_NOENT)
		return status;
	result = create_entry(plan);
	/* Another client has made the entry meanwhile. */
	if (result == -EEXIST)
		return create_existing(plan);
	if (result < 0)
		return rr_ceph_status(result);
	plan->create->created = true;
	status = create_adjust(plan);
	if (status == RR_VFS_OK)
		return rr_ceph_stat(plan->job, plan->inode, &plan->st);
	create_undo(plan);
	plan->create->created = false;
	return status;
}

/* After success plan.inode is the inode of the new object, or of an existing one that the call may use. */
enum rr_vfs_status
rr_ceph_create(struct rr_ceph_job *job)
{
	struct rr_vfs_create *create = (struct rr_vfs_create *)job->base.call;
	struct create_plan plan = { .job = job,
		.create = create,
		.set = create->set,
		.exclusive = create->type == RR_VFS_FILE && create->how == RR_VFS_EXCLUSIVE };
	enum rr_vfs_status status;

	if (plan.exclusive)
		create_verifier(&plan);
	status = create_check(&plan);
	if (status == RR_VFS_OK)
		status = create_do(&plan);
	if (status == RR_VFS_OK)
		status = rr_ceph_stat(job, plan.inode, &plan.st);
	if (plan.inode)
		job->ceph->lib.ll_put(job->ceph->mount, plan.inode);
	if (status != RR_VFS_OK)
		return status;
	rr_ceph_handle(job->ceph, job->object.export, &plan.st, job->object.snapshot, &create->handle);
	create->object_after.valid = true;
	rr_ceph_attributes(job->ceph, &plan.st, &create->object_after.attributes);
	return RR_VFS_OK;
}
