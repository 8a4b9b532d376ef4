/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations getattr, setattr, access, readlink, statfs and limits. vfs.h describes what
 * each of them does, with its arguments and results. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "vfs/ceph/ceph_private.h"

/* SECTOR: octets of one stx_blocks. LINKS: the greatest number of names that is reported for a file. */
enum { NANOSECONDS = 1000000000, MODE_BITS = 07777, SECTOR = 512, LINKS = 32000 };

/* The greatest size of a file, unless max_file_size of the file system was changed. */
#define CEPH_FILE_MAX (UINT64_C(1) << 40)

enum rr_vfs_status
rr_ceph_stat(struct rr_ceph_job *job, struct Inode *inode, struct ceph_statx *st)
{
	const struct rr_ceph *ceph = job->ceph;

	return rr_ceph_status(
		ceph->lib.ll_getattr(ceph->mount, inode, st, CEPH_STATX_ALL_STATS, 0, ceph->self));
}

static struct rr_vfs_time
attributes_time(const struct timespec *time)
{
	return (struct rr_vfs_time){ time->tv_sec, (uint32_t)time->tv_nsec };
}

void
rr_ceph_attributes(
	const struct rr_ceph *ceph, const struct ceph_statx *st, struct rr_vfs_attributes *attributes)
{
	*attributes = (struct rr_vfs_attributes){
		.type = rr_vfs_type_of(st->stx_mode),
		.mode = st->stx_mode & MODE_BITS,
		.links = st->stx_nlink,
		.uid = st->stx_uid,
		.gid = st->stx_gid,
		.device = { major(st->stx_rdev), minor(st->stx_rdev) },
		.block_size = st->stx_blksize,
		.size = st->stx_size,
		.used = st->stx_blocks * SECTOR,
		.id = { { ceph->fsid[0], ceph->fsid[1] }, st->stx_ino, 0 },
		.mounted_on = st->stx_ino,
		.change = st->stx_version,
		.access_time = attributes_time(&st->stx_atime),
		.modify_time = attributes_time(&st->stx_mtime),
		.change_time = attributes_time(&st->stx_ctime),
	};
}

static bool
attributes_in_group(const struct rr_vfs_caller *caller, uint32_t gid)
{
	for (uint32_t i = 0; i < caller->group_count; i++)
		if (caller->groups[i] == gid)
			return true;
	return caller->gid == gid;
}

bool
rr_ceph_may(const struct ceph_statx *st, const struct rr_vfs_caller *caller, unsigned bits)
{
	unsigned mode = st->stx_mode;

	/* User 0 may execute a file that at least one user may execute. */
	if (caller->uid == 0)
		return !(bits & 1) || S_ISDIR(mode) || (mode & 0111);
	if (caller->uid == st->stx_uid)
		mode >>= 6;
	else if (attributes_in_group(caller, st->stx_gid))
		mode >>= 3;
	return (mode & bits) == bits;
}

enum rr_vfs_status
rr_ceph_getattr(struct rr_ceph_job *job)
{
	struct ceph_statx st;
	enum rr_vfs_status status = rr_ceph_stat(job, job->object.inode, &st);

	if (status == RR_VFS_OK)
		rr_ceph_attributes(job->ceph, &st, &((struct rr_vfs_getattr *)job->base.call)->attributes);
	return status;
}

/* Sets the attributes of inode that mask selects (CEPH_SETATTR_* bits) to the values in st, with the
 * permissions of caller. Does nothing where mask is 0. */
static enum rr_vfs_status
attributes_set_some(
	struct rr_ceph_job *job, struct Inode *inode, struct ceph_statx *st, int mask, const UserPerm *caller)
{
	const struct rr_ceph *ceph = job->ceph;

	return mask ? rr_ceph_status(ceph->lib.ll_setattr(ceph->mount, inode, st, mask, caller)) : RR_VFS_OK;
}

enum rr_vfs_status
rr_ceph_set_size(struct rr_ceph_job *job, struct Inode *inode, uint64_t size)
{
	struct ceph_statx st = { .stx_size = size };

	if (size > INT64_MAX)
		return RR_VFS_FBIG;
	return attributes_set_some(job, inode, &st, CEPH_SETATTR_SIZE, job->ceph->self);
}

/* Sets the user, the group or both, as set->mask asks, with the caller's permissions. */
static enum rr_vfs_status
attributes_set_owner(struct rr_ceph_job *job, struct Inode *inode, const struct rr_vfs_set *set)
{
	struct ceph_statx st = { .stx_uid = set->uid, .stx_gid = set->gid };
	int mask = (set->mask & RR_VFS_SET_UID ? CEPH_SETATTR_UID : 0) |
		   (set->mask & RR_VFS_SET_GID ? CEPH_SETATTR_GID : 0);

	/* UINT32_MAX is the number of no user and no group. */
	if (((set->mask & RR_VFS_SET_UID) && set->uid == UINT32_MAX) ||
		((set->mask & RR_VFS_SET_GID) && set->gid == UINT32_MAX))
		return RR_VFS_INVAL;
	return attributes_set_some(job, inode, &st, mask, job->caller);
}

/* Sets the times that set->mask asks for, with the caller's permissions. Returns RR_VFS_INVAL for a time with
 * 10^9 nanoseconds or more. */
static enum rr_vfs_status
attributes_set_times(struct rr_ceph_job *job, struct Inode *inode, const struct rr_vfs_set *set)
{
	struct ceph_statx st = { .stx_atime = { set->access_time.seconds, set->access_time.nanoseconds },
		.stx_mtime = { set->modify_time.seconds, set->modify_time.nanoseconds } };
	struct timespec now;
	int mask = 0;

	if (((set->mask & RR_VFS_SET_ACCESS_TIME) && set->access_time.nanoseconds >= NANOSECONDS) ||
		((set->mask & RR_VFS_SET_MODIFY_TIME) && set->modify_time.nanoseconds >= NANOSECONDS))
		return RR_VFS_INVAL;
	/* The bits with _NOW tell libcephfs that permission to write is enough for the caller; the time
	 * itself has to be given, too. */
	clock_gettime(CLOCK_REALTIME, &now);
	if (set->mask & (RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_ACCESS_NOW))
		mask |= CEPH_SETATTR_ATIME;
	if (set->mask & (RR_VFS_SET_MODIFY_TIME | RR_VFS_SET_MODIFY_NOW))
		mask |= CEPH_SETATTR_MTIME;
	if (set->mask & RR_VFS_SET_ACCESS_NOW) {
		st.stx_atime = now;
		mask |= CEPH_SETATTR_ATIME_NOW;
	}
	if (set->mask & RR_VFS_SET_MODIFY_NOW) {
		st.stx_mtime = now;
		mask |= CEPH_SETATTR_MTIME_NOW;
	}
	return attributes_set_some(job, inode, &st, mask, job->caller);
}

/* Sets the mode, with the caller's permissions, and adds its bit to *applied. */
static enum rr_vfs_status
attributes_set_mode(
	struct rr_ceph_job *job, struct Inode *inode, const struct rr_vfs_set *set, uint32_t *applied)
{
	struct ceph_statx st;
	enum rr_vfs_status status = rr_ceph_stat(job, inode, &st);

	/* A symbolic link has no mode of its own, and clients send one with each new link. */
	if (status != RR_VFS_OK || S_ISLNK(st.stx_mode))
		return status;
	st.stx_mode = (uint16_t)(set->mode & MODE_BITS);
	status = attributes_set_some(job, inode, &st, CEPH_SETATTR_MODE, job->caller);
	*applied |= status == RR_VFS_OK ? (uint32_t)RR_VFS_SET_MODE : 0;
	return status;
}

enum rr_vfs_status
rr_ceph_set(struct rr_ceph_job *job, struct Inode *inode, const struct rr_vfs_set *set, bool lenient,
	uint32_t *applied)
{
	const uint32_t owner = RR_VFS_SET_UID | RR_VFS_SET_GID;
	const uint32_t times = RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_TIME |
			       RR_VFS_SET_MODIFY_NOW;
	enum rr_vfs_status status = RR_VFS_OK;

	if (set->mask & owner) {
		status = attributes_set_owner(job, inode, set);
		*applied |= status == RR_VFS_OK ? set->mask & owner : 0;
	}
	if (lenient && status == RR_VFS_PERM)
		status = RR_VFS_OK;
	if (status == RR_VFS_OK && (set->mask & RR_VFS_SET_MODE))
		status = attributes_set_mode(job, inode, set, applied);
	if (status == RR_VFS_OK && (set->mask & times)) {
		status = attributes_set_times(job, inode, set);
		*applied |= status == RR_VFS_OK ? set->mask & times : 0;
	}
	return status;
}

enum rr_vfs_status
rr_ceph_setattr(struct rr_ceph_job *job)
{
	struct rr_vfs_setattr *setattr = (struct rr_vfs_setattr *)job->base.call;
	struct Inode *inode = job->object.inode;
	struct ceph_statx st;
	enum rr_vfs_status status = rr_ceph_stat(job, inode, &st);

	if (status != RR_VFS_OK)
		return status;
	if (setattr->guarded && (setattr->guard.seconds != st.stx_ctime.tv_sec ||
					setattr->guard.nanoseconds != st.stx_ctime.tv_nsec))
		return RR_VFS_NOT_SYNC;
	if (setattr->set.mask & RR_VFS_SET_SIZE) {
		status = S_ISREG(st.stx_mode) ? rr_ceph_may_use(job, RR_VFS_SHARE_WRITE) : RR_VFS_INVAL;
		if (status == RR_VFS_OK)
			status = rr_ceph_set_size(job, inode, setattr->set.size);
		setattr->applied |= status == RR_VFS_OK ? (uint32_t)RR_VFS_SET_SIZE : 0;
	}
	if (status == RR_VFS_OK)
		status = rr_ceph_set(job, inode, &setattr->set, false, &setattr->applied);
	if (setattr->applied) {
		enum rr_vfs_status stored = rr_ceph_sync(job, inode, false);

		status = stored == RR_VFS_OK ? status : stored;
	}
	return status;
}

/* First finds the rights that make sense for the type of the object, then those that the mode of the object
 * gives to the caller. */
enum rr_vfs_status
rr_ceph_access(struct rr_ceph_job *job)
{
	struct rr_vfs_access *access = (struct rr_vfs_access *)job->base.call;
	const uint32_t changes = RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND;
	const uint32_t xattrs = RR_VFS_MAY_XATTR_READ | RR_VFS_MAY_XATTR_WRITE | RR_VFS_MAY_XATTR_LIST;
	struct ceph_statx st;
	enum rr_vfs_status status = rr_ceph_stat(job, job->object.inode, &st);
	bool directory;

	if (status != RR_VFS_OK)
		return status;
	directory = S_ISDIR(st.stx_mode);
	access->supported = RR_VFS_MAY_READ | changes;
	access->supported |= directory ? RR_VFS_MAY_LOOKUP | RR_VFS_MAY_DELETE : RR_VFS_MAY_EXECUTE;
	access->supported |= directory || S_ISREG(st.stx_mode) ? xattrs : 0;
	access->supported &= access->asked;
	access->granted = 0;
	if (rr_ceph_may(&st, job->base.call->caller, 4))
		access->granted |= RR_VFS_MAY_READ | RR_VFS_MAY_XATTR_READ | RR_VFS_MAY_XATTR_LIST;
	if (rr_ceph_may(&st, job->base.call->caller, 1))
		access->granted |= RR_VFS_MAY_LOOKUP | RR_VFS_MAY_EXECUTE;
	if (rr_ceph_may(&st, job->base.call->caller, 2) &&
		!rr_vfs_is_read_only(&job->base.vfs->vfs, job->base.call))
		access->granted |= RR_VFS_MAY_XATTR_WRITE;
	/* A caller may change the entries of a directory only where it may search the directory. */
	if (rr_ceph_may(&st, job->base.call->caller, directory ? 3 : 2) &&
		!rr_vfs_is_read_only(&job->base.vfs->vfs, job->base.call))
		access->granted |= changes | RR_VFS_MAY_DELETE;
	access->granted &= access->supported;
	return RR_VFS_OK;
}

/* The target is read with the caller's permissions. */
enum rr_vfs_status
rr_ceph_readlink(struct rr_ceph_job *job)
{
	struct rr_vfs_readlink *readlink = (struct rr_vfs_readlink *)job->base.call;
	const struct rr_ceph *ceph = job->ceph;
	struct ceph_statx st;
	enum rr_vfs_status status = rr_ceph_stat(job, job->object.inode, &st);
	int length;

	if (status != RR_VFS_OK)
		return status;
	if (!S_ISLNK(st.stx_mode))
		return RR_VFS_WRONG_TYPE;
	if (st.stx_size > readlink->size)
		return RR_VFS_NAME_TOO_LONG;
	length = ceph->lib.ll_readlink(
		ceph->mount, job->object.inode, readlink->target, readlink->size, job->caller);
	readlink->length = length > 0 ? (uint32_t)length : 0;
	return rr_ceph_status(length);
}

enum rr_vfs_status
rr_ceph_statfs(struct rr_ceph_job *job)
{
	struct rr_vfs_statfs *statfs = (struct rr_vfs_statfs *)job->base.call;
	const struct rr_ceph *ceph = job->ceph;
	struct statvfs st;
	enum rr_vfs_status status = rr_ceph_status(ceph->lib.ll_statfs(ceph->mount, job->object.inode, &st));

	if (status != RR_VFS_OK)
		return status;
	statfs->octets = (uint64_t)st.f_blocks * st.f_frsize;
	statfs->octets_free = (uint64_t)st.f_bfree * st.f_frsize;
	statfs->octets_for_all = (uint64_t)st.f_bavail * st.f_frsize;
	/* A cluster has no bound on the number of files. */
	statfs->files = statfs->files_free = statfs->files_for_all = UINT32_MAX;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_ceph_limits(struct rr_ceph_job *job)
{
	struct rr_vfs_limits *limits = (struct rr_vfs_limits *)job->base.call;

	limits->file_max = CEPH_FILE_MAX;
	limits->link_max = LINKS;
	limits->name_max = RR_VFS_NAME_MAX;
	limits->clone_block = 0;
	limits->time_delta = (struct rr_vfs_time){ 0, 1 };
	limits->xattrs = true;
	limits->case_insensitive = false;
	limits->case_preserving = true;
	return RR_VFS_OK;
}
