/* SPDX-License-Identifier: BSD-3-Clause */
/* Extended attributes: those of users, which NFS carries (RFC 8276) without the prefix "user."; and access
 * lists, which are op_acl.c's. */
#include <errno.h>
#include <linux/fuse.h>
#include <string.h>

#include "base/checked.h"
#include "fuse/fuse_private.h"
#include "fuse/ops.h"

enum { XATTR_MAX = 65536, XATTR_PREFIX = 5 };

/* Returns the name without its prefix; a length of 0: it is not an attribute of users. */
static struct rpcrdma_bytes
xattr_name(const struct rr_fuse_request *request)
{
	struct rpcrdma_bytes name = rr_fuse_name(request, 0);

	if (strncmp(request->names[0], "user.", XATTR_PREFIX) != 0)
		return (struct rpcrdma_bytes){ NULL, 0 };
	return (struct rpcrdma_bytes){ request->names[0] + XATTR_PREFIX, name.length - XATTR_PREFIX };
}

void
rr_fuse_answer_value(struct rr_fuse_request *request, const void *value, uint32_t length)
{
	uint32_t asked = RR_FUSE_ARGS_AS(request, fuse_getxattr_in)->size;
	const struct fuse_getxattr_out out = { .size = length };

	if (asked == 0)
		rr_fuse_answer(request, 0, &out, sizeof(out));
	else if (length > asked)
		rr_fuse_answer(request, ERANGE, NULL, 0);
	else
		rr_fuse_answer(request, 0, value, length);
}

static void
xattr_get_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	if (status == RR_VFS_OK)
		rr_fuse_answer_value(request, request->data, request->vfs.xattr.length);
	else
		rr_fuse_answer_status(request, status);
}

/* Makes memory for a value or a list, and begins the operation with it. */
static struct rr_vfs_xattr *
xattr_prepare(struct rr_fuse_request *request)
{
	struct rr_vfs_xattr *xattr = &RR_FUSE_ZERO(request)->xattr;

	request->data = rr_alloc(request->fuse->env, XATTR_MAX);
	if (!request->data) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return NULL;
	}
	xattr->object = rr_fuse_node_object(request->node);
	xattr->value = request->data;
	xattr->size = XATTR_MAX;
	return xattr;
}

void
rr_fuse_op_getxattr(struct rr_fuse_request *request)
{
	struct rpcrdma_bytes name = xattr_name(request);
	struct rr_vfs_xattr *xattr;

	if (rr_fuse_is_acl(request)) {
		rr_fuse_acl_get(request);
		return;
	}
	/* The kernel asks for security.capability before each write: no round trip. */
	if (name.length == 0) {
		rr_fuse_answer(request,
			strncmp(request->names[0], "security.", 9) == 0 ? ENODATA : EOPNOTSUPP, NULL, 0);
		return;
	}
	xattr = xattr_prepare(request);
	if (!xattr)
		return;
	xattr->name = name;
	rr_fuse_begin(request, RR_VFS_OP_GETXATTR, xattr_get_done);
}

/* Puts the prefix in front of each name of the list. */
static void
xattr_list_done(struct rr_fuse_request *request, enum rr_vfs_status status)
{
	uint32_t length = status == RR_VFS_OK ? request->vfs.xattr.length : 0, made = 0;
	const char *names = request->data;
	char *list;

	if (status != RR_VFS_OK && status != RR_VFS_NOTSUPP) {
		rr_fuse_answer_status(request, status);
		return;
	}
	/* The shortest name has an octet, and a zero behind it. */
	list = rr_alloc(request->fuse->env, 1 + (size_t)length + (size_t)XATTR_PREFIX * (length / 2 + 1));
	if (!list) {
		rr_fuse_answer(request, ENOMEM, NULL, 0);
		return;
	}
	for (uint32_t at = 0; at < length;) {
		uint32_t size = (uint32_t)strnlen(names + at, length - at) + 1;

		if (at + size > length || size == 1)
			break;
		memcpy(list + made, "user.", XATTR_PREFIX);
		memcpy(list + made + XATTR_PREFIX, names + at, size);
		made += XATTR_PREFIX + size;
		at += size;
	}
	rr_free(request->fuse->env, request->data);
	request->data = list;
	rr_fuse_answer_value(request, list, made);
}

void
rr_fuse_op_listxattr(struct rr_fuse_request *request)
{
	if (xattr_prepare(request))
		rr_fuse_begin(request, RR_VFS_OP_LISTXATTR, xattr_list_done);
}

void
rr_fuse_op_setxattr(struct rr_fuse_request *request)
{
	enum { CREATE = 1, REPLACE = 2 };
	const struct fuse_setxattr_in *in = RR_FUSE_ARGS_AS(request, fuse_setxattr_in);
	struct rpcrdma_bytes name = xattr_name(request);
	struct rr_vfs_xattr *xattr = &RR_FUSE_ZERO(request)->xattr;

	if (rr_fuse_is_acl(request) && in->size <= request->size) {
		rr_fuse_acl_set(request, in->size);
		return;
	}
	if (name.length == 0 || in->size > request->size) {
		rr_fuse_answer(request, name.length == 0 ? EOPNOTSUPP : EINVAL, NULL, 0);
		return;
	}
	xattr->object = rr_fuse_node_object(request->node);
	xattr->name = name;
	xattr->value = request->data;
	xattr->size = in->size;
	xattr->how = in->flags & CREATE    ? RR_VFS_XATTR_CREATE
		     : in->flags & REPLACE ? RR_VFS_XATTR_REPLACE
					   : RR_VFS_XATTR_EITHER;
	rr_fuse_begin(request, RR_VFS_OP_SETXATTR, rr_fuse_answer_status);
}

void
rr_fuse_op_removexattr(struct rr_fuse_request *request)
{
	struct rr_vfs_xattr *xattr = &RR_FUSE_ZERO(request)->xattr;

	xattr->object = rr_fuse_node_object(request->node);
	xattr->name = xattr_name(request);
	if (rr_fuse_is_acl(request))
		rr_fuse_acl_remove(request);
	else if (xattr->name.length == 0)
		rr_fuse_answer(request, EOPNOTSUPP, NULL, 0);
	else
		rr_fuse_begin(request, RR_VFS_OP_REMOVEXATTR, rr_fuse_answer_status);
}
