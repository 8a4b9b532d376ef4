/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations lookup, link, remove and rename. vfs.h describes what each of them does, with
 * its arguments and results. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "vfs/ceph/ceph_private.h"

/* Gets the attributes of an object and checks that it is a directory. Returns RR_VFS_NOTDIR if it is not. */
static enum rr_vfs_status
names_directory(struct rr_ceph_job *job, const struct rr_ceph_object *object, struct ceph_statx *st)
{
	enum rr_vfs_status status = rr_ceph_stat(job, object->inode, st);

	if (status != RR_VFS_OK)
		return status;
	return S_ISDIR(st->stx_mode) ? RR_VFS_OK : RR_VFS_NOTDIR;
}

bool
rr_ceph_is_root(const struct rr_ceph *ceph, const struct rr_ceph_object *object)
{
	for (uint32_t i = 0; i < ceph->config.export_count; i++)
		if (ceph->roots[i].hash == object->export && ceph->roots[i].number == object->number)
			return true;
	return false;
}

/* Gets the attributes of the object that has this name in a directory. libcephfs checks that the caller may
 * search the directory. */
static enum rr_vfs_status
names_stat(struct rr_ceph_job *job, const struct rr_ceph_object *directory, const char *name,
	struct ceph_statx *st)
{
	const struct rr_ceph *ceph = job->ceph;
	struct Inode *inode;
	int result = ceph->lib.ll_lookup(
		ceph->mount, directory->inode, name, &inode, st, CEPH_STATX_ALL_STATS, 0, job->caller);

	if (result == 0)
		ceph->lib.ll_put(ceph->mount, inode);
	return rr_ceph_status(result);
}

enum rr_vfs_status
rr_ceph_lookup(struct rr_ceph_job *job)
{
	struct rr_vfs_lookup *lookup = (struct rr_vfs_lookup *)job->base.call;
	char text[RR_VFS_NAME_MAX + 1];
	struct ceph_statx st;
	enum rr_vfs_status status = names_directory(job, &job->object, &st);

	if (status == RR_VFS_OK)
		status = rr_vfs_name(lookup->name, text);
	if (status != RR_VFS_OK && status != RR_VFS_BAD_NAME)
		return status;
	if (status == RR_VFS_BAD_NAME && !rr_ceph_may(&st, job->base.call->caller, 1))
		return RR_VFS_ACCESS;
	/* "." in any directory, and ".." in an export's root, is the directory itself, whose attributes st
	 * has already. Any other name, and ".." elsewhere, is looked up. */
	if (status == RR_VFS_OK || (lookup->name.length == 2 && !rr_ceph_is_root(job->ceph, &job->object)))
		status = names_stat(job, &job->object, text, &st);
	else
		status = RR_VFS_OK;
	if (status != RR_VFS_OK)
		return status;
	rr_ceph_handle(job->ceph, job->object.export, &st, job->object.snapshot, &lookup->handle);
	rr_ceph_attributes(job->ceph, &st, &lookup->attributes);
	return RR_VFS_OK;
}

/* Each condition is checked before ll_link(), so that the status says which of them does not hold. */
enum rr_vfs_status
rr_ceph_link(struct rr_ceph_job *job)
{
	struct rr_vfs_link *link = (struct rr_vfs_link *)job->base.call;
	const struct rr_ceph *ceph = job->ceph;
	char text[RR_VFS_NAME_MAX + 1];
	struct ceph_statx st, there;
	enum rr_vfs_status status = names_directory(job, &job->second, &st);

	if (status == RR_VFS_OK)
		status = rr_vfs_name(link->name, text);
	if (status == RR_VFS_OK)
		status = rr_ceph_stat(job, job->object.inode, &st);
	if (status != RR_VFS_OK)
		return status;
	if (names_stat(job, &job->second, text, &there) == RR_VFS_OK)
		return RR_VFS_EXIST;
	if (job->object.export != job->second.export)
		return RR_VFS_XDEV;
	if (S_ISDIR(st.stx_mode))
		return RR_VFS_ISDIR;
	/* The caller needs no permission on the file itself. */
	status = rr_ceph_stat(job, job->second.inode, &st);
	if (status == RR_VFS_OK && !rr_ceph_may(&st, job->base.call->caller, 3))
		return RR_VFS_ACCESS;
	if (status != RR_VFS_OK)
		return status;
	return rr_ceph_status(
		ceph->lib.ll_link(ceph->mount, job->object.inode, job->second.inode, text, job->caller));
}

enum rr_vfs_status
rr_ceph_remove(struct rr_ceph_job *job)
{
	struct rr_vfs_remove *remove = (struct rr_vfs_remove *)job->base.call;
	const struct rr_ceph *ceph = job->ceph;
	char text[RR_VFS_NAME_MAX + 1];
	struct ceph_statx st;
	enum rr_vfs_status status = names_directory(job, &job->object, &st);
	bool directory;

	if (status == RR_VFS_OK)
		status = rr_vfs_name(remove->name, text);
	if (status == RR_VFS_OK)
		status = names_stat(job, &job->object, text, &st);
	if (status != RR_VFS_OK)
		return status;
	directory = S_ISDIR(st.stx_mode);
	if (directory && remove->what == RR_VFS_REMOVE_FILE)
		return RR_VFS_ISDIR;
	if (!directory && remove->what == RR_VFS_REMOVE_DIRECTORY)
		return RR_VFS_NOTDIR;
	if (directory)
		return rr_ceph_status(ceph->lib.ll_rmdir(ceph->mount, job->object.inode, text, job->caller));
	return rr_ceph_status(ceph->lib.ll_unlink(ceph->mount, job->object.inode, text, job->caller));
}

/* Checks that a rename names two directories of one export and two valid names, and copies the names into the
 * C strings old and new. */
static enum rr_vfs_status
names_rename(struct rr_ceph_job *job, char old[RR_VFS_NAME_MAX + 1], char new[RR_VFS_NAME_MAX + 1])
{
	struct rr_vfs_rename *rename = (struct rr_vfs_rename *)job->base.call;
	struct ceph_statx st;
	enum rr_vfs_status status = names_directory(job, &job->object, &st);

	if (status == RR_VFS_OK)
		status = names_directory(job, &job->second, &st);
	if (status == RR_VFS_OK)
		status = rr_vfs_name(rename->old_name, old);
	if (status == RR_VFS_OK)
		status = rr_vfs_name(rename->new_name, new);
	if (status == RR_VFS_OK && job->object.export != job->second.export)
		status = RR_VFS_XDEV;
	return status;
}

enum rr_vfs_status
rr_ceph_rename(struct rr_ceph_job *job)
{
	const struct rr_ceph *ceph = job->ceph;
	char old[RR_VFS_NAME_MAX + 1], new[RR_VFS_NAME_MAX + 1];
	struct ceph_statx moved, replaced;
	enum rr_vfs_status status = names_rename(job, old, new), there;

	if (status == RR_VFS_OK)
		status = names_stat(job, &job->object, old, &moved);
	if (status != RR_VFS_OK)
		return status;
	there = names_stat(job, &job->second, new, &replaced);
	/* RFC 1813, 3.3.14: "RENAME should perform no action and return NFS3_OK." */
	if (there == RR_VFS_OK && moved.stx_ino == replaced.stx_ino)
		return RR_VFS_OK;
	status = rr_ceph_status(ceph->lib.ll_rename(
		ceph->mount, job->object.inode, old, job->second.inode, new, job->caller));
	/* A directory and an object of another type cannot replace each other. RFC 1813, 3.3.14, has the
	 * error NFS3ERR_EXIST for that. */
	if ((status == RR_VFS_NOTDIR || status == RR_VFS_ISDIR) && there == RR_VFS_OK)
		return RR_VFS_EXIST;
	return status;
}
