/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of version 4.2 on the space and the data of files: RFC 7862. */
#include "vfs/nfs/v4/provider_private.h"

/* ---- SEEK ---- */

static void
space_seek_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_seek *seek = RR_V4_INPUT(job, seek);
	stateid4 stateid = rr_v4_stateid(slot, &seek->object, 0, RR_VFS_SHARE_READ);

	rr_v4_put_object(slot, 0);
	job->at.object = rr_v4_ask_known(slot);
	rr_v4_op(slot, OP_SEEK, XDR_MAX_seek_res4)->u.opseek =
		(SEEK4args){ stateid, seek->offset, seek->data ? NFS4_CONTENT_DATA : NFS4_CONTENT_HOLE };
}

/* Keeps the size of the file: some servers (Linux) answer NFS4ERR_NXIO where there is no data behind the
 * offset. RFC 7862, 15.11.3: "If the server cannot find a corresponding sa_what, then the status will still
 * be NFS4_OK, but sr_eof would be TRUE." */
static void
space_seek_fail(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_known(slot, job->at.object, &job->above);
}

static int
space_seek_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_seek *seek = RR_V4_INPUT(job, seek);
	const seek_res4 *res = &rr_v4_res(slot, OP_SEEK)->u.opseek.u.resok4;

	space_seek_fail(slot);
	/* Without the size of the file, this is how other servers say it. */
	if (job->base.lean && seek->data && res->sr_eof) {
		job->verdict = RR_VFS_NXIO;
		return 0;
	}
	seek->eof = res->sr_eof;
	seek->found = seek->data && res->sr_eof ? job->above.attributes.size : res->sr_offset;
	if ((seek->data && res->sr_eof && !job->above.valid) || seek->found < seek->offset)
		job->verdict = RR_VFS_IO;
	return 0;
}

const struct rr_v4_work rr_v4_work_seek = { .build = space_seek_build,
	.take = space_seek_take,
	.fail = space_seek_fail,
	.access = OPEN4_SHARE_ACCESS_READ,
	.result = sizeof(nfsstat4),
	.newer = true };

static void
space_seek_then(struct rr_v4_job *job, enum rr_vfs_status status)
{
	struct rr_vfs_seek *seek = RR_V4_INPUT(job, seek);

	if (status == RR_VFS_NXIO && seek->data && job->above.valid &&
		seek->offset < job->above.attributes.size) {
		seek->eof = true;
		seek->found = job->above.attributes.size;
		status = RR_VFS_OK;
	}
	rr_v4_end(job, status);
}

enum rr_vfs_status
rr_v4_do_seek(struct rr_v4_job *job)
{
	return rr_v4_ask(job, &rr_v4_work_seek, space_seek_then);
}

/* ---- ALLOCATE and DEALLOCATE ---- */

static void
space_allocate_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_space *space = RR_V4_INPUT(job, space);
	stateid4 stateid = rr_v4_stateid(slot, &space->object, 0, RR_VFS_SHARE_WRITE);

	rr_v4_put_object(slot, 0);
	if (job->base.operation == RR_VFS_OP_ALLOCATE)
		rr_v4_op(slot, OP_ALLOCATE, 0)->u.opallocate =
			(ALLOCATE4args){ stateid, space->offset, space->length };
	else
		rr_v4_op(slot, OP_DEALLOCATE, 0)->u.opdeallocate =
			(DEALLOCATE4args){ stateid, space->offset, space->length };
	job->at.after[0] = rr_v4_ask_known(slot);
}

static int
space_allocate_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);

	rr_v4_take_change(slot, 0, job->at.after[0], NULL, &RR_V4_INPUT(job, space)->change);
	return 0;
}

const struct rr_v4_work rr_v4_work_allocate = { .build = space_allocate_build,
	.take = space_allocate_take,
	.result = sizeof(nfsstat4),
	.changes = true,
	.newer = true };

/* ---- COPY and CLONE ---- */

/* Appends operations that make the source the saved file, after a GETATTR of it, and the target the current
 * file. */
static void
space_files(struct rr_v4_slot *slot)
{
	rr_v4_put_object(slot, 0);
	rr_v4_job(slot)->at.object = rr_v4_ask_known(slot);
	rr_v4_op(slot, OP_SAVEFH, 0);
	rr_v4_put_object(slot, 1);
}

/* The copy is synchronous, because there is no backchannel by which the server could report the end of an
 * asynchronous copy. */
static void
space_copy_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_copy *copy = RR_V4_INPUT(job, copy);
	stateid4 from = rr_v4_stateid(slot, &copy->from, 0, RR_VFS_SHARE_READ);
	stateid4 to = rr_v4_stateid(slot, &copy->to, 1, RR_VFS_SHARE_WRITE);

	space_files(slot);
	rr_v4_op(slot, OP_COPY, XDR_MAX_COPY4resok + sizeof(stateid4))->u.opcopy = (COPY4args){
		.ca_src_stateid = from,
		.ca_dst_stateid = to,
		.ca_src_offset = copy->from_offset,
		.ca_dst_offset = copy->to_offset,
		.ca_count = copy->length,
		.ca_consecutive = true,
		.ca_synchronous = true,
	};
	if (job->commit)
		rr_v4_op(slot, OP_COMMIT, NFS4_VERIFIER_SIZE)->u.opcommit = (COMMIT4args){ 0, 0 };
	job->at.after[1] = rr_v4_ask_known(slot);
}

/* RFC 7862, 15.2.3: "if ca_synchronous is set, then the client has required that the copy protocol selected
 * MUST perform a synchronous copy", and "if ca_consecutive is set, then the client has specified that the
 * copy protocol selected MUST copy bytes in consecutive order". */
static int
space_copy_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_copy *copy = RR_V4_INPUT(job, copy);
	const COPY4resok *ok = &rr_v4_res(slot, OP_COPY)->u.opcopy.u.cr_resok4;
	const write_response4 *answered = &ok->cr_response;

	rr_v4_take_change(slot, 0, job->at.after[1], NULL, &copy->change);
	if (answered->wr_callback_id.count > 0 || !ok->cr_requirements.cr_consecutive)
		job->verdict = RR_VFS_NOTSUPP;
	else if (copy->length > 0 && answered->wr_count > copy->length)
		job->verdict = RR_VFS_IO;
	copy->copied = answered->wr_count;
	memcpy(&copy->verifier, answered->wr_writeverf, sizeof(copy->verifier));
	job->committed = (enum rr_vfs_stable)answered->wr_committed;
	/* RFC 8881, 18.32.3: where COMMIT returns the same verifier, it has stored the copied data. */
	if (job->commit &&
		memcmp(answered->wr_writeverf, rr_v4_res(slot, OP_COMMIT)->u.opcommit.u.resok4.writeverf,
			sizeof(copy->verifier)) == 0)
		job->committed = RR_VFS_FILE_SYNC;
	return 0;
}

const struct rr_v4_work rr_v4_work_copy = { .build = space_copy_build,
	.take = space_copy_take,
	.access = OPEN4_SHARE_ACCESS_WRITE,
	.result = sizeof(nfsstat4),
	.changes = true,
	.newer = true };

/* Builds CLONE, and a COMMIT behind it, because RFC 7862, 15.13, does not say that the cloned data is on
 * stable storage. */
static void
space_clone_build(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	const struct rr_vfs_copy *copy = RR_V4_INPUT(job, copy);
	stateid4 from = rr_v4_stateid(slot, &copy->from, 0, RR_VFS_SHARE_READ);
	stateid4 to = rr_v4_stateid(slot, &copy->to, 1, RR_VFS_SHARE_WRITE);

	space_files(slot);
	rr_v4_op(slot, OP_CLONE, 0)->u.opclone = (CLONE4args){
		.cl_src_stateid = from,
		.cl_dst_stateid = to,
		.cl_src_offset = copy->from_offset,
		.cl_dst_offset = copy->to_offset,
		.cl_count = copy->length,
	};
	rr_v4_op(slot, OP_COMMIT, NFS4_VERIFIER_SIZE)->u.opcommit = (COMMIT4args){ 0, 0 };
	job->at.after[1] = rr_v4_ask_known(slot);
}

/* CLONE has no count: where it succeeds, it has cloned all octets, which length 0 does not say. */
static int
space_clone_take(struct rr_v4_slot *slot)
{
	struct rr_v4_job *job = rr_v4_job(slot);
	struct rr_vfs_copy *copy = RR_V4_INPUT(job, copy);
	struct rr_vfs_known source;

	rr_v4_take_known(slot, job->at.object, &source);
	rr_v4_take_change(slot, 0, job->at.after[1], NULL, &copy->change);
	copy->copied = copy->length;
	if (copy->length == 0 && source.valid && source.attributes.size > copy->from_offset)
		copy->copied = source.attributes.size - copy->from_offset;
	memcpy(&copy->verifier, rr_v4_res(slot, OP_COMMIT)->u.opcommit.u.resok4.writeverf,
		sizeof(copy->verifier));
	return 0;
}

const struct rr_v4_work rr_v4_work_clone = { .build = space_clone_build,
	.take = space_clone_take,
	.access = OPEN4_SHARE_ACCESS_WRITE,
	.result = sizeof(nfsstat4),
	.changes = true,
	.newer = true };
