/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on an object and its attributes, and on its file system. The functions ..._build() append the
 * operations to the COMPOUND; ..._take() takes their results when all of them succeeded, and ..._fail() those
 * in front of the one that failed (struct rr_v4_work). */
#include "base/checked.h"
#include "base/endian.h"
#include "vfs/nfs/v4/provider_private.h"

/* ---- GETATTR ---- */

static void
object_get_build(struct rr_v4_slot *slot)
{
	rr_v4_put_object(slot, 0);
	rr_v4_job(slot)->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_object);
}

static int
object_get_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_known known;

	rr_v4_take_known(slot, job->at.object, &known);
	RR_V4_INPUT(job, getattr)->attributes = known.attributes;
	job->verdict = known.valid ? RR_VFS_OK : RR_VFS_IO;
	return 0;
}

const struct rr_v4_work rr_v4_work_getattr = {
	.build = object_get_build, .take = object_get_take, .result = sizeof(nfsstat4)
};

/* ---- SETATTR ---- */

/* Appends a VERIFY that the object's time of change is the guard. */
static void
object_guard(struct rr_v4_slot *slot)
{
	static uint32_t words[] = { 0, UINT32_C(1) << (FATTR4_TIME_METADATA - 32) };

	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_setattr *setattr = RR_V4_INPUT(job, setattr);

	rr_put_be64(job->guard, (uint64_t)setattr->guard.seconds);
	rr_put_be32(job->guard + 8, setattr->guard.nanoseconds);
	rr_v4_op(slot, OP_VERIFY, 0)->u.opverify.obj_attributes =
		(fattr4){ { 2, words }, { job->guard, sizeof(job->guard) } };
}

static void
object_set_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_setattr *setattr = RR_V4_INPUT(job, setattr);
	SETATTR4args *args;

	rr_v4_put_object(slot, 0);
	job->at.before[0] = rr_v4_ask_known(slot);
	if (setattr->guarded)
		object_guard(slot);
	args = &rr_v4_op(slot, OP_SETATTR, 4 + 4 * RR_ATTR_WORDS)->u.opsetattr;
	/* RFC 8881, 18.30.3: "The stateid argument for SETATTR is used to provide byte-range locking context
	 * that is necessary for SETATTR requests that set the size attribute." */
	if (setattr->set.mask & RR_VFS_SET_SIZE)
		args->stateid = rr_v4_stateid(slot, &setattr->object, 0, RR_VFS_SHARE_WRITE);
	args->obj_attributes = rr_v4_attr_set(slot, &setattr->set);
	job->at.after[0] = rr_v4_ask_known(slot);
}

/* RFC 8881, 18.30.3: "The attrsset field contains a bitmap4 that indicates which attributes were successfully
 * set", also after a failure. */
static void
object_set_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_setattr *setattr = RR_V4_INPUT(job, setattr);

	rr_v4_take_change(slot, job->at.before[0], job->at.after[0], NULL, &setattr->change);
	if (slot->ops[slot->result.resarray.count - 1].argop == OP_SETATTR)
		setattr->applied =
			rr_v4_applied(&rr_v4_res(slot, OP_SETATTR)->u.opsetattr.attrsset, &setattr->set);
}

static int
object_set_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_setattr *setattr = RR_V4_INPUT(job, setattr);

	rr_v4_take_change(slot, job->at.before[0], job->at.after[0], NULL, &setattr->change);
	setattr->applied = rr_v4_applied(&rr_v4_res(slot, OP_SETATTR)->u.opsetattr.attrsset, &setattr->set);
	return 0;
}

const struct rr_v4_work rr_v4_work_setattr = { .build = object_set_build,
	.take = object_set_take,
	.fail = object_set_fail,
	.result = sizeof(nfsstat4),
	.changes = true };

enum rr_vfs_status
rr_v4_do_setattr(struct rr_v4_job *job)
{
	const struct rr_vfs_setattr *setattr = RR_V4_INPUT(job, setattr);

	/* Only what the open gives, the size, is set as the user that has opened the file. */
	if (job->base.open && setattr->set.mask & ~(uint32_t)RR_VFS_SET_SIZE) {
		job->base.user.uid = job->base.call->caller->uid;
		job->base.user.gid = job->base.call->caller->gid;
	}
	return rr_v4_ask(job, &rr_v4_work_setattr, rr_v4_end);
}

/* ---- ACCESS ---- */

static void
object_may_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const uint32_t all = ACCESS4_READ | ACCESS4_LOOKUP | ACCESS4_MODIFY | ACCESS4_EXTEND |
			     ACCESS4_DELETE | ACCESS4_EXECUTE;
	const uint32_t xattrs = RR_VFS_MAY_XATTR_READ | RR_VFS_MAY_XATTR_WRITE | RR_VFS_MAY_XATTR_LIST;

	rr_v4_put_object(slot, 0);
	job->at.object = rr_v4_ask_known(slot);
	rr_v4_op(slot, OP_ACCESS, 8)->u.opaccess.access =
		RR_V4_INPUT(job, access)->asked & (rr_v4_minor(slot->v4) < 2 ? all : all | xattrs);
}

static int
object_may_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_access *access = RR_V4_INPUT(job, access);
	const ACCESS4resok *ok = &rr_v4_res(slot, OP_ACCESS)->u.opaccess.u.resok4;

	rr_v4_take_known(slot, job->at.object, &access->object_after);
	access->supported = access->asked & ok->supported;
	access->granted = access->supported & ok->access;
	if (!job->base.lean && rr_vfs_is_read_only(&job->base.vfs->base, job->base.call))
		access->granted &= ~(uint32_t)(RR_VFS_MAY_MODIFY | RR_VFS_MAY_EXTEND | RR_VFS_MAY_DELETE |
					       RR_VFS_MAY_XATTR_WRITE);
	return 0;
}

const struct rr_v4_work rr_v4_work_access = {
	.build = object_may_build, .take = object_may_take, .result = sizeof(nfsstat4)
};

/* ---- READLINK ---- */

static void
object_target_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_put_object(slot, 0);
	job->at.object = rr_v4_ask_known(slot);
	rr_v4_op(slot, OP_READLINK, 4);
	/* The target has no sink: it comes with the rest of the reply. */
	slot->call.reply_max = RR_VFS_TARGET_MAX + 1;
}

static void
object_target_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_known(slot, job->at.object, &RR_V4_INPUT(job, readlink)->object_after);
}

static int
object_target_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_readlink *readlink = RR_V4_INPUT(job, readlink);
	const struct rpcrdma_bytes target = rr_v4_res(slot, OP_READLINK)->u.opreadlink.u.resok4.link;

	rr_v4_take_known(slot, job->at.object, &readlink->object_after);
	if (target.length > readlink->size) {
		job->verdict = RR_VFS_IO;
		return 0;
	}
	readlink->length = target.length;
	if (target.length > 0)
		memcpy(readlink->target, target.data, target.length);
	return 0;
}

const struct rr_v4_work rr_v4_work_readlink = { .build = object_target_build,
	.take = object_target_take,
	.fail = object_target_fail,
	.result = sizeof(nfsstat4) };

/* RFC 8881, 18.24.3: "The READLINK operation is only allowed on objects of type NF4LNK. The server should
 * return the error NFS4ERR_WRONG_TYPE if the object is not of type NF4LNK." Some return NFS4ERR_INVAL. */
static void
object_target_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	rr_v4_end(job, status == RR_VFS_INVAL ? RR_VFS_WRONG_TYPE : status);
}

enum rr_vfs_status
rr_v4_do_readlink(struct rr_v4_job *job)
{
	return rr_v4_ask(job, &rr_v4_work_readlink, object_target_then);
}

/* ---- File systems ---- */

static void
object_space_build(struct rr_v4_slot *slot)
{
	rr_v4_put_object(slot, 0);
	rr_v4_job(slot)->at.object = rr_v4_ask_attributes(slot, &rr_v4_ask_space);
}

static int
object_space_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_statfs *statfs = RR_V4_INPUT(job, statfs);
	struct rr_attr_values values;

	if (!rr_v4_take_values(slot, job->at.object, &values)) {
		job->verdict = RR_VFS_IO;
		return 0;
	}
	statfs->object_after.valid = rr_v4_complete(&values, &statfs->object_after.attributes);
	statfs->octets = values.octets;
	statfs->octets_free = values.octets_free;
	statfs->octets_for_all = values.octets_for_all;
	statfs->files = values.files;
	statfs->files_free = values.files_free;
	statfs->files_for_all = values.files_for_all;
	return 0;
}

const struct rr_v4_work rr_v4_work_statfs = {
	.build = object_space_build, .take = object_space_take, .result = sizeof(nfsstat4)
};

static void
object_limits_build(struct rr_v4_slot *slot)
{
	rr_v4_put_object(slot, 0);
	rr_v4_job(slot)->at.object =
		rr_v4_ask_attributes(slot, &rr_v4_ask_limits[rr_v4_minor(slot->v4) < 2 ? 0 : 1]);
}

/* A limit that the other server does not name is as most servers have it. */
static int
object_limits_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_limits *limits = RR_V4_INPUT(job, limits);
	struct rr_attr_values values;
	bool said;

	if (!rr_v4_take_values(slot, job->at.object, &values)) {
		job->verdict = RR_VFS_IO;
		return 0;
	}
	limits->object_after.valid = rr_v4_complete(&values, &limits->object_after.attributes);
	limits->file_max = rr_attr_in(&values.have, FATTR4_MAXFILESIZE) ? values.file_max : INT64_MAX;
	limits->link_max = rr_attr_in(&values.have, FATTR4_MAXLINK) ? values.link_max : UINT32_MAX;
	said = rr_attr_in(&values.have, FATTR4_MAXNAME);
	limits->name_max = said ? (uint32_t)rr_min(values.name_max, RR_VFS_NAME_MAX) : RR_VFS_NAME_MAX;
	said = rr_attr_in(&values.have, FATTR4_TIME_DELTA);
	limits->time_delta = said ? values.time_delta : (struct rr_vfs_time){ 0, 1 };
	limits->clone_block = values.clone_block;
	limits->xattrs = values.xattrs;
	limits->acls = values.acls;
	limits->case_insensitive = values.case_insensitive;
	said = rr_attr_in(&values.have, FATTR4_CASE_PRESERVING);
	limits->case_preserving = said ? values.case_preserving : true;
	return 0;
}

const struct rr_v4_work rr_v4_work_limits = {
	.build = object_limits_build, .take = object_limits_take, .result = sizeof(nfsstat4)
};
