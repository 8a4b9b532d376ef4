/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations getacl and setacl, on the extended attributes in which Linux has access lists.
 * The kernel checks who may set a list, changes the mode with it, and applies it. */
#include <errno.h>
#include <sys/xattr.h>

#include "vfs/acl/list.h"
#include "vfs/posix/posix_private.h"

/* An object whose lists are read or set, by a path that stands for it. */
struct acl_subject {
	struct rr_posix_subject subject;
	char path[RR_POSIX_PATH];
};

static enum rr_vfs_status
acl_find(struct rr_posix_work *work, const struct rr_vfs_object *object, struct acl_subject *at)
{
	enum rr_vfs_status status = rr_posix_find(work, object, &at->subject);

	if (status == RR_VFS_OK)
		rr_posix_path(at->subject.object.fd, at->path);
	return status;
}

static bool
acl_is(const struct acl_subject *at, mode_t type)
{
	return (at->subject.object.st.stx_mode & S_IFMT) == type;
}

/* Reads a list. Where there is none, acl->count is 0; *supported becomes false where the file system keeps no
 * lists. */
static enum rr_vfs_status
acl_read(const struct acl_subject *at, const char *name, struct rr_vfs_acl *acl, bool *supported)
{
	uint8_t octets[RR_ACL_STORED_MAX];
	ssize_t size = getxattr(at->path, name, octets, sizeof(octets));

	acl->count = 0;
	if (size >= 0)
		return rr_acl_get_stored(octets, (size_t)size, acl);
	if (errno == ENOTSUP)
		*supported = false;
	return errno == ENODATA || errno == ENOTSUP ? RR_VFS_OK : rr_vfs_errno(errno);
}

/* Reads the lists that are wanted. A symbolic link has a mode, and no list. */
static enum rr_vfs_status
acl_get(const struct acl_subject *at, struct rr_vfs_getacl *getacl)
{
	enum rr_vfs_status status = RR_VFS_OK;

	getacl->is_supported = !acl_is(at, S_IFLNK);
	if (getacl->access.entries && !acl_is(at, S_IFLNK))
		status = acl_read(at, RR_ACL_ACCESS, &getacl->access, &getacl->is_supported);
	if (getacl->access.entries && getacl->access.count == 0)
		rr_acl_from_mode(at->subject.object.st.stx_mode, &getacl->access);
	if (status == RR_VFS_OK && getacl->inherited.entries && acl_is(at, S_IFDIR))
		status = acl_read(at, RR_ACL_DEFAULT, &getacl->inherited, &getacl->is_supported);
	return status;
}

enum rr_vfs_status
rr_posix_getacl(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_getacl *getacl = rr_container(call, struct rr_vfs_getacl, call);
	struct acl_subject at = { .subject.change = NULL };
	enum rr_vfs_status status = acl_find(work, &getacl->object, &at);

	if (status != RR_VFS_OK)
		return status;
	status = acl_get(&at, getacl);
	rr_posix_know(work->posix, &at.subject.object, &getacl->object_after);
	rr_posix_put(work, &at.subject);
	return status;
}

/* Sets or removes a list. Returns 0 or an errno. */
static int
acl_write(const struct acl_subject *at, const char *name, const struct rr_vfs_acl *acl)
{
	uint8_t octets[RR_ACL_STORED_MAX];
	uint32_t size;

	if (acl->count == 0)
		return removexattr(at->path, name) < 0 && errno != ENODATA ? errno : 0;
	size = rr_acl_put_stored(acl, octets);
	return setxattr(at->path, name, octets, size, 0) < 0 ? errno : 0;
}

/* Sets both lists: the inherited one first, which is set back where the other one cannot be set. */
static int
acl_set_both(const struct acl_subject *at, const struct rr_vfs_setacl *setacl)
{
	struct rr_vfs_ace entries[RR_VFS_ACL_MAX];
	struct rr_vfs_acl old = { 0, entries };
	bool supported = true;
	int error;

	if (acl_read(at, RR_ACL_DEFAULT, &old, &supported) != RR_VFS_OK || !supported)
		return supported ? EIO : ENOTSUP;
	error = acl_write(at, RR_ACL_DEFAULT, setacl->inherited);
	if (error)
		return error;
	error = acl_write(at, RR_ACL_ACCESS, setacl->access);
	if (error)
		(void)acl_write(at, RR_ACL_DEFAULT, &old);
	return error;
}

static int
acl_set(const struct acl_subject *at, const struct rr_vfs_setacl *setacl)
{
	const struct rr_vfs_acl *inherited = setacl->inherited;

	if (acl_is(at, S_IFLNK))
		return ENOTSUP;
	if (inherited && inherited->count > 0 && !acl_is(at, S_IFDIR))
		return EINVAL;
	if (!acl_is(at, S_IFDIR))
		inherited = NULL; /* there is none to be removed */
	if (setacl->access && inherited)
		return acl_set_both(at, setacl);
	if (inherited)
		return acl_write(at, RR_ACL_DEFAULT, inherited);
	return setacl->access ? acl_write(at, RR_ACL_ACCESS, setacl->access) : 0;
}

enum rr_vfs_status
rr_posix_setacl(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_setacl *setacl = rr_container(call, struct rr_vfs_setacl, call);
	struct acl_subject at = { .subject.change = &setacl->change };
	enum rr_vfs_status status = acl_find(work, &setacl->object, &at);
	int error;

	if (status != RR_VFS_OK)
		return status;
	rr_posix_change_begin(work->posix, &at.subject, NULL);
	error = acl_set(&at, setacl);
	rr_posix_change_end(work->posix, &at.subject, NULL, !error);
	if (acl_is(&at, S_IFREG))
		setacl->change.exact = false;
	if (!error)
		rr_posix_store(work, &at.subject.object);
	rr_posix_put(work, &at.subject);
	return rr_vfs_errno(error);
}
