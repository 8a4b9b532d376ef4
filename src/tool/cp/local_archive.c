/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tool/cp/local.h"

/* The parts of local files that cp -a keeps beside data: owners, hard links, extended attributes. The
 * operations are those of struct rr_side_ops: side.h says what each does and returns. */

/* Sets the owner and the group of the open file fd to those in info. Returns true if both are set. Returns
 * false if the owner or the group could not be set, which is no error of the copy. After the first owner that
 * could not be set, side->keep_uid is false, and no owner is tried any more. */
static bool
local_give(struct rr_side *side, int fd, const struct rr_info *info)
{
	/* To fchown(2), RR_OWNERS_NOBODY means that the owner, or the group, stays as it is. */
	if (side->keep_uid && fchown(fd, info->uid, (gid_t)-1) < 0)
		side->keep_uid = false;
	return fchown(fd, (uid_t)-1, info->gid) == 0 && side->keep_uid && rr_cp_is_owned(info);
}

int
rr_cp_local_set(struct rr_side *side, int fd, const struct rr_info *info)
{
	struct timespec times[2] = { info->atime, info->mtime };
	mode_t kept = side->archive && local_give(side, fd, info) ? 07777 : RR_MODE_KEPT;

	return fchmod(fd, info->mode & kept) < 0 || futimens(fd, times) < 0 ? rr_cp_local_fail(side) : 0;
}

int
rr_cp_local_make_special(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info)
{
	int result = mknodat(directory->fd, name, info->type | 0600, makedev(info->major, info->minor));

	if (result < 0 && errno == EEXIST)
		return 1;
	return result < 0 ? rr_cp_local_fail(side) : 0;
}

/* Sets owner, group and times of a symbolic link, named pipe or device, and of the latter two the mode. It is
 * no error if this process may not set the owner: that of a link has no effect, and the others then belong to
 * the user who copies them. Returns 0, or a negative number. */
int
rr_cp_local_set_link(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info)
{
	struct timespec times[2] = { info->atime, info->mtime };

	if (fchownat(directory->fd, name, info->uid, info->gid, AT_SYMLINK_NOFOLLOW) < 0 && errno != EPERM)
		return rr_cp_local_fail(side);
	if (info->kind != RR_KIND_LINK &&
		fchmodat(directory->fd, name, info->mode & RR_MODE_KEPT, AT_SYMLINK_NOFOLLOW) < 0)
		return rr_cp_local_fail(side);
	return utimensat(directory->fd, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? rr_cp_local_fail(side) : 0;
}

/* Opens the directory in which the first copy lies, and stores the copy's name there in *name. A server that
 * lists a directory, and then a symbolic link of the same name, has put that link in the place of the
 * directory meanwhile: the way to the first copy follows no link. Returns a descriptor, or -1 with errno. */
static int
local_open_first(const struct rr_first *first, const char **name)
{
	int fd = openat(first->top.fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *rest = first->path, *slash;

	while (fd >= 0 && (slash = strchr(rest, '/'))) {
		char part[RR_NFS_NAME + 1];
		int above = fd;

		snprintf(part, sizeof(part), "%.*s", (int)(slash - rest), rest);
		fd = openat(above, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(above);
		rest = slash + 1;
	}
	*name = rest;
	return fd;
}

int
rr_cp_local_make_name(struct rr_side *side, const struct rr_first *first,
	const struct rr_directory *directory, const char *name)
{
	const char *first_name;
	int fd = local_open_first(first, &first_name), result, error;

	if (fd < 0)
		return rr_cp_local_fail(side);
	result = linkat(fd, first_name, directory->fd, name, 0);
	error = errno;
	close(fd);
	errno = error;
	if (result < 0 && errno == EEXIST)
		return 1;
	return result < 0 ? rr_cp_local_fail(side) : 0;
}

/* ---- Extended attributes: those that users set ---- */

#define LOCAL_USER "user."

enum { USER_LENGTH = sizeof(LOCAL_USER) - 1 };

/* Writes the name of an extended attribute as Linux has it, "user.NAME", into full. A copy names the
 * attribute without that prefix, as NFS does (RFC 8276). */
static void
local_full_name(const char *name, char full[RR_NFS_NAME + USER_LENGTH + 1])
{
	snprintf(full, RR_NFS_NAME + USER_LENGTH + 1, LOCAL_USER "%s", name);
}

/* Stores the names of the object's extended attributes "user.NAME" as NAME, each with a zero octet at its
 * end. Leaves out all other attributes. If the file system does not support extended attributes, succeeds
 * with an empty list. Returns 0, or a negative number. */
int
rr_cp_local_list_xattrs(
	struct rr_side *side, const struct rr_directory *object, struct rpcrdma_nfs_value *names)
{
	ssize_t size = flistxattr(object->fd, names->data, names->room);
	char *at = names->data, *to = at, *end;

	names->length = 0;
	if (size < 0)
		return errno == ENOTSUP ? 0 : rr_cp_local_fail(side);
	end = at + size;
	while (at < end) {
		size_t length = strlen(at) + 1;

		if (strncmp(at, LOCAL_USER, USER_LENGTH) == 0 && length > USER_LENGTH + 1) {
			memmove(to, at + USER_LENGTH, length - USER_LENGTH);
			to += length - USER_LENGTH;
		}
		at += length;
	}
	names->length = (uint32_t)(to - (char *)names->data);
	return 0;
}

int
rr_cp_local_get_xattr(struct rr_side *side, const struct rr_directory *object, const char *name,
	struct rpcrdma_nfs_value *value)
{
	char full[RR_NFS_NAME + USER_LENGTH + 1];
	ssize_t size;

	local_full_name(name, full);
	size = fgetxattr(object->fd, full, value->data, value->room);
	if (size < 0)
		return rr_cp_local_fail(side);
	value->length = (uint32_t)size;
	return 0;
}

int
rr_cp_local_set_xattr(struct rr_side *side, const struct rr_directory *object, const char *name,
	const struct rpcrdma_nfs_value *value)
{
	char full[RR_NFS_NAME + USER_LENGTH + 1];
	int result;

	local_full_name(name, full);
	result = fsetxattr(object->fd, full, value->data, value->length, 0);
	if (result < 0 && errno == ENOTSUP)
		return 1;
	return result < 0 ? rr_cp_local_fail(side) : 0;
}
