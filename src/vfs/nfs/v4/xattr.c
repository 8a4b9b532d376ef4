/* SPDX-License-Identifier: BSD-3-Clause */
/* Extended attributes: RFC 8276. */
#include "vfs/nfs/v4/provider_private.h"

/* XATTR_VALUE: octets of the largest value that servers have; so long a value is taken also where the client
 * of a provider has less room, which learns how long it is. XATTR_LIST: octets of the names of one answer. */
enum { XATTR_VALUE = 64 << 10, XATTR_LIST = 2048 };

/* ---- GETXATTR ---- */

static void
xattr_get_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_xattr *xattr = RR_V4_INPUT(job, xattr);

	rr_v4_put_object(slot, 0);
	rr_v4_op(slot, OP_GETXATTR, 4 + (job->base.lean ? xattr->size : XATTR_VALUE))->u.opgetxattr.gxa_name =
		xattr->name;
}

static int
xattr_get_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_xattr *xattr = RR_V4_INPUT(job, xattr);
	const struct rpcrdma_bytes value = rr_v4_res(slot, OP_GETXATTR)->u.opgetxattr.u.gxr_value;

	xattr->length = value.length;
	if (value.length > xattr->size)
		job->verdict = RR_VFS_XATTR_SIZE;
	else if (value.length > 0)
		memcpy(xattr->value, value.data, value.length);
	return 0;
}

const struct rr_v4_work rr_v4_work_getxattr = {
	.build = xattr_get_build, .take = xattr_get_take, .result = sizeof(nfsstat4), .newer = true
};

/* ---- SETXATTR and REMOVEXATTR ---- */

static void
xattr_set_build(struct rr_v4_slot *slot)
{
	static const setxattr_option4 options[] = {
		[RR_VFS_XATTR_EITHER] = SETXATTR4_EITHER,
		[RR_VFS_XATTR_CREATE] = SETXATTR4_CREATE,
		[RR_VFS_XATTR_REPLACE] = SETXATTR4_REPLACE,
	};
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_xattr *xattr = RR_V4_INPUT(job, xattr);

	rr_v4_put_object(slot, 0);
	job->at.before[0] = rr_v4_ask_known(slot);
	if (job->base.operation == RR_VFS_OP_SETXATTR)
		rr_v4_op(slot, OP_SETXATTR, XDR_MAX_change_info4)->u.opsetxattr =
			(SETXATTR4args){ options[xattr->how], xattr->name, { xattr->value, xattr->size } };
	else
		rr_v4_op(slot, OP_REMOVEXATTR, XDR_MAX_change_info4)->u.opremovexattr.rxa_name = xattr->name;
	job->at.after[0] = rr_v4_ask_known(slot);
}

static void
xattr_set_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_change(slot, job->at.before[0], 0, NULL, &RR_V4_INPUT(job, xattr)->change);
}

static int
xattr_set_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	bool set = job->base.operation == RR_VFS_OP_SETXATTR;
	const change_info4 *info = set ? &rr_v4_res(slot, OP_SETXATTR)->u.opsetxattr.u.sxr_info
				       : &rr_v4_res(slot, OP_REMOVEXATTR)->u.opremovexattr.u.rxr_info;

	rr_v4_take_change(slot, job->at.before[0], job->at.after[0], info, &RR_V4_INPUT(job, xattr)->change);
	return 0;
}

const struct rr_v4_work rr_v4_work_setxattr = { .build = xattr_set_build,
	.take = xattr_set_take,
	.fail = xattr_set_fail,
	.result = sizeof(nfsstat4),
	.changes = true,
	.newer = true };

/* ---- LISTXATTRS ---- */

static void
xattr_list_build(struct rr_v4_slot *slot)
{
	rr_v4_put_object(slot, 0);
	rr_v4_op(slot, OP_LISTXATTRS, XATTR_LIST)->u.oplistxattrs =
		(LISTXATTRS4args){ rr_v4_job(slot)->base.cookie, XATTR_LIST };
}

/* Adds a name to the list; of names that have no room any more, only counts the octets. */
static bool
xattr_add(struct rr_vfs_xattr *xattr, struct rpcrdma_bytes name)
{
	if (name.length == 0 || memchr(name.data, 0, name.length) ||
		name.length >= UINT32_MAX / 2 - xattr->length)
		return false;
	if (xattr->length + name.length < xattr->size) {
		memcpy((char *)xattr->value + xattr->length, name.data, name.length);
		((char *)xattr->value)[xattr->length + name.length] = 0;
	}
	xattr->length += name.length + 1;
	return true;
}

static int
xattr_list_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const LISTXATTRS4resok *ok = &rr_v4_res(slot, OP_LISTXATTRS)->u.oplistxattrs.u.lxr_value;

	/* A part without names is the end. */
	if (ok->lxr_names.count == 0 && !ok->lxr_eof)
		job->verdict = RR_VFS_IO;
	for (uint32_t i = 0; i < ok->lxr_names.count; i++)
		if (!xattr_add(RR_V4_INPUT(job, xattr), ok->lxr_names.values[i]))
			job->verdict = RR_VFS_IO;
	job->base.cookie = ok->lxr_cookie;
	job->base.created = ok->lxr_eof;
	return 0;
}

const struct rr_v4_work rr_v4_work_listxattr = {
	.build = xattr_list_build, .take = xattr_list_take, .result = sizeof(nfsstat4), .newer = true
};

/* The list is never longer than the largest that local file systems have: a server that goes on for ever is
 * left. */
static void
xattr_list_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	const struct rr_vfs_xattr *xattr = RR_V4_INPUT(job, xattr);

	if (status == RR_VFS_OK && !job->base.created && xattr->length <= XATTR_VALUE) {
		rr_v4_ask(job, &rr_v4_work_listxattr, xattr_list_then);
		return;
	}
	if (status == RR_VFS_OK && xattr->length > xattr->size)
		status = RR_VFS_XATTR_SIZE;
	rr_v4_end(job, status);
}

enum rr_vfs_status
rr_v4_do_listxattr(struct rr_v4_job *job)
{
	RR_V4_INPUT(job, xattr)->length = 0;
	return rr_v4_ask(job, &rr_v4_work_listxattr, xattr_list_then);
}
