/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/remote.h"

#include <sys/stat.h>

#include "ulb/nfs42.h"

/* The parts of files of a server that cp -a keeps beside data: owners, hard links, extended attributes,
 * access lists. The operations are those of struct rr_side_ops: side.h says what each does and returns. */

static struct rpcrdma_nfs_time
remote_nfs_time(struct timespec time)
{
	return (struct rpcrdma_nfs_time){ time.tv_sec, (uint32_t)time.tv_nsec };
}

struct rpcrdma_nfs_changes
rr_cp_remote_mode(uint32_t mode)
{
	return (struct rpcrdma_nfs_changes){
		.size = sizeof(struct rpcrdma_nfs_changes), .set_mode = true, .mode = mode
	};
}

struct rpcrdma_nfs_changes
rr_cp_remote_attributes(const struct rr_side *side, const struct rr_info *info)
{
	bool all = side->keep_uid && side->keep_gid && rr_cp_is_owned(info);
	struct rpcrdma_nfs_changes changes = rr_cp_remote_mode(info->mode & (all ? 07777u : RR_MODE_KEPT));

	changes.set_uid = side->keep_uid && info->uid != RR_OWNERS_NOBODY;
	changes.set_gid = side->keep_gid && info->gid != RR_OWNERS_NOBODY;
	changes.uid = info->uid;
	changes.gid = info->gid;
	changes.accessed = remote_nfs_time(info->atime);
	changes.modified = remote_nfs_time(info->mtime);
	changes.set_accessed = rr_nfs_has_time(side->nfs, changes.accessed);
	changes.set_modified = rr_nfs_has_time(side->nfs, changes.modified);
	return changes;
}

/* Tells whether a SETATTR failed because this user may not set an attribute, or, in version 4, because the
 * server does not know the owner or the group. */
static bool
remote_is_refusal(int error)
{
	return error == NFS3ERR_PERM || error == NFS3ERR_ACCES || error == NFS4ERR_BADOWNER;
}

/* Sets the attributes by one SETATTR; leaves out the owner, and then the group, if the server refuses them.
 */
static int
remote_set_together(
	struct rr_side *side, const struct rpcrdma_nfs_handle *handle, struct rpcrdma_nfs_changes changes)
{
	int error = rpcrdma_nfs_change(side->nfs, handle, &changes, NULL);

	if (remote_is_refusal(error) && changes.set_uid) {
		side->keep_uid = changes.set_uid = false;
		changes.mode &= RR_MODE_KEPT;
		error = rpcrdma_nfs_change(side->nfs, handle, &changes, NULL);
	}
	if (remote_is_refusal(error) && changes.set_gid) {
		side->keep_gid = changes.set_gid = false;
		error = rpcrdma_nfs_change(side->nfs, handle, &changes, NULL);
	}
	return error;
}

/* Tells whether a server may undo one of the attributes as it sets another: chown(2) and a change of size
 * clear the set-user-ID and set-group-ID bits, and a change of size sets the time of modification. */
static bool
remote_undo_each_other(const struct rpcrdma_nfs_changes *changes)
{
	return changes->set_length || (changes->set_mode && changes->mode & ~RR_MODE_KEPT);
}

/* Owner, group and size go first if mode and times could be lost with them. */
int
rr_cp_remote_apply(
	struct rr_side *side, const struct rpcrdma_nfs_handle *handle, struct rpcrdma_nfs_changes changes)
{
	struct rpcrdma_nfs_changes first = changes;
	int error;

	if (!remote_undo_each_other(&changes))
		return remote_set_together(side, handle, changes);
	first.set_mode = first.set_accessed = first.set_modified = false;
	error = remote_set_together(side, handle, first);
	if (error)
		return error;
	changes.set_uid = changes.set_gid = changes.set_length = false;
	if (!side->keep_uid || !side->keep_gid)
		changes.mode &= RR_MODE_KEPT;
	return remote_set_together(side, handle, changes);
}

int
rr_cp_remote_make_special(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info)
{
	struct rpcrdma_nfs_object made = {
		.size = sizeof(made),
		.type = info->type == S_IFIFO   ? RPCRDMA_NFS_FIFO
			: info->type == S_IFBLK ? RPCRDMA_NFS_BLOCK_DEVICE
						: RPCRDMA_NFS_CHARACTER_DEVICE,
		.device_major = info->major,
		.device_minor = info->minor,
	};
	const struct rpcrdma_nfs_changes changes = rr_cp_remote_mode(0600);
	int error = rpcrdma_nfs_mknod(side->nfs, &directory->handle, name, &changes, &made, NULL);

	if (error == NFS3ERR_EXIST)
		return 1;
	return error ? rr_cp_remote_fail(side, error) : 0;
}

int
rr_cp_remote_set_link(struct rr_side *side, const struct rr_directory *directory, const char *name,
	const struct rr_info *info)
{
	struct rpcrdma_nfs_changes changes = rr_cp_remote_attributes(side, info);
	struct rpcrdma_nfs_object link;
	int error = rr_nfs_lookup(side->nfs, &directory->handle, name, &link);

	changes.set_mode = info->kind != RR_KIND_LINK;
	changes.mode &= RR_MODE_KEPT;
	if (!error)
		error = rr_cp_remote_apply(side, &link.handle, changes);
	/* A server's refusal, which is positive, is no error of the copy: some servers cannot set any
	 * attribute of a link. */
	return error < 0 || (error && info->kind != RR_KIND_LINK) ? rr_cp_remote_fail(side, error) : 0;
}

int
rr_cp_remote_make_name(struct rr_side *side, const struct rr_first *first,
	const struct rr_directory *directory, const char *name)
{
	int error = rpcrdma_nfs_link(side->nfs, &first->handle, &directory->handle, name, NULL);

	if (error == NFS3ERR_EXIST)
		return 1;
	return error ? rr_cp_remote_fail(side, error) : 0;
}

/* ---- Extended attributes ---- */

/* A server that has no extended attributes (RFC 8276), or is used by an earlier version than 4.2, gives an
 * empty list, which is no error. */
int
rr_cp_remote_list_xattrs(
	struct rr_side *side, const struct rr_directory *object, struct rpcrdma_nfs_value *names)
{
	int error = rr_nfs_is_newer(side->nfs)
			    ? rpcrdma_nfs_list_xattrs(side->nfs, &object->handle, names, NULL)
			    : NFS3ERR_NOTSUPP;

	if (error != NFS3ERR_NOTSUPP)
		return error ? rr_cp_remote_fail(side, error) : 0;
	names->length = 0;
	return 0;
}

int
rr_cp_remote_get_xattr(struct rr_side *side, const struct rr_directory *object, const char *name,
	struct rpcrdma_nfs_value *value)
{
	int error = rpcrdma_nfs_get_xattr(side->nfs, &object->handle, name, value, NULL);

	return error ? rr_cp_remote_fail(side, error) : 0;
}

int
rr_cp_remote_set_xattr(struct rr_side *side, const struct rr_directory *object, const char *name,
	const struct rpcrdma_nfs_value *value)
{
	int error = rr_nfs_is_newer(side->nfs)
			    ? rpcrdma_nfs_set_xattr(side->nfs, &object->handle, name, value, NULL)
			    : NFS3ERR_NOTSUPP;

	if (error == NFS3ERR_NOTSUPP)
		return 1;
	return error ? rr_cp_remote_fail(side, error) : 0;
}

/* ---- Access lists ---- */

static bool
remote_number(void *ctx, const char *name, bool is_group, uint32_t *number)
{
	*number = rr_owners_number(ctx, name, is_group);
	return *number != RR_OWNERS_NOBODY;
}

int
rr_cp_remote_get_lists(struct rr_side *side, const struct rr_directory *object, const struct rr_info *info,
	struct rr_cp_lists *lists)
{
	const struct rpcrdma_nfs_acl_names names = { remote_number, &side->owners };
	bool both = info->kind == RR_KIND_DIRECTORY;
	int error = rpcrdma_nfs_get_acl(
		side->nfs, &object->handle, &lists->access, both ? &lists->inherited : NULL, &names, NULL);

	if (error == NFS3ERR_NOTSUPP)
		return 1;
	if (error == -RPCRDMA_ERR_NOTSUP || error == -RPCRDMA_ERR_PEER || error == NFS3ERR_PERM ||
		error == NFS3ERR_ACCES)
		return 2;
	return error ? rr_cp_remote_fail(side, error) : 0;
}

/* A server of version 4 refuses a list with a user or group that it does not know (NFS4ERR_BADOWNER). */
int
rr_cp_remote_set_lists(struct rr_side *side, const struct rr_directory *object, const struct rr_info *info,
	const struct rr_cp_lists *lists)
{
	int error = rpcrdma_nfs_set_acl(side->nfs, &object->handle, &lists->access,
		info->kind == RR_KIND_DIRECTORY ? &lists->inherited : NULL, NULL);

	if (error == NFS3ERR_NOTSUPP || error == NFS3ERR_INVAL || error == NFS4ERR_ATTRNOTSUPP ||
		remote_is_refusal(error))
		return 1;
	return error ? rr_cp_remote_fail(side, error) : 0;
}
