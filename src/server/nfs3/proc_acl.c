/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/nfs3/attr.h"
#include "vfs/acl/nfsacl.h"

/* This file has the procedures of NFSACL version 3, which stands beside NFS version 3 at the same port and
 * has no public definition: GETACL and SETACL. The functions ..._begin() and ..._end() are those of proc.h.
 */

/* The bits of a mask that there are. */
enum { ACL_ALL = NA_ACL | NA_ACLCNT | NA_DFACL | NA_DFACLCNT };

/* ---- GETACL ---- */

/* Takes memory for a list that is asked for. */
static bool
acl_room(struct rr_nfs_work *work, uint32_t bits, struct rr_vfs_acl *acl)
{
	const GETACL3args *args = work->args;

	if (!(args->mask & bits))
		return true;
	acl->entries = rr_nfs_alloc(work->request, RR_VFS_ACL_MAX * sizeof(acl->entries[0]));
	return acl->entries != NULL;
}

static enum rr_vfs_status
proc_getacl_begin(struct rr_nfs_work *work)
{
	const GETACL3args *args = work->args;
	struct rr_vfs_getacl *getacl = &work->op.getacl;
	struct rr_vfs *vfs = work->server->vfs;

	if (args->mask & ~(uint32_t)ACL_ALL)
		return RR_VFS_INVAL;
	getacl->object = rr_nfs_object(args->fh);
	if (!acl_room(work, NA_ACL | NA_ACLCNT, &getacl->access) ||
		!acl_room(work, NA_DFACL | NA_DFACLCNT, &getacl->inherited))
		return RR_VFS_BUSY;
	return rr_vfs_getacl(vfs, getacl);
}

/* Writes the entries of a list. Returns false if there is no memory. */
static bool
acl_put(struct rr_nfs_work *work, const struct rr_vfs_acl *acl, uint32_t flags, aclent **list,
	uint32_t *count)
{
	const struct rr_vfs_attributes *attributes = &work->op.getacl.object_after.attributes;

	*list = rr_nfs_alloc(work->request, rr_nfsacl_count(acl) * sizeof(**list));
	if (!*list)
		return false;
	*count = rr_nfsacl_count(acl);
	rr_nfsacl_put(acl, attributes->uid, attributes->gid, flags, *list);
	return true;
}

static enum rpcrdma_handled
proc_getacl_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	const struct rr_vfs_getacl *getacl = &work->op.getacl;
	const GETACL3args *args = work->args;
	GETACL3res *res = work->result;
	secattr *acl = &res->u.resok.acl;
	bool room = true;

	if (status == RR_VFS_OK && args->mask & NA_ACL)
		room = acl_put(work, &getacl->access, 0, &acl->aclent_list.values, &acl->aclent_list.count);
	if (status == RR_VFS_OK && args->mask & NA_DFACL)
		room &= acl_put(work, &getacl->inherited, RR_NFSACL_DEFAULT, &acl->dfaclent_list.values,
			&acl->dfaclent_list.count);
	if (!room)
		status = RR_VFS_BUSY;
	res->status = rr_nfs_status(status);
	if (status != RR_VFS_OK) {
		rr_nfs_post_op(&getacl->object_after, &res->u.resfail.attr);
		return RPCRDMA_HANDLED;
	}
	rr_nfs_post_op(&getacl->object_after, &res->u.resok.attr);
	acl->mask = args->mask;
	acl->aclcnt = args->mask & (NA_ACL | NA_ACLCNT) ? (int32_t)rr_nfsacl_count(&getacl->access) : 0;
	acl->dfaclcnt =
		args->mask & (NA_DFACL | NA_DFACLCNT) ? (int32_t)rr_nfsacl_count(&getacl->inherited) : 0;
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_getacl = { proc_getacl_begin, proc_getacl_end,
	sizeof(struct rr_vfs_getacl), false };

/* ---- SETACL ---- */

/* Reads a list, whose two counts must agree, into memory of the request; *result is NULL if there is none. */
static enum rr_vfs_status
acl_take(struct rr_nfs_work *work, bool is_default, int32_t counted, const aclent *from, uint32_t count,
	struct rr_vfs_acl **result)
{
	struct rr_vfs_acl *acl = rr_nfs_alloc(work->request, sizeof(*acl));

	if (counted < 0 || (uint32_t)counted != count)
		return RR_VFS_INVAL;
	if (!acl)
		return RR_VFS_BUSY;
	acl->entries = rr_nfs_alloc(work->request, count * sizeof(acl->entries[0]));
	if (!acl->entries)
		return RR_VFS_BUSY;
	*result = acl;
	return rr_nfsacl_take(from, count, is_default, acl);
}

static enum rr_vfs_status
proc_setacl_begin(struct rr_nfs_work *work)
{
	const SETACL3args *args = work->args;
	struct rr_vfs_setacl *setacl = &work->op.setacl;
	struct rr_vfs *vfs = work->server->vfs;
	struct rr_vfs_acl *access = NULL, *inherited = NULL;
	enum rr_vfs_status status = args->acl.mask & ~(uint32_t)ACL_ALL ? RR_VFS_INVAL : RR_VFS_OK;

	if (status == RR_VFS_OK && args->acl.mask & NA_ACL)
		status = acl_take(work, false, args->acl.aclcnt, args->acl.aclent_list.values,
			args->acl.aclent_list.count, &access);
	if (status == RR_VFS_OK && args->acl.mask & NA_DFACL)
		status = acl_take(work, true, args->acl.dfaclcnt, args->acl.dfaclent_list.values,
			args->acl.dfaclent_list.count, &inherited);
	if (status != RR_VFS_OK)
		return status;
	setacl->object = rr_nfs_object(args->fh);
	setacl->access = access;
	setacl->inherited = inherited;
	return rr_vfs_setacl(vfs, setacl);
}

static enum rpcrdma_handled
proc_setacl_end(struct rr_nfs_work *work, enum rr_vfs_status status)
{
	SETACL3res *res = work->result;

	res->status = rr_nfs_status(status);
	rr_nfs_post_op(&work->op.setacl.change.after,
		status == RR_VFS_OK ? &res->u.resok.attr : &res->u.resfail.attr);
	return RPCRDMA_HANDLED;
}

const struct rr_nfs_procedure rr_proc_setacl = { proc_setacl_begin, proc_setacl_end,
	sizeof(struct rr_vfs_setacl), true };
