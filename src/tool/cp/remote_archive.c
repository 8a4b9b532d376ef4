/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/cp/remote.h"

#include <sys/stat.h>

#include "ulb/nfs42.h"

/* The parts of files of a server that cp -a keeps beside data: owners, hard links, extended attributes. The
 * operations are those of struct rr_side_ops: side.h says what each does and returns. */

/* Converts a time to that of NFS version 3, which has the years 1970 to 2106. An earlier time becomes the
 * first time of that range, and a later time the last one. */
static nfstime3
remote_nfs_time(struct timespec time)
{
	if (time.tv_sec < 0)
		return (nfstime3){ 0, 0 };
	if (time.tv_sec > UINT32_MAX)
		return (nfstime3){ UINT32_MAX, 0 };
	return (nfstime3){ (uint32_t)time.tv_sec, (uint32_t)time.tv_nsec };
}

sattr3
rr_cp_remote_attributes(const struct rr_side *side, const struct rr_info *info)
{
	bool all = side->keep_uid && side->keep_gid;
	sattr3 attributes = {
		.mode = { true, { info->mode & (all ? 07777u : RR_MODE_KEPT) } },
		.uid = { side->keep_uid, { info->uid } },
		.gid = { side->keep_gid, { info->gid } },
	};

	attributes.atime.set_it = attributes.mtime.set_it = SET_TO_CLIENT_TIME;
	attributes.atime.u.atime = remote_nfs_time(info->atime);
	attributes.mtime.u.mtime = remote_nfs_time(info->mtime);
	return attributes;
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
remote_set_together(struct rr_side *side, const struct rpcrdma_nfs_handle *handle, sattr3 attributes)
{
	int error = rr_nfs_setattr(side->nfs, handle, &attributes);

	if (remote_is_refusal(error) && attributes.uid.set_it) {
		side->keep_uid = attributes.uid.set_it = false;
		attributes.mode.u.mode &= RR_MODE_KEPT;
		error = rr_nfs_setattr(side->nfs, handle, &attributes);
	}
	if (remote_is_refusal(error) && attributes.gid.set_it) {
		side->keep_gid = attributes.gid.set_it = false;
		error = rr_nfs_setattr(side->nfs, handle, &attributes);
	}
	return error;
}

/* Tells whether a server may undo one of the attributes as it sets another: chown(2) and a change of size
 * clear the set-user-ID and set-group-ID bits, and a change of size sets the time of modification. */
static bool
remote_undo_each_other(const sattr3 *attributes)
{
	return attributes->size.set_it ||
	       (attributes->mode.set_it && attributes->mode.u.mode & ~RR_MODE_KEPT);
}

/* Owner, group and size go first if mode and times could be lost with them. */
int
rr_cp_remote_apply(struct rr_side *side, const struct rpcrdma_nfs_handle *handle, sattr3 attributes)
{
	sattr3 first = { .uid = attributes.uid, .gid = attributes.gid, .size = attributes.size };
	int error;

	if (!remote_undo_each_other(&attributes))
		return remote_set_together(side, handle, attributes);
	error = remote_set_together(side, handle, first);
	if (error)
		return error;
	attributes.uid.set_it = attributes.gid.set_it = attributes.size.set_it = false;
	if (!side->keep_uid || !side->keep_gid)
		attributes.mode.u.mode &= RR_MODE_KEPT;
	return remote_set_together(side, handle, attributes);
}

int
rr_cp_remote_make_special(
	struct rr_side *side, const struct rr_place *place, const char *name, const struct rr_info *info)
{
	ftype3 type = info->type == S_IFIFO ? NF3FIFO : info->type == S_IFBLK ? NF3BLK : NF3CHR;
	sattr3 attributes = { .mode = { .set_it = true, .u.mode = 0600 } };
	int error = rr_nfs_mknod(
		side->nfs, &place->handle, name, type, (specdata3){ info->major, info->minor }, &attributes);

	if (error == NFS3ERR_EXIST)
		return 1;
	return error ? rr_cp_remote_fail(side, error) : 0;
}

int
rr_cp_remote_set_link(
	struct rr_side *side, const struct rr_place *place, const char *name, const struct rr_info *info)
{
	sattr3 attributes = rr_cp_remote_attributes(side, info);
	struct rr_nfs_object link;
	int error = rr_nfs_lookup(side->nfs, &place->handle, name, &link);

	attributes.mode.set_it = info->kind != RR_KIND_LINK;
	attributes.mode.u.mode &= RR_MODE_KEPT;
	if (!error)
		error = rr_cp_remote_apply(side, &link.handle, attributes);
	/* A server's refusal, which is positive, is no error of the copy: some servers cannot set any
	 * attribute of a link. */
	return error < 0 || (error && info->kind != RR_KIND_LINK) ? rr_cp_remote_fail(side, error) : 0;
}

int
rr_cp_remote_make_name(
	struct rr_side *side, const struct rr_first *first, const struct rr_place *place, const char *name)
{
	int error = rr_nfs_link(side->nfs, &first->handle, &place->handle, name);

	if (error == NFS3ERR_EXIST)
		return 1;
	return error ? rr_cp_remote_fail(side, error) : 0;
}

/* ---- Extended attributes ---- */

/* A server that has no extended attributes (RFC 8276), or is used by an earlier version than 4.2, gives an
 * empty list, which is no error. */
int
rr_cp_remote_list_xattrs(struct rr_side *side, const struct rr_place *object, struct rpcrdma_nfs_value *names)
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
rr_cp_remote_get_xattr(struct rr_side *side, const struct rr_place *object, const char *name,
	struct rpcrdma_nfs_value *value)
{
	int error = rpcrdma_nfs_get_xattr(side->nfs, &object->handle, name, value, NULL);

	return error ? rr_cp_remote_fail(side, error) : 0;
}

int
rr_cp_remote_set_xattr(struct rr_side *side, const struct rr_place *object, const char *name,
	const struct rpcrdma_nfs_value *value)
{
	int error = rr_nfs_is_newer(side->nfs)
			    ? rpcrdma_nfs_set_xattr(side->nfs, &object->handle, name, value, NULL)
			    : NFS3ERR_NOTSUPP;

	if (error == NFS3ERR_NOTSUPP)
		return 1;
	return error ? rr_cp_remote_fail(side, error) : 0;
}
