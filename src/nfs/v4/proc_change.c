/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has procedures that remove, rename and link names. The functions ..._build() append the
 * operations of a procedure to the COMPOUND, and the functions ..._take() fill in the result of the procedure
 * when all of them succeeded (struct rr_v4_work). */
#include "nfs/v4/proc.h"

/* ---- REMOVE and RMDIR ---- */

/* Builds REMOVE or RMDIR: compare is OP_VERIFY if the object must be a directory, OP_NVERIFY if it must not
 * be one. RFC 8881, 18.25.4: "NFSv4.1 REMOVE can be used to delete any directory entry independent of its
 * file type", so "the implementor can produce a COMPOUND call that includes a LOOKUP/VERIFY sequence of
 * operations to verify the file type before a REMOVE operation". */
static void
proc_remove_build(struct rr_v4_slot *slot, const diropargs3 *what, nfs_opnum4 compare)
{
	static uint32_t words[] = { 1 << FATTR4_TYPE };
	static const uint8_t directory[] = { 0, 0, 0, NF4DIR };
	const fattr4 is_directory = { { 1, words }, { directory, sizeof(directory) } };
	nfs_argop4 *op;

	rr_v4_putfh(slot, what->dir.data);
	rr_v4_op(slot, OP_LOOKUP, 0)->u.oplookup.objname = what->name;
	op = rr_v4_op(slot, compare, 0);
	if (compare == OP_VERIFY)
		op->u.opverify.obj_attributes = is_directory;
	else
		op->u.opnverify.obj_attributes = is_directory;
	rr_v4_putfh(slot, what->dir.data);
	rr_v4_op(slot, OP_REMOVE, XDR_MAX_change_info4)->u.opremove.target = what->name;
}

/* REMOVE of version 3 must not remove a directory. */
static void
proc_remove_file_build(struct rr_v4_slot *slot)
{
	proc_remove_build(slot, &((const REMOVE3args *)slot->outer->args)->object, OP_NVERIFY);
}

const struct rr_v4_work rr_v4_remove3 = {
	.build = proc_remove_file_build,
	.take = rr_v4_nothing_take,
	.changes = true,
	.result = sizeof(REMOVE3res),
};

/* RMDIR must remove only a directory. */
static void
proc_remove_directory_build(struct rr_v4_slot *slot)
{
	proc_remove_build(slot, &((const RMDIR3args *)slot->outer->args)->object, OP_VERIFY);
}

const struct rr_v4_work rr_v4_rmdir3 = {
	.build = proc_remove_directory_build,
	.take = rr_v4_nothing_take,
	.changes = true,
	.result = sizeof(RMDIR3res),
};

/* ---- RENAME and LINK ---- */

static void
proc_rename_build(struct rr_v4_slot *slot)
{
	const RENAME3args *args = slot->outer->args;

	rr_v4_putfh(slot, args->from.dir.data);
	rr_v4_op(slot, OP_SAVEFH, 0);
	rr_v4_putfh(slot, args->to.dir.data);
	rr_v4_op(slot, OP_RENAME, 2 * XDR_MAX_change_info4)->u.oprename =
		(RENAME4args){ args->from.name, args->to.name };
}

const struct rr_v4_work rr_v4_rename3 = {
	.build = proc_rename_build,
	.take = rr_v4_nothing_take,
	.changes = true,
	.result = sizeof(RENAME3res),
};

static void
proc_link_build(struct rr_v4_slot *slot)
{
	const LINK3args *args = slot->outer->args;

	rr_v4_putfh(slot, args->file.data);
	rr_v4_op(slot, OP_SAVEFH, 0);
	rr_v4_putfh(slot, args->link.dir.data);
	rr_v4_op(slot, OP_LINK, XDR_MAX_change_info4)->u.oplink.newname = args->link.name;
}

const struct rr_v4_work rr_v4_link3 = {
	.build = proc_link_build,
	.take = rr_v4_nothing_take,
	.changes = true,
	.result = sizeof(LINK3res),
};
