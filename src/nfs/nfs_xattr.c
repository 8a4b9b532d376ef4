/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the public functions on extended attributes, which only version 4.2 has. A function with
 * _take_ in its name handles the result of a call (take() in nfs_private.h). */
#include <string.h>

#include "nfs/nfs_private.h"

/* Prepares an operation on an extended attribute of an object, and stores it in *result. If name is NULL, the
 * operation is on all extended attributes of the object. */
static int
xattr_new(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, const char *name,
	const struct rpcrdma_nfs_then *then, struct rr_nfs_pending **result)
{
	struct rr_nfs_pending *pending;
	int error;

	if (!nfs || !handle)
		return -RPCRDMA_ERR_INVAL;
	error = rr_nfs_newer_new(nfs, then, &pending);
	if (error)
		return error;
	pending->handles[0] = *handle;
	if (name)
		error = rr_nfs_pending_name(pending, 0, name);
	if (error)
		return rr_nfs_pending_drop(pending, error);
	pending->op.xattr = (struct rr_vfs_xattr){ .name = rr_nfs_string(name ? pending->names[0] : "") };
	*result = pending;
	return 0;
}

/* Stores the length of the value in the caller's structure. The value itself was put there when the answer
 * came. */
static int
xattr_take_value(struct rr_nfs_pending *pending)
{
	*pending->length = pending->op.xattr.length;
	return 0;
}

static const struct rr_nfs_work xattr_get = { RR_VFS_OP_GETXATTR, 1, NULL, &rr_v4_work_getxattr };
static const struct rr_nfs_work xattr_set = { RR_VFS_OP_SETXATTR, 1, NULL, &rr_v4_work_setxattr };
static const struct rr_nfs_work xattr_remove = { RR_VFS_OP_REMOVEXATTR, 1, NULL, &rr_v4_work_setxattr };
static const struct rr_nfs_work xattr_list = { RR_VFS_OP_LISTXATTR, 1, NULL, &rr_v4_work_listxattr };

int
rpcrdma_nfs_get_xattr(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, const char *name,
	struct rpcrdma_nfs_value *value, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = name && value && value->data && value->room <= RPCRDMA_NFS_XATTR_MAX
			    ? xattr_new(nfs, handle, name, then, &pending)
			    : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->length = &value->length;
	pending->take = xattr_take_value;
	pending->op.xattr.value = value->data;
	pending->op.xattr.size = value->room;
	return rr_nfs_pending_begin(pending, &xattr_get, then);
}

int
rpcrdma_nfs_set_xattr(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, const char *name,
	const struct rpcrdma_nfs_value *value, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error =
		name && value && (value->data || value->length == 0) && value->length <= RPCRDMA_NFS_XATTR_MAX
			? xattr_new(nfs, handle, name, then, &pending)
			: -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	pending->op.xattr.value = value->data;
	pending->op.xattr.size = value->length;
	return rr_nfs_pending_begin(pending, &xattr_set, then);
}

int
rpcrdma_nfs_remove_xattr(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle, const char *name,
	const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = name ? xattr_new(nfs, handle, name, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	return rr_nfs_pending_begin(pending, &xattr_remove, then);
}

/* Handles a result of LISTXATTRS, whose names are in the caller's memory already. If there are more names,
 * asks for them and returns PENDING_GOES_ON; they will be put behind the first ones. */
static int
xattr_take_names(struct rr_nfs_pending *pending)
{
	const struct rr_vfs_xattr *xattr = &pending->op.xattr;

	if (xattr->length > xattr->size)
		return rr_nfs_fail(
			pending->nfs, -RPCRDMA_ERR_LIMIT, "the names of extended attributes have no room");
	*pending->length = xattr->length;
	if (pending->job.base.created)
		return 0;
	pending->cookie = pending->job.base.cookie;
	rr_nfs_pending_ask(pending, &xattr_list);
	return PENDING_GOES_ON;
}

int
rpcrdma_nfs_list_xattrs(struct rpcrdma_nfs *nfs, const struct rpcrdma_nfs_handle *handle,
	struct rpcrdma_nfs_value *names, const struct rpcrdma_nfs_then *then)
{
	struct rr_nfs_pending *pending;
	int error = names && names->data ? xattr_new(nfs, handle, NULL, then, &pending) : -RPCRDMA_ERR_INVAL;

	if (error)
		return error;
	names->length = 0;
	pending->length = &names->length;
	pending->take = xattr_take_names;
	pending->op.xattr.value = names->data;
	pending->op.xattr.size = names->room;
	return rr_nfs_pending_begin(pending, &xattr_list, then);
}
