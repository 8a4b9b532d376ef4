/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations statfs and limits. vfs.h describes what each of them does, with its arguments
 * and results. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "vfs/acl/list.h"
#include "vfs/posix/posix_private.h"

/* Numbers of file systems that <linux/magic.h> does not have, or not in all its versions. */
enum {
	HFS_MAGIC = 0x4244,
	HFSPLUS_MAGIC = 0x482b,
	HFSX_MAGIC = 0x4858,
	NTFS_MAGIC = 0x5346544e,
	NTFS3_MAGIC = 0x7366746e,
	EXFAT_MAGIC = 0x2011bab0,
	UDF_MAGIC = 0x15013346,
};
#define SMB2_MAGIC 0xfe534d42
#define CIFS_MAGIC 0xff534d42

enum rr_vfs_status
rr_posix_statfs(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_statfs *out = rr_container(call, struct rr_vfs_statfs, call);
	struct rr_posix_subject subject;
	struct statvfs fs;
	enum rr_vfs_status status = rr_posix_find(work, &out->object, &subject);

	if (status != RR_VFS_OK)
		return status;
	if (fstatvfs(subject.object.fd, &fs) < 0) {
		status = rr_vfs_errno(errno);
	} else {
		out->octets = (uint64_t)fs.f_blocks * fs.f_frsize;
		out->octets_free = (uint64_t)fs.f_bfree * fs.f_frsize;
		out->octets_for_all = (uint64_t)fs.f_bavail * fs.f_frsize;
		out->files = fs.f_files;
		out->files_free = fs.f_ffree;
		out->files_for_all = fs.f_favail;
	}
	rr_posix_known(work->posix, &subject.object, &out->object_after);
	rr_posix_put(work, &subject);
	return status;
}

/* Tells whether a file of this size may exist in the file system of fd: lseek(2) and FIEMAP refuse an offset
 * beyond the greatest size. FIEMAP is asked, too, because lseek(2) accepts any offset in the directories of
 * some file systems. The number of a request is an int for musl, an unsigned long for glibc, and of 32 bits
 * for the kernel. */
static bool
op_limits_take_size(int fd, uint64_t size)
{
	struct fiemap map = { .fm_start = size, .fm_length = 1 };

	if (lseek(fd, (off_t)size, SEEK_SET) < 0)
		return false;
	return ioctl(fd, (int)FS_IOC_FIEMAP, &map) == 0 || errno != EFBIG;
}

/* Returns the greatest size of a file in the object's file system, by bisection; INT64_MAX where the object
 * cannot be opened. RFC 1813, 3.3.19: "The maximum size of a file on the file system." Clients use this size
 * to refuse a write that would otherwise fail only when it is written back. */
static uint64_t
op_limits_file_max(const struct rr_object *object)
{
	uint64_t good = INT32_MAX, bad = (uint64_t)INT64_MAX + 1;
	bool opens = S_ISREG(object->st.stx_mode) || S_ISDIR(object->st.stx_mode);
	char path[RR_POSIX_PATH];
	int fd;

	rr_posix_path(object->fd, path);
	fd = opens ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	if (fd < 0)
		return INT64_MAX;
	while (bad - good > 1) {
		uint64_t middle = good + (bad - good) / 2;

		if (op_limits_take_size(fd, middle))
			good = middle;
		else
			bad = middle;
	}
	close(fd);
	return good;
}

/* Tells whether the object can have extended attributes, by asking the system for one that need not exist: a
 * file system without extended attributes answers with EOPNOTSUPP. */
static bool
op_limits_have_xattrs(const struct rr_object *object)
{
	char path[RR_POSIX_PATH];

	if (!S_ISREG(object->st.stx_mode) && !S_ISDIR(object->st.stx_mode))
		return false;
	rr_posix_path(object->fd, path);
	return getxattr(path, "user.rpcrdma", NULL, 0) >= 0 || errno != EOPNOTSUPP;
}

/* Returns the block size of the object's file system if files there can share blocks (Btrfs, XFS), because a
 * clone consists of whole blocks; else 0. */
static uint32_t
op_limits_clone_block(const struct rr_object *object)
{
	struct statfs fs;
	uint32_t type;

	if (fstatfs(object->fd, &fs) < 0)
		return 0;
	type = (uint32_t)fs.f_type; /* the number takes all 32 bits */
	return type == BTRFS_SUPER_MAGIC || type == XFS_SUPER_MAGIC ? (uint32_t)fs.f_bsize : 0;
}

struct rr_vfs_time
rr_posix_time_delta(uint32_t type, bool born)
{
	switch (type) {
	case MSDOS_SUPER_MAGIC: return (struct rr_vfs_time){ 2, 0 };
	/* An inode of 128 octets, as ext3 has it, has room for whole seconds alone, and none for a birth. */
	case EXT4_SUPER_MAGIC: return born ? (struct rr_vfs_time){ 0, 1 } : (struct rr_vfs_time){ 1, 0 };
	case HFS_MAGIC:
	case HFSPLUS_MAGIC:
	case HFSX_MAGIC:
	case ISOFS_SUPER_MAGIC:
	case MINIX_SUPER_MAGIC: return (struct rr_vfs_time){ 1, 0 };
	case EXFAT_MAGIC: return (struct rr_vfs_time){ 0, 10000000 };
	case UDF_MAGIC: return (struct rr_vfs_time){ 0, 1000 };
	case NTFS_MAGIC:
	case NTFS3_MAGIC:
	case CIFS_MAGIC:
	case SMB2_MAGIC: return (struct rr_vfs_time){ 0, 100 };
	default: return (struct rr_vfs_time){ 0, 1 };
	}
}

/* RFC 1813, 3.3.19: "The server time granularity." */
struct rr_vfs_time
rr_posix_time_unit(const struct rr_object *object)
{
	struct statfs fs;
	struct statx st;
	bool born = statx(object->fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) == 0 && st.stx_mask & STATX_BTIME;

	return rr_posix_time_delta(fstatfs(object->fd, &fs) < 0 ? 0 : (uint32_t)fs.f_type, born);
}

/* Tells whether the object's file system keeps access lists. */
static bool
op_limits_have_acls(const struct rr_object *object)
{
	char path[RR_POSIX_PATH];

	rr_posix_path(object->fd, path);
	return getxattr(path, RR_ACL_ACCESS, NULL, 0) >= 0 || errno != ENOTSUP;
}

/* Finds the limits of the object's file system. UINT32_MAX names of an object means that there is no known
 * bound. The names of all file systems count as case-sensitive. */
static enum rr_vfs_status
op_limits_find(const struct rr_object *object, struct rr_vfs_limits *limits)
{
	struct statvfs fs;
	long links;

	if (fstatvfs(object->fd, &fs) < 0)
		return rr_vfs_errno(errno);
	links = fpathconf(object->fd, _PC_LINK_MAX);
	limits->file_max = op_limits_file_max(object);
	limits->link_max = links > 0 && (uint64_t)links < UINT32_MAX ? (uint32_t)links : UINT32_MAX;
	limits->name_max = (uint32_t)fs.f_namemax;
	limits->clone_block = op_limits_clone_block(object);
	limits->time_delta = rr_posix_time_unit(object);
	limits->xattrs = op_limits_have_xattrs(object);
	limits->acls = op_limits_have_acls(object);
	limits->case_insensitive = false;
	limits->case_preserving = true;
	return RR_VFS_OK;
}

enum rr_vfs_status
rr_posix_limits(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_limits *limits = rr_container(call, struct rr_vfs_limits, call);
	struct rr_posix_subject subject;
	enum rr_vfs_status status = rr_posix_find(work, &limits->object, &subject);

	if (status != RR_VFS_OK)
		return status;
	/* Finding the limits opens the object, for which the caller may lack the permission. */
	rr_tree_as_self(work->tree);
	status = op_limits_find(&subject.object, limits);
	rr_posix_known(work->posix, &subject.object, &limits->object_after);
	rr_posix_put(work, &subject);
	return status;
}
