/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operation create: it makes an entry of a directory, of any type. vfs.h describes it,
 * with its arguments and results. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "vfs/posix/posix_private.h"

enum { MODE_BITS = 07777 };

enum {
	SET_OWNER = RR_VFS_SET_UID | RR_VFS_SET_GID,
	SET_TIMES = RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_ACCESS_NOW | RR_VFS_SET_MODIFY_TIME |
		    RR_VFS_SET_MODIFY_NOW
};

/* The object that a call is to make, and its directory. */
struct create_plan {
	struct rr_vfs_create *create;
	struct rr_posix_subject *directory;
	uint32_t type, mode;   /* as in st_mode */
	struct rr_vfs_set set; /* for a file made exclusively, the times contain the verifier */
	char text[RR_VFS_NAME_MAX + 1], target[RR_VFS_TARGET_MAX + 1];
};

/* Tells whether the directory has a default ACL, which then takes the place of the caller's umask. */
static bool
create_has_default_acl(const struct rr_object *directory)
{
	char path[RR_POSIX_PATH];

	rr_posix_path(directory->fd, path);
	return getxattr(path, "system.posix_acl_default", NULL, 0) > 0;
}

/* Returns the mode of the new object: the caller's mode, or permissions for the owner alone where the caller
 * gives none. The bits of the caller's umask are cleared in it, unless the directory has a default ACL. */
static uint32_t
create_mode(const struct create_plan *plan)
{
	bool directory = plan->type == S_IFDIR;
	const struct rr_vfs_set *set = &plan->set;
	uint32_t mode = directory ? S_IRWXU : S_IRUSR | S_IWUSR;

	if (set->mask & RR_VFS_SET_MODE)
		mode = set->mode & MODE_BITS;
	if (set->mask & RR_VFS_SET_UMASK && !create_has_default_acl(&plan->directory->object))
		mode &= ~set->umask;
	/* A new directory inherits the set-group-id bit of its directory, whatever the caller's mode says. */
	if (directory)
		mode |= plan->directory->object.st.stx_mode & S_ISGID;
	return mode;
}

/* Puts the verifier of an exclusive creation into the times that are to be set on the new file, instead of
 * the times that the caller asked for. */
static void
create_plan_verifier(struct create_plan *plan)
{
	struct rr_vfs_time times[2];

	rr_vfs_verifier_times(plan->create->verifier, times);
	plan->set.mask &= ~(uint32_t)SET_TIMES;
	plan->set.mask |= RR_VFS_SET_ACCESS_TIME | RR_VFS_SET_MODIFY_TIME;
	plan->set.access_time = times[0];
	plan->set.modify_time = times[1];
}

/* Checks the arguments of a create call, and fills the plan: the name, the type, the target of a symbolic
 * link, the attributes to be set and the mode. */
static enum rr_vfs_status
create_plan(struct create_plan *plan)
{
	const struct rr_vfs_create *create = plan->create;
	enum rr_vfs_status status = rr_vfs_name(create->name, plan->text);

	if (status == RR_VFS_OK && !rr_vfs_mode_of(create->type))
		status = RR_VFS_WRONG_TYPE;
	if (status == RR_VFS_OK && create->type == RR_VFS_LINK)
		status = rr_vfs_target(plan->create->target, plan->target);
	if (status != RR_VFS_OK)
		return status;
	plan->type = rr_vfs_mode_of(create->type);
	plan->set = create->set;
	plan->mode = create_mode(plan);
	if (create->type == RR_VFS_FILE && create->how == RR_VFS_EXCLUSIVE)
		create_plan_verifier(plan);
	return RR_VFS_OK;
}

/* Makes the new object with its name in the directory. Returns 0, or -1 with errno. */
static int
create_entry(const struct create_plan *plan)
{
	const uint32_t *device = plan->create->device;
	int directory = plan->directory->object.fd;

	switch (plan->type) {
	case S_IFDIR: return mkdirat(directory, plan->text, plan->mode);
	case S_IFLNK: return symlinkat(plan->target, directory, plan->text);
	default:
		return mknodat(directory, plan->text, plan->type | plan->mode, makedev(device[0], device[1]));
	}
}

/* Sets the mode of the new object to that of the plan, where the process's umask or the setting of the owner
 * removed bits. Where the directory has a default ACL, the object keeps the mode that the ACL gave it. */
static enum rr_vfs_status
create_adjust_mode(const struct create_plan *plan, struct rr_object *object)
{
	enum rr_vfs_status status;

	if (S_ISLNK(object->st.stx_mode) || (object->st.stx_mode & MODE_BITS) == plan->mode ||
		create_has_default_acl(&plan->directory->object))
		return RR_VFS_OK;
	status = rr_posix_set_mode(object, plan->mode);
	return status == RR_VFS_OK ? rr_object_stat(object) : status;
}

/* Sets those attributes of the new object that the call asks for, except the mode: the size, the owner and
 * the times. An owner that the caller may not set is left as it is, unless the call says must_own. */
static enum rr_vfs_status
create_adjust_rest(struct rr_posix_work *work, const struct create_plan *plan, struct rr_posix_subject *made)
{
	const struct rr_vfs_set *set = &plan->set;
	enum rr_vfs_status status = RR_VFS_OK;

	if (set->mask & RR_VFS_SET_SIZE && S_ISREG(made->object.st.stx_mode) && set->size > 0)
		status = rr_posix_set_size(work, made, set->size);
	if (status != RR_VFS_OK)
		return status;
	if (set->mask & SET_OWNER)
		status = rr_posix_set_owner(&made->object, set);
	/* Some clients send their own user with each creation. An owner that the caller may not set is left
	 * as it is, and the attributes show it. */
	if (status == RR_VFS_PERM && !plan->create->must_own)
		status = RR_VFS_OK;
	if (status == RR_VFS_OK && set->mask & SET_TIMES)
		status = rr_posix_set_times(&made->object, set);
	return status;
}

/* Sets the attributes of a new object that the call asks for. The mode comes last, because setting the owner
 * clears the set-id bits of the mode. made->object.st, which was taken when the object was looked up, is
 * taken anew after each change: mostly the object has all attributes that the call asks for from the
 * beginning. */
static enum rr_vfs_status
create_adjust(struct rr_posix_work *work, const struct create_plan *plan, struct rr_posix_subject *made)
{
	enum rr_vfs_status status = RR_VFS_OK;

	if (plan->set.mask & (RR_VFS_SET_SIZE | SET_OWNER | SET_TIMES)) {
		status = create_adjust_rest(work, plan, made);
		if (status == RR_VFS_OK)
			status = rr_object_stat(&made->object);
	}
	return status == RR_VFS_OK ? create_adjust_mode(plan, &made->object) : status;
}

/* Removes a new object again, because it could not be looked up (made->node is NULL) or its attributes could
 * not be set. Where the object cannot be removed, notes that the directory is to be stored. Fills in the
 * attributes of the directory after that. */
static void
create_undo(struct rr_posix_work *work, const struct create_plan *plan, const struct rr_object *made)
{
	struct rr_posix_subject *directory = plan->directory;

	if (unlinkat(directory->object.fd, plan->text, plan->type == S_IFDIR ? AT_REMOVEDIR : 0) == 0)
		rr_tree_removed(work->tree, made, &directory->object, plan->text);
	else
		rr_posix_store(work, &directory->object);
	rr_posix_after(work->posix, &directory->object, true, directory->change);
}

/* Returns the bits of those attributes that the call asked for and the new object has. An owner or group that
 * could not be set is left out; so are the mode of a symbolic link, which has none of its own, and the times
 * of an exclusive creation, which contain the verifier. */
static uint32_t
create_applied(const struct rr_vfs_create *create, const struct statx *st)
{
	const struct rr_vfs_set *set = &create->set;
	uint32_t applied = set->mask;

	if (st->stx_uid != set->uid)
		applied &= ~(uint32_t)RR_VFS_SET_UID;
	if (st->stx_gid != set->gid)
		applied &= ~(uint32_t)RR_VFS_SET_GID;
	if (create->type == RR_VFS_LINK)
		applied &= ~(uint32_t)(RR_VFS_SET_MODE | RR_VFS_SET_UMASK);
	if (create->type == RR_VFS_FILE && create->how == RR_VFS_EXCLUSIVE)
		applied &= ~(uint32_t)SET_TIMES;
	return applied;
}

/* Makes the new object, fills in "made" with it, and sets its attributes. Where one of these steps fails,
 * removes the object again. Returns RR_VFS_EXIST where the name exists. After success the caller gives "made"
 * back by rr_posix_put(). */
static enum rr_vfs_status
create_new(struct rr_posix_work *work, const struct create_plan *plan, struct rr_posix_subject *made)
{
	struct rr_posix_subject *directory = plan->directory;
	enum rr_vfs_status status;
	int error;

	rr_posix_change_begin(work->posix, directory, NULL);
	error = create_entry(plan) < 0 ? errno : 0;
	rr_posix_change_end(work->posix, directory, NULL, !error);
	if (error)
		return rr_vfs_errno(error);
	status = rr_tree_lookup(work->tree, &directory->object, plan->create->name, &made->object);
	if (status == RR_VFS_OK)
		status = create_adjust(work, plan, made);
	if (status == RR_VFS_OK) {
		plan->create->created = true;
		plan->create->applied = create_applied(plan->create, &made->object.st);
		return RR_VFS_OK;
	}
	create_undo(work, plan, &made->object);
	rr_posix_put(work, made);
	return status;
}

/* Tells whether the file has this time. In a file system that keeps whole seconds alone, the nanoseconds are
 * not there to be compared. */
static bool
create_has_time(const struct statx_timestamp *time, const struct rr_vfs_time *wanted, bool coarse)
{
	return time->tv_sec == wanted->seconds && time->tv_nsec == (coarse ? 0 : wanted->nanoseconds);
}

/* Tells whether this exclusive creation, sent before by the same client, made the file: the file is empty,
 * and its times contain the same verifier. RFC 1813, 3.3.8, of the repeated request: "the server treats the
 * request as a success". */
static bool
create_made_by(const struct rr_object *object, const uint8_t verifier[RR_VFS_VERIFIER])
{
	struct rr_vfs_time times[2];
	bool coarse;

	if (!S_ISREG(object->st.stx_mode) || object->st.stx_size > 0)
		return false;
	coarse = object->st.stx_mtime.tv_nsec == 0 && rr_posix_time_unit(object).seconds > 0;
	rr_vfs_verifier_times(verifier, times);
	return create_has_time(&object->st.stx_atime, &times[0], coarse) &&
	       create_has_time(&object->st.stx_mtime, &times[1], coarse);
}

/* Decides whether the call may use the existing object, and sets its size where the call asks for that:
 * clients truncate a file in this way. No other attribute is set. Returns RR_VFS_EXIST if the object may not
 * be used: it is no regular file, or was not made by this exclusive creation. */
static enum rr_vfs_status
create_reuse(struct rr_posix_work *work, struct rr_vfs_create *create, struct rr_posix_subject *found)
{
	enum rr_vfs_status status;

	if (create->how == RR_VFS_EXCLUSIVE)
		return create_made_by(&found->object, create->verifier) ? RR_VFS_OK : RR_VFS_EXIST;
	if (!S_ISREG(found->object.st.stx_mode))
		return RR_VFS_EXIST;
	if (!(create->set.mask & RR_VFS_SET_SIZE))
		return RR_VFS_OK;
	status = rr_posix_set_size(work, found, create->set.size);
	if (status != RR_VFS_OK)
		return status;
	create->applied = RR_VFS_SET_SIZE;
	rr_posix_know_changed(work->posix, &found->object, &create->object_after);
	return RR_VFS_OK;
}

/* Makes a new object. Where the name exists already, uses the existing object instead, if the call makes a
 * file, is not RR_VFS_GUARDED, and create_reuse() allows that. After success "made" is the object, and the
 * caller gives it back by rr_posix_put(). */
static enum rr_vfs_status
create_or_reuse(struct rr_posix_work *work, const struct create_plan *plan, struct rr_posix_subject *made)
{
	struct rr_vfs_create *create = plan->create;
	enum rr_vfs_status status = create_new(work, plan, made);

	if (status != RR_VFS_EXIST || create->type != RR_VFS_FILE || create->how == RR_VFS_GUARDED)
		return status;
	status = rr_tree_lookup(work->tree, &plan->directory->object, create->name, &made->object);
	if (status != RR_VFS_OK)
		return status;
	status = create_reuse(work, create, made);
	if (status != RR_VFS_OK)
		rr_posix_put(work, made);
	return status;
}

/* Notes that the new object and its directory are to be stored, fills in the handle and the attributes in the
 * call's output, and gives the object back. An object that is neither a file nor a directory cannot be stored
 * alone, and is stored with its directory. */
static void
create_finish(struct rr_posix_work *work, const struct create_plan *plan, struct rr_posix_subject *made)
{
	struct rr_vfs_create *create = plan->create;

	/* The attributes of a new object have just been taken. */
	if (create->created)
		rr_posix_known(work->posix, &made->object, &create->object_after);
	else
		rr_posix_know(work->posix, &made->object, &create->object_after);
	if (S_ISREG(made->object.st.stx_mode) || S_ISDIR(made->object.st.stx_mode))
		rr_posix_store(work, &made->object);
	rr_posix_store(work, &plan->directory->object);
	rr_tree_handle(work->tree, &made->object, &create->handle);
	rr_posix_put(work, made);
}

/* The plan holds what is to be made; "made" is the new object, or an existing one that the call may use. */
enum rr_vfs_status
rr_posix_create(struct rr_posix_work *work, struct rr_vfs_call *call)
{
	struct rr_vfs_create *create = rr_container(call, struct rr_vfs_create, call);
	struct rr_posix_subject directory = { .change = &create->directory_change }, made = { .open = NULL };
	struct create_plan plan = { .create = create, .directory = &directory };
	enum rr_vfs_status status = rr_posix_find(work, &create->directory, &directory);

	if (status != RR_VFS_OK)
		return status;
	/* These are the outputs of an operation that fails before it changes anything. */
	rr_posix_unchanged(work->posix, &directory.object, directory.change);
	status = create_plan(&plan);
	if (status == RR_VFS_OK)
		status = create_or_reuse(work, &plan, &made);
	if (status == RR_VFS_OK)
		create_finish(work, &plan, &made);
	rr_posix_put(work, &directory);
	return status;
}
