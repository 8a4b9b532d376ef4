/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has the operations on extended attributes: RFC 8276, section 8.4. The functions ..._build()
 * append the operations of a procedure to the COMPOUND, and the functions ..._take() fill in the result of
 * the procedure when all of them succeeded (struct rr_v4_work). */
#include <string.h>

#include "nfs/v4/proc.h"

/* The octets of LISTXATTRS4resok: the names of one answer fit in the memory of a slot, and so does one name
 * of any length. */
enum { XATTR_LIST = 2048 };

static void
proc_getxattr_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_xattr_args *args = slot->outer->args;

	rr_v4_putfh(slot, args->file.data);
	rr_v4_op(slot, OP_GETXATTR, 4 + args->size)->u.opgetxattr.gxa_name = args->name;
}

static int
proc_getxattr_take(struct rr_v4_slot *slot)
{
	const struct rr_v4_xattr_args *args = slot->outer->args;
	const struct rpcrdma_bytes value = rr_v4_res(slot, OP_GETXATTR)->u.opgetxattr.u.gxr_value;
	struct rr_v4_xattr_result *result = slot->outer->result;

	if (value.length > args->size)
		return rr_fail(&slot->v4->text, -RPCRDMA_ERR_LIMIT,
			"the extended attribute has %u octets, and there is room for %u", value.length,
			args->size);
	if (value.length > 0)
		memcpy(args->value, value.data, value.length);
	result->length = value.length;
	return 0;
}

const struct rr_v4_work rr_v4_getxattr = {
	.build = proc_getxattr_build,
	.take = proc_getxattr_take,
	.result = sizeof(struct rr_v4_xattr_result),
	.newer = true,
};

static void
proc_setxattr_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_xattr_args *args = slot->outer->args;

	rr_v4_putfh(slot, args->file.data);
	rr_v4_op(slot, OP_SETXATTR, XDR_MAX_change_info4)->u.opsetxattr =
		(SETXATTR4args){ SETXATTR4_EITHER, args->name, { args->value, args->size } };
}

const struct rr_v4_work rr_v4_setxattr = {
	.build = proc_setxattr_build,
	.take = rr_v4_nothing_take,
	.changes = true,
	.result = sizeof(struct rr_v4_xattr_result),
	.newer = true,
};

static void
proc_removexattr_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_xattr_args *args = slot->outer->args;

	rr_v4_putfh(slot, args->file.data);
	rr_v4_op(slot, OP_REMOVEXATTR, XDR_MAX_change_info4)->u.opremovexattr.rxa_name = args->name;
}

const struct rr_v4_work rr_v4_removexattr = {
	.build = proc_removexattr_build,
	.take = rr_v4_nothing_take,
	.changes = true,
	.result = sizeof(struct rr_v4_xattr_result),
	.newer = true,
};

static void
proc_listxattrs_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_xattr_args *args = slot->outer->args;

	rr_v4_putfh(slot, args->file.data);
	rr_v4_op(slot, OP_LISTXATTRS, XATTR_LIST)->u.oplistxattrs =
		(LISTXATTRS4args){ args->cookie, XATTR_LIST };
}

/* Handles the result of LISTXATTRS: copies the names to args->value, each followed by a zero. Fails if there
 * is no room for all of them, or if a name is empty or has a zero in it. */
static int
proc_listxattrs_take(struct rr_v4_slot *slot)
{
	const struct rr_v4_xattr_args *args = slot->outer->args;
	const LISTXATTRS4resok *from = &rr_v4_res(slot, OP_LISTXATTRS)->u.oplistxattrs.u.lxr_value;
	struct rr_v4_xattr_result *result = slot->outer->result;
	uint8_t *to = args->value;

	if (from->lxr_names.count == 0 && !from->lxr_eof)
		return rr_v4_broken(slot->v4, "no extended attribute, and not the end of the list");
	for (uint32_t i = 0; i < from->lxr_names.count; i++) {
		const xattrkey4 name = from->lxr_names.values[i];

		if (name.length == 0 || memchr(name.data, 0, name.length))
			return rr_v4_broken(slot->v4, "an extended attribute without a name");
		if (name.length >= args->size - result->length)
			return rr_fail(&slot->v4->text, -RPCRDMA_ERR_LIMIT,
				"the names of extended attributes have no room");
		memcpy(to + result->length, name.data, name.length);
		to[result->length + name.length] = 0;
		result->length += name.length + 1;
	}
	result->cookie = from->lxr_cookie;
	result->eof = from->lxr_eof;
	return 0;
}

const struct rr_v4_work rr_v4_listxattrs = {
	.build = proc_listxattrs_build,
	.take = proc_listxattrs_take,
	.result = sizeof(struct rr_v4_xattr_result),
	.newer = true,
};
