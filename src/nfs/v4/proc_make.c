/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has procedures that make objects. The functions ..._build() append the
 * operations of a procedure to the COMPOUND, and the functions ..._take() fill in the result of the procedure
 * when all of them succeeded (struct rr_v4_work). */
#include <string.h>

#include "nfs/v4/proc.h"

/* ---- CREATE ---- */

/* Builds CREATE: an OPEN that makes the file, as version 4 has CREATE only for objects that are no files. */
static void
proc_create_build(struct rr_v4_slot *slot)
{
	const struct rr_nfs_make_args *args = slot->outer->args;
	OPEN4args *to;

	rr_v4_putfh(slot, args->where.dir.data);
	to = &rr_v4_op(slot, OP_OPEN, RR_V4_OPEN_MAX)->u.opopen;
	rr_v4_open_owner(slot, to, OPEN4_SHARE_ACCESS_BOTH);
	to->openhow.opentype = OPEN4_CREATE;
	to->openhow.u.how.mode = GUARDED4;
	to->openhow.u.how.u.createattrs = rr_v4_attr_set(slot, &args->set);
	to->claim.claim = CLAIM_NULL;
	to->claim.u.file = args->where.name;
	rr_v4_find(slot);
}

/* Handles the result of CREATE: fills in the caller's result, and enters the file in the table of opens. The
 * file is open, because data will be written to it next; rr_v4_wait_open() has kept room for it in the
 * table. An entry of this file whose CLOSE is under way ends with that CLOSE, so this OPEN has an entry of
 * its own. An entry whose OPEN is under way waits for the end of that OPEN as before. */
static int
proc_create_take(struct rr_v4_slot *slot)
{
	const OPEN4resok *answered = &rr_v4_res(slot, OP_OPEN)->u.opopen.u.resok4;
	struct rpcrdma_bytes handle = rr_v4_res(slot, OP_GETFH)->u.opgetfh.u.resok4.object;
	struct rr_v4_open *open = rr_v4_open_find(slot->v4, handle);
	bool is_made;

	if (open && open->state == RR_V4_OPEN_CLOSING)
		open = NULL;
	if (!open && handle.length > 0)
		open = rr_v4_open_new(slot->v4, handle);
	is_made = open && open->state == RR_V4_OPEN_MAKING;
	if (open)
		rr_v4_open_take(slot->v4, open, answered, OPEN4_SHARE_ACCESS_BOTH);
	if (is_made)
		open->state = RR_V4_OPEN_MAKING;
	return rr_v4_found(slot);
}

const struct rr_v4_work rr_v4_create3 = {
	.build = proc_create_build,
	.take = proc_create_take,
	.makes = true,
	.changes = true,
	.result = sizeof(struct rr_nfs_found),
};

/* ---- MKDIR, SYMLINK and MKNOD ---- */

/* Appends the operation CREATE, which makes an object that is no file, and the operations that find it.
 * Returns the arguments, in which the caller sets what only objects of that type have. */
static CREATE4args *
make_object(struct rr_v4_slot *slot, nfs_ftype4 type)
{
	const struct rr_nfs_make_args *args = slot->outer->args;
	CREATE4args *to;

	rr_v4_putfh(slot, args->where.dir.data);
	to = &rr_v4_op(slot, OP_CREATE, 20 + 4 + 16)->u.opcreate;
	to->objtype.type = type;
	to->objname = args->where.name;
	to->createattrs = rr_v4_attr_set(slot, &args->set);
	rr_v4_find(slot);
	return to;
}

static void
proc_mkdir_build(struct rr_v4_slot *slot)
{
	make_object(slot, NF4DIR);
}

const struct rr_v4_work rr_v4_mkdir3 = {
	.build = proc_mkdir_build,
	.take = rr_v4_found,
	.changes = true,
	.result = sizeof(struct rr_nfs_found),
};

static void
proc_symlink_build(struct rr_v4_slot *slot)
{
	const struct rr_nfs_make_args *args = slot->outer->args;

	make_object(slot, NF4LNK)->objtype.u.linkdata = args->target;
}

const struct rr_v4_work rr_v4_symlink3 = {
	.build = proc_symlink_build,
	.take = rr_v4_found,
	.changes = true,
	.result = sizeof(struct rr_nfs_found),
};

/* The types have the same numbers in vfs.h (v4/attr.c). */
static void
proc_mknod_build(struct rr_v4_slot *slot)
{
	const struct rr_nfs_make_args *args = slot->outer->args;
	CREATE4args *to = make_object(slot, (nfs_ftype4)args->type);

	if (args->type == RR_VFS_CHARACTER_DEVICE || args->type == RR_VFS_BLOCK_DEVICE)
		to->objtype.u.devdata = (specdata4){ args->device[0], args->device[1] };
}

const struct rr_v4_work rr_v4_mknod3 = {
	.build = proc_mknod_build,
	.take = rr_v4_found,
	.changes = true,
	.result = sizeof(struct rr_nfs_found),
};
