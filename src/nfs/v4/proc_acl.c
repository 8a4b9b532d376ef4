/* SPDX-License-Identifier: BSD-3-Clause */
/* Access lists, as the attribute acl: RFC 8881, 6.2.1. */
#include "nfs/v4/proc.h"
#include "vfs/fattr4/acl.h"

static void
proc_getacl_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_acl_args *args = slot->outer->args;

	rr_v4_putfh(slot, args->file.data);
	rr_v4_getattr(slot, &rr_v4_attr_acl);
	slot->reply_max += RR_ATTR_LIST;
}

static int
proc_getacl_take(struct rr_v4_slot *slot)
{
	const struct rr_v4_acl_args *args = slot->outer->args;
	struct rr_v4_acl_result *result = slot->outer->result;
	struct rr_attr_values values;

	if (!rr_v4_res_attributes(slot, &rr_v4_attr_acl, &values))
		return rr_v4_broken(slot->v4, "attributes");
	if (!rr_attr_lists_keep(args->lists, values.acl))
		return rr_fail(&slot->v4->text, -RPCRDMA_ERR_LIMIT, "the access list is too long");
	result->has = rr_attr_in(&values.have, FATTR4_ACL);
	result->is_directory = values.attributes.type == RR_VFS_DIRECTORY;
	result->mode = values.attributes.mode;
	result->change = values.attributes.change;
	return 0;
}

const struct rr_v4_work rr_v4_getacl = {
	.build = proc_getacl_build,
	.take = proc_getacl_take,
	.result = sizeof(struct rr_v4_acl_result),
};

static void
proc_setacl_build(struct rr_v4_slot *slot)
{
	static uint32_t acl[] = { UINT32_C(1) << FATTR4_ACL }, change[] = { UINT32_C(1) << FATTR4_CHANGE };

	const struct rr_v4_acl_args *args = slot->outer->args;

	rr_v4_putfh(slot, args->file.data);
	if (args->guarded)
		rr_v4_op(slot, OP_VERIFY, 0)->u.opverify.obj_attributes =
			(fattr4){ { 1, change }, { args->guard, sizeof(args->guard) } };
	rr_v4_op(slot, OP_SETATTR, 4 + 4 * RR_ATTR_WORDS)->u.opsetattr.obj_attributes =
		(fattr4){ { 1, acl }, { args->lists->octets, args->lists->length } };
}

const struct rr_v4_work rr_v4_setacl = {
	.build = proc_setacl_build,
	.take = rr_v4_nothing_take,
	.changes = true,
	.result = sizeof(struct rr_v4_acl_result),
};
