/* SPDX-License-Identifier: BSD-3-Clause */
#include "nfs/attr.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { NANOSECONDS = 1000000000, MODE_BITS = 07777 };

static ftype3
file_type(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR: return NF3DIR;
	case S_IFBLK: return NF3BLK;
	case S_IFCHR: return NF3CHR;
	case S_IFLNK: return NF3LNK;
	case S_IFSOCK: return NF3SOCK;
	case S_IFIFO: return NF3FIFO;
	default: return NF3REG;
	}
}

nfstime3
rr_nfs_time(const struct statx_timestamp *time)
{
	return (nfstime3){ (uint32_t)time->tv_sec, time->tv_nsec };
}

void
rr_nfs_fattr(const struct statx *st, fattr3 *attributes)
{
	*attributes = (fattr3){
		.type = file_type(st->stx_mode),
		.mode = st->stx_mode & MODE_BITS,
		.nlink = st->stx_nlink,
		.uid = st->stx_uid,
		.gid = st->stx_gid,
		.size = st->stx_size,
		.used = st->stx_blocks * 512,
		.rdev = { st->stx_rdev_major, st->stx_rdev_minor },
		.fsid = (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor,
		.fileid = st->stx_ino,
		.atime = rr_nfs_time(&st->stx_atime),
		.mtime = rr_nfs_time(&st->stx_mtime),
		.ctime = rr_nfs_time(&st->stx_ctime),
	};
}

void
rr_nfs_attributes(const struct rr_object *object, post_op_attr *attributes)
{
	attributes->attributes_follow = true;
	rr_nfs_fattr(&object->st, &attributes->u.attributes);
}

void
rr_nfs_post_op(struct rr_object *object, post_op_attr *attributes)
{
	attributes->attributes_follow = false;
	if (rr_object_stat(object) == NFS3_OK)
		rr_nfs_attributes(object, attributes);
}

static void
attr_before(const struct rr_object *object, wcc_data *wcc)
{
	wcc->before.attributes_follow = true;
	wcc->before.u.attributes = (wcc_attr){
		.size = object->st.stx_size,
		.mtime = rr_nfs_time(&object->st.stx_mtime),
		.ctime = rr_nfs_time(&object->st.stx_ctime),
	};
}

void
rr_nfs_unchanged(const struct rr_object *object, wcc_data *wcc)
{
	attr_before(object, wcc);
	rr_nfs_attributes(object, &wcc->after);
}

void
rr_nfs_after(struct rr_object *object, wcc_data *wcc)
{
	wcc->before.attributes_follow = false;
	rr_nfs_post_op(object, &wcc->after);
}

static void
attr_take_before(struct rr_nfs_subject *subject)
{
	subject->wcc.before.attributes_follow = false;
	if (rr_object_stat(&subject->object) == NFS3_OK)
		attr_before(&subject->object, &subject->wcc);
}

void
rr_nfs_change_begin(struct rr_nfs_server *server, struct rr_nfs_subject *one, struct rr_nfs_subject *two)
{
	rr_nfs_lock(server->shared, &one->object.st, two ? &two->object.st : NULL);
	attr_take_before(one);
	if (two)
		attr_take_before(two);
}

void
rr_nfs_change_end(struct rr_nfs_server *server, struct rr_nfs_subject *one, struct rr_nfs_subject *two)
{
	rr_nfs_post_op(&one->object, &one->wcc.after);
	if (two)
		rr_nfs_post_op(&two->object, &two->wcc.after);
	rr_nfs_unlock(server->shared, &one->object.st, two ? &two->object.st : NULL);
}

nfsstat3
rr_nfs_set_size(struct rr_nfs_server *server, struct rr_object *object, uint64_t size)
{
	nfsstat3 status;
	int fd;

	if (!S_ISREG(object->st.stx_mode))
		return NFS3ERR_INVAL;
	if (size > INT64_MAX)
		return NFS3ERR_FBIG;
	status = rr_tree_open(server->tree, object, O_WRONLY, &fd);
	if (status != NFS3_OK)
		return status;
	return ftruncate(fd, (off_t)size) < 0 ? rr_nfs_status(errno) : NFS3_OK;
}

nfsstat3
rr_nfs_set_owner(const struct rr_object *object, const sattr3 *attributes)
{
	uid_t uid = attributes->uid.set_it ? attributes->uid.u.uid : (uid_t)-1;
	gid_t gid = attributes->gid.set_it ? attributes->gid.u.gid : (gid_t)-1;

	/* RFC 1813, 3.3.2: NFS3ERR_INVAL "if the server can not store a uid or gid"; -1 is none here. */
	if ((attributes->uid.set_it && uid == (uid_t)-1) || (attributes->gid.set_it && gid == (gid_t)-1))
		return NFS3ERR_INVAL;
	if (fchownat(object->fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
		return rr_nfs_status(errno);
	return NFS3_OK;
}

nfsstat3
rr_nfs_set_mode(const struct rr_object *object, uint32_t mode)
{
	char path[RR_NFS_PROC_PATH];

	/* A symbolic link has no mode of its own to set; clients that send one with each new link do not
	 * mind. */
	if (S_ISLNK(object->st.stx_mode))
		return NFS3_OK;
	rr_nfs_proc_path(object->fd, path);
	return chmod(path, mode & MODE_BITS) < 0 ? rr_nfs_status(errno) : NFS3_OK;
}

/* False where the client's time is none: some of the larger nanoseconds mean something else to utimensat(2).
 */
static bool
client_time(enum time_how how, const nfstime3 *given, struct timespec *time)
{
	switch (how) {
	case SET_TO_SERVER_TIME: *time = (struct timespec){ .tv_nsec = UTIME_NOW }; return true;
	case SET_TO_CLIENT_TIME:
		*time = (struct timespec){ given->seconds, given->nseconds };
		return given->nseconds < NANOSECONDS;
	default: *time = (struct timespec){ .tv_nsec = UTIME_OMIT }; return true;
	}
}

nfsstat3
rr_nfs_set_times(const struct rr_object *object, const sattr3 *attributes)
{
	struct timespec times[2];

	if (!client_time(attributes->atime.set_it, &attributes->atime.u.atime, &times[0]) ||
		!client_time(attributes->mtime.set_it, &attributes->mtime.u.mtime, &times[1]))
		return NFS3ERR_INVAL;
	return utimensat(object->fd, "", times, AT_EMPTY_PATH) < 0 ? rr_nfs_status(errno) : NFS3_OK;
}

/* The size first, since that changes the times; the owner before the mode, since that clears the set-id bits.
 */
nfsstat3
rr_nfs_set(struct rr_nfs_server *server, struct rr_object *object, const sattr3 *attributes)
{
	nfsstat3 status = NFS3_OK;

	if (attributes->size.set_it)
		status = rr_nfs_set_size(server, object, attributes->size.u.size);
	if (status == NFS3_OK && (attributes->uid.set_it || attributes->gid.set_it))
		status = rr_nfs_set_owner(object, attributes);
	if (status == NFS3_OK && attributes->mode.set_it)
		status = rr_nfs_set_mode(object, attributes->mode.u.mode);
	if (status == NFS3_OK &&
		(attributes->atime.set_it != DONT_CHANGE || attributes->mtime.set_it != DONT_CHANGE))
		status = rr_nfs_set_times(object, attributes);
	return status;
}
