/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on an object itself: attributes, rights, the target of a link, the file system. */
#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuse/fuse_private.h"
#include "fuse/ops.h"

static void
object_told(struct rr_fuse_request *request, const struct rr_vfs_attributes *attributes)
{
	struct fuse_attr_out out;

	if (attributes->type != request->node->type) {
		rr_fuse_answer(request, ESTALE, NULL, 0);
		return;
	}
	rr_fuse_tell(request->node, attributes, &out);
	rr_fuse_answer(request, 0, &out, sizeof(out));
}

static void
object_getattr_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	if (status == RR_VFS_OK)
		object_told(request, &request->vfs.getattr.attributes);
	else
		rr_fuse_answer_status(request, status);
}

/* Asks for the attributes, when all that was written is at the server: it knows the size and the times then.
 */
static void
object_getattr_begin(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	struct rr_fuse_node *node = request->node;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	RR_FUSE_ZERO(request)->getattr.object = rr_fuse_node_object(node);
	request->file = rr_fuse_file_with(node, 0);
	if (request->file)
		request->vfs.getattr.object.open = rr_fuse_file_hold(request->file)->open;
	rr_fuse_begin(request, RR_VFS_OP_GETATTR, object_getattr_done);
}

void
rr_fuse_op_getattr(struct rr_fuse_request *request)
{
	rr_fuse_behind_drain(request, request->node, false, object_getattr_begin);
}

static void
object_setattr_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct rr_vfs_set *set = &request->vfs.setattr.set;
	const struct rr_vfs_known *after = &request->vfs.setattr.change.after;
	struct rr_vfs_attributes attributes = after->attributes;

	if (status == RR_VFS_OK && set->mask & RR_VFS_SET_MODIFY_TIME)
		rr_fuse_behind_time(request->node, &set->modify_time, &request->caller);

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
	} else if (after->valid) {
		object_told(request, &attributes);
	} else {
		RR_FUSE_ZERO(request)->getattr.object = rr_fuse_node_object(request->node);
		rr_fuse_begin(request, RR_VFS_OP_GETATTR, object_getattr_done);
	}
}

/* Converts what is to be set. */
static void
object_setattr_set(const struct fuse_setattr_in *in, struct rr_vfs_set *set)
{
	static const struct {
		uint32_t valid, mask;
	} bits[] = { { FATTR_MODE, RR_VFS_SET_MODE }, { FATTR_UID, RR_VFS_SET_UID },
		{ FATTR_GID, RR_VFS_SET_GID }, { FATTR_SIZE, RR_VFS_SET_SIZE } };

	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		if (in->valid & bits[i].valid)
			set->mask |= bits[i].mask;
	if (in->valid & FATTR_ATIME)
		set->mask |= in->valid & FATTR_ATIME_NOW ? RR_VFS_SET_ACCESS_NOW : RR_VFS_SET_ACCESS_TIME;
	if (in->valid & FATTR_MTIME)
		set->mask |= in->valid & FATTR_MTIME_NOW ? RR_VFS_SET_MODIFY_NOW : RR_VFS_SET_MODIFY_TIME;
	set->mode = in->mode & 07777;
	set->uid = in->uid;
	set->gid = in->gid;
	set->size = in->size;
	set->access_time = (struct rr_vfs_time){ (int64_t)in->atime, in->atimensec };
	set->modify_time = (struct rr_vfs_time){ (int64_t)in->mtime, in->mtimensec };
}

static void
object_setattr_begin(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct fuse_setattr_in *in = RR_FUSE_ARGS_AS(request, fuse_setattr_in);
	struct rr_vfs_setattr *setattr;

	if (status != RR_VFS_OK) {
		rr_fuse_answer_status(request, status);
		return;
	}
	setattr = &RR_FUSE_ZERO(request)->setattr;
	setattr->object = rr_fuse_node_object(request->node);
	object_setattr_set(in, &setattr->set);
	if (in->valid & FATTR_SIZE)
		request->file =
			rr_fuse_file_find(request->fuse, in->valid & FATTR_FH ? in->fh : 0, request->node);
	if (request->file && request->file->access & RR_VFS_SHARE_WRITE)
		setattr->object.open = request->file->open;
	if (request->file)
		rr_fuse_file_hold(request->file);
	rr_fuse_begin(request, RR_VFS_OP_SETATTR, object_setattr_done);
}

/* What was written before is at the server before times are set, so that no later WRITE changes them. It is
 * stable before a size is set, and before bits that a WRITE clears, as it may have to be written again. */
void
rr_fuse_op_setattr(struct rr_fuse_request *request)
{
	const struct fuse_setattr_in *in = RR_FUSE_ARGS_AS(request, fuse_setattr_in);
	bool stable = in->valid & FATTR_SIZE || (in->valid & FATTR_MODE && in->mode & (S_ISUID | S_ISGID));

	rr_fuse_behind_drain(request, request->node, stable, object_setattr_begin);
}

static void
object_access_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	const struct rr_vfs_access *access = &request->vfs.access;

	if (status != RR_VFS_OK)
		rr_fuse_answer_status(request, status);
	else
		rr_fuse_answer(
			request, access->asked & access->supported & ~access->granted ? EACCES : 0, NULL, 0);
}

/* RFC 1813, 3.3.4: the server decides; what makes no sense for the type of the object is not refused. */
void
rr_fuse_op_access(struct rr_fuse_request *request)
{
	uint32_t mask = RR_FUSE_ARGS_AS(request, fuse_access_in)->mask;
	bool directory = request->node->type == RR_VFS_DIRECTORY;
	struct rr_vfs_access *access = &RR_FUSE_ZERO(request)->access;

	access->object = rr_fuse_node_object(request->node);
	if (mask & R_OK)
		access->asked |= RR_VFS_MAY_READ;
	if (mask & W_OK)
		access->asked |= RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND;
	if (mask & X_OK)
		access->asked |= directory ? RR_VFS_MAY_LOOKUP : RR_VFS_MAY_EXECUTE;
	rr_fuse_begin(request, RR_VFS_OP_ACCESS, object_access_done);
}

static void
object_readlink_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	if (status == RR_VFS_OK)
		rr_fuse_answer(request, 0, request->data, request->vfs.readlink.length);
	else
		rr_fuse_answer_status(request, status);
}

void
rr_fuse_op_readlink(struct rr_fuse_request *request)
{
	struct rr_vfs_readlink *readlink = &RR_FUSE_ZERO(request)->readlink;

	request->data = rr_alloc(request->fuse->env, RR_VFS_TARGET_MAX);
	if (!request->data) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	readlink->object = rr_fuse_node_object(request->node);
	readlink->target = request->data;
	readlink->size = RR_VFS_TARGET_MAX;
	rr_fuse_begin(request, RR_VFS_OP_READLINK, object_readlink_done);
}

static void
object_statfs_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	enum { UNIT = 4096 };
	const struct rr_vfs_statfs *statfs = &request->vfs.statfs;
	const struct fuse_statfs_out out = { .st = {
						     .blocks = statfs->octets / UNIT,
						     .bfree = statfs->octets_free / UNIT,
						     .bavail = statfs->octets_for_all / UNIT,
						     .files = statfs->files,
						     .ffree = statfs->files_free,
						     .bsize = UNIT,
						     .frsize = UNIT,
						     .namelen = RR_VFS_NAME_MAX,
					     } };

	if (status == RR_VFS_OK)
		rr_fuse_answer(request, 0, &out, sizeof(out));
	else
		rr_fuse_answer_status(request, status);
}

void
rr_fuse_op_statfs(struct rr_fuse_request *request)
{
	RR_FUSE_ZERO(request)->statfs.object = rr_fuse_node_object(request->node);
	rr_fuse_begin(request, RR_VFS_OP_STATFS, object_statfs_done);
}
