/* SPDX-License-Identifier: BSD-3-Clause */
/* This file makes one COMPOUND from its operations, and checks whether a reply fits the COMPOUND. */
#include <string.h>

#include "vfs/nfs/v4/session/compound.h"
#include "vfs/nfs/v4/session/session.h"

/* Octets of the results besides those of the operations (status, length of the tag, count); and octets of
 * each result (number, status). */
enum { COMPOUND_HEADER = 12, RESULT_HEADER = 8 };

nfs_argop4 *
rr_v4_op(struct rr_v4_slot *slot, nfs_opnum4 op, uint32_t result_max)
{
	nfs_argop4 *added = &slot->ops[slot->args.argarray.count++];

	memset(added, 0, sizeof(*added));
	added->argop = op;
	slot->reply_max += RESULT_HEADER + result_max;
	return added;
}

void
rr_v4_putfh(struct rr_v4_slot *slot, struct rpcrdma_bytes handle)
{
	if (handle.length == 0)
		rr_v4_op(slot, OP_PUTROOTFH, 0);
	else
		rr_v4_op(slot, OP_PUTFH, 0)->u.opputfh.object = handle;
}

/* The octets of an answer to GETATTR: bitmap, length, at most 16 attributes of at most 16 octets, and two
 * names. RFC 8881 has no limit for names of users; this assumes at most 255 octets for a user with its
 * domain, so that the answer to a LOOKUP needs no Reply chunk. */
enum { ATTRIBUTES_MAX = 4 + 12 + 4 + 16 * 16 + 2 * (4 + 256) };

void
rr_v4_getattr(struct rr_v4_slot *slot, const bitmap4 *asked)
{
	rr_v4_op(slot, OP_GETATTR, ATTRIBUTES_MAX)->u.opgetattr.attr_request = *asked;
}

/* ---- The program ---- */

static void
compound_put_args(struct rpcrdma_xdr_writer *writer, const void *value)
{
	nfs42_put_COMPOUND4args(writer, value);
}

static void
compound_get_result(struct rpcrdma_xdr_reader *reader, void *value)
{
	nfs42_get_COMPOUND4res(reader, value);
}

static const struct rpcrdma_procedure compound_procedures[] = {
	[NFSPROC4_NULL] = { .name = "NFSPROC4_NULL" },
	[NFSPROC4_COMPOUND] = {
		.name = "NFSPROC4_COMPOUND",
		.args_size = sizeof(COMPOUND4args),
		.result_size = sizeof(COMPOUND4res),
		.args_min = XDR_MIN_COMPOUND4args,
		.result_min = XDR_MIN_COMPOUND4res,
		.args_max = XDR_MAX_COMPOUND4args,
		.result_max = XDR_MAX_COMPOUND4res,
		.args_items = RPCRDMA_XDR_UNBOUNDED,
		.result_items = RPCRDMA_XDR_UNBOUNDED,
		.args_item_max = RPCRDMA_XDR_UNBOUNDED,
		.result_item_max = RPCRDMA_XDR_UNBOUNDED,
		.put_args = compound_put_args,
		.get_result = compound_get_result,
	},
};

const struct rpcrdma_program rr_v4_program = { "NFS_V4", NFS4_PROGRAM, NFS_V4,
	sizeof(compound_procedures) / sizeof(*compound_procedures), compound_procedures, NULL };

/* ---- The call ---- */

/* Appends the operation SEQUENCE to the slot's COMPOUND, with the sequence ID of the slot's present call. */
static void
compound_sequence(struct rr_v4_slot *slot)
{
	const struct rr_v4 *v4 = slot->v4;
	SEQUENCE4args *args = &rr_v4_op(slot, OP_SEQUENCE, XDR_MAX_SEQUENCE4res)->u.opsequence;
	uint64_t busy = ~v4->free & rr_v4_slots_of(v4);

	memcpy(args->sa_sessionid, v4->session, sizeof(args->sa_sessionid));
	args->sa_sequenceid = v4->sequence[slot->number];
	args->sa_slotid = slot->number;
	/* RFC 8881, 18.46.3: "the highest slot ID for which the client has a request outstanding" */
	args->sa_highest_slotid = busy >> slot->number ? 63 - (uint32_t)__builtin_clzll(busy) : slot->number;
	args->sa_cachethis = slot->work->changes;
}

/* Builds the COMPOUND of the slot's work and sends it. With a SEQUENCE, the slot's sequence ID is increased;
 * if SEQUENCE fails, done() has to decrease it again. */
void
rr_v4_send(struct rr_v4_slot *slot, void (*done)(struct rr_call *call, int error))
{
	struct rr_v4 *v4 = slot->v4;

	slot->reply_max = COMPOUND_HEADER;
	slot->kept = 0;
	slot->args = (COMPOUND4args){ .minorversion = v4->config.minor, .argarray = { 0, slot->ops } };
	slot->generation = v4->generation;
	slot->call = (struct rr_call){
		.program = &rr_v4_program,
		.proc = NFSPROC4_COMPOUND,
		.args = &slot->args,
		.result = &slot->result,
		.arena = rpcrdma_arena(slot->arena, sizeof(slot->arena)),
		.user = slot->outer ? slot->outer->user : NULL,
		.guarded = slot->work->alone || v4->guards_all,
		.done = done,
		.ctx = slot,
	};
	if (!slot->work->alone) {
		v4->sequence[slot->number]++;
		compound_sequence(slot);
	}
	slot->work->build(slot);
	/* build() may have set reply_max already, to octets of results that only the caller knows. */
	slot->call.reply_max += slot->reply_max;
	rr_client_call(v4->config.client, &slot->call);
}

/* ---- The reply ---- */

/* Returns the status of an operation. */
static nfsstat4
compound_status(const nfs_resop4 *res)
{
	/* The result of every operation begins with its status. */
	return *(const nfsstat4 *)&res->u;
}

const nfs_resop4 *
rr_v4_res(const struct rr_v4_slot *slot, nfs_opnum4 op)
{
	uint32_t i = slot->args.argarray.count;

	while (slot->ops[--i].argop != op)
		;
	return &slot->result.resarray.values[i];
}

bool
rr_v4_res_attributes(const struct rr_v4_slot *slot, const bitmap4 *asked, struct rr_attr_values *values)
{
	const GETATTR4res *res = &rr_v4_res(slot, OP_GETATTR)->u.opgetattr;

	return rr_attr_take(&res->u.resok4.obj_attributes, asked, values);
}

/* Tells whether the result of SEQUENCE names the session, the slot and the sequence ID of the call. Also
 * returns true if SEQUENCE failed, because its result names none of them then. */
static bool
compound_is_in_slot(const struct rr_v4_slot *slot)
{
	const SEQUENCE4args *asked = &slot->ops[0].u.opsequence;
	const SEQUENCE4res *res = &slot->result.resarray.values[0].u.opsequence;
	const SEQUENCE4resok *ok = &res->u.sr_resok4;

	return res->sr_status != NFS4_OK ||
	       (memcmp(ok->sr_sessionid, asked->sa_sessionid, sizeof(ok->sr_sessionid)) == 0 &&
		       ok->sr_slotid == asked->sa_slotid && ok->sr_sequenceid == asked->sa_sequenceid);
}

bool
rr_v4_reply_is_sound(const struct rr_v4_slot *slot)
{
	const COMPOUND4res *result = &slot->result;
	uint32_t count = result->resarray.count;

	if (count > slot->args.argarray.count ||
		(count < slot->args.argarray.count && result->status == NFS4_OK))
		return false;
	/* RFC 8881, 16.2.3: "the server MUST return an error of NFS4ERR_MINOR_VERS_MISMATCH and a zero-length
	 * resultdata array." */
	if (count == 0)
		return true;
	/* The results are those of the operations up to the first that failed, and its status is that of the
	 * COMPOUND. */
	for (uint32_t i = 0; i < count; i++) {
		nfsstat4 status = compound_status(&result->resarray.values[i]);

		if (result->resarray.values[i].resop != slot->ops[i].argop)
			return false;
		if (status != (i + 1 < count ? NFS4_OK : result->status))
			return false;
	}
	return slot->work->alone || compound_is_in_slot(slot);
}

bool
rr_v4_failed_in_sequence(const struct rr_v4_slot *slot)
{
	return slot->result.status != NFS4_OK && slot->result.resarray.count <= 1 && !slot->work->alone;
}

int
rr_v4_broken(struct rr_v4 *v4, const char *what)
{
	return rr_fail(
		&v4->text, -RPCRDMA_ERR_PEER, "the server's answer to a COMPOUND makes no sense: %s", what);
}

fattr4
rr_v4_attr_set(struct rr_v4_slot *slot, const struct rr_vfs_set *set)
{
	return rr_attr_give(set, &slot->set, slot->values, sizeof(slot->values));
}
