/* SPDX-License-Identifier: BSD-3-Clause */
/* This file sets attributes, with the caller's identity. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "vfs/posix/posix_private.h"

enum { NANOSECONDS = 1000000000, MODE_BITS = 07777 };

enum rr_vfs_status
rr_posix_set_size(struct rr_posix_work *work, struct rr_posix_subject *subject, uint64_t size)
{
	enum rr_vfs_status status;
	int fd;

	if (!S_ISREG(subject->object.st.stx_mode))
		return RR_VFS_INVAL;
	if (size > INT64_MAX)
		return RR_VFS_FBIG;
	status = rr_posix_data(work, subject, O_WRONLY, &fd);
	if (status != RR_VFS_OK)
		return status;
	return ftruncate(fd, (off_t)size) < 0 ? rr_vfs_errno(errno) : RR_VFS_OK;
}

enum rr_vfs_status
rr_posix_set_owner(const struct rr_object *object, const struct rr_vfs_set *set)
{
	uid_t uid = set->mask & RR_VFS_SET_UID ? set->uid : (uid_t)-1;
	gid_t gid = set->mask & RR_VFS_SET_GID ? set->gid : (gid_t)-1;

	/* The system call takes -1 as "leave it as it is". */
	if ((set->mask & RR_VFS_SET_UID && uid == (uid_t)-1) ||
		(set->mask & RR_VFS_SET_GID && gid == (gid_t)-1))
		return RR_VFS_INVAL;
	if (fchownat(object->fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
		return rr_vfs_errno(errno);
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_posix_set_mode(const struct rr_object *object, uint32_t mode)
{
	char path[RR_POSIX_PATH];

	/* A symbolic link has no mode of its own, and clients send one with each new link, so this is no
	 * error. */
	if (S_ISLNK(object->st.stx_mode))
		return RR_VFS_OK;
	/* An object without a node was named by an open, whose descriptor is open for data. fchmod(2) refuses
	 * the O_PATH descriptor of a node. */
	if (!object->node)
		return fchmod(object->fd, mode & MODE_BITS) < 0 ? rr_vfs_errno(errno) : RR_VFS_OK;
	rr_posix_path(object->fd, path);
	return chmod(path, mode & MODE_BITS) < 0 ? rr_vfs_errno(errno) : RR_VFS_OK;
}

/* Stores in *out what utimensat(2) is to set: the present time where "now" is true, *time where "given" is
 * true, else UTIME_OMIT, which leaves the time as it is. Returns false where a given time has a second or
 * more of nanoseconds, because some of these values have a special meaning for utimensat(2). */
static bool
set_time(bool given, bool now, const struct rr_vfs_time *time, struct timespec *out)
{
	if (now)
		*out = (struct timespec){ .tv_nsec = UTIME_NOW };
	else if (given)
		*out = (struct timespec){ time->seconds, time->nanoseconds };
	else
		*out = (struct timespec){ .tv_nsec = UTIME_OMIT };
	return !given || time->nanoseconds < NANOSECONDS;
}

/* A time that set->mask does not name stays as it is, with one exception: utimensat(2) lets no one but the
 * owner set one time alone to the present, but lets those who may write set both. NFS clients set one time to
 * the present for each ftruncate(2) and O_TRUNC of such a caller, so that both times are set then. */
enum rr_vfs_status
rr_posix_set_times(const struct rr_object *object, const struct rr_vfs_set *set)
{
	uint32_t mask = set->mask;
	struct timespec times[2];

	if (!set_time(mask & RR_VFS_SET_ACCESS_TIME, mask & RR_VFS_SET_ACCESS_NOW, &set->access_time,
		    &times[0]) ||
		!set_time(mask & RR_VFS_SET_MODIFY_TIME, mask & RR_VFS_SET_MODIFY_NOW, &set->modify_time,
			&times[1]))
		return RR_VFS_INVAL;
	if (utimensat(object->fd, "", times, AT_EMPTY_PATH) == 0)
		return RR_VFS_OK;
	if (errno != EPERM || (mask & (RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_MODIFY_TIME)))
		return rr_vfs_errno(errno);
	return utimensat(object->fd, "", NULL, AT_EMPTY_PATH) < 0 ? rr_vfs_errno(errno) : RR_VFS_OK;
}

enum {
	SET_OWNER = RR_VFS_SET_UID | RR_VFS_SET_GID,
	SET_TIMES = RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_TIME |
		    RR_VFS_SET_MODIFY_NOW
};

/* Sets one kind of attributes: the size, the owner and group, the mode, or else the times. */
static enum rr_vfs_status
set_part(struct rr_posix_work *work, struct rr_posix_subject *subject, const struct rr_vfs_set *set,
	uint32_t part)
{
	switch (part) {
	case RR_VFS_SET_SIZE: return rr_posix_set_size(work, subject, set->size);
	case SET_OWNER: return rr_posix_set_owner(&subject->object, set);
	case RR_VFS_SET_MODE: return rr_posix_set_mode(&subject->object, set->mode);
	default: return rr_posix_set_times(&subject->object, set);
	}
}

/* Sets the attributes that set->mask names, until one fails, and stores the bits of those that were set in
 * *applied. The size comes before the times, because setting the size changes them; the owner comes before
 * the mode, because setting the owner clears the set-id bits of the mode. */
enum rr_vfs_status
rr_posix_set(struct rr_posix_work *work, struct rr_posix_subject *subject, const struct rr_vfs_set *set,
	uint32_t *applied)
{
	static const uint32_t parts[] = { RR_VFS_SET_SIZE, SET_OWNER, RR_VFS_SET_MODE, SET_TIMES };
	enum rr_vfs_status status = RR_VFS_OK;

	*applied = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && status == RR_VFS_OK; i++) {
		if (!(set->mask & parts[i]))
			continue;
		status = set_part(work, subject, set, parts[i]);
		if (status == RR_VFS_OK)
			*applied |= set->mask & parts[i];
	}
	/* rr_posix_set_mode() leaves the mode of a symbolic link as it is. */
	if (S_ISLNK(subject->object.st.stx_mode))
		*applied &= ~(uint32_t)RR_VFS_SET_MODE;
	return status;
}
