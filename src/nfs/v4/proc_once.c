/* SPDX-License-Identifier: BSD-3-Clause */
/* This file handles small files: a file is opened, used and closed by one COMPOUND. The functions ..._build()
 * append the operations of a procedure to the COMPOUND, and the functions ..._take() fill in the result of
 * the procedure when all of them succeeded (struct rr_v4_work). */
#include <stdio.h>

#include "base/endian.h"
#include "nfs/v4/proc.h"

/* The stateid of the OPEN in the same COMPOUND. RFC 8881, 8.2.3: "When "other" is zero and "seqid" is one,
 * the stateid represents the current stateid". */
static const stateid4 once_current = { .seqid = 1 };

/* Fills in the arguments of an OPEN for a COMPOUND that also closes the file. Each slot has an open-owner of
 * its own, because opens of one file by one owner are one open (RFC 8881, 9.7): with the owner of the other
 * opens, the CLOSE would also end an open that is in the table of opens. */
static void
once_open(struct rr_v4_slot *slot, OPEN4args *args, uint32_t access)
{
	int length = snprintf(slot->owner, sizeof(slot->owner), "rpcrdma %u", slot->number);

	rr_v4_open_owner(slot, args, access);
	args->owner.owner = (struct rpcrdma_bytes){ slot->owner, (uint32_t)length };
}

/* Appends the CLOSE of the file that the same COMPOUND has opened. */
static void
once_close(struct rr_v4_slot *slot)
{
	rr_v4_op(slot, OP_CLOSE, sizeof(stateid4))->u.opclose.open_stateid = once_current;
}

/* Tells whether the server gave a delegation with the result of OPEN, although this client asked for no
 * delegation. The delegation must be returned, so the caller then enters the file in the table of opens,
 * which returns the delegation when it closes the file. */
static bool
once_is_delegated(const struct rr_v4_slot *slot)
{
	open_delegation_type4 type = rr_v4_res(slot, OP_OPEN)->u.opopen.u.resok4.delegation.delegation_type;

	return type == OPEN_DELEGATE_READ || type == OPEN_DELEGATE_WRITE;
}

/* ---- READ of a file that is read only once ---- */

/* Builds a COMPOUND that opens a file by its handle, reads from the file and closes it. */
static void
proc_read_once_build(struct rr_v4_slot *slot)
{
	OPEN4args *to;

	rr_v4_put_object(slot, 0);
	to = &rr_v4_op(slot, OP_OPEN, RR_V4_OPEN_MAX)->u.opopen;
	once_open(slot, to, OPEN4_SHARE_ACCESS_READ);
	to->claim.claim = CLAIM_FH;
	rr_v4_read_op(slot, once_current);
	once_close(slot);
}

/* Handles the success of rr_v4_read_once: takes the result of READ. A file with a delegation goes into the
 * table of opens, which returns the delegation when it closes the file. */
static int
proc_read_once_take(struct rr_v4_slot *slot)
{
	if (once_is_delegated(slot))
		rr_v4_open_leave(
			slot, rr_remote_fh(&rr_v4_job(slot)->base.objects[0]), OPEN4_SHARE_ACCESS_READ);
	rr_v4_job(slot)->verdict = rr_v4_read_take(slot);
	return 0;
}

/* Handles the failure of rr_v4_read_once, which opens, reads and closes a file by one COMPOUND: if the file
 * was opened and is not closed, enters it in the table of opens. */
static void
proc_read_once_fail(struct rr_v4_slot *slot)
{
	nfs_opnum4 failed = slot->ops[slot->result.resarray.count - 1].argop;

	if (failed == OP_READ || failed == OP_CLOSE)
		rr_v4_open_leave(
			slot, rr_remote_fh(&rr_v4_job(slot)->base.objects[0]), OPEN4_SHARE_ACCESS_READ);
}

/* The server need not keep the reply: if the reply was lost, the whole COMPOUND can be done again. */
const struct rr_v4_work rr_v4_read_once = {
	.build = proc_read_once_build,
	.take = proc_read_once_take,
	.fail = proc_read_once_fail,
	.makes = true,
	.result = sizeof(nfsstat4),
};

/* ---- A whole file ---- */

/* Appends the OPEN that makes a file with this name and the mode 0600. OPEN fails if the name exists. */
static void
once_create(struct rr_v4_slot *slot, struct rpcrdma_bytes name)
{
	static uint32_t mode_words[] = { 0, UINT32_C(1) << (FATTR4_MODE - 32) };
	static const uint8_t mode[] = { 0, 0, 0600 >> 8, 0600 & 0xff };
	OPEN4args *to = &rr_v4_op(slot, OP_OPEN, RR_V4_OPEN_MAX)->u.opopen;

	once_open(slot, to, OPEN4_SHARE_ACCESS_BOTH);
	to->openhow.opentype = OPEN4_CREATE;
	to->openhow.u.how.mode = GUARDED4;
	to->openhow.u.how.u.createattrs = (fattr4){ { 2, mode_words }, { mode, sizeof(mode) } };
	to->claim.claim = CLAIM_NULL;
	to->claim.u.file = name;
}

/* Appends a WRITE of the data, and a VERIFY that the file then has the size of the data. RFC 8881, 18.32.3:
 * "The server MAY write fewer bytes than requested by the client": in that case VERIFY fails and ends the
 * COMPOUND. */
static void
once_write(struct rr_v4_slot *slot, struct rpcrdma_bytes data)
{
	static uint32_t size_words[] = { UINT32_C(1) << FATTR4_SIZE };

	rr_v4_op(slot, OP_WRITE, 16)->u.opwrite = (WRITE4args){ once_current, 0, FILE_SYNC4, data };
	rr_put_be64(slot->size, data.length);
	rr_v4_op(slot, OP_VERIFY, 0)->u.opverify.obj_attributes =
		(fattr4){ { 1, size_words }, { slot->size, sizeof(slot->size) } };
}

/* Builds a COMPOUND that makes a file under the temporary name, writes its data, sets its attributes, closes
 * it, and renames it to its final name. */
static void
proc_put_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_put_args *args = slot->outer->args;
	SETATTR4args *to;

	rr_v4_putfh(slot, args->directory.data);
	rr_v4_op(slot, OP_SAVEFH, 0);
	once_create(slot, args->temporary);
	rr_v4_op(slot, OP_GETFH, 4 + NFS4_FHSIZE);
	once_write(slot, args->data);
	to = &rr_v4_op(slot, OP_SETATTR, 4 + 4 * RR_ATTR_WORDS)->u.opsetattr;
	to->stateid = once_current;
	to->obj_attributes = rr_v4_attr_set(slot, &args->set);
	once_close(slot);
	rr_v4_op(slot, OP_RESTOREFH, 0);
	rr_v4_op(slot, OP_RENAME, 2 * XDR_MAX_change_info4)->u.oprename =
		(RENAME4args){ .oldname = args->temporary, .newname = args->name };
}

/* Returns the handle of the file that the COMPOUND has made. */
static struct rpcrdma_bytes
once_handle(const struct rr_v4_slot *slot)
{
	return rr_v4_res(slot, OP_GETFH)->u.opgetfh.u.resok4.object;
}

/* Handles the success of RR_V4_PUT: there is no result but the status. A file with a delegation goes into the
 * table of opens, which returns the delegation when it closes the file. */
static int
proc_put_take(struct rr_v4_slot *slot)
{
	if (once_is_delegated(slot))
		rr_v4_open_leave(slot, once_handle(slot), OPEN4_SHARE_ACCESS_BOTH);
	return 0;
}

/* Handles the failure of RR_V4_PUT, which makes a file under a temporary name and renames it, by one
 * COMPOUND. The operation that failed shows how far it came: sets *args->made if the temporary name was made,
 * and enters the file in the table of opens, which closes it, if the file is still open. If GETFH failed, the
 * file is open, too, but its handle is not known. */
static void
proc_put_fail(struct rr_v4_slot *slot)
{
	const struct rr_v4_put_args *args = slot->outer->args;

	switch (slot->ops[slot->result.resarray.count - 1].argop) {
	case OP_WRITE:
	case OP_VERIFY:
	case OP_SETATTR:
	case OP_CLOSE:
		rr_v4_open_leave(slot, once_handle(slot), OPEN4_SHARE_ACCESS_BOTH);
		*args->made = true;
		break;
	case OP_GETFH:
	case OP_RESTOREFH:
	case OP_RENAME: *args->made = true; break;
	default: break;
	}
}

const struct rr_v4_work rr_v4_put = {
	.build = proc_put_build,
	.take = proc_put_take,
	.fail = proc_put_fail,
	.makes = true,
	.changes = true,
	.result = sizeof(nfsstat3),
};
