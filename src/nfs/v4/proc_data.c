/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has READ and WRITE. RFC 8267, 6.1, says that the data may be placed by RDMA: "The opaque
 * data field in the WRITE4args structure", "... in the READ4resok structure". The functions ..._build()
 * append the operations of a procedure to the COMPOUND, and the functions ..._take() fill in the result of
 * the procedure when all of them succeeded (struct rr_v4_work). */
#include <string.h>

#include "nfs/v4/proc.h"

/* Returns the stateid of the slot's open file, but with the seqid zero, which stands for the most recent
 * seqid (RFC 8881, 8.2.2). */
static stateid4
data_stateid(const struct rr_v4_slot *slot)
{
	stateid4 stateid = slot->open->stateid;

	stateid.seqid = 0;
	return stateid;
}

/* ---- READ ---- */

void
rr_v4_read_op(struct rr_v4_slot *slot, stateid4 stateid)
{
	const READ3args *args = slot->outer->args;

	rr_v4_op(slot, OP_READ, 8)->u.opread = (READ4args){ stateid, args->offset, args->count };
	slot->call.sink_count = slot->outer->sink_count;
	memcpy(slot->call.sinks, slot->outer->sinks, slot->call.sink_count * sizeof(slot->call.sinks[0]));
}

static void
proc_read_build(struct rr_v4_slot *slot)
{
	rr_v4_putfh(slot, ((const READ3args *)slot->outer->args)->file.data);
	rr_v4_read_op(slot, data_stateid(slot));
}

int
rr_v4_read_take(struct rr_v4_slot *slot)
{
	const READ4resok *from = &rr_v4_res(slot, OP_READ)->u.opread.u.resok4;
	READ3resok *ok = &((READ3res *)slot->outer->result)->u.resok;

	ok->count = from->data.length;
	ok->eof = from->eof;
	ok->data = from->data;
	return 0;
}

const struct rr_v4_work rr_v4_read3 = {
	.build = proc_read_build,
	.take = rr_v4_read_take,
	.access = OPEN4_SHARE_ACCESS_READ,
	.result = sizeof(READ3res),
};

/* ---- WRITE ---- */

static void
proc_write_build(struct rr_v4_slot *slot)
{
	const WRITE3args *args = slot->outer->args;

	_Static_assert((int)UNSTABLE4 == (int)UNSTABLE && (int)FILE_SYNC4 == (int)FILE_SYNC, "the same");
	rr_v4_putfh(slot, args->file.data);
	rr_v4_op(slot, OP_WRITE, 16)->u.opwrite =
		(WRITE4args){ data_stateid(slot), args->offset, (stable_how4)args->stable, args->data };
}

static int
proc_write_take(struct rr_v4_slot *slot)
{
	const WRITE4resok *from = &rr_v4_res(slot, OP_WRITE)->u.opwrite.u.resok4;
	WRITE3resok *ok = &((WRITE3res *)slot->outer->result)->u.resok;

	_Static_assert((int)NFS4_VERIFIER_SIZE == (int)NFS3_WRITEVERFSIZE, "the same verifier");
	ok->count = from->count;
	ok->committed = (stable_how)from->committed;
	memcpy(ok->verf, from->writeverf, sizeof(ok->verf));
	return 0;
}

const struct rr_v4_work rr_v4_write3 = {
	.build = proc_write_build,
	.take = proc_write_take,
	.access = OPEN4_SHARE_ACCESS_WRITE,
	.result = sizeof(WRITE3res),
};
