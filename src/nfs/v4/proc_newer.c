/* SPDX-License-Identifier: BSD-3-Clause */
/* This file has SEEK, COPY and CLONE of version 4.2. The functions ..._build() append the operations of a
 * procedure to the COMPOUND, and the functions ..._take() fill in the result of the procedure when all of
 * them succeeded (struct rr_v4_work). */
#include <string.h>

#include "nfs/v4/proc.h"

/* Returns the stateid of an open file, but with the seqid zero, which stands for the most recent seqid (RFC
 * 8881, 8.2.2). */
static stateid4
newer_stateid(const struct rr_v4_open *open)
{
	stateid4 stateid = open->stateid;

	stateid.seqid = 0;
	return stateid;
}

/* ---- SEEK ---- */

static void
proc_seek_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_seek_args *args = slot->outer->args;

	rr_v4_putfh(slot, args->file.data);
	rr_v4_op(slot, OP_SEEK, XDR_MAX_seek_res4)->u.opseek = (SEEK4args){ newer_stateid(slot->open),
		args->offset, args->data ? NFS4_CONTENT_DATA : NFS4_CONTENT_HOLE };
}

/* Handles the result of SEEK: stores the offset that was found. If data was looked for and none follows, the
 * status becomes NFS3ERR_NXIO. RFC 7862, 15.11.3: "If the server cannot find a corresponding sa_what, then
 * the status will still be NFS4_OK, but sr_eof would be TRUE." (Linux answers NFS4ERR_NXIO.) A hole is always
 * found: "All files MUST have a virtual hole at the end of the file." */
static int
proc_seek_take(struct rr_v4_slot *slot)
{
	const struct rr_v4_seek_args *args = slot->outer->args;
	const seek_res4 *from = &rr_v4_res(slot, OP_SEEK)->u.opseek.u.resok4;
	struct rr_v4_seek_result *result = slot->outer->result;

	if (args->data && from->sr_eof) {
		result->status = NFS3ERR_NXIO;
		return 0;
	}
	if (from->sr_offset < args->offset)
		return rr_v4_broken(slot->v4, "SEEK found something in front of where it was to look");
	result->found = from->sr_offset;
	return 0;
}

const struct rr_v4_work rr_v4_seek = {
	.build = proc_seek_build,
	.take = proc_seek_take,
	.access = OPEN4_SHARE_ACCESS_READ,
	.result = sizeof(struct rr_v4_seek_result),
	.newer = true,
};

/* ---- COPY and CLONE ---- */

/* Appends operations that make the source the saved file and the target the current file. The source need not
 * be open: the anonymous stateid, all zeroes (RFC 8881, 8.2.3), satisfies RFC 7862, 15.2.3: "ca_src_stateid
 * MUST refer to a stateid that is valid for a READ operation". Calls that needed two open files could wait
 * for each other without end. */
static void
newer_files(struct rr_v4_slot *slot, const struct rr_v4_copy_args *args)
{
	rr_v4_putfh(slot, args->from.data);
	rr_v4_op(slot, OP_SAVEFH, 0);
	rr_v4_putfh(slot, args->to.data);
}

/* Appends a COMMIT of the whole current file. */
static void
newer_commit(struct rr_v4_slot *slot)
{
	rr_v4_op(slot, OP_COMMIT, NFS4_VERIFIER_SIZE)->u.opcommit = (COMMIT4args){ 0, 0 };
}

/* Builds COPY, and a COMMIT if the caller asks for that. The copy is synchronous, because there is no
 * backchannel by which the server could report the end of an asynchronous copy. */
static void
proc_copy_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_copy_args *args = slot->outer->args;

	newer_files(slot, args);
	rr_v4_op(slot, OP_COPY, XDR_MAX_COPY4resok + sizeof(stateid4))->u.opcopy = (COPY4args){
		.ca_dst_stateid = newer_stateid(slot->open),
		.ca_src_offset = args->from_offset,
		.ca_dst_offset = args->to_offset,
		.ca_count = args->length,
		.ca_consecutive = true,
		.ca_synchronous = true,
	};
	if (args->commit)
		newer_commit(slot);
}

/* Handles the result of COPY: stores how many octets were copied, how stable they are, and the verifier. If
 * the copy is asynchronous or not consecutive, the status becomes NFS3ERR_NOTSUPP. RFC 7862, 15.2.3: "if
 * ca_synchronous is set, then the client has required that the copy protocol selected MUST perform a
 * synchronous copy", and "if ca_consecutive is set, then the client has specified that the copy protocol
 * selected MUST copy bytes in consecutive order". */
static int
proc_copy_take(struct rr_v4_slot *slot)
{
	const struct rr_v4_copy_args *args = slot->outer->args;
	const COPY4resok *from = &rr_v4_res(slot, OP_COPY)->u.opcopy.u.cr_resok4;
	const write_response4 *answered = &from->cr_response;
	struct rr_v4_copy_result *result = slot->outer->result;

	if (answered->wr_callback_id.count > 0 || !from->cr_requirements.cr_consecutive) {
		result->status = NFS3ERR_NOTSUPP;
		return 0;
	}
	if (answered->wr_count == 0 || answered->wr_count > args->length)
		return rr_v4_broken(slot->v4, "COPY copied nothing, or more than it was asked for");
	result->count = answered->wr_count;
	result->committed = (stable_how)answered->wr_committed;
	memcpy(result->verifier, answered->wr_writeverf, sizeof(result->verifier));
	/* RFC 8881, 18.32.3: where COMMIT returns the same verifier, it has stored the copied data. */
	if (args->commit &&
		memcmp(result->verifier, rr_v4_res(slot, OP_COMMIT)->u.opcommit.u.resok4.writeverf,
			sizeof(result->verifier)) == 0)
		result->committed = FILE_SYNC;
	return 0;
}

const struct rr_v4_work rr_v4_copy = {
	.build = proc_copy_build,
	.take = proc_copy_take,
	.access = OPEN4_SHARE_ACCESS_WRITE,
	.changes = true,
	.result = sizeof(struct rr_v4_copy_result),
	.newer = true,
};

/* Builds CLONE, and a COMMIT behind it, because RFC 7862, 15.13, does not say that the cloned data is on
 * stable storage. */
static void
proc_clone_build(struct rr_v4_slot *slot)
{
	const struct rr_v4_copy_args *args = slot->outer->args;

	newer_files(slot, args);
	rr_v4_op(slot, OP_CLONE, 0)->u.opclone = (CLONE4args){
		.cl_dst_stateid = newer_stateid(slot->open),
		.cl_src_offset = args->from_offset,
		.cl_dst_offset = args->to_offset,
		.cl_count = args->length,
	};
	newer_commit(slot);
}

/* Handles the result of CLONE, which has no count: a CLONE that succeeded has cloned all octets. The COMMIT
 * behind it has stored them. */
static int
proc_clone_take(struct rr_v4_slot *slot)
{
	const struct rr_v4_copy_args *args = slot->outer->args;
	struct rr_v4_copy_result *result = slot->outer->result;

	result->count = args->length;
	result->committed = FILE_SYNC;
	return 0;
}

const struct rr_v4_work rr_v4_clone = {
	.build = proc_clone_build,
	.take = proc_clone_take,
	.access = OPEN4_SHARE_ACCESS_WRITE,
	.changes = true,
	.result = sizeof(struct rr_v4_copy_result),
	.newer = true,
};
